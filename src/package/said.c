#include "package/said.h"

#include "base/own.h"
#include "base/text.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

void said_free(struct said *s)
{
	free(s->name);
	free(s->version);
	free(s->from);
	free(s->integrity);
	*s = (struct said){0};
}

/* ---- values ------------------------------------------------------------ */

/* A copy, or NULL: too long, empty, without memory, or with control bytes. */
static char *keep(const char *text, size_t len)
{
	if (!text || !len || len > SAID_MAX_BYTES)
		return NULL;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return NULL;
	return strndup(text, len);
}

static char *keep_json(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_string(v) ? keep(json_string_value(v), json_string_length(v)) : NULL;
}

/* "https://me:token@host/x" as "https://host/x": a record is read by others. */
static char *without_user(char *url)
{
	char *host = url ? strstr(url, "://") : NULL;
	const char *at;
	size_t authority;

	if (!host)
		return url;
	host += 3;
	authority = strcspn(host, "/?#");
	at = memrchr(host, '@', authority);
	if (at)
		memmove(host, at + 1, strlen(at + 1) + 1);
	return url;
}

static json_t *object_of(const char *text, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of byte order: npm skips it */
	json_t *root;

	if (len >= 3 && memcmp(text, mark, 3) == 0) {
		text += 3;
		len -= 3;
	}
	root = json_loadb(text, len, 0, NULL);
	if (json_is_object(root))
		return root;
	json_decref(root);
	return NULL;
}

/* ---- npm --------------------------------------------------------------- */

int said_manifest(const char *text, size_t len, struct said *out)
{
	json_t *root = object_of(text, len);

	*out = (struct said){0};
	if (!root)
		return -ERR_FORMAT;
	out->name = keep_json(root, "name");
	out->version = keep_json(root, "version");
	json_decref(root);
	return out->name || out->version ? 0 : -ERR_FORMAT;
}

struct said_lock {
	json_t *root;
};

struct said_lock *said_lock_read(const char *text, size_t len)
{
	json_t *root = object_of(text, len);
	struct said_lock *l = root ? malloc(sizeof *l) : NULL;

	if (l)
		l->root = root;
	else
		json_decref(root);
	return l;
}

void said_lock_free(struct said_lock *l)
{
	if (l)
		json_decref(l->root);
	free(l);
}

int said_lock_of(const struct said_lock *l, const char *place, struct said *out)
{
	const json_t *o = NULL;

	*out = (struct said){0};
	if (l)
		o = json_object_get(json_object_get(l->root, "packages"), place);
	if (!json_is_object(o))
		return -ERR_FORMAT;
	out->name = keep_json(o, "name");
	out->version = keep_json(o, "version");
	out->from = without_user(keep_json(o, "resolved"));
	out->integrity = keep_json(o, "integrity");
	return 0;
}

/* ---- Python ------------------------------------------------------------ */

static char *header_value(const char *line, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (len <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
		return NULL;
	for (n++; n < len && (line[n] == ' ' || line[n] == '\t');)
		n++;
	while (len > n && (line[len - 1] == ' ' || line[len - 1] == '\r'))
		len--;
	return keep(line + n, len - n);
}

int said_metadata(const char *text, size_t len, struct said *out)
{
	const char *end = text + len;

	*out = (struct said){0};
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t line = stop ? (size_t)(stop - text) : (size_t)(end - text);

		if (line == 0 || (line == 1 && text[0] == '\r'))
			break; /* what follows is a description */
		if (!out->name)
			out->name = header_value(text, line, "Name");
		if (!out->version)
			out->version = header_value(text, line, "Version");
		text += line + (stop ? 1 : 0);
	}
	return out->name || out->version ? 0 : -ERR_FORMAT;
}

int said_direct_url(const char *text, size_t len, struct said *out)
{
	json_t *root = object_of(text, len);
	const json_t *archive = json_object_get(root, "archive_info");
	char *hex;

	*out = (struct said){0};
	if (!root)
		return -ERR_FORMAT;
	out->from = without_user(keep_json(root, "url"));
	out->integrity = keep_json(archive, "hash");
	hex = out->integrity ? NULL : keep_json(json_object_get(archive, "hashes"), "sha256");
	if (hex) {
		auto_buf b = BUF_INIT;

		buf_fmt(&b, "sha256=%s", hex);
		out->integrity = buf_take(&b);
		free(hex);
	}
	if (!out->integrity)
		out->integrity = keep_json(json_object_get(root, "vcs_info"), "commit_id");
	json_decref(root);
	return out->from ? 0 : -ERR_FORMAT;
}

void said_names_free(struct said_names *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->items[i]);
	free(n->items);
	*n = (struct said_names){0};
}

/* Puts a name in its place; there it may be already. */
static int insert(struct said_names *to, const char *name)
{
	size_t from = 0;
	size_t until = to->n;

	while (from < until) {
		size_t middle = (from + until) / 2;
		int order = strcmp(to->items[middle], name);

		if (order == 0)
			return 0;
		if (order < 0)
			from = middle + 1;
		else
			until = middle;
	}
	if (to->n == SAID_NAMES_MAX)
		return -ERR_BOUND;
	if (!to->items)
		to->items = calloc(SAID_NAMES_MAX, sizeof *to->items);
	char *copy = to->items ? strdup(name) : NULL;
	if (!copy)
		return -ERR_NOMEM;
	memmove(&to->items[from + 1], &to->items[from], (to->n - from) * sizeof *to->items);
	to->items[from] = copy;
	to->n++;
	return 0;
}

/* The name at the beginning of a line of CSV. */
static int record_name(const char *line, size_t len, struct buf *out)
{
	buf_reset(out);
	if (len && line[0] == '"') {
		for (size_t i = 1; i < len; i++) {
			if (line[i] == '"' && (i + 1 == len || line[++i] != '"'))
				return 0;
			buf_chr(out, line[i]);
		}
		return -ERR_FORMAT; /* the quote does not end on its line */
	}
	for (size_t i = 0; i < len && line[i] != ',' && line[i] != '\r'; i++)
		buf_chr(out, line[i]);
	return 0;
}

static bool leads_out(const char *name)
{
	size_t first = strcspn(name, "/");

	if (first == 0)
		return true;
	for (const char *at = name; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
			return true;
	}
	return first == 1 && name[0] == '.';
}

static int add_name(struct said_names *to, const char *name)
{
	char first[256];
	size_t n = strcspn(name, "/");

	if (!*name)
		return 0;
	if (leads_out(name) || n >= sizeof first) {
		to->outside++;
		return 0;
	}
	memcpy(first, name, n);
	first[n] = '\0';
	return insert(to, first);
}

int said_record(const char *text, size_t len, struct said_names *out)
{
	const char *end = text + len;
	auto_buf name = {.max_bytes = 65536};
	int err = 0;

	*out = (struct said_names){0};
	if (memchr(text, '\0', len))
		return -ERR_FORMAT;
	while (!err && text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t line = stop ? (size_t)(stop - text) : (size_t)(end - text);

		err = record_name(text, line, &name);
		if (!err)
			err = buf_text(&name) ? add_name(out, buf_text(&name)) : -ERR_BOUND;
		text += line + (stop ? 1 : 0);
	}
	return err;
}

bool said_python_name(const char *name, char *out, size_t size)
{
	size_t n = 0;

	while (*name && n + 1 < size) {
		size_t run = strspn(name, "-_.");
		char c = *name;

		name += run ? run : 1;
		if (run)
			c = '-';
		else if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		out[n++] = c;
	}
	out[n] = '\0';
	return !*name;
}
