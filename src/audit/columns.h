/* Columns of a row, read strictly: a value of another type or size than wary
 * writes is a sign of change, not something to convert. */
#ifndef WARY_AUDIT_COLUMNS_H
#define WARY_AUDIT_COLUMNS_H

#include "audit/rows.h"

#include <sqlite3.h>
#include <stdbool.h>

/* One row being read from left to right; `wrong` once any column was. */
struct columns {
	sqlite3_stmt *stmt;
	sqlite3_value **values; /* of an SQL function, instead of a statement */
	int at;
	bool wrong;
};

static inline struct columns columns_of(sqlite3_stmt *stmt)
{
	return (struct columns){.stmt = stmt};
}

int64_t columns_int(struct columns *c);
/** columns_id: 0 or more. */
uint64_t columns_id(struct columns *c);
uint32_t columns_u32(struct columns *c);
/** columns_int_or_null: *known is whether it is not NULL. */
int64_t columns_int_or_null(struct columns *c, bool *known);
/** columns_blob: exactly @len_bytes. */
void columns_blob(struct columns *c, void *out, size_t len_bytes);
/** columns_blob_or_null: returns whether it is not NULL. */
bool columns_blob_or_null(struct columns *c, void *out, size_t len_bytes);
/** columns_text: TEXT that is valid UTF-8, or BLOB that is not; valid until
 * the statement steps. */
struct rows_text columns_text(struct columns *c);

/* As COLUMNS_CHECKPOINT selects them. */
void columns_checkpoint(struct columns *c, struct rows_checkpoint *out);
#define COLUMNS_CHECKPOINT                                                                 \
	"c.id, c.session, s.uuid, c.kind, c.at_us, c.skew_us, c.first_string, c.strings,"  \
	" c.first_actor, c.actors, c.first_act, c.acts, c.first_detail, c.details,"        \
	" c.first_event, c.events, c.first_seq, c.journal, c.kinds, c.classes, c.answers," \
	" c.prev, c.chain, c.root, c.signer, k.public, c.signature"
#define COLUMNS_CHECKPOINT_FROM                                      \
	" FROM checkpoint c LEFT JOIN session s ON s.id = c.session" \
	" LEFT JOIN signer k ON k.id = c.signer"

/** columns_is_text: whether a text is stored as TEXT (else BLOB). */
bool columns_is_text(const struct rows_text *t);

#endif
