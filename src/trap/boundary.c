#include "trap/boundary.h"

#include "base/buf.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers that may be installed. */
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define NET_BIND_TCP (1ULL << 0)
#define NET_CONNECT_TCP (1ULL << 1)
#define SCOPE_ABSTRACT (1ULL << 0)
#define SCOPE_SIGNAL (1ULL << 1)
#define LANDLOCK_VERSION (1U << 0)

/* struct landlock_ruleset_attr as of ABI 6; earlier kernels take its head. */
struct ruleset {
	uint64_t files;
	uint64_t net;
	uint64_t scoped;
};

#define MAKE_ANY                                                        \
	(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |   \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |   \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
	 LANDLOCK_ACCESS_FS_MAKE_SYM)
#define REMOVE_ANY (LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define READ_ANY (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE_ANY (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
/* What a file, as opposed to a folder, can be the object of. */
#define ON_FILES                                                      \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	 LANDLOCK_ACCESS_FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

/* What a class needs of Landlock on the object itself, and on the folder that
 * holds it: names are made and removed in folders. */
static const struct {
	uint64_t self;
	uint64_t folder;
} needs[CLASS_COUNT] = {
	[CLASS_READ] = {READ_ANY | FS_IOCTL_DEV, 0},
	[CLASS_WRITE] = {WRITE_ANY, 0},
	[CLASS_CREATE] = {READ_ANY | WRITE_ANY | MAKE_ANY, MAKE_ANY | LANDLOCK_ACCESS_FS_REFER},
	[CLASS_DELETE] = {REMOVE_ANY, REMOVE_ANY | LANDLOCK_ACCESS_FS_REFER},
	[CLASS_LINK] = {MAKE_ANY, MAKE_ANY | LANDLOCK_ACCESS_FS_REFER},
	[CLASS_EXEC] = {LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE, 0},
	/* A unix socket is made where it is bound. */
	[CLASS_BIND] = {LANDLOCK_ACCESS_FS_MAKE_SOCK, LANDLOCK_ACCESS_FS_MAKE_SOCK},
};

/* What wary's own workers need, whatever the policy says: the caller's memory
 * and descriptors, and the interpreters of programs. */
static const struct {
	const char *path;
	uint64_t access;
} always[] = {
	{"/proc", READ_ANY | WRITE_ANY},
	{"/lib", LANDLOCK_ACCESS_FS_EXECUTE | READ_ANY},
	{"/lib64", LANDLOCK_ACCESS_FS_EXECUTE | READ_ANY},
	{"/usr/lib", LANDLOCK_ACCESS_FS_EXECUTE | READ_ANY},
	{"/usr/lib64", LANDLOCK_ACCESS_FS_EXECUTE | READ_ANY},
	{"/dev/null", READ_ANY | WRITE_ANY},
};

struct making {
	int ruleset_fd;
	uint64_t handled;
	unsigned classes; /* of all prefixes */
	uint64_t root;    /* what holds at "/", and so for every name */
	int err;
};

int boundary_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);

	return abi > 0 ? (int)abi : 0;
}

/* The nearest folder or file of a name that exists: what does not exist yet
 * can only be made below that. */
static int open_nearest(char *path, bool *found)
{
	*found = true;
	for (;;) {
		int fd = open(path, O_PATH | O_CLOEXEC);
		char *slash = strrchr(path, '/');

		if (fd >= 0 || !slash || (errno != ENOENT && errno != ENOTDIR && errno != EACCES))
			return fd;
		*found = false;
		if (slash == path && slash[1] == '\0')
			return -1;
		slash[slash == path ? 1 : 0] = '\0';
	}
}

static void add_rule(struct making *m, int fd, uint64_t access)
{
	struct landlock_path_beneath_attr rule = {.parent_fd = fd};
	struct stat st;

	if (fstat(fd, &st) != 0) {
		m->err = -errno;
		return;
	}
	rule.allowed_access = access & m->handled & (S_ISDIR(st.st_mode) ? UINT64_MAX : ON_FILES);
	if (rule.allowed_access == 0)
		return;
	if (syscall(SYS_landlock_add_rule, m->ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) !=
	            0 &&
	    errno != EBADFD) /* a kind of file that Landlock does not bind */
		m->err = -errno;
}

/* Whether the root's own rules give all of it: a rule below would add nothing,
 * and most policies have hundreds. */
static bool is_given(const struct making *m, uint64_t access)
{
	return (access & m->handled & ~m->root) == 0;
}

