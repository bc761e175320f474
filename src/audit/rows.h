/* The rows of the store as values: what is hashed, stored and verified.
 * docs/AUDIT.md has the meaning of each field; texts are bytes of any kind,
 * chosen by the child where they are names, and not owned by the row.
 */
#ifndef WARY_AUDIT_ROWS_H
#define WARY_AUDIT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROWS_HASH_BYTES 32
#define ROWS_KEY_BYTES 32
#define ROWS_SIGNATURE_BYTES 64
#define ROWS_UUID_BYTES 16

struct rows_text {
	const char *bytes; /* NULL only where len_bytes is 0 */
	size_t len_bytes;
};

struct rows_source {
	struct rows_text name, path;
	uint8_t sha256[32];
};

#define ROWS_SOURCES_MAX 64

/** rows_source_id: the id of a policy's text: of its hash. */
uint64_t rows_source_id(const uint8_t sha256[32]);
/** rows_session_source_id: @place from 1 to ROWS_SOURCES_MAX. */
static inline uint64_t rows_session_source_id(uint64_t session, uint32_t place)
{
	return session * 256 + place;
}

struct rows_opening {
	uint8_t uuid[ROWS_UUID_BYTES];
	uint64_t id;
	struct rows_text name;
	uint64_t opened_us, mono_us;
	struct rows_text argv, cwd, user, host, kernel, version;
	uint32_t uid;
	uint8_t public_key[ROWS_KEY_BYTES];
	const struct rows_source *sources;
	uint32_t sources_n;
};

struct rows_string {
	uint64_t id, prefix;
	struct rows_text text;
};

struct rows_actor {
	uint64_t id;
	uint32_t pid, tid, ppid, uid;
	uint64_t program;
};

struct rows_act {
	uint64_t id, flags, rule_file, rule_line, rule_text;
	struct rows_text kind, class, syscall, answer, judge;
};

struct rows_detail {
	uint64_t id, object2, cwd, argv, stack;
	int64_t reason;
	bool has_sha256;
	uint8_t sha256[32];
};

struct rows_event {
	uint64_t id, seq, at_us, took_us;
	uint64_t actor, act, object, detail;
	bool known;                       /* whether the result is */
	int64_t result;                   /* 0 where it is not */
	bool has_size;                    /* whether the next two are; 0 where not */
	uint64_t size_before, links_left; /* struct audit_lost */
};

struct rows_closing {
	uint64_t session, at_us;
	int64_t status;
	uint64_t decisions, refused, asked, grants, dropped;
	struct rows_text reason;
};

enum rows_checkpoint_kind {
	ROWS_OPENING = 1,
	ROWS_CLOSING = 2,
	ROWS_RECOVERED = 4,
	/* The session's events, from this batch on, have only actors from this batch on. */
	ROWS_ANEW = 8,
};

/* Tables with ids of their own; the order is that of the chain. */
enum rows_table { ROWS_STRINGS, ROWS_ACTORS, ROWS_ACTS, ROWS_DETAILS, ROWS_EVENTS, ROWS_TABLES };

struct rows_range {
	uint64_t first, count;
};

struct rows_checkpoint {
	uint64_t id, session;
	uint8_t uuid[ROWS_UUID_BYTES]; /* of the session: signed, not stored */
	uint32_t kind;                 /* enum rows_checkpoint_kind */
	uint64_t at_us;
	int64_t skew_us;
	struct rows_range range[ROWS_TABLES];
	uint64_t first_seq;
	uint64_t journal;
	uint32_t kinds, classes, answers;
	uint8_t prev[ROWS_HASH_BYTES];
	uint8_t chain[ROWS_HASH_BYTES];
	uint8_t root[ROWS_HASH_BYTES];
	uint64_t signer;
	uint8_t public_key[ROWS_KEY_BYTES]; /* of the signer: signed, not stored */
	uint8_t signature[ROWS_SIGNATURE_BYTES];
};

/* What is left of a session that was removed. */
struct rows_tombstone {
	uint64_t id, session;
	uint8_t uuid[ROWS_UUID_BYTES];
	struct rows_text name, reason;
	uint64_t at_us; /* wall time */
	uint64_t checkpoints, events;
	struct rows_text bridges; /* audit/bridge.h */
	uint64_t signer;          /* a machine's */
	uint8_t public_key[ROWS_KEY_BYTES];
	uint8_t signature[ROWS_SIGNATURE_BYTES];
};

enum signer_role { SIGNER_MACHINE = 1, SIGNER_SESSION, SIGNER_RECOVERY };

/** signer_role_name: "machine", "session", "recovery"; NULL for no role. */
const char *signer_role_name(unsigned role);
/** signer_role_find: the role of a word, or 0. */
unsigned signer_role_find(const char *word);

struct rows_signer {
	uint64_t id;
	unsigned role; /* enum signer_role */
	uint8_t public_key[ROWS_KEY_BYTES];
	uint64_t certified_by;
	uint8_t certificate[ROWS_SIGNATURE_BYTES];
	uint64_t at_us;
};

#endif
