#include "base/buf.h"

#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t bound(const struct buf *b)
{
	return b->max_bytes ? b->max_bytes : BUF_MAX_DEFAULT;
}

static bool room(struct buf *b, size_t more)
{
	size_t want;
	size_t cap;
	char *data;

	if (b->failed)
		return false;
	if (__builtin_add_overflow(b->len_bytes, more, &want) || want > bound(b)) {
		b->failed = true;
		return false;
	}
	if (want < b->cap_bytes)
		return true;
	cap = b->cap_bytes ? b->cap_bytes * 2 : 128;
	while (cap <= want)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap_bytes = cap;
	return true;
}

void buf_free(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len_bytes = 0;
	b->cap_bytes = 0;
	b->failed = false;
}

void buf_add(struct buf *b, const void *bytes, size_t len_bytes)
{
	if (!room(b, len_bytes))
		return;
	if (len_bytes)
		memcpy(b->data + b->len_bytes, bytes, len_bytes);
	b->len_bytes += len_bytes;
	b->data[b->len_bytes] = '\0';
}

void buf_str(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_chr(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_list again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
	} else if (room(b, (size_t)n)) {
		vsnprintf(b->data + b->len_bytes, (size_t)n + 1, fmt, again);
		b->len_bytes += (size_t)n;
	}
	va_end(again);
}

static void little_endian(struct buf *b, uint64_t v, size_t n)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(v >> (8 * i));
	buf_add(b, bytes, n);
}

void buf_u8(struct buf *b, uint8_t v)
{
	little_endian(b, v, 1);
}

void buf_u16(struct buf *b, uint16_t v)
{
	little_endian(b, v, 2);
}

void buf_u32(struct buf *b, uint32_t v)
{
	little_endian(b, v, 4);
}

void buf_u64(struct buf *b, uint64_t v)
{
	little_endian(b, v, 8);
}

void buf_reset(struct buf *b)
{
	b->len_bytes = 0;
	b->failed = false;
	if (b->data)
		b->data[0] = '\0';
}

void buf_cut(struct buf *b, size_t len_bytes)
{
	if (len_bytes >= b->len_bytes)
		return;
	b->len_bytes = len_bytes;
	b->data[len_bytes] = '\0';
}

const char *buf_text(struct buf *b)
{
	if (b->failed)
		return NULL;
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *data;

	if (!b->data && !b->failed)
		buf_add(b, "", 0);
	if (b->failed) {
		buf_free(b);
		return NULL;
	}
	data = b->data;
	b->data = NULL;
	b->len_bytes = 0;
	b->cap_bytes = 0;
	return data;
}

int buf_read_file(struct buf *b, int fd)
{
	for (;;) {
		char chunk[16384];
		ssize_t n = read(fd, chunk, sizeof chunk);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -ERR_SYS;
		if (n == 0)
			return 0;
		buf_add(b, chunk, (size_t)n);
		if (b->failed)
			return b->len_bytes + (size_t)n > bound(b) ? -ERR_BOUND : -ERR_NOMEM;
	}
}
