/* What loading a policy needs from outside: the pure part asks through this,
 * and only while it loads.  Every function may be NULL (in tests, fuzzers). */
#ifndef WARY_POLICY_WORLD_H
#define WARY_POLICY_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest text of one policy; a reader need not read further (-ERR_BOUND). */
#define POLICY_TEXT_MAX_BYTES ((size_t)4 << 20)

/* What a world answers for PROJECT where there is none: a name that cannot
 * exist, so that rules about the project match nothing. */
#define POLICY_NO_PROJECT "/dev/null/no-project"

/* What a name is, without following it. */
enum policy_kind {
	POLICY_ABSENT, /* also where it cannot be told */
	POLICY_LINK,
	POLICY_FOLDER,
	POLICY_OTHER,
};

/* Stages that a running wary has.  A policy that is loaded to run and needs
 * one that is not there is refused, with the line that needs it. */
enum policy_stage {
	STAGE_NAMES = 1 << 0,        /* connect rules by host name (not registry:) */
	STAGE_RESOLVE = 1 << 1,      /* rules of the class resolve */
	STAGE_RELAY = 1 << 2,        /* through relay */
	STAGE_SCRIPT = 1 << 3,       /* class script; when script; under script: */
	STAGE_INSTALL = 1 << 4,      /* class install */
	STAGE_VERSION = 1 << 5,      /* version, when unpinned */
	STAGE_FROM = 1 << 6,         /* from */
	STAGE_FACTS = 1 << 7,        /* when new, git, url, path, lookalike */
	STAGE_DEPENDENCIES = 1 << 8, /* with dependencies */
	STAGE_SHA256 = 1 << 9,
	STAGE_MARKS = 1 << 10, /* under install: */
	STAGE_STACK = 1 << 11,
	STAGE_VIA = 1 << 12,
	STAGE_STAT = 1 << 13, /* rules that name stat or file */
	STAGE_IPC = 1 << 14,
	STAGE_SYSCALL = 1 << 15,
	STAGE_TENANT = 1 << 16,
	STAGE_TMP = 1 << 17,
	STAGE_LIMIT = 1 << 18,
	STAGE_ENV = 1 << 19, /* env pass, env drop */
	STAGE_ENV_SET = 1 << 20,
	STAGE_AUDIT = 1 << 21, /* audit count, off */
	STAGE_AUDIT_SYNC = 1 << 22,
	STAGE_SECRET_ENV = 1 << 23, /* secret … from env: … as env */
	STAGE_SECRET_VAULT = 1 << 24,
	STAGE_SECRET_FILE = 1 << 25, /* from file: */
	STAGE_SECRET_COMMAND = 1 << 26,
	STAGE_SECRET_AS_FILE = 1 << 27,
	STAGE_SECRET_AS_FD = 1 << 28,
	STAGE_FOR = 1 << 29,
};

struct policy_world {
	void *ctx;

	/* Text of a policy by the word of include or -p: a shipped or user's
	 * name ("default") or a path; a path that does not begin with / is
	 * beside @from_file, the canonical path of the file that includes it
	 * (NULL: the working folder).  *path: the canonical path of the file,
	 * or NAME.wary for a shipped one; both are memory that the callee
	 * allocated (free(3)).
	 * Returns 0 or -ERR_NOTFOUND, -ERR_PERM, -ERR_BOUND. */
	int (*read)(void *ctx, const char *from_file, const char *word, char **text,
	            size_t *len_bytes, char **path);

	/* The links on the way to the file that read() gives for such a path:
	 * canonical names, each with its NUL, then one more NUL; memory of the
	 * callee (free(3)).  NULL where they cannot be told: then the policy is
	 * not loaded.  The field may be NULL: no links. */
	char *(*links)(void *ctx, const char *from_file, const char *word);

	/* Whether a file that was read (its canonical path) lies in a folder of policies
	 * that no session's tree may ever write.  NULL: none does. */
	bool (*lasting)(void *ctx, const char *path);

	/* What is at an absolute path whose folders are no links, by lstat and
	 * readlink.  *target: for a link its text (free(3)); dev and ino: of
	 * what exists.  Asked lazily, each name at most once in one load. */
	enum policy_kind (*look)(void *ctx, const char *path, char **target, uint64_t *dev,
	                         uint64_t *ino);

	/* All names of a folder at once, so that fifty rules about a home cost
	 * one call: "lNAME\0" for a link, "dNAME\0" for a folder, "oNAME\0" for
	 * else, then "\0"; memory of the callee (free(3)).  NULL where that
	 * cannot be told or there are more than @max_names: then look() is
	 * asked for each.  Asked once for a folder of which several are named. */
	char *(*list)(void *ctx, const char *path, size_t max_names);

	/* Only where look is NULL: the canonical form of an existing path's
	 * longest prefix with the rest behind it (free(3)); its identity. */
	char *(*canonical)(void *ctx, const char *path);
	bool (*identity)(void *ctx, const char *path, uint64_t *dev, uint64_t *ino);

	/* Value of HOME PROJECT TMPDIR CACHE CONFIG STATE RUNTIME UID, or NULL.
	 * Also HOME_OF_UID: the home of the user database, where it differs
	 * from HOME (law 9), else NULL. */
	const char *(*variable)(void *ctx, const char *name);

	/* An environment variable of wary itself (`let X = env:NAME`). */
	const char *(*environment)(void *ctx, const char *name);

	/* Hosts of a registry set ("npm"): "host:port" words, NULL-terminated,
	 * owned by the world; NULL where the manager is not configured. */
	const char *const *(*registry)(void *ctx, const char *manager);
	/* The files that named those hosts, which the tree must not be able to
	 * write (law 16): absolute, NULL-terminated, owned by the world. */
	const char *const *(*registry_files)(void *ctx, const char *manager);

	/* Whether the user of this session is meant by a word of `tenant …
	 * users` ("ana", "@group", "2001", "2001-2099"). */
	bool (*user_is)(void *ctx, const char *word);

	/* The floor: wary's own store, keys, journals, control socket (never
	 * the tree's in any way) and what it may read but never change (the
	 * user's policies and answers); canonical paths, each with all below;
	 * NULL-terminated; NULL: none. */
	const char *const *floor_paths;
	const char *const *floor_read_only;

	uint64_t now_s;
	bool for_run;    /* refuse what needs a stage that is not in… */
	unsigned stages; /* … STAGE_ bits */
};

#endif
