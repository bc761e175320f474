/* wary audit packages: what a session installed, and whether it still is so;
 * wary audit package-hash: the hash of a folder as the record has it. */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_words.h"
#include "cmd/installed.h"
#include "cmd/table.h"
#include "tracee/parcel.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define HASH_SHOWN 16

/* ---- a folder now -------------------------------------------------------- */

/* Where a name really is, its last part not followed. */
static int canonical(const char *path, char out[PATH_MAX])
{
	auto_fd fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char self[32];
	ssize_t n;

	if (fd < 0)
		return -ERR_NOTFOUND;
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	n = readlinkat(AT_FDCWD, self, out, PATH_MAX - 1);
	if (n < 0)
		return -ERR_SYS;
	out[n] = '\0';
	return out[0] == '/' ? 0 : -ERR_NOTFOUND;
}

static const struct contents_bounds unbounded = {UINT64_MAX, UINT64_MAX, 0};

/* @path: canonical. A place that nothing is in is PARCEL_REMOVED. */
static int look_at(const char *path, const struct contents_bounds *bounds, struct parcel *out)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash + 1;
	auto_free char *parent = strndup(path, slash == path ? 1 : (size_t)(slash - path));
	auto_fd fd = parent ? parcel_open(parent) : -1;

	*out = (struct parcel){.state = PARCEL_REMOVED};
	if (!parent)
		return -ERR_NOMEM;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -ERR_PERM;
	if (site_is_dist_info(name, strlen(name)))
		return parcel_python(fd, name, bounds, out);
	return parcel_node(fd, name, bounds, out);
}

static void put_hash(const uint8_t sha256[CONTENTS_SHA256_BYTES], const char *path,
                     const char *more)
{
	auto_buf line = BUF_INIT;

	text_hex(&line, sha256, CONTENTS_SHA256_BYTES);
	buf_str(&line, "  ");
	text_printable(&line, path, strlen(path), 0);
	buf_str(&line, more);
	puts(buf_text(&line) ? buf_text(&line) : "?");
}

static void put_json(const struct parcel *p, const char *path)
{
	struct rows_text folder = {path, strlen(path)};
	auto_buf line = BUF_INIT;

	buf_str(&line, "{\"folder\":");
	audit_json_text(&line, &folder);
	buf_str(&line, ",\"sha256\":\"");
	text_hex(&line, p->sha256, sizeof p->sha256);
	buf_chr(&line, '"');
	if (p->has_compiled) {
		buf_str(&line, ",\"plain\":\"");
		text_hex(&line, p->plain, sizeof p->plain);
		buf_chr(&line, '"');
	}
	buf_fmt(&line, ",\"files\":%llu,\"bytes\":%llu}", (unsigned long long)p->entries,
	        (unsigned long long)p->bytes);
	puts(buf_text(&line) ? buf_text(&line) : "");
}

static int hash_one(const char *word, bool json)
{
	struct parcel p = {0};
	char path[PATH_MAX];
	int err = canonical(word, path);

	if (!err)
		err = look_at(path, &unbounded, &p);
	if (!err && p.state == PARCEL_REMOVED)
		err = -ERR_NOTFOUND;
	if (!err)
		err = p.err;
	if (err) {
		auto_free char *shown = text_printable_str(word, 0);

		log_error("%s cannot be hashed: %s", shown, p.why ? p.why : err_text(err));
	} else if (json) {
		put_json(&p, path);
	} else {
		put_hash(p.sha256, word, "");
		if (p.has_compiled)
			put_hash(p.plain, word, " (without __pycache__)");
	}
	parcel_free(&p);
	return err ? AUDIT_USAGE : AUDIT_FINE;
}

int audit_package_hash(int argc, char **argv)
{
	struct audit_args args;
	int status = audit_args_take("package-hash", argc, argv, "j", 1, 1, &args);

	if (status || args.help)
		return status ? status : audit_help("package-hash");
	return hash_one(args.words[0], args.json);
}

/* ---- what is on record ---------------------------------------------------- */

/* Whether it still is as it was then: "same", "changed", "gone", "unknown". */
static const char *compare(const struct installed *i)
{
	static const struct contents_bounds none = {0, 0, 0}; /* only whether it is there */
	/* What had a hash was within these. */
	static const struct contents_bounds within = {PARCEL_ENTRIES_MAX, PARCEL_BYTES_MAX, 0};
	struct parcel p = {0};
	const char *word = "unknown";
	auto_buf hex = BUF_INIT;

	if (!i->folder || i->folder[0] != '/' ||
	    look_at(i->folder, i->sha256 ? &within : &none, &p) != 0)
		goto out;
	if (p.state == PARCEL_REMOVED) {
		word = i->reason == PARCEL_REMOVED ? "same" : "gone";
	} else if (i->reason == PARCEL_REMOVED) {
		word = "changed";
	} else if (p.err == -ERR_BOUND && i->sha256) {
		word = "changed";
	} else if (!p.err && i->sha256) {
		text_hex(&hex, p.sha256, sizeof p.sha256);
		word = buf_text(&hex) && strcmp(buf_text(&hex), i->sha256) == 0 ? "same"
		                                                                : "changed";
	}
out:
	parcel_free(&p);
	return word;
}

