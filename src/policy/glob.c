#include "policy/glob.h"

#include <string.h>

/* More parts than any pattern has; longer ones are refused at load. */
#define PARTS_MAX 256

struct slice slice_of(const char *s)
{
	return (struct slice){s, strlen(s)};
}

/* One step of a glob: a star, or a byte. */
struct step {
	bool star;
	char byte;
};

/* The step at @at; *next is behind it. */
static struct step step_at(struct slice g, size_t at, size_t *next)
{
	if (g.s[at] == '*') {
		*next = at + 1;
		return (struct step){.star = true};
	}
	if (g.s[at] == '\\' && at + 1 < g.n)
		at++;
	*next = at + 1;
	return (struct step){.byte = g.s[at]};
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_byte(char a, char b, bool ignore_case)
{
	return a == b || (ignore_case && lower(a) == lower(b));
}

static bool match(struct slice g, struct slice name, bool ignore_case)
{
	size_t gi = 0;
	size_t ni = 0;
	size_t star_g = 0; /* behind the last star met; 0: none */
	size_t star_n = 0;

	while (ni < name.n) {
		size_t next = gi;
		struct step s = {0};

		if (gi < g.n)
			s = step_at(g, gi, &next);
		if (s.star) {
			star_g = gi = next;
			star_n = ni;
		} else if (gi < g.n && same_byte(s.byte, name.s[ni], ignore_case)) {
			gi = next;
			ni++;
		} else if (star_g) {
			gi = star_g;
			ni = ++star_n;
		} else {
			return false;
		}
	}
	while (gi < g.n && g.s[gi] == '*')
		gi++;
	return gi == g.n;
}

bool glob_match(struct slice glob, struct slice name)
{
	return match(glob, name, false);
}

static bool is_ascii(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.s[i] & 0x80)
			return false;
	return true;
}

bool glob_is_literal(struct slice glob)
{
	for (size_t i = 0; i < glob.n; i++) {
		if (glob.s[i] == '*')
			return false;
		if (glob.s[i] == '\\')
			i++;
	}
	return true;
}

/* Rows of the two relations below: [i] is "pattern a from step i". */
struct row {
	bool v[PARTS_MAX + 1];
};

/* What stands at a step, for the relations: bytes beyond ASCII are stars
 * where case is ignored. */
static struct step relation_step(struct slice g, size_t at, size_t *next, bool fold)
{
	struct step s = step_at(g, at, next);

	if (fold && !s.star && (s.byte & 0x80))
		s.star = true;
	if (fold)
		s.byte = lower(s.byte);
	return s;
}

/* Collects the steps of a glob; false where there are too many. */
static bool steps_of(struct slice g, bool fold, struct step *out, size_t *n)
{
	size_t at = 0;

	*n = 0;
	while (at < g.n) {
		struct step s = relation_step(g, at, &at, fold);

		if (s.star && *n && out[*n - 1].star)
			continue;
		if (*n == PARTS_MAX)
			return false;
		out[(*n)++] = s;
	}
	return true;
}

static bool overlaps(struct slice a, struct slice b, bool fold)
{
	struct step sa[PARTS_MAX];
	struct step sb[PARTS_MAX];
	struct row below = {0};
	size_t na;
	size_t nb;

	/* Too long to tell: they may. */
	if (!steps_of(a, fold, sa, &na) || !steps_of(b, fold, sb, &nb))
		return true;
	/* row.v[j] for a's step i: a[i:] and b[j:] have a common name. */
	for (size_t i = na + 1; i-- > 0;) {
		struct row now = {0};

		for (size_t j = nb + 1; j-- > 0;) {
			bool yes = i == na && j == nb;

			if (i < na && sa[i].star)
				yes = below.v[j] || (j < nb && now.v[j + 1]);
			if (!yes && j < nb && sb[j].star)
				yes = now.v[j + 1] || (i < na && below.v[j]);
			if (!yes && i < na && j < nb && !sa[i].star && !sb[j].star)
				yes = sa[i].byte == sb[j].byte && below.v[j + 1];
			now.v[j] = yes;
		}
		below = now;
	}
	return below.v[0];
}

