/* The journal of a running session (docs/AUDIT.md, "The journal").
 *
 * How it works.  Any thread appends; one thread, the writer, reads and gives
 * segments back.
 *  1. An entry is whole before its commit word is written, and commit words
 *     are written in the order of the indexes: what a kill leaves is a
 *     sequence without holes.
 *  2. The word after an entry is zero before the entry is committed, so that
 *     what a reused segment held before is never taken for an entry.
 *  3. Space is on the disk before it is used (posix_fallocate); a fault of
 *     the mapping all the same (SIGBUS) fails the journal, not the process.
 *  4. When no segment is left, appending waits for the writer; nothing is
 *     dropped.  The writer itself never waits: it may go past the bound.
 *  5. A copy of an intent (CARRY) comes before its outcome, never after: a
 *     recovery that has lost the original still has intent, outcome in order.
 *  6. No system call on the way of an append, but for: a new segment, a
 *     writer that sleeps, a full journal.
 */
#ifndef WARY_AUDIT_JOURNAL_H
#define WARY_AUDIT_JOURNAL_H

#include "audit/decode.h"
#include "audit/record.h"

#include <stdbool.h>

#define JOURNAL_SEGMENTS_MAX 16
#define JOURNAL_ENTRY_MAX ((size_t)64 << 20)
/* Intents that may wait for their outcome at once: with the closing event they
 * go into one batch. */
#define JOURNAL_SLOTS 4095

struct journal;

/* An entry to be appended: bytes with room for head, padding and tag around
 * the body; see journal_frame_bytes. */
struct journal_frame {
	uint8_t *bytes;   /* body at sizeof(struct journal_entry_head); 8-aligned */
	size_t len_bytes; /* of the body */
	enum record_type type;
	uint16_t slot;   /* set by the append of an intent, given back by that of its
	                     outcome; 0 for what has none */
	bool never_wait; /* only the writer's own */
	uint64_t intent; /* CARRY: the index of the intent that it is a copy of */
};

/** journal_create: a new journal, locked and with its first segment.
 * @folder: where journals lie, ".S.live"; made (0700) where it is missing.
 * @uuid, @mono_us: of the session.
 * @seal_key: 32 bytes, keys_seal_key().
 * Returns 0 or -ERR_PERM, -ERR_FULL, -ERR_NOMEM, -ERR_SYS. */
must_check int journal_create(const char *folder, const uint8_t *uuid, uint64_t mono_us,
                              const uint8_t *seal_key, struct journal **out);

/** journal_append: see above. @index: set to the entry's index.
 * Returns 0 or -ERR_RECORD (the journal has failed), -ERR_BOUND; of a CARRY
 * -ERR_NOTFOUND where its intent has its outcome in the journal already:
 * nothing was appended then. */
must_check int journal_append(struct journal *j, struct journal_frame *f, uint64_t *index);

/** journal_sync: what was appended is on the disk. Returns 0 or -ERR_RECORD. */
must_check int journal_sync(struct journal *j);

/** journal_fail: no append succeeds any more; those that wait return. */
void journal_fail(struct journal *j);
bool journal_failed(const struct journal *j);

/* For the writer only. */

/** journal_read: the next entry, without waiting.
 * @e: points into the mapping, valid until journal_release.
 * Returns whether there is one. */
bool journal_read(struct journal *j, uint64_t *index, struct journal_entry *e);

/** journal_unread: how many entries wait to be read. */
uint64_t journal_unread(const struct journal *j);

/** journal_pressed: whether somebody waits for room. */
bool journal_pressed(const struct journal *j);

/** journal_read_segment_first: index of the first entry of the segment that
 * is being read: what lies before it may be given back by journal_release. */
uint64_t journal_read_segment_first(const struct journal *j);

/** journal_release: gives back the segments before the one being read, but
 * none from the one on that has the entry @keep. The entries before that must
 * be in the store, or carried. */
void journal_release(struct journal *j, uint64_t keep);

/** journal_sleep: waits for @timeout_ms, or less where a segment has filled or
 * journal_wake was called.
 * @deep: also until the first append, for a writer with nothing to do. */
void journal_sleep(struct journal *j, unsigned timeout_ms, bool deep);
void journal_wake(struct journal *j);

/** journal_remove: unlinks the file: everything is in the store. */
must_check int journal_remove(struct journal *j);
/** journal_free: closes; the file stays unless it was removed. */
void journal_free(struct journal *j);

#endif
