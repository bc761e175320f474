#include "policy/suggest.h"

#include "base/own.h"
#include "base/text.h"
#include "policy/suggest_place.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Of one manager or address, so many are named before all are meant. */
	NAMES_MAX = 5,
	/* Files of one folder share a rule up to this width. */
	BRACES_COLUMNS = 60,
};

/* What the rules of a text speak of: classes that go together. */
static const struct {
	const char *word;
	unsigned classes;
} groups[] = {
	{"read", 1u << CLASS_READ},
	{"edit", 1u << CLASS_WRITE | 1u << CLASS_CREATE | 1u << CLASS_DELETE | 1u << CLASS_ATTR |
                         1u << CLASS_LINK},
	{"exec", 1u << CLASS_EXEC},
	{"connect", 1u << CLASS_CONNECT},
	{"bind", 1u << CLASS_BIND},
	{"resolve", 1u << CLASS_RESOLVE},
	{"install", 1u << CLASS_INSTALL},
	{"script", 1u << CLASS_SCRIPT},
};

static unsigned group_of(enum policy_class class)
{
	for (unsigned i = 0; i < sizeof groups / sizeof groups[0]; i++)
		if (groups[i].classes & 1u << class)
			return 1u << i;
	return 0; /* no default reaches stat, ipc and syscall; secrets have statements */
}

struct item {
	struct suggest_place place;
	unsigned groups; /* bits of groups[] */
	uint64_t count;
};

struct items {
	struct item *v;
	size_t n;
};

static void items_free(struct items *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->v[i].place.pattern);
		free(all->v[i].place.literal);
	}
	free(all->v);
}

static int by_pattern(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;
	int order;

	if (x->place.section != y->place.section)
		return x->place.section < y->place.section ? -1 : 1;
	order = strcmp(x->place.pattern, y->place.pattern);
	return order ? order : strcmp(x->place.literal, y->place.literal);
}

/* By what a rule could hold together: section, classes, folder. */
static int by_rule(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;

	if (x->place.section != y->place.section)
		return x->place.section < y->place.section ? -1 : 1;
	if (x->groups != y->groups)
		return x->groups < y->groups ? -1 : 1;
	return strcmp(x->place.pattern, y->place.pattern);
}

static bool same_pattern(const struct item *x, const struct item *y)
{
	return x->place.section == y->place.section &&
	       strcmp(x->place.pattern, y->place.pattern) == 0;
}

/* A folder of which one object was used is that object. @all is sorted by
 * pattern. */
static int unfold_singles(struct items *all)
{
	for (size_t i = 0, end; i < all->n; i = end) {
		bool several = all->v[i].place.whole;

		for (end = i + 1; end < all->n && same_pattern(&all->v[i], &all->v[end]); end++)
			several |= strcmp(all->v[i].place.literal, all->v[end].place.literal) != 0;
		for (size_t k = i; !several && k < end; k++) {
			char *literal = strdup(all->v[k].place.literal);

			if (!literal)
				return -ERR_NOMEM;
			free(all->v[k].place.pattern);
			all->v[k].place.pattern = literal;
		}
	}
	return 0;
}

/* Puts items of one pattern together. @all is sorted by pattern. */
static void merge(struct items *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		if (n && same_pattern(&all->v[n - 1], &all->v[i])) {
			all->v[n - 1].groups |= all->v[i].groups;
			all->v[n - 1].count += all->v[i].count;
			free(all->v[i].place.pattern);
			free(all->v[i].place.literal);
			continue;
		}
		all->v[n++] = all->v[i];
	}
	all->n = n;
}

/* A folder that was read itself, beside the rule for all below it, is that
 * rule's. @all is sorted by pattern. */
