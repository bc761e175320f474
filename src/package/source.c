#include "package/source.h"

#include "base/text.h"
#include "package/spec.h"

#include <stdio.h>
#include <string.h>

#define KEY_MAX 128

/* Settings that replace the manager's own registry, and those that add one. */
static const char replacing[] = "registry reg npmregistryserver index-url pypi-url default-index "
				"default-index-url i source s";
static const char adding[] = "extra-index-url index find-links f channel channels c repository git "
			     "url";

/* Ended by ":registry": of one scope. */
static bool is_scope(const char *name, size_t len)
{
	static const char tail[] = ":registry";
	size_t n = sizeof tail - 1;

	return len > n && name[0] == '@' && memcmp(name + len - n, tail, n) == 0;
}

static void set_scope(struct sources *s, const char *name, size_t len, const char *host)
{
	struct source_scope *at;

	if (s->scopes_n == SOURCE_SCOPES_MAX) {
		s->several = true; /* nothing is certain then */
		return;
	}
	at = &s->scopes[s->scopes_n++];
	at->scope = list_text(s->list, name, len - (sizeof ":registry" - 1));
	at->host = host ? host : "?";
}

/* A folder that the tree cannot change is its user's own choice. */
static bool is_users_own(const struct sources *s, const char *value)
{
	return value[0] == '/' && s->world && s->world->fixed &&
	       s->world->fixed(s->world->ctx, value);
}

static void add_beside(struct sources *s, const char *host)
{
	if (!host || (s->extra && strcmp(s->extra, host) != 0))
		s->several = true;
	else
		s->extra = host;
}

static bool shortened(const char *list, const char *name, size_t len)
{
	struct {
		const char *at;
	} w = {list};

	while (len >= 3 && *w.at) {
		size_t n = strcspn(w.at, " ");

		if (n > len && memcmp(w.at, name, len) == 0)
			return true;
		w.at += n;
		w.at += strspn(w.at, " ");
	}
	return false;
}

void source_set(struct sources *s, const char *name, size_t len, const char *value)
{
	size_t n;

	if (word_in("no-index", name, len)) {
		s->no_index = true;
		return;
	}
	for (; value && *value; value += n) {
		const char *host;
		const char *one;

		value += strspn(value, " \t,\"'[]");
		n = strcspn(value, " \t,\"'[]");
		if (!n)
			return;
		one = list_text(s->list, value, n);
		host = one ? spec_host(s->list, one) : NULL;
		if (is_scope(name, len))
			set_scope(s, name, len, host);
		else if (word_in(replacing, name, len) || shortened(replacing, name, len))
			s->index = host ? host : "?";
		else if ((word_in(adding, name, len) || shortened(adding, name, len)) && one &&
		         !is_users_own(s, one))
			add_beside(s, host);
	}
}

/* ---- files ------------------------------------------------------------ */

/* The key of a line, in the form of options: lower case, - for _, no quotes. */
static size_t read_key(const char *line, char key[KEY_MAX], const char **value)
{
	const char *stop = line[0] == '@' ? "=\n" : "=: \t\n";
	size_t len = strcspn(line, stop);
	size_t n = 0;

	for (size_t i = 0; i < len && n < KEY_MAX - 1; i++) {
		char c = line[i];

		if (c == '"' || c == '\'')
			continue;
		if (c >= 'A' && c <= 'Z' && line[0] != '@')
			c = (char)(c - 'A' + 'a');
		key[n++] = c == '_' ? '-' : c;
	}
	key[n] = '\0';
	*value = line + len + strspn(line + len, "=: \t");
	return n;
}

/* Sections whose `url` is a registry's; "global" and the like are passed. */
static bool is_index_section(const char *line, size_t len)
{
	char text[KEY_MAX];

	if (len >= sizeof text)
		return true;
	memcpy(text, line, len);
	text[len] = '\0';
	return strstr(text, "index") || strstr(text, "source") || strstr(text, "repositor");
}

void source_read(struct sources *s, const char *text)
{
	char key[KEY_MAX] = "";
	size_t key_len = 0;
	bool of_index = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t blank = strspn(text, " \t\r");
		const char *line = text + blank;
		const char *value = line;

		if (blank < len && *line == '[') {
			of_index = is_index_section(line, len - blank);
			key_len = 0;
		} else if (blank < len && !strchr("#;", *line)) {
			/* An indented line without a sign goes on with the last key. */
			bool more = blank > 0 && key_len && !memchr(line, '=', len - blank) &&
			            strncmp(line, "http", 4) == 0;

			if (!more)
				key_len = read_key(line, key, &value);
			if (strcmp(key, "url") != 0 || of_index) {
				size_t n = strcspn(value, "\n");
				const char *copy = list_text(s->list, value, n);

				if (copy &&
				    (word_in(replacing, key, key_len) ||
				     word_in(adding, key, key_len) || is_scope(key, key_len) ||
				     word_in("no-index", key, key_len)))
					source_set(s, key, key_len, copy);
			}
		}
		text += len + (text[len] ? 1 : 0);
	}
}

void sources_over(struct sources *s, const struct sources *over)
{
	if (over->index)
		s->index = over->index;
	if (over->extra)
		add_beside(s, over->extra);
	s->several = s->several || over->several;
	s->no_index = s->no_index || over->no_index;
	for (size_t i = 0; i < over->scopes_n; i++) {
		if (s->scopes_n == SOURCE_SCOPES_MAX)
			s->several = true;
		else
			s->scopes[s->scopes_n++] = over->scopes[i];
	}
}

/* ---- the answer ------------------------------------------------------- */

static const char *host_or_none(const char *host)
{
	return host && strcmp(host, "?") != 0 ? host : NULL;
}

const char *source_of(struct sources *s, const char *manager, const char *name)
{
	size_t scope = name[0] == '@' ? strcspn(name, "/") : 0;
	char own[64];

	if (s->several)
		return NULL;
	for (size_t i = s->scopes_n; scope && i-- > 0;) {
		const struct source_scope *at = &s->scopes[i];

		if (at->scope && strlen(at->scope) == scope && memcmp(at->scope, name, scope) == 0)
			return host_or_none(at->host);
	}
	if (s->no_index)
		return s->extra;
	if (s->index)
		return s->extra && strcmp(s->extra, s->index) != 0 ? NULL : host_or_none(s->index);
	if (s->extra)
		return NULL;
	snprintf(own, sizeof own, "registry:%s", manager);
	return list_str(s->list, own);
}