bool glob_overlaps(struct slice a, struct slice b)
{
	char bytes[PARTS_MAX];
	size_t n;

	/* Most are literal: a name against a pattern. */
	if (glob_is_literal(a) && glob_plain_in(a, bytes, sizeof bytes, &n))
		return match(b, (struct slice){bytes, n}, false);
	if (glob_is_literal(b) && glob_plain_in(b, bytes, sizeof bytes, &n))
		return match(a, (struct slice){bytes, n}, false);
	return overlaps(a, b, false);
}

bool glob_match_ignoring_case(struct slice glob, struct slice name)
{
	char quoted[2 * PARTS_MAX];
	size_t n = 0;

	if (is_ascii(glob) && is_ascii(name))
		return match(glob, name, true);
	if (name.n > PARTS_MAX)
		return true;
	for (size_t i = 0; i < name.n; i++) {
		if (name.s[i] == '*' || name.s[i] == '\\')
			quoted[n++] = '\\';
		quoted[n++] = name.s[i];
	}
	return overlaps(glob, (struct slice){quoted, n}, true);
}

static bool covers(struct slice a, struct slice b)
{
	struct step sa[PARTS_MAX];
	struct step sb[PARTS_MAX];
	struct row below = {0};
	size_t na;
	size_t nb;

	if (!steps_of(a, false, sa, &na) || !steps_of(b, false, sb, &nb))
		return false;
	for (size_t i = na + 1; i-- > 0;) {
		struct row now = {0};

		for (size_t j = nb + 1; j-- > 0;) {
			bool yes = i == na && j == nb;

			if (i < na && sa[i].star)
				yes = below.v[j] || (j < nb && now.v[j + 1]);
			else if (i < na && j < nb && !sb[j].star)
				yes = sa[i].byte == sb[j].byte && below.v[j + 1];
			now.v[j] = yes;
		}
		below = now;
	}
	return below.v[0];
}

bool glob_covers(struct slice a, struct slice b)
{
	char bytes[PARTS_MAX];
	size_t n;

	if (glob_is_literal(b) && glob_plain_in(b, bytes, sizeof bytes, &n))
		return match(a, (struct slice){bytes, n}, false);
	return !glob_is_literal(a) && covers(a, b);
}

bool glob_plain_in(struct slice glob, char *out, size_t size, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < glob.n; i++) {
		if (glob.s[i] == '\\' && i + 1 < glob.n)
			i++;
		if (*n == size)
			return false;
		out[(*n)++] = glob.s[i];
	}
	return true;
}

char *glob_plain(struct arena *a, struct slice glob)
{
	char *out = arena_alloc(a, glob.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < glob.n; i++) {
		if (glob.s[i] == '\\' && i + 1 < glob.n)
			i++;
		out[n++] = glob.s[i];
	}
	return out;
}

char *glob_quote(struct arena *a, const char *bytes)
{
	size_t len = strlen(bytes);
	char *out = arena_alloc(a, 2 * len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (strchr("\\*{},$~?[]@:#\"= ", bytes[i]))
			out[n++] = '\\';
		out[n++] = bytes[i];
	}
	return out;
}

const char *glob_find(const char *glob, char c)
{
	for (; *glob; glob++) {
		if (*glob == c)
			return glob;
		if (*glob == '\\' && glob[1])
			glob++;
	}
	return NULL;
}

bool path_part_next(const char **rest, struct slice *part)
{
	const char *s = *rest;

	if (*s == '/')
		s++;
	if (!*s)
		return false;
	part->s = s;
	/* A slash is never escaped in a pattern, and a name has no escapes. */
	part->n = strcspn(s, "/");
	*rest = s + part->n;
	return true;
}

static bool is_any_parts(struct slice part)
{
	return part.n == 2 && part.s[0] == '*' && part.s[1] == '*';
}

