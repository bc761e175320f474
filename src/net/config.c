#include "net/config.h"

#include "base/buf.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HOST_MAX_BYTES 253
#define VALUE_MAX_BYTES 4096

/* ---- words ------------------------------------------------------------ */

void config_hosts_free(struct config_hosts *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->words[i]);
	*h = (struct config_hosts){.n = 0};
}

static void add_word(struct config_hosts *h, char *word)
{
	for (size_t i = 0; word && i < h->n; i++) {
		if (strcmp(h->words[i], word) == 0) {
			free(word);
			return;
		}
	}
	if (!word || h->n == CONFIG_HOSTS_MAX) {
		h->overflow = true;
		free(word);
		return;
	}
	h->words[h->n++] = word;
	h->words[h->n] = NULL;
}

void config_hosts_join(struct config_hosts *h, const struct config_hosts *more)
{
	for (size_t i = 0; i < more->n; i++)
		add_word(h, strdup(more->words[i]));
	h->overflow |= more->overflow;
}

static bool is_host_char(char c, bool v6)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	return v6 ? c == ':' || c == '.' : c == '.' || c == '-' || c == '_';
}

/* The length of a host's name at the beginning of @s, 0 where there is none. */
static size_t host_length(const char *s, size_t len)
{
	bool v6 = len > 0 && s[0] == '[';
	size_t n = v6 ? 1 : 0;

	while (n < len && is_host_char(s[n], v6))
		n++;
	if (v6)
		return n > 1 && n < len && s[n] == ']' ? n + 1 : 0;
	return n <= HOST_MAX_BYTES ? n : 0;
}

/* ":8443" or nothing, up to the end of the authority. */
static bool port_of(const char *s, size_t len, unsigned *port)
{
	unsigned long n = 0;

	if (len == 0)
		return true;
	if (s[0] != ':' || len > 6)
		return false;
	for (size_t i = 1; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		n = n * 10 + (unsigned long)(s[i] - '0');
	}
	if (n == 0 && len == 1)
		return true;
	if (n == 0 || n > 65535)
		return false;
	*port = (unsigned)n;
	return true;
}

static bool add_authority(struct config_hosts *h, const char *s, size_t len, unsigned port)
{
	struct buf word = BUF_INIT;
	size_t host;

	for (size_t i = 0; i < len; i++) { /* user:password@ */
		if (s[i] == '@') {
			s += i + 1;
			len -= i + 1;
			i = (size_t)-1;
		}
	}
	host = host_length(s, len);
	if (host == 0 || !port_of(s + host, len - host, &port))
		return false;
	while (s[0] != '[' && host > 1 && s[host - 1] == '.')
		host--;
	for (size_t i = 0; i < host; i++)
		buf_chr(&word, s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] + 32) : s[i]);
	buf_fmt(&word, ":%u", port);
	add_word(h, buf_take(&word));
	return true;
}

bool config_add_url(struct config_hosts *h, const char *url, size_t len_bytes)
{
	static const struct {
		const char *text;
		unsigned port;
	} schemes[] = {{"https://", 443}, {"http://", 80}};

	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		size_t skip = strlen(schemes[i].text);
		size_t len = 0;

		if (len_bytes < skip || strncasecmp(url, schemes[i].text, skip) != 0)
			continue;
		while (skip + len < len_bytes && !strchr("/?#", url[skip + len]))
			len++;
		return add_authority(h, url + skip, len, schemes[i].port);
	}
	return false;
}

/* ---- lines ------------------------------------------------------------ */

