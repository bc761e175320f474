#include "tracee/lineage_entry.h"

#include <stdlib.h>
#include <string.h>

/* What goes into an entry's under list, nearest first. */
struct chain {
	const char *names[LINEAGE_UNDER_MAX];
	size_t n;
	bool cut;
};

/* "install:npm" and "script:left-pad" are kinds of which only the innermost
 * counts; a path has no kind. */
static size_t kind_length(const char *name)
{
	const char *colon = name[0] == '/' ? NULL : strchr(name, ':');

	return colon ? (size_t)(colon - name) + 1 : 0;
}

static void chain_add(struct chain *c, const char *name)
{
	size_t kind;

	if (!name)
		return;
	kind = kind_length(name);
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->names[i], name) == 0)
			return;
		if (kind && strncmp(c->names[i], name, kind) == 0)
			return;
	}
	if (c->n == LINEAGE_UNDER_MAX)
		c->cut = true;
	else
		c->names[c->n++] = name;
}

static void chain_make(struct chain *c, const struct lineage_entry *before, const char *mark)
{
	c->n = 0;
	c->cut = false;
	chain_add(c, mark);
	if (!before)
		return;
	chain_add(c, before->program.script);
	chain_add(c, before->program.path);
	for (size_t i = 0; before->under && before->under[i]; i++)
		chain_add(c, before->under[i]);
}

/* Pieces of the one allocation. */
struct layout {
	char *at;
};

static char *place_text(struct layout *l, const char *text)
{
	size_t size_bytes;
	char *to = l->at;

	if (!text)
		return NULL;
	size_bytes = strlen(text) + 1;
	memcpy(to, text, size_bytes);
	l->at += size_bytes;
	return to;
}

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* How many arguments fit the bound; their bytes. */
static size_t argv_kept(const struct facts_program *p, size_t *bytes)
{
	size_t n;

	*bytes = 0;
	for (n = 0; n < p->argc; n++) {
		size_t more = strlen(p->argv[n]) + 1;

		if (*bytes + more > LINEAGE_ARGV_MAX_BYTES)
			break;
		*bytes += more;
	}
	return n;
}

static void fill_program(struct layout *l, struct facts_program *to,
                         const struct facts_program *from, const char **argv, size_t argc)
{
	for (size_t i = 0; i < argc; i++)
		argv[i] = place_text(l, from->argv[i]);
	argv[argc] = NULL;
	to->argv = argv;
	to->argc = argc;
	to->argv_whole = from->argv_whole && argc == from->argc;
	to->fixed = from->fixed;
	to->nameable = from->nameable;
	to->path = place_text(l, from->path);
	to->script = place_text(l, from->script);
}

struct lineage_entry *entry_new(const struct lineage_entry *before, const struct lineage_exec *exec)
{
	static const struct facts_program nothing;
	const struct facts_program *p = exec ? exec->program : &nothing;
	struct chain chain;
	struct lineage_entry *e;
	struct layout l;
	size_t bytes;
	size_t argc = argv_kept(p, &bytes);
	size_t hash_bytes = p->sha256 ? 32 : 0;
	const char **lists;

	chain_make(&chain, before, exec ? exec->mark : NULL);
	bytes += text_size(p->path) + text_size(p->script) + hash_bytes;
	for (size_t i = 0; i < chain.n; i++)
		bytes += text_size(chain.names[i]);
	e = calloc(1, sizeof *e + (argc + 1 + chain.n + 1) * sizeof *lists + bytes);
	if (!e)
		return NULL;
	lists = (const char **)(e + 1);
	l.at = (char *)(lists + argc + 1 + chain.n + 1);
	if (hash_bytes) {
		e->program.sha256 = memcpy(l.at, p->sha256, hash_bytes);
		l.at += hash_bytes;
	}
	fill_program(&l, &e->program, p, lists, argc);
	lists += argc + 1;
	for (size_t i = 0; i < chain.n; i++)
		lists[i] = place_text(&l, chain.names[i]);
	e->under = lists;
	e->known = before && before->known && !chain.cut;
	e->install_run = before ? before->install_run : 0;
	if (exec) {
		if (exec->install_run)
			e->install_run = exec->install_run;
		e->print = exec->print;
		e->holds_secret = exec->holds_secret;
		if (exec->asked)
			memcpy(e->asked, exec->asked, sizeof e->asked);
	}
	e->refs_ = 1;
	return e;
}

const struct lineage_entry *entry_get(const struct lineage_entry *e)
{
	if (e)
		((struct lineage_entry *)e)->refs_++;
	return e;
}

void entry_put(const struct lineage_entry *e)
{
	if (e && --((struct lineage_entry *)e)->refs_ == 0)
		free((struct lineage_entry *)e);
}

bool entry_same_print(const struct lineage_print *a, const struct lineage_print *b)
{
	static const struct lineage_print none;

	return memcmp(a, &none, sizeof none) != 0 && memcmp(a, b, sizeof *a) == 0;
}
