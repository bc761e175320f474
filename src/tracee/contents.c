#include "tracee/contents.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

USES(getdents64, open_read, readlinkat);

#define CHUNK_BYTES ((size_t)64 << 10)
#define COMPILED "__pycache__"

int contents_begin(struct contents *c, const struct contents_bounds *bounds)
{
	*c = (struct contents){.bounds = *bounds};
	crypto_hash_sha256_init(&c->all);
	crypto_hash_sha256_init(&c->plain);
	c->chunk = malloc(CHUNK_BYTES);
	return c->chunk ? 0 : -ERR_NOMEM;
}

void contents_done(struct contents *c)
{
	buf_free(&c->path);
	free(ptr_take(c->chunk));
}

void contents_end(struct contents *c, uint8_t all[CONTENTS_SHA256_BYTES],
                  uint8_t plain[CONTENTS_SHA256_BYTES])
{
	crypto_hash_sha256_final(&c->all, all);
	crypto_hash_sha256_final(&c->plain, plain);
}

static int fail(struct contents *c, int err, const char *why)
{
	c->why = why;
	return err;
}

static int fail_errno(struct contents *c, const char *what)
{
	static const struct {
		int no, err;
	} codes[] = {
		{ENOENT, -ERR_NOTFOUND}, {EACCES, -ERR_PERM},  {EPERM, -ERR_PERM},
		{ELOOP, -ERR_RACE},      {ENOTDIR, -ERR_RACE}, {ENXIO, -ERR_RACE},
	};
	int err = -ERR_SYS;

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (codes[i].no == errno)
			err = codes[i].err;
	return fail(c, err, what);
}

/* ---- one entry --------------------------------------------------------- */

static bool below_compiled(const char *path)
{
	const char *at = path;

	while ((at = strstr(at, COMPILED "/"))) {
		if (at == path || at[-1] == '/')
			return true;
		at++;
	}
	return false;
}

/* type, blank, hash in hexadecimal or "-", blank, path, NUL */
static int put(struct contents *c, char type, const uint8_t *sha256)
{
	auto_buf line = BUF_INIT;
	const char *path = buf_text(&c->path);

	buf_chr(&line, type);
	buf_chr(&line, ' ');
	if (sha256)
		text_hex(&line, sha256, CONTENTS_SHA256_BYTES);
	else
		buf_chr(&line, '-');
	buf_chr(&line, ' ');
	if (!path || !buf_text(&line))
		return -ERR_NOMEM;
	buf_add(&line, path, c->path.len_bytes + 1);
	if (!buf_text(&line))
		return -ERR_NOMEM;
	crypto_hash_sha256_update(&c->all, (const unsigned char *)line.data, line.len_bytes);
	if (below_compiled(path))
		c->has_compiled = true;
	else
		crypto_hash_sha256_update(&c->plain, (const unsigned char *)line.data,
		                          line.len_bytes);
	return 0;
}

static void note_watched(struct contents *c, const uint8_t *sha256)
{
	const char *path = buf_text(&c->path);

	for (size_t i = 0; i < CONTENTS_WATCHES; i++) {
		struct contents_watch *w = &c->watch[i];

		if (!w->path || !path || strcmp(w->path, path) != 0)
			continue;
		memcpy(w->sha256, sha256, sizeof w->sha256);
		w->seen = true;
	}
}

bool contents_is_late(const struct contents_bounds *bounds)
{
	return bounds->until_ns && clock_mono_ns() > bounds->until_ns;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static int unchanged(struct contents *c, int fd, const struct stat *before)
{
	struct stat now;

	if (fstat(fd, &now) != 0)
		return fail_errno(c, "its state cannot be read");
	if (now.st_size != before->st_size || now.st_mode != before->st_mode ||
	    !same_time(now.st_mtim, before->st_mtim) || !same_time(now.st_ctim, before->st_ctim))
		return fail(c, -ERR_RACE, "it was changed while it was read");
	return 0;
}

/* Exactly as many bytes as it said to have. */
static int hash_bytes(struct contents *c, int fd, uint64_t size_bytes, uint8_t out[32])
{
	crypto_hash_sha256_state h;
	uint64_t got = 0;

	crypto_hash_sha256_init(&h);
	for (;;) {
		ssize_t n = read(fd, c->chunk, CHUNK_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(c, "a file in it cannot be read");
		if (n == 0)
			break;
		got += (uint64_t)n;
		if (got > size_bytes)
			break;
		crypto_hash_sha256_update(&h, (const unsigned char *)c->chunk,
		                          (unsigned long long)n);
		if (contents_is_late(&c->bounds))
			return fail(c, -ERR_BOUND, "no time was left");
		if (got == size_bytes)
			break;
	}
	if (got != size_bytes)
		return fail(c, -ERR_RACE, "it was changed while it was read");
	crypto_hash_sha256_final(&h, out);
	return 0;
}

static int add_file(struct contents *c, int dir_fd, const char *name)
{
	auto_fd fd =
		openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	uint8_t sha256[CONTENTS_SHA256_BYTES];
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st) != 0)
		return fail_errno(c, "a file in it cannot be read");
	if (!S_ISREG(st.st_mode))
		return fail(c, -ERR_RACE, "it became something else while it was read");
	if ((uint64_t)st.st_size > c->bounds.bytes_max - c->bytes)
		return fail(c, -ERR_BOUND, "it has too many bytes");
	err = hash_bytes(c, fd, (uint64_t)st.st_size, sha256);
	if (!err)
		err = unchanged(c, fd, &st);
	if (err)
		return err;
	c->bytes += (uint64_t)st.st_size;
	note_watched(c, sha256);
	return put(c, st.st_mode & S_IXUSR ? 'x' : 'f', sha256);
}

