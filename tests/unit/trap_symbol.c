/* trap/symbol: names of an honest file, and what a hostile one may cost. */
#include "trap/symbol.h"

#include "base/own.h"
#include "tests/unit/tap.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TABLES 4000
#define TABLE_BYTES ((size_t)16 << 20)

/* Bytes that this process has read so far: proc(5), io. */
static unsigned long long bytes_read(void)
{
	FILE *f = fopen("/proc/self/io", "re");
	unsigned long long n = 0;

	tap_ok(f && fscanf(f, "rchar: %llu", &n) == 1, "what is read is counted");
	if (f)
		fclose(f);
	return n;
}

void symbol_of_this_test(void);
void symbol_of_this_test(void)
{
	tap_ok(true, "a function with a name");
}

static int find_load(struct dl_phdr_info *info, size_t size, void *out)
{
	uint64_t at = (uint64_t)(uintptr_t)&symbol_of_this_test;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at >= info->dlpi_addr + p->p_vaddr &&
		    at - info->dlpi_addr - p->p_vaddr < p->p_memsz) {
			*(uint64_t *)out = at - info->dlpi_addr - p->p_vaddr + p->p_offset;
			return 1;
		}
	}
	return 0;
}

static void test_honest(void)
{
	char self[4096];
	ssize_t n = readlinkat(AT_FDCWD, "/proc/self/exe", self, sizeof self - 1);
	uint64_t offset = 0;
	auto_free char *name = NULL;

	symbol_of_this_test();
	self[n > 0 ? n : 0] = '\0';
	tap_is_int(dl_iterate_phdr(find_load, &offset), 1, "where a function lies in its file");
	name = symbol_at(self, offset);
	tap_is_str(name ? name : "", "symbol_of_this_test", "is named");
	tap_ok(!symbol_at("/proc/self/exe", offset), "a link is not opened");
	tap_ok(!symbol_at("/dev/null", offset), "nor a device");
	tap_ok(!symbol_at(self, UINT64_MAX), "a place outside of the file has no name");
}

/* Thousands of tables, each as large as is read at all. */
static void test_hostile(void)
{
	auto_fd fd = memfd_create("hostile", MFD_CLOEXEC);
	auto_free ElfW(Shdr) *tables = calloc(TABLES, sizeof *tables);
	ElfW(Ehdr) head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
	                   .e_phentsize = sizeof(ElfW(Phdr)),
	                   .e_phnum = 1,
	                   .e_phoff = sizeof head,
	                   .e_shentsize = sizeof(ElfW(Shdr)),
	                   .e_shnum = TABLES,
	                   .e_shoff = 4096};
	const ElfW(Phdr) load = {.p_type = PT_LOAD, .p_filesz = TABLE_BYTES};
	unsigned long long before;
	unsigned long long after;

	for (size_t i = 0; tables && i < TABLES; i++)
		tables[i] = (ElfW(Shdr)){.sh_type = i & 1 ? SHT_SYMTAB : SHT_DYNSYM,
		                         .sh_entsize = sizeof(ElfW(Sym)),
		                         .sh_offset = 4096,
		                         .sh_size = TABLE_BYTES};
	tap_ok(tables && ftruncate(fd, 4096 + (off_t)TABLE_BYTES) == 0 &&
	               pwrite(fd, &head, sizeof head, 0) == sizeof head &&
	               pwrite(fd, &load, sizeof load, sizeof head) == sizeof load &&
	               pwrite(fd, tables, TABLES * sizeof *tables, 4096) > 0,
	       "a file of %d tables", TABLES);
	before = bytes_read();
	tap_ok(!symbol_in(fd, 100), "no name is found");
	after = bytes_read();
	tap_ok(after - before < 3 * TABLE_BYTES, "and %llu MiB were read", (after - before) >> 20);
}

int main(void)
{
	test_honest();
	test_hostile();
	return tap_done();
}
