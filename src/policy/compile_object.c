#include "base/text.h"
#include "policy/compile.h"
#include "policy/words.h"

#include <string.h>

static bool is_allow(const struct compiler *c)
{
	return c->policy->rules.v[c->policy->rules.n - 1].answer == ANSWER_ALLOW;
}

/* --- paths ------------------------------------------------------------------ */

/* Objects of one written path; patterns that are the same are added once. */
struct path_object {
	struct compiler *c;
	struct object base;
	const char *seen[4];
	size_t seen_n;
	bool linked; /* the way went through a link */
	const char *written;
	const char *plain; /* its literal beginning */
};

static uint32_t add_pattern(struct path_object *x, const char *pattern)
{
	struct object o = x->base;

	for (size_t i = 0; i < x->seen_n; i++)
		if (strcmp(x->seen[i], pattern) == 0)
			return 0;
	x->seen[x->seen_n++] = pattern;
	o.form = OBJECT_PATH;
	o.pattern = compile_kept(x->c, pattern);
	o.wild = !path_is_literal(pattern);
	compile_object(x->c, o);
	return (uint32_t)(x->c->policy->objects.n - 1);
}

/* A canonical beginning and what follows it, as a pattern. */
static const char *pattern_of(struct path_object *x, const char *canon, const char *tail)
{
	const char *quoted;

	/* Most names are canonical as they are written. */
	if (strcmp(canon, x->plain) == 0)
		return x->written;
	/* A root followed by more is written once. */
	quoted = strcmp(canon, "/") == 0 && *tail ? "" : glob_quote(x->c->scratch, canon);
	return arena_cat(x->c->scratch, quoted, tail);
}

static void add_resolved(struct path_object *x, bool follow_last, const char *tail)
{
	struct compiler *c = x->c;
	struct links links = {0};
	const char *canon = resolve_path(&c->resolver, x->plain, follow_last, &links);
	uint32_t id = add_pattern(x, pattern_of(x, canon, tail));

	x->linked |= links.n != 0;
	if (!id || !links.n || !is_allow(c))
		return;
	c->policy->objects.v[id].link = compile_kept(c, links.v[0]);
	*vec_push(c->lasting, &c->link_uses) = (struct link_use){.object = id, .links = links};
}

/* Law 11: a deny or ask on a literal file holds for its inode. */
static void add_identity(struct path_object *x)
{
	struct compiler *c = x->c;
	struct policy *p = c->policy;
	struct links links = {0};
	const char *canon = resolve_path(&c->resolver, x->plain, true, &links);
	uint64_t dev;
	uint64_t ino;
	uint32_t *head;
	uint32_t next;

	if (!resolve_identity(&c->resolver, canon, &dev, &ino))
		return;
	head = pair_map_at(&p->inodes, &p->arena, inode_fold(dev, ino));
	next = *head;
	for (uint32_t i = next; i; i = p->inode_keys.v[i].next)
		if (strcmp(p->inode_keys.v[i].path, canon) == 0)
			return;
	*head = (uint32_t)p->inode_keys.n;
	*vec_push(&p->arena, &p->inode_keys) = (struct inode_key){
		.dev = dev, .ino = ino, .path = compile_kept(c, canon), .next = next};
}

void compile_path_object(struct compiler *c, const char *pattern, struct object o)
{
	struct path_object x = {.c = c, .base = o, .written = pattern};
	size_t len = path_literal_len(pattern);
	const char *tail = pattern + len;

	x.plain = glob_plain(c->scratch, (struct slice){pattern, len});
	/* Canonical names only for allow; deny and ask also as written. */
	if (len && (!*tail || strcmp(tail, "/**") == 0))
		add_resolved(&x, false, tail);
	if (len)
		add_resolved(&x, true, tail);
	if (!len || !is_allow(c) || x.linked)
		add_pattern(&x, pattern);
	if (len && !*tail && !is_allow(c))
		add_identity(&x);
}

static void path_objects(struct compiler *c, const struct word *w, struct object o)
{
	struct texts texts;

	if (!expand_is_path(w)) {
		const char *hint =
			w->quoted ? NULL : report_nearest(c->report, w->text, words_after_object);

		report_error(c->report, w->at,
		             hint ? hint : "a path begins with /, ~/, **/ or ${NAME}",
		             "expected a path, a condition or an option");
		return;
	}
	if (!expand_path(c->scope, w, !is_allow(c), &texts))
		return;
	for (size_t i = 0; i < texts.n; i++)
		compile_path_object(c, texts.v[i], o);
}

/* --- addresses --------------------------------------------------------------- */

