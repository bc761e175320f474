#include "tracee/lineage.h"
#include "tracee/procfs.h"

#include <string.h>

/* Follows parents from @tid; *n links are in @ids.  1: reaches the guardian,
 * 0: does not, -ERR_GONE: someone left on the way. */
#define CHAIN_MAX 512
static int chain_read(pid_t tid, pid_t guardian, pid_t *chain, size_t *n)
{
	for (*n = 0; *n < CHAIN_MAX; (*n)++) {
		struct procfs_ids ids;

		if (procfs_ids(tid, &ids) != 0)
			return -ERR_GONE;
		chain[*n] = ids.tgid;
		if (ids.tgid == guardian)
			return *n > 0;
		if (ids.ppid <= 1)
			return 0;
		tid = ids.ppid;
	}
	return 0;
}

bool lineage_in_tree(struct lineage *l, pid_t tid, pid_t guardian)
{
	pid_t first[CHAIN_MAX];
	pid_t second[CHAIN_MAX];
	size_t n;
	size_t m;

	(void)l;
	for (unsigned attempt = 0; attempt < 8; attempt++) {
		int is = chain_read(tid, guardian, first, &n);

		if (is == 0)
			return false;
		/* A number on the way may have been reused between two reads:
		 * a chain counts that is the same when read again, since a
		 * parent that is still a parent was one all the while. */
		if (is > 0 && chain_read(tid, guardian, second, &m) == is && m == n &&
		    memcmp(first, second, n * sizeof first[0]) == 0)
			return true;
		if (procfs_ids(tid, &(struct procfs_ids){0}) != 0)
			return false;
	}
	return false;
}
