#include "net/pins.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PINS_MAX 512u
#define ANSWER_MAX_BYTES 4096u

struct pin {
	char *name; /* NULL: free */
	uint8_t *bytes;
	size_t len_bytes;
	uint16_t type;
	uint64_t until_ns;
};

struct pins {
	pthread_mutex_t lock;
	unsigned next; /* to be overwritten */
	struct pin pins[PINS_MAX];
};

int pins_new(struct pins **out)
{
	struct pins *p = calloc(1, sizeof *p);

	if (!p)
		return -ERR_NOMEM;
	pthread_mutex_init(&p->lock, NULL);
	*out = p;
	return 0;
}

static void pin_clear(struct pin *pin)
{
	free(pin->name);
	free(pin->bytes);
	*pin = (struct pin){.name = NULL};
}

void pins_free(struct pins *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < PINS_MAX; i++)
		pin_clear(&p->pins[i]);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static struct pin *find(struct pins *p, const char *name, uint16_t type)
{
	for (unsigned i = 0; i < PINS_MAX; i++) {
		struct pin *pin = &p->pins[i];

		if (pin->name && pin->type == type && strcmp(pin->name, name) == 0)
			return pin;
	}
	return NULL;
}

static void replace(struct pin *pin, struct pin *made)
{
	pin_clear(pin);
	*pin = *made;
	*made = (struct pin){.name = NULL};
}

void pins_put(struct pins *p, const char *name, uint16_t type, const uint8_t *bytes,
              size_t len_bytes, uint64_t until_ns)
{
	struct pin made = {.type = type, .len_bytes = len_bytes, .until_ns = until_ns};
	struct pin *pin;

	if (len_bytes == 0 || len_bytes > ANSWER_MAX_BYTES)
		return;
	made.name = strdup(name);
	made.bytes = malloc(len_bytes);
	if (made.name && made.bytes) {
		memcpy(made.bytes, bytes, len_bytes);
		pthread_mutex_lock(&p->lock);
		pin = find(p, name, type);
		if (!pin) {
			pin = &p->pins[p->next];
			p->next = (p->next + 1) % PINS_MAX;
		}
		replace(pin, &made);
		pthread_mutex_unlock(&p->lock);
	}
	pin_clear(&made);
}

size_t pins_get(struct pins *p, const char *name, uint16_t type, uint64_t now_ns, uint8_t *out,
                size_t cap_bytes)
{
	const struct pin *pin;
	size_t n = 0;

	pthread_mutex_lock(&p->lock);
	pin = find(p, name, type);
	if (pin && pin->until_ns > now_ns && pin->len_bytes <= cap_bytes) {
		memcpy(out, pin->bytes, pin->len_bytes);
		n = pin->len_bytes;
	}
	pthread_mutex_unlock(&p->lock);
	return n;
}
