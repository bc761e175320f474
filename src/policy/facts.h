/* What the policy sees of one question: plain values, no descriptors.
 *
 * Everything here was copied or resolved by wary; nothing points into the
 * caller.  A verdict is a pure function of these facts (law 31 of the
 * language), so that a recorded question can be replayed.
 */
#ifndef WARY_POLICY_FACTS_H
#define WARY_POLICY_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum policy_class {
	CLASS_READ,
	CLASS_WRITE,
	CLASS_CREATE,
	CLASS_DELETE,
	CLASS_ATTR,
	CLASS_LINK,
	CLASS_STAT,
	CLASS_EXEC,
	CLASS_CONNECT,
	CLASS_BIND,
	CLASS_RESOLVE,
	CLASS_INSTALL,
	CLASS_SCRIPT,
	CLASS_SECRET,
	CLASS_IPC,
	CLASS_SYSCALL,
	CLASS_COUNT
};

/** policy_class_name: "read", "write"…; never NULL for a valid class. */
const char *policy_class_name(enum policy_class class);
/** policy_class_find: the class of a word, or -1. */
int policy_class_find(const char *word);

/* A fact that may be unknown: law 2 decides for the strictest then. */
enum fact_state { FACT_NO, FACT_YES, FACT_UNKNOWN };

enum facts_family { ADDR_NONE, ADDR_INET, ADDR_INET6, ADDR_UNIX, ADDR_OTHER };
enum facts_proto { PROTO_ANY, PROTO_TCP, PROTO_UDP };

/* An address, canonical: IPv4-mapped and compatible IPv6 is ADDR_INET.  For
 * connect 0.0.0.0 and :: are the loopback address of their family; for bind
 * they stay what they are, since there they mean every address. */
struct facts_addr {
	enum facts_family family;
	enum facts_proto proto;
	uint8_t ip[16];        /* network order; the first 4 for ADDR_INET */
	uint16_t port;         /* host order */
	const char *unix_name; /* canonical path, or the abstract name (NUL cut) */
	bool unix_abstract;
	bool own;                 /* this session itself listens there */
	bool local;               /* an address of this host itself, any interface */
	const char *const *hosts; /* names by unexpired answers of wary's own DNS
	                             guard, NULL-terminated; NULL: none */
	int os_family;            /* for ADDR_OTHER: AF_ number */
};

/* The program that acts, as recorded at its exec stop (lineage). */
struct facts_program {
	const char *path;        /* canonical path of the loaded image; NULL unknown */
	const char *script;      /* canonical path of the #! script, or NULL */
	bool fixed;              /* the tree can write or replace neither image nor
	                          script nor interpreter nor the way to them */
	bool nameable;           /* fixed, and no rule would let the tree write it: an
	                          * allow may be written for it (law 21), which the
	                          * checker judges by rules alone */
	const uint8_t *sha256;   /* 32 bytes, or NULL where not taken */
	const char *const *argv; /* argv[0] is the program or script itself */
	size_t argc;
	bool argv_whole; /* false: beyond the bound, the rest is missing */
};

struct facts_package {
	const char *manager;  /* "npm", "pip"… */
	const char *name;     /* normalised as the manager does */
	const char *version;  /* as asked for, or NULL */
	const char *registry; /* set name or host it comes from; NULL unknown */
	enum fact_state unpinned, is_new, git, url, path, script, lookalike;
	bool dependency;  /* pulled in by another, not asked for */
	const char *root; /* dependency: the package asked for that pulls it
	                          in, and its version; NULL unknown */
	const char *root_version;
};

struct facts {
	enum policy_class class;
	/* Canonical path for file classes and exec; "manager:name" for install
	 * and script; secret name; word for ipc and syscall; for connect and
	 * bind the printable form of addr.  Bytes, never NULL; may not be UTF-8. */
	const char *object;
	bool object_is_dir;
	uint64_t dev, ino;            /* of an existing file object, 0 if none: for
	                          rules that hold under any name (law 11) */
	struct facts_addr addr;       /* connect, bind */
	struct facts_package package; /* install, script */
	/* For exec: the program to be started, with its argv.  Else unused. */
	struct facts_program target;
	/* Who asks. */
	struct facts_program by;
	/* Earlier images of the process and its ancestors, nearest first,
	 * canonical paths; also "install:npm", "script:NAME" marks. */
	const char *const *under; /* NULL-terminated; NULL: none */
	bool under_known;         /* false: unknown lineage (law 8 of the design) */
	uint64_t now_s;           /* wall time, for `until`; 0: unknown */
	bool ignores_case;        /* the folder of the object ignores case */
	bool via_link;            /* object is a link followed on the way: only deny
	                          and ask rules count (law 11) */
};

#endif
