/* Opens a file from a chain of functions, so that a call stack names them.
 * With a second word it first makes its own unwinding data worthless. */
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of files that a tree may write wary believes frame pointers alone. */
static inline void keep_frame(const void *frame)
{
	__asm__ volatile("" ::"r"(frame) : "memory");
}

__attribute__((noinline)) static int innermost_opens(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	keep_frame(__builtin_frame_address(0));
	return fd;
}

__attribute__((noinline)) static int middle_calls(const char *path)
{
	int fd = innermost_opens(path);

	keep_frame(__builtin_frame_address(0));
	return fd;
}

__attribute__((noinline)) int outermost_begins(const char *path);
__attribute__((noinline)) int outermost_begins(const char *path)
{
	int fd = middle_calls(path);

	keep_frame(__builtin_frame_address(0));
	return fd;
}

static void scribble(uintptr_t from, size_t len, const char *with)
{
	uintptr_t page = from & ~(uintptr_t)4095;

	if (mprotect((void *)page, from + len - page, PROT_READ | PROT_WRITE) != 0)
		return;
	for (size_t i = 0; i < len; i++)
		*(volatile char *)(from + i) = with[i % 8];
}

/* Every module's table of unwinding data, and what lies behind it. */
static int spoil(struct dl_phdr_info *m, size_t size, void *with)
{
	(void)size;
	for (int i = 0; i < m->dlpi_phnum; i++)
		if (m->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			scribble(m->dlpi_addr + m->dlpi_phdr[i].p_vaddr + 12,
			         m->dlpi_phdr[i].p_memsz + 2048, with);
	return 0;
}

int main(int argc, char **argv)
{
	static char words[4][8] = {{0},
	                           "\xff\xff\xff\xff\xff\xff\xff\xff",
	                           /* DW_OP_skip, backwards: for ever */
	                           "\x2f\xfd\xff\x2f\xfd\xff\x2f\xfd",
	                           "\x0f\x7f\x16\x01\x2f\xfd\xff\x0a"};
	int fd;

	if (argc < 2)
		return 2;
	if (argc > 2)
		dl_iterate_phdr(spoil, words[argv[2][0] & 3]);
	fd = outermost_begins(argv[1]);
	keep_frame(__builtin_frame_address(0));
	return fd < 0;
}
