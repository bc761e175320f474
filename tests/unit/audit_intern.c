/* audit/intern: what it says is what it was told; what it forgets it does not know. */
#include "audit/intern.h"
#include "tests/unit/tap.h"

#include <sodium.h>

#define ENTRIES 4096u

static struct intern_key key_of(const struct intern *i, uint64_t n)
{
	struct intern_key key;

	intern_key(i, &n, sizeof n, &key);
	return key;
}

static void add(struct intern *i, uint64_t n)
{
	struct intern_key key = key_of(i, n);

	if (!intern_find(i, &key))
		intern_add(i, &key, n);
}

/* How many of 1 to @n are known. *false_ids: what was told of another. */
static uint64_t known(const struct intern *i, uint64_t n, uint64_t *false_ids)
{
	uint64_t count = 0;

	*false_ids = 0;
	for (uint64_t k = 1; k <= n; k++) {
		struct intern_key key = key_of(i, k);
		uint64_t id = intern_find(i, &key);

		count += id == k;
		*false_ids += id && id != k;
	}
	return count;
}

static void test_size(size_t entries)
{
	struct intern *i = NULL;
	uint64_t false_ids;

	tap_is_int(intern_new(entries, &i), 0, "a memory of %zu", entries);
	if (!i)
		return;
	add(i, 1);
	tap_is_int((long long)known(i, 2 * entries, &false_ids), 1, "one is known, no other");
	for (uint64_t n = 1; n <= entries / 4; n++)
		add(i, n);
	tap_ok(known(i, entries / 4, &false_ids) >= entries / 4 * 9 / 10,
	       "of a quarter of that nearly all find room, though it began smaller");
	for (uint64_t n = 1; n <= 4 * entries; n++)
		add(i, n);
	tap_ok(known(i, 4 * entries, &false_ids) <= entries, "never more than it is for");
	tap_is_int((long long)false_ids, 0, "and never of another key");
	tap_ok(known(i, 4 * entries, &false_ids) >= entries / 2, "most of which is used");
	intern_free(i);
}

int main(void)
{
	if (sodium_init() < 0)
		return 1;
	test_size(8);
	test_size(256);
	test_size(ENTRIES);
	intern_free(NULL);
	return tap_done();
}
