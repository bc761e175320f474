/* What is in a folder, as one hash: of names, kinds and contents, by wary's own
 * reading.  Of what lies there at that moment; docs/AUDIT.md has the bytes.
 *
 * The folder may be the tree's, and changed meanwhile: no link is followed, no
 * device, FIFO or socket is opened, and what is met has bounds.  A file or
 * folder whose times changed while it was read makes the whole -ERR_RACE.
 */
#ifndef WARY_TRACEE_CONTENTS_H
#define WARY_TRACEE_CONTENTS_H

#include "base/buf.h"
#include "base/err.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>

#define CONTENTS_SHA256_BYTES 32
#define CONTENTS_DEPTH_MAX 64

struct contents_bounds {
	uint64_t entries_max, bytes_max;
	uint64_t until_ns; /* CLOCK_MONOTONIC; 0: for ever */
};

/* An entry whose own hash is wanted as well: of what was read before. */
struct contents_watch {
	const char *path; /* within the hash; NULL: none */
	bool seen;        /* it is a file, with this hash */
	uint8_t sha256[CONTENTS_SHA256_BYTES];
};
#define CONTENTS_WATCHES 2

/* One hash being made. */
struct contents {
	struct contents_watch watch[CONTENTS_WATCHES]; /* set after begin */
	struct contents_bounds bounds;
	uint64_t entries, bytes; /* so far */
	bool has_compiled;       /* something lies in a __pycache__ */
	const char *why;         /* of a failure: which bound, what could not be read */
	crypto_hash_sha256_state all, plain;
	struct buf path;
	char *chunk; /* for reading */
};

/** contents_is_late: whether no time is left. */
bool contents_is_late(const struct contents_bounds *bounds);

/** contents_begin: Returns 0 or -ERR_NOMEM; contents_done() in any case. */
must_check int contents_begin(struct contents *c, const struct contents_bounds *bounds);

/** contents_add: an entry of a folder, and all that is below it.
 * @dir_fd: that folder. @name: one name, without a slash; its path in the hash.
 * Entries must be added in the order of their names' bytes.
 * Returns 0, -ERR_BOUND (too much, or no time left), -ERR_RACE (changed
 * meanwhile), -ERR_NOTFOUND (is not there), -ERR_PERM, -ERR_SYS, -ERR_NOMEM.
 * Blocks on reading files. */
must_check int contents_add(struct contents *c, int dir_fd, const char *name);

/** contents_add_all: every entry of a folder but one.
 * @without: its name, or NULL.  Returns as above. */
must_check int contents_add_all(struct contents *c, int dir_fd, const char *without);

/** contents_end: the hash of all that was added, and (@plain) the same without
 * what lies in folders named __pycache__. */
void contents_end(struct contents *c, uint8_t all[CONTENTS_SHA256_BYTES],
                  uint8_t plain[CONTENTS_SHA256_BYTES]);
void contents_done(struct contents *c);

/* Names in a folder, sorted by their bytes. */
struct contents_names {
	char **items;
	size_t n;
};

/** contents_names: of a folder, without "." and "..".
 * @max: more are -ERR_BOUND.
 * Returns 0, -ERR_BOUND, -ERR_NOMEM, -ERR_SYS; contents_names_free(). */
must_check int contents_names(int dir_fd, size_t max, struct contents_names *out);
void contents_names_free(struct contents_names *n);

#endif
