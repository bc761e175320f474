#include "cmd/example.h"

#include "base/own.h"
#include "base/text.h"
#include "cmd/tool.h"

#include <string.h>

/* The text of a pattern with something in place of each wildcard. */
static void fill(const char *pattern, const char *any, struct buf *out)
{
	for (; *pattern; pattern++) {
		if (*pattern == '\\' && pattern[1]) {
			buf_chr(out, *++pattern);
		} else if (*pattern == '*') {
			while (pattern[1] == '*')
				pattern++;
			buf_str(out, any);
		} else {
			buf_chr(out, *pattern);
		}
	}
}

static void quoted(const char *prefix, const char *pattern, struct buf *out)
{
	auto_buf plain = BUF_INIT;

	buf_str(&plain, prefix);
	fill(pattern, "x", &plain);
	tool_quote(out, buf_text(&plain) ? buf_text(&plain) : "");
}

/* The first port of "443", "80,443", "8000-8999", "*". */
static void port(const char *ports, struct buf *out)
{
	if (*ports == '*' || !*ports)
		buf_str(out, "443");
	else
		buf_add(out, ports, strspn(ports, "0123456789"));
}

static bool address(const char *pattern, struct buf *out)
{
	static const struct {
		const char *set;
		const char *member;
	} sets[] = {
		{"loopback", "127.0.0.1"},
		{"private", "10.0.0.1"},
		{"metadata", "169.254.169.254"},
		{"*", "203.0.113.1"},
	};
	const char *colon = strrchr(pattern, ':');
	size_t len = colon ? (size_t)(colon - pattern) : strlen(pattern);
	const char *slash = memchr(pattern, '/', len);
	auto_free char *host = strndup(pattern, slash ? (size_t)(slash - pattern) : len);

	if (!host)
		return false;
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
		if (strcmp(host, sets[i].set) == 0) {
			buf_fmt(out, "%s:", sets[i].member);
			port(colon ? colon + 1 : "*", out);
			return true;
		}
	if (!colon)
		return false;
	fill(host, "x", out);
	buf_chr(out, ':');
	port(colon + 1, out);
	return true;
}

static bool network(const char *pattern, struct buf *out)
{
	if (text_starts(pattern, "own") || text_starts(pattern, "registry:"))
		return false;
	if (strcmp(pattern, "delegates") == 0) {
		buf_str(out, "unix:/run/docker.sock");
		return true;
	}
	if (text_starts(pattern, "unix:")) {
		quoted("unix:", pattern + 5, out);
		return true;
	}
	if (text_starts(pattern, "tcp/") || text_starts(pattern, "udp/")) {
		buf_add(out, pattern, 4);
		pattern += 4;
	}
	return address(pattern, out);
}

bool example_object(enum policy_class class, const char *pattern, struct buf *out)
{
	if (class == CLASS_CONNECT || class == CLASS_BIND)
		return network(pattern, out);
	if (class == CLASS_INSTALL || class == CLASS_SCRIPT)
		quoted(text_starts(pattern, "*:") ? "npm" : "",
		       text_starts(pattern, "*:") ? pattern + 1 : pattern, out);
	else
		quoted("", pattern, out);
	return true;
}

/* --- conditions ------------------------------------------------------- */

/* The next word of a rule as written, quotes kept. */
static char *next_word(const char **rest)
{
	const char *start = *rest + strspn(*rest, " \t\\\n");
	const char *p = start;
	bool in_quotes = false;

	for (; *p && (in_quotes || !strchr(" \t\n", *p)); p++)
		in_quotes ^= *p == '"';
	*rest = p;
	return p > start ? strndup(start, (size_t)(p - start)) : NULL;
}

static bool is_keyword(const char *word)
{
	static const char *const words[] = {
		"by",  "under", "sha256", "at",      "from", "version", "until", "when",  "as",
		"for", "each",  "via",    "through", "with", "because", "stack", "quiet", "to"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

const char *example_skip_head(const char *rule)
{
	free(next_word(&rule)); /* verdict */
	free(next_word(&rule)); /* classes */
	return rule;
}

char *example_next_object(const char **rest)
{
	char *word = next_word(rest);

	if (word && is_keyword(word)) {
		free(word);
		return NULL;
	}
	return word;
}

static void fill_word(const char *prefix, const char *word, struct buf *out)
{
	buf_str(out, prefix);
	fill(word, "x", out);
}

/* `when argv W W` and `when has W`: words that such a program was given. */
static bool arguments(const char **rest, struct buf *out)
{
	auto_free char *first = next_word(rest);
	bool has = first && strcmp(first, "has") == 0;

	if (!first || (!has && strcmp(first, "argv") != 0))
		return false;
	buf_str(out, " argv");
	for (;;) {
		const char *before = *rest;
		auto_free char *word = next_word(rest);

		if (!word || is_keyword(word)) {
			*rest = before;
			return true;
		}
		if (strcmp(word, "**") != 0)
			fill_word(" ", word, out);
		if (has)
			return true;
	}
}

static bool condition(const char *keyword, const char **rest, struct buf *out, struct buf *argv)
{
	auto_free char *value = NULL;

	if (strcmp(keyword, "when") == 0)
		return arguments(rest, argv);
	if (strcmp(keyword, "by") == 0 || strcmp(keyword, "under") == 0) {
		value = next_word(rest);
		if (!value || strstr(value, "${"))
			return false;
		buf_fmt(out, " %s", keyword);
		fill_word(" ", value, out);
		return true;
	}
	return strcmp(keyword, "sha256") != 0 && strcmp(keyword, "at") != 0 &&
	       strcmp(keyword, "from") != 0 && strcmp(keyword, "version") != 0;
}

bool example_conditions(const char *rule, struct buf *out)
{
	auto_buf argv = BUF_INIT;
	char *word;

	while ((word = next_word(&rule))) {
		bool stated = !is_keyword(word) || condition(word, &rule, out, &argv);

		free(word);
		if (!stated)
			return false;
	}
	/* argv takes all that follows it. */
	buf_str(out, argv.len_bytes ? buf_text(&argv) : "");
	return true;
}
