/* CycloneDX: the packages of one session as a bill of materials.  How each
 * folder was left counts: its last row; of what no row shows to lie anywhere,
 * that it was asked for.  https://cyclonedx.org/docs/1.6/json/ */
#include "audit/record.h"
#include "audit/schema_events.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/export_formats.h"
#include "cmd/export_json.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define REASON_INSTALLED 2 /* docs/AUDIT.md, "Installed packages" */
#define REASON_REMOVED 5
#define DIGEST_MAX_BYTES 64
/* The schema has 1,024 characters; a byte may become four of them. */
#define VERSION_MAX_BYTES 256
/* Larger than what any manager writes: a list of digests at most. */
#define INTEGRITY_MAX_BYTES 1024

void export_cyclonedx_condition(struct buf *out, const struct export_row *session)
{
	const char *name = session->origin->session; /* hexadecimal */

	buf_fmt(out,
	        "a.kind = 'package' AND (e.id IN (SELECT id FROM (SELECT max(id) AS id, reason"
	        " FROM packages WHERE session = '%s' AND reason >= %d GROUP BY cwd)"
	        " WHERE reason <> %d)"
	        " OR (coalesce(d.reason, 0) < %d AND e.id IN (SELECT max(id) FROM packages"
	        " WHERE session = '%s' AND coalesce(reason, 0) < %d GROUP BY object, object2)"
	        " AND " SCHEMA_TEXT("e.object") " NOT IN (SELECT object FROM packages"
	                                        " WHERE session = '%s' AND reason >= %d AND object "
	                                        "IS NOT NULL)))",
	        name, REASON_INSTALLED, REASON_REMOVED, REASON_INSTALLED, name, REASON_INSTALLED,
	        name, REASON_INSTALLED);
}

/* ---- the document ------------------------------------------------------------- */

static json_t *property(const char *name, json_t *value)
{
	return export_made(json_pack("{s:o, s:o}", "name", json_sprintf("wary:%s", name), "value",
	                             export_made(value)));
}

static void add_property(json_t *list, const char *name, json_t *value)
{
	if (value)
		invariant(json_array_append_new(list, property(name, value)) == 0);
}

static json_t *serial_number(void)
{
	uint8_t b[16];
	auto_buf hex = BUF_INIT;
	const char *h;

	randombytes_buf(b, sizeof b);
	b[6] = (uint8_t)((b[6] & 0x0f) | 0x40); /* RFC 9562, version 4 */
	b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
	text_hex(&hex, b, sizeof b);
	h = buf_text(&hex);
	invariant(h != NULL);
	return export_made(json_sprintf("urn:uuid:%.8s-%.4s-%.4s-%.4s-%.12s", h, h + 8, h + 12,
	                                h + 16, h + 20));
}