struct line {
	const char *at;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim(struct line *l)
{
	while (l->len > 0 && is_blank(l->at[0])) {
		l->at++;
		l->len--;
	}
	while (l->len > 0 && is_blank(l->at[l->len - 1]))
		l->len--;
}

/* The next line of a text, untrimmed. Returns whether there was one. */
static bool next_line(const char **text, struct line *out)
{
	const char *end;

	if (!**text)
		return false;
	end = strchrnul(*text, '\n');
	*out = (struct line){*text, (size_t)(end - *text)};
	*text = *end ? end + 1 : end;
	return true;
}

/* "key = value"; quotes around the value are taken off. */
static bool key_value(struct line l, char separator, struct line *key, struct line *value)
{
	const char *mark = memchr(l.at, separator, l.len);

	if (!mark)
		return false;
	*key = (struct line){l.at, (size_t)(mark - l.at)};
	*value = (struct line){mark + 1, l.len - key->len - 1};
	trim(key);
	trim(value);
	if (value->len >= 2 && strchr("\"'", value->at[0]) &&
	    value->at[value->len - 1] == value->at[0]) {
		value->at++;
		value->len -= 2;
	}
	return true;
}

static bool is_word(struct line l, const char *word)
{
	return l.len == strlen(word) && strncasecmp(l.at, word, l.len) == 0;
}

static bool ends_in(struct line l, const char *tail)
{
	size_t len = strlen(tail);

	return l.len > len && memcmp(l.at + l.len - len, tail, len) == 0;
}

static void add_words(struct config_hosts *h, struct line l)
{
	while (l.len > 0) {
		size_t n = 0;

		while (n < l.len && !is_blank(l.at[n]))
			n++;
		if (n > 0)
			(void)config_add_url(h, l.at, n);
		n += n < l.len;
		l.at += n;
		l.len -= n;
	}
}

/* ---- npm -------------------------------------------------------------- */

/* A value with its ${NAME} replaced; what is not set stays as it is. */
static void expand(struct buf *out, struct line v, const struct config_env *env)
{
	for (size_t i = 0; i < v.len; i++) {
		const char *end = memchr(v.at + i, '}', v.len - i);
		const char *value = NULL;
		char name[128];
		size_t len;

		if (v.at[i] == '$' && i + 1 < v.len && v.at[i + 1] == '{' && end) {
			len = (size_t)(end - v.at) - i - 2;
			if (len < sizeof name) {
				memcpy(name, v.at + i + 2, len);
				name[len] = '\0';
				value = env && env->get ? env->get(env->ctx, name) : NULL;
			}
		}
		if (!value) {
			buf_chr(out, v.at[i]);
			continue;
		}
		buf_str(out, value);
		i = (size_t)(end - v.at);
	}
}

static void npm_value(struct line value, const struct config_env *env, struct config_hosts *out,
                      bool replaces)
{
	auto_buf text = BUF_INIT;
	struct config_hosts one = {.n = 0};

	buf_init(&text, VALUE_MAX_BYTES);
	expand(&text, value, env);
	if (!buf_text(&text) || !config_add_url(&one, buf_text(&text), text.len_bytes))
		return;
	if (replaces)
		config_hosts_free(out);
	add_word(out, strdup(one.words[0]));
	config_hosts_free(&one);
}

void config_npmrc(const char *text, const struct config_env *env, struct config_hosts *registry,
                  struct config_hosts *scopes)
{
	struct line l;
	struct line key;
	struct line value;

	while (next_line(&text, &l)) {
		trim(&l);
		if (l.len == 0 || strchr(";#[", l.at[0]) || !key_value(l, '=', &key, &value))
			continue;
		if (is_word(key, "registry"))
			npm_value(value, env, registry, true);
		else if (key.at[0] == '@' && ends_in(key, ":registry"))
			npm_value(value, env, scopes, false);
	}
}

/* The next quoted text after @at, within @reach bytes. */
static bool quoted(const char *at, size_t reach, struct line *out)
{
	size_t start = strcspn(at, "'\"");
	const char *end;

	if (start >= reach || !at[start])
		return false;
	end = strchr(at + start + 1, at[start]);
	if (!end)
		return false;
	*out = (struct line){at + start + 1, (size_t)(end - at) - start - 1};
	return true;
}

void config_npm_default(const char *text, struct config_hosts *out)
{
	static const char *const openings[] = {"Definition('registry'", "define('registry'"};
	struct line url;

	for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
		const char *at = strstr(text, openings[i]);

		at = at ? strstr(at, "default:") : NULL;
		if (at && quoted(at, 200, &url) && config_add_url(out, url.at, url.len))
			return;
	}
}

