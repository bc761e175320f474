#include "policy/match.h"

#include "policy/words.h"

#include <string.h>

/* --- does one object apply -------------------------------------------------- */

static bool port_fits(const struct object *o, uint16_t port)
{
	for (uint32_t i = 0; i < o->ports_n; i++)
		if (port >= o->ports[i].first && port <= o->ports[i].last)
			return true;
	return !o->ports_n;
}

static bool has_at(const struct rule *r)
{
	for (uint32_t i = 0; i < r->conds_n; i++)
		if (r->conds[i].kind == COND_AT)
			return true;
	return false;
}

/* Law 19: a name that leads to a loopback, private or metadata address. */
static enum fact_state name_applies(const struct rule *r)
{
	static const enum fact_state states[] = {
		[ANSWER_ALLOW] = FACT_NO,
		[ANSWER_ASK] = FACT_UNKNOWN, /* not to loosen, not to be evaded */
		[ANSWER_DENY] = FACT_YES,
		[ANSWER_KILL] = FACT_YES,
	};

	return has_at(r) ? FACT_YES : states[r->answer];
}

static enum fact_state address_applies(const struct decision *d, const struct object *o,
                                       enum policy_why *why)
{
	const struct facts_addr *a = &d->facts->addr;

	if (o->proto != PROTO_ANY && a->proto != PROTO_ANY && o->proto != a->proto)
		return FACT_NO;
	if (!port_fits(o, a->port))
		return FACT_NO;
	if (d->is_special && (o->form == OBJECT_HOST || o->form == OBJECT_BELOW)) {
		*why = WHY_ADDRESS;
		return name_applies(&d->policy->rules.v[o->rule]);
	}
	return o->proto != PROTO_ANY && a->proto == PROTO_ANY ? FACT_UNKNOWN : FACT_YES;
}

enum fact_state match_object(const struct decision *d, const struct object *o, bool by_root,
                             enum policy_why *why)
{
	bool allow = o->answer == ANSWER_ALLOW;

	*why = WHY_CONDITION;
	if (o->dead) {
		*why = WHY_REPLACEABLE;
		return FACT_NO;
	}
	if (by_root && !d->policy->rules.v[o->rule].dependencies) {
		*why = WHY_DEPENDENCY;
		return FACT_NO;
	}
	/* Law 15: what acts with another's authority is opened by name only. */
	if (d->is_delegate && allow && o->wild) {
		*why = WHY_WILDCARD;
		return FACT_NO;
	}
	/* An object without a path (a memory file, a pipe) is no pattern's. */
	if (o->form == OBJECT_PATH && allow && d->path && d->path[0] != '/')
		return FACT_NO;
	if ((d->class == CLASS_CONNECT || d->class == CLASS_BIND) && o->form != OBJECT_PATH &&
	    o->form != OBJECT_UNIX_NAME && o->form != OBJECT_ALL)
		return address_applies(d, o, why);
	return FACT_YES;
}

/* --- weighing ---------------------------------------------------------------- */

static uint32_t rule_of(const struct decision *d, uint32_t object)
{
	return d->policy->objects.v[object].rule;
}

/* Whether a rule can no longer decide, whatever its conditions are. */
static bool is_beaten(const struct decision *d, const struct tally *t, uint32_t rule, bool is_final)
{
	if (t->final_sure)
		return !is_final || rule_of(d, t->final_sure) <= rule;
	return !is_final && t->sure && rule_of(d, t->sure) >= rule;
}

static void weigh(struct decision *d, struct tally *t, uint32_t object, enum fact_state state)
{
	const struct object *o = &d->policy->objects.v[object];
	uint32_t *slot;

	if (state == FACT_YES && o->is_final) {
		t->final_sure = object;
	} else if (state == FACT_YES) {
		t->sure = object;
	} else if (o->is_final) {
		slot = &t->final_maybe[o->answer];
		if (!*slot || rule_of(d, *slot) > o->rule)
			*slot = object;
	} else {
		slot = &t->maybe[o->answer];
		if (!*slot || rule_of(d, *slot) < o->rule)
			*slot = object;
	}
}

/* What the conditions of a rule leave of a match. */
static enum fact_state conds_leave(const struct decision *d, const struct object *o, bool by_root)
{
	const struct rule *r = &d->policy->rules.v[o->rule];
	struct cond_context x = {
		.facts = d->facts, .answer = (enum policy_answer)o->answer, .by_root = by_root};
	enum fact_state state = FACT_YES;
	bool other;

