/* tracee/mem and tracee/maps: strings at page ends, read-only mappings. */
#include "tests/unit/tap.h"
#include "tracee/maps.h"
#include "tracee/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page;

/* Two pages, then one that cannot be touched. */
static char *three_pages(void)
{
	char *m = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED || mprotect(m + 2 * page, page, PROT_NONE) != 0)
		return NULL;
	return m;
}

static struct tracee_addr at(const void *p)
{
	return (struct tracee_addr){(uint64_t)(uintptr_t)p};
}

static void check_strings(const struct tracee_mem *m, char *pages)
{
	char out[PATH_MAX];
	char *end = pages + 2 * page;

	memset(pages, 'x', 2 * page);
	memcpy(end - 4, "abc", 4);
	tap_is_int(mem_read_string(m, at(end - 4), out, sizeof out), 3,
	           "a string that ends where its page does");
	tap_is_str(out, "abc", "it is that string");
	end[-1] = 'd';
	tap_is_int(mem_read_string(m, at(end - 4), out, sizeof out), -EFAULT,
	           "one that runs into what cannot be read");
	tap_is_int(mem_read_string(m, at(end), out, sizeof out), -EFAULT, "one that begins there");
	tap_is_int(mem_read_string(m, at(NULL), out, sizeof out), -EFAULT, "a null pointer");
	tap_is_int(mem_read_string(m, at((void *)-8L), out, sizeof out), -EFAULT,
	           "an address of the kernel");
	pages[100 + PATH_MAX - 1] = '\0';
	tap_is_int(mem_read_string(m, at(pages + 100), out, sizeof out), PATH_MAX - 1,
	           "a name of the greatest length");
	pages[100 + PATH_MAX - 1] = 'x';
	tap_is_int(mem_read_string(m, at(pages + 100), out, sizeof out), -ENAMETOOLONG,
	           "one byte longer");
	pages[page] = '\0';
	tap_is_int(mem_read_string(m, at(pages + page - 300), out, sizeof out), 300,
	           "one that crosses a page");
}

static void check_bytes(const struct tracee_mem *m, char *pages)
{
	char out[64];

	tap_is_int(mem_read(m, at(pages), out, sizeof out), 0, "bytes");
	tap_is_int(mem_read(m, at(pages + 2 * page - 10), out, sizeof out), -EFAULT,
	           "bytes of which some cannot be read are none");
	tap_is_int(mem_read(m, at(NULL), out, 0), 0, "no bytes");
}

static void check_parse(void)
{
	uint64_t start = 0;
	uint64_t end = 0;
	bool w = false;

	tap_ok(maps_parse("1000-2000 rw-p 0 00:00 0 [heap]", &start, &end, &w) && start == 0x1000 &&
	               end == 0x2000 && w,
	       "a mapping that may be written");
	tap_ok(maps_parse("7f00-7f01 r-xp 0", &start, &end, &w) && !w, "one that may not");
	tap_ok(!maps_parse("2000-1000 rw-p", &start, &end, &w), "one that ends before it begins");
	tap_ok(!maps_parse("rw-p", &start, &end, &w), "no addresses");
	tap_ok(!maps_parse("1000-2000 ", &start, &end, &w), "no permissions");
}

static void check_writable(char *pages)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	uint64_t a = (uint64_t)(uintptr_t)pages;
	static const char constant[] = "x";

	tap_ok(maps_writable(fd, a, 2 * page), "two pages may be written");
	tap_ok(!maps_writable(fd, a, 2 * page + 1), "the third may not");
	mprotect(pages, page, PROT_READ);
	tap_ok(!maps_writable(fd, a + page - 1, 2), "a read-only page may not");
	tap_ok(maps_writable(fd, a + page, page), "the one behind it still may");
	tap_ok(!maps_writable(fd, (uint64_t)(uintptr_t)constant, 1), "a constant may not");
	tap_ok(!maps_writable(fd, 8, 1), "nothing is mapped there");
	tap_ok(!maps_writable(fd, UINT64_MAX - 1, 8), "nor beyond the end");
	close(fd);
}

/* Without a notification there is no caller: nothing may be written. */
static void check_gone(struct tracee_mem *m)
{
	char target[4] = "old";

	tap_is_int(mem_valid(m), -ERR_GONE, "no notification is not valid");
	tap_is_int(mem_write(m, at(target), "new", 4), -ERR_GONE, "then nothing is written");
	tap_is_str(target, "old", "nothing was written");
	tap_is_int(mem_write(m, at(target), "new", 0), 0, "nothing to write is done");
}

int main(void)
{
	struct tracee_mem m;
	char *pages;

	page = (size_t)sysconf(_SC_PAGESIZE);
	pages = three_pages();
	mem_init(&m, -1, 1, getpid());
	tap_ok(pages != NULL, "pages");
	if (pages) {
		check_strings(&m, pages);
		check_bytes(&m, pages);
		check_parse();
		check_writable(pages);
	}
	check_gone(&m);
	mem_done(&m);
	return tap_done();
}
