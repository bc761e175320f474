#include "tracee/mem.h"

#include "base/own.h"
#include "base/uses.h"
#include "tracee/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

USES(ioctl_listener, open_any, process_vm_readv, pwrite64);

#define PAGE_BYTES 4096u
/* Names are short: the first piece of a string is not a whole page. */
#define FIRST_PIECE_BYTES 256u

void mem_init(struct tracee_mem *m, int listener_fd, uint64_t id, pid_t tid)
{
	*m = (struct tracee_mem){.listener_fd = listener_fd, .id = id, .tid = tid, .mem_fd = -1};
}

void mem_done(struct tracee_mem *m)
{
	fd_drop(&m->mem_fd);
}

int mem_valid(const struct tracee_mem *m)
{
	uint64_t id = m->id;

	return ioctl(m->listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0 ? 0 : -ERR_GONE;
}

/* One run of the caller's bytes; short where the rest is not readable. */
static ssize_t read_some(pid_t tid, uint64_t from, void *out, size_t len_bytes)
{
	struct iovec local = {out, len_bytes};
	struct iovec remote = {(void *)(uintptr_t)from, len_bytes};

	return process_vm_readv(tid, &local, 1, &remote, 1, 0);
}

int mem_read(const struct tracee_mem *m, struct tracee_addr a, void *out, size_t len_bytes)
{
	if (len_bytes == 0)
		return 0;
	if (read_some(m->tid, a.value, out, len_bytes) != (ssize_t)len_bytes)
		return -EFAULT;
	return 0;
}

ssize_t mem_read_string(const struct tracee_mem *m, struct tracee_addr a, char *out,
                        size_t cap_bytes)
{
	size_t have = 0;

	while (have < cap_bytes) {
		uint64_t from = a.value + have;
		size_t want = PAGE_BYTES - (size_t)(from % PAGE_BYTES);
		const char *end;

		if (have == 0 && want > FIRST_PIECE_BYTES)
			want = FIRST_PIECE_BYTES;
		if (want > cap_bytes - have)
			want = cap_bytes - have;
		if (read_some(m->tid, from, out + have, want) != (ssize_t)want)
			return -EFAULT;
		end = memchr(out + have, '\0', want);
		if (end)
			return end - out;
		have += want;
	}
	return -ENAMETOOLONG;
}

static int open_of(pid_t tid, const char *file, int flags)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)tid, file);
	return open(path, flags | O_CLOEXEC);
}

#ifdef WARY_PLANT_WRITE_LATE
/* A fault, planted only where tests/race builds a wary of its own: whoever has
 * the caller's number by then is written to. */
static int write_late(struct tracee_mem *m, struct tracee_addr a, const void *bytes, size_t n)
{
	auto_fd fd = open_of(m->tid, "mem", O_RDWR);

	return pwrite(fd, bytes, n, (off_t)a.value) == (ssize_t)n ? 0 : -EFAULT;
}
#endif

int mem_write(struct tracee_mem *m, struct tracee_addr a, const void *bytes, size_t len_bytes)
{
	auto_fd maps_fd = -1;

	if (len_bytes == 0)
		return 0;
#ifdef WARY_PLANT_WRITE_LATE
	return write_late(m, a, bytes, len_bytes);
#endif
	if (m->mem_fd < 0)
		m->mem_fd = open_of(m->tid, "mem", O_RDWR);
	maps_fd = open_of(m->tid, "maps", O_RDONLY);
	/* Both descriptors hold on to the address space as it was when they
	 * were opened; only now is it known that it is the caller's. */
	if (mem_valid(m) != 0)
		return -ERR_GONE;
	if (m->mem_fd < 0 || maps_fd < 0)
		return -EFAULT;
	/* A write through this descriptor would go into read-only mappings. */
	if (!maps_writable(maps_fd, a.value, len_bytes))
		return -EFAULT;
	if (pwrite(m->mem_fd, bytes, len_bytes, (off_t)a.value) != (ssize_t)len_bytes)
		return -EFAULT;
	return 0;
}
