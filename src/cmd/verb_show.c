/* list and show: which policies there are, and what one comes to. */
#include "base/buf.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/sources.h"
#include "cmd/trust.h"
#include "cmd/verbs.h"
#include "policy/settings.h"

#include <string.h>
#include <time.h>

static const char *kind_text(enum sources_kind kind)
{
	static const char *const texts[] = {
		[SOURCES_SHIPPED] = "shipped",
		[SOURCES_PART] = "part",
		[SOURCES_USER] = "yours",
		[SOURCES_MACHINE_FILE] = "machine",
	};

	return texts[kind];
}

static void day_of(uint64_t seconds, char day[16])
{
	time_t at = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&at, &tm) || !strftime(day, 16, "%Y-%m-%d", &tm))
		memcpy(day, "?", 2);
}

/* The project's policy of this place, as a line or as JSON. */
struct place {
	char *path;
	struct trust_record *record;
};

static void drop_place(struct place *p)
{
	free(p->path);
	trust_free(p->record);
}

static void print_item(const struct tool *t, const struct sources_item *item, bool in_force)
{
	auto_free char *name = text_printable_str(item->name, 40);
	auto_free char *summary = text_printable_str(item->summary, 90);
	auto_free char *path = text_printable_str(item->path, 0);

	printf("%s%-14s%s %-8s %s %s\n", tool_paint(t, "bold"), name, tool_paint(t, NULL),
	       kind_text(item->kind), in_force ? "*" : " ", *summary ? summary : path);
}

/* Whether the policy decides in this place where none is named. */
static bool is_in_force(const struct tool *t, const struct sources_item *item)
{
	auto_free char *own = sources_user(world_folders(t->world));
	bool has_own = own && access(own, F_OK) == 0;

	if (item->kind == SOURCES_MACHINE_FILE)
		return true;
	if (has_own)
		return item->kind == SOURCES_USER && strcmp(item->path, own) == 0;
	return item->kind == SOURCES_SHIPPED && strcmp(item->name, "default") == 0;
}

static void print_place(const struct tool *t, const struct place *p)
{
	auto_free char *path = NULL;
	char day[16] = "";
	enum trust_state state;

	if (!p->path)
		return;
	path = text_printable_str(p->path, 0);
	state = trust_compare(p->record, p->path);
	if (p->record)
		day_of(p->record->accepted_s, day);
	printf("%s%-14s%s %-8s %s %s (%s%s%s)\n", tool_paint(t, "bold"), "policy",
	       tool_paint(t, NULL), "project", p->record ? "*" : " ", path, trust_state_text(state),
	       *day ? " " : "", day);
}

static json_t *item_json(const struct tool *t, const struct sources_item *item)
{
	return json_pack("{s:o, s:s, s:o, s:o, s:b}", "name", tool_text(item->name), "kind",
	                 kind_text(item->kind), "path", tool_text(item->path), "summary",
	                 tool_text(item->summary), "in_force", is_in_force(t, item));
}

static json_t *place_json(const struct place *p)
{
	return json_pack("{s:s, s:s, s:o, s:s, s:b}", "name", "policy", "kind", "project", "path",
	                 tool_text(p->path), "state",
	                 trust_state_text(trust_compare(p->record, p->path)), "in_force",
	                 p->record != NULL);
}

static int list_json(const struct tool *t, const struct sources_item *items, size_t n,
                     const struct place *p)
{
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(all, item_json(t, &items[i]));
	if (p->path)
		json_array_append_new(all, place_json(p));
	return tool_print_json(all);
}

int verb_list(struct tool *t)
{
	struct sources_item *items = NULL;
	__attribute__((cleanup(drop_place))) struct place p = {NULL, NULL};
	int status = TOOL_CLEAN;
	size_t n = 0;
	int err = sources_list(world_folders(t->world), world_shipped(t->world), &items, &n);

	if (err)
		return tool_failed(t, world_shipped(t->world), err);
	err = trust_find(world_folders(t->world), &p.path, &p.record);
	if (err && err != -ERR_NOTFOUND)
		status = tool_failed(t, "the project's policy", err);
	if (t->options & TOOL_JSON) {
		status = list_json(t, items, n, &p);
	} else {
		for (size_t i = 0; i < n; i++)
			print_item(t, &items[i], is_in_force(t, &items[i]));
		print_place(t, &p);
		puts("* in force here; a part is for other policies to include");
	}
	sources_list_free(items, n);
	return status;
}

/* --- show ------------------------------------------------------------- */

static json_t *classes_json(unsigned classes)
{
	json_t *list = json_array();

	for (int c = 0; c < CLASS_COUNT; c++)
		if (classes & 1u << c)
			json_array_append_new(list,
			                      json_string(policy_class_name((enum policy_class)c)));
	return list;
}

static json_t *rule_json(const struct policy *p, size_t at, const struct policy_rule *r)
{
	json_t *objects = json_array();

	for (size_t i = 0; i < r->objects_n; i++)
		json_array_append_new(objects, tool_text(policy_rule_object(p, at, i)));
	return json_pack("{s:o, s:o, s:i, s:s, s:b, s:o, s:o, s:o, s:o}", "source",
	                 tool_text(r->source), "file", tool_text(r->file), "line", (int)r->line,
	                 "answer", policy_answer_name(r->answer), "final", r->is_final, "classes",
	                 classes_json(r->classes), "text", tool_text(r->text), "because",
	                 tool_text(r->because), "objects", objects);
}

static json_t *defaults_json(const struct policy *p)
{
	json_t *all = json_object();

	for (int c = 0; c < CLASS_COUNT; c++) {
		int answer = policy_default_of(p, (enum policy_class)c);

		json_object_set_new(
			all, policy_class_name((enum policy_class)c),
			answer < 0 ? json_null()
				   : json_string(policy_answer_name((enum policy_answer)answer)));
	}
	return all;
}

