#include "policy/hash.h"

#include <stdbool.h>

#define FIRST_CAP 16

static bool is_inline(size_t n)
{
	return n <= TEXT_INLINE_BYTES;
}

static bool slot_is(const struct text_slot *slot, const char *s, size_t n, uint64_t hash)
{
	if (slot->n != n)
		return false;
	if (is_inline(n))
		return memcmp(slot->bytes, s, n) == 0;
	return slot->hash == hash && memcmp(slot->s, s, n) == 0;
}

static struct text_slot *text_find(const struct text_map *m, const char *s, size_t n, uint64_t hash)
{
	size_t at = hash & (m->cap - 1);

	for (;;) {
		struct text_slot *slot = &m->slots[at];

		if (!slot->value || slot_is(slot, s, n, hash))
			return slot;
		at = (at + 1) & (m->cap - 1);
	}
}

uint32_t text_map_get(const struct text_map *m, const char *s, size_t n)
{
	if (!m->cap)
		return 0;
	return text_find(m, s, n, hash_bytes(s, n))->value;
}

static void text_grow(struct text_map *m, struct arena *a)
{
	struct text_map bigger = {.used = m->used, .cap = m->cap ? m->cap * 2 : FIRST_CAP};

	bigger.slots = arena_alloc(a, bigger.cap * sizeof *bigger.slots);
	for (size_t i = 0; i < m->cap; i++) {
		struct text_slot *slot = &m->slots[i];
		const char *s = is_inline(slot->n) ? slot->bytes : slot->s;

		if (slot->value)
			*text_find(&bigger, s, slot->n, hash_bytes(s, slot->n)) = *slot;
	}
	arena_release(a, m->slots, m->cap * sizeof *m->slots);
	*m = bigger;
}

uint32_t *text_map_at(struct text_map *m, struct arena *a, const char *s, size_t n)
{
	uint64_t hash = hash_bytes(s, n);
	struct text_slot *slot;

	if (2 * (m->used + 1) > m->cap)
		text_grow(m, a);
	slot = text_find(m, s, n, hash);
	if (!slot->value) {
		slot->n = (uint32_t)n;
		if (is_inline(n)) {
			memcpy(slot->bytes, s, n);
		} else {
			slot->s = s;
			slot->hash = hash;
		}
		m->used++;
	}
	return &slot->value;
}

static struct pair_slot *pair_find(const struct pair_map *m, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15u;
	size_t at = (hash ^ hash >> 32) & (m->cap - 1);

	for (;;) {
		struct pair_slot *slot = &m->slots[at];

		if (!slot->value || slot->key == key)
			return slot;
		at = (at + 1) & (m->cap - 1);
	}
}

uint32_t pair_map_get(const struct pair_map *m, uint64_t key)
{
	return m->cap ? pair_find(m, key)->value : 0;
}

static void pair_grow(struct pair_map *m, struct arena *a)
{
	struct pair_map bigger = {.used = m->used, .cap = m->cap ? m->cap * 2 : FIRST_CAP};

	bigger.slots = arena_alloc(a, bigger.cap * sizeof *bigger.slots);
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].value)
			*pair_find(&bigger, m->slots[i].key) = m->slots[i];
	arena_release(a, m->slots, m->cap * sizeof *m->slots);
	*m = bigger;
}

uint32_t *pair_map_at(struct pair_map *m, struct arena *a, uint64_t key)
{
	struct pair_slot *slot;

	if (2 * (m->used + 1) > m->cap)
		pair_grow(m, a);
	slot = pair_find(m, key);
	if (!slot->value) {
		slot->key = key;
		m->used++;
	}
	return &slot->value;
}