static void put_text_cell(struct table *t, const char *text, size_t max_chars)
{
	auto_buf b = BUF_INIT;

	if (text)
		text_printable(&b, text, strlen(text), max_chars);
	table_cell_buf(t, &b);
}

static void put_row(struct table *t, const struct installed *i, const char *now)
{
	const char *from = installed_word(i, "claimed-from");
	auto_buf name = BUF_INIT;

	buf_fmt(&name, "%s:", i->manager);
	text_printable(&name, i->name, strlen(i->name), 0);
	table_cell_buf(t, &name);
	put_text_cell(t, i->version, 0);
	put_text_cell(t, installed_state(i), 0);
	put_text_cell(t, i->sha256 ? i->sha256 : installed_word(i, "why"),
	              i->sha256 ? HASH_SHOWN : 0);
	put_text_cell(t, from ? from : installed_word(i, "registry"), 0);
	put_text_cell(t, now, 0);
}

static void put_field(struct buf *out, const char *key, const char *value)
{
	struct rows_text t = {value, value ? strlen(value) : 0};

	if (!value)
		return;
	buf_fmt(out, ",\"%s\":", key);
	audit_json_text(out, &t);
}

static void put_number(struct buf *out, const char *key, const char *value)
{
	unsigned long long n;

	if (value && text_number(value, UINT64_MAX, &n) == 0)
		buf_fmt(out, ",\"%s\":%llu", key, n);
}

static void put_object(const struct installed *i, const char *now)
{
	static const char *const keys[] = {
		"plain",        "why",
		"link",         "own-name",
		"claimed-name", "claimed-version",
		"claimed-from", "claimed-integrity",
		"registry",
	};
	auto_buf b = BUF_INIT;

	buf_fmt(&b, "{\"row\":%llu", (unsigned long long)i->row);
	put_field(&b, "state", installed_state(i));
	put_field(&b, "manager", i->manager);
	put_field(&b, "name", i->name);
	put_field(&b, "version", i->version);
	put_field(&b, "folder", i->folder);
	put_field(&b, "sha256", i->sha256);
	for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
		put_field(&b, keys[k], installed_word(i, keys[k]));
	put_number(&b, "files", installed_word(i, "files"));
	put_number(&b, "bytes", installed_word(i, "bytes"));
	put_field(&b, "now", now);
	buf_chr(&b, '}');
	puts(buf_text(&b) ? buf_text(&b) : "");
}

static int list(const struct installed_list *l, const struct audit_args *args)
{
	const struct table_column columns[] = {
		{"PACKAGE", false, false, 60}, {"VERSION", false, false, 24},
		{"STATE", false, false, 0},    {"SHA256", false, false, 40},
		{"FROM", false, false, 70},    {"NOW", false, !args->check, 0},
		{NULL, false, false, 0}};
	struct table *t = table_new(columns);
	int status = AUDIT_FINE;

	for (size_t i = 0; i < l->n; i++) {
		const char *now = args->check ? compare(&l->items[i]) : NULL;

		if (now && strcmp(now, "same") != 0)
			status = AUDIT_WRONG;
		if (args->json)
			put_object(&l->items[i], now);
		else
			put_row(t, &l->items[i], now);
	}
	table_free(t);
	return status;
}

int audit_packages(int argc, char **argv)
{
	struct installed_list l = {0};
	struct audit_args args;
	uint64_t session = 0;
	struct store *s;
	int status = audit_args_take("packages", argc, argv, "jc", 1, 1, &args);

	if (status || args.help)
		return status ? status : audit_help("packages");
	s = audit_open(args.db);
	status = s ? audit_session_word(s, args.words[0], &session) : AUDIT_USAGE;
	if (!status && installed_load(s, session, &l) != 0) {
		log_error("the record cannot be read: %s", store_why(s));
		status = AUDIT_USAGE;
	}
	if (!status && !l.n)
		log_notice("no installed package of this session is on record");
	if (!status)
		status = list(&l, &args);
	installed_free(&l);
	store_close(s);
	return status;
}
