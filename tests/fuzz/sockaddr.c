/* net/addr: whatever bytes a child gives as an address are judged as something
 * definite, and what is given to the kernel is what was judged. */
#include "base/err.h"
#include "net/addr.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

/* What is left in the address is read again as the same: rewriting is done
 * once and for all. */
static void check_again(const struct addr *a, int domain, int type, enum addr_use use)
{
	struct addr b = *a;

	b.facts.unix_name = NULL;
	invariant(addr_read(&b, domain, type, 0, use) == 0);
	invariant(b.kind == a->kind && b.facts.family == a->facts.family);
	invariant(b.facts.port == a->facts.port);
	invariant(memcmp(b.facts.ip, a->facts.ip, sizeof b.facts.ip) == 0);
}

static void check(struct addr *a, int domain, int type, enum addr_use use)
{
	struct buf text = BUF_INIT;
	int err = addr_read(a, domain, type, 0, use);

	invariant(err <= 0 && err > -4096);
	if (err != 0)
		return;
	if (a->kind == ADDR_IS_IP) {
		invariant(a->facts.family == ADDR_INET || a->facts.family == ADDR_INET6);
		invariant(use == ADDR_FOR_BIND || !addr_is_any(&a->facts));
		check_again(a, domain, type, use);
	}
	if (a->kind == ADDR_IS_PATH)
		a->facts.unix_name = a->name;
	addr_text(&text, &a->facts);
	invariant(buf_text(&text) != NULL && text.len_bytes > 0);
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	static const int domains[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, 40};
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	struct addr a;

	if (len_bytes < 1 || len_bytes - 1 > sizeof a.sa)
		return 0;
	for (size_t d = 0; d < sizeof domains / sizeof domains[0]; d++) {
		for (unsigned use = ADDR_FOR_CONNECT; use <= ADDR_FOR_BIND; use++) {
			memset(&a, 0xa5, sizeof a);
			memcpy(&a.sa, bytes + 1, len_bytes - 1);
			a.len_bytes = (socklen_t)(len_bytes - 1);
			check(&a, domains[d], types[bytes[0] % 3], (enum addr_use)use);
		}
	}
	return 0;
}
