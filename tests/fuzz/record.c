/* audit/record, audit/decode: whatever a body of the journal holds, it decodes
 * to what encodes to the same bytes, or not at all; quoted text likewise. */
#include "audit/record.h"
#include "audit/decode.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_body(const uint8_t *bytes, size_t len_bytes)
{
	struct record r;
	uint8_t *again;

	if (record_decode(&r, bytes, len_bytes) != 0)
		return;
	invariant(record_size(&r) == len_bytes);
	invariant(record_kind_name(r.head.kind) && record_class_name(r.head.class) &&
	          record_answer_name(r.head.answer) && record_judge_name(&r));
	again = malloc(len_bytes);
	invariant(again != NULL);
	record_encode(&r, again);
	invariant(memcmp(again, bytes, len_bytes) == 0);
	free(again);
}

static int gather(void *ctx, const char *bytes, size_t len_bytes)
{
	struct buf *out = ctx;

	if (out->len_bytes)
		buf_chr(out, ' ');
	record_quote(out, bytes, len_bytes);
	return 0;
}

static int one(void *ctx, const char *bytes, size_t len_bytes)
{
	struct buf *out = ctx;

	invariant(!out->len_bytes);
	buf_add(out, bytes, len_bytes);
	buf_chr(out, '!');
	return 0;
}

static void check_quoting(const uint8_t *bytes, size_t len_bytes)
{
	struct buf text = BUF_INIT;
	struct buf back = BUF_INIT;

	/* What reads at all reads to one list, which is written so. */
	if (record_unquote((const char *)bytes, len_bytes, gather, &text) == 0) {
		invariant(text.len_bytes == len_bytes);
		invariant(!len_bytes || memcmp(text.data, bytes, len_bytes) == 0);
	}
	/* Any bytes can be quoted, and come back. */
	buf_reset(&text);
	record_quote(&text, (const char *)bytes, len_bytes);
	invariant(buf_text(&text) && record_unquote(text.data, text.len_bytes, one, &back) == 0);
	invariant(back.len_bytes == len_bytes + 1);
	invariant(memcmp(back.data, bytes, len_bytes) == 0);
	buf_free(&text);
	buf_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	check_body(bytes, len_bytes);
	check_quoting(bytes, len_bytes);
	return 0;
}
