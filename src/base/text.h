/* Text: what a person may see of what a child chose, and small helpers. */
#ifndef WARY_BASE_TEXT_H
#define WARY_BASE_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/** text_printable: appends bytes in a form that is safe on a terminal.
 * @out: appended to.
 * @bytes, @len_bytes: anything, chosen by the child.
 * @max_chars: after so many characters the rest is cut with "…"; 0: no cut.
 * Valid UTF-8 of printable characters stays; control characters (C0, C1),
 * bidirectional and invisible format characters, line separators, surrogates
 * and invalid bytes become \n, \t, \r, \xHH or \u{HEX}; a backslash becomes
 * \\ so that the form is unambiguous. */
void text_printable(struct buf *out, const void *bytes, size_t len_bytes, size_t max_chars);

/** text_printable_str: the same for a C string, as memory (free(3)).
 * Never NULL: without memory it is abort(). */
char *text_printable_str(const char *text, size_t max_chars);

/** text_utf8_next: decodes one character of UTF-8 strictly (RFC 3629).
 * @code: set to the code point when valid.
 * Returns the length in bytes, or 0 where the bytes are not valid UTF-8. */
size_t text_utf8_next(const unsigned char *s, size_t len_bytes, unsigned *code);

/** text_is_hidden: whether a code point is a control, bidirectional or
 * invisible format character (those that law 30 of the language forbids). */
bool text_is_hidden(unsigned code);

/** text_starts: whether @s begins with @prefix. */
bool text_starts(const char *s, const char *prefix);

/** text_edit_distance: Damerau-Levenshtein, for "did you mean".
 * Words longer than 63 bytes give a distance of 64. */
unsigned text_edit_distance(const char *a, const char *b);

/** text_nearest: the word of a NULL-terminated list nearest to @word, or NULL
 * where none is near enough to suggest. */
const char *text_nearest(const char *word, const char *const *list);

/** text_hex: appends bytes as lower-case hexadecimal. */
void text_hex(struct buf *out, const void *bytes, size_t len_bytes);

/** text_unhex: reads exactly 2 * @len_bytes digits.
 * Returns 0 or -ERR_FORMAT. */
int text_unhex(const char *hex, size_t hex_len, void *out, size_t len_bytes)
	__attribute__((warn_unused_result));

/** text_number: a decimal number of nothing but digits, in range.
 * Returns 0, -ERR_FORMAT or -ERR_BOUND. */
int text_number(const char *s, unsigned long long max, unsigned long long *out)
	__attribute__((warn_unused_result));

/** text_thousands: appends a number grouped by commas: 12,408. */
void text_thousands(struct buf *out, unsigned long long n);

#endif
