/* Fields read from the left: nothing past their end, and nothing after a miss. */
#include "audit/cursor.h"
#include "tests/unit/tap.h"

#include <string.h>

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 4, 3, 2, 1, 2, 0, 0, 0, 'h', 'i', 0xff};

static void test_whole(void)
{
	struct cursor c = cursor_of(bytes, sizeof bytes);
	struct rows_text text;
	uint8_t last = 0;

	tap_ok(cursor_u64(&c) == 0x0807060504030201u, "8 bytes, the lowest first");
	tap_ok(cursor_u32(&c) == 0x01020304u, "4 bytes");
	text = cursor_text(&c);
	tap_ok(text.len_bytes == 2 && memcmp(text.bytes, "hi", 2) == 0, "a text of 2");
	cursor_bytes(&c, &last, sizeof last);
	tap_ok(last == 0xff && !c.left && !c.wrong, "and a byte: all was read");
	tap_ok(cursor_take(&c, 0) != NULL && !c.wrong, "nothing more is there to be had");
	tap_ok(cursor_take(&c, 1) == NULL && c.wrong, "nor a byte");
}

/* Whatever is cut off. */
static void test_short(void)
{
	size_t believed = 0;

	for (size_t n = 0; n < sizeof bytes; n++) {
		struct cursor c = cursor_of(bytes, n);
		uint8_t last = 7;

		(void)cursor_u64(&c);
		(void)cursor_u32(&c);
		(void)cursor_text(&c);
		cursor_bytes(&c, &last, sizeof last);
		believed += !c.wrong || last != 7 || c.at + c.left != bytes + n;
	}
	tap_ok(!believed, "every shorter one is wrong");
}

static void test_after(void)
{
	static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4};
	struct cursor c = cursor_of(huge, sizeof huge);
	struct rows_text text = cursor_text(&c);

	tap_ok(c.wrong && text.len_bytes == 0 && text.bytes, "a text longer than all is empty");
	tap_ok(cursor_u32(&c) == 0 && cursor_int(&c, 1) == 0, "what comes after is 0");
	tap_ok(cursor_take(&c, 0) == NULL, "and not there");
}

int main(void)
{
	test_whole();
	test_short();
	test_after();
	return tap_done();
}