static void add_folder(struct making *m, const char *path, uint64_t access)
{
	auto_free char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	bool found;

	if (!slash || is_given(m, access))
		return;
	slash[slash == folder ? 1 : 0] = '\0';
	auto_fd fd = open_nearest(folder, &found);
	if (fd >= 0)
		add_rule(m, fd, access);
}

static void add_prefix(void *ctx, const char *prefix, bool below, unsigned classes)
{
	struct making *m = ctx;
	uint64_t self = 0, folder = 0;
	bool found;

	(void)below; /* Landlock's rules always hold below as well */
	m->classes |= classes;
	for (unsigned c = 0; c < CLASS_COUNT; c++)
		if (classes & 1u << c) {
			self |= needs[c].self;
			folder |= needs[c].folder;
		}
	if (is_given(m, self | folder))
		return;
	auto_free char *path = strdup(prefix);
	if (!path) {
		m->err = -ENOMEM;
		return;
	}
	auto_fd fd = open_nearest(path, &found);
	if (fd >= 0)
		add_rule(m, fd, found ? self : self | folder);
	if (found)
		add_folder(m, prefix, folder);
	if (fd >= 0 && strcmp(prefix, "/") == 0)
		m->root |= self | folder;
}

static uint64_t handled_files(int abi)
{
	uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

	all |= abi >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0;
	all |= abi >= 3 ? FS_TRUNCATE : 0;
	all |= abi >= 5 ? FS_IOCTL_DEV : 0;
	return all;
}

static void note_classes(void *ctx, const char *prefix, bool below, unsigned classes)
{
	unsigned *all = ctx;

	(void)prefix;
	(void)below;
	*all |= classes;
}

/* Whether some rule, or the default, may let the tree connect or listen: which
 * ports is then wary's to decide. */
static bool may_use_network(const struct policy *policy)
{
	unsigned classes = 0;

	policy_prefixes(policy, note_classes, &classes);
	return (classes & (1u << CLASS_CONNECT | 1u << CLASS_BIND)) != 0 ||
	       policy_speaks_of(policy, CLASS_CONNECT) || policy_speaks_of(policy, CLASS_BIND);
}

/* Whether the signal scope holds: kill(-1) from inside must never reach what
 * is outside, whatever the version said. */
static bool signals_are_scoped(void)
{
	pid_t outside[] = {1, getppid()};

	for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
		if (outside[i] > 0 && outside[i] != getpid() &&
		    (kill(outside[i], 0) == 0 || errno != EPERM))
			return false;
	return true;
}

static int enter(int ruleset_fd)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_landlock_restrict_self, ruleset_fd, 0) != 0)
		return -errno;
	return 0;
}

static int add_files(const struct policy *policy, struct making *m)
{
	policy_prefixes(policy, add_prefix, m);
	for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
		if (is_given(m, always[i].access))
			continue;
		auto_fd fd = open(always[i].path, O_PATH | O_CLOEXEC);

		if (fd >= 0)
			add_rule(m, fd, always[i].access);
	}
	return m->err;
}

int boundary_scope_signals(void)
{
	const struct ruleset attr = {.scoped = SCOPE_SIGNAL};
	auto_fd ruleset_fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);

	return ruleset_fd < 0 ? -errno : enter(ruleset_fd);
}

static const size_t attr_size[] = {0, 8, 8, 8, 16, 16, 24};

int boundary_enter(const struct policy *policy, struct boundary *out)
{
	int abi = boundary_abi(), err;
	bool network = !policy || may_use_network(policy);
	struct ruleset attr = {
		.files = policy ? handled_files(abi) : 0,
		.net = abi >= 4 && !network ? NET_BIND_TCP | NET_CONNECT_TCP : 0,
		.scoped = abi >= 6 ? SCOPE_SIGNAL | (network ? 0 : SCOPE_ABSTRACT) : 0,
	};
	struct making m = {.handled = attr.files};

	*out = (struct boundary){.abi = abi};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	if (abi == 0 || (attr.files | attr.net | attr.scoped) == 0)
		return 0;
	m.ruleset_fd =
		(int)syscall(SYS_landlock_create_ruleset, &attr, attr_size[abi < 6 ? abi : 6], 0);
	if (m.ruleset_fd < 0)
		return -errno;
	auto_fd ruleset_fd = m.ruleset_fd;
	err = policy ? add_files(policy, &m) : 0;
	if (err == 0)
		err = enter(ruleset_fd);
	if (err != 0)
		return err;
	out->files = attr.files != 0;
	out->tcp = attr.net != 0;
	out->devices = abi >= 5 && out->files;
	out->abstract = (attr.scoped & SCOPE_ABSTRACT) != 0;
	out->signals = abi >= 6 && signals_are_scoped();
	return 0;
}
