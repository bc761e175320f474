/* Whether a store is as it was written: needs the database and a public key.
 * docs/AUDIT.md says what is checked; nothing is written. */
#ifndef WARY_AUDIT_VERIFY_H
#define WARY_AUDIT_VERIFY_H

#include "audit/anchor.h"
#include "audit/rows.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct verify_options {
	const char *db;
	/* Whom to trust, and whom they certified; none: the store's own first
	 * machine key, so that only changes by others are found. */
	const uint8_t (*public_keys)[ROWS_KEY_BYTES];
	size_t public_keys_n;
	/* Where nothing here leads to one of them: as if none was named, and then
	 * result->known is false.  Else that is a finding. */
	bool try_strangers;
	/* Only these (ids, ascending): all that is of them, and the chain: the hashes of
	 * all checkpoints and tombstones up to the last checkpoint, whose signature then
	 * stands for theirs.  Not the rows of others.  0: everything. */
	const uint64_t *only;
	size_t only_n;
	/* Checkpoints that were seen before; the machine's own is added to them. */
	const struct anchor *anchors;
	size_t anchors_n;
	/* One thing that is wrong, as a sentence; printable. */
	void (*wrong)(void *ctx, const char *sentence);
	/* What cannot be vouched for although nothing is wrong; printable. */
	void (*note)(void *ctx, const char *sentence);
	void *ctx;
};

struct verify_result {
	uint64_t rows;        /* events, as people count them */
	uint64_t checkpoints; /* whose rows were read and whose signature was checked */
	uint64_t chained;     /* others: only that the chain leads over them */
	uint64_t sessions;
	uint64_t removed; /* sessions of which there are tombstones */
	uint64_t last_checkpoint;
	uint64_t wrong;       /* how many findings there were */
	uint64_t vouched_row; /* the last event before the first finding */
	uint8_t signed_by[ROWS_KEY_BYTES];
	bool any_key;       /* signed_by is set */
	bool known;         /* some key here was named, or leads to one that was */
	char only_name[40]; /* of the only session, where there is one; printable */
};

/** verify_store: reads everything, or what @o->only says.  Findings past a bound are counted only.
 * @why: set on failure to a sentence; free(3).
 * Returns 0 when it could be read to its end (then result->wrong says whether
 * it is intact), or an error of store_open when it is no store at all. */
must_check int verify_store(const struct verify_options *o, struct verify_result *out, char **why);

#endif
