#include "policy/compile.h"

#include "policy/words.h"

#include <string.h>

/* Two cache lines each; what deciding looks at is in the first. */
_Static_assert(sizeof(void *) != 8 || (sizeof(struct object) == 128 && sizeof(struct rule) == 128),
               "two cache lines");

static const char *const layer_names[LAYER_COUNT] = {
	[LAYER_FLOOR] = "floor", [LAYER_MACHINE] = "machine", [LAYER_TENANT] = "tenant",
	[LAYER_TEXT] = "policy", [LAYER_ANSWERS] = "answers",
};

const char *layer_name(enum layer layer)
{
	return layer_names[layer];
}

/* Law 4: the default where nothing was said. */
static void defaults_begin(struct policy *p)
{
	for (int layer = 0; layer < LAYER_COUNT; layer++) {
		bool speaks = layer != LAYER_FLOOR && layer != LAYER_ANSWERS;

		for (int class = 0; class < CLASS_COUNT; class ++) {
			struct default_rule *d = &p->defaults[layer][class];
			bool reached =
				!(CLASS_BIT(class) & CLASSES_NO_DEFAULT) && class != CLASS_SECRET;

			d->answer = speaks && reached ? ANSWER_ASK : -1;
			d->file = "default";
			d->text = "default ask";
		}
	}
}

void compile_begin(struct compiler *c, struct policy *p, struct arena *lasting,
                   struct policy_report *r, const struct policy_world *world)
{
	struct arena *a = &p->arena;

	*c = (struct compiler){
		.policy = p, .scratch = lasting, .lasting = lasting, .report = r, .world = world};
	resolver_begin(&c->resolver, lasting, world);
	*vec_push(a, &p->rules) = (struct rule){0};
	*vec_push(a, &p->objects) = (struct object){0};
	*vec_push(a, &p->inode_keys) = (struct inode_key){0};
	path_index_begin(&p->paths, a);
	path_index_begin(&p->delegate_paths, a);
	name_index_begin(&p->hosts, a);
	name_index_begin(&p->names, a);
	name_index_begin(&p->unix_names, a);
	name_index_begin(&p->delegates, a);
	range_index_begin(&p->v4, a);
	range_index_begin(&p->v6, a);
	defaults_begin(p);
}

void compile_need(struct compiler *c, struct spot at, unsigned stage, const char *what)
{
	if (!c->world->for_run || (c->world->stages & stage) == stage)
		return;
	report_error(c->report, at,
	             "check and explain work; a policy runs only where all of it is kept",
	             "this wary cannot enforce %s yet", what);
}

const char *compile_kept(struct compiler *c, const char *text)
{
	return text ? arena_str(&c->policy->arena, text) : NULL;
}

static uint32_t *address_list(struct policy *p, const struct object *o)
{
	switch ((enum object_form)o->form) {
	case OBJECT_ANY_ADDRESS:
		return &p->any_address;
	case OBJECT_RANGE:
		return range_index_at(o->range.is_v6 ? &p->v6 : &p->v4, o->range.ip, o->range.bits);
	case OBJECT_SET:
		return &p->sets[o->set];
	case OBJECT_HOST:
		return name_index_at(&p->hosts, o->pattern);
	case OBJECT_BELOW:
		return text_map_at(&p->below, &p->arena, o->pattern, strlen(o->pattern));
	case OBJECT_UNIX_NAME:
		return name_index_at(&p->unix_names, o->pattern);
	case OBJECT_ALL:
	case OBJECT_PATH:
	case OBJECT_NAME:
		break;
	}
	return NULL;
}

static uint32_t *list_of(struct policy *p, const struct object *o)
{
	uint32_t node;

	switch ((enum object_form)o->form) {
	case OBJECT_PATH:
		/* First: it may move the nodes. */
		node = path_index_add(&p->paths, o->pattern);
		return &p->paths.nodes.v[node].objects;
	case OBJECT_NAME:
		return name_index_at(&p->names, o->pattern);
	case OBJECT_ALL:
		return &p->all;
	case OBJECT_ANY_ADDRESS:
	case OBJECT_RANGE:
	case OBJECT_HOST:
	case OBJECT_BELOW:
	case OBJECT_SET:
	case OBJECT_UNIX_NAME:
		break;
	}
	return address_list(p, o);
}

void compile_object(struct compiler *c, struct object o)
{
	struct policy *p = c->policy;
	uint32_t id = (uint32_t)p->objects.n;
	struct rule *rule = &p->rules.v[p->rules.n - 1];
	uint32_t *head;

	o.rule = (uint32_t)(p->rules.n - 1);
	o.classes = rule->classes;
	o.layer = rule->layer;
	o.answer = rule->answer;
	o.is_final = rule->is_final;
	o.has_conds = rule->conds_n || rule->dependencies;
	head = list_of(p, &o);
	o.next = *head;
	*head = id;
	*vec_push(&p->arena, &p->objects) = o;
	rule->objects_n++;
	if (rule->dependencies)
		*vec_push(&p->arena, &p->dependents) = id;
}

/* --- options --------------------------------------------------------------- */

