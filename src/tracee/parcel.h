/* One installed package as it lies on the disk: what it says it is, what its
 * manager says of it, and the hash of its contents by wary's own reading.
 *
 * Everything there is the tree's: no link is followed, bounds hold, and what is
 * said and what was hashed are the same bytes, or it is -ERR_RACE.
 */
#ifndef WARY_TRACEE_PARCEL_H
#define WARY_TRACEE_PARCEL_H

#include "package/said.h"
#include "package/site.h"
#include "tracee/contents.h"

/* What it is; the number is `reason` of its row (docs/AUDIT.md). */
enum parcel_state {
	PARCEL_INSTALLED = 2, /* a package */
	PARCEL_LINK,          /* a symbolic link in a package's place; not followed */
	PARCEL_STRAY,         /* something that no package has there by what is said */
	PARCEL_REMOVED,       /* it was there, and is not any more */
};

struct parcel {
	enum parcel_state state;
	char *name;              /* by its place; Python: its own, in PEP 503's form */
	struct said own;         /* package.json, METADATA */
	struct said claimed;     /* the manager's: lock file, direct_url.json */
	char *link;              /* PARCEL_LINK: where it leads */
	struct said_names names; /* Python: what it has beside its .dist-info */
	int err;                 /* 0: hashed; -ERR_…: why not, in words: */
	const char *why;
	bool has_compiled; /* then plain differs from sha256 */
	uint8_t sha256[CONTENTS_SHA256_BYTES], plain[CONTENTS_SHA256_BYTES];
	uint64_t entries, bytes;
};

/* Of one package: what is larger is on record with its name and that it was
 * too large to be hashed. */
#define PARCEL_ENTRIES_MAX 200000
#define PARCEL_BYTES_MAX (UINT64_C(1) << 30)

/** parcel_open: a folder by its path, without following a link.
 * Returns a descriptor, or -1 with errno. */
must_check int parcel_open(const char *path);

/** parcel_node: a package below node_modules.
 * @site_fd: that folder. @name: "name" or "@scope/name".
 * @out: always set; parcel_free().  Blocks on reading files.
 * Returns 0 (see out->err), or -ERR_NOMEM. */
must_check int parcel_node(int site_fd, const char *name, const struct contents_bounds *bounds,
                           struct parcel *out);

/** parcel_python: a distribution by its folder "NAME-VERSION.dist-info": that,
 * and whatever has the first part of a name in its RECORD (but a __pycache__,
 * which modules share).  Likewise. */
must_check int parcel_python(int site_fd, const char *dist_info,
                             const struct contents_bounds *bounds, struct parcel *out);

/** parcel_stray: something that no distribution has.  Likewise. */
must_check int parcel_stray(int site_fd, const char *name, const struct contents_bounds *bounds,
                            struct parcel *out);

/** parcel_lock: what npm's own lock file in a node_modules says.
 * @modules: path of that folder.  Returns NULL: nothing. */
struct said_lock *parcel_lock(const char *modules, const struct contents_bounds *bounds);

void parcel_free(struct parcel *p);

#endif
