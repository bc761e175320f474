/* ask/notice: what is said of refusals, folding, bounds, no advice on denies. */
#include "ask/notice.h"
#include "base/log.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int kept_fd = -1;
static int file_fd = -1;

static void capture_begin(void)
{
	kept_fd = dup(STDERR_FILENO);
	file_fd = memfd_create("stderr", MFD_CLOEXEC);
	dup2(file_fd, STDERR_FILENO);
}

/* What was written since capture_begin; memory. */
static char *capture_end(void)
{
	off_t len = lseek(file_fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)len + 1);

	if (!text || pread(file_fd, text, (size_t)len, 0) != len)
		abort();
	dup2(kept_fd, STDERR_FILENO);
	close(kept_fd);
	close(file_fd);
	return text;
}

static const struct verdict deny_rule = {
	.answer = ANSWER_DENY, .file = "default.wary", .line = 12, .text = "deny file ~/.ssh/**"};
static const struct verdict ask_rule = {
	.answer = ANSWER_ASK, .file = "agent.wary", .line = 31, .text = "ask connect *:*"};
static const struct verdict floor_rule = {
	.answer = ANSWER_DENY, .file = "floor", .text = "metadata", .is_floor = true};

static struct facts reading(const char *object)
{
	return (struct facts){
		.class = CLASS_READ,
		.object = object,
		.by = {.path = "/usr/bin/node", .fixed = true},
		.under_known = true,
	};
}

static void told(const struct facts *f, const struct verdict *v, enum notice_why why,
                 const char *detail, const char *want, const char *what)
{
	struct notice *n = NULL;
	char *text;

	if (notice_new(&n, "/home/ana", true) != 0)
		abort();
	capture_begin();
	notice_refused(n, f, v, 4711, why, detail);
	text = capture_end();
	tap_is_str(text, want, "%s", what);
	free(text);
	notice_free(n);
}

static void test_words(void)
{
	static const char *const under[] = {"script:evil@1.0.0", "/usr/bin/npm", NULL};
	static const char *const hosts[] = {"files.example.org", NULL};
	struct facts f = reading("/home/ana/.ssh/id_ed25519");

	f.under = under;
	told(&f, &deny_rule, NOTICE_RULE, NULL,
	     "wary: node (4711, install script of evil@1.0.0) may not read ~/.ssh/id_ed25519\n"
	     "      default.wary:12  deny file ~/.ssh/**\n",
	     "a deny rule is named, and nothing is recommended");
	f = reading("203.0.113.80:443");
	f.class = CLASS_CONNECT;
	f.addr = (struct facts_addr){.family = ADDR_INET, .port = 443, .hosts = hosts};
	told(&f, &ask_rule, NOTICE_NOBODY, NULL,
	     "wary: node (4711) may not connect to files.example.org:443 (203.0.113.80:443): "
	     "nobody to ask\n"
	     "      agent.wary:31  ask connect *:*\n"
	     "      to be asked: run \"wary approve\" in another terminal; to allow it: "
	     "wary policy allow 'connect files.example.org:443'\n",
	     "an unanswered question says how to be asked and how to allow it");
	f = reading("169.254.169.254:80");
	f.class = CLASS_CONNECT;
	told(&f, &floor_rule, NOTICE_RULE, NULL,
	     "wary: node (4711) may not connect to 169.254.169.254:80\n      floor: metadata\n",
	     "the floor gives its reason");
	f = reading("/x");
	told(&f, &deny_rule, NOTICE_BROKEN, "out of memory",
	     "wary: node (4711) may not read /x: refused, since wary could not judge or record "
	     "it\n      default.wary:12  deny file ~/.ssh/**\n      out of memory\n",
	     "a failure says what failed");
}

