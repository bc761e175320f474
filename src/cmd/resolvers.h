/* Name servers, as the resolver of the C library is told of them. */
#ifndef WARY_CMD_RESOLVERS_H
#define WARY_CMD_RESOLVERS_H

#include <stddef.h>

/* As many as the C library uses (MAXNS of resolv.h) and room for more. */
enum { RESOLVERS_MAX = 8 };

/** resolvers_parse: the name servers of a resolv.conf(5) text as "IP:53" and
 * "[IP]:53" words; the first RESOLVERS_MAX.
 * @words: NULL-terminated array of memory (free(3) each, then it).
 * Returns NULL without memory. Without a line it is the C library's own
 * default, this host. */
char **resolvers_parse(const char *text);

/** resolvers_words: the words of a list divided by blanks, the first
 * RESOLVERS_MAX; NULL without memory or where there are none. */
char **resolvers_words(const char *text);

/** resolvers_free: frees what resolvers_parse returned. */
void resolvers_free(char **words);

#endif
