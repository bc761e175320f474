#include "policy/load.h"

#include "base/text.h"
#include "policy/compile.h"
#include "policy/parse.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

/* Bounds over all files of one load. */
#define FILES_MAX 256
#define DEPTH_MAX 32
#define TOTAL_MAX_BYTES ((size_t)16 << 20)
/* From here on growing step by step would show. */
#define MANY_LINES 1000
/* More rules than that have to grow. */
#define LINES_MAX 50000

/* Everything of one load; in one piece, so that it can be given up as one. */
struct loading {
	jmp_buf guard;
	struct arena lasting;              /* as long as the load */
	struct arena lines[DEPTH_MAX + 1]; /* of each open file, a statement long */
	struct policy *policy;
	struct policy_report *report;
	struct compiler compiler;
	VEC(const char *) closed; /* files that the tree must not change */
	const struct policy_world *world;
	const struct source *stack[DEPTH_MAX + 1]; /* the includes that led here */
	unsigned depth;
	unsigned files;
	size_t total_bytes;
	bool tenant_done;
};

/* What is known of one file while its statements are compiled. */
struct file_state {
	struct loading *loading;
	const struct source *source;
	struct arena *line;
	struct scope scope;
	bool has_rule;
	unsigned defaulted; /* classes that a `default` here named; bit 31: all */
};

static void load_file(struct loading *l, const char *from_file, const char *word,
                      enum source_kind kind, struct spot at);

/* --- which statements a source may have ------------------------------------- */

#define STMT_BIT(kind) (1u << (kind))
#define STMTS_ALL (STMT_BIT(STMT_EXPECT + 1) - 1)

static const struct {
	const char *name;
	unsigned stmts;
} sources[] = {
	[SOURCE_MACHINE] = {"a machine's policy", STMTS_ALL},
	[SOURCE_TENANT] = {"a tenant's policy", STMTS_ALL & ~STMT_BIT(STMT_TENANT)},
	[SOURCE_USER] = {"a user's policy", STMTS_ALL & ~STMT_BIT(STMT_TENANT)},
	[SOURCE_PROJECT] = {"a project's policy",
                            STMT_BIT(STMT_INCLUDE) | STMT_BIT(STMT_RULE) | STMT_BIT(STMT_LET) |
                                    STMT_BIT(STMT_EXPECT) | STMT_BIT(STMT_LIMIT)},
	[SOURCE_RULES] = {"the command line",
                          STMTS_ALL & ~STMT_BIT(STMT_TENANT) & ~STMT_BIT(STMT_INCLUDE)},
	[SOURCE_ANSWERS] = {"the file of stored answers", STMT_BIT(STMT_RULE)},
	[SOURCE_QUESTION] = {"a question", 0},
};

static const char *const stmt_names[] = {
	[STMT_INCLUDE] = "include", [STMT_LET] = "let",       [STMT_DEFAULT] = "default",
	[STMT_RULE] = "rule",       [STMT_SECRET] = "secret", [STMT_LIMIT] = "limit",
	[STMT_AUDIT] = "audit",     [STMT_ENV] = "env",       [STMT_TMP] = "tmp",
	[STMT_TENANT] = "tenant",   [STMT_EXPECT] = "expect",
};

static const enum layer layers[] = {
	[SOURCE_MACHINE] = LAYER_MACHINE, [SOURCE_TENANT] = LAYER_TENANT,
	[SOURCE_USER] = LAYER_TEXT,       [SOURCE_PROJECT] = LAYER_TEXT,
	[SOURCE_RULES] = LAYER_TEXT,      [SOURCE_ANSWERS] = LAYER_ANSWERS,
};

/* --- statements --------------------------------------------------------------- */

