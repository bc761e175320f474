#include "trap/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than some headers. */
#define CAP_PERFMON_ 38
#define CAP_BPF_ 39
#define CAP_CHECKPOINT_RESTORE_ 40

static const unsigned forbidden[] = {
	CAP_SYS_ADMIN,      CAP_SYS_PTRACE,      CAP_SYS_RESOURCE, CAP_NET_ADMIN,
	CAP_SYS_MODULE,     CAP_MKNOD,           CAP_SYS_RAWIO,    CAP_SYS_BOOT,
	CAP_SYS_TIME,       CAP_SYS_PACCT,

	CAP_SYS_TTY_CONFIG, CAP_LINUX_IMMUTABLE, CAP_MAC_ADMIN,    CAP_MAC_OVERRIDE,
	CAP_SYSLOG,         CAP_WAKE_ALARM,      CAP_AUDIT_WRITE,  CAP_AUDIT_CONTROL,
	CAP_AUDIT_READ,     CAP_NET_RAW,

	CAP_BLOCK_SUSPEND,  CAP_PERFMON_,        CAP_BPF_,         CAP_CHECKPOINT_RESTORE_,
};

uint64_t privilege_forbidden(void)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
		bits |= PRIVILEGE_BIT(forbidden[i]);
	return bits;
}

static int get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &head, data) == 0 ? 0 : -errno;
}

int privilege_drop(uint64_t bits)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	int err = get(data);

	if (err != 0)
		return err;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t keep = (uint32_t) ~(bits >> 32 * i);

		data[i].effective &= keep;
		data[i].permitted &= keep;
		data[i].inheritable &= keep;
	}
	return syscall(SYS_capset, &head, data) == 0 ? 0 : -errno;
}

int privilege_drop_bounding(uint64_t bits)
{
	if (!(privilege_effective() & PRIVILEGE_BIT(CAP_SETPCAP)))
		return 0;
	for (unsigned cap = 0; cap < 64; cap++) {
		if (!(bits & PRIVILEGE_BIT(cap)))
			continue;
		/* EINVAL: a capability that this kernel does not have. */
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0 && errno != EINVAL)
			return -errno;
	}
	return 0;
}

uint64_t privilege_effective(void)
{
	struct __user_cap_data_struct data[2];

	if (get(data) != 0)
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}
