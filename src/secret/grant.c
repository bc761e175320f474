#include "secret/grant.h"

#include "base/uses.h"
#include "secret/redact.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

USED_BEFORE(mlock);

/* Of all values with their forms. */
#define VALUES_MAX_BYTES ((size_t)2 << 20)

struct held {
	const char *name;  /* that the recipient sees; the policy's */
	const char *from;  /* wary's variable; the policy's */
	const char *value; /* in the locked memory; NULL: none */
	size_t len_bytes;
};

struct secrets {
	char *memory; /* mmap */
	size_t memory_bytes;
	struct held *held; /* one for each secret of the policy */
	size_t n;
	/* What is never to be on record; their bytes are in the memory. */
	struct redact_needle *needles;
	size_t needles_n;
};

/* The value of NAME in "NAME=value", or NULL. */
static const char *value_in(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=' ? entry + len + 1 : NULL;
}

static bool is_from_environment(const struct policy_secret *s)
{
	return strcmp(s->from_kind, "env") == 0;
}

static size_t values_size(const struct policy *p, char *const *envp)
{
	size_t sum = 0;

	for (size_t i = 0; i < policy_secret_count(p); i++) {
		const struct policy_secret *s = policy_secret_at(p, i);

		for (char *const *e = envp; is_from_environment(s) && *e; e++)
			if (value_in(*e, s->from))
				sum += strlen(*e) + 1 + redact_forms_size(strlen(*e));
	}
	return sum;
}

/* Locked, not dumped, not inherited. */
static int memory_new(struct secrets *s, size_t bytes)
{
	s->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->memory == MAP_FAILED) {
		s->memory = NULL;
		return -ERR_NOMEM;
	}
	s->memory_bytes = bytes;
	if (madvise(s->memory, bytes, MADV_DONTFORK) != 0 ||
	    madvise(s->memory, bytes, MADV_DONTDUMP) != 0)
		return -ERR_SYS;
	/* RLIMIT_MEMLOCK may be too small: then it may be swapped, no more. */
	(void)mlock(s->memory, bytes);
	return 0;
}

/* Keeps a value and the forms that it may take. Returns where the next goes. */
static char *keep(struct secrets *s, struct held *h, const char *value, char *at)
{
	h->len_bytes = strlen(value);
	memcpy(at, value, h->len_bytes + 1);
	h->value = at;
	at += h->len_bytes + 1;
	s->needles_n +=
		redact_forms(h->name, h->value, h->len_bytes, at, s->needles + s->needles_n);
	return at + redact_forms_size(h->len_bytes);
}

static void copy_values(struct secrets *s, const struct policy *p, char *const *envp)
{
	char *at = s->memory;

	for (size_t i = 0; i < s->n; i++) {
		const struct policy_secret *secret = policy_secret_at(p, i);

		s->held[i].name = secret->name;
		s->held[i].from = is_from_environment(secret) ? secret->from : NULL;
		for (char *const *e = envp; at && s->held[i].from && *e; e++) {
			const char *value = value_in(*e, secret->from);

			if (value && !s->held[i].value)
				at = keep(s, &s->held[i], value, at);
		}
	}
}

/* The variables themselves: overwritten where they stand. */
static void wipe(const struct secrets *s, char **envp)
{
	char **kept = envp;

	for (char **e = envp; *e; e++) {
		if (secrets_manages(s, *e))
			explicit_bzero(*e, strlen(*e));
		else
			*kept++ = *e;
	}
	*kept = NULL;
}

int secrets_take(const struct policy *p, char **envp, struct secrets **out)
{
	struct secrets *s = calloc(1, sizeof *s);
	size_t bytes = values_size(p, envp);
	int err = 0;

	if (!s)
		return -ERR_NOMEM;
	s->n = policy_secret_count(p);
	s->held = calloc(s->n + 1, sizeof *s->held);
	s->needles = calloc(s->n + 1, REDACT_FORMS_MAX * sizeof *s->needles);
	if (!s->held || !s->needles)
		err = -ERR_NOMEM;
	else if (bytes > VALUES_MAX_BYTES)
		err = -ERR_BOUND;
	else if (bytes)
		err = memory_new(s, bytes);
	if (err) {
		secrets_free(s);
		return err;
	}
	copy_values(s, p, envp);
	wipe(s, envp);
	if (s->memory)
		(void)mprotect(s->memory, s->memory_bytes, PROT_READ);
	*out = s;
	return 0;
}

void secrets_free(struct secrets *s)
{
	if (!s)
		return;
	if (s->memory) {
		if (mprotect(s->memory, s->memory_bytes, PROT_READ | PROT_WRITE) == 0)
			explicit_bzero(s->memory, s->memory_bytes);
		(void)munmap(s->memory, s->memory_bytes);
	}
	free(s->held);
	free(s->needles);
	free(s);
}

bool secrets_manages(const struct secrets *s, const char *entry)
{
	for (size_t i = 0; s && i < s->n; i++)
		if (value_in(entry, s->held[i].name) ||
		    (s->held[i].from && value_in(entry, s->held[i].from)))
			return true;
	return false;
}

bool secrets_has(const struct secrets *s, size_t i)
{
	return s && i < s->n && s->held[i].value;
}

int secrets_put(const struct secrets *s, size_t i, struct startup *to)
{
	if (!secrets_has(s, i))
		return -ERR_NOTFOUND;
	return startup_add(to, s->held[i].name, s->held[i].value, s->held[i].len_bytes);
}

bool secrets_redact(void *secrets, const char *text, size_t len_bytes, struct buf *out)
{
	const struct secrets *s = secrets;

	return s && redact_text(s->needles, s->needles_n, text, len_bytes, out);
}