static void option_error(struct compiler *c, struct spot at, const char *text)
{
	report_error(c->report, at, NULL, "%s", text);
}

/* Where an option stands that the verdict or class has no use for. */
static void check_options(struct compiler *c, const struct rule_tree *t)
{
	const struct options_tree *o = &t->options;
	bool refuses = t->answer == ANSWER_DENY || t->answer == ANSWER_KILL;
	bool hides = t->classes == CLASSES_FILE;

	if (o->as_at.source && t->answer != ANSWER_DENY)
		option_error(c, o->as_at, "\"as\" is only for deny");
	else if (o->as_at.source && o->as_errno == words_errno_find("ENOENT") && !hides)
		report_error(c->report, o->as_at, "write deny file … as ENOENT",
		             "\"as ENOENT\" is only for the class file: else stat betrays it");
	if (o->for_at.source && t->answer != ANSWER_ASK)
		option_error(c, o->for_at, "\"for\" is only for ask and secret");
	if (o->each_at.source && t->answer != ANSWER_ASK)
		option_error(c, o->each_at, "\"each\" is only for ask");
	if (o->each_at.source && o->for_at.source)
		option_error(c, o->for_at, "\"for\" keeps an answer, and \"each\" keeps none");
	if (o->via_at.source && t->answer != ANSWER_ASK)
		option_error(c, o->via_at, "\"via\" is only for ask");
	if (o->relay_at.source && (refuses || t->classes != CLASS_BIT(CLASS_CONNECT)))
		option_error(c, o->relay_at,
		             "\"through relay\" is only for allow and ask of connect");
	if (o->dependencies_at.source && (refuses || t->classes != CLASS_BIT(CLASS_INSTALL)))
		option_error(c, o->dependencies_at,
		             "\"with dependencies\" is only for allow and ask of install");
	if (o->stack_at.source && t->answer == ANSWER_ALLOW)
		option_error(c, o->stack_at, "\"stack\" is not for allow");
	if (o->quiet_at.source && (t->classes & ~(CLASS_BIT(CLASS_READ) | CLASS_BIT(CLASS_STAT))))
		option_error(c, o->quiet_at, "\"quiet\" is only for read and stat");
	if (o->quiet_at.source && c->source->kind == SOURCE_PROJECT)
		option_error(c, o->quiet_at, "a project's policy cannot be quiet");
}

static void need_options(struct compiler *c, const struct options_tree *o)
{
	if (o->relay)
		compile_need(c, o->relay_at, STAGE_RELAY, "\"through relay\"");
	if (o->via)
		compile_need(c, o->via_at, STAGE_VIA, "\"via\"");
	if (o->stack)
		compile_need(c, o->stack_at, STAGE_STACK, "\"stack\"");
	if (o->for_s)
		compile_need(c, o->for_at, STAGE_FOR, "\"for\"");
	if (o->dependencies)
		compile_need(c, o->dependencies_at, STAGE_DEPENDENCIES, "\"with dependencies\"");
}

static void need_classes(struct compiler *c, const struct rule_tree *t)
{
	static const struct {
		enum policy_class class;
		unsigned stage;
		const char *what;
	} needs[] = {
		{CLASS_STAT, STAGE_STAT, "rules about stat (and file, which includes it)"},
		{CLASS_RESOLVE, STAGE_RESOLVE, "rules about resolve"},
		{CLASS_INSTALL, STAGE_INSTALL, "rules about install"},
		{CLASS_SCRIPT, STAGE_SCRIPT, "rules about script"},
		{CLASS_IPC, STAGE_IPC, "rules about ipc"},
		{CLASS_SYSCALL, STAGE_SYSCALL, "rules about syscall"},
	};

	for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
		if (t->classes & CLASS_BIT(needs[i].class))
			compile_need(c, t->classes_at, needs[i].stage, needs[i].what);
}

/* Laws 5 and 7: what the rules of some sources may not be. */
static bool check_source(struct compiler *c, const struct stmt *s)
{
	const struct rule_tree *t = s->rule;

	if (c->source->kind == SOURCE_PROJECT && t->is_final && t->answer < ANSWER_DENY) {
		report_error(c->report, s->at, "final deny and final kill may be",
		             "a project's policy has no final allow and no final ask");
		return false;
	}
	if (c->source->kind != SOURCE_ANSWERS)
		return true;
	if (t->is_final || (t->answer != ANSWER_ALLOW && t->answer != ANSWER_DENY)) {
		report_error(c->report, s->at, NULL,
		             "a stored answer is allow or deny, and never final");
		return false;
	}
	return true;
}

static const char *rule_text(struct compiler *c, const struct rule_tree *t, const char *objects)
{
	const char *const texts[] = {
		t->is_final ? "final " : "",
		policy_answer_name(t->answer),
		" ",
		t->classes_text,
		*objects ? " " : "",
		objects,
		*t->tail ? " " : "",
		t->tail,
		NULL,
	};

	return arena_join(&c->policy->arena, texts);
}