static json_t *now(void)
{
	char text[32];
	time_t t = time(NULL);
	struct tm tm = {0};

	gmtime_r(&t, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return export_made(json_string(text));
}

static json_t *metadata(const struct export_row *session)
{
	json_t *properties = export_made(json_array());
	json_t *made;

	add_property(properties, "session", export_session(session, 0));
	add_property(properties, "uuid", json_string(session->origin->uuid));
	add_property(properties, "host",
	             export_origin_text(session, offsetof(struct export_origin, host)));
	add_property(properties, "user",
	             export_origin_text(session, offsetof(struct export_origin, user)));
	made = json_pack("{s:o, s:{s:[{s:s, s:s, s:s}]}, s:{s:s, s:s, s:o}, s:o}", "timestamp",
	                 now(), "tools", "components", "type", "application", "name", "wary",
	                 "version", PACKAGE_VERSION, "component", "type", "application", "bom-ref",
	                 "session", "name", json_sprintf("session %s", session->origin->session),
	                 "properties", properties);
	return export_made(made);
}

void export_cyclonedx_begin(struct buf *out, const struct export_row *session)
{
	json_t *serial = serial_number();

	buf_fmt(out,
	        "{\"$schema\":\"http://cyclonedx.org/schema/bom-1.6.schema.json\","
	        "\"bomFormat\":\"CycloneDX\",\"specVersion\":\"" EXPORT_CYCLONEDX_VERSION "\","
	        "\"serialNumber\":\"%s\",\"version\":1,\"metadata\":",
	        json_string_value(serial));
	json_decref(serial);
	export_json_write(out, metadata(session));
	buf_str(out, ",\"components\":[");
}

void export_cyclonedx_end(struct buf *out)
{
	buf_str(out, "\n]}\n");
}

/* ---- package URLs --------------------------------------------------------------- */

/* Registries that do not tell some spellings of a name apart: its URL has one of them.
 * https://github.com/package-url/purl-spec */
enum spelling {
	SPELL_EXACT,
	SPELL_LOWER, /* A as a */
	SPELL_DASHED /* likewise, and _ as - */
};

static const struct manager {
	const char *name;
	const char *type; /* of a package URL */
	enum spelling spelling;
} managers[] = {
	{"npm", "npm", SPELL_LOWER},     {"yarn", "npm", SPELL_LOWER},
	{"pnpm", "npm", SPELL_LOWER},    {"bun", "npm", SPELL_LOWER},
	{"conda", "conda", SPELL_EXACT}, {"composer", "composer", SPELL_LOWER},
	{"pip", "pypi", SPELL_DASHED},   {"uv", "pypi", SPELL_DASHED},
	{"pipx", "pypi", SPELL_DASHED},  {"poetry", "pypi", SPELL_DASHED},
	{"pdm", "pypi", SPELL_DASHED},   {"cargo", "cargo", SPELL_EXACT},
	{"gem", "gem", SPELL_EXACT},     {"go", "golang", SPELL_EXACT},
};

static const struct manager *manager_of(const char *name)
{
	for (size_t i = 0; i < sizeof managers / sizeof managers[0]; i++)
		if (strcmp(managers[i].name, name) == 0)
			return &managers[i];
	return NULL;
}

static char spelled(char c, enum spelling spelling)
{
	if (spelling == SPELL_EXACT)
		return c;
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c == '_' && spelling == SPELL_DASHED ? '-' : c;
}

static void put_encoded(struct buf *out, const char *bytes, size_t len_bytes,
                        enum spelling spelling)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    ".-_~";

	for (size_t i = 0; i < len_bytes; i++) {
		char c = spelled(bytes[i], spelling);

		if (c && strchr(plain, c))
			buf_chr(out, c);
		else
			buf_fmt(out, "%%%02X", (unsigned char)c);
	}
}

/* What is encoded in a package URL is UTF-8. */
static bool is_utf8(const struct rows_text *t)
{
	unsigned code;
	size_t n = 1;

	for (size_t i = 0; i < t->len_bytes && n; i += n)
		n = text_utf8_next((const unsigned char *)t->bytes + i, t->len_bytes - i, &code);
	return n != 0;
}

/* A package's row in its parts; texts are the row's. */
struct parts {
	char manager[32];
	const char *type; /* of a package URL, or NULL */
	enum spelling spelling;
	struct rows_text group, name, version;
	bool lies; /* there; else it was only asked for */
};

/* Whether what is before a name's last slash is its group: npm has @scope/name,
 * Go and Composer a path.  With other slashes it is no name but a place. */
static bool is_group(const struct parts *p, size_t len_bytes)
{
	if (!len_bytes || strcmp(p->type, "golang") == 0)
		return len_bytes != 0;
	return (strcmp(p->type, "composer") == 0 ||
	        (strcmp(p->type, "npm") == 0 && *p->name.bytes == '@')) &&
	       !memchr(p->name.bytes, '/', len_bytes);
}

static void split_group(struct parts *p)
{
	const char *slash = memrchr(p->name.bytes, '/', p->name.len_bytes);
	size_t before = slash ? (size_t)(slash - p->name.bytes) : 0;

	if (!slash || !p->type)
		return;
	if (before + 1 == p->name.len_bytes || !is_group(p, before)) {
		p->type = NULL;
		return;
	}
	p->group = (struct rows_text){p->name.bytes, before};
	p->name.bytes = slash + 1;
	p->name.len_bytes -= before + 1;
}

static struct parts parts_of(const struct export_row *x)
{
	struct rows_text object = x->e->object;
	const char *colon = object.len_bytes ? memchr(object.bytes, ':', object.len_bytes) : NULL;
	size_t manager = colon ? (size_t)(colon - object.bytes) : 0;
	struct parts p = {.name = object, .lies = x->e->reason >= REASON_INSTALLED};
	const struct manager *m = NULL;