static void stmt_let(struct loading *l, struct file_state *f, const struct stmt *s)
{
	struct texts values = {0};
	const char *value;

	if (s->let_env) {
		value = l->world->environment ? l->world->environment(l->world->ctx, s->let_env)
		                              : NULL;
		if (!value || !*value) {
			report_error(l->report, s->value.at, NULL,
			             "the environment variable \"%s\" is %s", s->let_env,
			             value ? "empty" : "not set");
			return;
		}
		*vec_push(f->line, &values) = glob_quote(f->line, value);
	}
	for (size_t i = 0; i < s->words.n; i++) {
		struct texts one;

		if (!*s->words.v[i].text) {
			report_error(l->report, s->words.v[i].at, NULL, "the value is empty");
			return;
		}
		if (!expand_word(&f->scope, &s->words.v[i], &one))
			return;
		for (size_t t = 0; t < one.n; t++)
			*vec_push(f->line, &values) = one.v[t];
	}
	scope_let(&f->scope, &s->word, values);
}

/* What the compiler works with while it is in a file. */
static void back_in_file(struct loading *l, struct file_state *f)
{
	l->compiler.scope = &f->scope;
	l->compiler.source = f->source;
	l->compiler.scratch = f->line;
}

static void stmt_include(struct loading *l, struct file_state *f, const struct stmt *s)
{
	const char *word = glob_plain(f->line, slice_of(s->word.text));

	if (!*word) {
		report_error(l->report, s->word.at, NULL,
		             "expected the name of a policy, in quotes");
		return;
	}
	load_file(l, f->source->path, word, f->source->kind, s->word.at);
	back_in_file(l, f);
}

static void stmt_default(struct loading *l, struct file_state *f, const struct stmt *s)
{
	unsigned classes = s->classes ? s->classes : 1u << 31;

	if (f->has_rule) {
		report_error(l->report, s->whole, "put it before the first rule",
		             "a default stands before the first rule");
		return;
	}
	if (f->defaulted & classes) {
		report_error(l->report, s->whole, NULL, "the default is given twice");
		return;
	}
	f->defaulted |= classes;
	compile_default(&l->compiler, s);
}

static void stmt_env(struct loading *l, struct file_state *f, const struct stmt *s)
{
	struct policy *p = l->policy;
	struct texts texts;

	if (s->env == ENV_SET) {
		compile_need(&l->compiler, s->at, STAGE_ENV_SET, "\"env set\"");
		if (!expand_word(&f->scope, &s->value, &texts))
			return;
		*vec_push(&p->arena, &p->env_sets) = (struct policy_env_set){
			.name = compile_kept(&l->compiler, s->word.text),
			.value = glob_plain(&p->arena, slice_of(texts.v[0]))};
		return;
	}
	compile_need(&l->compiler, s->at, STAGE_ENV, "\"env pass\" and \"env drop\"");
	for (size_t i = 0; i < s->words.n; i++) {
		if (!expand_word(&f->scope, &s->words.v[i], &texts))
			return;
		for (size_t t = 0; t < texts.n; t++)
			*vec_push(&p->arena, &p->envs) =
				(struct env_rule){.glob = compile_kept(&l->compiler, texts.v[t]),
			                          .keep = s->env == ENV_PASS};
	}
}

static void stmt_tmp(struct loading *l, const struct stmt *s)
{
	if (s->tmp_private)
		compile_need(&l->compiler, s->at, STAGE_TMP, "\"tmp private\"");
	l->policy->tmp_private = s->tmp_private;
}

/* The first tenant that this user belongs to decides as well. */
static void stmt_tenant(struct loading *l, struct file_state *f, const struct stmt *s)
{
	bool is_user = false;
	enum layer layer = l->compiler.layer;

	compile_need(&l->compiler, s->at, STAGE_TENANT, "\"tenant\"");
	if (!f->scope.tenant)
		f->scope.tenant = "(none)";
	for (size_t i = 0; i < s->words.n && l->world->user_is; i++)
		is_user |= l->world->user_is(l->world->ctx,
		                             glob_plain(f->line, slice_of(s->words.v[i].text)));
	if (!is_user || l->tenant_done)
		return;
	l->tenant_done = true;
	l->policy->tenant = glob_plain(&l->policy->arena, slice_of(s->word.text));
	f->scope.tenant = l->policy->tenant;
	l->compiler.layer = LAYER_TENANT;
	load_file(l, f->source->path, glob_plain(f->line, slice_of(s->value.text)), SOURCE_TENANT,
	          s->value.at);
	l->compiler.layer = layer;
	back_in_file(l, f);
}

