/* What is known of program files that were executed before, so that the next
 * exec of one need not read it again.
 *
 * A file is the same while its name, device, inode, size and times are.  What
 * is remembered is only what the exec is expected to load: the exec stop
 * compares it with what was loaded, so that a file which was changed without
 * a trace is killed, not believed. */
#ifndef WARY_ANSWER_IMAGES_H
#define WARY_ANSWER_IMAGES_H

#include "base/err.h"
#include "tracee/image.h"
#include "tracee/place.h"

#include <stdbool.h>

struct images; /* thread-safe */

/** images_new: @hash: whether rules ask for hashes of programs.
 * Returns 0 or -ERR_NOMEM. */
must_check int images_new(bool hash, struct images **out);
void images_free(struct images *i);

/** images_find: an image that was kept.
 * @loader: its canon and st are filled where the image has one.
 * @loader_image: likewise, of the loader.
 * Returns whether there is one; else nothing is changed. */
bool images_find(struct images *i, const struct place *p, struct image *out, struct place *loader,
                 struct image *loader_image);

/** images_keep: remembers an ELF image and its loader (NULL: it has none). */
void images_keep(struct images *i, const struct place *p, const struct image *image,
                 const struct place *loader, const struct image *loader_image);

#define IMAGES_SHA256_BYTES 32
/* A larger program has no hash, as one that cannot be read: a worker would have
 * to read for as long as the caller likes (a sparse file costs nothing). */
#define IMAGES_HASHED_MAX_BYTES ((off_t)2 << 30)

/** images_sha256: the hash of a program's bytes, kept for the next time.
 * @fd: the file that @p is, open for reading; read from its beginning.
 * Returns whether it was wanted and could be taken. Blocks on reading. */
bool images_sha256(struct images *i, const struct place *p, int fd,
                   uint8_t out[IMAGES_SHA256_BYTES]);

/** images_hash_fd: the same without keeping it.  Returns 0, -ERR_SYS, or -ERR_BOUND
 * where the file is too large. */
must_check int images_hash_fd(int fd, uint8_t out[IMAGES_SHA256_BYTES]);

#endif
