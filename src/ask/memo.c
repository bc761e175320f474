#include "ask/memo.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000ull

static const char *program_of(const struct facts *f)
{
	return f->by.script ? f->by.script : f->by.path;
}

static void entry_free(struct memo_entry *e)
{
	free(e->what.object);
	free(e->program);
}

void memo_free(struct memo *m)
{
	for (size_t i = 0; i < m->n; i++)
		entry_free(&m->each[i]);
	for (size_t i = 0; i < MEMO_REFUSED_MAX; i++)
		free(m->refused[i].key);
	free(m->each);
	*m = (struct memo){0};
}

static bool covers(const struct memo_entry *e, const struct facts *f, uint64_t now_ns)
{
	const char *now = program_of(f);
	size_t len = strlen(e->what.object);

	if (e->class != f->class || (e->until_ns && now_ns >= e->until_ns))
		return false;
	if (e->program && (!now || strcmp(now, e->program) != 0))
		return false;
	if (strcmp(f->object, e->what.object) == 0)
		return true;
	return e->what.below && strncmp(f->object, e->what.object, len) == 0 &&
	       f->object[len] == '/';
}

int memo_find(const struct memo *m, const struct facts *f, uint64_t now_ns)
{
	for (size_t i = m->n; i--;)
		if (covers(&m->each[i], f, now_ns))
			return m->each[i].yes ? 1 : 0;
	return -1;
}

void memo_add(struct memo *m, const struct facts *f, const struct rule_choice *choice, bool yes,
              uint32_t for_s, uint64_t now_ns)
{
	const char *program = program_of(f);
	struct memo_entry e = {.class = f->class, .yes = yes, .what.below = choice->below};
	struct memo_entry *each;

	if (m->n == MEMO_MAX)
		return;
	e.until_ns = for_s ? now_ns + for_s * NS_PER_S : 0;
	e.what.object = strdup(choice->object);
	e.program = choice->by && program ? strdup(program) : NULL;
	each = reallocarray(m->each, m->n + 1, sizeof *each);
	if (each)
		m->each = each;
	if (!each || !e.what.object || (choice->by && program && !e.program)) {
		entry_free(&e);
		return;
	}
	m->each[m->n++] = e;
}

void memo_refuse(struct memo *m, pid_t pid, const char *key, uint64_t now_ns)
{
	struct memo_refused *r = &m->refused[m->refused_at];

	m->refused_at = (m->refused_at + 1) % MEMO_REFUSED_MAX;
	free(r->key);
	*r = (struct memo_refused){pid, strdup(key), now_ns + MEMO_REFUSED_S * NS_PER_S};
}

bool memo_is_refused(const struct memo *m, pid_t pid, const char *key, uint64_t now_ns)
{
	for (size_t i = 0; i < MEMO_REFUSED_MAX; i++) {
		const struct memo_refused *r = &m->refused[i];

		if (r->key && r->pid == pid && now_ns < r->until_ns && strcmp(r->key, key) == 0)
			return true;
	}
	return false;
}

void memo_seen(const struct memo *m, const struct facts *f, struct buf *out)
{
	unsigned yes = m->yes[f->class];
	unsigned no = m->no[f->class];

	if (!yes && !no) {
		buf_fmt(out, "no %s was asked about in this session", policy_class_name(f->class));
		return;
	}
	buf_fmt(out, "of this class %u allowed and %u refused in this session", yes, no);
}
