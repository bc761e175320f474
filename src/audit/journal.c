#include "audit/journal.h"

#include "audit/bus.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

USES(fallocate, fdatasync, flock, mkdir, open_any, pwrite64, unlink);

/* Room that every segment keeps for its END entry and the zero after it. */
#define END_ROOM (sizeof(struct journal_entry_head) + JOURNAL_TAG_BYTES + 8)

struct segment {
	struct segment *next; /* towards the newest; or in the free list */
	uint8_t *map;
	size_t size_bytes;
	off_t offset;
	size_t used_bytes;
	uint64_t first_index;
};

struct journal {
	int fd;
	char *path;
	pthread_mutex_t lock; /* guards all down to the blank line */
	pthread_cond_t room;
	struct ratchet *keys;
	struct segment *oldest, *newest, *spare;
	unsigned segments; /* in use or spare */
	off_t end_offset;
	uint16_t free_slots[JOURNAL_SLOTS];
	unsigned free_slots_n;
	uint64_t out[JOURNAL_SLOTS]; /* 1 + index of the slot's intent; 0: it has its outcome */
	_Atomic bool waiting;        /* somebody waits for room */
	_Atomic bool failed;
	_Atomic uint64_t next_index;
	_Atomic uint32_t wake; /* futex: changes when the writer should look */
	_Atomic bool sleeping; /* deeply: the next append wakes */

	/* The writer's own. */
	struct segment *read_segment;
	size_t read_at;
	uint64_t read_index;
};

