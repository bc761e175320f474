#include "audit/intern.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WAYS 8

struct entry {
	struct intern_key key;
	uint64_t id; /* 0: free */
};

/* Few at first: a short session, whose keys lie anywhere in it, would touch a page for each
 * of them. */
#define FIRST_SETS 32

struct intern {
	uint8_t secret[crypto_shorthash_siphashx24_KEYBYTES];
	size_t sets, sets_max; /* powers of two */
	unsigned turn;         /* which way is replaced next */
	struct entry *entries; /* WAYS of each set */
};

_Static_assert(sizeof(struct intern_key) == crypto_shorthash_siphashx24_BYTES, "the whole hash");

int intern_new(size_t entries, struct intern **out)
{
	struct intern *i;

	invariant(entries >= WAYS && (entries & (entries - 1)) == 0);
	i = calloc(1, sizeof *i);
	if (!i)
		return -ERR_NOMEM;
	i->sets_max = entries / WAYS;
	i->sets = i->sets_max < FIRST_SETS ? i->sets_max : FIRST_SETS;
	i->entries = calloc(i->sets * WAYS, sizeof *i->entries);
	if (!i->entries) {
		free(i);
		return -ERR_NOMEM;
	}
	randombytes_buf(i->secret, sizeof i->secret);
	*out = i;
	return 0;
}

void intern_forget(struct intern *i)
{
	memset(i->entries, 0, i->sets * WAYS * sizeof *i->entries);
}

void intern_free(struct intern *i)
{
	if (i)
		free(i->entries);
	free(i);
}

void intern_key(const struct intern *i, const void *bytes, size_t len_bytes, struct intern_key *out)
{
	invariant(crypto_shorthash_siphashx24(out->bytes, bytes, len_bytes, i->secret) == 0);
}

static size_t set_of(const struct intern *i, const struct intern_key *key)
{
	uint64_t v;

	memcpy(&v, key->bytes, sizeof v);
	return (size_t)v & (i->sets - 1);
}

uint64_t intern_find(const struct intern *i, const struct intern_key *key)
{
	const struct entry *set = &i->entries[set_of(i, key) * WAYS];

	for (unsigned w = 0; w < WAYS; w++)
		if (set[w].id && memcmp(&set[w].key, key, sizeof *key) == 0)
			return set[w].id;
	return 0;
}

static void put(struct intern *i, const struct entry *e, unsigned way)
{
	struct entry *set = &i->entries[set_of(i, &e->key) * WAYS];

	for (unsigned w = 0; w < WAYS; w++)
		if (!set[w].id)
			way = w;
	set[way] = *e;
}

static bool is_full(const struct intern *i, const struct intern_key *key)
{
	const struct entry *set = &i->entries[set_of(i, key) * WAYS];

	for (unsigned w = 0; w < WAYS; w++)
		if (!set[w].id)
			return false;
	return true;
}

/* Each set becomes two, so that all of it finds room. Without memory it stays as it is. */
static void grow(struct intern *i)
{
	size_t n = i->sets * WAYS;
	struct entry *old = i->entries;
	struct entry *more = calloc(2 * n, sizeof *more);

	if (!more)
		return;
	i->entries = more;
	i->sets *= 2;
	for (size_t k = 0; k < n; k++)
		if (old[k].id)
			put(i, &old[k], 0);
	free(old);
}

void intern_add(struct intern *i, const struct intern_key *key, uint64_t id)
{
	const struct entry e = {*key, id};

	if (i->sets < i->sets_max && is_full(i, key))
		grow(i);
	put(i, &e, i->turn);
	i->turn = (i->turn + 1) % WAYS;
}
