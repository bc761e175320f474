/* net/cmsg: a walk over any control buffer ends, stays within it, and finds what
 * a kernel would find there. */
#include "net/cmsg.h"
#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The C library's walk over the same bytes, as far as every length is right. */
static size_t count_by_library(uint8_t *bytes, size_t len_bytes)
{
	struct msghdr m = {.msg_control = bytes, .msg_controllen = len_bytes};
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		n++;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	uint8_t *copy = malloc(len_bytes + 1);
	struct cmsg_walk w = {.bytes = copy, .len_bytes = len_bytes};
	struct cmsg_item item;
	size_t n = 0;
	int more;

	invariant(copy != NULL);
	memcpy(copy, bytes, len_bytes);
	while ((more = cmsg_next(&w, &item)) == 1) {
		n++;
		invariant(item.data >= copy && item.data_len_bytes <= len_bytes);
		invariant((size_t)(item.data - copy) + item.data_len_bytes <= len_bytes);
		invariant(cmsg_kind(&item, AF_INET) != CMSG_RIGHTS);
		invariant(cmsg_kind(&item, AF_UNIX) <= CMSG_REFUSED);
	}
	invariant(more == 0 || more == -EINVAL);
	if (more == 0)
		invariant(count_by_library(copy, len_bytes) == n);
	free(copy);
	return 0;
}
