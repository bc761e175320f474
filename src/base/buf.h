/* A growing run of bytes with a bound: whatever a hostile child can make
 * grow goes through one of these.  An append past the bound or without
 * memory marks the buffer failed; later appends do nothing, so that a writer
 * checks once, at the end. */
#ifndef WARY_BASE_BUF_H
#define WARY_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data;       /* always NUL-terminated when not NULL */
	size_t len_bytes; /* without that NUL */
	size_t cap_bytes;
	size_t max_bytes; /* 0: BUF_MAX_DEFAULT */
	bool failed;
};

#define BUF_MAX_DEFAULT ((size_t)64 << 20)
#define BUF_INIT  \
	{         \
		0 \
	}

static inline void buf_init(struct buf *b, size_t max_bytes)
{
	*b = (struct buf){.max_bytes = max_bytes};
}

/** buf_free: frees; the buffer is empty and usable afterwards. */
void buf_free(struct buf *b);
#define auto_buf __attribute__((cleanup(buf_free))) struct buf

void buf_add(struct buf *b, const void *bytes, size_t len_bytes);
void buf_str(struct buf *b, const char *text);
void buf_chr(struct buf *b, char c);
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Integers in little-endian order, for canonical bytes. */
void buf_u8(struct buf *b, uint8_t v);
void buf_u16(struct buf *b, uint16_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);

/** buf_reset: empties without freeing; clears failed. */
void buf_reset(struct buf *b);

/** buf_cut: keeps the first bytes; no more than there are. */
void buf_cut(struct buf *b, size_t len_bytes);

/** buf_text: the bytes as a C string, "" when empty; NULL when failed. */
const char *buf_text(struct buf *b);

/** buf_take: hands the memory on (free(3)); NULL when failed. */
char *buf_take(struct buf *b);

/** buf_read_file: appends what can be read from @fd up to the bound.
 * Returns 0, -ERR_BOUND, -ERR_NOMEM or -ERR_SYS (errno kept). */
int buf_read_file(struct buf *b, int fd) __attribute__((warn_unused_result));

#endif
