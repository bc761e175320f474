/* audit/record, audit/decode: events and quoting survive the journal. */
#include "audit/decode.h"
#include "audit/record.h"
#include "tests/unit/tap.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static void check_quote(const char *bytes, size_t len, const char *want)
{
	struct buf b = BUF_INIT;

	record_quote(&b, bytes, len);
	tap_is_str(buf_text(&b), want, "%s", want);
	buf_free(&b);
}

struct words {
	const char *const *want;
	size_t n;
	bool right;
};

static int compare(void *ctx, const char *bytes, size_t len)
{
	struct words *w = ctx;

	w->right &= strlen(w->want[w->n]) == len && memcmp(w->want[w->n], bytes, len) == 0;
	w->n++;
	return 0;
}

static int count(void *ctx, const char *bytes, size_t len)
{
	(void)bytes;
	(void)len;
	return ++*(int *)ctx == 2 ? -ERR_CANCELLED : 0;
}

static void check_quoting(void)
{
	static const char *const argv[] = {
		"sh",  "-c",     "echo 'a b' \\ \"c\"", "",    "\xff\xfe",
		"ä ö", "new\nl", "\x1b[31mred",         "a'b", "$HOME",
		"ü"};
	static const char *const wrong[] = {"'a",     "$'a",     "a ",       " a",    "a  b",
	                                    "$'\\q'", "$'\\x4'", "$'\\xGG'", "'abc'", "$'a'"};
	const size_t n = sizeof argv / sizeof argv[0];
	struct words w = {argv, 0, true};
	struct buf b = BUF_INIT;
	int calls = 0;

	check_quote("npm", 3, "npm");
	check_quote("", 0, "''");
	check_quote("a b", 3, "'a b'");
	check_quote("it's", 4, "$'it\\'s'");
	check_quote("a\nb", 3, "$'a\\nb'");
	check_quote("\x01\xc3", 2, "$'\\x01\\xc3'");
	check_quote("\xe2\x80\xae", 3, "$'\\xe2\\x80\\xae'");
	check_quote("päth", 5, "päth");
	for (size_t i = 0; i < n; i++) {
		buf_str(&b, i ? " " : "");
		record_quote(&b, argv[i], strlen(argv[i]));
	}
	tap_is_int(record_unquote(buf_text(&b), b.len_bytes, compare, &w), 0, "it reads back");
	tap_ok(w.right && w.n == n, "the same arguments");
	tap_is_int(record_unquote("a b c", 5, count, &calls), -ERR_CANCELLED, "reading may end");
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		calls = -100;
		tap_is_int(record_unquote(wrong[i], strlen(wrong[i]), count, &calls), -ERR_FORMAT,
		           "%s is refused: there is one way to write it", wrong[i]);
	}
	buf_free(&b);
}

static struct audit_event event(void)
{
	static const uint8_t sha256[32] = {1, 2, 3};

	return (struct audit_event){
		.kind = AUDIT_PACKAGE,
		.class = CLASS_INSTALL,
		.answer = ANSWER_DENY,
		.by_human = true,
		.rule_file = "a.wary",
		.rule_line = 7,
		.pid = 4,
		.tid = 5,
		.ppid = 3,
		.uid = 1000,
		.object = "npm:evil",
		.object2 = "",
		.flags = UINT64_MAX,
		.sha256 = sha256,
		.reason = -3,
	};
}

static void check_record(void)
{
	struct audit_event e = event();
	struct record r;
	struct record back;
	uint8_t *bytes;
	size_t size;
	bool refused = true;

	tap_is_int(record_from_event(&r, &e, "a 'b c'"), 0, "an event in pieces");
	size = record_size(&r);
	bytes = malloc(size);
	if (!bytes)
		return;
	record_encode(&r, bytes);
	tap_is_int(record_decode(&back, bytes, size), 0, "it reads back");
	tap_ok(memcmp(&back.head, &r.head, sizeof r.head) == 0, "the same head");
	tap_is_str(back.text[RECORD_OBJECT], "npm:evil", "its object");
	tap_is_str(back.text[RECORD_OBJECT2], "", "an empty text is not none");
	tap_is_str(back.text[RECORD_CWD], NULL, "and none is none");
	tap_is_str(back.text[RECORD_ARGV], "a 'b c'", "argv");
	tap_is_str(record_judge_name(&back), "human", "who judged");
	for (size_t n = 0; n < size; n++)
		refused &= record_decode(&back, bytes, n) == -ERR_FORMAT;
	tap_ok(refused, "every beginning of it is refused");
	bytes[size - 1] = 'x';
	tap_is_int(record_decode(&back, bytes, size), -ERR_FORMAT, "a text without its end");
	bytes[size - 1] = 0;
	bytes[size - 3] = 0;
	tap_is_int(record_decode(&back, bytes, size), -ERR_FORMAT, "a text with a NUL inside");
	free(bytes);
}

