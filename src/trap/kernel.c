#include "trap/kernel.h"

#include "base/own.h"
#include "call/call.h"
#include "trap/boundary.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PIDFD_THREAD /* 6.9 */
#define PIDFD_THREAD O_EXCL
#endif
#ifndef AT_EXECVE_CHECK /* 6.14 */
#define AT_EXECVE_CHECK 0x10000
#endif
#ifdef __aarch64__
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#define THIS_ARCH AUDIT_ARCH_X86_64
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARG4_LOW offsetof(struct seccomp_data, args[4])
#else
#define ARG4_LOW (offsetof(struct seccomp_data, args[4]) + 4)
#endif

/* The last call of Linux 5.17: the oldest kernel that wary runs on has all up to
 * it.  Since 5.1 numbers are the same everywhere. */
#define OLDEST_HAS 450
#define ABSENT_MAX 32u
/* Kernels that lack it know the call and not the flag. */
#define FLAG_FILTER_MAX 8u

static bool is_emulated(const struct call_row *row)
{
	return row->means == MEANS_EMULATE || row->means == MEANS_STAT ||
	       row->means == MEANS_VERIFY || row->means == MEANS_CONTINUE;
}

/* Tried with what no call takes: no such descriptor, address or flag. */
static bool is_absent(const struct call_row *row)
{
	return row->nr > OLDEST_HAS && is_emulated(row) &&
	       syscall(row->nr, -1L, -1L, -1L, -1L, -1L, -1L) == -1 && errno == ENOSYS;
}

/* Flags are looked at before the descriptor. */
static bool has_execve_check(void)
{
	char *const none[] = {NULL};

	return syscall(SYS_execveat, -1, "x", none, none, AT_EXECVE_CHECK) != -1 || errno != EINVAL;
}

bool kernel_pidfd_of_thread(void)
{
	auto_fd fd = (int)syscall(SYS_pidfd_open, getpid(), PIDFD_THREAD);

	return fd >= 0 || errno != EINVAL;
}

/* ---- said to people ------------------------------------------------------- */

static void name(struct buf *out, const char *what)
{
	buf_fmt(out, "%s%s", out->len_bytes > 0 ? ", " : "", what);
}

void kernel_lacks(struct buf *out)
{
	for (size_t i = 0; call_row_at(i); i++)
		if (is_absent(call_row_at(i)))
			name(out, call_row_at(i)->name);
	if (!has_execve_check())
		name(out, "AT_EXECVE_CHECK");
	if (!kernel_pidfd_of_thread())
		name(out, "PIDFD_THREAD");
}

static const struct {
	int abi; /* of Landlock, from which on it is bound */
	const char *what;
	const char *brief; /* or NULL: what has it is said by the others */
} bound[] = {
	{1, "files", "files"},
	{3, "truncation", NULL},
	{4, "TCP", "TCP"},
	{5, "ioctl on devices", "ioctl"},
	{6, "signals and abstract sockets", "scopes"},
};

void kernel_binds(struct buf *out)
{
	int abi = boundary_abi();

	for (size_t i = 0; i < sizeof bound / sizeof bound[0]; i++)
		if (abi >= bound[i].abi && bound[i].brief)
			name(out, bound[i].brief);
}

void kernel_leaves_unbound(struct buf *out)
{
	int abi = boundary_abi();

	for (size_t i = 0; i < sizeof bound / sizeof bound[0]; i++)
		if (abi < bound[i].abi)
			name(out, bound[i].what);
}

/* ---- answered as the kernel would ----------------------------------------- */

static void add(struct sock_fprog *p, struct sock_filter op)
{
	p->filter[p->len++] = op;
}

/* "That number: then the next of @n_then instructions, else past them." */
static void add_if_number(struct sock_fprog *p, int nr, unsigned char n_then)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                    offsetof(struct seccomp_data, nr)));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, n_then));
}

static void add_result(struct sock_fprog *p, uint32_t action)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

int kernel_hide_absent(void)
{
	struct sock_filter ops[3 + 3 * ABSENT_MAX + FLAG_FILTER_MAX];
	struct sock_fprog p = {.filter = ops};
	unsigned short empty;

	/* Of other architectures the tree's own filter answers all. */
	add(&p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                     offsetof(struct seccomp_data, arch)));
	add(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0));
	add_result(&p, SECCOMP_RET_ALLOW);
	empty = p.len;
	for (size_t i = 0, n = 0; call_row_at(i) && n < ABSENT_MAX; i++)
		if (is_absent(call_row_at(i))) {
			add_if_number(&p, call_row_at(i)->nr, 1);
			add_result(&p, SECCOMP_RET_ERRNO | ENOSYS);
			n++;
		}
	if (!has_execve_check()) {
		add_if_number(&p, SYS_execveat, 3);
		add(&p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG4_LOW));
		add(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, AT_EXECVE_CHECK, 0,
		                                     1));
		add_result(&p, SECCOMP_RET_ERRNO | EINVAL);
	}
	if (p.len == empty)
		return 0;
	add_result(&p, SECCOMP_RET_ALLOW);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) == 0 ? 0 : -errno;
}
