/* call: rows, numbers, registers that are refused, decoding. */
#include "call/call.h"
#include "call/decode.h"
#include "call/op.h"
#include "call/scalar.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#define FOREIGN AUDIT_ARCH_I386
#else
#define NATIVE AUDIT_ARCH_AARCH64
#define FOREIGN AUDIT_ARCH_ARM
#endif

static void test_rows(void)
{
	size_t n = 0;

	for (const struct call_row *row; (row = call_row_at(n)); n++) {
		const struct call_row *same = row->nr >= 0 ? call_row_find(row->nr) : row;

		if (same != row || call_row_named(row->name) != row || call_row_index(row) != n ||
		    !row->why[0] || !call_means_name(row->means)[0])
			tap_ok(false, "%s: row is found by number, name and place", row->name);
		if (row->means == MEANS_REFUSE && row->refuse_errno <= 0)
			tap_ok(false, "%s: refused with an errno", row->name);
		if ((row->means == MEANS_EMULATE || row->means == MEANS_STAT ||
		     row->means == MEANS_VERIFY || row->means == MEANS_CONTINUE) &&
		    (row->family == FAMILY_none || row->op == OP_NONE))
			tap_ok(false, "%s: has a family and an op", row->name);
	}
	tap_ok(n > 350, "the table has %zu rows", n);
	tap_ok(call_row_at(n) == NULL, "none behind the last");
	tap_ok(call_row_find(-1) == NULL && call_row_find(511) == NULL &&
	               call_row_find(1 << 30) == NULL,
	       "numbers without a row have none");
	tap_is_str(call_row_find(SYS_openat)->name, "openat", "openat is where libc says");
	tap_is_str(call_row_find(SYS_execve)->name, "execve", "execve is where libc says");
	tap_ok(call_row_named("nothing") == NULL, "a name that no call has");
}

static int decode(int nr, unsigned arch, const uint64_t *args, struct call *out)
{
	struct seccomp_notif n = {.id = 7, .pid = 42};

	n.data.nr = nr;
	n.data.arch = arch;
	n.data.instruction_pointer = 0x1234;
	for (int i = 0; i < CALL_ARGS; i++)
		n.data.args[i] = args[i];
	return call_decode(&n, out);
}

static void test_decode(void)
{
	const uint64_t args[CALL_ARGS] = {11, 12, 13, 14, 15, 16};
	struct call c;
	uint64_t v;

	tap_is_int(decode(SYS_openat, NATIVE, args, &c), 0, "a known call");
	tap_ok(c.id == 7 && c.tid == 42 && c.ip == 0x1234 && c.nr == SYS_openat, "its registers");
	tap_ok(call_arg(&c, ROLE_PATH, &v) && v == 12, "the path is the second");
	tap_ok(call_arg(&c, ROLE_MODE, &v) && v == 14, "the mode is the fourth");
	tap_ok(!call_arg(&c, ROLE_ADDR, &v) && v == 0, "it has no address");
	tap_is_int(decode(SYS_openat, FOREIGN, args, &c), -ERR_UNSUPPORTED,
	           "another architecture is not taken for this one");
	tap_is_int(decode(5000, NATIVE, args, &c), -ERR_UNSUPPORTED, "a number without a row");
	tap_is_int(decode(SYS_openat | 1 << 30, NATIVE, args, &c), -ERR_UNSUPPORTED, "x32");
}

/* A call whose registers are refused never reaches its family. */
static void test_refused(void)
{
	static const struct {
		int nr;
		uint64_t args[CALL_ARGS];
		enum call_family family;
		const char *what;
	} calls[] = {
		{SYS_unshare, {CLONE_FS}, FAMILY_creds, "unshare of the folder"},
		{SYS_unshare, {CLONE_NEWUSER}, FAMILY_refuse, "unshare of users"},
		{SYS_unshare, {CLONE_FS | CLONE_NEWNS}, FAMILY_refuse, "unshare of both"},
		{SYS_ioctl, {3, 0x5412}, FAMILY_refuse, "TIOCSTI"},
		{SYS_ioctl, {3, 0xffffffff00005412}, FAMILY_refuse, "TIOCSTI with high bits"},
		{SYS_ioctl, {3, 0x8901}, FAMILY_ioctl, "FIOSETOWN"},
		{SYS_fcntl, {3, 1026}, FAMILY_refuse, "F_NOTIFY"},
		{SYS_fcntl, {3, 8}, FAMILY_fcntl, "F_SETOWN"},
		{SYS_clone, {CLONE_PARENT | 17}, FAMILY_refuse, "CLONE_PARENT"},
		{SYS_clone, {CLONE_FS | 17}, FAMILY_refuse, "CLONE_FS without a thread"},
		{SYS_socket, {AF_PACKET, SOCK_RAW}, FAMILY_refuse, "a packet socket"},
		{SYS_ptrace, {0}, FAMILY_refuse, "ptrace"},
		{SYS_sendto, {3, 0, 0, 0, 0x1000, 16}, FAMILY_send, "sendto with an address"},
	};
	struct call c;

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		tap_is_int(decode(calls[i].nr, NATIVE, calls[i].args, &c), 0, "%s decodes",
		           calls[i].what);
		tap_is_int(c.row->family, calls[i].family, "%s: its family", calls[i].what);
		if (calls[i].family == FAMILY_refuse)
			tap_ok(c.row->means == MEANS_REFUSE && c.row->refuse_errno > 0 &&
			               strcmp(c.row->name, call_row_find(calls[i].nr)->name) == 0,
			       "%s: refused under its own name", calls[i].what);
	}
}

