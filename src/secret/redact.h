/* Values that must not be seen, found in text as they are and in the forms that
 * tools commonly give them.  Pure.
 *
 * What is found: the value itself; reversed; in hexadecimal of either case; in
 * percent-encoding (only what has to be, and every byte); in base64 of both
 * alphabets, wherever it stands within what was encoded.  What is not: any other
 * form, and encodings of values shorter than REDACT_SHORT_BYTES, which would be
 * found in ordinary text.
 */
#ifndef WARY_SECRET_REDACT_H
#define WARY_SECRET_REDACT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Shorter values are only looked for as they are. */
#define REDACT_SHORT_BYTES 6
/* Forms of one value: see redact_forms. */
#define REDACT_FORMS_MAX 13

/* One text to be found. */
struct redact_needle {
	const char *bytes; /* not ended by a NUL */
	size_t len_bytes;
	const char *name; /* shown in its place: [NAME] */
};

/** redact_forms_size: how many bytes redact_forms writes at most. */
size_t redact_forms_size(size_t value_bytes);

/** redact_forms: everything that is to be found of one value.
 * @value: stays in use: the first form is the value itself.
 * @room: redact_forms_size bytes, for the other forms; as secret as the value.
 * @out: REDACT_FORMS_MAX needles.
 * Returns how many there are; 0 for an empty value. */
size_t redact_forms(const char *name, const char *value, size_t value_bytes, char *room,
                    struct redact_needle *out);

/** redact_text: appends @text to @out, each needle replaced by its [NAME]; of
 * those that begin at one place the longest.
 * Returns whether there was any; if not @out is as it was. */
bool redact_text(const struct redact_needle *needles, size_t n, const char *text, size_t len_bytes,
                 struct buf *out);

#endif
