/* Facts of `expect` lines and of questions to explain (law 33): canonical
 * names, no disk, and what is not said is known and not so. */
#include "policy/question.h"

#include "base/text.h"
#include "policy/match.h"
#include "policy/parse.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

/* The facts being made. */
struct making {
	struct compiler *c;
	const struct expect_tree *tree;
	struct arena *arena; /* of the facts */
	struct facts *facts;
};

static bool refuse(struct making *m, const struct word *w, const char *text)
{
	report_error(m->c->report, w->at, NULL, "%s", text);
	return false;
}

/* The one canonical path that a word is. */
static const char *one_path(struct making *m, const struct word *w)
{
	struct texts texts;

	if (!expand_is_path(w)) {
		refuse(m, w, "expected a path");
		return NULL;
	}
	/* A question is about one name: the root folder, not the whole disk. */
	if (strcmp(w->text, "/") == 0)
		return "/";
	if (!expand_path(m->c->scope, w, false, &texts))
		return NULL;
	if (texts.n != 1 || !path_is_literal(texts.v[0])) {
		refuse(m, w, "expected one name, without wildcards");
		return NULL;
	}
	return glob_plain(m->arena, slice_of(texts.v[0]));
}

static const char *one_text(struct making *m, const struct word *w)
{
	struct texts texts;

	if (!expand_word(m->c->scope, w, &texts))
		return NULL;
	if (texts.n != 1 || !glob_is_literal(slice_of(texts.v[0]))) {
		refuse(m, w, "expected one name, without wildcards");
		return NULL;
	}
	return glob_plain(m->arena, slice_of(texts.v[0]));
}

static const char *const *one_host(struct making *m, const char *name)
{
	const char **hosts = arena_alloc(m->arena, 2 * sizeof *hosts);

	hosts[0] = arena_str(m->arena, name);
	return hosts;
}

/* An address that stands for a set, or for a name: of a range for examples. */
static void example_address(struct facts_addr *a, const struct addr_pattern *p)
{
	static const uint8_t examples[SET_COUNT][4] = {
		[SET_OWN] = {127, 0, 0, 1},
		[SET_LOOPBACK] = {127, 0, 0, 1},
		[SET_PRIVATE] = {10, 0, 0, 1},
		[SET_METADATA] = {169, 254, 169, 254},
	};
	static const uint8_t outside[4] = {203, 0, 113, 1};

	a->family = ADDR_INET;
	if (p->form == FORM_RANGE) {
		a->family = p->range.is_v6 ? ADDR_INET6 : ADDR_INET;
		memcpy(a->ip, p->range.ip, 16);
	} else {
		memcpy(a->ip, p->form == FORM_SET ? examples[p->set] : outside, 4);
	}
	a->own = p->form == FORM_SET && p->set == SET_OWN;
}

static bool delegate_example(struct making *m)
{
	struct facts_addr *a = &m->facts->addr;

	a->family = ADDR_UNIX;
	a->unix_name = "/run/dbus/system_bus_socket";
	return true;
}

static bool registry_example(struct making *m, const struct word *w, struct addr_pattern *p)
{
	const struct policy_world *world = m->c->world;
	const char *const *hosts = NULL;
	struct addr_place place = {.arena = m->arena, .report = m->c->report, .at = w->at};
	struct addr_pattern given = *p;

	if (world->registry)
		hosts = world->registry(world->ctx, p->text);
	if (!hosts || !*hosts)
		return refuse(m, w, "this registry has no hosts here");
	if (!address_parse(&place, *hosts, p))
		return false;
	if (given.ports.n)
		p->ports = given.ports;
	return true;
}

static bool inet_object(struct making *m, const struct word *w, struct addr_pattern *p)
{
	struct facts_addr *a = &m->facts->addr;

	if (p->form == FORM_REGISTRY && !registry_example(m, w, p))
		return false;
	if (p->form == FORM_ANY || p->form == FORM_BELOW ||
	    (p->form == FORM_RANGE && p->range.bits != (p->range.is_v6 ? 128 : 32)))
		return refuse(m, w, "expected one address");
	if (p->form == FORM_SET && p->set == SET_DELEGATES)
		return delegate_example(m);
	example_address(a, p);
	address_canonical(a, m->facts->class);
	if (p->form == FORM_HOST)
		a->hosts = one_host(m, p->text);
	if (p->ports.n && p->ports.v[0].first != p->ports.v[0].last)
		return refuse(m, w, "expected one port");
	a->proto = p->proto == PROTO_ANY ? PROTO_TCP : p->proto;
	a->port = p->ports.n ? p->ports.v[0].first : 443;
	return true;
}