static int absorb_folders(struct items *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct item *item = &all->v[i];
		auto_buf folder = BUF_INIT;
		struct item key = {.place = {.section = item->place.section}};
		struct item *found = NULL;

		buf_fmt(&folder, "%s/", item->place.pattern);
		if (folder.failed)
			return -ERR_NOMEM;
		/* Patterns are unique here; the literal only orders equals. */
		key.place.pattern = folder.data;
		key.place.literal = folder.data;
		for (size_t k = i + 1; k < all->n && !found; k++)
			if (same_pattern(&all->v[k], &key))
				found = &all->v[k];
			else if (by_pattern(&all->v[k], &key) > 0)
				break;
		if (found && (found->groups & item->groups) == item->groups) {
			found->count += item->count;
			free(item->place.pattern);
			free(item->place.literal);
			continue;
		}
		all->v[n++] = *item;
	}
	all->n = n;
	return 0;
}

/* The part of a word that its many stand for: "npm:" of npm:express,
 * "127.0.0.1:" of an address and its port; 0: none. */
static size_t stem_of(const struct item *item)
{
	const char *pattern = item->place.pattern;
	const char *colon = item->place.section == SECTION_PACKAGES ? strchr(pattern, ':')
	                                                            : strrchr(pattern, ':');

	if (item->place.section != SECTION_PACKAGES && item->place.section != SECTION_NETWORK)
		return 0;
	if (!colon || text_starts(pattern, "unix:"))
		return 0;
	return (size_t)(colon - pattern) + 1;
}

static bool same_stem(const struct item *x, const struct item *y, size_t stem)
{
	return x->place.section == y->place.section && x->groups == y->groups &&
	       stem_of(y) == stem && strncmp(x->place.pattern, y->place.pattern, stem) == 0;
}

/* Many packages of a manager, many ports of an address. @all is sorted by
 * rule. */
static int widen_many(struct items *all)
{
	for (size_t i = 0, end; i < all->n; i = end) {
		size_t stem = stem_of(&all->v[i]);

		for (end = i + 1; stem && end < all->n;)
			if (!same_stem(&all->v[i], &all->v[end], stem))
				break;
			else
				end++;
		if (end - i <= NAMES_MAX)
			continue;
		for (size_t k = i; k < end; k++) {
			auto_buf wide = BUF_INIT;

			buf_add(&wide, all->v[k].place.pattern, stem);
			buf_chr(&wide, '*');
			if (wide.failed)
				return -ERR_NOMEM;
			free(all->v[k].place.pattern);
			all->v[k].place.pattern = buf_take(&wide);
		}
	}
	return 0;
}

/* --- text ------------------------------------------------------------- */

static void write_rule(struct buf *out, unsigned bits, const char *objects, uint64_t count)
{
	auto_buf line = BUF_INIT;
	const char *separator = "";

	buf_str(&line, "allow  ");
	for (unsigned i = 0; i < sizeof groups / sizeof groups[0]; i++) {
		if (!(bits & 1u << i))
			continue;
		buf_fmt(&line, "%s%s", separator, groups[i].word);
		separator = ",";
	}
	while (line.len_bytes < 22)
		buf_chr(&line, ' ');
	buf_fmt(&line, " %s", objects);
	while (line.len_bytes < 64)
		buf_chr(&line, ' ');
	buf_str(&line, "  # ");
	text_thousands(&line, count);
	buf_fmt(out, "%s\n", buf_text(&line));
}

/* A literal file whose name can stand in braces: its folder's length, or 0. */
static size_t folder_of(const struct item *item)
{
	const char *pattern = item->place.pattern;
	const char *slash = strrchr(pattern, '/');

	if (!slash || slash == pattern || !slash[1] || strpbrk(slash, "*\\,"))
		return 0;
	if (strncmp(pattern, "unix:", 5) == 0 || item->place.section >= SECTION_NETWORK)
		return 0;
	return (size_t)(slash - pattern) + 1;
}

static bool beside(const struct item *x, const struct item *y)
{
	size_t len = folder_of(x);

	return len && x->place.section == y->place.section && x->groups == y->groups &&
	       folder_of(y) == len && strncmp(x->place.pattern, y->place.pattern, len) == 0;
}

/* Writes one rule for the items from @i that can share it.
 * Returns how many those were. */
