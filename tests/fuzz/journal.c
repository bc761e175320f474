/* audit/decode: a segment of a journal that anyone may have written: walking
 * it stays within its bounds, and no entry without its tag is taken. */
#include "audit/anchor.h"
#include "audit/decode.h"
#include "audit/record.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t master[RATCHET_SEED_BYTES];

/* With tags made right: what a fuzzer could never guess. */
static void walk(uint8_t *bytes, size_t len_bytes, bool mend)
{
	struct ratchet keys;
	uint64_t index = 0;
	size_t at = 0;

	ratchet_init(&keys, master);
	ratchet_segment(&keys);
	while (at < len_bytes) {
		uint8_t key[RATCHET_KEY_BYTES];
		struct journal_entry e;
		struct record r;

		if (decode_entry(bytes + at, len_bytes - at, index, &e) != DECODE_ENTRY)
			break;
		invariant(e.size_bytes <= len_bytes - at);
		invariant(e.body >= bytes + at &&
		          e.body + e.head.len_bytes + JOURNAL_TAG_BYTES <= bytes + len_bytes);
		ratchet_next(&keys, key);
		if (mend)
			decode_tag(bytes + at + e.size_bytes - JOURNAL_TAG_BYTES, bytes + at,
			           e.size_bytes - JOURNAL_TAG_BYTES, key);
		if (!decode_check(bytes + at, &e, key))
			break;
		if (record_decode(&r, e.body, e.head.len_bytes) == 0)
			invariant(record_size(&r) == e.head.len_bytes);
		at += e.size_bytes;
		index++;
	}
	invariant(!mend || index == 0 || at > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	struct journal_segment_head head;
	struct anchor anchor;
	uint8_t *copy = malloc(len_bytes ? len_bytes : 1);

	invariant(copy != NULL);
	memcpy(copy, bytes, len_bytes);
	walk(copy, len_bytes, false);
	walk(copy, len_bytes, true);
	if (decode_segment(bytes, len_bytes, &head) == 0)
		invariant(head.size_bytes <= len_bytes && head.generation);
	if (anchor_read((const char *)bytes, len_bytes, &anchor) == 0)
		invariant(anchor.checkpoint <= INT64_MAX);
	free(copy);
	return 0;
}
