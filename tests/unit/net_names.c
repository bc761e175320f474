/* net/names: what counts is an unexpired answer for that very address. */
#include "net/addr.h"
#include "net/names.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool leads(struct names *n, const char *ip, uint64_t now, const char *name)
{
	struct facts_addr a = {.family = ADDR_NONE};
	const char *const *list;
	bool found = false;

	if (addr_parse_ip(ip, &a) != 0)
		return false;
	list = names_of(n, &a, now);
	for (size_t i = 0; list && list[i]; i++)
		found |= strcmp(list[i], name) == 0;
	free((void *)(uintptr_t)list);
	return found;
}

static void learn(struct names *n, const char *name, const char *ip, uint64_t until)
{
	struct facts_addr a = {.family = ADDR_NONE};

	if (addr_parse_ip(ip, &a) == 0)
		names_learn(n, name, &a, until);
}

int main(void)
{
	struct names *n = NULL;

	tap_is_int(names_new(&n), 0, "a memory");
	tap_ok(!leads(n, "1.2.3.4", 0, "a.test"), "it knows nothing");
	learn(n, "a.test", "1.2.3.4", 100);
	learn(n, "b.test", "1.2.3.4", 200);
	learn(n, "a.test", "2001:db8::1", 100);
	tap_ok(leads(n, "1.2.3.4", 99, "a.test") && leads(n, "1.2.3.4", 99, "b.test"),
	       "several names of one address");
	tap_ok(leads(n, "2001:db8::1", 99, "a.test") && !leads(n, "2001:db8::1", 99, "b.test"),
	       "several addresses of one name");
	tap_ok(leads(n, "::ffff:1.2.3.4", 99, "a.test"), "however the address is spelled");
	tap_ok(!leads(n, "1.2.3.5", 99, "a.test"), "no other address");
	tap_ok(!leads(n, "1.2.3.4", 100, "a.test") && leads(n, "1.2.3.4", 100, "b.test"),
	       "an answer expires");
	learn(n, "a.test", "1.2.3.4", 300);
	tap_ok(leads(n, "1.2.3.4", 250, "a.test"), "and is renewed");
	learn(n, "a.test", "1.2.3.4", 10);
	tap_ok(leads(n, "1.2.3.4", 250, "a.test"), "a shorter one takes nothing away");
	names_learn_hosts(n,
	                  "# 7.7.7.7 no.test\n127.0.0.9\tHost.test  alias # x.test\nbad y.test\n"
	                  "::1 six.test",
	                  400);
	tap_ok(leads(n, "127.0.0.9", 1, "host.test") && leads(n, "127.0.0.9", 1, "alias") &&
	               leads(n, "::1", 1, "six.test"),
	       "what hosts(5) says");
	tap_ok(!leads(n, "127.0.0.9", 1, "x.test") && !leads(n, "7.7.7.7", 1, "no.test"),
	       "not what it leaves out");
	for (int i = 0; i < 5000; i++) {
		char name[32];

		snprintf(name, sizeof name, "n%d.test", i);
		learn(n, name, "9.9.9.9", 1000);
	}
	tap_ok(!leads(n, "1.2.3.4", 50, "a.test"), "the oldest goes when it is full");
	tap_ok(names_lifetime_ns(0) == 60000000000u &&
	               names_lifetime_ns(UINT32_MAX) == 86400000000000u,
	       "lifetimes are bounded");
	names_free(n);
	return tap_done();
}