bool path_match(const char *pattern, const char *name, bool ignore_case)
{
	const char *p = pattern;
	const char *n = name;
	const char *star_p = NULL; /* behind the last ** met */
	const char *star_n = NULL;
	struct slice want;
	struct slice have;

	for (;;) {
		const char *p_next = p;
		const char *n_next = n;
		bool more = path_part_next(&n_next, &have);
		bool wants = path_part_next(&p_next, &want);

		if (wants && is_any_parts(want)) {
			star_p = p = p_next;
			star_n = n;
			continue;
		}
		if (!wants && !more)
			return true;
		if (wants && more &&
		    (ignore_case ? glob_match_ignoring_case(want, have)
		                 : match(want, have, false))) {
			p = p_next;
			n = n_next;
			continue;
		}
		if (!star_p || !path_part_next(&star_n, &have))
			return false;
		p = star_p;
		n = star_n;
	}
}

struct parts {
	struct slice v[PARTS_MAX];
	size_t n;
};

static bool parts_of(const char *pattern, struct parts *out)
{
	struct slice part;

	out->n = 0;
	while (path_part_next(&pattern, &part)) {
		if (out->n == PARTS_MAX)
			return false;
		out->v[out->n++] = part;
	}
	return true;
}

bool path_differs(const char *a, const char *b)
{
	while (*a == *b && *a && *a != '*' && *a != '\\') {
		a++;
		b++;
	}
	if (*a == *b || *a == '*' || *b == '*' || *a == '\\' || *b == '\\')
		return false;
	/* One ends where the other goes on below: `/a` and `/a/` and all below
	 * have /a in common. */
	return !((!*a && *b == '/') || (!*b && *a == '/'));
}

bool path_covers(const char *a, const char *b)
{
	struct parts pa;
	struct parts pb;
	struct row below = {0};

	if (path_differs(a, b) || !parts_of(a, &pa) || !parts_of(b, &pb))
		return false;
	for (size_t i = pa.n + 1; i-- > 0;) {
		struct row now = {0};
		bool any = i < pa.n && is_any_parts(pa.v[i]);

		for (size_t j = pb.n + 1; j-- > 0;) {
			bool yes = i == pa.n && j == pb.n;

			if (any)
				yes = below.v[j] || (j < pb.n && now.v[j + 1]);
			else if (i < pa.n && j < pb.n && !is_any_parts(pb.v[j]))
				yes = below.v[j + 1] && glob_covers(pa.v[i], pb.v[j]);
			now.v[j] = yes;
		}
		below = now;
	}
	return below.v[0];
}

/* Likewise from their ends: two literal bytes that differ. */
static bool path_ends_differ(const char *a, const char *b)
{
	size_t n = strlen(a);
	size_t m = strlen(b);

	while (n && m && a[n - 1] == b[m - 1] && a[n - 1] != '*') {
		n--;
		m--;
	}
	/* A backslash stands for what follows it; a slash may be one at the end. */
	return n && m && !strchr("*/\\", a[n - 1]) && !strchr("*/\\", b[m - 1]);
}

bool path_overlaps(const char *a, const char *b)
{
	struct parts pa;
	struct parts pb;
	struct row below = {0};

	if (path_differs(a, b) || path_ends_differ(a, b))
		return false;
	if (!parts_of(a, &pa) || !parts_of(b, &pb))
		return true;
	for (size_t i = pa.n + 1; i-- > 0;) {
		struct row now = {0};

		for (size_t j = pb.n + 1; j-- > 0;) {
			bool yes = i == pa.n && j == pb.n;
			bool any_a = i < pa.n && is_any_parts(pa.v[i]);
			bool any_b = j < pb.n && is_any_parts(pb.v[j]);

			if (any_a)
				yes = below.v[j] || (j < pb.n && now.v[j + 1]);
			if (!yes && any_b)
				yes = now.v[j + 1] || (i < pa.n && below.v[j]);
			if (!yes && i < pa.n && j < pb.n && !any_a && !any_b)
				yes = below.v[j + 1] && glob_overlaps(pa.v[i], pb.v[j]);
			now.v[j] = yes;
		}
		below = now;
	}
	return below.v[0];
}

bool path_is_literal(const char *pattern)
{
	return glob_is_literal(slice_of(pattern));
}

size_t path_literal_len(const char *pattern)
{
	const char *rest = pattern;
	struct slice part;
	size_t len = 0;

	while (path_part_next(&rest, &part) && glob_is_literal(part))
		len = (size_t)(part.s + part.n - pattern);
	return len;
}
