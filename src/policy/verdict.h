/* What the policy says to one question. */
#ifndef WARY_POLICY_VERDICT_H
#define WARY_POLICY_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/* In order of strictness: of several the greatest stands (law 3). */
enum policy_answer { ANSWER_ALLOW, ANSWER_ASK, ANSWER_DENY, ANSWER_KILL };

/** policy_answer_name: "allow", "ask", "deny", "kill". */
const char *policy_answer_name(enum policy_answer answer);

struct verdict {
	enum policy_answer answer;
	/* The rule that decided.  All strings live as long as the policy. */
	const char *file;    /* "default.wary"; "floor" for the built-in floor;
	                       "default" where no rule matched */
	unsigned line;       /* 0: none */
	const char *text;    /* the rule as written, or the floor's reason */
	const char *because; /* or NULL */
	uint32_t rule_id;    /* stable within one policy; 0: floor or default */
	int as_errno;        /* errno for the caller; 0: EACCES */
	bool is_floor;
	bool is_default; /* no rule matched */
	bool each;       /* ask every time, offer nothing lasting */
	bool no_answers; /* a machine's or tenant's ask: stored answers do not
	                       satisfy it, so offer no "always" */
	bool relay;      /* allow, but through the relay only */
	uint32_t for_s;  /* a yes is kept for so long; 0: not asked for */
	const char *via; /* the channel that must answer, or NULL */
	bool stack;      /* take the call stack before asking */
	bool quiet;      /* no line on stderr (read and stat only) */
};

#endif
