/* A card on a terminal, until a person has answered it. */
#ifndef WARY_ASK_DIALOG_H
#define WARY_ASK_DIALOG_H

#include "ask/card.h"
#include "ask/term.h"

enum dialog_answer {
	DIALOG_NO = 0,
	DIALOG_YES,
	DIALOG_STOP,      /* end the whole tree */
	DIALOG_WITHDRAWN, /* the other descriptor spoke: see there */
	DIALOG_LOST,      /* the terminal is gone */
	DIALOG_FROZEN,    /* no answer: the asker's word that the tree stands still */
};

enum dialog_scope { DIALOG_ONCE, DIALOG_SESSION, DIALOG_ALWAYS };

struct dialog_result {
	enum dialog_answer answer;
	enum dialog_scope scope;
	unsigned choice; /* DIALOG_ALWAYS and a yes: which of card.allow */
};

/** dialog_run: shows the card and waits for an answer.
 * A yes of any scope has to be confirmed by a random code that the box shows:
 * no terminal report and no key typed ahead can know it. */
void dialog_run(struct term *t, const struct card *c, struct dialog_result *out);

#endif