static size_t write_some(struct buf *out, const struct items *all, size_t i)
{
	const struct item *first = &all->v[i];
	size_t folder = folder_of(first);
	uint64_t count = first->count;
	size_t n = 1;
	auto_buf names = BUF_INIT;
	auto_buf object = BUF_INIT;

	buf_str(&names, first->place.pattern + folder);
	while (i + n < all->n && beside(first, &all->v[i + n]) &&
	       names.len_bytes < BRACES_COLUMNS) {
		buf_fmt(&names, ",%s", all->v[i + n].place.pattern + folder);
		count += all->v[i + n].count;
		n++;
	}
	buf_add(&object, first->place.pattern, folder);
	buf_fmt(&object, n > 1 ? "{%s}" : "%s", buf_text(&names));
	write_rule(out, first->groups, buf_text(&object), count);
	return n;
}

static const char *title_of(enum suggest_section section)
{
	static const char *const titles[SECTION_COUNT] = {
		[SECTION_SYSTEM] = "The machine",
		[SECTION_HOME] = "The home",
		[SECTION_CACHE] = "Caches",
		[SECTION_TEMPORARY] = "Temporary folders",
		[SECTION_PROJECT] = "The project",
		[SECTION_ELSEWHERE] = "Elsewhere",
		[SECTION_NETWORK] = "The network",
		[SECTION_PACKAGES] = "Packages",
		[SECTION_OTHER] = "Other",
		[SECTION_REFUSED] =
			("Of what \"keys\" refuses, the session did this: keep no line that you\n"
	                 "# cannot give a reason for"),
	};

	return titles[section];
}

static void write_all(struct buf *out, const struct items *all)
{
	int section = -1;
	bool keys = false;

	for (size_t i = 0; i < all->n;) {
		enum suggest_section now = all->v[i].place.section;

		if (now == SECTION_REFUSED && !keys) {
			buf_str(out, "\n# What no build needs stays refused.\ninclude \"keys\"\n");
			keys = true;
		}
		if ((int)now != section)
			buf_fmt(out, "\n# %s.\n", title_of(now));
		section = (int)now;
		i += write_some(out, all, i);
	}
	if (!keys)
		buf_str(out, "\n# What no build needs stays refused.\ninclude \"keys\"\n");
}

static int collect(const struct suggest_folders *f, const struct suggest_use *uses, size_t n,
                   struct items *all)
{
	all->v = calloc(n + 1, sizeof *all->v);
	if (!all->v)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		struct item *item = &all->v[all->n];
		unsigned group = group_of(uses[i].class);
		int err;

		if (!group)
			continue;
		all->n++; /* freed even when it is half made */
		item->groups = group;
		item->count = uses[i].count;
		err = suggest_place(f, &uses[i], uses[i].refused, &item->place);
		if (err)
			return err;
	}
	return 0;
}

int suggest_write(const struct suggest_folders *f, const struct suggest_use *uses, size_t n,
                  struct buf *out)
{
	struct items all = {NULL, 0};
	int err = collect(f, uses, n, &all);

	if (!err) {
		qsort(all.v, all.n, sizeof *all.v, by_pattern);
		err = unfold_singles(&all);
	}
	if (!err) {
		qsort(all.v, all.n, sizeof *all.v, by_pattern);
		merge(&all);
		err = absorb_folders(&all);
	}
	if (!err) {
		qsort(all.v, all.n, sizeof *all.v, by_rule);
		err = widen_many(&all);
	}
	if (!err) {
		qsort(all.v, all.n, sizeof *all.v, by_pattern);
		merge(&all);
		qsort(all.v, all.n, sizeof *all.v, by_rule);
		write_all(out, &all);
	}
	items_free(&all);
	return err ? err : out->failed ? -ERR_BOUND : 0;
}

void suggest_rule(const struct suggest_folders *f, const struct suggest_use *use, struct buf *out)
{
	struct suggest_place place = {SECTION_OTHER, NULL, NULL, false};
	unsigned group = group_of(use->class);

	if (group && suggest_place(f, use, true, &place) == 0)
		write_rule(out, group, place.pattern, use->count);
	free(place.pattern);
	free(place.literal);
}
