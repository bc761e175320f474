/* A trapped call: registers, and the table row that says what they are. */
#ifndef WARY_CALL_CALL_H
#define WARY_CALL_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How a call is made safe (DESIGN: means). */
enum call_means {
	MEANS_ALLOW,    /* the filter lets it run: it decides nothing */
	MEANS_SCALARS,  /* the filter decides on register scalars alone */
	MEANS_EMULATE,  /* wary copies, decides, performs, answers */
	MEANS_STAT,     /* allowed while no rule speaks of stat, else emulated */
	MEANS_VERIFY,   /* continued, then verified at the exec stop */
	MEANS_CONTINUE, /* decided where what can change decides nothing */
	MEANS_REFUSE,   /* a notification, recorded, answered with an errno */
	MEANS_ABSENT,   /* ENOSYS by the filter */
	MEANS_COUNT
};

/** call_means_name: "emulated"…, as the documents say it. */
const char *call_means_name(enum call_means means);

/* What an argument is.  The second name of rename or link has its own. */
enum call_role {
	ROLE_NONE,
	ROLE_DIRFD,
	ROLE_PATH,
	ROLE_DIRFD2,
	ROLE_PATH2,
	ROLE_TEXT, /* a string that is not a path: link target, xattr name */
	ROLE_FD,
	ROLE_FLAGS,
	ROLE_MODE,
	ROLE_DEV,
	ROLE_HOW,  /* struct open_how, clone_args, xattr_args… */
	ROLE_SIZE, /* bytes of the structure or buffer before it */
	ROLE_BUF,  /* memory read or written */
	ROLE_UID,
	ROLE_GID,
	ROLE_LENGTH, /* of a file: truncate */
	ROLE_TIMES,
	ROLE_ADDR, /* struct sockaddr */
	ROLE_ADDRLEN,
	ROLE_PID,
	ROLE_TGID,
	ROLE_SIGNAL,
	ROLE_CMD, /* of ioctl, fcntl, prctl… */
	ROLE_VALUE,
	ROLE_ARGV,
	ROLE_ENVP,
};

enum call_family {
#define FAMILY(name) FAMILY_##name,
#include "call/family.def"
#undef FAMILY
	FAMILY_COUNT
};

#define CALL_ARGS 6

struct call_row {
	const char *name; /* "openat" */
	int nr;           /* of this architecture, -1: not there */
	enum call_means means;
	enum call_family family;
	int op; /* meaning is the family's own (enum call_op_…) */
	enum call_role roles[CALL_ARGS];
	int refuse_errno; /* MEANS_REFUSE */
	const char *why;  /* the safety argument, for docs/SYSCALLS.md */
};

/* One notification, decoded.  Values are the registers at the trap; nothing
 * here was read from memory. */
struct call {
	uint64_t id; /* of the notification */
	pid_t tid;   /* of the caller, in wary's pid namespace */
	int nr;
	uint64_t ip;
	uint64_t args[CALL_ARGS];
	const struct call_row *row; /* never NULL after call_decode */
};

/** call_row_find: the row of a number of this architecture, or NULL. */
const struct call_row *call_row_find(int nr);
/** call_row_at: rows in table order, NULL past the end. */
const struct call_row *call_row_at(size_t i);
/** call_row_named: the row with a name, or NULL. */
const struct call_row *call_row_named(const char *name);

/** call_row_refused: what a call becomes whose registers the scalar rules
 * refuse: the same name in FAMILY_refuse, so that its own family never sees it.
 * @row: of this table. */
const struct call_row *call_row_refused(const struct call_row *row);

/** call_row_index: the place of a row in the table. */
size_t call_row_index(const struct call_row *row);

/** call_arg: the register that has @role in this call's row.
 * @out: set to it; 0 where the row has no such role.
 * Returns whether the row has it. */
bool call_arg(const struct call *c, enum call_role role, uint64_t *out);

#endif
