/* base/buf: appends, bounds, and that a failed buffer stays failed. */
#include "base/buf.h"
#include "base/err.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_append(void)
{
	auto_buf b = BUF_INIT;

	tap_is_str(buf_text(&b), "", "a new one is empty");
	buf_str(&b, "one");
	buf_chr(&b, ' ');
	buf_fmt(&b, "%d-%s", 2, "three");
	tap_is_str(buf_text(&b), "one 2-three", "appends in order");
	tap_is_int((long long)b.len_bytes, 11, "length without the NUL");
	buf_cut(&b, 5);
	tap_is_str(buf_text(&b), "one 2", "cut, and its end is an end");
	buf_cut(&b, 6);
	tap_is_int((long long)b.len_bytes, 5, "never longer");
	buf_reset(&b);
	tap_is_str(buf_text(&b), "", "reset empties");
	buf_add(&b, "a\0b", 3);
	tap_is_int((long long)b.len_bytes, 3, "NUL bytes are bytes");
	tap_ok(memcmp(b.data, "a\0b", 4) == 0, "and a NUL follows");
}

static void test_growth(void)
{
	auto_buf b = BUF_INIT;
	bool same = true;

	for (int i = 0; i < 10000; i++)
		buf_fmt(&b, "%d,", i % 10);
	tap_is_int((long long)b.len_bytes, 20000, "grows");
	for (size_t i = 0; i < 10000; i++)
		same = same && b.data[2 * i] == (char)('0' + i % 10) && b.data[2 * i + 1] == ',';
	tap_ok(same, "and keeps what was there");
}

static void test_bound(void)
{
	struct buf b;

	buf_init(&b, 10);
	buf_str(&b, "0123456789");
	tap_is_str(buf_text(&b), "0123456789", "the bound itself fits");
	buf_chr(&b, 'x');
	tap_ok(b.failed, "one more does not");
	tap_ok(buf_text(&b) == NULL, "a failed buffer has no text");
	buf_reset(&b);
	buf_fmt(&b, "%s", "0123456789x");
	tap_ok(b.failed, "formatted text is bounded too");
	tap_ok(buf_take(&b) == NULL, "nothing to take from a failed buffer");
	tap_ok(!b.data && !b.failed, "and it is empty afterwards");
	buf_free(&b);
}

static void test_overflow(void)
{
	auto_buf b = BUF_INIT;

	buf_str(&b, "x");
	buf_add(&b, "y", SIZE_MAX);
	tap_ok(b.failed, "a sum that overflows fails");
}

static void test_numbers(void)
{
	auto_buf b = BUF_INIT;

	buf_u8(&b, 0x01);
	buf_u16(&b, 0x0302);
	buf_u32(&b, 0x07060504);
	buf_u64(&b, 0x0f0e0d0c0b0a0908);
	tap_is_int((long long)b.len_bytes, 15, "1 + 2 + 4 + 8 bytes");
	for (size_t i = 0; i < b.len_bytes; i++)
		if (b.data[i] != (char)(i + 1))
			b.failed = true;
	tap_ok(!b.failed, "least significant byte first");
}

static void test_take(void)
{
	struct buf b = BUF_INIT;
	char *text = buf_take(&b);

	tap_is_str(text, "", "an empty one gives an empty string");
	free(text);
	buf_str(&b, "mine");
	text = buf_take(&b);
	tap_is_str(text, "mine", "memory is handed on");
	tap_ok(!b.data && !b.len_bytes, "the buffer is empty afterwards");
	free(text);
}

static void test_read_file(void)
{
	struct buf b;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC)) {
		tap_ok(false, "pipe");
		return;
	}
	buf_init(&b, 8);
	tap_is_int(write(ends[1], "12345678", 8), 8, "eight bytes wait");
	close(ends[1]);
	tap_is_int(buf_read_file(&b, ends[0]), 0, "are read");
	tap_is_str(buf_text(&b), "12345678", "whole");
	close(ends[0]);
	tap_is_int(buf_read_file(&b, ends[0]), -ERR_SYS, "a closed descriptor is an error");
	buf_free(&b);

	if (pipe2(ends, O_CLOEXEC)) {
		tap_ok(false, "pipe");
		return;
	}
	tap_is_int(write(ends[1], "123456789", 9), 9, "nine bytes wait");
	close(ends[1]);
	tap_is_int(buf_read_file(&b, ends[0]), -ERR_BOUND, "are beyond the bound");
	close(ends[0]);
	buf_free(&b);
}

int main(void)
{
	test_append();
	test_growth();
	test_bound();
	test_overflow();
	test_numbers();
	test_take();
	test_read_file();
	return tap_done();
}
