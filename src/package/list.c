#include "package/list.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)8192)

struct block {
	struct block *next;
	size_t used_bytes, size_bytes;
	char bytes[];
};

struct package_memory {
	struct block *blocks;
	struct package spare; /* what is written to it is lost */
	bool failed;
};

int list_begin(struct package_list *l)
{
	*l = (struct package_list){.memory = calloc(1, sizeof *l->memory)};
	return l->memory ? 0 : -ERR_NOMEM;
}

const char *list_text(struct package_list *l, const char *bytes, size_t len)
{
	struct package_memory *m = l->memory;
	struct block *b;
	char *to;

	b = m->blocks;
	if (!b || b->size_bytes - b->used_bytes <= len) {
		size_t size = len + 1 > BLOCK_BYTES ? len + 1 : BLOCK_BYTES;

		b = malloc(sizeof *b + size);
		if (!b) {
			m->failed = true;
			return NULL;
		}
		*b = (struct block){.next = m->blocks, .size_bytes = size};
		m->blocks = b;
	}
	to = b->bytes + b->used_bytes;
	memcpy(to, bytes, len);
	to[len] = '\0';
	b->used_bytes += len + 1;
	return to;
}

const char *list_str(struct package_list *l, const char *text)
{
	return text ? list_text(l, text, strlen(text)) : NULL;
}

static struct package *spare(struct package_list *l)
{
	l->memory->spare = (struct package){0};
	return &l->memory->spare;
}

struct package *list_add(struct package_list *l)
{
	struct package *p;

	if (l->n == PACKAGES_MAX) {
		l->incomplete = true;
		return spare(l);
	}
	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 16;
		struct package *items = realloc(l->items, cap * sizeof *items);

		if (!items) {
			l->memory->failed = true;
			return spare(l);
		}
		l->items = items;
		l->cap = cap;
	}
	p = &l->items[l->n++];
	*p = (struct package){0};
	return p;
}

struct package *list_find(const struct package_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].name && strcmp(l->items[i].name, name) == 0)
			return &l->items[i];
	return NULL;
}

bool list_failed(const struct package_list *l)
{
	return l->memory->failed;
}

void package_list_free(struct package_list *l)
{
	if (l->memory) {
		while (l->memory->blocks) {
			struct block *b = l->memory->blocks;

			l->memory->blocks = b->next;
			free(b);
		}
		free(l->memory);
	}
	free(l->items);
	*l = (struct package_list){0};
}
