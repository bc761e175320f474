#include "tracee/parcel.h"

#include "base/own.h"
#include "base/uses.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

USES(open_any, openat2, readlinkat);

/* What packages and managers say of a package is short; a RECORD has a line
 * for each file. */
#define SAID_FILE_MAX_BYTES ((size_t)16 << 20)
/* When no time is left: a hostile tree has thousands of the largest. */
#define SAID_LATE_MAX_BYTES ((size_t)32 << 10)
/* What changes while it is read is read again, so often. */
#define TRIES 3

void parcel_free(struct parcel *p)
{
	free(p->name);
	free(p->link);
	said_free(&p->own);
	said_free(&p->claimed);
	said_names_free(&p->names);
	*p = (struct parcel){0};
}

int parcel_open(const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* ---- what is said ------------------------------------------------------ */

/* A file of the package's folder, and the hash of what was read. */
static int read_file(int dir_fd, const char *name, const struct contents_bounds *bounds,
                     struct buf *out, uint8_t sha256[32])
{
	auto_fd fd =
		openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int err;

	buf_init(out, contents_is_late(bounds) ? SAID_LATE_MAX_BYTES : SAID_FILE_MAX_BYTES);
	if (fd < 0)
		return -ERR_NOTFOUND;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -ERR_FORMAT;
	err = buf_read_file(out, fd);
	if (err)
		return err;
	crypto_hash_sha256(sha256, (const unsigned char *)buf_text(out), out->len_bytes);
	return 0;
}

/* What cannot be read says nothing; missing memory is another thing. */
static int read_said(int dir_fd, const char *name, const struct contents_bounds *bounds,
                     int (*parse)(const char *text, size_t len, struct said *out), struct said *out,
                     uint8_t sha256[32])
{
	auto_buf text = BUF_INIT;
	int err = read_file(dir_fd, name, bounds, &text, sha256);

	return err ? err : parse(buf_text(&text), text.len_bytes, out);
}

struct said_lock *parcel_lock(const char *modules, const struct contents_bounds *bounds)
{
	auto_fd fd = parcel_open(modules);
	auto_buf text = BUF_INIT;
	uint8_t unused[32];

	if (fd < 0 || read_file(fd, ".package-lock.json", bounds, &text, unused) != 0)
		return NULL;
	return said_lock_read(buf_text(&text), text.len_bytes);
}

/* ---- the hash ---------------------------------------------------------- */

/* What is known of one of the files that were read before. */
struct seen {
	char path[NAME_MAX + 32];
	uint8_t sha256[32];
	bool has;
};

static void watch(struct contents *c, const struct seen seen[CONTENTS_WATCHES])
{
	for (size_t i = 0; i < CONTENTS_WATCHES; i++)
		c->watch[i].path = seen && seen[i].has ? seen[i].path : NULL;
}

static bool is_what_was_read(const struct contents *c, const struct seen seen[CONTENTS_WATCHES])
{
	for (size_t i = 0; seen && i < CONTENTS_WATCHES; i++)
		if (seen[i].has &&
		    (!c->watch[i].seen || memcmp(c->watch[i].sha256, seen[i].sha256, 32) != 0))
			return false;
	return true;
}

/* Ends what was begun and added to; @err: how that went. */
static int conclude(struct contents *c, int err, const struct seen *seen, struct parcel *out)
{
	if (!err && !is_what_was_read(c, seen)) {
		err = -ERR_RACE;
		c->why = "it was changed while it was read";
	}
	out->err = err;
	out->why = err ? c->why : NULL;
	if (!err)
		contents_end(c, out->sha256, out->plain);
	out->has_compiled = c->has_compiled;
	out->entries = c->entries;
	out->bytes = c->bytes;
	contents_done(c);
	return err == -ERR_NOMEM ? err : 0;
}

static int hash_folder(int fd, const struct contents_bounds *bounds, const struct seen *seen,
                       struct parcel *out)
{
	struct contents c;
	int err = contents_begin(&c, bounds);

	if (err)
		return err;
	watch(&c, seen);
	return conclude(&c, contents_add_all(&c, fd, "node_modules"), seen, out);
}

static int hash_entry(int dir_fd, const char *name, const struct contents_bounds *bounds,
                      struct parcel *out)
{
	struct contents c;
	int err = contents_begin(&c, bounds);

	return err ? err : conclude(&c, contents_add(&c, dir_fd, name), NULL, out);
}

/* ---- npm --------------------------------------------------------------- */

static int of_folder(int dir_fd, const char *base, const struct contents_bounds *bounds,
                     struct parcel *out)
{
	auto_fd fd = openat(dir_fd, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct seen seen[CONTENTS_WATCHES] = {{.path = "package.json"}};
	int err;

	out->state = PARCEL_STRAY;
	if (fd < 0) {
		out->err = errno == EACCES ? -ERR_PERM : -ERR_RACE;
		out->why = "its folder cannot be read";
		return 0;
	}
	err = read_said(fd, "package.json", bounds, said_manifest, &out->own, seen[0].sha256);
	if (err == -ERR_NOMEM)
		return err;
	seen[0].has = err == 0;
	if (!err)
		out->state = PARCEL_INSTALLED;
	return hash_folder(fd, bounds, seen, out);
}

/* A link, a file, or nothing. */
static int of_entry(int dir_fd, const char *base, const struct contents_bounds *bounds,
                    struct parcel *out)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir_fd, base, target, sizeof target - 1);

	out->state = PARCEL_STRAY;
	if (n >= 0) {
		target[n] = '\0';
		out->state = PARCEL_LINK;
		out->link = strdup(target);
		if (!out->link)
			return -ERR_NOMEM;
	}
	return hash_entry(dir_fd, base, bounds, out);
}

