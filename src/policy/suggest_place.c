#include "policy/suggest_place.h"

#include "base/own.h"
#include "base/text.h"

#include <string.h>

/* One folder that patterns are written from. */
struct root {
	const char *path; /* canonical; NULL: not on this machine */
	const char *written;
	enum suggest_section section;
	int depth; /* parts below it that a fold keeps; 0: the folder itself is one rule */
	bool whole;
	bool reads_only; /* folds only what is read: what is run or changed is named */
};

enum { ROOTS = 40, HEX_MADE_UP = 6, DIGITS_MADE_UP = 4 };

static const char *below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (strncmp(path, folder, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	return path + len;
}

/* Of a home: a tool's folder, deeper where folders of many tools lie. */
static int home_depth(const char *rest)
{
	static const char *const shared[] = {"/.local/share/", "/.local/state/", "/.local/lib/"};

	for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
		if (text_starts(rest, shared[i]))
			return 3;
	if (text_starts(rest, "/.config/") || text_starts(rest, "/.local/") ||
	    text_starts(rest, "/.cache/"))
		return 2;
	return rest[0] == '/' && rest[1] == '.' ? 1 : 2;
}

/* The roots that are on this machine; the depth below the home depends on @path. */
static size_t roots_of(const struct suggest_folders *f, const char *path, struct root roots[ROOTS])
{
	const char *in_home = f->home ? below(path, f->home) : NULL;
	/* The repository of the project is part of it. */
	bool apart = f->gitdir && f->project && !below(f->gitdir, f->project);
	const struct root all[] = {
		{f->project, "${PROJECT}", SECTION_PROJECT, 0, true, false},
		{apart ? f->gitdir : NULL, "${GITDIR}", SECTION_PROJECT, 0, true, false},
		{f->home, "~", SECTION_HOME, in_home ? home_depth(in_home) : 1, false, false},
		{f->cache, "${CACHE}", SECTION_CACHE, 1, false, false},
		{f->state, "${STATE}", SECTION_HOME, 1, false, false},
		{f->config, "${CONFIG}", SECTION_HOME, 1, false, false},
		{f->runtime, "${RUNTIME}", SECTION_HOME, 1, false, false},
		{f->tmpdir, "${TMPDIR}", SECTION_TEMPORARY, 0, true, false},
		{"/tmp", "/tmp", SECTION_TEMPORARY, 0, true, false},
		{"/var/tmp", "/var/tmp", SECTION_TEMPORARY, 0, true, false},
		{"/dev/shm", "/dev/shm", SECTION_TEMPORARY, 0, true, false},
		{"/dev/pts", "/dev/pts", SECTION_SYSTEM, -1, false, false},
		{"/usr", "/usr", SECTION_SYSTEM, 0, true, true},
		{"/lib", "/lib", SECTION_SYSTEM, 0, true, true},
		{"/lib32", "/lib32", SECTION_SYSTEM, 0, true, true},
		{"/lib64", "/lib64", SECTION_SYSTEM, 0, true, true},
		{"/bin", "/bin", SECTION_SYSTEM, 0, true, true},
		{"/sbin", "/sbin", SECTION_SYSTEM, 0, true, true},
		{"/nix/store", "/nix/store", SECTION_SYSTEM, 0, true, false},
		{"/opt", "/opt", SECTION_SYSTEM, 1, false, true},
		{"/etc", "/etc", SECTION_SYSTEM, 1, false, true},
		{"/sys", "/sys", SECTION_SYSTEM, 0, true, true},
		{"/proc", "/proc", SECTION_SYSTEM, -1, false, false},
		{"/dev", "/dev", SECTION_SYSTEM, -1, false, false},
		{"/run", "/run", SECTION_SYSTEM, 2, false, true},
		{"/var", "/var", SECTION_SYSTEM, 2, false, true},
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (all[i].path && all[i].path[0] == '/' && all[i].path[1])
			roots[n++] = all[i];
	return n;
}

/* The first @parts parts of "/a/b/c", as a length; 0 where there are fewer,
 * or no more behind them. */
static size_t head_of(const char *rest, int parts)
{
	size_t len = 0;

	for (int i = 0; i < parts; i++) {
		if (rest[len] != '/')
			return 0;
		len += 1 + strcspn(rest + len + 1, "/");
	}
	return rest[len] == '/' ? len : 0;
}

/* --- writing ---------------------------------------------------------- */

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       strchr("/._-+%", c) != NULL;
}

/* Valid characters of a name stay readable; all else is an escape. */
static void write_bytes(struct buf *out, const char *s, size_t len_bytes)
{
	while (len_bytes > 0) {
		unsigned code = 0;
		size_t n = text_utf8_next((const unsigned char *)s, len_bytes, &code);

		if (n == 1 && is_plain((unsigned char)*s)) {
			buf_chr(out, *s);
		} else if (n > 1 && !text_is_hidden(code)) {
			buf_add(out, s, n);
		} else {
			n = 1;
			buf_fmt(out, "\\x%02x", (unsigned char)*s);
		}
		s += n;
		len_bytes -= n;
	}
}

static size_t run_of(const char *s, size_t len_bytes, const char *set)
{
	size_t n = 0;

	while (n < len_bytes && strchr(set, s[n]))
		n++;
	return n;
}

/* How many bytes from @s are a number or digest that some program made up. */
static size_t made_up(const char *s, size_t len_bytes)
{
	size_t hex = run_of(s, len_bytes, "0123456789abcdef");
	size_t digits = run_of(s, len_bytes, "0123456789");

	if (digits >= DIGITS_MADE_UP && digits == hex)
		return digits;
	for (size_t i = 0; hex >= HEX_MADE_UP && i < hex; i++)
		if (s[i] >= '0' && s[i] <= '9')
			return hex;
	return 0;
}

static void write_loose(struct buf *out, const char *s)
{
	size_t left = strlen(s);

	while (left > 0) {
		size_t word = run_of(s, left, "0123456789abcdef");
		size_t skip = made_up(s, left);
		size_t n = 1;

		if (skip) {
			/* Never two stars in a row: they would be a word of their own. */
			if (!out->len_bytes || out->data[out->len_bytes - 1] != '*')
				buf_chr(out, '*');
			n = skip;
		} else {
			n = word ? word : 1;
			while (n < left && (s[n] & 0xc0) == 0x80)
				n++;
			write_bytes(out, s, n);
		}
		s += n;
		left -= n;
	}
}

/* /proc/123/task/124/comm: numbers are processes of one run only. */
static void write_numbered(struct buf *out, const char *rest)
{
	while (*rest == '/') {
		size_t len = strcspn(rest + 1, "/");

		buf_chr(out, '/');
		if (len && run_of(rest + 1, len, "0123456789") == len)
			buf_chr(out, '*');
		else
			write_bytes(out, rest + 1, len);
		rest += 1 + len;
	}
}

/* --- paths ------------------------------------------------------------ */

/* The innermost root that @path lies below. */
static const struct root *root_of(const struct root *roots, size_t n, const char *path)
{
	const struct root *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (below(path, roots[i].path) &&
		    (!found || strlen(roots[i].path) > strlen(found->path)))
			found = &roots[i];
	return found;
}

static char *literal_of(const struct root *root, const char *path, bool exact)
{
	auto_buf out = BUF_INIT;
	const char *rest = below(path, root->path);

	buf_str(&out, root->written);
	if (exact)
		write_bytes(&out, rest, strlen(rest));
	else if (root->depth < 0)
		write_numbered(&out, rest);
	else
		write_loose(&out, rest);
	return buf_take(&out);
}

/* The folder that stands for @path, or the path itself. */
static char *fold_of(const struct root *root, const char *path)
{
	auto_buf out = BUF_INIT;
	const char *rest = below(path, root->path);
	size_t head = head_of(rest, root->depth);

	if (root->depth > 0 && !head)
		return literal_of(root, path, false);
	buf_str(&out, root->written);
	write_bytes(&out, rest, head);
	/* What has no slash at its end would be a pattern for one name. */
	buf_str(&out, root->section == SECTION_TEMPORARY ? "/**" : "/");
	return buf_take(&out);
}

static int place_path(const struct suggest_folders *f, const struct suggest_use *use, bool exact,
                      struct suggest_place *out)
{
	struct root roots[ROOTS];
	const struct root elsewhere = {"", "", SECTION_ELSEWHERE, 2, false, false};
	size_t n = roots_of(f, use->object, roots);
	const struct root *found = root_of(roots, n, use->object);
	const struct root *root = found ? found : &elsewhere;
	bool named = exact || root->depth < 0 || (root->reads_only && use->class != CLASS_READ);

	/* The root of all: P/ would mean the whole disk. */
	if (strcmp(use->object, "/") == 0) {
		out->literal = strdup("/.");
		out->pattern = strdup("/.");
	} else {
		out->literal = literal_of(root, use->object, exact);
		out->pattern =
			named ? literal_of(root, use->object, exact) : fold_of(root, use->object);
	}
	out->section = use->refused             ? SECTION_REFUSED
	               : use->object[1] == '\0' ? SECTION_SYSTEM
	                                        : root->section;
	out->whole = root->whole && !named;
	return out->literal && out->pattern ? 0 : -ERR_NOMEM;
}

/* --- the rest --------------------------------------------------------- */

/* A unix socket is named by a path, with the variables of paths. */
static char *unix_word(const struct suggest_folders *f, const char *object)
{
	struct suggest_use path = {.class = CLASS_CONNECT, .object = object + 5};
	struct suggest_place place = {SECTION_NETWORK, NULL, NULL, false};
	auto_buf out = BUF_INIT;

	buf_str(&out, "unix:");
	if (object[5] == '@') {
		buf_chr(&out, '@');
		write_loose(&out, object + 6);
	} else if (object[5] == '/' && place_path(f, &path, false, &place) == 0) {
		buf_str(&out, place.literal);
	} else {
		write_bytes(&out, object + 5, strlen(object + 5));
	}
	free(place.literal);
	free(place.pattern);
	return buf_take(&out);
}

/* "203.0.113.1:443", "[::1]:80", "udp/…": nothing in them is chosen freely. */
static char *address_word(const char *object)
{
	auto_buf out = BUF_INIT;

	for (; *object; object++)
		if (is_plain((unsigned char)*object) || strchr(":[]*", *object))
			buf_chr(&out, *object);
	return buf_take(&out);
}

static char *name_word(const char *object)
{
	auto_buf out = BUF_INIT;
	size_t head = strcspn(object, ":");

	write_bytes(&out, object, head);
	if (object[head] == ':') {
		buf_chr(&out, ':');
		/* npm:@scope/name */
		for (const char *p = object + head + 1; *p; p++) {
			if (*p == '@')
				buf_chr(&out, '@');
			else
				write_bytes(&out, p, 1);
		}
	}
	return buf_take(&out);
}

static enum suggest_section section_of(enum policy_class class)
{
	switch (class) {
	case CLASS_CONNECT:
	case CLASS_BIND:
	case CLASS_RESOLVE:
		return SECTION_NETWORK;
	case CLASS_INSTALL:
	case CLASS_SCRIPT:
		return SECTION_PACKAGES;
	case CLASS_READ:
	case CLASS_WRITE:
	case CLASS_CREATE:
	case CLASS_DELETE:
	case CLASS_ATTR:
	case CLASS_LINK:
	case CLASS_STAT:
	case CLASS_EXEC:
	case CLASS_SECRET:
	case CLASS_IPC:
	case CLASS_SYSCALL:
	case CLASS_COUNT:
		break;
	}
	return SECTION_OTHER;
}

int suggest_place(const struct suggest_folders *f, const struct suggest_use *use, bool exact,
                  struct suggest_place *out)
{
	*out = (struct suggest_place){.section = section_of(use->class)};
	if (!use->set && use->object[0] == '/' && out->section == SECTION_OTHER)
		return place_path(f, use, exact, out);
	if (use->set)
		out->pattern = strdup(use->set);
	else if (text_starts(use->object, "unix:"))
		out->pattern = unix_word(f, use->object);
	else if (out->section == SECTION_NETWORK)
		out->pattern = address_word(use->object);
	else
		out->pattern = name_word(use->object);
	out->literal = out->pattern ? strdup(out->pattern) : NULL;
	if (use->refused)
		out->section = SECTION_REFUSED;
	return out->literal ? 0 : -ERR_NOMEM;
}
