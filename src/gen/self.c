#include "gen/self.h"

#include "base/err.h"
#include "call/rule.h"

#include <stdint.h>
#include <string.h>

struct form {
	const char *name, *call;
	const struct scalar_rule *rules;
	size_t n;
};

#define FORM(name, call, ...) static const struct scalar_rule rules_##name[] = {__VA_ARGS__};
#include "trap/forms.def"
#undef FORM

static const struct form forms[] = {
#define FORM(name, call, ...) \
	{#name, #call, rules_##name, sizeof rules_##name / sizeof rules_##name[0]},
#include "trap/forms.def"
#undef FORM
};
#define FORMS_N (sizeof forms / sizeof forms[0])

struct use {
	const char *role, *name, *from; /* a source, or a library */
};

static const struct use uses[] = {
#define USE(role, name, from) {#role, #name, from},
#include "trap/uses.inc"
#undef USE
};
#define USES_N (sizeof uses / sizeof uses[0])

static const char *const roles[] = {
#define START(role, file) #role,
#define PART(role, path)
#define LESS(role, file)
#define EARLY(role, file)
#define LIBRARY(role, name)
#include "trap/roles.def"
#undef START
};

/* What libc calls where a machine has no call of this name. */
static const struct {
	const char *name, *instead;
} newer[] = {
	{"access", "faccessat"}, {"epoll_wait", "epoll_pwait"},
	{"getpgrp", "getpgid"},  {"mkdir", "mkdirat"},
	{"poll", "ppoll"},       {"readlink", "readlinkat"},
	{"rename", "renameat"},  {"renameat", "renameat2"},
	{"unlink", "unlinkat"},
};

const char *self_role(size_t role)
{
	return role < sizeof roles / sizeof roles[0] ? roles[role] : NULL;
}

static const struct form *form_named(const char *name)
{
	for (size_t i = 0; i < FORMS_N; i++)
		if (strcmp(forms[i].name, name) == 0)
			return &forms[i];
	return NULL;
}

static bool has_forms(const char *call)
{
	for (size_t i = 0; i < FORMS_N; i++)
		if (strcmp(forms[i].call, call) == 0)
			return true;
	return false;
}

/* Whether a declaration of @name lets the call through, on this machine. */
static bool stands_for(const char *name, const struct call_row *row)
{
	const struct call_row *named = call_row_named(name);

	if (strcmp(name, row->name) == 0)
		return true;
	for (size_t i = 0; named && named->nr < 0 && i < sizeof newer / sizeof newer[0]; i++)
		if (strcmp(newer[i].name, name) == 0)
			return strcmp(newer[i].instead, row->name) == 0;
	return false;
}

static void add_form(const struct form *f, struct scalar_rule *rules, size_t *n)
{
	for (size_t i = 0; i < f->n; i++) {
		invariant(*n < SELF_RULES_MAX - 1);
		rules[(*n)++] = f->rules[i];
	}
}

enum self_answer self_answer(size_t role, const struct call_row *row, struct scalar_rule *rules,
                             size_t *rules_n)
{
	*rules_n = 0;
	for (size_t i = 0; i < USES_N; i++) {
		const struct form *form = form_named(uses[i].name);

		if (strcmp(uses[i].role, roles[role]) != 0)
			continue;
		if (!form && stands_for(uses[i].name, row))
			return SELF_ALLOW;
		if (form && strcmp(form->call, row->name) == 0)
			add_form(form, rules, rules_n);
	}
	if (*rules_n == 0)
		return SELF_ABSENT;
	rules[(*rules_n)++] = (struct scalar_rule){.what = SCALAR_REFUSE};
	return SELF_RULES;
}

static bool role_exists(const char *name)
{
	for (size_t i = 0; self_role(i); i++)
		if (strcmp(self_role(i), name) == 0)
			return true;
	return false;
}

const char *self_check(void)
{
	for (size_t i = 0; i < FORMS_N; i++)
		if (!call_row_named(forms[i].call))
			return forms[i].name;
	for (size_t i = 0; i < USES_N; i++) {
		if (!role_exists(uses[i].role))
			return uses[i].role;
		if (form_named(uses[i].name))
			continue;
		if (!call_row_named(uses[i].name) || has_forms(uses[i].name))
			return uses[i].name;
	}
	return NULL;
}