static bool address_object(struct making *m)
{
	const struct word *w = &m->tree->object;
	struct addr_place place = {.arena = m->arena, .report = m->c->report, .at = w->at};
	struct facts_addr *a = &m->facts->addr;
	struct addr_pattern p;
	struct word path = {.at = w->at};
	struct texts texts;

	if (!expand_word(m->c->scope, w, &texts))
		return false;
	if (texts.n != 1)
		return refuse(m, w, "expected one address");
	m->facts->object = glob_plain(m->arena, slice_of(texts.v[0]));
	if (!address_parse(&place, texts.v[0], &p))
		return false;
	if (p.form != FORM_UNIX_PATH && p.form != FORM_UNIX_NAME)
		return inet_object(m, w, &p);
	a->family = ADDR_UNIX;
	a->unix_abstract = p.form == FORM_UNIX_NAME;
	path.text = p.text;
	a->unix_name = a->unix_abstract ? one_text(m, &path) : one_path(m, &path);
	return a->unix_name != NULL;
}

static bool path_object(struct making *m)
{
	m->facts->object = one_path(m, &m->tree->object);
	return m->facts->object != NULL;
}

static bool host_object(struct making *m)
{
	const struct word *w = &m->tree->object;
	struct addr_place place = {.arena = m->arena, .report = m->c->report, .at = w->at};
	struct addr_pattern p;
	const char *text = one_text(m, w);

	if (!text || !address_parse_host(&place, text, &p))
		return false;
	if (p.form != FORM_HOST)
		return refuse(m, w, "expected one name, without wildcards");
	m->facts->object = p.text;
	return true;
}

static bool package_object(struct making *m)
{
	struct facts_package *k = &m->facts->package;
	const char *text = one_text(m, &m->tree->object);
	const char *colon = text ? strchr(text, ':') : NULL;

	if (!text)
		return false;
	if (!colon || !colon[1])
		return refuse(m, &m->tree->object, "expected a package as MANAGER:NAME");
	m->facts->object = text;
	k->manager = arena_bytes(m->arena, text, (size_t)(colon - text));
	k->name = colon + 1;
	return true;
}

static bool word_object(struct making *m)
{
	m->facts->object = one_text(m, &m->tree->object);
	return m->facts->object != NULL;
}

static const struct {
	unsigned classes;
	bool (*make)(struct making *m);
} families[] = {
	{CLASSES_PATH, path_object},
	{CLASSES_ADDRESS, address_object},
	{CLASS_BIT(CLASS_RESOLVE), host_object},
	{CLASSES_PACKAGE, package_object},
	{CLASS_BIT(CLASS_SECRET) | CLASS_BIT(CLASS_IPC) | CLASS_BIT(CLASS_SYSCALL), word_object},
};
#define FAMILIES (sizeof families / sizeof families[0])

static bool make_object(struct making *m)
{
	unsigned classes = m->tree->class_bits;

	for (size_t i = 0; i < FAMILIES; i++)
		if (!(classes & ~families[i].classes))
			return families[i].make(m);
	return refuse(m, &m->tree->object, "these classes have different kinds of objects");
}

/* argv[0] and what the words say behind it. */
static bool make_argv(struct making *m, struct facts_program *p, const char *program)
{
	const char **argv = arena_alloc(m->arena, (m->tree->argv.n + 2) * sizeof *argv);
	size_t n = 0;

	argv[n++] = program;
	for (size_t i = 0; i < m->tree->argv.n; i++) {
		argv[n] = glob_plain(m->arena, slice_of(m->tree->argv.v[i].text));
		n++;
	}
	p->argv = argv;
	p->argc = n;
	p->argv_whole = true;
	return true;
}

static bool make_programs(struct making *m)
{
	struct facts *f = m->facts;
	const struct expect_tree *t = m->tree;

	f->by.path = t->has_by ? one_path(m, &t->by) : QUESTION_ANY_PROGRAM;
	if (!f->by.path)
		return false;
	f->by.fixed = true;
	if (f->class == CLASS_EXEC) {
		f->target.path = f->object;
		make_argv(m, &f->target, f->object);
		return true;
	}
	return make_argv(m, &f->by, f->by.path);
}

static bool make_under(struct making *m)
{
	const struct words *words = &m->tree->under;
	const char **under = arena_alloc(m->arena, (words->n + 1) * sizeof *under);

	for (size_t i = 0; i < words->n; i++) {
		const struct word *w = &words->v[i];
		bool mark = text_starts(w->text, "install:") || text_starts(w->text, "script:");

		under[i] = mark ? one_text(m, w) : one_path(m, w);
		if (!under[i])
			return false;
	}
	m->facts->under = under;
	m->facts->under_known = true;
	return true;
}

static bool make_package(struct making *m)
{
	struct facts_package *k = &m->facts->package;
	const struct expect_tree *t = m->tree;
	enum fact_state *const states[] = {&k->unpinned, &k->is_new, &k->git,      &k->url,
	                                   &k->path,     &k->script, &k->lookalike};

	for (unsigned i = 0; i < sizeof states / sizeof states[0]; i++)
		*states[i] = t->facts & 1u << i ? FACT_YES : FACT_NO;
	k->version = t->has_version ? one_text(m, &t->version) : NULL;
	k->registry = t->has_from ? one_text(m, &t->from) : NULL;
	return (!t->has_version || k->version) && (!t->has_from || k->registry);
}