static void keep_ports(struct compiler *c, const struct addr_pattern *a, struct object *o)
{
	struct port_range *kept;

	if (!a->ports.n)
		return;
	kept = arena_alloc(&c->policy->arena, a->ports.n * sizeof *kept);
	memcpy(kept, a->ports.v, a->ports.n * sizeof *kept);
	o->ports = kept;
	o->ports_n = (uint32_t)a->ports.n;
}

static void host_object(struct compiler *c, const struct addr_pattern *a, struct object o)
{
	const struct rule *rule = &c->policy->rules.v[c->policy->rules.n - 1];

	if (rule->classes & CLASS_BIT(CLASS_BIND)) {
		report_error(c->report, o.at, NULL, "bind takes addresses, not names of hosts");
		return;
	}
	if (!o.names_registry)
		compile_need(c, o.at, STAGE_NAMES, "addresses by name");
	o.form = a->form == FORM_HOST ? OBJECT_HOST : OBJECT_BELOW;
	o.wild = a->form == FORM_BELOW;
	o.pattern = compile_kept(c, a->text);
	compile_object(c, o);
	if (a->form != FORM_HOST || strcmp(a->text, "localhost") != 0)
		return;
	/* This name is the loopback address by definition (RFC 6761). */
	o.form = OBJECT_SET;
	o.set = SET_LOOPBACK;
	compile_object(c, o);
}

static void range_object(struct compiler *c, const struct addr_pattern *a, struct object o)
{
	static const uint8_t zero[16];
	bool whole = a->range.bits == (a->range.is_v6 ? 128 : 32);

	o.form = OBJECT_RANGE;
	o.range = a->range;
	o.wild = !whole;
	o.pattern = o.text;
	compile_object(c, o);
	if (!whole || memcmp(a->range.ip, zero, 16) != 0)
		return;
	/* For connect the any address is the loopback address (facts.h). */
	o.range.ip[0] = a->range.is_v6 ? 0 : 127;
	o.range.ip[a->range.is_v6 ? 15 : 3] = 1;
	compile_object(c, o);
}

/* Hosts that the user's own configuration names; no host is built in. */
static void registry_objects(struct compiler *c, const struct addr_pattern *a, struct object o)
{
	const char *const *hosts = compile_hosts(c, a->text);
	struct addr_place place = {.arena = c->scratch, .report = c->report, .at = o.at};

	if (is_allow(c))
		*vec_push(c->lasting, &c->registries) = (struct registry_use){
			.manager = arena_str(c->lasting, a->text), .at = o.at};
	o.names_registry = true;
	for (; hosts && *hosts; hosts++) {
		struct addr_pattern one;
		struct object each = o;

		if (!address_parse(&place, *hosts, &one))
			return;
		if (!a->ports.n)
			keep_ports(c, &one, &each);
		if (one.form == FORM_HOST)
			host_object(c, &one, each);
		else if (one.form == FORM_RANGE)
			range_object(c, &one, each);
	}
}

static void address_object(struct compiler *c, const char *text, struct object o)
{
	struct addr_place place = {.arena = c->scratch, .report = c->report, .at = o.at};
	struct addr_pattern a;
	struct word path = {.at = o.at};
	struct texts texts;

	if (!address_parse(&place, text, &a))
		return;
	o.proto = (uint8_t)a.proto;
	keep_ports(c, &a, &o);
	switch (a.form) {
	case FORM_ANY:
		o.form = OBJECT_ANY_ADDRESS;
		o.wild = true;
		compile_object(c, o);
		return;
	case FORM_RANGE:
		range_object(c, &a, o);
		return;
	case FORM_HOST:
	case FORM_BELOW:
		host_object(c, &a, o);
		return;
	case FORM_SET:
		o.form = OBJECT_SET;
		o.set = (uint8_t)a.set;
		compile_object(c, o);
		return;
	case FORM_REGISTRY:
		registry_objects(c, &a, o);
		return;
	case FORM_UNIX_PATH:
		o.is_unix = true;
		path.text = a.text;
		if (!expand_path(c->scope, &path, false, &texts))
			return;
		for (size_t i = 0; i < texts.n; i++)
			compile_path_object(c, texts.v[i], o);
		return;
	case FORM_UNIX_NAME:
		o.form = OBJECT_UNIX_NAME;
		o.is_unix = true;
		o.pattern = compile_kept(c, a.text);
		o.wild = !glob_is_literal(slice_of(a.text));
		compile_object(c, o);
		return;
	}
}

static void resolve_object(struct compiler *c, const char *text, struct object o)
{
	struct addr_place place = {.arena = c->scratch, .report = c->report, .at = o.at};
	struct addr_pattern a;

	if (!address_parse_host(&place, text, &a))
		return;
	o.form = a.form == FORM_ANY    ? OBJECT_ANY_ADDRESS
	         : a.form == FORM_HOST ? OBJECT_HOST
	                               : OBJECT_BELOW;
	o.wild = a.form != FORM_HOST;
	o.pattern = compile_kept(c, a.text);
	compile_object(c, o);
}

