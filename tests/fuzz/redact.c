/* secret/redact: whatever the text, no needle is left in it, and nothing that is
 * no needle is changed.  The first byte says how long the value is that the
 * next bytes are; the rest is the text. */
#include "secret/redact.h"
#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	struct redact_needle needles[REDACT_FORMS_MAX];
	size_t value_bytes = len_bytes ? bytes[0] % 40 : 0;
	struct buf out = BUF_INIT;
	const char *text;
	size_t text_bytes;
	size_t n;
	char *room;

	if (value_bytes + 1 > len_bytes)
		return 0;
	room = malloc(redact_forms_size(value_bytes) + 1);
	invariant(room != NULL);
	text = (const char *)bytes + 1 + value_bytes;
	text_bytes = len_bytes - 1 - value_bytes;
	/* Its name is of no character that a needle may begin with. */
	n = redact_forms("\001", (const char *)bytes + 1, value_bytes, room, needles);
	invariant(n <= REDACT_FORMS_MAX && (n > 0) == (value_bytes > 0));
	if (redact_text(needles, n, text, text_bytes, &out)) {
		invariant(memmem(out.data, out.len_bytes, "[\001]", 3) != NULL);
	} else {
		invariant(out.len_bytes == 0);
		for (size_t i = 0; i < n; i++)
			invariant(
				!memmem(text, text_bytes, needles[i].bytes, needles[i].len_bytes));
	}
	buf_free(&out);
	free(room);
	return 0;
}