static bool make_named(struct making *m)
{
	const struct word *w = &m->tree->named;
	struct addr_place place = {.arena = m->arena, .report = m->c->report, .at = w->at};
	struct addr_pattern p;
	const char *text;

	if (!m->tree->has_named)
		return true;
	text = one_text(m, w);
	if (!text || !address_parse_host(&place, text, &p))
		return false;
	if (p.form != FORM_HOST)
		return refuse(m, w, "expected one name, without wildcards");
	m->facts->addr.hosts = one_host(m, p.text);
	return true;
}

bool compile_facts(struct compiler *c, const struct expect_tree *e, struct arena *a,
                   struct facts *out)
{
	struct making m = {.c = c, .tree = e, .arena = a, .facts = out};

	*out = (struct facts){.now_s = c->world->now_s ? c->world->now_s : 1};
	out->class = (enum policy_class)__builtin_ctz(e->class_bits);
	return make_object(&m) && make_programs(&m) && make_under(&m) && make_package(&m) &&
	       make_named(&m);
}

/* --- expect -------------------------------------------------------------------- */

void compile_expect(struct compiler *c, const struct stmt *s)
{
	struct policy *p = c->policy;
	struct expect e = {
		.want = s->expect->want,
		.classes = s->expect->class_bits,
		.file = c->source->name,
		.line = s->at.line,
		.text = compile_kept(c, s->expect->text),
	};

	/* An included policy's expectations are about that policy alone. */
	if (c->source->depth)
		return;
	if (compile_facts(c, s->expect, &p->arena, &e.facts))
		*vec_push(&p->arena, &p->expects) = e;
}

size_t policy_expect_count(const struct policy *p)
{
	return p->expects.n;
}

const struct facts *policy_expect_facts(const struct policy *p, size_t i)
{
	return i < p->expects.n ? &p->expects.v[i].facts : NULL;
}

void policy_expect_run(const struct policy *p, size_t i, struct policy_expect_result *out)
{
	const struct expect *e = &p->expects.v[i];
	struct facts f = e->facts;

	*out = (struct policy_expect_result){
		.file = e->file, .line = e->line, .text = e->text, .want = e->want, .passed = true};
	for (int class = 0; class < CLASS_COUNT && out->passed; class ++) {
		if (!(e->classes & CLASS_BIT(class)))
			continue;
		f.class = (enum policy_class) class;
		policy_decide(p, &f, &out->got);
		out->passed = out->got.answer == e->want;
	}
}

/* --- questions ------------------------------------------------------------------ */

struct policy_question {
	struct arena arena;
	struct arena scratch;
	jmp_buf guard;
	struct source source;
	struct scope scope;
	struct compiler compiler;
	struct facts facts;
};

static bool read_question(struct policy_question *q, const struct policy *p,
                          const struct policy_world *world, const char *text,
                          struct policy_report *r)
{
	struct expect_tree *e;

	q->source = (struct source){.kind = SOURCE_QUESTION,
	                            .name = "question",
	                            .text = arena_str(&q->arena, text),
	                            .len_bytes = strlen(text)};
	if (lex_check(&q->source, r))
		return false;
	e = parse_question(&q->scratch, r, &q->source);
	if (!e)
		return false;
	q->scope = (struct scope){.world = world,
	                          .tenant = p->tenant,
	                          .arena = &q->scratch,
	                          .lasting = &q->scratch,
	                          .report = r};
	q->compiler = (struct compiler){.scratch = &q->scratch,
	                                .report = r,
	                                .world = world,
	                                .scope = &q->scope,
	                                .source = &q->source};
	return compile_facts(&q->compiler, e, &q->arena, &q->facts);
}

static int read_guarded(struct policy_question *q, const struct policy *p,
                        const struct policy_world *world, const char *text, struct policy_report *r)
{
	if (setjmp(q->guard))
		return -ERR_NOMEM;
	q->arena.guard = q->scratch.guard = &q->guard;
	return read_question(q, p, world, text, r) ? 0 : -ERR_POLICY;
}

int policy_question_new(const struct policy *p, const struct policy_world *world, const char *text,
                        struct policy_question **holder, const struct facts **facts,
                        struct policy_report **report)
{
	struct policy_question *q = calloc(1, sizeof *q);
	int err;

	*report = report_new();
	if (!q || !*report) {
		free(q);
		return -ERR_NOMEM;
	}
	err = read_guarded(q, p, world, text, *report);
	arena_free(&q->scratch);
	if (err) {
		policy_question_free(q);
		return err;
	}
	*holder = q;
	*facts = &q->facts;
	return 0;
}

void policy_question_free(struct policy_question *q)
{
	if (!q)
		return;
	arena_free(&q->arena);
	free(q);
}
