/* Inside verify: the rows of the five tables that batches are made of. */
#ifndef WARY_AUDIT_VERIFY_ROWS_H
#define WARY_AUDIT_VERIFY_ROWS_H

#include "audit/verify_inside.h"

/* Where a row stands. */
struct verify_row {
	uint64_t id, seq;
	uint64_t first_actor; /* of those that an event can have */
	uint64_t actor;       /* set: that it has */
};

/* One of the tables that batches are made of: id, columns, mark. */
struct verify_table {
	const char *name; /* as people are told of a row */
	const char *table, *columns;
	/* Reads them and hashes the row, as chain_ functions do. */
	void (*leaf)(struct columns *c, struct verify_row *at, struct chain_hash *chain,
	             struct buf *copy);
};
extern const struct verify_table verify_tables[ROWS_TABLES];

void verify_rows_begin(struct verify *v);
/* To the rows of a batch, past those of other sessions; …whatever lies before them. */
void verify_rows_seek(struct verify *v, const struct rows_checkpoint *c);
void verify_rows_skip(struct verify *v, const struct rows_checkpoint *c);
/** verify_rows: the rows of one batch.
 * @chain, @tree: advanced by every row.
 * Returns whether all were there with their marks. */
bool verify_rows(struct verify *v, const struct rows_checkpoint *c, const struct verify_session *s,
                 struct chain_hash *chain, struct merkle *tree);
/** verify_rows_pass: past the rows of a batch that are known to be right.
 * Returns false, and nothing is done, where something lies before them. */
bool verify_rows_pass(struct verify *v, const struct rows_checkpoint *c);
void verify_rows_end(struct verify *v);

#endif
