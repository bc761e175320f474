#include "cmd/installed.h"

#include "audit/record.h"
#include "base/own.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64

static void one_free(struct installed *i)
{
	for (char **w = i->words; w && *w; w++)
		free(*w);
	free(i->words);
	free(i->manager);
	free(i->name);
	free(i->version);
	free(i->folder);
	free(i->sha256);
}

void installed_free(struct installed_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		one_free(&l->items[i]);
	free(l->items);
	*l = (struct installed_list){0};
}

static int keep(char **out, const struct rows_text *t)
{
	if (!t->len_bytes)
		return 0;
	*out = strndup(t->bytes, t->len_bytes);
	return *out ? 0 : -ERR_NOMEM;
}

static int keep_word(void *ctx, const char *bytes, size_t len_bytes)
{
	struct installed *i = ctx;
	size_t n = 0;

	while (i->words[n])
		n++;
	if (n == WORDS_MAX)
		return -ERR_FORMAT;
	i->words[n] = strndup(bytes, len_bytes);
	return i->words[n] ? 0 : -ERR_NOMEM;
}

static int keep_words(struct installed *i, const struct rows_text *argv)
{
	i->words = calloc(WORDS_MAX + 1, sizeof *i->words);
	if (!i->words)
		return -ERR_NOMEM;
	return record_unquote(argv->bytes, argv->len_bytes, keep_word, i);
}

static int take(struct installed *i, const struct read_event *e)
{
	const char *colon =
		e->object.bytes ? memchr(e->object.bytes, ':', e->object.len_bytes) : NULL;
	size_t at = colon ? (size_t)(colon - e->object.bytes) : 0;
	int err = keep_words(i, &e->argv);

	i->row = e->id;
	i->reason = e->reason;
	i->result = e->result;
	i->manager = strndup(colon ? e->object.bytes : "", at);
	i->name = colon ? strndup(colon + 1, e->object.len_bytes - at - 1) : strdup("");
	if (!err && (!i->manager || !i->name))
		err = -ERR_NOMEM;
	if (!err)
		err = keep(&i->version, &e->object2);
	if (!err)
		err = keep(&i->folder, &e->cwd);
	return err ? err : keep(&i->sha256, &e->sha256);
}

static int add(struct installed_list *l, const struct read_event *e)
{
	struct installed one = {0};
	int err = take(&one, e);

	if (!err && l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 64;
		struct installed *items = reallocarray(l->items, cap, sizeof *items);

		err = items ? 0 : -ERR_NOMEM;
		l->items = items ? items : l->items;
		l->cap = items ? cap : l->cap;
	}
	if (err)
		one_free(&one);
	else
		l->items[l->n++] = one;
	return err;
}

static int by_folder(const void *a, const void *b)
{
	const struct installed *x = a;
	const struct installed *y = b;
	int order = strcmp(x->folder ? x->folder : "", y->folder ? y->folder : "");

	return order ? order : x->row < y->row ? -1 : 1;
}

static int by_row(const void *a, const void *b)
{
	const struct installed *x = a;
	const struct installed *y = b;

	return x->row < y->row ? -1 : 1;
}

/* Of each folder the last row. */
static void keep_last(struct installed_list *l)
{
	size_t n = 0;

	if (!l->n)
		return;
	qsort(l->items, l->n, sizeof *l->items, by_folder);
	for (size_t i = 0; i < l->n; i++) {
		const char *folder = l->items[i].folder;

		if (i + 1 < l->n && folder && l->items[i + 1].folder &&
		    strcmp(folder, l->items[i + 1].folder) == 0)
			one_free(&l->items[i]);
		else
			l->items[n++] = l->items[i];
	}
	l->n = n;
	qsort(l->items, l->n, sizeof *l->items, by_row);
}

int installed_load(struct store *s, uint64_t session, struct installed_list *out)
{
	const struct read_filter f = {.session = session, .kinds = 1u << AUDIT_PACKAGE};
	struct reader *r = NULL;
	bool there = true;
	int err = read_open(s, &f, &r);

	*out = (struct installed_list){0};
	while (!err) {
		struct read_event e;

		err = read_next(r, &e, &there);
		if (err || !there)
			break;
		if (e.reason > 1)
			err = add(out, &e);
	}
	read_close(r);
	if (!err)
		keep_last(out);
	return err;
}

const char *installed_word(const struct installed *i, const char *key)
{
	size_t len = strlen(key);

	for (char **w = i->words; w && *w; w++)
		if (strncmp(*w, key, len) == 0 && (*w)[len] == '=')
			return *w + len + 1;
	return NULL;
}

const char *installed_state(const struct installed *i)
{
	return i->words && i->words[0] ? i->words[0] : "?";
}
