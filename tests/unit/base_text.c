/* base/text: what a person may see of what a child chose. */
#include "base/err.h"
#include "base/text.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

static void shown(const char *bytes, size_t len, size_t max, const char *want)
{
	auto_buf b = BUF_INIT;

	text_printable(&b, bytes, len, max);
	tap_is_str(buf_text(&b), want, "printable: %s", want);
}

static void test_printable(void)
{
#define SHOWN(bytes, want) shown(bytes, sizeof(bytes) - 1, 0, want)
	SHOWN("", "");
	SHOWN("plain text", "plain text");
	SHOWN("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	SHOWN("a\nb\tc\rd", "a\\nb\\tc\\rd");
	SHOWN("\x1b[31mred\x7f", "\\x1b[31mred\\x7f");
	SHOWN("back\\slash", "back\\\\slash");
	SHOWN("\xc2\x9b"
	      "31m",
	      "\\x9b31m");
	SHOWN("\xff\xfe", "\\xff\\xfe");
	SHOWN("\xe2\x80\xae"
	      "cod.exe",
	      "\\u{202e}cod.exe");
	SHOWN("\xe2\x80\x8b", "\\u{200b}");
	SHOWN("\xc0\xaf", "\\xc0\\xaf");
	SHOWN("\xed\xa0\x80", "\\xed\\xa0\\x80");
	SHOWN("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	SHOWN("\xe2\x80", "\\xe2\\x80");
	SHOWN("nul\0in", "nul\\x00in");
#undef SHOWN
	shown("abcdef", 6, 6, "abcdef");
	shown("abcdefg", 7, 6, "abcdef\xe2\x80\xa6");
}

/* No byte, and no pair of bytes, comes out as a control character. */
static void test_printable_all(void)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < 65536; i++) {
		char pair[2] = {(char)(i >> 8), (char)i};
		auto_buf b = BUF_INIT;

		text_printable(&b, pair, sizeof pair, 0);
		for (size_t k = 0; k < b.len_bytes; k++)
			bad += (unsigned char)b.data[k] < 0x20 || b.data[k] == 0x7f;
		for (size_t k = 0; k + 1 < b.len_bytes; k++)
			bad += (unsigned char)b.data[k] == 0xc2 &&
			       (unsigned char)b.data[k + 1] < 0xa0;
	}
	tap_is_int(bad, 0, "of all pairs of bytes none gives a control character");
}

static void test_utf8(void)
{
	unsigned code = 0;

	tap_is_int((long long)text_utf8_next((const unsigned char *)"\xf0\x9f\x92\xa9", 4, &code),
	           4, "four bytes");
	tap_is_int(code, 0x1f4a9, "code point");
	tap_is_int((long long)text_utf8_next((const unsigned char *)"", 0, &code), 0, "nothing");
	tap_is_int((long long)text_utf8_next((const unsigned char *)"\x80", 1, &code), 0,
	           "a lone continuation byte");
}

static void test_nearest(void)
{
	static const char *const words[] = {"read", "write", "create", "delete", NULL};

	tap_is_str(text_nearest("raed", words), "read", "two letters changed places");
	tap_is_str(text_nearest("wirte", words), "write", "likewise");
	tap_ok(text_nearest("banana", words) == NULL, "nothing is near");
	tap_is_int(text_edit_distance("", "abc"), 3, "distance from nothing");
	tap_is_int(text_edit_distance("same", "same"), 0, "distance to itself");
	tap_is_int(text_edit_distance("ab", "ba"), 1, "a swap is one");
}

static void test_hex(void)
{
	auto_buf b = BUF_INIT;
	unsigned char bytes[4] = {0};

	text_hex(&b, "\x00\x7f\xff\x10", 4);
	tap_is_str(buf_text(&b), "007fff10", "hexadecimal");
	tap_is_int(text_unhex("007FfF10", 8, bytes, 4), 0, "reads both cases");
	tap_ok(memcmp(bytes, "\x00\x7f\xff\x10", 4) == 0, "the same bytes");
	tap_is_int(text_unhex("007fff1", 7, bytes, 4), -ERR_FORMAT, "too short");
	tap_is_int(text_unhex("007fff1g", 8, bytes, 4), -ERR_FORMAT, "not a digit");
}

static void test_number(void)
{
	unsigned long long n = 7;
	auto_buf b = BUF_INIT;

	tap_is_int(text_number("65535", 65535, &n), 0, "the greatest");
	tap_is_int((long long)n, 65535, "its value");
	tap_is_int(text_number("65536", 65535, &n), -ERR_BOUND, "one more");
	tap_is_int(text_number("99999999999999999999999", ~0ull, &n), -ERR_BOUND, "overflow");
	tap_is_int(text_number("", 9, &n), -ERR_FORMAT, "nothing");
	tap_is_int(text_number(" 1", 9, &n), -ERR_FORMAT, "a blank");
	tap_is_int(text_number("-1", 9, &n), -ERR_FORMAT, "a sign");
	tap_is_int((long long)n, 65535, "failures do not set the output");
	text_thousands(&b, 0);
	buf_chr(&b, ' ');
	text_thousands(&b, 999);
	buf_chr(&b, ' ');
	text_thousands(&b, 12408);
	buf_chr(&b, ' ');
	text_thousands(&b, 1234567);
	tap_is_str(buf_text(&b), "0 999 12,408 1,234,567", "thousands");
}

int main(void)
{
	test_printable();
	test_printable_all();
	test_utf8();
	test_nearest();
	test_hex();
	test_number();
	return tap_done();
}