static void check_words(void)
{
	for (unsigned i = 0; i < CLASS_COUNT; i++)
		if (record_class_find(record_class_name(i)) != (int)i)
			tap_ok(false, "class %u", i);
	tap_is_int(record_class_find("syscall"), 15, "the last class has bit 15");
	tap_is_int(record_class_find("raed"), -1, "an unknown word");
	tap_is_int(record_answer_find("kill"), 3, "answers");
	tap_is_int(record_kind_find("session"), 6, "kinds");
}

/* Entries in a row, as journal.c writes them. */
static size_t put(uint8_t *at, uint64_t index, const char *body, const uint8_t *key)
{
	size_t len = strlen(body);
	size_t size = journal_entry_bytes(len);
	struct journal_entry_head head = {index + 1, (uint32_t)len, RECORD_NOTE, 0};

	memset(at, 0, size);
	memcpy(at, &head, sizeof head);
	memcpy(at + sizeof head, body, len);
	decode_tag(at + size - JOURNAL_TAG_BYTES, at, size - JOURNAL_TAG_BYTES, key);
	return size;
}

static void check_entries(void)
{
	uint8_t bytes[512] = {0};
	uint8_t key[RATCHET_KEY_BYTES] = {9};
	uint8_t other[RATCHET_KEY_BYTES] = {8};
	struct journal_entry e;
	size_t size = put(bytes, 41, "body", key);
	bool found = true;

	tap_is_int(decode_entry(bytes, sizeof bytes, 41, &e), DECODE_ENTRY, "an entry");
	tap_ok(e.size_bytes == size && e.head.len_bytes == 4, "its size");
	tap_ok(decode_check(bytes, &e, key), "its tag");
	tap_ok(!decode_check(bytes, &e, other), "not under another key");
	tap_is_int(decode_entry(bytes, sizeof bytes, 40, &e), DECODE_DAMAGED, "of another index");
	tap_is_int(decode_entry(bytes, size - 1, 41, &e), DECODE_DAMAGED, "past the segment");
	tap_is_int(decode_entry(bytes + size, 100, 42, &e), DECODE_END, "nothing after it");
	for (size_t bit = 0; bit < size * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		found &= decode_entry(bytes, sizeof bytes, 41, &e) != DECODE_ENTRY ||
		         !decode_check(bytes, &e, key);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	tap_ok(found, "every single bit that changes is found");
}

static void check_ratchet(void)
{
	static const uint8_t master[RATCHET_SEED_BYTES] = {1};
	struct ratchet a;
	struct ratchet b;
	uint8_t keys[200][RATCHET_KEY_BYTES];
	uint8_t key[RATCHET_KEY_BYTES];
	bool same = true;
	bool differ = true;

	ratchet_init(&a, master);
	ratchet_segment(&a);
	for (unsigned i = 0; i < 200; i++) {
		ratchet_next(&a, keys[i]);
		for (unsigned k = 0; k < i; k++)
			differ &= memcmp(keys[i], keys[k], sizeof keys[i]) != 0;
	}
	ratchet_init(&b, master);
	ratchet_segment(&b);
	for (unsigned i = 0; i < 200; i++) {
		ratchet_next(&b, key);
		same &= memcmp(key, keys[i], sizeof key) == 0;
	}
	tap_ok(same, "the same master gives the same keys");
	tap_ok(differ, "all of them different");
	for (size_t at = 0; at + sizeof key <= sizeof a; at++)
		for (unsigned i = 0; i < 200; i++)
			same &= memcmp((const uint8_t *)&a + at, keys[i], sizeof key) != 0;
	for (size_t at = 0; at + sizeof master <= sizeof a; at++)
		same &= memcmp((const uint8_t *)&a + at, master, sizeof master) != 0;
	tap_ok(same, "what was handed out is nowhere in the state any more");
	ratchet_segment(&a);
	ratchet_segment(&b);
	ratchet_next(&a, key);
	ratchet_next(&b, keys[0]);
	tap_ok(memcmp(key, keys[0], sizeof key) == 0, "the next segment does not depend on how "
	                                              "many keys were used");
}

int main(void)
{
	if (sodium_init() < 0)
		return 1;
	check_quoting();
	check_record();
	check_words();
	check_entries();
	check_ratchet();
	return tap_done();
}