static void compile_stmt(void *ctx, const struct stmt *s)
{
	struct file_state *f = ctx;
	struct loading *l = f->loading;

	if (!(sources[f->source->kind].stmts & STMT_BIT(s->kind))) {
		report_error(l->report, s->whole, NULL, "%s has no \"%s\" statements",
		             sources[f->source->kind].name, stmt_names[s->kind]);
		return;
	}
	switch (s->kind) {
	case STMT_INCLUDE:
		stmt_include(l, f, s);
		break;
	case STMT_LET:
		stmt_let(l, f, s);
		break;
	case STMT_DEFAULT:
		stmt_default(l, f, s);
		break;
	case STMT_RULE:
		f->has_rule = true;
		compile_rule(&l->compiler, s);
		break;
	case STMT_SECRET:
		compile_secret(&l->compiler, s);
		break;
	case STMT_LIMIT:
		compile_limit(&l->compiler, s);
		break;
	case STMT_AUDIT:
		compile_audit(&l->compiler, s);
		break;
	case STMT_ENV:
		stmt_env(l, f, s);
		break;
	case STMT_TMP:
		stmt_tmp(l, s);
		break;
	case STMT_TENANT:
		stmt_tenant(l, f, s);
		break;
	case STMT_EXPECT:
		compile_expect(&l->compiler, s);
		break;
	}
}

/* --- files ----------------------------------------------------------------------- */

/* Most lines are a rule about one object, and one about a name is two rules
 * (resolve): room for those at once, since growing is a copy of all and what is
 * not used is never touched. */
static void reserve(struct policy *p, const struct source *source)
{
	struct arena *a = &p->arena;
	size_t lines = 1;

	for (size_t i = 0; i < source->len_bytes; i++)
		lines += source->text[i] == '\n';
	if (lines < MANY_LINES)
		return;
	lines = 2 * (lines < LINES_MAX ? lines : LINES_MAX);
	p->rules.v = vec_reserve(a, p->rules.v, p->rules.n, &p->rules.cap, p->rules.n + lines,
	                         sizeof *p->rules.v);
	p->objects.v = vec_reserve(a, p->objects.v, p->objects.n, &p->objects.cap,
	                           p->objects.n + lines, sizeof *p->objects.v);
}

static void load_text(struct loading *l, struct source *source)
{
	struct file_state f = {.loading = l, .source = source, .line = &l->lines[l->depth]};

	*vec_push(&l->policy->arena, &l->policy->sources) =
		(struct policy_source){.name = source->name,
	                               .path = source->path ? source->path : source->name,
	                               .text = source->text,
	                               .len_bytes = source->len_bytes};
	l->total_bytes += source->len_bytes;
	if (l->total_bytes > TOTAL_MAX_BYTES) {
		report_error(l->report, (struct spot){.source = source}, NULL,
		             "the policies together are longer than 16 MiB");
		return;
	}
	if (lex_check(source, l->report))
		return;
	f.scope = (struct scope){.world = l->world,
	                         .tenant = l->policy->tenant,
	                         .arena = f.line,
	                         .lasting = &l->lasting,
	                         .report = l->report};
	reserve(l->policy, source);
	back_in_file(l, &f);
	l->policy->present[l->compiler.layer] = true;
	l->stack[l->depth++] = source;
	parse_source(f.line, l->report, source, compile_stmt, &f);
	l->depth--;
	arena_free(f.line);
}

