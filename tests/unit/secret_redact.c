/* secret/redact: a value is found as it is, reversed and encoded, wherever it
 * stands; what only looks like it stays. */
#include "secret/redact.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE "p4ss/w0rd+\xff?"

static struct redact_needle needles[2 * REDACT_FORMS_MAX];
static size_t needles_n;

static void prepare(void)
{
	static char room[2][1024];
	static const char second[] = "tok";

	needles_n = redact_forms("KEY", VALUE, sizeof VALUE - 1, room[0], needles);
	needles_n += redact_forms("TOK", second, sizeof second - 1, room[1], needles + needles_n);
}

/* Writes what the text becomes. */
static void shown(const char *text, size_t len, const char *want)
{
	auto_buf out = BUF_INIT;
	bool found = redact_text(needles, needles_n, text, len, &out);

	if (!found)
		buf_add(&out, text, len);
	tap_is_str(buf_text(&out), want, "becomes: %s", want);
	tap_is_int(found, out.len_bytes != len || memcmp(out.data, text, len) != 0,
	           "and says whether it differs");
}

static void test_plain(void)
{
#define SHOWN(text, want) shown(text, sizeof(text) - 1, want)
	SHOWN("", "");
	SHOWN("nothing of the kind", "nothing of the kind");
	SHOWN(VALUE, "[KEY]");
	SHOWN("a " VALUE " b", "a [KEY] b");
	SHOWN(VALUE VALUE, "[KEY][KEY]");
	SHOWN("x" VALUE "tok" VALUE "y", "x[KEY][TOK][KEY]y");
	SHOWN("p4ss/w0rd", "p4ss/w0rd");
	SHOWN("?\xff+dr0w/ss4p", "[KEY]");
	SHOWN("p4ssp4ss/w0rd+\xff?", "p4ss[KEY]");
	SHOWN("kot dG9r 746f6b", "kot dG9r 746f6b");
#undef SHOWN
}

static void encode64(const char *alphabet, const char *bytes, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len * 8; i += 6) {
		unsigned six = 0;

		for (size_t k = i; k < i + 6; k++) {
			unsigned b =
				k < len * 8 ? (unsigned char)bytes[k / 8] >> (7 - k % 8) & 1u : 0;

			six = six << 1 | b;
		}
		buf_chr(out, alphabet[six]);
	}
	while (out->len_bytes % 4)
		buf_chr(out, '=');
}

/* The value among other bytes, encoded as a whole: at every alignment. */
static void test_base64(const char *alphabet, const char *what)
{
	for (size_t before = 0; before < 7; before++) {
		for (size_t after = 0; after < 4; after++) {
			char bytes[64];
			size_t len = before + sizeof VALUE - 1 + after;
			auto_buf coded = BUF_INIT;
			auto_buf out = BUF_INIT;

			memset(bytes, 'Q', sizeof bytes);
			memcpy(bytes + before, VALUE, sizeof VALUE - 1);
			encode64(alphabet, bytes, len, &coded);
			tap_ok(redact_text(needles, needles_n, coded.data, coded.len_bytes, &out) &&
			               strstr(buf_text(&out), "[KEY]"),
			       "%s, %zu before and %zu after", what, before, after);
		}
	}
}

static void test_hex(const char *format, const char *what)
{
	auto_buf coded = BUF_INIT;
	auto_buf out = BUF_INIT;

	buf_str(&coded, "00");
	for (size_t i = 0; i < sizeof VALUE - 1; i++) {
		char two[8];

		snprintf(two, sizeof two,
		         *format == 'x'   ? "%02x"
		         : *format == 'X' ? "%02X"
		                          : "%%%02X",
		         (unsigned char)VALUE[i]);
		buf_str(&coded, two);
	}
	buf_str(&coded, "00");
	tap_ok(redact_text(needles, needles_n, coded.data, coded.len_bytes, &out), "%s", what);
	tap_is_str(buf_text(&out), "00[KEY]00", "%s: nothing else", what);
}

static void test_percent(void)
{
	shown("?k=p4ss%2Fw0rd%2B%FF%3F&x", strlen("?k=p4ss%2Fw0rd%2B%FF%3F&x"), "?k=[KEY]&x");
	shown("?k=p4ss%2fw0rd%2b%ff%3f&x", strlen("?k=p4ss%2fw0rd%2b%ff%3f&x"), "?k=[KEY]&x");
}

int main(void)
{
	prepare();
	test_plain();
	test_base64("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "base64");
	test_base64("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
	            "base64 for URLs");
	test_hex("x", "hexadecimal");
	test_hex("X", "hexadecimal, upper case");
	test_hex("%", "every byte percent-encoded");
	test_percent();
	return tap_done();
}
