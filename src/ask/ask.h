/* Questions to a person: where the policy says `ask`.
 *
 * A process of its own, forked before threads and keys exist, owns the
 * terminal during a question.  What the tree can do about it:
 *  - it runs under the same terminal: while a question is shown every process
 *    of the tree is stopped (ask/freeze.h), so that none writes over the box,
 *    reads what is typed, or changes the terminal's settings;
 *  - it can have made the terminal answer for the person (reports, answerback,
 *    typed-ahead keys): input from before the question is thrown away, escape
 *    sequences are swallowed, and a yes counts only with a random code that
 *    the box shows;
 *  - it cannot reach the control socket: a floor path, and a peer that is in
 *    the tree, or is wary's own hand, is turned away.
 * Without a terminal and without anyone at the control socket: ASK_NOBODY, at
 * once.  No timeout: a question waits as long as its caller lives.
 */
#ifndef WARY_ASK_ASK_H
#define WARY_ASK_ASK_H

#include "base/err.h"
#include "policy/facts.h"
#include "policy/verdict.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ask;
struct asker;
struct audit;

enum ask_answer {
	ASK_NO = 0, /* refuse: also whatever went wrong with asking */
	ASK_YES,
	ASK_NOBODY, /* refuse: there was nobody to ask */
	ASK_GONE,   /* the caller left meanwhile: nothing to answer */
	ASK_STOP,   /* refuse, and end the whole tree */
};

enum ask_scope {
	ASK_ONCE,
	ASK_SESSION, /* given now for the rest of the session, or earlier */
	ASK_ALWAYS,  /* a rule was written to the user's answers */
};

struct ask_reply {
	enum ask_scope scope;
	bool remembered;     /* nobody was bothered: an earlier answer holds */
	const char *channel; /* "terminal", "approve", "memory"; constant */
	char rule[512];      /* ASK_ALWAYS: the rule that was written, or "" */
};

struct ask_question {
	/* All parts are put as one question (law 3 of the language); those whose
	 * verdict is not ANSWER_ASK are left out of it. Borrowed. */
	const struct facts *facts;
	const struct verdict *verdicts;
	size_t n;
	pid_t pid;
	/* Becomes true when the caller has gone; looked at after EINTR and
	 * every 200 ms.  Only that withdraws a question: a signal for the
	 * caller must not (the freeze itself makes some), so the watcher has to
	 * leave workers alone that ask. NULL: never. */
	const _Atomic bool *cancelled;
	/* The caller's call stack, one frame a line, printable; NULL: not taken.
	 * Shown by [i]. */
	const char *stack;
};

struct ask_config {
	pid_t guardian_pid; /* all its descendants are the tree */
	const char *session_id;
	const char *socket_path;  /* of the control socket; NULL: none. Where it
	                             cannot be made the session goes on without */
	const char *answers_path; /* the user's answers, NULL: "always" is not offered */
	const char *home;         /* shown as ~; NULL: none */
	struct audit *audit;      /* is told when the tree is paused for a question; NULL: none */
};

/** ask_start: forks the asker. To be called before any thread, key or
 * PR_SET_DUMPABLE exists; inherits nothing it does not need.
 * Returns 0, -ERR_SYS, -ERR_NOMEM. A missing terminal is no failure. */
must_check int ask_start(struct ask **out);

/** ask_begin: the session is about to run: starts the thread that carries
 * questions and opens the control socket. Call it outside the Landlock domain.
 * @config: copied. Returns 0, -ERR_SYS, -ERR_NOMEM. */
must_check int ask_begin(struct ask *a, const struct ask_config *config);

/** ask_frozen: whether the tree is stopped because a question is shown. Also
 * true in processes forked after ask_start: the guardian must not take such a
 * stop for one that a person wanted. */
bool ask_frozen(const struct ask *a);

/** ask_was_stopped: whether a person has ended the tree by an answer at the terminal.
 * Once the workers have ended; waits a moment for what the asker still has to say. From
 * then on no pause is put on record. */
bool ask_was_stopped(struct ask *a);

/** ask_put: puts a question and waits for its answer. Any thread; equal
 * questions of several threads are put once.
 * @reply: always set. */
must_check enum ask_answer ask_put(struct ask *a, const struct ask_question *q,
                                   struct ask_reply *reply);

/** ask_is_open: whether `wary approve` can reach the session. */
bool ask_is_open(const struct ask *a);

/** ask_is_terminal: whether there is a terminal to ask on. */
bool ask_is_terminal(const struct ask *a);

/** ask_asker: what orphan_give_back needs, in the guardian. */
const struct asker *ask_asker(const struct ask *a);

/** ask_pid: the asker's process, a child of wary's that is not of the tree; 0:
 * none. */
pid_t ask_pid(const struct ask *a);

/** ask_stop: answers what is still open with no, ends the asker, restores the
 * terminal, removes the socket, frees @a. NULL is fine. */
void ask_stop(struct ask *a);

#endif
