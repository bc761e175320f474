/* Extended attributes: what the two families share. */
#ifndef WARY_ANSWER_XATTR_H
#define WARY_ANSWER_XATTR_H

#include "answer/request.h"

#include <linux/limits.h>
#include <stdbool.h>

/* One call's arguments, in target.more. */
struct xattr_call {
	char name[XATTR_NAME_MAX + 1];
	unsigned char *value; /* to be set; owned; freed with the rest */
	size_t size;          /* of the value, or of the caller's buffer */
	uint64_t buffer;      /* address in the caller */
	int flags;            /* XATTR_CREATE, XATTR_REPLACE */
};

/** xattr_new: an empty one, owned by the request.  NULL without memory. */
struct xattr_call *xattr_new(struct request *r);

/** xattr_fetch_name: ROLE_TEXT.  Returns 0, -EFAULT, -ERANGE. */
must_check int xattr_fetch_name(struct request *r, struct xattr_call *x);

/** xattr_fetch_args: struct xattr_args of the at forms: buffer, size, flags.
 * Returns 0, -EINVAL, -E2BIG, -EFAULT. */
must_check int xattr_fetch_args(struct request *r, struct xattr_call *x);

/** xattr_fetch_object: the object, by descriptor or by name. */
must_check int xattr_fetch_object(struct request *r);

/** xattr_path: the name by which the kernel finds the object: of wary's own
 * descriptor; of the caller's open file where there is one. */
void xattr_path(const struct request *r, char out[32]);

#endif