/* ---- pip -------------------------------------------------------------- */

enum pip_key { PIP_NONE, PIP_INDEX, PIP_MORE };

static enum pip_key pip_key_of(struct line key)
{
	if (is_word(key, "index-url") || is_word(key, "index_url"))
		return PIP_INDEX;
	if (is_word(key, "extra-index-url") || is_word(key, "extra_index_url") ||
	    is_word(key, "find-links") || is_word(key, "find_links"))
		return PIP_MORE;
	return PIP_NONE;
}

static void pip_value(enum pip_key key, struct line value, struct config_hosts *index,
                      struct config_hosts *extra)
{
	struct config_hosts found = {.n = 0};

	if (key == PIP_MORE)
		add_words(extra, value);
	if (key != PIP_INDEX)
		return;
	add_words(&found, value);
	if (found.n > 0) {
		config_hosts_free(index);
		*index = found;
	}
}

void config_pip(const char *text, struct config_hosts *index, struct config_hosts *extra)
{
	enum pip_key now = PIP_NONE;
	bool counts = false;
	struct line l;
	struct line key;
	struct line value;

	while (next_line(&text, &l)) {
		bool goes_on = l.len > 0 && is_blank(l.at[0]);

		trim(&l);
		if (l.len == 0 || strchr(";#", l.at[0]))
			continue;
		if (l.at[0] == '[') {
			counts = is_word(l, "[global]") || is_word(l, "[install]") ||
			         is_word(l, "[download]");
			now = PIP_NONE;
		} else if (goes_on && now != PIP_NONE) {
			pip_value(now, l, index, extra);
		} else if (key_value(l, '=', &key, &value) || key_value(l, ':', &key, &value)) {
			now = counts ? pip_key_of(key) : PIP_NONE;
			pip_value(now, value, index, extra);
		}
	}
}

void config_pip_words(const char *text, struct config_hosts *out)
{
	add_words(out, (struct line){text, strlen(text)});
}

void config_pip_default(const char *text, struct config_hosts *out)
{
	static const char store[] = "file_storage_domain=";
	const char *at = strstr(text, "\nPyPI = PackageIndex(");
	const char *end = at ? strchr(at, ')') : NULL;
	const char *more;
	struct line found;

	if (!end)
		return;
	if (quoted(at, (size_t)(end - at), &found))
		(void)config_add_url(out, found.at, found.len);
	more = strstr(at, store);
	if (more && more < end && quoted(more, (size_t)(end - more), &found))
		(void)add_authority(out, found.at, found.len, 443);
}

/* ---- apt -------------------------------------------------------------- */

void config_apt_list(const char *text, struct config_hosts *out)
{
	struct line l;

	while (next_line(&text, &l)) {
		trim(&l);
		if (l.len > 4 && strncmp(l.at, "deb", 3) == 0)
			add_words(out, l); /* words that are no addresses add nothing */
	}
}

void config_apt_sources(const char *text, struct config_hosts *out)
{
	bool in_uris = false;
	struct line l;
	struct line key;
	struct line value;

	while (next_line(&text, &l)) {
		bool goes_on = l.len > 0 && is_blank(l.at[0]);

		if (l.len > 0 && l.at[0] == '#')
			continue;
		trim(&l);
		if (goes_on && in_uris) {
			add_words(out, l);
		} else if (!goes_on) {
			in_uris = key_value(l, ':', &key, &value) && is_word(key, "URIs");
			if (in_uris)
				add_words(out, value);
		}
	}
}
