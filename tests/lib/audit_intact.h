/* For the tests of the record: whether a store verifies by this machine's key. What
 * is wrong with it is shown. */
#ifndef WARY_TESTS_LIB_AUDIT_INTACT_H
#define WARY_TESTS_LIB_AUDIT_INTACT_H

#include "audit/keys.h"
#include "audit/verify.h"
#include "tests/unit/tap.h"

#include <stdbool.h>
#include <stdlib.h>

static inline void intact_show(void *ctx, const char *sentence)
{
	(void)ctx;
	tap_note("%s", sentence);
}

static inline bool intact(const char *db)
{
	uint8_t key[1][ROWS_KEY_BYTES];
	struct verify_options o = {.db = db, .wrong = intact_show, .note = intact_show};
	struct verify_result r;
	char *why = NULL;
	bool right = keys_machine_public(key[0], &why) == 0;

	o.public_keys = (const uint8_t(*)[ROWS_KEY_BYTES])key;
	o.public_keys_n = 1;
	right = right && verify_store(&o, &r, &why) == 0 && !r.wrong;
	if (why)
		tap_note("%s", why);
	free(why);
	return right;
}

#endif