static const char *objects_text(struct compiler *c, const struct rule_tree *t)
{
	size_t len = 0;
	char *out;

	for (size_t i = 0; i < t->objects.n; i++)
		len += t->objects.v[i].raw_len + 1;
	out = arena_alloc(c->scratch, len + 1);
	len = 0;
	for (size_t i = 0; i < t->objects.n; i++) {
		if (i)
			out[len++] = ' ';
		memcpy(out + len, t->objects.v[i].raw, t->objects.v[i].raw_len);
		len += t->objects.v[i].raw_len;
	}
	return out;
}

/* The rule's own values; objects and conditions follow. */
static struct rule rule_of(struct compiler *c, const struct stmt *s)
{
	const struct rule_tree *t = s->rule;
	const struct options_tree *o = &t->options;

	return (struct rule){
		.layer = (uint8_t)c->layer,
		.answer = (uint8_t)t->answer,
		.is_final = t->is_final,
		.each = o->each,
		.relay = o->relay,
		.dependencies = o->dependencies,
		.stack = o->stack,
		.quiet = o->quiet,
		.classes = t->classes,
		.objects = (uint32_t)c->policy->objects.n,
		.file = c->source->name,
		.line = s->at.line,
		.text = rule_text(c, t, objects_text(c, t)),
		.because = compile_kept(c, o->because),
		.via = compile_kept(c, o->via),
		.as_errno = o->as_errno,
		.for_s = o->for_s,
		.at = s->whole,
	};
}

/* Law 18: an allow or ask of connect by name is an allow of resolve. */
static void derive_resolve(struct compiler *c, uint32_t from)
{
	struct policy *p = c->policy;
	struct rule rule = p->rules.v[from];
	struct cond *conds = arena_alloc(&p->arena, rule.conds_n * sizeof *conds);
	uint32_t first = rule.objects;
	uint32_t n = 0;
	bool any = false;

	if (!(rule.classes & CLASS_BIT(CLASS_CONNECT)) || rule.answer > ANSWER_ASK)
		return;
	for (uint32_t i = 0; i < rule.objects_n; i++)
		any |= p->objects.v[first + i].form == OBJECT_HOST ||
		       p->objects.v[first + i].form == OBJECT_BELOW;
	if (!any)
		return;
	/* The address is not known yet when its name is resolved. */
	for (uint32_t i = 0; i < rule.conds_n; i++)
		if (rule.conds[i].kind != COND_AT)
			conds[n++] = rule.conds[i];
	rule.conds = conds;
	rule.conds_n = n;
	rule.answer = ANSWER_ALLOW;
	rule.classes = CLASS_BIT(CLASS_RESOLVE);
	rule.derived = true;
	rule.each = rule.relay = rule.stack = false;
	rule.objects = (uint32_t)p->objects.n;
	n = rule.objects_n;
	rule.objects_n = 0;
	*vec_push(&p->arena, &p->rules) = rule;
	for (uint32_t i = 0; i < n; i++) {
		struct object o = p->objects.v[first + i];

		o.ports_n = 0;
		o.proto = PROTO_ANY;
		if (o.form == OBJECT_HOST || o.form == OBJECT_BELOW)
			compile_object(c, o);
	}
}

void compile_rule(struct compiler *c, const struct stmt *s)
{
	struct policy *p = c->policy;
	const struct rule_tree *t = s->rule;
	struct rule rule;
	uint32_t id;

	if (!check_source(c, s))
		return;
	check_options(c, t);
	need_options(c, &t->options);
	need_classes(c, t);
	rule = rule_of(c, s);
	rule.conds = compile_conds(c, t->conds.v, t->conds.n, t->answer, t->classes, &rule.by_at);
	rule.conds_n = (uint32_t)t->conds.n;
	id = (uint32_t)p->rules.n;
	*vec_push(&p->arena, &p->rules) = rule;
	p->spoken |= t->classes;
	p->has_final |= t->is_final;
	compile_objects(c, t, &rule);
	derive_resolve(c, id);
}

void compile_default(struct compiler *c, const struct stmt *s)
{
	unsigned classes = s->classes
	                           ? s->classes
	                           : CLASSES_ALL & ~CLASSES_NO_DEFAULT & ~CLASS_BIT(CLASS_SECRET);
	const char *name =
		s->answer < 0 ? "pass" : policy_answer_name((enum policy_answer)s->answer);
	const char *text = arena_fmt(&c->policy->arena, "default %s", name);

	if (s->answer < 0 && c->layer != LAYER_MACHINE) {
		report_error(c->report, s->whole, NULL,
		             "only a machine's policy may say \"default pass\"");
		return;
	}
	if (s->classes & (CLASSES_NO_DEFAULT | CLASS_BIT(CLASS_SECRET))) {
		report_error(c->report, s->whole, "write a rule for the class",
		             "a default does not reach stat, ipc, syscall and secret");
		return;
	}
	for (int class = 0; class < CLASS_COUNT; class ++)
		if (classes & CLASS_BIT(class))
			c->policy->defaults[c->layer][class] =
				(struct default_rule){.answer = s->answer,
			                              .file = c->source->name,
			                              .text = text,
			                              .line = s->at.line};
}