	if (r->conds_n)
		state = d->loosest ? FACT_UNKNOWN : conds_hold(r->conds, r->conds_n, &x, NULL);
	/* A dependency of a package that is not known. */
	if (state == FACT_YES && r->dependencies && !by_root && d->facts->package.dependency &&
	    !d->facts->package.root && !match_names(d, o, &other))
		state = FACT_UNKNOWN;
	return state;
}

static void consider(struct decision *d, uint32_t object, bool by_root)
{
	const struct object *o = &d->policy->objects.v[object];
	struct tally *t = &d->tallies[o->layer];
	enum policy_why why;
	enum fact_state state;
	enum fact_state conds;

	if (!(o->classes & CLASS_BIT(d->class)) || is_beaten(d, t, o->rule, o->is_final))
		return;
	state = match_object(d, o, by_root, &why);
	if (state == FACT_NO)
		return;
	if (o->has_conds) {
		conds = conds_leave(d, o, by_root);
		if (conds == FACT_NO)
			return;
		state = conds == FACT_UNKNOWN ? conds : state;
	}
	weigh(d, t, object, state);
}

static void consider_list(struct decision *d, uint32_t object, bool by_root)
{
	for (; object; object = d->policy->objects.v[object].next)
		consider(d, object, by_root);
}

/* --- walking ------------------------------------------------------------------ */

static void walk_path(struct decision *d, const char *path)
{
	const struct policy *p = d->policy;
	struct path_states states;

	d->path = path;
	path_index_states(&p->paths, path, &states);
	d->overflow |= states.overflow;
	for (size_t i = 0; i < states.n; i++)
		if (p->paths.nodes.v[states.v[i]].objects)
			consider_list(d, p->paths.nodes.v[states.v[i]].objects, false);
}

/* Law 11: deny and ask ignore case where the folder does. */
static void walk_ignoring_case(struct decision *d, const char *path)
{
	const struct policy *p = d->policy;

	for (uint32_t i = 1; i < p->objects.n; i++) {
		const struct object *o = &p->objects.v[i];

		if (o->form == OBJECT_PATH && p->rules.v[o->rule].answer != ANSWER_ALLOW &&
		    path_match(o->pattern, path, true))
			consider(d, i, false);
	}
}

static void walk_host(struct decision *d, const char *host)
{
	const struct policy *p = d->policy;
	struct name_walk w;
	uint32_t head;

	name_walk_begin(&w, &p->hosts, host);
	while ((head = name_walk_next(&w)))
		consider_list(d, head, false);
	for (const char *dot = strchr(host, '.'); dot; dot = strchr(dot + 1, '.')) {
		head = text_map_get(&p->below, dot + 1, strlen(dot + 1));
		if (head)
			consider_list(d, head, false);
	}
}

static void walk_inet(struct decision *d)
{
	const struct policy *p = d->policy;
	const struct facts_addr *a = &d->facts->addr;
	bool is_v6 = a->family == ADDR_INET6;
	const struct range_index *ranges = is_v6 ? &p->v6 : &p->v4;
	unsigned bits = 0;
	uint32_t head;

	while ((head = range_index_next(ranges, a->ip, is_v6 ? 128 : 32, &bits)))
		consider_list(d, head, false);
	consider_list(d, p->any_address, false);
	for (int set = 0; set < SET_DELEGATES; set++)
		if (p->sets[set] && address_in_set(a, d->class, (enum addr_set)set))
			consider_list(d, p->sets[set], false);
	for (const char *const *h = a->hosts; h && *h; h++)
		walk_host(d, *h);
}

static void walk_unix(struct decision *d)
{
	const struct policy *p = d->policy;
	const struct facts_addr *a = &d->facts->addr;
	struct name_walk w;
	uint32_t head;

	if (d->is_delegate)
		consider_list(d, p->sets[SET_DELEGATES], false);
	if (address_in_set(a, d->class, SET_OWN))
		consider_list(d, p->sets[SET_OWN], false);
	if (!a->unix_name)
		return;
	if (!a->unix_abstract) {
		walk_path(d, a->unix_name);
		return;
	}
	name_walk_begin(&w, &p->unix_names, a->unix_name);
	while ((head = name_walk_next(&w)))
		consider_list(d, head, false);
}

