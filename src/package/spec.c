#include "package/spec.h"

#include "base/text.h"

#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool ends(const char *s, const char *end)
{
	size_t n = strlen(s);
	size_t k = strlen(end);

	return n >= k && strcmp(s + n - k, end) == 0;
}

const char *spec_host(struct package_list *l, const char *url)
{
	const char *at = strstr(url, "://");
	const char *user;
	const char *text;
	size_t len;

	if (!at)
		return NULL;
	at += 3;
	len = strcspn(at, "/?#\\ \t\r\n");
	/* The last @ ends user and password. */
	for (user = at + len; user > at && user[-1] != '@'; user--)
		;
	len -= (size_t)(user - at);
	if (!len)
		return NULL;
	text = list_text(l, user, len);
	for (size_t i = 0; text && i < len; i++)
		((char *)text)[i] = lower(text[i]);
	return text;
}

/* ---- what is not a registry's ----------------------------------------- */

static bool is_archive(const char *s)
{
	static const char *const kinds[] = {".tgz", ".tar.gz",  ".tar",    ".whl",
	                                    ".zip", ".tar.bz2", ".tar.xz", ".egg",
	                                    ".gem", ".crate",   ".deb",    ".conda"};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (ends(s, kinds[i]))
			return true;
	return false;
}

static bool is_path(const char *s)
{
	return s[0] == '.' || s[0] == '/' || text_starts(s, "~/") || text_starts(s, "file:") ||
	       text_starts(s, "link:") || text_starts(s, "portal:") || text_starts(s, "workspace:");
}

static bool is_git(const char *s)
{
	static const char *const starts[] = {
		"git+",       "git:",  "git@", "ssh:", "github:", "gitlab:",
		"bitbucket:", "gist:", "hg+",  "svn+", "bzr+"};

	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
		if (text_starts(s, starts[i]))
			return true;
	return strstr(s, "://") && (ends(s, ".git") || strstr(s, ".git#") || strstr(s, ".git@"));
}

/* Adds what comes from a place of its own; false where @s is not that.  The
 * place is its name: a name that is written beside it binds nobody. */
static bool add_foreign(struct package_list *l, const char *s)
{
	bool git = is_git(s);
	bool url = !git && strstr(s, "://") && !text_starts(s, "file:");
	bool path = !git && !url && (is_path(s) || is_archive(s));
	const char *host = git || url ? spec_host(l, s) : NULL;
	struct package *p;

	if (!git && !url && !path)
		return false;
	p = list_add(l);
	p->name = list_str(l, s);
	p->git = git;
	p->url = url;
	p->path = path;
	p->registry = host;
	p->unpinned = true;
	return true;
}

/* ---- npm -------------------------------------------------------------- */

bool spec_is_exact(enum spec_kind kind, const char *v)
{
	unsigned dots = 0;

	if (kind == SPEC_PYTHON) {
		if (!text_starts(v, "=="))
			return false;
		return !strpbrk(v + 2, "*,<>!~ ");
	}
	while (*v == '=' || *v == 'v' || *v == ' ')
		v++;
	if (!is_digit(*v))
		return false;
	for (; *v && *v != '-' && *v != '+'; v++) {
		if (*v == '.')
			dots++;
		else if (!is_digit(*v))
			return false;
	}
	return dots >= 2 && !strpbrk(v, " |<>*");
}

static void add_versioned(struct package_list *l, const char *name, size_t len, const char *version)
{
	struct package *p = list_add(l);

	p->name = list_text(l, name, len);
	p->version = version && *version ? list_str(l, version) : NULL;
	p->unpinned = !p->version || !spec_is_exact(SPEC_NPM, p->version);
}

/* The @ before a version: not the one of a scope. */
static const char *version_at(const char *s)
{
	return s[0] ? strchr(s + 1, '@') : NULL;
}

static void parse_npm(struct package_list *l, const char *s);

void spec_npm(struct package_list *l, const char *name, const char *wanted)
{
	struct package *p;

	if (text_starts(wanted, "npm:") || text_starts(wanted, "jsr:")) {
		parse_npm(l, wanted);
		return;
	}
	if (add_foreign(l, wanted))
		return;
	/* user/repo: a short form of a place at a git host. */
	if (strchr(wanted, '/')) {
		p = list_add(l);
		p->name = list_str(l, wanted);
		p->git = true;
		p->unpinned = true;
		return;
	}
	add_versioned(l, name, strlen(name), wanted);
}

