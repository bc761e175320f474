#include "ask/notice.h"

#include "ask/rule.h"
#include "ask/wording.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Refusals remembered for folding. When all are taken the rest is counted
 * without its name, so that a tree cannot make this grow. */
#define FOLD_MAX 256

struct fold {
	char *key;
	char *headline; /* to name what was folded, at the end */
	unsigned long long more;
};

struct notice {
	pthread_mutex_t lock;
	char *home;
	bool socket;
	struct fold folds[FOLD_MAX];
	size_t folds_n;
	unsigned long long unnamed; /* refusals beyond the table */
	const struct fold *last;    /* told last: nothing came after it */
};

int notice_new(struct notice **out, const char *home, bool socket)
{
	struct notice *n = calloc(1, sizeof *n);

	if (!n)
		return -ERR_NOMEM;
	n->home = home ? strdup(home) : NULL;
	n->socket = socket;
	if ((home && !n->home) || pthread_mutex_init(&n->lock, NULL) != 0) {
		free(n->home);
		free(n);
		return -ERR_NOMEM;
	}
	*out = n;
	return 0;
}

void notice_set_socket(struct notice *n, bool socket)
{
	pthread_mutex_lock(&n->lock); /* workers refuse already */
	n->socket = socket;
	pthread_mutex_unlock(&n->lock);
}

void notice_free(struct notice *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->folds_n; i++) {
		free(n->folds[i].key);
		free(n->folds[i].headline);
	}
	pthread_mutex_destroy(&n->lock);
	free(n->home);
	free(n);
}

/* What makes two refusals the same: program, class, object, rule. */
static char *key_of(const struct facts *f, const struct verdict *v, enum notice_why why)
{
	struct buf key = BUF_INIT;

	buf_fmt(&key, "%d\n%d\n%s\n%u\n%s\n", (int)why, (int)f->class, v->file ? v->file : "",
	        v->line, f->by.path ? f->by.path : "");
	buf_str(&key, f->object);
	return buf_take(&key);
}

static struct fold *fold_find(struct notice *n, const char *key)
{
	for (size_t i = 0; i < n->folds_n; i++)
		if (strcmp(n->folds[i].key, key) == 0)
			return &n->folds[i];
	return NULL;
}

static const char *const endings[] = {
	[NOTICE_RULE] = "",
	[NOTICE_NOBODY] = ": nobody to ask",
	[NOTICE_HUMAN] = ": you said no",
	[NOTICE_BROKEN] = ": refused, since wary could not judge or record it",
};

static void headline(struct buf *out, const struct notice *n, const struct facts *f, pid_t pid,
                     enum notice_why why)
{
	wording_who(out, f, pid);
	buf_str(out, " may not ");
	wording_what(out, f, n->home);
	buf_str(out, endings[why]);
}

/* How to get it allowed: only where the policy asks and nobody was there.  What
 * a deny rule refuses was written by whoever is refused: no advice (law 28). */
static void advice(struct buf *out, const struct notice *n, const struct facts *f)
{
	auto_buf rule = BUF_INIT;
	const char *text;

	buf_fmt(&rule, "%s ", policy_class_name(f->class));
	rule_object(&rule, f);
	text = buf_text(&rule);
	if (!text || strlen(text) > WORDING_OBJECT_MAX)
		return;
	buf_str(out, "\n      ");
	if (n->socket)
		buf_str(out, "to be asked: run \"wary approve\" in another terminal; ");
	buf_str(out, "to allow it: wary policy allow ");
	buf_chr(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_str(out, "'\\''");
		else
			buf_chr(out, *text);
	}
	buf_chr(out, '\'');
}

static void tell(const struct notice *n, const struct facts *f, const struct verdict *v,
                 const char *head, enum notice_why why, const char *detail)
{
	auto_buf text = BUF_INIT;

	buf_str(&text, head);
	buf_str(&text, "\n      ");
	wording_rule(&text, v);
	if (v->because) {
		buf_str(&text, "\n      because ");
		text_printable(&text, v->because, strlen(v->because), WORDING_OBJECT_MAX);
	}
	if (detail)
		buf_fmt(&text, "\n      %s", detail);
	if (why == NOTICE_NOBODY)
		advice(&text, n, f);
	if (buf_text(&text))
		log_notice("%s", buf_text(&text));
}

static void tell_more(struct fold *fold, bool follows)
{
	auto_buf count = BUF_INIT;

	if (!fold->more)
		return;
	text_thousands(&count, fold->more);
	if (follows)
		log_notice("… and %s more like it", buf_text(&count));
	else
		log_notice("%s: … and %s more like it", fold->headline, buf_text(&count));
	fold->more = 0;
}

/* Remembers a refusal that is told now. Without room or memory it is told
 * without being remembered: at worst it is told again. */
static struct fold *fold_add(struct notice *n, char *key, char *head)
{
	struct fold *fold = NULL;

	if (key && head && n->folds_n < FOLD_MAX) {
		fold = &n->folds[n->folds_n++];
		*fold = (struct fold){.key = key, .headline = head};
		return fold;
	}
	free(key);
	free(head);
	return NULL;
}

void notice_refused(struct notice *n, const struct facts *f, const struct verdict *v, pid_t pid,
                    enum notice_why why, const char *detail)
{
	struct buf head = BUF_INIT;
	struct fold *fold;
	char *key;

	if (v->quiet || log_is_quiet())
		return;
	key = key_of(f, v, why);
	pthread_mutex_lock(&n->lock);
	fold = key ? fold_find(n, key) : NULL;
	if (fold || n->folds_n == FOLD_MAX) {
		if (fold)
			fold->more++;
		else
			n->unnamed++;
		free(key);
		pthread_mutex_unlock(&n->lock);
		return;
	}
	if (n->last)
		tell_more(&n->folds[n->last - n->folds], true);
	headline(&head, n, f, pid, why);
	if (buf_text(&head))
		tell(n, f, v, buf_text(&head), why, detail);
	n->last = fold_add(n, key, buf_take(&head));
	pthread_mutex_unlock(&n->lock);
}

static void number(struct buf *out, unsigned long long n, const char *one, const char *many)
{
	text_thousands(out, n);
	buf_fmt(out, " %s", n == 1 ? one : many);
}

void notice_summary(struct notice *n, const struct audit_totals *totals, const char *session_id)
{
	auto_buf line = BUF_INIT;

	pthread_mutex_lock(&n->lock);
	for (size_t i = 0; i < n->folds_n; i++)
		tell_more(&n->folds[i], &n->folds[i] == n->last);
	if (n->unnamed) {
		text_thousands(&line, n->unnamed);
		log_notice("… and %s more refusals of other kinds", buf_text(&line));
		buf_reset(&line);
	}
	pthread_mutex_unlock(&n->lock);
	if (!totals->decisions && !totals->refused && !totals->asked)
		return;
	number(&line, totals->decisions, "decision", "decisions");
	buf_str(&line, ", ");
	text_thousands(&line, totals->refused);
	buf_str(&line, " refused, ");
	text_thousands(&line, totals->asked);
	buf_str(&line, " asked · wary audit show ");
	buf_str(&line, session_id);
	if (buf_text(&line))
		log_notice("%s", buf_text(&line));
}