static void walk_address(struct decision *d)
{
	const struct facts_addr *a = &d->facts->addr;

	if (a->family == ADDR_UNIX)
		walk_unix(d);
	else if (a->family == ADDR_INET || a->family == ADDR_INET6)
		walk_inet(d);
}

static void walk_resolve(struct decision *d)
{
	walk_host(d, d->facts->object);
	consider_list(d, d->policy->any_address, false);
}

static void walk_names_of(struct decision *d, const char *name, bool by_root)
{
	struct name_walk w;
	uint32_t head;

	name_walk_begin(&w, &d->policy->names, name);
	while ((head = name_walk_next(&w)))
		consider_list(d, head, by_root);
}

static bool is_of_manager(const struct object *o, const char *manager)
{
	const char *colon = o->form == OBJECT_NAME ? glob_find(o->pattern, ':') : NULL;

	if (!colon || !manager)
		return true;
	return glob_match((struct slice){o->pattern, (size_t)(colon - o->pattern)},
	                  slice_of(manager));
}

/* Rules `with dependencies` reach what a package pulls in. */
static void walk_package(struct decision *d)
{
	const struct facts_package *k = &d->facts->package;
	const struct policy *p = d->policy;
	char root[512];
	size_t m;
	size_t n;

	walk_names_of(d, d->facts->object, false);
	if (!k->dependency || !p->dependents.n)
		return;
	m = k->manager ? strlen(k->manager) : 0;
	n = k->root ? strlen(k->root) : 0;
	if (k->root && m && m + n + 2 <= sizeof root) {
		memcpy(root, k->manager, m);
		root[m] = ':';
		memcpy(root + m + 1, k->root, n + 1);
		walk_names_of(d, root, true);
		return;
	}
	for (size_t i = 0; i < p->dependents.n; i++)
		if (is_of_manager(&p->objects.v[p->dependents.v[i]], k->manager))
			consider(d, p->dependents.v[i], false);
}

static void walk_name(struct decision *d)
{
	walk_names_of(d, d->facts->object, false);
}

static void walk_file(struct decision *d)
{
	const char *path = d->path ? d->path : d->facts->object;

	walk_path(d, path);
	if (d->facts->ignores_case)
		walk_ignoring_case(d, path);
}

static void (*const walks[CLASS_COUNT])(struct decision *d) = {
	[CLASS_READ] = walk_file,       [CLASS_WRITE] = walk_file,
	[CLASS_CREATE] = walk_file,     [CLASS_DELETE] = walk_file,
	[CLASS_ATTR] = walk_file,       [CLASS_LINK] = walk_file,
	[CLASS_STAT] = walk_file,       [CLASS_EXEC] = walk_file,
	[CLASS_CONNECT] = walk_address, [CLASS_BIND] = walk_address,
	[CLASS_RESOLVE] = walk_resolve, [CLASS_INSTALL] = walk_package,
	[CLASS_SCRIPT] = walk_package,  [CLASS_SECRET] = walk_name,
	[CLASS_IPC] = walk_name,        [CLASS_SYSCALL] = walk_name,
};

static bool is_delegate(const struct policy *p, const struct facts_addr *a)
{
	struct path_states states;
	struct name_walk w;

	if (a->family != ADDR_UNIX || !a->unix_name)
		return false;
	if (a->unix_abstract) {
		name_walk_begin(&w, &p->delegates, a->unix_name);
		return name_walk_next(&w) != 0;
	}
	path_index_states(&p->delegate_paths, a->unix_name, &states);
	for (size_t i = 0; i < states.n; i++)
		if (p->delegate_paths.nodes.v[states.v[i]].objects)
			return true;
	return states.overflow;
}

void decision_begin(struct decision *d, const struct policy *p, const struct facts *f)
{
	*d = (struct decision){.policy = p, .facts = f, .class = f->class};
	if (f->class != CLASS_CONNECT && f->class != CLASS_BIND)
		return;
	d->is_delegate = is_delegate(p, &f->addr);
	d->is_special = f->addr.hosts && address_is_special(&f->addr);
}

void decision_walk(struct decision *d)
{
	consider_list(d, d->policy->all, false);
	walks[d->class](d);
}