static void cannot_read(struct loading *l, struct spot at, const char *word, int err)
{
	static const struct {
		int err;
		const char *before, *after;
	} texts[] = {
		{-ERR_NOTFOUND, "there is no policy", ""},
		{-ERR_PERM, "not permitted to read the policy", ""},
		{-ERR_BOUND, "the policy", " is longer than 4 MiB, the most that it may be"},
	};
	const char *before = "cannot read the policy";
	const char *after = "";

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (texts[i].err != err)
			continue;
		before = texts[i].before;
		after = texts[i].after;
	}
	report_error(l->report, at, NULL, "%s \"%s\"%s", before, word, after);
}

static bool is_cycle(struct loading *l, const char *path, struct spot at)
{
	for (unsigned i = 0; i < l->depth; i++) {
		if (!l->stack[i]->path || strcmp(l->stack[i]->path, path) != 0)
			continue;
		report_error(l->report, at, NULL, "\"%s\" includes itself", l->stack[i]->name);
		return true;
	}
	return false;
}

static bool within_bounds(struct loading *l, struct spot at)
{
	if (l->depth >= DEPTH_MAX)
		report_error(l->report, at, NULL, "includes are nested deeper than %d", DEPTH_MAX);
	else if (++l->files > FILES_MAX)
		report_error(l->report, at, NULL, "more than %d files are included", FILES_MAX);
	else
		return true;
	return false;
}

/* The reader's memory; neither is lost where keeping the other fails. */
static void adopt_both(struct loading *l, char *text, char *path)
{
	bool kept;

	l->lasting.guard = l->policy->arena.guard = NULL;
	kept = arena_adopt(&l->lasting, text) != NULL;
	kept &= arena_adopt(&l->policy->arena, path) != NULL;
	l->lasting.guard = l->policy->arena.guard = &l->guard;
	if (!kept)
		longjmp(l->guard, ERR_NOMEM);
}

/* Whoever replaces a link on the way has the next session read another file. */
static void close_links(struct loading *l, const char *from_file, const char *word)
{
	struct arena *a = &l->policy->arena;
	char *block = l->world->links ? l->world->links(l->world->ctx, from_file, word) : NULL;

	if (!l->world->links)
		return;
	if (!block)
		longjmp(l->guard, ERR_NOMEM);
	(void)arena_adopt(a, block);
	for (const char *link = block; *link; link += strlen(link) + 1)
		*vec_push(a, &l->closed) = link;
}

static void load_file(struct loading *l, const char *from_file, const char *word,
                      enum source_kind kind, struct spot at)
{
	struct arena *a = &l->policy->arena;
	struct source *source = arena_alloc(a, sizeof *source);
	struct source named = {.name = word};
	char *text = NULL;
	char *path = NULL;
	size_t len = 0;
	int err = -ERR_NOTFOUND;

	if (!within_bounds(l, at))
		return;
	if (l->world->read)
		err = l->world->read(l->world->ctx, from_file, word, &text, &len, &path);
	if (err) {
		if (!at.source)
			at.source = &named;
		cannot_read(l, at, word, err);
		return;
	}
	adopt_both(l, text, path);
	if (is_cycle(l, path, at))
		return;
	/* The NUL behind the text, which a reader need not have set. */
	*source = (struct source){.kind = kind,
	                          .depth = l->depth,
	                          .path = path,
	                          .text = arena_bytes(a, text, len < TOTAL_MAX_BYTES ? len : 0),
	                          .len_bytes = len};
	source->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (len > POLICY_TEXT_MAX_BYTES) {
		cannot_read(l, (struct spot){.source = source}, word, -ERR_BOUND);
		return;
	}
	/* A project's files are in force as they were accepted: a changed one
	 * is not, and the tree may work on it. */
	if (kind != SOURCE_PROJECT) {
		*vec_push(a, &l->closed) = path;
		close_links(l, from_file, word);
	}
	load_text(l, source);
}

