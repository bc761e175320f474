#include "net/own.h"

#include "base/own.h"
#include "net/addr.h"
#include "net/diag.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NOTES_MAX 16384u
#define BUCKETS 8192u /* a power of two */
#define NO_NOTE 0u    /* so that empty buckets are untouched memory */

enum note_kind { NOTE_NONE, NOTE_INET, NOTE_FILE, NOTE_NAME };

struct note {
	enum note_kind kind;
	uint32_t next;  /* in its bucket */
	uint32_t inode; /* of the socket */
	uint64_t cookie;
	/* INET: cookie, 0. FILE: dev, ino of the file. NAME: two hashes: a
	 * collision needs the same socket alive under another name. */
	uint64_t key[2];
};

struct listeners {
	pthread_mutex_t lock;
	uint32_t oldest; /* next to be overwritten */
	uint32_t buckets[BUCKETS];
	struct note notes[NOTES_MAX + 1]; /* from 1 on */
};

int own_new(struct listeners **out)
{
	struct listeners *l = calloc(1, sizeof *l);

	if (!l)
		return -ERR_NOMEM;
	pthread_mutex_init(&l->lock, NULL);
	l->oldest = 1;
	*out = l;
	return 0;
}

void own_free(struct listeners *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static uint32_t bucket_of(enum note_kind kind, const uint64_t key[2])
{
	uint64_t h = (key[0] ^ key[1] * 0x9e3779b97f4a7c15u) + (uint64_t)kind;

	h *= 0xff51afd7ed558ccdu;
	return (uint32_t)(h >> 40) & (BUCKETS - 1);
}

static bool is_note(const struct note *n, enum note_kind kind, const uint64_t key[2])
{
	return n->kind == kind && n->key[0] == key[0] && n->key[1] == key[1];
}

static void unlink_note(struct listeners *l, uint32_t at)
{
	struct note *n = &l->notes[at];
	uint32_t *link;

	if (n->kind == NOTE_NONE)
		return;
	link = &l->buckets[bucket_of(n->kind, n->key)];
	while (*link != at) {
		invariant(*link != NO_NOTE);
		link = &l->notes[*link].next;
	}
	*link = n->next;
	n->kind = NOTE_NONE;
}

/* The caller holds the lock. */
static struct note *find(struct listeners *l, enum note_kind kind, const uint64_t key[2])
{
	uint32_t at = l->buckets[bucket_of(kind, key)];

	while (at != NO_NOTE && !is_note(&l->notes[at], kind, key))
		at = l->notes[at].next;
	return at == NO_NOTE ? NULL : &l->notes[at];
}

static void put(struct listeners *l, const struct note *made)
{
	uint32_t bucket = bucket_of(made->kind, made->key);
	struct note *n;

	pthread_mutex_lock(&l->lock);
	n = find(l, made->kind, made->key);
	if (n) { /* a file's inode or a name again, by another socket */
		n->inode = made->inode;
		n->cookie = made->cookie;
	} else {
		unlink_note(l, l->oldest);
		n = &l->notes[l->oldest];
		*n = *made;
		n->next = l->buckets[bucket];
		l->buckets[bucket] = l->oldest;
		l->oldest = l->oldest % NOTES_MAX + 1;
	}
	pthread_mutex_unlock(&l->lock);
}

static bool get(struct listeners *l, enum note_kind kind, const uint64_t key[2], struct note *out)
{
	struct note *n;

	pthread_mutex_lock(&l->lock);
	n = find(l, kind, key);
	if (n)
		*out = *n;
	pthread_mutex_unlock(&l->lock);
	return n != NULL;
}

/* FNV-1a with two bases. */
static void name_key(const char *name, uint64_t key[2])
{
	key[0] = 0xcbf29ce484222325u;
	key[1] = 0x84222325cbf29ce4u;
	for (; *name; name++) {
		key[0] = (key[0] ^ (uint8_t)*name) * 0x100000001b3u;
		key[1] = (key[1] ^ (uint8_t)*name) * 0x100000001b3u + 1;
	}
}

static void add(struct listeners *l, int socket_fd, struct note *n)
{
	struct stat st;

	n->cookie = diag_cookie(socket_fd);
	if (n->cookie == 0 || fstat(socket_fd, &st) != 0)
		return;
	n->inode = (uint32_t)st.st_ino;
	if (n->kind == NOTE_INET)
		n->key[0] = n->cookie;
	put(l, n);
}

void own_add(struct listeners *l, int socket_fd)
{
	struct note n = {.kind = NOTE_INET};

	add(l, socket_fd, &n);
}

void own_add_file(struct listeners *l, int socket_fd, dev_t dev, ino_t ino)
{
	struct note n = {.kind = NOTE_FILE, .key = {dev, ino}};

	add(l, socket_fd, &n);
}

void own_add_name(struct listeners *l, int socket_fd, const char *name)
{
	struct note n = {.kind = NOTE_NAME};

	name_key(name, n.key);
	add(l, socket_fd, &n);
}

struct check {
	struct listeners *l;
	unsigned seen;
	bool other; /* somebody else's socket is among them */
};

static void check_one(void *ctx, uint64_t cookie)
{
	struct check *c = ctx;
	uint64_t key[2] = {cookie, 0};
	struct note n;

	c->seen++;
	if (!get(c->l, NOTE_INET, key, &n))
		c->other = true;
}

enum own_who own_inet(struct listeners *l, const struct facts_addr *to)
{
	struct check c = {.l = l};
	auto_fd fd = diag_open();

	if (fd < 0 || diag_receivers(fd, to, check_one, &c) != 0)
		return OWN_OTHER;
	if (c.seen == 0)
		return OWN_NOBODY;
	return c.other ? OWN_OTHER : OWN_SELF;
}

static bool own_unix(struct listeners *l, enum note_kind kind, const uint64_t key[2])
{
	struct note n;
	auto_fd fd = -1;

	if (!get(l, kind, key, &n))
		return false;
	fd = diag_open();
	return fd >= 0 && diag_unix_alive(fd, n.inode, n.cookie);
}

bool own_file(struct listeners *l, dev_t dev, ino_t ino)
{
	const uint64_t key[2] = {dev, ino};

	return own_unix(l, NOTE_FILE, key);
}

bool own_name(struct listeners *l, const char *name)
{
	uint64_t key[2];

	name_key(name, key);
	return own_unix(l, NOTE_NAME, key);
}
