#include "audit/places.h"

#include <stdlib.h>

void places_free(struct places *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct places){0};
}

static size_t slot_of(const struct places *m, uint64_t key)
{
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (m->cap - 1);

	while (m->keys[i] && m->keys[i] != key + 1)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static int grow(struct places *m)
{
	struct places bigger = {.cap = m->cap ? m->cap * 2 : 1024, .n = m->n};

	bigger.keys = calloc(bigger.cap, sizeof *bigger.keys);
	bigger.values = calloc(bigger.cap, sizeof *bigger.values);
	if (!bigger.keys || !bigger.values) {
		places_free(&bigger);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < m->cap; i++) {
		if (m->keys[i]) {
			size_t to = slot_of(&bigger, m->keys[i] - 1);

			bigger.keys[to] = m->keys[i];
			bigger.values[to] = m->values[i];
		}
	}
	places_free(m);
	*m = bigger;
	return 0;
}

int places_put(struct places *m, uint64_t key, uint32_t *place, bool *fresh)
{
	size_t i;

	if (((size_t)m->n + 1) * 2 > m->cap) {
		int err = grow(m);

		if (err)
			return err;
	}
	i = slot_of(m, key);
	*fresh = m->keys[i] == 0;
	if (*fresh) {
		m->keys[i] = key + 1;
		m->values[i] = m->n++;
	}
	*place = m->values[i];
	return 0;
}

bool places_find(const struct places *m, uint64_t key, uint32_t *place)
{
	size_t i;

	if (!m->cap)
		return false;
	i = slot_of(m, key);
	if (!m->keys[i])
		return false;
	*place = m->values[i];
	return true;
}

bool places_same_find(const struct places_same *s, uint64_t id, uint32_t *place)
{
	uint32_t at;

	if (!places_find(&s->ids, id, &at))
		return false;
	*place = s->number[at];
	return true;
}

int places_same_add(struct places_same *s, uint64_t id, uint64_t hash, uint32_t *place, bool *fresh)
{
	uint32_t at;
	bool first;
	int err = places_put(&s->hashes, hash >> 1, place, fresh);

	if (!err && s->ids.n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 1024;
		uint32_t *more = reallocarray(s->number, cap, sizeof *more);

		if (!more)
			return -ERR_NOMEM;
		s->number = more;
		s->cap = cap;
	}
	if (!err)
		err = places_put(&s->ids, id, &at, &first);
	if (!err)
		s->number[at] = *place;
	return err;
}

void places_same_free(struct places_same *s)
{
	places_free(&s->ids);
	places_free(&s->hashes);
	free(s->number);
	*s = (struct places_same){0};
}
