/* The record of one running session: intent before effect, outcome before
 * answer (law 7).  Thread-safe; audit_intent and audit_outcome do not block
 * on the disk or on SQLite: they write the memory-mapped journal.
 */
#ifndef WARY_AUDIT_AUDIT_H
#define WARY_AUDIT_AUDIT_H

#include "base/err.h"
#include "policy/facts.h"
#include "policy/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct audit;
/* Proof that an intent is on record: only audit_intent makes one, every
 * effect, answer and secret takes one. */
struct receipt;

enum audit_kind {
	AUDIT_DECISION, /* one decided call, or part of one */
	AUDIT_PROCESS,  /* start or end of a process */
	AUDIT_PACKAGE,  /* a package asked for or installed */
	AUDIT_GRANT,    /* a secret handed to a program */
	AUDIT_QUESTION, /* a question and who answered what */
	AUDIT_LIMIT,    /* a limit met; something unavailable on this machine */
	AUDIT_SESSION,  /* life of the session (audit/life.h); what wary audit did */
};

/* One event; strings are copied; NULL means none. */
struct audit_event {
	enum audit_kind kind;
	enum policy_class class;
	enum policy_answer answer;
	bool by_human;         /* the answer is a human's (or their stored one) */
	const char *rule_file; /* as in struct verdict */
	unsigned rule_line;
	const char *rule_text;
	pid_t pid, tid, ppid;
	uid_t uid;
	const char *program;     /* canonical path of who acts */
	const char *syscall;     /* "openat" */
	const char *object;      /* canonical object */
	const char *object2;     /* second name, secret's recipient, detail */
	const char *cwd;         /* exec */
	const char *const *argv; /* exec: full argv */
	size_t argc;
	uint64_t flags;        /* open flags, signal number…: per syscall */
	const uint8_t *sha256; /* image or package, 32 bytes, or NULL */
	int reason;            /* AUDIT_SESSION, AUDIT_LIMIT: code */
	const char *stack;     /* AUDIT_QUESTION: the caller's call stack, or NULL */
};

/* What an effect took away: of the very object that was judged (docs/AUDIT.md, "Bytes
 * that are known"). */
struct audit_lost {
	bool known;
	uint64_t size_before; /* bytes that it had */
	uint64_t links_left;  /* names that it has after the effect */
};

struct audit_source {
	const char *name, *path, *text;
	size_t len_bytes;
};

struct audit_session {
	const char *const *argv;
	size_t argc;
	const char *cwd;
	const char *user, *host, *kernel, *version;
	uid_t uid;
	const struct audit_source *sources; /* the policy in force */
	size_t sources_n;
};

/** audit_open_begin: starts opening the store (keys, SQLite, recovery of journals that
 * earlier sessions left) in threads of its own, while the command is made ready.
 * @db: path of the store; its folder is made with mode 0700.
 * Returns 0, -ERR_NOMEM. */
must_check int audit_open_begin(const char *db, struct audit **out);

/** audit_set_sync: before the session is told: asks, denials, grants and installs
 * wait for the disk (--audit-sync). */
void audit_set_sync(struct audit *a);

/** audit_set_redactor: before the session is told: objects, second objects and arguments are
 * shown to @redact before they are journalled: the value of a secret is never on record.
 * @redact: appends the text to be recorded to @out and returns true where it
 *   differs, else returns false. */
struct buf;
void audit_set_redactor(struct audit *a,
                        bool (*redact)(void *ctx, const char *text, size_t len_bytes,
                                       struct buf *out),
                        void *ctx);

/** audit_open_session: what session is to be on record once the store is open, which
 * audit_open_finish waits for: @s must stay until then.  NULL: none.  Counts once. */
void audit_open_session(struct audit *a, const struct audit_session *s);

/** audit_open_finish: waits for the session in the store; @s: NULL if it was told.
 * On failure a message is in *why (owned by @a, which must still be closed by
 * audit_abandon).  Returns 0 or -ERR_VERSION, -ERR_DAMAGED, -ERR_PERM, -ERR_FULL, -ERR_SYS. */
must_check int audit_open_finish(struct audit *a, const struct audit_session *s, const char **why);

/** audit_session_id: the session's short id, "a3f9" or longer. */
const char *audit_session_id(const struct audit *a);

/** audit_intent: puts an event on record before its effect.
 * Returns a receipt, to be given to audit_outcome exactly once, or NULL where
 * it could not be recorded: then nothing may be done or answered but a
 * refusal, and the session must end (audit_failed). */
struct receipt *audit_intent(struct audit *a, const struct audit_event *e);

/** audit_outcome: records what became of it, before the answer is sent.
 * @result: 0 or positive: done; negative: -errno.
 * Returns 0 or -ERR_RECORD (then the caller gets EIO and the session ends). */
must_check int audit_outcome(struct audit *a, struct receipt *r, long result);

/** audit_outcome_lost: likewise, where something was taken away.
 * @lost: of what was done; what is not known is not recorded. */
must_check int audit_outcome_lost(struct audit *a, struct receipt *r, long result,
                                  const struct audit_lost *lost);

/** audit_note: intent and outcome in one, for what has no effect of its own
 * (refusals, process rows, questions). */
must_check int audit_note(struct audit *a, const struct audit_event *e, long result);

/** audit_failed: whether the record can no longer be kept: a full disk, a
 * failing database.  The supervisor then stops the tree. */
bool audit_failed(const struct audit *a);
/* A descriptor that polls readable when audit_failed becomes true. */
int audit_failed_fd(const struct audit *a);

struct audit_totals {
	uint64_t decisions, refused, asked, grants, dropped;
};
void audit_totals(const struct audit *a, struct audit_totals *out);

/** audit_abandon: instead of audit_close where no session was opened. */
void audit_abandon(struct audit *a);

/** audit_close: drains, seals and closes; frees @a.
 * @status: wait(2) status of the command; @reason: short word ("exited",
 * "signalled", "stopped", "failed"). Returns 0 or what failed. */
must_check int audit_close(struct audit *a, int status, const char *reason);

#endif
