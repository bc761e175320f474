#include "package/touched.h"

#include "base/own.h"

#include <string.h>

#define SLOTS_FIRST ((size_t)256)

/* FNV-1a: what it is made of is bounded, whoever chooses it. */
static uint64_t hash(const char *bytes, size_t len)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
	return h ^ h >> 32;
}

static bool is_at(const struct touched_place *p, const char *path, size_t len)
{
	return p->site.place_len == len && memcmp(p->path, path, len) == 0;
}

/* The slot that a place has, or would have. */
static uint32_t *slot_of(const struct touched *t, const char *path, size_t len)
{
	size_t i = hash(path, len) & (t->slots_n - 1);

	while (t->slots[i] && !is_at(&t->items[t->slots[i] - 1], path, len))
		i = (i + 1) & (t->slots_n - 1);
	return &t->slots[i];
}

static int grow_slots(struct touched *t)
{
	size_t n = t->slots_n ? t->slots_n * 2 : SLOTS_FIRST;
	uint32_t *slots = calloc(n, sizeof *slots);

	if (!slots)
		return -ERR_NOMEM;
	free(t->slots);
	t->slots = slots;
	t->slots_n = n;
	for (size_t i = 0; i < t->n; i++)
		*slot_of(t, t->items[i].path, t->items[i].site.place_len) = (uint32_t)i + 1;
	return 0;
}

static int make_room(struct touched *t)
{
	if (t->n >= TOUCHED_MAX)
		return -ERR_BOUND;
	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;
		struct touched_place *items = reallocarray(t->items, cap, sizeof *items);

		if (!items)
			return -ERR_NOMEM;
		t->items = items;
		t->cap = cap;
	}
	return 2 * (t->n + 1) > t->slots_n ? grow_slots(t) : 0;
}

static int add_new(struct touched *t, const char *path, const struct site *site, bool itself)
{
	int err = make_room(t);
	char *copy = err ? NULL : strndup(path, site->place_len);

	if (!err && !copy)
		err = -ERR_NOMEM;
	if (err) {
		t->more = true;
		return err;
	}
	*slot_of(t, copy, site->place_len) = (uint32_t)t->n + 1;
	t->last = t->n;
	t->items[t->n++] = (struct touched_place){copy, *site, itself};
	return 0;
}

int touched_add(struct touched *t, const char *path)
{
	struct site site;
	uint32_t at;
	bool itself;

	if (!site_of(path, &site))
		return 0;
	itself = path[site.place_len] == '\0';
	if (t->n && is_at(&t->items[t->last], path, site.place_len)) {
		t->items[t->last].itself |= itself;
		return 0;
	}
	at = t->slots_n ? *slot_of(t, path, site.place_len) : 0;
	if (!at)
		return add_new(t, path, &site, itself);
	t->last = at - 1;
	t->items[t->last].itself |= itself;
	return 0;
}

void touched_free(struct touched *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->items[i].path);
	free(t->items);
	free(t->slots);
	*t = (struct touched){0};
}
