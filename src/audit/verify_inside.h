/* Inside verify: verify*.c. */
#ifndef WARY_AUDIT_VERIFY_INSIDE_H
#define WARY_AUDIT_VERIFY_INSIDE_H

#include "audit/chain.h"
#include "audit/columns.h"
#include "audit/merkle.h"
#include "audit/store.h"
#include "audit/verify.h"

/* A key, with what makes it trusted. */
struct verify_signer {
	struct rows_signer row;
	bool wrong;       /* its row could not be read */
	bool trusted;     /* machine keys: settled before the walk; others: once their
	                 certificate was seen to fit their session */
	uint64_t session; /* which that was */
	uint64_t next;    /* a machine's key: the first that it certified to come after it */
	bool back;        /* a row of a former key, by the one after it, which next is */
	bool twice;       /* comes after a key that another comes after already */
	bool late;        /* certified by a key that had been replaced */
};

struct verify_session {
	uint64_t id;
	char name[40];
	uint8_t uuid[ROWS_UUID_BYTES];
	uint64_t signer, opened_us;
	bool opened, closed;
	bool wrong;       /* its opening record: then its signatures fail too */
	bool chain_known; /* else a checkpoint before was lost */
	struct chain_hash chain;
	uint64_t next_seq;
	uint64_t first_actor; /* of those that its next events can have (ROWS_ANEW) */
};

struct verify_anchor {
	struct anchor anchor;
	bool is_head;     /* the machine's own */
	uint64_t seen_us; /* then: when it was written */
	bool seen;
};

/* A table being read in order of its ids. */
struct verify_cursor {
	sqlite3_stmt *stmt;
	bool there;
	uint64_t id; /* of the row at hand */
};

/* For a proof: what the walk over one batch sees. */
struct verify_tap {
	unsigned table; /* the row that is wanted; ROWS_TABLES: the opening record */
	uint64_t id;
	struct buf *copy; /* gets the bytes whose hash is its leaf */
	uint64_t place;   /* where that is among the leaves */
	struct chain_hash *leaves;
	size_t leaves_n;
};

struct verify {
	const struct verify_options *options;
	struct verify_result *result;
	struct store *store;
	int err;       /* the first failure to read at all */
	size_t keys_n; /* of options->public_keys, those that count */
	struct verify_signer *signers;
	size_t signers_n;
	struct verify_session *sessions;
	size_t sessions_n;
	struct verify_anchor *anchors;
	size_t anchors_n;
	struct verify_cursor cursors[ROWS_TABLES];
	uint64_t next_id[ROWS_TABLES];
	struct chain_hash prev; /* of the last checkpoint */
	uint64_t last_checkpoint;
	bool doubt;             /* the last checkpoint was lost or wrong: what it spoke of is
	               not taken for inserted */
	uint64_t good_row;      /* last event of the last batch that was right */
	struct verify_tap *tap; /* or NULL */
	struct verify_tombs *tombs;
};

void verify_wrong(struct verify *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void verify_note(struct verify *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A statement, or NULL with v->err set. */
sqlite3_stmt *verify_prepare(struct verify *v, const char *sql);
/** verify_step: whether there is a row; v->err or a finding when it cannot be
 * read. @what: names the table. */
bool verify_step(struct verify *v, sqlite3_stmt *stmt, const char *what);
/** verify_stepped: the same of what sqlite3_step returned. */
bool verify_stepped(struct verify *v, int rc, const char *what);

/** verify_grow: room for one more in an array of @n that doubles, or v->err. */
void *verify_grow(struct verify *v, void *array, size_t n, size_t size);
/** verify_copy: where the bytes of a row are to go, or NULL.
 * @table: enum rows_table, or ROWS_TABLES for the session's opening record. */
struct buf *verify_copy(struct verify *v, unsigned table, uint64_t id);
void verify_leaf(struct verify *v, struct merkle *tree, const struct chain_hash *leaf);

/** verify_batch_rows: a batch's rows, and what the session's beginning and end add.
 * @is_signed: whether the checkpoint's signature fits.
 * @chain: the session's last hash, advanced by every row.
 * Returns whether all were there with their marks. */
bool verify_batch_rows(struct verify *v, const struct rows_checkpoint *c, struct verify_session *s,
                       bool is_signed, struct chain_hash *chain, struct merkle *tree);
/** verify_batch_hashes: whether they give what the signature is over. */
bool verify_batch_hashes(struct verify *v, const struct rows_checkpoint *c,
                         const struct verify_session *s, const struct chain_hash *chain,
                         const struct merkle *tree);

struct verify_session *verify_session_of(struct verify *v, uint64_t id);
struct verify_signer *verify_signer_of(struct verify *v, uint64_t id);
/** verify_load: tables, keys, sessions. Returns whether to walk: not where a table is not
 * as wary made it, which was said, nor with v->err set. */
bool verify_load(struct verify *v);
bool verify_wants(const struct verify *v, uint64_t session);
/** verify_signer_fits: whether a checkpoint's signer may sign this session. */
bool verify_signer_fits(struct verify *v, uint64_t signer, const struct verify_session *s);
/** verify_opening: the leaf of its opening record. Returns whether it could be made. */
bool verify_opening(struct verify *v, const struct verify_session *s, struct chain_hash *chain);
bool verify_closing(struct verify *v, const struct verify_session *s, struct chain_hash *chain,
                    bool *mark_fits);
/** verify_tables_ours: what only has a table's name may have rows without end. */
bool verify_tables_ours(struct verify *v);
/* After the walk: what belongs to nothing, policy texts, the schema; of some sessions. */
void verify_rest(struct verify *v);
void verify_rest_only(struct verify *v);

/* Sessions that were removed: before the walk; over the gaps before a checkpoint; after. */
void verify_tombs_load(struct verify *v);
void verify_tombs_cross(struct verify *v, uint64_t checkpoint);
void verify_tombs_end(struct verify *v);
void verify_tombs_free(struct verify *v);
void verify_anchors_begin(struct verify *v);
/** verify_anchors_at: a checkpoint is met in the walk. */
void verify_anchors_at(struct verify *v, uint64_t checkpoint, const struct chain_hash *hash);
/** verify_ends: after the walk: sessions without an end, anchors not met. */
void verify_ends(struct verify *v);

#endif