	if (colon && manager < sizeof p.manager) {
		memcpy(p.manager, object.bytes, manager);
		p.name.bytes = colon + 1;
		p.name.len_bytes -= manager + 1;
		m = manager_of(p.manager);
	}
	if (m && p.name.len_bytes && !memchr(p.name.bytes, ':', p.name.len_bytes) &&
	    is_utf8(&p.name)) {
		p.type = m->type;
		p.spelling = m->spelling;
	}
	if (p.lies && x->e->object2.len_bytes <= VERSION_MAX_BYTES)
		p.version = x->e->object2;
	if (p.name.len_bytes)
		split_group(&p);
	return p;
}

static json_t *purl(const struct parts *p)
{
	auto_buf url = BUF_INIT;
	const char *slash;

	if (!p->type)
		return NULL;
	buf_fmt(&url, "pkg:%s/", p->type);
	for (struct rows_text g = p->group; g.len_bytes;) {
		size_t n;

		slash = memchr(g.bytes, '/', g.len_bytes);
		n = slash ? (size_t)(slash - g.bytes) : g.len_bytes;
		put_encoded(&url, g.bytes, n, p->spelling);
		buf_chr(&url, '/');
		n += slash != NULL;
		g.bytes += n;
		g.len_bytes -= n;
	}
	put_encoded(&url, p->name.bytes, p->name.len_bytes, p->spelling);
	if (p->version.len_bytes && is_utf8(&p->version)) {
		buf_chr(&url, '@');
		put_encoded(&url, p->version.bytes, p->version.len_bytes, SPELL_EXACT);
	}
	return export_json_text(&url);
}

/* ---- what the manager says of it ---------------------------------------------------- */

/* Words of the row: KEY=VALUE, after the first. */
struct words {
	const struct export_row *x;
	json_t *properties;
	char *from, *integrity;
	unsigned n;
};

static json_t *printable(const struct export_row *x, const char *bytes, size_t len_bytes)
{
	auto_buf text = BUF_INIT;

	export_row_text(&text, x, &(struct rows_text){bytes, len_bytes});
	return export_json_text(&text);
}

static char *keep(const char *bytes, size_t len_bytes)
{
	char *kept = strndup(bytes, len_bytes);

	invariant(kept != NULL);
	return kept;
}