static int look(int dir_fd, const char *base, const struct contents_bounds *bounds,
                struct parcel *out)
{
	struct stat st;

	if (fstatat(dir_fd, base, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		out->state = errno == ENOENT || errno == ENOTDIR ? PARCEL_REMOVED : PARCEL_STRAY;
		if (out->state == PARCEL_STRAY) {
			out->err = -ERR_PERM;
			out->why = "its state cannot be read";
		}
		return 0;
	}
	return S_ISDIR(st.st_mode) ? of_folder(dir_fd, base, bounds, out)
	                           : of_entry(dir_fd, base, bounds, out);
}

/* Looks again where something changed meanwhile. */
static int look_well(int dir_fd, const char *base, const char *name,
                     const struct contents_bounds *bounds,
                     int (*once)(int dir_fd, const char *base, const struct contents_bounds *b,
                                 struct parcel *out),
                     struct parcel *out)
{
	int err = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		parcel_free(out);
		out->name = strdup(name);
		err = out->name ? once(dir_fd, base, bounds, out) : -ERR_NOMEM;
		if (err || (out->err != -ERR_RACE && out->err != -ERR_NOTFOUND))
			break;
	}
	return err;
}

int parcel_node(int site_fd, const char *name, const struct contents_bounds *bounds,
                struct parcel *out)
{
	const char *slash = name[0] == '@' ? strchr(name, '/') : NULL;
	auto_free char *scope = slash ? strndup(name, (size_t)(slash - name)) : NULL;
	auto_fd scope_fd = -1;

	*out = (struct parcel){0};
	if (slash && !scope)
		return -ERR_NOMEM;
	if (scope) {
		scope_fd = openat(site_fd, scope, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (scope_fd < 0) {
			out->state = errno == ENOENT ? PARCEL_REMOVED : PARCEL_STRAY;
			out->err = errno == ENOENT ? 0 : -ERR_RACE;
			out->why = errno == ENOENT ? NULL : "its scope is no folder";
			out->name = strdup(name);
			return out->name ? 0 : -ERR_NOMEM;
		}
	}
	return look_well(scope ? scope_fd : site_fd, slash ? slash + 1 : name, name, bounds, look,
	                 out);
}

static int look_only(int dir_fd, const char *base, const struct contents_bounds *bounds,
                     struct parcel *out)
{
	int err = look(dir_fd, base, bounds, out);

