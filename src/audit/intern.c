#include "audit/intern.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define WAYS 8

struct entry {
	struct intern_key key;
	uint64_t id; /* 0: free */
};

struct intern {
	uint8_t secret[crypto_shorthash_siphashx24_KEYBYTES];
	size_t sets;
	unsigned turn; /* which way is replaced next */
	struct entry entries[];
};

_Static_assert(sizeof(struct intern_key) == crypto_shorthash_siphashx24_BYTES, "the whole hash");

int intern_new(size_t entries, struct intern **out)
{
	struct intern *i;

	invariant(entries >= WAYS && (entries & (entries - 1)) == 0);
	i = calloc(1, sizeof *i + entries * sizeof i->entries[0]);
	if (!i)
		return -ERR_NOMEM;
	randombytes_buf(i->secret, sizeof i->secret);
	i->sets = entries / WAYS;
	*out = i;
	return 0;
}

void intern_free(struct intern *i)
{
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

void intern_add(struct intern *i, const struct intern_key *key, uint64_t id)
{
	struct entry *set = &i->entries[set_of(i, key) * WAYS];
	unsigned way = i->turn;

	for (unsigned w = 0; w < WAYS; w++)
		if (!set[w].id)
			way = w;
	set[way] = (struct entry){*key, id};
	i->turn = (i->turn + 1) % WAYS;
}