static void futex_wake(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void journal_wake(struct journal *j)
{
	futex_wake(&j->wake);
}

void journal_sleep(struct journal *j, unsigned timeout_ms, bool deep)
{
	struct timespec t = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
	uint32_t seen = atomic_load(&j->wake);

	if (deep) {
		atomic_store(&j->sleeping, true);
		/* An append that came before the flag was seen here. */
		if (journal_unread(j)) {
			atomic_store(&j->sleeping, false);
			return;
		}
	}
	syscall(SYS_futex, &j->wake, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
	if (deep)
		atomic_store(&j->sleeping, false);
}

void journal_fail(struct journal *j)
{
	pthread_mutex_lock(&j->lock);
	atomic_store(&j->failed, true);
	pthread_cond_broadcast(&j->room);
	pthread_mutex_unlock(&j->lock);
}

bool journal_failed(const struct journal *j)
{
	return atomic_load_explicit(&j->failed, memory_order_relaxed);
}

/* Space on the disk, so that no later write can want for it; sets errno. */
static bool allocate(int fd, off_t offset, off_t len_bytes)
{
	int no;

	do {
		no = posix_fallocate(fd, offset, len_bytes);
	} while (no == EINTR);
	errno = no;
	return no == 0;
}

/* New space at the end of the file. */
static struct segment *segment_map(struct journal *j, size_t size_bytes)
{
	struct segment *s = calloc(1, sizeof *s);
	void *map = MAP_FAILED;

	if (!s)
		return NULL;
	if (allocate(j->fd, j->end_offset, (off_t)size_bytes))
		map = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, j->fd,
		           j->end_offset);
	if (map == MAP_FAILED) {
		free(s);
		return NULL;
	}
	/* Children have no business with it. */
	madvise(map, size_bytes, MADV_DONTFORK);
	madvise(map, size_bytes, MADV_DONTDUMP);
	s->map = map;
	s->size_bytes = size_bytes;
	s->offset = j->end_offset;
	j->end_offset += (off_t)size_bytes;
	j->segments++;
	return s;
}

static void segment_unmap(struct segment *s)
{
	munmap(s->map, s->size_bytes);
	free(s);
}

/* Makes a segment the one that is appended to. */
static bool segment_begin(struct journal *j, struct segment *s)
{
	struct journal_segment_head head;
	uint64_t magic;

	ratchet_segment(j->keys);
	memcpy(head.magic, JOURNAL_SEGMENT_MAGIC, sizeof head.magic);
	memcpy(&magic, head.magic, sizeof magic);
	head.generation = j->keys->segment;
	head.first_index = atomic_load(&j->next_index);
	head.size_bytes = s->size_bytes;
	if (!bus_commit(s->map + 8, (uint8_t *)&head + 8, sizeof head - 8, (uint64_t *)s->map,
	                magic, (uint64_t *)(s->map + sizeof head)))
		return false;
	s->first_index = head.first_index;
	s->used_bytes = sizeof head;
	s->next = NULL;
	if (j->newest)
		j->newest->next = s;
	else
		j->oldest = s;
	j->newest = s;
	return true;
}

/* Writes an entry where it fits; the lock is held. */
static bool put(struct journal *j, struct journal_frame *f, uint64_t *index)
{
	struct segment *s = j->newest;
	struct journal_entry_head *head = (struct journal_entry_head *)f->bytes;
	size_t size = journal_entry_bytes(f->len_bytes);
	size_t covered = size - JOURNAL_TAG_BYTES;
	uint8_t *at = s->map + s->used_bytes;
	uint64_t next = atomic_load_explicit(&j->next_index, memory_order_relaxed);
	uint8_t key[RATCHET_KEY_BYTES];

	*head = (struct journal_entry_head){next + 1, (uint32_t)f->len_bytes, (uint16_t)f->type,
	                                    f->slot};
	memset(f->bytes + sizeof *head + f->len_bytes, 0, covered - sizeof *head - f->len_bytes);
	ratchet_next(j->keys, key);
	decode_tag(f->bytes + covered, f->bytes, covered, key);
	sodium_memzero(key, sizeof key);
	if (!bus_commit(at + 8, f->bytes + 8, size - 8, (uint64_t *)at, next + 1,
	                (uint64_t *)(at + size)))
		return false;
	s->used_bytes += size;
	atomic_store_explicit(&j->next_index, next + 1, memory_order_release);
	*index = next;
	return true;
}

static bool put_end(struct journal *j)
{
	uint64_t words[(sizeof(struct journal_entry_head) + JOURNAL_TAG_BYTES) / 8];
	struct journal_frame end = {.bytes = (uint8_t *)words, .type = RECORD_END};
	uint64_t index;

	return put(j, &end, &index);
}

static bool fits(const struct segment *s, size_t size)
{
	return s && s->size_bytes - s->used_bytes >= size + END_ROOM;
}

static size_t segment_bytes_for(size_t size)
{
	size_t need = size + sizeof(struct journal_segment_head) + END_ROOM;

	return (need + JOURNAL_SEGMENT_BYTES - 1) / JOURNAL_SEGMENT_BYTES * JOURNAL_SEGMENT_BYTES;
}

static void drop(struct journal *j, struct segment *s)
{
	/* Best effort: where this fails the space is only kept for longer. */
	if (fallocate(j->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, s->offset,
	              (off_t)s->size_bytes) != 0)
		errno = 0;
	j->segments--;
	segment_unmap(s);
}

/* Makes room for a segment of another size. */
static void drop_spare(struct journal *j)
{
	struct segment *s = j->spare;

	j->spare = s->next;
	drop(j, s);
}

/* The next segment for an entry of @size; the lock is held, and given up while
 * waiting.  Returns false where the journal has failed. */
static bool next_segment(struct journal *j, size_t size, bool never_wait)
{
	size_t want = segment_bytes_for(size);
	struct segment *s = NULL;

	while (!fits(j->newest, size)) {
		bool ordinary = want == JOURNAL_SEGMENT_BYTES;

		if (!ordinary && j->spare)
			drop_spare(j);
		if (ordinary && j->spare) {
			s = j->spare;
			j->spare = s->next;
		} else if (j->segments < JOURNAL_SEGMENTS_MAX || never_wait) {
			s = segment_map(j, want);
			if (!s)
				return false;
		}
		if (s)
			return (!j->newest || put_end(j)) && segment_begin(j, s);
		atomic_store(&j->waiting, true);
		futex_wake(&j->wake);
		pthread_cond_wait(&j->room, &j->lock);
		if (journal_failed(j))
			return false;
	}
	return true;
}

static int append_locked(struct journal *j, struct journal_frame *f, uint64_t *index)
{
	size_t size = journal_entry_bytes(f->len_bytes);

	if (journal_failed(j))
		return -ERR_RECORD;
	if (f->type == RECORD_CARRY && j->out[f->slot] != f->intent + 1)
		return -ERR_NOTFOUND;
	if (!fits(j->newest, size)) {
		if (!next_segment(j, size, f->never_wait))
			return -ERR_RECORD;
		futex_wake(&j->wake);
	}
	if (f->type == RECORD_INTENT) {
		if (!j->free_slots_n)
			return -ERR_RECORD;
		f->slot = j->free_slots[--j->free_slots_n];
	}
	if (!put(j, f, index))
		return -ERR_RECORD;
	if (f->type == RECORD_INTENT)
		j->out[f->slot] = *index + 1;
	if (f->type == RECORD_OUTCOME) {
		j->out[f->slot] = 0;
		j->free_slots[j->free_slots_n++] = f->slot;
	}
	return 0;
}

int journal_append(struct journal *j, struct journal_frame *f, uint64_t *index)
{
	int err;

	if (f->len_bytes > JOURNAL_ENTRY_MAX)
		return -ERR_BOUND;
	pthread_mutex_lock(&j->lock);
	err = append_locked(j, f, index);
	if (err && err != -ERR_NOTFOUND) {
		atomic_store(&j->failed, true);
		pthread_cond_broadcast(&j->room);
	}
	pthread_mutex_unlock(&j->lock);
	/* Should the flag be missed, the writer sleeps out its second: only the
	 * row comes later. */
	if (atomic_load_explicit(&j->sleeping, memory_order_relaxed) &&
	    atomic_exchange(&j->sleeping, false))
		futex_wake(&j->wake);
	return err;
}

int journal_sync(struct journal *j)
{
	if (fdatasync(j->fd) == 0)
		return 0;
	journal_fail(j);
	return -ERR_RECORD;
}

uint64_t journal_unread(const struct journal *j)
{
	return atomic_load_explicit(&j->next_index, memory_order_acquire) - j->read_index;
}

bool journal_pressed(const struct journal *j)
{
	return atomic_load(&j->waiting);
}

/* After an END entry: the segment that came next. */
static void read_on(struct journal *j)
{
	pthread_mutex_lock(&j->lock);
	invariant(j->read_segment->next != NULL);
	j->read_segment = j->read_segment->next;
	pthread_mutex_unlock(&j->lock);
	j->read_at = sizeof(struct journal_segment_head);
}

bool journal_read(struct journal *j, uint64_t *index, struct journal_entry *e)
{
	const uint8_t *at = j->read_segment->map + j->read_at;

	if (!journal_unread(j))
		return false;
	/* What was written is only read back here: anything else than the entry
	 * means that somebody else wrote into the file. */
	if (decode_entry(at, j->read_segment->size_bytes - j->read_at, j->read_index, e) !=
	    DECODE_ENTRY) {
		journal_fail(j);
		return false;
	}
	*index = j->read_index++;
	j->read_at += e->size_bytes;
	if (e->head.type == RECORD_END)
		read_on(j);
	return true;
}

uint64_t journal_read_segment_first(const struct journal *j)
{
	return j->read_segment->first_index;
}

/* A segment whose entries are in the store: kept for reuse, or, where it was
 * made for one large entry, given back to the disk. */
static void segment_recycle(struct journal *j, struct segment *s)
{
	uint64_t zero = 0;

	if (!bus_commit(&zero, &zero, 0, (uint64_t *)s->map, 0, NULL))
		atomic_store(&j->failed, true);
	if (s->size_bytes == JOURNAL_SEGMENT_BYTES && j->segments <= JOURNAL_SEGMENTS_MAX) {
		s->next = j->spare;
		j->spare = s;
		return;
	}
	drop(j, s);
}

void journal_release(struct journal *j, uint64_t keep)
{
	pthread_mutex_lock(&j->lock);
	while (j->oldest != j->read_segment && j->oldest->next->first_index <= keep) {
		struct segment *s = j->oldest;

		j->oldest = s->next;
		segment_recycle(j, s);
	}
	if (atomic_exchange(&j->waiting, false))
		pthread_cond_broadcast(&j->room);
	pthread_mutex_unlock(&j->lock);
}

static int code_of_errno(void)
{
	static const struct {
		int no, err;
	} rows[] = {{ENOSPC, -ERR_FULL}, {EDQUOT, -ERR_FULL}, {EFBIG, -ERR_FULL},
	            {EACCES, -ERR_PERM}, {EPERM, -ERR_PERM},  {EROFS, -ERR_PERM},
	            {ENOMEM, -ERR_NOMEM}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].no == errno)
			return rows[i].err;
	return -ERR_SYS;
}

