#include "answer/doors.h"

#include "base/uses.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

USES(fstatfs);

#ifndef TRACEFS_MAGIC
#define TRACEFS_MAGIC 0x74726163
#endif

/* Settings by which the kernel is told what to run, or to stop. A slash at the
 * end: everything below. */
static const char *const settings[] = {
	"/proc/sysrq-trigger",
	"/proc/sys/kernel/core_pattern",
	"/proc/sys/kernel/modprobe",
	"/proc/sys/kernel/hotplug",
	"/proc/sys/kernel/poweroff_cmd",
	"/proc/sys/kernel/sysrq",
	"/proc/sys/kernel/usermodehelper/",
	"/proc/sys/kernel/yama/",
	"/proc/sys/kernel/seccomp/",
	"/proc/sys/fs/binfmt_misc/",
	"/proc/sys/fs/suid_dumpable",
	"/proc/sys/vm/memory_failure_recovery",
	"/sys/kernel/uevent_helper",
	"/sys/power/",
};

static bool is_setting(const char *name)
{
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		size_t n = strlen(settings[i]);

		if (settings[i][n - 1] == '/' ? strncmp(name, settings[i], n) == 0
		                              : strcmp(name, settings[i]) == 0)
			return true;
	}
	return false;
}

/* What cannot be told by a name, since such a file system can be anywhere. */
static bool is_inside(const struct place *p)
{
	struct statfs fs;

	if (major(p->st.st_dev) != 0)
		return false; /* a file system on a disk is none of the kernel's */
	if (fstatfs(p->fd, &fs) != 0)
		return true;
	switch (fs.f_type) {
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
	case BINFMTFS_MAGIC:
		return true;
	/* wary may be in the group: who can freeze it, move it or take its
	 * memory stops it. */
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/* Devices: raw memory, screens of other terminals, made-up keyboards. */
static bool is_device(dev_t device, bool writes)
{
	unsigned kind = major(device);
	unsigned which = minor(device);

	if (kind == 1)
		return which == 1 || which == 2 || which == 4; /* mem, kmem, port */
	if (kind == 7)
		return true; /* vcs: what is on the consoles */
	if (kind == 10)
		return which == 223 || which == 239; /* uinput, uhid */
	return kind == 13 && writes;                 /* input: keys and pointers */
}

bool doors_is_shut(const struct place *p, bool writes)
{
	if (S_ISBLK(p->st.st_mode))
		return true;
	if (S_ISCHR(p->st.st_mode))
		return is_device(p->st.st_rdev, writes);
	return writes && (is_setting(p->canon) || is_inside(p));
}
