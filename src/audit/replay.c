#include "audit/replay.h"

#include "audit/record.h"
#include "base/own.h"
#include "base/uses.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

USES(pread64);

#define SEGMENTS_MAX 4096
/* Twice what an entry may have: a segment is rounded up. */
#define SEGMENT_MAX_BYTES ((size_t)128 << 20)

struct place {
	off_t offset;
	struct journal_segment_head head;
};

struct replay {
	int fd;
	struct journal_header header;
	struct ratchet *keys;
	struct place *places; /* by generation */
	size_t places_n;
	size_t next_place;
	uint64_t lost;
	bool begun; /* next_index is known */
	uint64_t next_index;
	/* The segment being read. */
	uint8_t *bytes;
	size_t len_bytes;
	size_t at;
	/* Keys of its entries, the first is next_index's; as many as may be. */
	uint8_t (*ahead)[RATCHET_KEY_BYTES];
	size_t ahead_n;
	size_t ahead_at;
};

static bool read_at(int fd, void *out, size_t len_bytes, off_t offset)
{
	size_t done = 0;

	while (done < len_bytes) {
		ssize_t n = pread(fd, (char *)out + done, len_bytes - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static int by_generation(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;

	return (x->head.generation > y->head.generation) -
	       (x->head.generation < y->head.generation);
}

static int find_segments(struct replay *r, off_t size)
{
	r->places = calloc(SEGMENTS_MAX, sizeof *r->places);
	if (!r->places)
		return -ERR_NOMEM;
	for (off_t at = JOURNAL_HEADER_BYTES;
	     r->places_n < SEGMENTS_MAX && at + (off_t)JOURNAL_SEGMENT_BYTES <= size;) {
		struct place *p = &r->places[r->places_n];
		uint8_t head[sizeof p->head];

		if (!read_at(r->fd, head, sizeof head, at))
			return -ERR_SYS;
		if (decode_segment(head, (size_t)(size - at), &p->head) == 0 &&
		    p->head.size_bytes <= SEGMENT_MAX_BYTES) {
			p->offset = at;
			at += (off_t)p->head.size_bytes;
			r->places_n++;
		} else {
			at += (off_t)JOURNAL_SEGMENT_BYTES;
		}
	}
	qsort(r->places, r->places_n, sizeof *r->places, by_generation);
	return 0;
}

static int open_with(struct replay *r, const uint8_t *seal_key)
{
	uint8_t master[RATCHET_SEED_BYTES];
	struct stat st;

	if (fstat(r->fd, &st) != 0)
		return -ERR_SYS;
	if (st.st_size < (off_t)(JOURNAL_HEADER_BYTES + JOURNAL_SEGMENT_BYTES))
		return -ERR_NOTFOUND;
	if (!read_at(r->fd, &r->header, sizeof r->header, 0))
		return -ERR_SYS;
	if (memcmp(r->header.magic, JOURNAL_MAGIC, sizeof r->header.magic) != 0)
		return -ERR_NOTFOUND;
	r->keys = sodium_malloc(sizeof *r->keys);
	if (!r->keys)
		return -ERR_NOMEM;
	if (crypto_secretbox_open_easy(master, r->header.sealed, sizeof r->header.sealed,
	                               r->header.nonce, seal_key) != 0)
		return -ERR_CRYPTO;
	ratchet_init(r->keys, master);
	sodium_memzero(master, sizeof master);
	return find_segments(r, st.st_size);
}

int replay_open(int fd, const uint8_t *seal_key, struct replay **out)
{
	struct replay *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return -ERR_NOMEM;
	r->fd = fd;
	err = open_with(r, seal_key);
	if (err)
		replay_free(r);
	else
		*out = r;
	return err;
}

static void segment_drop(struct replay *r)
{
	if (r->ahead)
		sodium_memzero(r->ahead, r->ahead_n * sizeof *r->ahead);
	free(r->ahead);
	free(r->bytes);
	r->ahead = NULL;
	r->bytes = NULL;
	r->ahead_n = 0;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	segment_drop(r);
	sodium_free(r->keys);
	free(r->places);
	free(r);
}

const struct journal_header *replay_header(const struct replay *r)
{
	return &r->header;
}

uint64_t replay_lost(const struct replay *r)
{
	return r->lost;
}

/* Entries between what was read last and the segment that is read now. */
static void begin_at(struct replay *r, uint64_t first_index)
{
	if (r->begun && first_index > r->next_index)
		r->lost += first_index - r->next_index;
	r->begun = true;
	r->next_index = first_index;
}

static int segment_load(struct replay *r)
{
	const struct place *p = &r->places[r->next_place++];
	size_t size = p->head.size_bytes;

	r->bytes = malloc(size);
	r->ahead_n = size / journal_entry_bytes(0);
	r->ahead = calloc(r->ahead_n, sizeof *r->ahead);
	if (!r->bytes || !r->ahead)
		return -ERR_NOMEM;
	if (!read_at(r->fd, r->bytes, size, p->offset))
		return -ERR_SYS;
	/* A generation that lies says at most that nothing here verifies. */
	if (p->head.generation <= r->keys->segment || p->head.generation > UINT32_MAX ||
	    (r->begun && p->head.first_index < r->next_index)) {
		r->lost++;
		segment_drop(r);
		return 0;
	}
	while (r->keys->segment < p->head.generation)
		ratchet_segment(r->keys);
	for (size_t i = 0; i < r->ahead_n; i++)
		ratchet_next(r->keys, r->ahead[i]);
	r->ahead_at = 0;
	r->len_bytes = size;
	r->at = sizeof p->head;
	begin_at(r, p->head.first_index);
	return 0;
}

/* Whether an entry that verifies lies at @at; which may be any of those still
 * to come in this segment. */
static bool verifies(struct replay *r, size_t at, struct journal_entry *e, size_t *skipped)
{
	const uint8_t *p = r->bytes + at;
	uint64_t commit;

	if (r->len_bytes - at < journal_entry_bytes(0))
		return false;
	memcpy(&commit, p, sizeof commit);
	if (commit <= r->next_index || commit - 1 - r->next_index >= r->ahead_n - r->ahead_at)
		return false;
	*skipped = (size_t)(commit - 1 - r->next_index);
	return decode_entry(p, r->len_bytes - at, commit - 1, e) == DECODE_ENTRY &&
	       decode_check(p, e, r->ahead[r->ahead_at + *skipped]);
}

/* The next entry that verifies in this segment. */
static bool segment_next(struct replay *r, struct journal_entry *e)
{
	size_t skipped = 0;
	uint64_t commit = 0;
	bool torn;

	if (r->len_bytes - r->at < journal_entry_bytes(0))
		return false;
	memcpy(&commit, r->bytes + r->at, sizeof commit);
	torn = commit != 0;
	for (size_t at = r->at; at < r->len_bytes; at += 8) {
		if (!verifies(r, at, e, &skipped))
			continue;
		r->lost += skipped;
		r->next_index += skipped;
		r->ahead_at += skipped;
		r->at = at;
		return true;
	}
	r->lost += torn;
	return false;
}

int replay_next(struct replay *r, uint64_t *index, struct journal_entry *e, bool *there)
{
	for (;;) {
		int err;

		if (r->bytes && segment_next(r, e)) {
			*index = r->next_index++;
			r->ahead_at++;
			r->at += e->size_bytes;
			*there = true;
			return 0;
		}
		segment_drop(r);
		*there = false;
		if (r->next_place == r->places_n)
			return 0;
		err = segment_load(r);
		if (err)
			return err;
	}
}