static json_t *variables_json(const struct tool *t)
{
	static const char *const names[] = {"HOME",   "PROJECT", "GITDIR",  "TMPDIR", "CACHE",
	                                    "CONFIG", "STATE",   "RUNTIME", "UID"};
	json_t *all = json_object();

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		json_object_set_new(all, names[i],
		                    tool_text(folders_get(world_folders(t->world), names[i])));
	return all;
}

static json_t *sources_json(const struct policy *p)
{
	json_t *all = json_array();

	for (size_t i = 0; i < policy_source_count(p); i++) {
		const struct policy_source *s = policy_source_at(p, i);

		json_array_append_new(all, json_pack("{s:o, s:o}", "name", tool_text(s->name),
		                                     "path", tool_text(s->path)));
	}
	return all;
}

static json_t *secrets_json(const struct policy *p)
{
	json_t *all = json_array();

	for (size_t i = 0; i < policy_secret_count(p); i++) {
		const struct policy_secret *s = policy_secret_at(p, i);

		json_array_append_new(
			all, json_pack("{s:o, s:o, s:o, s:o, s:i, s:o}", "name", tool_text(s->name),
		                       "from", tool_text(s->from_kind), "as", tool_text(s->as_kind),
		                       "file", tool_text(s->file), "line", (int)s->line, "text",
		                       tool_text(s->text)));
	}
	return all;
}

static json_t *limits_json(const struct policy *p)
{
	json_t *all = json_array();

	for (size_t i = 0; i < policy_limit_count(p); i++) {
		const struct policy_limit *l = policy_limit_at(p, i);

		json_array_append_new(all,
		                      json_pack("{s:o, s:I, s:o, s:o, s:o, s:i}", "name",
		                                tool_text(l->name), "amount", (json_int_t)l->amount,
		                                "in", tool_text(l->in), "then", tool_text(l->then),
		                                "file", tool_text(l->file), "line", (int)l->line));
	}
	return all;
}

static json_t *retention_json(const struct policy_retention *r)
{
	if (!r->amount)
		return json_null();
	return json_pack("{s:I, s:o, s:i, s:o}", "amount", (json_int_t)r->amount, "file",
	                 tool_text(r->file), "line", (int)r->line, "text", tool_text(r->text));
}

static json_t *audit_json(const struct policy *p)
{
	const struct policy_audit *a = policy_audit_of(p);

	return json_pack("{s:b, s:o, s:o}", "sync", a->sync, "keep", retention_json(&a->keep),
	                 "max_size", retention_json(&a->max_size));
}

static int show_json(const struct tool *t, const struct policy *p)
{
	json_t *rules = json_array();

	for (size_t i = 0; i < policy_rule_count(p); i++) {
		struct policy_rule r;

		policy_rule_at(p, i, &r);
		json_array_append_new(rules, rule_json(p, i, &r));
	}
	return tool_print_json(json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rules", rules, "defaults", defaults_json(p),
		"variables", variables_json(t), "files", sources_json(p), "secrets",
		secrets_json(p), "limits", limits_json(p), "audit", audit_json(p)));
}

static void print_rule(const struct tool *t, const struct policy *p, size_t at,
                       const struct policy_rule *r)
{
	auto_free char *where = NULL;

	if (asprintf(&where, r->line ? "%s:%u" : "%s", r->file, r->line) < 0)
		where = NULL;
	printf("%-22s %s%s%s\n", where ? where : "", tool_paint(t, policy_answer_name(r->answer)),
	       r->text, tool_paint(t, NULL));
	for (size_t i = 0; i < r->objects_n; i++) {
		const char *pattern = policy_rule_object(p, at, i);
		auto_free char *object = text_printable_str(pattern ? pattern : "(all)", 0);

		printf("%-22s   %s%s%s\n", "", tool_paint(t, "dim"), object, tool_paint(t, NULL));
	}
}

static void print_default(const struct tool *t, const struct policy *p)
{
	int answer = policy_default_of(p, CLASS_READ);
	const char *word = answer < 0 ? "pass" : policy_answer_name((enum policy_answer)answer);

	printf("%-22s default %s%s%s\n", "", tool_paint(t, word), word, tool_paint(t, NULL));
	for (int c = 0; c < CLASS_COUNT; c++) {
		int other = policy_default_of(p, (enum policy_class)c);

		if (other >= 0 && other != answer)
			printf("%-22s default %s %s\n", "",
			       policy_answer_name((enum policy_answer)other),
			       policy_class_name((enum policy_class)c));
	}
}

static void print_retention(const struct policy_retention *r)
{
	auto_free char *where = NULL;

	if (!r->amount)
		return;
	if (asprintf(&where, "%s:%u", r->file, r->line) < 0)
		where = NULL;
	printf("%-22s %s\n", where ? where : "", r->text);
}

int verb_show(struct tool *t)
{
	auto_policy p = NULL;
	const char *source = "";
	int status = tool_load(t, t->args[0], t->args_n > 0, false, &p, NULL);

	if (status)
		return status;
	if (t->options & TOOL_JSON)
		return show_json(t, p);
	print_default(t, p);
	print_retention(&policy_audit_of(p)->keep);
	print_retention(&policy_audit_of(p)->max_size);
	for (size_t i = 0; i < policy_rule_count(p); i++) {
		struct policy_rule r;

		policy_rule_at(p, i, &r);
		if (strcmp(r.source, source) != 0 && t->args_n == 0)
			printf("%s%s%s\n", tool_paint(t, "bold"), r.source, tool_paint(t, NULL));
		source = r.source;
		print_rule(t, p, i, &r);
	}
	return TOOL_CLEAN;
}