/* --- packages and words ------------------------------------------------------ */

/* PEP 503: runs of - _ . are one -, letters are small. */
static const char *pip_name(struct compiler *c, const char *name)
{
	char *out = arena_alloc(c->scratch, strlen(name) + 1);
	size_t n = 0;

	for (const char *s = name; *s; s++) {
		bool dash = *s == '-' || *s == '_' || *s == '.';

		if (dash && n && out[n - 1] == '-')
			continue;
		out[n++] = dash ? '-' : *s >= 'A' && *s <= 'Z' ? (char)(*s - 'A' + 'a') : *s;
	}
	return out;
}

static void package_object(struct compiler *c, const char *text, struct object o)
{
	const char *colon = glob_find(text, ':');
	const char *manager = colon ? arena_bytes(c->scratch, text, (size_t)(colon - text)) : "";
	const char *name = colon ? colon + 1 : "";

	if (!colon || !*manager || !*name) {
		const char *hint = report_nearest(c->report, text, words_after_object);

		report_error(c->report, o.at, hint ? hint : "npm:express, pip:*, *:*",
		             "expected a package as MANAGER:NAME");
		return;
	}
	if (strcmp(manager, "*") != 0 && !words_has(words_manager, manager)) {
		report_error(c->report, o.at, report_nearest(c->report, manager, words_manager),
		             "unknown package manager \"%s\"", manager);
		return;
	}
	/* A path or an address is no name to be normalised. */
	if (!strchr(name, '/') && (strcmp(manager, "pip") == 0 || strcmp(manager, "uv") == 0))
		name = pip_name(c, name);
	o.form = OBJECT_NAME;
	o.pattern = arena_fmt(&c->policy->arena, "%s:%s", manager, name);
	o.wild = !glob_is_literal(slice_of(o.pattern));
	compile_object(c, o);
}

static void name_object(struct compiler *c, const char *text, struct object o)
{
	o.form = OBJECT_NAME;
	o.pattern = compile_kept(c, text);
	o.wild = !glob_is_literal(slice_of(text));
	compile_object(c, o);
}

static const struct {
	unsigned classes;
	void (*add)(struct compiler *c, const char *text, struct object o);
} families[] = {
	{CLASSES_PATH, NULL},
	{CLASSES_ADDRESS, address_object},
	{CLASS_BIT(CLASS_RESOLVE), resolve_object},
	{CLASSES_PACKAGE, package_object},
	{CLASS_BIT(CLASS_SECRET), name_object},
	{CLASS_BIT(CLASS_IPC) | CLASS_BIT(CLASS_SYSCALL), name_object},
};
#define FAMILIES (sizeof families / sizeof families[0])

static void word_objects(struct compiler *c, size_t family, const struct word *w, struct object o)
{
	struct texts texts;

	if (!families[family].add) {
		path_objects(c, w, o);
		return;
	}
	if (!expand_word(c->scope, w, &texts))
		return;
	for (size_t i = 0; i < texts.n; i++)
		families[family].add(c, texts.v[i], o);
}

/* The rule as written, with one of its objects: deny read ~/.aws. */
static const char *object_text(struct compiler *c, const char *head, const struct word *w,
                               const char *tail)
{
	size_t n = strlen(head);
	size_t m = strlen(tail);
	char *text = arena_alloc(&c->policy->arena, n + w->raw_len + m + 3);

	memcpy(text, head, n);
	text[n] = ' ';
	memcpy(text + n + 1, w->raw, w->raw_len);
	n += w->raw_len + 1;
	if (!m)
		return text;
	text[n] = ' ';
	memcpy(text + n + 1, tail, m);
	return text;
}

void compile_objects(struct compiler *c, const struct rule_tree *t, struct rule *rule)
{
	size_t family = 0;
	const char *head = arena_fmt(c->scratch, "%s%s %s", rule->is_final ? "final " : "",
	                             policy_answer_name(t->answer), t->classes_text);

	if (!t->objects.n) {
		compile_object(c, (struct object){.form = OBJECT_ALL,
		                                  .wild = true,
		                                  .text = rule->text,
		                                  .at = rule->at});
		return;
	}
	while (family < FAMILIES && (t->classes & ~families[family].classes))
		family++;
	if (family == FAMILIES) {
		report_error(c->report, t->classes_at, "write a rule for each",
		             "these classes have different kinds of objects");
		return;
	}
	for (size_t i = 0; i < t->objects.n; i++) {
		const struct word *w = &t->objects.v[i];
		struct object o = {.at = w->at};

		o.text = t->objects.n == 1 ? rule->text : object_text(c, head, w, t->tail);
		word_objects(c, family, w, o);
	}
}