static void test_hostile_names(void)
{
	struct facts f = reading("/tmp/x\x1b[2K\rAllow?\n\xe2\x80\xae\x9b\b");
	struct notice *n = NULL;
	char *text;

	f.by.path = "/tmp/\x1b]0;title\a";
	if (notice_new(&n, NULL, false) != 0)
		abort();
	capture_begin();
	notice_refused(n, &f, &ask_rule, 1, NOTICE_NOBODY, NULL);
	text = capture_end();
	tap_ok(!strpbrk(text, "\x1b\r\b\a\x9b"), "no control character of a name is printed");
	tap_ok(!strstr(text, "\xe2\x80\xae"), "nor one that turns the text around");
	tap_is_int(text[strlen(text) - 1], '\n', "lines end");
	tap_is_str(strchr(text, '\n') + 1,
	           "      agent.wary:31  ask connect *:*\n"
	           "      to allow it: wary policy allow 'read "
	           "/tmp/x\\x1b\\x5b2K\\x0dAllow\\x3f\\x0a\\xe2\\x80\\xae\\x9b\\x08'\n",
	           "the rule that is offered names exactly this file");
	free(text);
	notice_free(n);
}

static size_t lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void test_folding(void)
{
	struct facts a = reading("/a");
	struct facts b = reading("/b");
	struct audit_totals totals = {.decisions = 12408, .refused = 5, .asked = 1};
	struct notice *n = NULL;
	char *text;

	if (notice_new(&n, NULL, false) != 0)
		abort();
	capture_begin();
	for (int i = 0; i < 38; i++)
		notice_refused(n, &a, &deny_rule, i + 1, NOTICE_RULE, NULL);
	notice_refused(n, &b, &deny_rule, 1, NOTICE_RULE, NULL);
	notice_refused(n, &a, &deny_rule, 1, NOTICE_RULE, NULL);
	notice_summary(n, &totals, "a3f9");
	text = capture_end();
	tap_is_str(text,
	           "wary: node (1) may not read /a\n      default.wary:12  deny file ~/.ssh/**\n"
	           "wary: … and 37 more like it\n"
	           "wary: node (1) may not read /b\n      default.wary:12  deny file ~/.ssh/**\n"
	           "wary: node (1) may not read /a: … and 1 more like it\n"
	           "wary: 12,408 decisions, 5 refused, 1 asked · wary audit show a3f9\n",
	           "equal refusals are counted, and the summary closes");
	free(text);
	notice_free(n);
}

static void test_bound(void)
{
	struct audit_totals totals = {0};
	struct notice *n = NULL;
	char *text;

	if (notice_new(&n, NULL, false) != 0)
		abort();
	capture_begin();
	for (int i = 0; i < 5000; i++) {
		char name[32];
		struct facts f;

		snprintf(name, sizeof name, "/f%d", i);
		f = reading(name);
		notice_refused(n, &f, &deny_rule, 1, NOTICE_RULE, NULL);
	}
	notice_summary(n, &totals, "a3f9");
	text = capture_end();
	tap_is_int((long long)lines(text), 2 * 256 + 1, "refusals of many kinds end in a count");
	tap_ok(strstr(text, "wary: … and 4,744 more refusals of other kinds\n") != NULL,
	       "which says how many");
	free(text);
	notice_free(n);
}

static void test_silence(void)
{
	struct verdict quiet = deny_rule;
	struct facts f = reading("/a");
	struct audit_totals totals = {0};
	struct notice *n = NULL;
	char *text;

	quiet.quiet = true;
	if (notice_new(&n, NULL, false) != 0)
		abort();
	capture_begin();
	notice_refused(n, &f, &quiet, 1, NOTICE_RULE, NULL);
	notice_summary(n, &totals, "a3f9");
	log_set_level(true, false);
	notice_refused(n, &f, &deny_rule, 1, NOTICE_RULE, NULL);
	totals.decisions = 1;
	notice_summary(n, &totals, "a3f9");
	log_set_level(false, false);
	text = capture_end();
	tap_is_str(text, "", "quiet rules and -q say nothing");
	free(text);
	notice_free(n);
	notice_free(NULL);
}

int main(void)
{
	test_words();
	test_hostile_names();
	test_folding();
	test_bound();
	test_silence();
	return tap_done();
}
