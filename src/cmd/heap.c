#include "cmd/heap.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* How it works.  A start-up was two thirds page faults, which cost more than
 * the pages do, several times as much under some hypervisors:
 * 1. A heap for each thread, which glibc would make, grows by a page and an
 *    mprotect at a time; one heap grows in steps.
 * 2. Pages that will be needed are asked for in one call.
 * 3. A page that is there still costs its first use where a hypervisor keeps page tables of
 *    its own, three quarters of it in one that was measured.  So a policy is read into a
 *    single page of 2 MiB, where the kernel gives one.
 * 4. A page that is there at a fork is copied when it is written next, and every
 *    processor that runs a thread of wary is interrupted for it.  So what is
 *    free is given back before, and taken anew afterwards. */

/* Newer than the headers that may be installed (Linux 5.14). */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* What reading the shipped default policy comes to, and what follows: that lies in what the
 * policy has left free, here and there. */
#define POLICY_BYTES ((size_t)1792 << 10)
#define HUGE_BYTES ((size_t)2 << 20)
/* How far before it the heap begins: no less than what malloc writes before what it gives. */
#define HEAD_BYTES ((size_t)8 << 10)
#define BESIDE_BYTES ((size_t)2 << 10)
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

/* The heap goes on with 2 MiB that are one page.  For that none of it may be there yet, so
 * that malloc writes its marks beside it: the one before ends, and what it gives begins, on
 * the page before; and that ends on the page behind.  Returns whether that was so. */
static bool have_huge(void)
{
	uintptr_t end = (uintptr_t)sbrk(0);
	uintptr_t huge = (end + HEAD_BYTES + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	size_t bytes = HUGE_BYTES + HEAD_BYTES;
	void *before, *piece;
	bool fits;

	(void)mallopt(M_MMAP_THRESHOLD, LARGE_OF_POLICY_BYTES);
	if (sbrk((intptr_t)(huge - HEAD_BYTES - end)) == (void *)-1)
		return false;
	before = malloc(HEAD_BYTES - BESIDE_BYTES);
	piece = malloc(bytes);
	fits = piece && (uintptr_t)piece < huge && (uintptr_t)piece + bytes > huge + HUGE_BYTES &&
	       madvise((void *)huge, HUGE_BYTES, MADV_HUGEPAGE) == 0;
	if (fits)
		(void)madvise((void *)huge, HUGE_BYTES, MADV_POPULATE_WRITE);
	free(piece);
	free(before);
	return fits;
}

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
	if (!have_huge())
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