static void load_rules(struct loading *l, const char *text)
{
	struct source *source = arena_alloc(&l->policy->arena, sizeof *source);

	*source = (struct source){.kind = SOURCE_RULES,
	                          .name = "command line",
	                          .text = arena_str(&l->policy->arena, text),
	                          .len_bytes = strlen(text)};
	load_text(l, source);
}

static void load_named(struct loading *l, const char *file)
{
	static const struct {
		const char *prefix;
		enum source_kind kind;
	} prefixes[] = {
		{"machine:", SOURCE_MACHINE},
		{"project:", SOURCE_PROJECT},
		{"rules:", SOURCE_RULES},
		{"answers:", SOURCE_ANSWERS},
	};
	enum source_kind kind = SOURCE_USER;
	struct spot nowhere = {0};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		if (!text_starts(file, prefixes[i].prefix))
			continue;
		kind = prefixes[i].kind;
		file += strlen(prefixes[i].prefix);
		break;
	}
	l->compiler.layer = layers[kind];
	if (kind == SOURCE_RULES)
		load_rules(l, file);
	else
		load_file(l, NULL, file, kind, nowhere);
}

static void load_all(struct loading *l, const char *const *files)
{
	l->policy->arena.guard = l->lasting.guard = &l->guard;
	for (size_t i = 0; i <= DEPTH_MAX; i++)
		l->lines[i].guard = &l->guard;
	compile_begin(&l->compiler, l->policy, &l->lasting, l->report, l->world);
	compile_floor(&l->compiler);
	for (; *files; files++)
		load_named(l, *files);
	l->compiler.scratch = &l->lasting;
	for (size_t i = 0; i < l->closed.n; i++)
		compile_floor_source(&l->compiler, l->closed.v[i]);
	if (!l->report->errors)
		compile_end(&l->compiler);
}

/* Runs all that may run out of memory. Returns 0 or ERR_NOMEM, ERR_BOUND. */
static int load_guarded(struct loading *l, const char *const *files,
                        void (*after)(struct policy *p, const struct policy_world *w,
                                      struct policy_report *r))
{
	int err = setjmp(l->guard);

	if (err)
		return err;
	load_all(l, files);
	if (after && !l->report->errors)
		after(l->policy, l->world, l->report);
	return 0;
}

/* The policy lies in its own arena, so that freeing that frees all. */
static struct policy *policy_new(void)
{
	struct arena a = {0};
	struct policy *p = arena_alloc(&a, sizeof *p);

	if (p)
		p->arena = a;
	return p;
}

static int load_finish(struct loading *l, int err, struct policy **out)
{
	l->policy->arena.guard = NULL;
	report_sort(l->report);
	if (err == ERR_BOUND)
		report_error(l->report, (struct spot){0}, NULL,
		             "the policy needs more than 256 MiB of memory");
	if (err == ERR_NOMEM)
		return -ERR_NOMEM;
	if (l->report->errors)
		return -ERR_POLICY;
	*out = l->policy;
	return 0;
}

int load_policy(const struct policy_world *world, const char *const *files,
                void (*after)(struct policy *p, const struct policy_world *w,
                              struct policy_report *r),
                struct policy **out, struct policy_report **report)
{
	struct loading *l = calloc(1, sizeof *l);
	int err;

	*report = report_new();
	if (!l || !*report) {
		free(l);
		return -ERR_NOMEM;
	}
	l->world = world;
	l->report = *report;
	l->policy = policy_new();
	if (!l->policy) {
		free(l);
		return -ERR_NOMEM;
	}
	err = load_finish(l, load_guarded(l, files, after), out);
	if (err)
		policy_free(l->policy);
	for (size_t i = 0; i <= DEPTH_MAX; i++)
		arena_free(&l->lines[i]);
	arena_free(&l->lasting);
	free(l);
	return err;
}

int policy_load(const struct policy_world *world, const char *const *files, struct policy **out,
                struct policy_report **report)
{
	return load_policy(world, files, NULL, out, report);
}
