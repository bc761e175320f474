/* A made-up machine for the tests of policies: files, links, variables. */
#ifndef WARY_TESTS_UNIT_POLICY_WORLD_H
#define WARY_TESTS_UNIT_POLICY_WORLD_H

#include "policy/check.h"
#include "policy/explain.h"
#include "policy/policy.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct made_file {
	const char *word; /* as read() is asked */
	const char *text;
	const char *path; /* NULL: the word */
};

struct made_node {
	const char *path;
	enum policy_kind kind;
	const char *target; /* of a link */
	uint64_t ino;
};

struct made_pair {
	const char *name, *value;
};

/* One machine; lists end with a NULL name. */
struct made_world {
	struct policy_world world;
	struct made_file files[16];
	struct made_node nodes[48];
	struct made_pair variables[16];
	struct made_pair environment[8];
	const char *const *npm_hosts;
	const char *const *npm_files;
	const char *user;
	unsigned looks, lists;
};

static inline int made_read(void *ctx, const char *from, const char *word, char **text, size_t *len,
                            char **path)
{
	struct made_world *w = ctx;

	(void)from;
	for (size_t i = 0; w->files[i].word; i++) {
		if (strcmp(w->files[i].word, word) != 0)
			continue;
		*text = strdup(w->files[i].text);
		*len = strlen(w->files[i].text);
		*path = strdup(w->files[i].path ? w->files[i].path : word);
		return 0;
	}
	return -ERR_NOTFOUND;
}

static inline enum policy_kind made_look(void *ctx, const char *path, char **target, uint64_t *dev,
                                         uint64_t *ino)
{
	struct made_world *w = ctx;

	w->looks++;
	for (size_t i = 0; w->nodes[i].path; i++) {
		if (strcmp(w->nodes[i].path, path) != 0)
			continue;
		*target = w->nodes[i].target ? strdup(w->nodes[i].target) : NULL;
		*dev = 1;
		*ino = w->nodes[i].ino;
		return w->nodes[i].kind;
	}
	return POLICY_ABSENT;
}

static inline const char *made_pair_of(const struct made_pair *pairs, const char *name)
{
	for (; pairs->name; pairs++)
		if (strcmp(pairs->name, name) == 0)
			return pairs->value;
	return NULL;
}

static inline const char *made_variable(void *ctx, const char *name)
{
	return made_pair_of(((struct made_world *)ctx)->variables, name);
}

static inline const char *made_environment(void *ctx, const char *name)
{
	return made_pair_of(((struct made_world *)ctx)->environment, name);
}

static inline const char *const *made_registry(void *ctx, const char *manager)
{
	return strcmp(manager, "npm") == 0 ? ((struct made_world *)ctx)->npm_hosts : NULL;
}

static inline const char *const *made_registry_files(void *ctx, const char *manager)
{
	return strcmp(manager, "npm") == 0 ? ((struct made_world *)ctx)->npm_files : NULL;
}

static inline bool made_user_is(void *ctx, const char *word)
{
	const char *user = ((struct made_world *)ctx)->user;

	return user && strcmp(user, word) == 0;
}

/** made_begin: home /home/ana, project ~/proj, the usual variables. */
static inline void made_begin(struct made_world *w)
{
	static const char *const hosts[] = {"registry.npmjs.org:443", NULL};
	static const char *const files[] = {"/home/ana/.npmrc", NULL};
	static const struct made_pair variables[] = {
		{"HOME", "/home/ana"},
		{"PROJECT", "/home/ana/proj"},
		{"TMPDIR", "/tmp"},
		{"CACHE", "/home/ana/.cache"},
		{"CONFIG", "/home/ana/.config"},
		{"STATE", "/home/ana/.local/state"},
		{"RUNTIME", "/run/user/1000"},
		{"UID", "1000"},
		{NULL, NULL},
	};

	*w = (struct made_world){.npm_hosts = hosts, .npm_files = files};
	memcpy(w->variables, variables, sizeof variables);
	w->world = (struct policy_world){.ctx = w,
	                                 .read = made_read,
	                                 .look = made_look,
	                                 .variable = made_variable,
	                                 .environment = made_environment,
	                                 .registry = made_registry,
	                                 .registry_files = made_registry_files,
	                                 .user_is = made_user_is,
	                                 .now_s = 1000};
}

/** made_file_is: the text of a word. */
static inline void made_file_is(struct made_world *w, const char *word, const char *text)
{
	size_t i = 0;

	while (w->files[i].word && strcmp(w->files[i].word, word) != 0)
		i++;
	w->files[i] = (struct made_file){word, text, NULL};
}

/* Messages as text: "file:line:col: error: text | hint". */
static inline const char *made_message(const struct policy_report *r, size_t i)
{
	static char text[1200];
	static const char *const kinds[] = {"error", "warning", "note"};
	const struct policy_message *m = policy_report_at(r, i);

	if (!m)
		return "(no message)";
	snprintf(text, sizeof text, "%s:%u:%u-%u: %s: %s%s%s", m->file, m->line, m->column,
	         m->column + m->len_columns, kinds[m->kind], m->text, m->hint ? " | " : "",
	         m->hint ? m->hint : "");
	return text;
}

/** made_load_files: loads; on failure the first message is a failed check. */
static inline struct policy *made_load_files(struct made_world *w, const char *const *files)
{
	struct policy_report *r = NULL;
	struct policy *p = NULL;
	int err = policy_load(&w->world, files, &p, &r);

	if (err)
		tap_ok(false, "policy loads: %s", made_message(r, 0));
	policy_report_free(r);
	return err ? NULL : p;
}

/** made_load: one user's text. */
static inline struct policy *made_load(struct made_world *w, const char *text)
{
	const char *files[] = {"user.wary", NULL};

	made_file_is(w, "user.wary", text);
	return made_load_files(w, files);
}

/** made_verdict: "deny user.wary:3" for a written question. */
static inline const char *made_verdict(struct made_world *w, const struct policy *p,
                                       const char *question)
{
	static char text[300];
	struct policy_question *q = NULL;
	const struct facts *f = NULL;
	struct policy_report *r = NULL;
	struct verdict v;

	if (!p)
		return "(no policy)";
	if (policy_question_new(p, &w->world, question, &q, &f, &r)) {
		snprintf(text, sizeof text, "%s", made_message(r, 0));
		policy_report_free(r);
		return text;
	}
	policy_decide(p, f, &v);
	snprintf(text, sizeof text, "%s %s:%u", policy_answer_name(v.answer), v.file, v.line);
	policy_report_free(r);
	policy_question_free(q);
	return text;
}

/** made_is: that a question has a verdict by a rule. */
static inline void made_is(struct made_world *w, const struct policy *p, const char *question,
                           const char *want, const char *why)
{
	tap_is_str(made_verdict(w, p, question), want, "%s: %s", why, question);
}

/** made_refused: that a user's text is refused with this first message. */
static inline void made_refused(struct made_world *w, const char *text, const char *want)
{
	const char *files[] = {"user.wary", NULL};
	struct policy_report *r = NULL;
	struct policy *p = NULL;
	int err;

	made_file_is(w, "user.wary", text);
	err = policy_load(&w->world, files, &p, &r);
	tap_is_str(err ? made_message(r, 0) : "(loaded)", want, "%s", want);
	if (!err)
		policy_free(p);
	policy_report_free(r);
}

#endif
