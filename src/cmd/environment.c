#include "cmd/environment.h"

#include "base/buf.h"
#include "base/own.h"
#include "policy/settings.h"

#include <stdlib.h>
#include <string.h>

static bool is_set_anew(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < policy_env_set_count(p); i++)
		if (strcmp(policy_env_set_at(p, i)->name, name) == 0)
			return true;
	return false;
}

static bool keeps(const struct policy *p, const char *entry)
{
	const char *equals = strchr(entry, '=');
	auto_free char *name = strndup(entry, equals ? (size_t)(equals - entry) : strlen(entry));

	return name && !is_set_anew(p, name) && policy_env_keeps(p, name);
}

static int add_set(const struct policy *p, char **out, size_t *n)
{
	for (size_t i = 0; i < policy_env_set_count(p); i++) {
		const struct policy_env_set *set = policy_env_set_at(p, i);
		auto_buf entry = BUF_INIT;

		buf_str(&entry, set->name);
		buf_chr(&entry, '=');
		buf_str(&entry, set->value);
		out[*n] = buf_take(&entry);
		if (!out[*n])
			return -ERR_NOMEM;
		++*n;
	}
	return 0;
}

#define RES_OPTIONS "RES_OPTIONS="

/* What the user has asked of the resolver stays. */
static char *resolver_options(const char *given)
{
	struct buf entry = BUF_INIT;

	buf_str(&entry, given ? given : RES_OPTIONS);
	buf_str(&entry, given && given[strlen(RES_OPTIONS)] ? " use-vc" : "use-vc");
	return buf_take(&entry);
}

static int add_lookups(char **made, size_t *n)
{
	for (size_t i = 0; i <= *n; i++) {
		bool here = i < *n && strncmp(made[i], RES_OPTIONS, strlen(RES_OPTIONS)) == 0;
		char *entry;

		if (i < *n && !here)
			continue;
		entry = resolver_options(here ? made[i] : NULL);
		if (!entry)
			return -ERR_NOMEM;
		free(made[i]);
		made[i] = entry;
		*n += here ? 0 : 1;
		break;
	}
	return 0;
}

int environment_make(const struct policy *p, char *const *envp, bool lookups, char ***out)
{
	size_t n = 0, count = 0;
	char **made;

	while (envp[count])
		count++;
	made = calloc(count + policy_env_set_count(p) + 2, sizeof *made);
	if (!made)
		return -ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!keeps(p, envp[i]))
			continue;
		made[n] = strdup(envp[i]);
		if (!made[n++]) {
			environment_free(made);
			return -ERR_NOMEM;
		}
	}
	if (add_set(p, made, &n) != 0 || (lookups && add_lookups(made, &n) != 0)) {
		environment_free(made);
		return -ERR_NOMEM;
	}
	*out = made;
	return 0;
}

void environment_free(char **envp)
{
	for (size_t i = 0; envp && envp[i]; i++)
		free(envp[i]);
	free(envp);
}
