#include "tracee/image.h"

#include "base/text.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

/* Beyond so many program headers the kernel refuses as well (64 KiB). */
#define HEADERS_MAX ((size_t)65536 / sizeof(Elf64_Phdr))

/* ---- scripts ---------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* First byte of [@from, @last] that is no blank, or NULL; @last is included. */
static const char *skip_blanks(const char *from, const char *last)
{
	for (; from <= last; from++)
		if (!is_blank(*from))
			return from;
	return NULL;
}

/* First blank or NUL of [@from, @last], or NULL. */
static const char *find_end(const char *from, const char *last)
{
	for (; from <= last; from++)
		if (is_blank(*from) || *from == '\0')
			return from;
	return NULL;
}

static void copy_until(char *to, size_t cap_bytes, const char *from, const char *end)
{
	size_t n = strnlen(from, (size_t)(end - from));

	if (n >= cap_bytes)
		n = cap_bytes - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

bool image_parse_script(const void *bytes, size_t len_bytes, struct image *out)
{
	char line[IMAGE_SCRIPT_BYTES] = {0};
	const char *last = line + sizeof line - 1;
	const char *end;
	const char *name;
	const char *after;
	const char *arg;

	memcpy(line, bytes, len_bytes < sizeof line ? len_bytes : sizeof line);
	if (line[0] != '#' || line[1] != '!')
		return false;
	end = memchr(line, '\n', sizeof line);
	if (!end) {
		/* No newline in sight: a name that may go on is not taken, an
		 * argument that may go on is. */
		name = skip_blanks(line + 2, last);
		if (!name || !find_end(name, last))
			return false;
		end = last;
	}
	while (is_blank(end[-1]))
		end--;
	name = skip_blanks(line + 2, end);
	if (!name || name == end)
		return false;
	after = find_end(name, end);
	arg = after && *after ? skip_blanks(after, end) : NULL;
	copy_until(out->interp, sizeof out->interp, name, after && *after ? after : end);
	out->has_arg = arg != NULL;
	if (arg)
		copy_until(out->arg, sizeof out->arg, arg, end);
	out->kind = IMAGE_SCRIPT;
	return true;
}

/* ---- ELF -------------------------------------------------------------- */

/* What is read at once: the headers of nearly every image are in it. */
#define HEAD_BYTES 2048

struct elf {
	const struct image_source *from;
	const char *begin; /* the file's first begin_bytes */
	size_t begin_bytes;
	Elf64_Ehdr head;
	uint64_t dynamic_at, dynamic_bytes;
	bool has_dynamic;
};

static bool read_all(const struct elf *e, void *out, size_t n, uint64_t at)
{
	if (at < e->begin_bytes && n <= e->begin_bytes - at) {
		memcpy(out, e->begin + at, n);
		return true;
	}
	return e->from->read_at(e->from->ctx, out, n, at) == (ssize_t)n;
}

static bool read_header(const struct elf *e, size_t i, Elf64_Phdr *out)
{
	uint64_t at;

	if (__builtin_add_overflow(e->head.e_phoff, i * sizeof *out, &at))
		return false;
	return read_all(e, out, sizeof *out, at);
}

/* Where in the file an address of the image is; false: nowhere. */
static bool file_offset(const struct elf *e, uint64_t vaddr, uint64_t *at)
{
	for (size_t i = 0; i < e->head.e_phnum; i++) {
		Elf64_Phdr p;

		if (!read_header(e, i, &p))
			return false;
		if (p.p_type == PT_LOAD && vaddr >= p.p_vaddr && vaddr - p.p_vaddr < p.p_filesz)
			return !__builtin_add_overflow(p.p_offset, vaddr - p.p_vaddr, at);
	}
	return false;
}

/* Names by which a dynamic loader calls itself. */
static bool is_loader_name(const char *soname)
{
	return text_starts(soname, "ld-") || text_starts(soname, "ld.") ||
	       text_starts(soname, "ld64") || text_starts(soname, "libc.musl") ||
	       strcmp(soname, "libc.so") == 0;
}

/* Whether an image without a loader is one: by its own name (DT_SONAME). */
static bool names_loader(const struct elf *e)
{
	uint64_t name = 0;
	uint64_t strings = 0;
	uint64_t at;
	char soname[64] = "";
	Elf64_Dyn list[64]; /* a loader's own is short */
	ssize_t n;

	if (!e->has_dynamic)
		return false;
	n = e->from->read_at(e->from->ctx, list,
	                     e->dynamic_bytes < sizeof list ? (size_t)e->dynamic_bytes
	                                                    : sizeof list,
	                     e->dynamic_at);
	for (ssize_t i = 0; i < n / (ssize_t)sizeof list[0] && list[i].d_tag != DT_NULL; i++) {
		if (list[i].d_tag == DT_SONAME)
			name = list[i].d_un.d_val;
		if (list[i].d_tag == DT_STRTAB)
			strings = list[i].d_un.d_ptr;
	}
	if (!strings || __builtin_add_overflow(strings, name, &at) || !file_offset(e, at, &at))
		return false;
	n = e->from->read_at(e->from->ctx, soname, sizeof soname - 1, at);
	return n > 0 && is_loader_name(soname);
}

/* The path in PT_INTERP; false where the kernel would not take it. */
static bool read_interp(const struct elf *e, const Elf64_Phdr *p, struct image *out)
{
	if (p->p_filesz < 2 || p->p_filesz > sizeof out->interp)
		return false;
	if (!read_all(e, out->interp, (size_t)p->p_filesz, p->p_offset))
		return false;
	return out->interp[p->p_filesz - 1] == '\0';
}

static enum image_kind parse_elf(struct elf *e, struct image *out)
{
	const Elf64_Ehdr *h = &e->head;

	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != MACHINE)
		return IMAGE_FOREIGN;
	if ((h->e_type != ET_EXEC && h->e_type != ET_DYN) || h->e_phentsize != sizeof(Elf64_Phdr) ||
	    h->e_phnum == 0 || h->e_phnum > HEADERS_MAX)
		return IMAGE_UNKNOWN;
	for (size_t i = 0; i < h->e_phnum; i++) {
		Elf64_Phdr p;

		if (!read_header(e, i, &p))
			return IMAGE_UNKNOWN;
		if (p.p_type == PT_DYNAMIC) {
			e->has_dynamic = true;
			e->dynamic_at = p.p_offset;
			e->dynamic_bytes = p.p_filesz;
		}
		if (p.p_type != PT_INTERP)
			continue;
		/* The kernel takes the first. */
		return read_interp(e, &p, out) ? IMAGE_ELF : IMAGE_UNKNOWN;
	}
	out->is_loader = names_loader(e);
	return IMAGE_ELF;
}

int image_parse(const struct image_source *from, struct image *out)
{
	char head[HEAD_BYTES] = {0};
	ssize_t n = from->read_at(from->ctx, head, sizeof head, 0);
	struct elf e = {.from = from, .begin = head, .begin_bytes = n > 0 ? (size_t)n : 0};

	if (n < 0)
		return -ERR_SYS;
	out->kind = IMAGE_UNKNOWN;
	out->interp[0] = '\0';
	out->arg[0] = '\0';
	out->has_arg = false;
	out->is_loader = false;
	if (image_parse_script(head, (size_t)n, out))
		return 0;
	memcpy(&e.head, head, sizeof e.head);
	if (memcmp(head, ELFMAG, SELFMAG) == 0)
		out->kind = parse_elf(&e, out);
	return 0;
}
