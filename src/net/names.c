#include "net/names.h"

#include "net/addr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 4096u
#define NAMES_OF_ONE_MAX 64u
#define NS_PER_S 1000000000u
/* A program connects some time after it has asked, tries several addresses,
 * and many keep an answer for a while whatever its TTL. */
#define LEAST_S 60u
#define MOST_S 86400u

struct entry {
	struct facts_addr addr; /* family and ip only */
	uint64_t until_ns;
	char *name; /* NULL: free */
};

struct names {
	pthread_mutex_t lock;
	unsigned next; /* to be overwritten */
	unsigned used; /* entries from here on are free */
	struct entry entries[NAMES_MAX];
};

int names_new(struct names **out)
{
	struct names *n = calloc(1, sizeof *n);

	if (!n)
		return -ERR_NOMEM;
	pthread_mutex_init(&n->lock, NULL);
	*out = n;
	return 0;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	for (unsigned i = 0; i < n->used; i++)
		free(n->entries[i].name);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

uint64_t names_lifetime_ns(uint32_t ttl_s)
{
	uint32_t s = ttl_s < LEAST_S ? LEAST_S : ttl_s > MOST_S ? MOST_S : ttl_s;

	return (uint64_t)s * NS_PER_S;
}

static struct entry *find(struct names *n, const char *name, const struct facts_addr *addr)
{
	for (unsigned i = 0; i < n->used; i++) {
		struct entry *e = &n->entries[i];

		if (e->name && addr_same_ip(&e->addr, addr) && strcmp(e->name, name) == 0)
			return e;
	}
	return NULL;
}

void names_learn(struct names *n, const char *name, const struct facts_addr *addr,
                 uint64_t until_ns)
{
	char *copy = strdup(name);
	struct entry *e;

	if (!copy)
		return; /* not known, and so not allowed */
	pthread_mutex_lock(&n->lock);
	e = find(n, name, addr);
	if (!e) {
		e = &n->entries[n->next];
		n->used = n->next >= n->used ? n->next + 1 : n->used;
		n->next = (n->next + 1) % NAMES_MAX;
		e->until_ns = 0;
	}
	free(e->name);
	e->name = copy;
	e->addr = *addr;
	if (until_ns > e->until_ns)
		e->until_ns = until_ns;
	pthread_mutex_unlock(&n->lock);
}

/* One line: an address, then its names, until a '#'. */
static void learn_line(struct names *n, const char *line, size_t len, uint64_t until_ns)
{
	static const char blanks[] = " \t\r";
	struct facts_addr addr = {.family = ADDR_NONE};
	char text[512];
	char *rest = text;
	char *word;
	bool first = true;

	if (len >= sizeof text)
		return;
	memcpy(text, line, len);
	text[len] = '\0';
	text[strcspn(text, "#")] = '\0';
	while ((word = strsep(&rest, blanks)) != NULL) {
		if (!*word)
			continue;
		if (first && addr_parse_ip(word, &addr) != 0)
			return;
		for (char *c = word; !first && *c; c++)
			*c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
		if (!first)
			names_learn(n, word, &addr, until_ns);
		first = false;
	}
}

void names_learn_hosts(struct names *n, const char *text, uint64_t until_ns)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		learn_line(n, text, len, until_ns);
		text += len + (text[len] == '\n');
	}
}

/* The pointers first, the text behind them. */
static const char *const *pack(struct entry *const *found, size_t count)
{
	size_t bytes = (count + 1) * sizeof(char *);
	const char **list;
	char *text;

	for (size_t i = 0; i < count; i++)
		bytes += strlen(found[i]->name) + 1;
	list = malloc(bytes);
	if (!list)
		return NULL;
	text = (char *)(list + count + 1);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(found[i]->name) + 1;

		list[i] = memcpy(text, found[i]->name, len);
		text += len;
	}
	list[count] = NULL;
	return list;
}

const char *const *names_of(struct names *n, const struct facts_addr *addr, uint64_t now_ns)
{
	struct entry *found[NAMES_OF_ONE_MAX];
	const char *const *list = NULL;
	size_t count = 0;

	pthread_mutex_lock(&n->lock);
	for (unsigned i = 0; i < n->used && count < NAMES_OF_ONE_MAX; i++) {
		struct entry *e = &n->entries[i];

		if (e->name && e->until_ns > now_ns && addr_same_ip(&e->addr, addr))
			found[count++] = e;
	}
	if (count > 0)
		list = pack(found, count);
	pthread_mutex_unlock(&n->lock);
	return list;
}
