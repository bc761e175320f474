/* audit/proof: whatever a file holds, it is read or refused; what is read is written
 * again as the same; nothing is shown by a key that signed nothing. */
#include "audit/proof.h"
#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_again(const struct proof *p)
{
	struct proof *back = proof_new();
	struct buf first = BUF_INIT;
	struct buf second = BUF_INIT;

	invariant(back != NULL);
	proof_write(&first, p);
	invariant(buf_text(&first) && proof_read(first.data, first.len_bytes, back) == 0);
	proof_write(&second, back);
	invariant(buf_text(&second) && strcmp(first.data, second.data) == 0);
	proof_free(back);
	buf_free(&first);
	buf_free(&second);
}

static void check_texts(const struct proof_rows *rows)
{
	struct buf b = BUF_INIT;

	invariant(proof_text(&b, rows, rows->event.object) &&
	          proof_text(&b, rows, rows->actor.program) &&
	          proof_text(&b, rows, rows->detail.argv));
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	static const uint8_t nobody[1][ROWS_KEY_BYTES] = {{1, 2, 3}};
	struct proof *p = proof_new();
	struct proof_rows *rows = calloc(1, sizeof *rows);
	const char *why = NULL;

	if (p && rows && proof_read((const char *)bytes, len_bytes, p) == 0) {
		check_again(p);
		invariant(proof_check(p, nobody, 1, rows, &why) != 0 && why);
		/* And whom it names itself, so that all of it is looked at. */
		if (proof_check(p, (const uint8_t(*)[ROWS_KEY_BYTES])p->keys[p->keys_n - 1].by, 1,
		                rows, &why) == 0)
			check_texts(rows);
	}
	proof_free(p);
	free(rows);
	return 0;
}
