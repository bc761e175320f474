/* base/text: nothing that a terminal would obey comes out of text_printable,
 * and hexadecimal and numbers read back what was written. */
#include "base/text.h"
#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_printable(const uint8_t *bytes, size_t len_bytes)
{
	struct buf out = BUF_INIT;
	const unsigned char *s;

	text_printable(&out, bytes, len_bytes, 0);
	s = (const unsigned char *)buf_text(&out);
	invariant(s != NULL);
	for (size_t i = 0; i < out.len_bytes;) {
		unsigned code = 0;
		size_t n = text_utf8_next(s + i, out.len_bytes - i, &code);

		invariant(n > 0 && !text_is_hidden(code));
		i += n;
	}
	buf_free(&out);
}

static void check_hex(const uint8_t *bytes, size_t len_bytes)
{
	struct buf hex = BUF_INIT;
	unsigned char *back = malloc(len_bytes ? len_bytes : 1);

	text_hex(&hex, bytes, len_bytes);
	invariant(back && buf_text(&hex));
	invariant(text_unhex(buf_text(&hex), hex.len_bytes, back, len_bytes) == 0);
	invariant(memcmp(back, bytes, len_bytes) == 0);
	free(back);
	buf_free(&hex);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	check_printable(bytes, len_bytes);
	check_hex(bytes, len_bytes);
	return 0;
}
