/* Whether a record, or one session of it, is as it was written and by whom: what verify,
 * show and report say, in the same words. */
#ifndef WARY_CMD_AUDIT_VOUCH_H
#define WARY_CMD_AUDIT_VOUCH_H

#include "audit/rows.h"
#include "audit/verify.h"
#include "base/buf.h"

#include <stdint.h>

#define AUDIT_KEYS_MAX 16

/* Whom to trust. */
struct audit_keys {
	uint8_t named[AUDIT_KEYS_MAX][ROWS_KEY_BYTES];
	size_t named_n;
	/* This machine's, its former ones too: where none is named they count. */
	uint8_t (*own)[ROWS_KEY_BYTES];
	size_t own_n;
};

/** audit_keys_take: one --key of @command. Returns 0 or AUDIT_USAGE, said. */
int audit_keys_take(struct audit_keys *k, const char *command, const char *arg);
/** audit_keys_find: this machine's. Returns 0, or AUDIT_USAGE, said, where they cannot be
 * read and none was named. audit_keys_free afterwards in any case. */
int audit_keys_find(struct audit_keys *k, const char *command);
void audit_keys_free(struct audit_keys *k);
/** audit_keys_list: those that count. @n: set to how many. */
const uint8_t (*audit_keys_list(const struct audit_keys *k, size_t *n))[ROWS_KEY_BYTES];

enum audit_vouched {
	AUDIT_VOUCHED,    /* intact, and signed by one that is trusted */
	AUDIT_STRANGER,   /* intact, and signed by one that nobody here knows */
	AUDIT_CHANGED,    /* not intact */
	AUDIT_UNVERIFIED, /* it could not be looked at */
};

struct audit_vouch {
	/* From the caller: */
	const char *db;
	const struct audit_keys *keys;
	uint64_t session; /* its id; 0: all of the record */
	const struct anchor *anchors;
	size_t anchors_n;
	void (*say)(const char *sentence); /* findings and notes, printable; or NULL */
	/* What came of it: */
	enum audit_vouched is;
	struct verify_result result; /* of the first three */
	char *why;                   /* of the last one; or NULL. free(3) */
};

/** audit_vouch: verifies, and blocks as long as that takes. */
void audit_vouch(struct audit_vouch *v);
/** audit_put_vouched: what that is, in one line, printable. */
void audit_put_vouched(struct buf *out, const struct audit_vouch *v);

#endif
