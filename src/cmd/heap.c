#include "cmd/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* How it works.  A start-up was two thirds page faults, which cost more than
 * the pages do, several times as much under some hypervisors:
 * 1. A heap for each thread, which glibc would make, grows by a page and an
 *    mprotect at a time; one heap grows in steps.
 * 2. Pages that will be needed are asked for in one call.
 * 3. A page that is there at a fork is copied when it is written next, and every
 *    processor that runs a thread of wary is interrupted for it.  So what is
 *    free is given back before, and taken anew afterwards. */

/* Newer than the headers that may be installed (Linux 5.14). */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* What reading the shipped default policy comes to, and what follows: that lies in what the
 * policy has left free, here and there. */
#define POLICY_BYTES ((size_t)1792 << 10)
#define REST_BYTES ((size_t)512 << 10)
#define PIECE_BYTES ((size_t)64 << 10)
#define PIECES_MAX (REST_BYTES / PIECE_BYTES)
/* How much the heap then grows at a time. */
#define STEP_BYTES (256 << 10)
/* What is larger is no part of the heap but taken from the kernel page by page:
 * not while a policy is read, whose tables are full, but later, when most large
 * tables are made for what may come. */
#define LARGE_OF_POLICY_BYTES (4 << 20)
#define LARGE_BYTES (32 << 10)

static void *populated(size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *piece = malloc(bytes);
	uintptr_t begin = (uintptr_t)piece & ~(page - 1);
	uintptr_t end = ((uintptr_t)piece + bytes) & ~(page - 1);

	if (piece)
		(void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
	return piece;
}

/* So much of the heap is free, in pieces wherever there is room, and its pages
 * are there. */
static void have(size_t bytes, size_t piece_bytes)
{
	void *pieces[PIECES_MAX];
	size_t n = bytes / piece_bytes;

	(void)mallopt(M_MMAP_THRESHOLD, LARGE_OF_POLICY_BYTES);
	for (size_t i = 0; i < n; i++)
		pieces[i] = populated(piece_bytes);
	for (size_t i = 0; i < n; i++)
		free(pieces[i]);
}

void heap_prepare(void)
{
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_TOP_PAD, STEP_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
	have(POLICY_BYTES, POLICY_BYTES);
}

void heap_lend(void)
{
	(void)malloc_trim(0);
}

void heap_resume(void)
{
	have(REST_BYTES, PIECE_BYTES);
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}