static enum scalar_what decide(const char *name, uint64_t a0, uint64_t a1, uint64_t a2)
{
	const uint64_t args[CALL_ARGS] = {a0, a1, a2};

	return scalar_decide(call_row_index(call_row_named(name)), args);
}

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

/* What real programs do is let through, what is kept from them is not. */
static void test_scalars(void)
{
	tap_is_int(decide("clone", THREAD | CLONE_SYSVSEM | CLONE_SETTLS, 0, 0), SCALAR_ALLOW,
	           "clone: a thread");
	tap_is_int(decide("clone", 17, 0, 0), SCALAR_ALLOW, "clone: fork");
	tap_is_int(decide("clone", CLONE_VM | CLONE_VFORK | 17, 0, 0), SCALAR_ALLOW,
	           "clone: posix_spawn");
	tap_is_int(decide("clone", CLONE_VM | 17, 0, 0), SCALAR_REFUSE,
	           "clone: memory shared with another program");
	tap_is_int(decide("clone", THREAD | CLONE_NEWNS, 0, 0), SCALAR_REFUSE,
	           "clone: a namespace with a thread");
	tap_is_int(decide("prctl", 4, 0, 0), SCALAR_ZERO, "prctl: not dumpable");
	tap_is_int(decide("prctl", 4, 1, 0), SCALAR_ALLOW, "prctl: dumpable");
	tap_is_int(decide("prctl", 4, (uint64_t)1 << 32, 0), SCALAR_ALLOW,
	           "prctl: what the kernel itself finds wrong");
	tap_is_int(decide("prctl", 15, 0, 0), SCALAR_ALLOW, "prctl: a name");
	tap_is_int(decide("prctl", 36, 1, 0), SCALAR_REFUSE, "prctl: subreaper");
	tap_is_int(decide("prctl", 0x59616d61, 1, 0), SCALAR_REFUSE, "prctl: a tracer");
	tap_is_int(decide("prctl", 1000, 1, 0), SCALAR_REFUSE, "prctl: what nobody knows");
	tap_is_int(decide("socket", AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 6),
	           SCALAR_ALLOW, "socket: TCP with flags");
	tap_is_int(decide("socket", AF_INET, SOCK_STREAM, 262), SCALAR_REFUSE, "socket: MPTCP");
	tap_is_int(decide("socket", AF_INET, SOCK_RAW, 255), SCALAR_REFUSE, "socket: raw");
	tap_is_int(decide("socket", AF_NETLINK, SOCK_RAW, 0), SCALAR_ALLOW, "socket: routes");
	tap_is_int(decide("socket", AF_NETLINK, SOCK_RAW, 12), SCALAR_REFUSE, "socket: netfilter");
	tap_is_int(decide("openat", 0, 0, 010000000), SCALAR_STAT, "openat: O_PATH");
	tap_is_int(decide("openat", 0, 0, 0), SCALAR_NOTIFY, "openat: for reading");
	tap_is_int(decide("read", 0, 0, 0), SCALAR_NONE, "read: no rules");
	tap_is_int(decide("ioctl", 0, 0x5401, 0), SCALAR_ALLOW, "ioctl: TCGETS");
	tap_is_int(decide("ioctl", 0, 0x40086602, 0), SCALAR_REFUSE, "ioctl: FS_IOC_SETFLAGS");
	tap_is_int(decide("ioctl", 0, 0x40049409, 0), SCALAR_ALLOW, "ioctl: FICLONE");
	tap_is_int(decide("ioctl", 0, 0x50009401, 0), SCALAR_REFUSE, "ioctl: a btrfs snapshot");
}

int main(void)
{
	test_rows();
	test_decode();
	test_refused();
	test_scalars();
	return tap_done();
}
