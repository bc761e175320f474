/* net/pins: an answer holds until it expires. */
#include "net/pins.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
	struct pins *p = NULL;
	static uint8_t long_answer[5000];
	uint8_t out[64];

	tap_is_int(pins_new(&p), 0, "a memory");
	tap_is_int((long long)pins_get(p, "a.test", 1, 0, out, sizeof out), 0, "it knows nothing");
	pins_put(p, "a.test", 1, (const uint8_t *)"one", 3, 100);
	tap_ok(pins_get(p, "a.test", 1, 99, out, sizeof out) == 3 && memcmp(out, "one", 3) == 0,
	       "an answer is kept");
	tap_is_int((long long)pins_get(p, "a.test", 28, 99, out, sizeof out), 0, "for its type");
	tap_is_int((long long)pins_get(p, "b.test", 1, 99, out, sizeof out), 0, "for its name");
	tap_is_int((long long)pins_get(p, "a.test", 1, 100, out, sizeof out), 0,
	           "until it expires");
	tap_is_int((long long)pins_get(p, "a.test", 1, 99, out, 2), 0, "if it fits");
	pins_put(p, "a.test", 1, (const uint8_t *)"four", 4, 200);
	tap_is_int((long long)pins_get(p, "a.test", 1, 150, out, sizeof out), 4, "and is replaced");
	pins_put(p, "long.test", 1, long_answer, sizeof long_answer, 200);
	tap_is_int((long long)pins_get(p, "long.test", 1, 1, long_answer, sizeof long_answer), 0,
	           "a long one is not kept");
	for (int i = 0; i < 600; i++) {
		char name[32];

		snprintf(name, sizeof name, "n%d.test", i);
		pins_put(p, name, 1, (const uint8_t *)"x", 1, 1000);
	}
	tap_is_int((long long)pins_get(p, "a.test", 1, 150, out, sizeof out), 0, "the oldest goes");
	tap_is_int((long long)pins_get(p, "n599.test", 1, 150, out, sizeof out), 1,
	           "the latest stays");
	pins_free(p);
	return tap_done();
}