/* A recovery may find the file before it is locked, and remove it. */
static int create_locked(const char *path, int *out)
{
	for (unsigned tries = 0; tries < 100; tries++) {
		struct stat st;
		auto_fd fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (fd < 0 || flock(fd, LOCK_EX) != 0 || fstat(fd, &st) != 0)
			return code_of_errno();
		if (st.st_nlink) {
			*out = fd_take(&fd);
			return 0;
		}
	}
	return -ERR_BUSY;
}

static int write_header(struct journal *j, const uint8_t *uuid, uint64_t mono_us,
                        const uint8_t *seal_key, const uint8_t *master)
{
	struct journal_header h = {.mono_us = mono_us};

	memcpy(h.uuid, uuid, sizeof h.uuid);
	randombytes_buf(h.nonce, sizeof h.nonce);
	invariant(crypto_secretbox_easy(h.sealed, master, RATCHET_SEED_BYTES, h.nonce, seal_key) ==
	          0);
	if (!allocate(j->fd, 0, JOURNAL_HEADER_BYTES))
		return code_of_errno();
	if (pwrite(j->fd, (uint8_t *)&h + 8, sizeof h - 8, 8) != (ssize_t)sizeof h - 8 ||
	    pwrite(j->fd, JOURNAL_MAGIC, 8, 0) != 8)
		return code_of_errno();
	return 0;
}

