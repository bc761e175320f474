#include "cmd/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Newer than the headers that may be installed (Linux 5.14). */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* What the shipped default policy, the record and the workers come to. */
#define START_BYTES ((size_t)1280 << 10)
/* How much the heap then grows at a time. */
#define STEP_BYTES (256 << 10)

/* A page fault costs more than the page, ten times as much under some
 * hypervisors, and a start-up was two thirds page faults.  A heap for each
 * thread, which glibc would make, grows by a page and an mprotect at a time. */
void heap_prepare(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin, end;
	void *first;

	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_TOP_PAD, (int)START_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
	first = malloc(1);
	begin = ((uintptr_t)first + page - 1) & ~(page - 1);
	end = (uintptr_t)sbrk(0) & ~(page - 1);
	if (first && begin < end && end - begin <= 2 * START_BYTES)
		(void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
	free(first);
	(void)mallopt(M_TOP_PAD, STEP_BYTES);
}
