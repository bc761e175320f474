/* The journal as bytes: its header, its segments and its entries.  Pure.
 * What is decoded comes from a file that anyone may have changed: nothing is
 * believed before its tag has been checked under the ratchet's key. */
#ifndef WARY_AUDIT_DECODE_H
#define WARY_AUDIT_DECODE_H

#include "audit/ratchet.h"
#include "audit/rows.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_MAGIC "waryjnl1"
#define JOURNAL_SEGMENT_MAGIC "warysegm"
#define JOURNAL_MAGIC_BYTES 8
#define JOURNAL_HEADER_BYTES 4096
#define JOURNAL_SEGMENT_BYTES ((size_t)262144)
#define JOURNAL_TAG_BYTES 16
#define JOURNAL_NONCE_BYTES 24
#define JOURNAL_SEALED_BYTES (RATCHET_SEED_BYTES + 16)

struct journal_header {
	char magic[JOURNAL_MAGIC_BYTES]; /* written last */
	uint8_t uuid[ROWS_UUID_BYTES];
	uint64_t mono_us; /* of the session's opening */
	uint8_t nonce[JOURNAL_NONCE_BYTES];
	uint8_t sealed[JOURNAL_SEALED_BYTES]; /* the ratchet's first master */
};
_Static_assert(sizeof(struct journal_header) == 104, "no padding");

struct journal_segment_head {
	char magic[JOURNAL_MAGIC_BYTES]; /* written last; zeros: not in use */
	uint64_t generation;             /* the ratchet's segment number */
	uint64_t first_index;            /* of its first entry */
	uint64_t size_bytes;             /* of the segment, with this head */
};

struct journal_entry_head {
	uint64_t commit; /* index + 1, written last; 0: nothing here yet */
	uint32_t len_bytes;
	uint16_t type; /* enum record_type */
	uint16_t slot; /* of the receipt */
};
_Static_assert(sizeof(struct journal_entry_head) == 16, "no padding");

/** journal_entry_bytes: what an entry with a body of @len_bytes takes. */
static inline size_t journal_entry_bytes(size_t len_bytes)
{
	return sizeof(struct journal_entry_head) + ((len_bytes + 7) & ~(size_t)7) +
	       JOURNAL_TAG_BYTES;
}

/* An entry at its place; body points there. */
struct journal_entry {
	struct journal_entry_head head;
	const uint8_t *body;
	size_t size_bytes; /* of the whole entry */
};

enum decode_result {
	DECODE_ENTRY,   /* an entry that is whole in its form; check its tag */
	DECODE_END,     /* nothing was committed here */
	DECODE_DAMAGED, /* something else than the expected entry */
};

/** decode_entry: the entry at @at.
 * @at, @room_bytes: the rest of the segment.
 * @index: what its index must be. */
enum decode_result decode_entry(const uint8_t *at, size_t room_bytes, uint64_t index,
                                struct journal_entry *out);

/** decode_tag: the tag of an entry (docs/AUDIT.md, "The journal").
 * @bytes, @len_bytes: head, body and padding. */
void decode_tag(uint8_t tag[JOURNAL_TAG_BYTES], const uint8_t *bytes, size_t len_bytes,
                const uint8_t key[RATCHET_KEY_BYTES]);

/** decode_check: whether the entry at @at carries its tag under @key. */
bool decode_check(const uint8_t *at, const struct journal_entry *e,
                  const uint8_t key[RATCHET_KEY_BYTES]);

/** decode_segment: whether a segment begins here that is in use.
 * @room_bytes: to the end of the file.
 * Returns 0 or -ERR_FORMAT. */
must_check int decode_segment(const uint8_t *at, size_t room_bytes,
                              struct journal_segment_head *out);

#endif