static void parse_npm(struct package_list *l, const char *s)
{
	const char *at;
	size_t len;

	if (text_starts(s, "npm:"))
		s += 4;
	at = version_at(s);
	len = at ? (size_t)(at - s) : strlen(s);
	/* Only a name stands before a version's @. */
	if (memchr(s, ':', len) || is_path(s) || (s[0] != '@' && memchr(s, '/', len)) ||
	    (!at && is_archive(s)) || text_starts(s, "git@")) {
		spec_npm(l, s, s);
	} else if (at) {
		const char *name = list_text(l, s, len);

		if (name)
			spec_npm(l, name, at + 1);
	} else {
		add_versioned(l, s, len, NULL);
	}
}

/* ---- python ----------------------------------------------------------- */

static bool is_name(char c)
{
	return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_' ||
	       c == '.';
}

/* PEP 503: lower case, runs of -_. become one -. */
static const char *python_name(struct package_list *l, const char *s, size_t len)
{
	char *text = (char *)list_text(l, s, len);
	size_t n = 0;

	for (size_t i = 0; text && i < len; i++) {
		bool dash = strchr("-_.", text[i]) != NULL;

		if (!dash)
			text[n++] = lower(text[i]);
		else if (n && text[n - 1] != '-')
			text[n++] = '-';
	}
	if (text)
		text[n] = '\0';
	return text;
}

/* Without blanks around and without a marker (; python_version…) behind. */
static const char *python_version(struct package_list *l, const char *s)
{
	size_t len = strcspn(s, ";#");
	char *text;
	size_t n = 0;

	while (len && strchr(" \t()", s[len - 1]))
		len--;
	while (len && strchr(" \t(", *s)) {
		s++;
		len--;
	}
	text = (char *)list_text(l, s, len);
	for (size_t i = 0; text && i < len; i++)
		if (text[i] != ' ' && text[i] != '\t')
			text[n++] = text[i];
	if (text)
		text[n] = '\0';
	return text;
}

/* Behind a name: its extras, in brackets. */
static const char *skip_extras(const char *s)
{
	s += strspn(s, " \t");
	if (*s == '[') {
		s += strcspn(s, "]");
		s += *s ? 1 : 0;
		s += strspn(s, " \t");
	}
	return s;
}

static void parse_python(struct package_list *l, const char *s)
{
	struct package *p;
	size_t len = 0;
	const char *rest;

	s += strspn(s, " \t");
	while (is_name(s[len]))
		len++;
	rest = skip_extras(s + len);
	/* name @ URL, and uv's name@version */
	if (len && *rest == '@' && !text_starts(s, "git@")) {
		rest += 1 + strspn(rest + 1, " \t");
		if (add_foreign(l, rest))
			return;
	} else if (!*s || add_foreign(l, s)) {
		return;
	}
	p = list_add(l);
	if (!len || strchr(s, '/')) { /* a path, or nothing that is known */
		p->name = list_str(l, s);
		p->path = true;
		p->unpinned = true;
		return;
	}
	p->name = python_name(l, s, len);
	p->version = python_version(l, rest);
	if (p->version && !*p->version)
		p->version = NULL;
	p->unpinned = !p->version || !spec_is_exact(SPEC_PYTHON, p->version);
}

/* ---- the rest --------------------------------------------------------- */

static void parse_plain(struct package_list *l, const char *s)
{
	struct package *p;
	size_t len;
	const char *rest;

	if (add_foreign(l, s))
		return;
	if (strstr(s, "::")) /* conda's channel::name */
		s = strstr(s, "::") + 2;
	len = strcspn(s, "@=:<>!~^ ");
	rest = s + len + strspn(s + len, "@=:");
	p = list_add(l);
	p->name = list_text(l, s, len);
	p->version = *rest ? list_str(l, rest) : NULL;
	p->unpinned = !p->version || !spec_is_exact(SPEC_PLAIN, p->version);
}

void spec_parse(struct package_list *l, enum spec_kind kind, const char *text)
{
	static void (*const parsers[])(struct package_list *, const char *) = {
		[SPEC_NPM] = parse_npm,
		[SPEC_PYTHON] = parse_python,
		[SPEC_PLAIN] = parse_plain,
	};

	if (*text)
		parsers[kind](l, text);
}