static int begin(struct journal *j, const uint8_t *uuid, uint64_t mono_us, const uint8_t *seal_key)
{
	uint8_t master[RATCHET_SEED_BYTES];
	int err;

	j->keys = sodium_malloc(sizeof *j->keys);
	if (!j->keys)
		return -ERR_NOMEM;
	randombytes_buf(master, sizeof master);
	ratchet_init(j->keys, master);
	err = write_header(j, uuid, mono_us, seal_key, master);
	sodium_memzero(master, sizeof master);
	if (err)
		return err;
	j->end_offset = JOURNAL_HEADER_BYTES;
	j->read_segment = segment_map(j, JOURNAL_SEGMENT_BYTES);
	if (!j->read_segment)
		return code_of_errno();
	j->read_at = sizeof(struct journal_segment_head);
	return segment_begin(j, j->read_segment) ? 0 : -ERR_SYS;
}

static void locks_init(struct journal *j)
{
	pthread_mutexattr_t attr;

	/* Held for a fifth of a microsecond: a waiter first looks again. */
	invariant(pthread_mutexattr_init(&attr) == 0);
	invariant(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP) == 0);
	invariant(pthread_mutex_init(&j->lock, &attr) == 0);
	pthread_mutexattr_destroy(&attr);
	invariant(pthread_cond_init(&j->room, NULL) == 0);
}

int journal_create(const char *folder, const uint8_t *uuid, uint64_t mono_us,
                   const uint8_t *seal_key, struct journal **out)
{
	struct journal *j = calloc(1, sizeof *j);
	struct buf path = BUF_INIT;
	int err = 0;

	if (!j)
		return -ERR_NOMEM;
	j->fd = -1;
	locks_init(j);
	/* The lowest numbers go first and come back soonest. */
	while (j->free_slots_n < JOURNAL_SLOTS) {
		j->free_slots[j->free_slots_n] = (uint16_t)(JOURNAL_SLOTS - 1 - j->free_slots_n);
		j->free_slots_n++;
	}
	buf_fmt(&path, "%s/", folder);
	text_hex(&path, uuid, ROWS_UUID_BYTES);
	j->path = buf_take(&path);
	if (!j->path)
		err = -ERR_NOMEM;
	else if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		err = code_of_errno();
	if (!err)
		err = create_locked(j->path, &j->fd);
	if (!err)
		err = begin(j, uuid, mono_us, seal_key);
	if (err) {
		if (j->path && j->fd >= 0)
			unlink(j->path);
		journal_free(j);
		return err;
	}
	*out = j;
	return 0;
}

int journal_remove(struct journal *j)
{
	return unlink(j->path) == 0 ? 0 : code_of_errno();
}

void journal_free(struct journal *j)
{
	if (!j)
		return;
	for (struct segment *s = j->oldest, *next; s; s = next) {
		next = s->next;
		segment_unmap(s);
	}
	for (struct segment *s = j->spare, *next; s; s = next) {
		next = s->next;
		segment_unmap(s);
	}
	fd_drop(&j->fd);
	sodium_free(j->keys);
	pthread_cond_destroy(&j->room);
	pthread_mutex_destroy(&j->lock);
	free(j->path);
	free(j);
}
