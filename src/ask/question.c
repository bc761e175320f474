#include "ask/question.h"

#include "base/own.h"

#include <stdlib.h>
#include <string.h>

bool question_is_asked(const struct ask_question *q, size_t i)
{
	return q->verdicts[i].answer == ANSWER_ASK;
}

/* Lengths first, so that two strings cannot be cut in another place. */
static void add_string(struct buf *key, const char *s)
{
	buf_fmt(key, "%zu ", s ? strlen(s) + 1 : 0);
	buf_str(key, s ? s : "");
}

char *question_key(const struct ask_question *q)
{
	struct buf key = BUF_INIT;

	for (size_t i = 0; i < q->n; i++) {
		const struct facts *f = &q->facts[i];

		if (!question_is_asked(q, i))
			continue;
		buf_fmt(&key, "%d ", (int)f->class);
		add_string(&key, f->object);
		add_string(&key, f->by.path);
		add_string(&key, f->by.script);
		for (size_t k = 0; f->class == CLASS_EXEC && k < f->target.argc; k++)
			add_string(&key, f->target.argv[k]);
	}
	return buf_take(&key);
}

static int choices_of(const struct ask_question *q, struct rule_choices *choices)
{
	int err = 0;

	for (size_t i = 0; !err && i < q->n; i++)
		if (question_is_asked(q, i))
			err = rule_choices_make(&q->facts[i], &choices[i]);
	return err;
}

static void seen_before(const struct ask_question *q, const struct memo *memo, struct buf *out)
{
	for (size_t i = 0; i < q->n && !out->len_bytes; i++)
		if (question_is_asked(q, i))
			memo_seen(memo, &q->facts[i], out);
}

int question_card(const struct ask_question *q, const struct memo *memo, const char *home,
                  bool answers, struct card *out)
{
	struct rule_choices *choices = calloc(q->n, sizeof *choices);
	auto_buf seen = BUF_INIT;
	struct card_context context = {
		.home = home, .stack = q->stack, .pid = q->pid, .answers = answers};
	int err = choices ? choices_of(q, choices) : -ERR_NOMEM;

	seen_before(q, memo, &seen);
	context.seen = buf_text(&seen);
	if (!err)
		err = card_make(q->facts, q->verdicts, q->n, choices, &context, out);
	for (size_t i = 0; choices && i < q->n; i++)
		rule_choices_free(&choices[i]);
	free(choices);
	return err;
}

void question_channels(const struct ask_question *q, bool *terminal, bool *socket, bool *foldable)
{
	*terminal = *socket = *foldable = true;
	for (size_t i = 0; i < q->n; i++) {
		const char *via = q->verdicts[i].via;

		if (!question_is_asked(q, i))
			continue;
		if (q->verdicts[i].each)
			*foldable = false;
		if (!via)
			continue;
		*terminal = *terminal && strcmp(via, "terminal") == 0;
		*socket = *socket && strcmp(via, "approve") == 0;
	}
}
