/* A row of the record with what every format wants to know about it. */
#ifndef WARY_CMD_EXPORT_ROW_H
#define WARY_CMD_EXPORT_ROW_H

#include "audit/audit.h"
#include "audit/read.h"
#include "base/buf.h"
#include "base/err.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

/* Of the session that a row is of. Texts as they are on record. */
struct export_origin {
	char session[2 * ROWS_UUID_BYTES + 1];
	char uuid[2 * ROWS_UUID_BYTES + 1]; /* hexadecimal */
	char *user, *host, *kernel, *version;
	uint32_t uid;
};
void export_origin_free(struct export_origin *o);

/** export_origin_find: @session: its id in the store.
 * Returns 0, -ERR_NOTFOUND or a store_ error. */
must_check int export_origin_find(struct export_origin *o, struct store *s, uint64_t session);

enum export_outcome { EXPORT_UNKNOWN, EXPORT_DONE, EXPORT_FAILED };

/* What a row of the kind process tells; a package that was removed has ended. */
enum export_process { EXPORT_STARTED, EXPORT_FORKED, EXPORT_ENDED };

/* Where a flow leads; what is not there is empty. */
struct export_place {
	char ip[INET6_ADDRSTRLEN];
	struct rows_text name; /* of a host, a socket, or what else it is */
	bool is_host;          /* the name is one that DNS could have */
	int port;              /* -1: none */
};

/* Words that this wary does not know are -1: a newer one wrote them. */
struct export_row {
	const struct read_event *e;
	const struct export_origin *origin;
	int kind, class, answer; /* enum audit_kind, policy_class, policy_answer */
	bool refused;            /* every answer but allow */
	enum export_outcome outcome;
	enum export_process process;
	struct export_place place; /* of connect, bind and resolve */
	size_t cut_chars;          /* texts are cut after so many; 0: never */
};

/** export_row_make: @e: borrowed, as read_next gave it.
 * @origin: what is known of the session of the row before; looked up in @s
 *   where this is another; borrowed.
 * Returns 0 or a store_ error. */
must_check int export_row_make(struct export_row *out, struct store *s,
                               struct export_origin *origin, const struct read_event *e);

/** export_row_text: appends a text of the row as text_printable has it, cut
 * where the row says so. */
void export_row_text(struct buf *out, const struct export_row *x, const struct rows_text *t);

/** export_row_action: appends what was done, in a word: the class of a decision,
 * else the kind; of a process what it did. */
void export_row_action(struct buf *out, const struct export_row *x);

/** export_row_message: appends one line for people, printable. */
void export_row_message(struct buf *out, const struct export_row *x);

/** export_row_base: the last part of a path, or all of what is none. */
struct rows_text export_row_base(const struct rows_text *path);

/** export_row_status: of a process that ended: its exit status, 128 and more
 * for a signal; -1: the kernel told none. */
int export_row_status(const struct export_row *x);

/** export_row_severity: 0 information, 1 a refusal, 2 the tree was ended. */
unsigned export_row_severity(const struct export_row *x);

#endif
