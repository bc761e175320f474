/* What files that come with a package, or that its manager wrote, say of it:
 * claims, of whoever could write them.  Pure: text in, values out; texts are
 * the tree's choice, bounded, and never trusted. */
#ifndef WARY_PACKAGE_SAID_H
#define WARY_PACKAGE_SAID_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Longer values are as if they were not there. */
#define SAID_MAX_BYTES 2048
/* More names of a RECORD are -ERR_BOUND. */
#define SAID_NAMES_MAX 4096

struct said {
	char *name, *version; /* NULL: nothing is said */
	char *from;           /* a URL or path, without user and password */
	char *integrity;      /* "sha512-BASE64", "sha256=HEX": of what was fetched */
};

void said_free(struct said *s);

/** said_manifest: a package.json: name and version.
 * Returns 0, -ERR_FORMAT (nothing is set) or -ERR_NOMEM; said_free() in any case. */
must_check int said_manifest(const char *text, size_t len, struct said *out);

/** said_metadata: a METADATA of Python: name and version.  Returns as above. */
must_check int said_metadata(const char *text, size_t len, struct said *out);

/** said_direct_url: a direct_url.json: from and integrity.  Returns as above. */
must_check int said_direct_url(const char *text, size_t len, struct said *out);

/* A package-lock.json, or node_modules/.package-lock.json. */
struct said_lock;

/** said_lock_read: Returns NULL where it is none. */
struct said_lock *said_lock_read(const char *text, size_t len);
void said_lock_free(struct said_lock *l);

/** said_lock_of: what it says of a place, "node_modules/@s/a/node_modules/b":
 * name (where it is another than the place's), version, from, integrity.
 * @l: or NULL: nothing.  Returns as above, -ERR_FORMAT where it says nothing. */
must_check int said_lock_of(const struct said_lock *l, const char *place, struct said *out);

/* First parts of the names in a RECORD: what a distribution has put beside
 * its NAME.dist-info. */
struct said_names {
	char **items; /* sorted by bytes, each once */
	size_t n;
	size_t outside; /* lines that name something above or elsewhere */
};

/** said_record: Returns 0, -ERR_BOUND, -ERR_FORMAT, -ERR_NOMEM;
 * said_names_free() in any case. */
must_check int said_record(const char *text, size_t len, struct said_names *out);
void said_names_free(struct said_names *n);

/** said_python_name: the form of a name in which Python compares them: case, and
 * runs of "-", "_" and "." do not count (PEP 503).  Writes @name so into @out,
 * a string of at most @size - 1 bytes; returns whether it fits. */
must_check bool said_python_name(const char *name, char *out, size_t size);

#endif