static int add_link(struct contents *c, int dir_fd, const char *name)
{
	uint8_t sha256[CONTENTS_SHA256_BYTES];
	ssize_t n = readlinkat(dir_fd, name, c->chunk, CHUNK_BYTES);

	if (n < 0 && errno == EINVAL)
		return fail(c, -ERR_RACE, "it became something else while it was read");
	if (n < 0)
		return fail_errno(c, "a link in it cannot be read");
	crypto_hash_sha256(sha256, (const unsigned char *)c->chunk, (unsigned long long)n);
	return put(c, 'l', sha256);
}

/* ---- folders ----------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void contents_names_free(struct contents_names *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->items[i]);
	free(n->items);
	*n = (struct contents_names){0};
}

static int keep_name(struct contents_names *out, size_t *cap, const char *name)
{
	if (out->n == *cap) {
		size_t more = *cap ? *cap * 2 : 32;
		char **items = reallocarray(out->items, more, sizeof *items);

		if (!items)
			return -ERR_NOMEM;
		out->items = items;
		*cap = more;
	}
	out->items[out->n] = strdup(name);
	if (!out->items[out->n])
		return -ERR_NOMEM;
	out->n++;
	return 0;
}

static int read_names(DIR *d, size_t max, struct contents_names *out)
{
	const struct dirent *e;
	size_t cap = 0;

	for (errno = 0; (e = readdir(d)); errno = 0) {
		int err = out->n >= max ? -ERR_BOUND : 0;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (!err)
			err = keep_name(out, &cap, e->d_name);
		if (err)
			return err;
	}
	return errno ? -ERR_SYS : 0;
}

int contents_names(int dir_fd, size_t max, struct contents_names *out)
{
	/* Not a copy: that would share its position with the original. */
	auto_fd fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int err;

	*out = (struct contents_names){0};
	if (!d)
		return -ERR_SYS;
	(void)fd_take(&fd); /* the stream's */
	err = read_names(d, max, out);
	closedir(d);
	if (err)
		contents_names_free(out);
	else if (out->n)
		qsort(out->items, out->n, sizeof *out->items, compare);
	return err;
}

static int add_entry(struct contents *c, int dir_fd, const char *name, unsigned depth);

static int add_entries(struct contents *c, int dir_fd, const char *without, unsigned depth)
{
	struct contents_names names;
	int err;

	if (depth > CONTENTS_DEPTH_MAX)
		return fail(c, -ERR_BOUND, "its folders are too deep");
	err = contents_names(dir_fd, c->bounds.entries_max - c->entries, &names);
	if (err)
		return fail(c, err,
		            err == -ERR_BOUND ? "it has too many files"
		                              : "a folder in it cannot be read");
	for (size_t i = 0; !err && i < names.n; i++)
		if (!without || strcmp(names.items[i], without) != 0)
			err = add_entry(c, dir_fd, names.items[i], depth);
	if (err == -ERR_NOTFOUND) /* it was, a moment ago; and a part is in the hash */
		err = fail(c, -ERR_RACE, "it was changed while it was read");
	contents_names_free(&names);
	return err;
}

static int add_folder(struct contents *c, int dir_fd, const char *name, unsigned depth)
{
	auto_fd fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st) != 0)
		return fail_errno(c, "a folder in it cannot be read");
	err = put(c, 'd', NULL);
	if (!err)
		err = add_entries(c, fd, NULL, depth + 1);
	return err ? err : unchanged(c, fd, &st);
}

static int add_kind(struct contents *c, int dir_fd, const char *name, unsigned depth)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return fail_errno(c, "its state cannot be read");
	if (S_ISDIR(st.st_mode))
		return add_folder(c, dir_fd, name, depth);
	if (S_ISREG(st.st_mode))
		return add_file(c, dir_fd, name);
	if (S_ISLNK(st.st_mode))
		return add_link(c, dir_fd, name);
	return put(c, 'o', NULL);
}

static int add_entry(struct contents *c, int dir_fd, const char *name, unsigned depth)
{
	size_t before = c->path.len_bytes;
	int err;

	if (c->entries >= c->bounds.entries_max)
		return fail(c, -ERR_BOUND, "it has too many files");
	if (contents_is_late(&c->bounds))
		return fail(c, -ERR_BOUND, "no time was left");
	c->entries++;
	if (before)
		buf_chr(&c->path, '/');
	buf_str(&c->path, name);
	err = add_kind(c, dir_fd, name, depth);
	if (before || c->path.data)
		c->path.data[before] = '\0';
	c->path.len_bytes = before;
	return err;
}

int contents_add(struct contents *c, int dir_fd, const char *name)
{
	return add_entry(c, dir_fd, name, 0);
}

int contents_add_all(struct contents *c, int dir_fd, const char *without)
{
	struct stat st;
	int err;

	if (fstat(dir_fd, &st) != 0)
		return fail_errno(c, "its state cannot be read");
	err = add_entries(c, dir_fd, without, 0);
	return err ? err : unchanged(c, dir_fd, &st);
}