	if (out->state == PARCEL_INSTALLED)
		out->state = PARCEL_STRAY;
	said_free(&out->own);
	return err;
}

int parcel_stray(int site_fd, const char *name, const struct contents_bounds *bounds,
                 struct parcel *out)
{
	*out = (struct parcel){0};
	return look_well(site_fd, name, name, bounds, look_only, out);
}

/* ---- Python ------------------------------------------------------------ */

/* The parts in order, the .dist-info among them. */
static int hash_parts(int site_fd, const char *dist_info, const struct contents_bounds *bounds,
                      const struct seen *seen, struct parcel *out)
{
	struct contents c;
	int err = contents_begin(&c, bounds);
	bool had = false;

	if (err)
		return err;
	watch(&c, seen);
	for (size_t i = 0; !err && i < out->names.n; i++) {
		const char *name = out->names.items[i];
		int order = strcmp(name, dist_info);

		if (order > 0 && !had)
			err = contents_add(&c, site_fd, dist_info);
		had = had || order >= 0;
		if (err || strcmp(name, "__pycache__") == 0)
			continue;
		err = contents_add(&c, site_fd, name);
		if (err == -ERR_NOTFOUND && order != 0) {
			c.entries--; /* what is said to be there and is not has no line */
			err = 0;
		}
	}
	if (!err && !had)
		err = contents_add(&c, site_fd, dist_info);
	return conclude(&c, err, seen, out);
}

static int read_names(int fd, const struct contents_bounds *bounds, struct said_names *out,
                      uint8_t sha256[32])
{
	auto_buf text = BUF_INIT;
	int err = read_file(fd, "RECORD", bounds, &text, sha256);

	return err ? err : said_record(buf_text(&text), text.len_bytes, out);
}

/* "name-1.0.dist-info": for where METADATA does not say it. */
static int name_it(struct parcel *out, const char *dist_info)
{
	char form[SAID_MAX_BYTES + 1];
	auto_free char *folder = strndup(dist_info, strcspn(dist_info, "-"));

	if (!folder)
		return -ERR_NOMEM;
	if (!said_python_name(out->own.name ? out->own.name : folder, form, sizeof form))
		return 0;
	free(out->name);
	out->name = strdup(form);
	return out->name ? 0 : -ERR_NOMEM;
}

static int of_dist(int site_fd, const char *dist_info, const struct contents_bounds *bounds,
                   struct parcel *out)
{
	auto_fd fd = openat(site_fd, dist_info, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct seen seen[CONTENTS_WATCHES] = {0};
	uint8_t unused[32];
	int said;
	int err;

	if (fd < 0 && errno == ENOENT) {
		out->state = PARCEL_REMOVED;
		return name_it(out, dist_info);
	}
	if (fd < 0)
		return of_entry(site_fd, dist_info, bounds, out);
	said = read_said(fd, "METADATA", bounds, said_metadata, &out->own, seen[0].sha256);
	err = read_names(fd, bounds, &out->names, seen[1].sha256);
	seen[0].has = said == 0;
	seen[1].has = err == 0;
	out->state = said == 0 && err == 0 ? PARCEL_INSTALLED : PARCEL_STRAY;
	snprintf(seen[0].path, sizeof seen[0].path, "%s/METADATA", dist_info);
	snprintf(seen[1].path, sizeof seen[1].path, "%s/RECORD", dist_info);
	if (said == -ERR_NOMEM || err == -ERR_NOMEM ||
	    read_said(fd, "direct_url.json", bounds, said_direct_url, &out->claimed, unused) ==
	            -ERR_NOMEM)
		return -ERR_NOMEM;
	err = name_it(out, dist_info);
	return err ? err : hash_parts(site_fd, dist_info, bounds, seen, out);
}

int parcel_python(int site_fd, const char *dist_info, const struct contents_bounds *bounds,
                  struct parcel *out)
{
	*out = (struct parcel){0};
	return look_well(site_fd, dist_info, dist_info, bounds, of_dist, out);
}
