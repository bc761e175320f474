/* The life of a session: rows of the kind session, each with a reason code (docs/AUDIT.md,
 * "Session life"). */
#ifndef WARY_AUDIT_LIFE_H
#define WARY_AUDIT_LIFE_H

#include "audit/audit.h"

/* The code, which does not change; the tens say what happened. */
enum life_reason {
	/* created */
	LIFE_COMMAND = 1,  /* COMMAND is about to run under its policy */
	LIFE_LEARNING = 2, /* likewise; it refuses nothing but the floor */
	/* paused, resumed */
	LIFE_QUESTION = 10, /* the tree stands still while a question is on its terminal */
	LIFE_STOPPED = 11,  /* COMMAND was stopped, and wary with it */
	/* ended */
	LIFE_EXITED = 20,
	LIFE_SIGNALLED = 21,
	LIFE_BY_ANSWER = 22, /* by a person, at a question */
	LIFE_GUARDIAN = 23,  /* the guardian was killed */
	LIFE_NOT_RUN = 24,   /* wary failed, and nothing was run */
	/* cleaned up */
	LIFE_NOTHING_LEFT = 30, /* no process outlived COMMAND */
	LIFE_LEFT_ENDED = 31,   /* those that did ended by themselves */
	LIFE_LEFT_KILLED = 32,  /* wary ended what was left */
	/* recovered */
	LIFE_RECOVERED = 40, /* wary was killed: from its journal, by a later start */
};

/** life_name: what happened, by its reason; a resumption has the name of its pause. */
const char *life_name(enum life_reason why);

/** life_event: a row of wary's own process, for audit_note or audit_intent; its texts are
 * the caller's.
 * @detail: or NULL. */
struct audit_event life_event(const char *what, const char *detail);

/** life_note: puts it on record.  Any thread; as audit_note; a failure is one of the
 * record, which audit_failed tells.
 * @detail: printable, or NULL. */
void life_note(struct audit *a, enum life_reason why, const char *detail);

/** life_note_resumed: the end of a pause. */
void life_note_resumed(struct audit *a, enum life_reason why, const char *detail);

#endif
