/* Project policies that their user has accepted: whole copies, kept where no
 * tree can write (law 8 of the language). */
#ifndef WARY_CMD_TRUST_H
#define WARY_CMD_TRUST_H

#include "base/err.h"
#include "cmd/folders.h"

#include <stdint.h>
#include <sys/types.h>

/* Name of a project's policy below its folder. */
#define TRUST_FILE ".wary/policy.wary"

struct trust_file {
	char *path; /* canonical */
	char *text;
	size_t len_bytes;
};

/* What was accepted: the policy first, then the files that it includes. */
struct trust_record {
	char *path;
	uid_t owner;
	char sha256[65]; /* of the policy's text */
	uint64_t accepted_s;
	struct trust_file *files;
	size_t files_n;
};

enum trust_state {
	TRUST_NONE,    /* neither file nor record */
	TRUST_NEW,     /* a file, never accepted */
	TRUST_CURRENT, /* as accepted */
	TRUST_CHANGED, /* text, owner or an included file is another */
	TRUST_GONE,    /* accepted, and not there any more */
};

void trust_free(struct trust_record *r);

/** trust_add: appends a file with its text to a record; both are copied.
 * Returns 0 or -ERR_NOMEM. */
must_check int trust_add(struct trust_record *r, const char *path, const char *text,
                         size_t len_bytes);

/** trust_text: the accepted text of @path, or NULL. */
const struct trust_file *trust_text(const struct trust_record *r, const char *path);

/** trust_seal: sets sha256, owner (of the file as it is) and time, before
 * trust_save. Returns 0 or -ERR_NOTFOUND. */
must_check int trust_seal(struct trust_record *r);

/** trust_load: the record for a project's policy.
 * Returns 0, -ERR_NOTFOUND, -ERR_DAMAGED, -ERR_PERM, -ERR_NOMEM, -ERR_SYS. */
must_check int trust_load(const struct folders *f, const char *path, struct trust_record **out);
must_check int trust_save(const struct folders *f, const struct trust_record *r);
must_check int trust_forget(const struct folders *f, const char *path);

/** trust_compare: how the disk stands to a record (NULL: none) for @path. */
enum trust_state trust_compare(const struct trust_record *r, const char *path);
/** trust_state_text: "accepted", "changed since it was accepted"… */
const char *trust_state_text(enum trust_state state);

/** trust_find: the nearest project policy at or above the working folder that
 * is there or was accepted.
 * @path: memory (free(3)).  @record: NULL where it was never accepted.
 * Returns 0, -ERR_NOTFOUND, or as trust_load. */
must_check int trust_find(const struct folders *f, char **path, struct trust_record **record);

/** trust_each: calls @each for every record that can be read.
 * Returns 0 or -ERR_NOMEM. */
must_check int trust_each(const struct folders *f,
                          void (*each)(void *ctx, const struct trust_record *r), void *ctx);

#endif