static int take_word(void *ctx, const char *bytes, size_t len_bytes)
{
	struct words *w = ctx;
	const char *is = memchr(bytes, '=', len_bytes);
	const char *value = is ? is + 1 : bytes;
	size_t left = len_bytes - (size_t)(value - bytes);
	char key[32] = "state";

	if (is && (is == bytes || (size_t)(is - bytes) >= sizeof key))
		return 0;
	if (is) {
		memcpy(key, bytes, (size_t)(is - bytes));
		key[is - bytes] = '\0';
	}
	if (strcmp(key, "claimed-from") == 0 && !w->from)
		w->from = keep(value, left);
	if (strcmp(key, "claimed-integrity") == 0 && !w->integrity && left < INTEGRITY_MAX_BYTES)
		w->integrity = keep(value, left);
	for (char *c = key; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz-", *c))
			return 0;
	add_property(w->properties, key, printable(w->x, value, left));
	return 0;
}

static json_t *hash_of(const char *alg, const uint8_t *digest, size_t len_bytes)
{
	auto_buf hex = BUF_INIT;

	text_hex(&hex, digest, len_bytes);
	return export_made(json_pack("{s:s, s:o}", "alg", alg, "content", export_json_text(&hex)));
}

static const struct {
	const char *name, *alg;
	size_t bytes;
} algorithms[] = {{"sha512", "SHA-512", 64},
                  {"sha384", "SHA-384", 48},
                  {"sha256", "SHA-256", 32},
                  {"sha1", "SHA-1", 20}};

/* "sha512-" and base64 (npm; of several the first), "sha256=" and digits (pip).
 * Returns a list, empty where it is neither. */
static json_t *digests(const char *text)
{
	json_t *list = export_made(json_array());
	uint8_t digest[DIGEST_MAX_BYTES];
	size_t n = 0;

	for (size_t i = 0; text && i < sizeof algorithms / sizeof algorithms[0]; i++) {
		size_t name = strlen(algorithms[i].name);
		size_t want = algorithms[i].bytes;
		const char *value = text + name + 1;
		bool fits = false;

		if (strncmp(text, algorithms[i].name, name) != 0)
			continue;
		if (text[name] == '-')
			fits = sodium_base642bin(digest, sizeof digest, value, strcspn(value, " "),
			                         NULL, &n, NULL,
			                         sodium_base64_VARIANT_ORIGINAL) == 0 &&
			       n == want;
		else if (text[name] == '=')
			fits = text_unhex(value, strlen(value), digest, want) == 0;
		if (fits)
			json_array_append_new(list, hash_of(algorithms[i].alg, digest, want));
	}
	return list;
}

static bool is_url(const char *text)
{
	if (!text || (!text_starts(text, "https://") && !text_starts(text, "http://")))
		return false;
	for (; *text; text++)
		if (*text <= ' ' || *text >= 0x7f || strchr("\"<>\\^`{|}", *text))
			return false;
	return true;
}

/* The archive that it came from, by the manager's word. */
static json_t *distribution(const struct words *w)
{
	json_t *hashes;
	json_t *made;

	if (!is_url(w->from))
		return NULL;
	hashes = digests(w->integrity);
	made = json_pack("{s:s, s:s, s:s}", "type", "distribution", "url", w->from, "comment",
	                 "as the package manager wrote it down");
	invariant(made != NULL);
	if (json_array_size(hashes))
		json_object_set(made, "hashes", hashes);
	json_decref(hashes);
	return export_made(json_pack("[o]", made));
}

/* ---- a component ---------------------------------------------------------------- */

static json_t *tree_hash(const struct export_row *x)
{
	uint8_t digest[32];

	if (text_unhex(x->e->sha256.bytes ? x->e->sha256.bytes : "", x->e->sha256.len_bytes, digest,
	               sizeof digest) != 0)
		return NULL;
	return export_made(json_pack("[o]", hash_of("SHA-256", digest, sizeof digest)));
}

static void set(json_t *o, const char *name, json_t *value)
{
	if (value)
		invariant(json_object_set_new(o, name, value) == 0);
}

static void put_properties(struct words *w, const struct parts *p)
{
	const struct export_row *x = w->x;

	add_property(w->properties, "manager", export_manager(x, 0));
	if (!p->lies) {
		add_property(w->properties, "state", json_string("asked"));
		add_property(w->properties, "asked-version",
		             export_text(x, offsetof(struct read_event, object2)));
	}
	add_property(w->properties, "folder", export_text(x, offsetof(struct read_event, cwd)));
	if (x->e->sha256.len_bytes)
		add_property(w->properties, "hash", json_string("tree"));
	/* What cannot be read is left out: the rest of the row stands. */
	if (p->lies && x->e->argv.len_bytes)
		(void)!record_unquote(x->e->argv.bytes, x->e->argv.len_bytes, take_word, w);
}

void export_cyclonedx(struct buf *out, const struct export_row *x, bool again)
{
	struct parts p = parts_of(x);
	struct words w = {.x = x, .properties = export_made(json_array())};
	json_t *o = json_pack("{s:s, s:o}", "type", "library", "bom-ref",
	                      json_sprintf("row-%llu", (unsigned long long)x->e->id));

	invariant(o != NULL);
	put_properties(&w, &p);
	if (p.group.len_bytes)
		set(o, "group", printable(x, p.group.bytes, p.group.len_bytes));
	set(o, "name",
	    p.name.len_bytes ? printable(x, p.name.bytes, p.name.len_bytes)
	                     : json_string("unknown"));
	if (p.version.len_bytes)
		set(o, "version", printable(x, p.version.bytes, p.version.len_bytes));
	set(o, "hashes", p.lies ? tree_hash(x) : NULL);
	set(o, "purl", purl(&p));
	set(o, "externalReferences", distribution(&w));
	set(o, "properties", w.properties);
	buf_str(out, again ? ",\n" : "\n");
	export_json_write(out, o);
	free(w.from);
	free(w.integrity);
}
