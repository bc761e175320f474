#include "trap/symbol.h"

#include "base/own.h"
#include "base/uses.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

USES(open_read, pread64);

#define SECTIONS_MAX 4096u
#define SEGMENTS_MAX 256u
#define TABLE_MAX_BYTES ((size_t)16 << 20)
#define NAME_MAX_BYTES 256u

struct file {
	int fd;
	uint64_t size;
};

/* @len bytes at @at, all inside the file and within bounds; NULL else. */
static void *piece(const struct file *f, uint64_t at, uint64_t len)
{
	void *out;

	if (len == 0 || len > TABLE_MAX_BYTES || at > f->size || len > f->size - at)
		return NULL;
	out = malloc(len);
	if (out && pread(f->fd, out, len, (off_t)at) != (ssize_t)len) {
		free(out);
		return NULL;
	}
	return out;
}

/* The address that the place has in the file's own numbering. */
static bool address_of(const struct file *f, const ElfW(Ehdr) * head, uint64_t offset,
                       uint64_t *out)
{
	auto_free ElfW(Phdr) *all = NULL;

	if (head->e_phentsize != sizeof *all || head->e_phnum > SEGMENTS_MAX)
		return false;
	all = piece(f, head->e_phoff, (uint64_t)head->e_phnum * sizeof *all);
	for (unsigned i = 0; all && i < head->e_phnum; i++)
		if (all[i].p_type == PT_LOAD && offset >= all[i].p_offset &&
		    offset - all[i].p_offset < all[i].p_filesz) {
			*out = all[i].p_vaddr + (offset - all[i].p_offset);
			return true;
		}
	return false;
}

/* The name of the function in one table that holds @address. */
static char *name_in(const struct file *f, const ElfW(Shdr) * table, const ElfW(Shdr) * names,
                     uint64_t address)
{
	size_t n = table->sh_size / sizeof(ElfW(Sym));
	auto_free ElfW(Sym) *all = piece(f, table->sh_offset, n * sizeof *all);
	auto_free char *text = NULL;
	const ElfW(Sym) *found = NULL;
	uint64_t at;

	for (size_t i = 0; all && !found && i < n; i++)
		if (ELF64_ST_TYPE(all[i].st_info) == STT_FUNC && address >= all[i].st_value &&
		    address - all[i].st_value < all[i].st_size)
			found = &all[i];
	if (!found || found->st_name >= names->sh_size || names->sh_offset > f->size)
		return NULL;
	at = names->sh_offset + found->st_name;
	if (at >= f->size)
		return NULL;
	text = piece(f, at, f->size - at < NAME_MAX_BYTES ? f->size - at : NAME_MAX_BYTES);
	if (!text)
		return NULL;
	return strndup(text, f->size - at < NAME_MAX_BYTES ? f->size - at : NAME_MAX_BYTES);
}

/* A file has one table of each kind (elf(5)); a hostile one has thousands, each
 * as large as may be: only the first is read. */
static const ElfW(Shdr) * first_of(const ElfW(Shdr) * all, unsigned n, uint32_t kind)
{
	unsigned i = 0;

	while (i < n && all[i].sh_type != kind)
		i++;
	if (i == n || all[i].sh_entsize != sizeof(ElfW(Sym)) || all[i].sh_link >= n)
		return NULL;
	return &all[i];
}

static char *name_of(const struct file *f, uint64_t offset)
{
	static const uint32_t kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
	auto_free ElfW(Ehdr) *head = piece(f, 0, sizeof *head);
	auto_free ElfW(Shdr) *all = NULL;
	uint64_t address;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof *all ||
	    head->e_shnum > SECTIONS_MAX || !address_of(f, head, offset, &address))
		return NULL;
	all = piece(f, head->e_shoff, (uint64_t)head->e_shnum * sizeof *all);
	for (size_t k = 0; all && k < sizeof kinds / sizeof kinds[0]; k++) {
		const ElfW(Shdr) *table = first_of(all, head->e_shnum, kinds[k]);
		char *name = table ? name_in(f, table, &all[table->sh_link], address) : NULL;

		if (name)
			return name;
	}
	return NULL;
}

char *symbol_in(int fd, uint64_t offset)
{
	struct stat st;
	struct file f = {.fd = fd};

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0)
		return NULL;
	f.size = (uint64_t)st.st_size;
	return name_of(&f, offset);
}

char *symbol_at(const char *path, uint64_t offset)
{
	auto_fd fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? NULL : symbol_in(fd, offset);
}
