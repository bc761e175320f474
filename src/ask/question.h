/* What a question is to those who carry it: its key, its card, its channels. */
#ifndef WARY_ASK_QUESTION_H
#define WARY_ASK_QUESTION_H

#include "ask/ask.h"
#include "ask/card.h"
#include "ask/memo.h"
#include "base/err.h"

/** question_is_asked: whether part @i is one that the policy asks about. */
bool question_is_asked(const struct ask_question *q, size_t i);

/** question_key: equal for questions that one answer serves: same classes,
 * objects and program, for exec also the same argv. Memory (free(3)) or NULL. */
char *question_key(const struct ask_question *q);

/** question_card: the card to show. @home: shown as ~, or NULL.  @answers:
 * whether lasting answers can be written. Returns 0 or as card_make. */
must_check int question_card(const struct ask_question *q, const struct memo *memo,
                             const char *home, bool answers, struct card *out);

/** question_channels: which channels may answer (`via NAME`), and whether equal
 * questions may share an answer (not with `each`). */
void question_channels(const struct ask_question *q, bool *terminal, bool *socket, bool *foldable);

#endif
