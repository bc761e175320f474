/* package/site, package/touched, package/said: which package a path is of, and
 * what files say of packages, honest and not. */
#include "package/said.h"
#include "package/touched.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places -------------------------------------------------------------- */

static const struct {
	const char *path;
	enum site_kind kind;
	const char *site, *place; /* NULL: of none */
	bool whole;
} places[] = {
	{"/p/node_modules/a/lib/x.js", SITE_NODE, "/p/node_modules", "/p/node_modules/a", false},
	{"/p/node_modules/a", SITE_NODE, "/p/node_modules", "/p/node_modules/a", false},
	{"/p/node_modules/a.js", SITE_NODE, "/p/node_modules", "/p/node_modules/a.js", false},
	{"/p/node_modules/@s/a/x", SITE_NODE, "/p/node_modules", "/p/node_modules/@s/a", false},
	{"/p/node_modules/@s", SITE_NODE, "/p/node_modules", "/p/node_modules/@s", true},
	{"/p/node_modules", SITE_NODE, "/p/node_modules", "/p/node_modules", true},
	{"/p/node_modules/a/node_modules/b/x", SITE_NODE, "/p/node_modules/a/node_modules",
         "/p/node_modules/a/node_modules/b", false},
	{"/p/node_modules/a/node_modules", SITE_NODE, "/p/node_modules/a/node_modules",
         "/p/node_modules/a/node_modules", true},
	{"/p/node_modules/a/test/node_modules/b/x", SITE_NODE, "/p/node_modules",
         "/p/node_modules/a", false},
	{"/p/node_modules/.pnpm/a@1/node_modules/a/x", SITE_NODE,
         "/p/node_modules/.pnpm/a@1/node_modules", "/p/node_modules/.pnpm/a@1/node_modules/a",
         false},
	{"/p/node_modules/.evil/x", SITE_NODE, "/p/node_modules", "/p/node_modules/.evil", false},
	{"/p/node_modules/.bin/a", SITE_NONE, NULL, NULL, false},
	{"/p/node_modules/.package-lock.json", SITE_NONE, NULL, NULL, false},
	{"/p/node_modules2/a", SITE_NONE, NULL, NULL, false},
	{"/p/src/a.js", SITE_NONE, NULL, NULL, false},
	{"/", SITE_NONE, NULL, NULL, false},
	{"", SITE_NONE, NULL, NULL, false},
	{"/v/site-packages/a/b.py", SITE_PYTHON, "/v/site-packages", "/v/site-packages/a", false},
	{"/v/site-packages", SITE_PYTHON, "/v/site-packages", "/v/site-packages", true},
	{"/v/dist-packages/a.py", SITE_PYTHON, "/v/dist-packages", "/v/dist-packages/a.py", false},
	{"/t/lib/a-1.0.dist-info/RECORD", SITE_PYTHON, "/t/lib", "/t/lib/a-1.0.dist-info", false},
	{"/t/lib/a-1.0.dist-info", SITE_PYTHON, "/t/lib", "/t/lib/a-1.0.dist-info", false},
	{"/t/lib/.dist-info", SITE_NONE, NULL, NULL, false},
	{"/v/site-packages/a/node_modules/b", SITE_PYTHON, "/v/site-packages", "/v/site-packages/a",
         false},
};

static void test_places(void)
{
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const char *path = places[i].path;
		struct site s = {0};
		bool is = site_of(path, &s);
		char got[256];

		tap_ok(is == (places[i].place != NULL), "\"%s\" is%s of a package", path,
		       places[i].place ? "" : " not");
		if (!is || !places[i].place)
			continue;
		snprintf(got, sizeof got, "%.*s", (int)s.site_len, path);
		tap_is_str(got, places[i].site, "its site");
		snprintf(got, sizeof got, "%.*s", (int)s.place_len, path);
		tap_is_str(got, places[i].place, "its place");
		tap_ok(s.kind == places[i].kind && s.whole == places[i].whole, "its kind");
	}
}

static void test_touched(void)
{
	struct touched t = {0};
	bool added = true;
	char path[64];

	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof path, "/p/node_modules/n%d/x%d", i % 1000, i);
		added = added && touched_add(&t, path) == 0;
	}
	tap_ok(added, "many are added");
	tap_is_int((long long)t.n, 1000, "each place once");
	tap_ok(!t.items[7].itself, "of which something in it was touched");
	tap_is_int(touched_add(&t, "/p/node_modules/n7"), 0, "and then itself");
	tap_ok(t.n == 1000 && t.items[7].itself, "which is known");
	tap_is_str(t.items[7].path, "/p/node_modules/n7", "a place has its path");
	tap_is_int(touched_add(&t, "/p/src/x"), 0, "what is in no package");
	tap_is_int((long long)t.n, 1000, "is left out");
	touched_free(&t);
	added = true;
	for (size_t i = 0; i < TOUCHED_MAX; i++) {
		snprintf(path, sizeof path, "/p/node_modules/n%zu", i);
		added = added && touched_add(&t, path) == 0;
	}
	tap_ok(added && !t.more, "as many as there is room for");
	tap_is_int(touched_add(&t, "/p/node_modules/one-more"), -ERR_BOUND, "and not one more");
	tap_ok(t.more && t.n == TOUCHED_MAX, "which the set says");
	tap_is_int(touched_add(&t, "/p/node_modules/n5"), 0, "one that is there is no more");
	touched_free(&t);
}

/* ---- what is said ---------------------------------------------------------- */

static void is_said(int err, struct said *s, const char *const want[4], const char *what)
{
	tap_is_int(err, 0, "%s", what);
	tap_is_str(s->name, want[0], "%s: name", what);
	tap_is_str(s->version, want[1], "%s: version", what);
	tap_is_str(s->from, want[2], "%s: from", what);
	tap_is_str(s->integrity, want[3], "%s: integrity", what);
	said_free(s);
}

#define SAID(parse, text, what, ...)                                           \
	do {                                                                   \
		struct said s_;                                                \
		int err_ = parse(text, strlen(text), &s_);                     \
		is_said(err_, &s_, (const char *const[4]){__VA_ARGS__}, what); \
	} while (0)

static void nothing(int err, struct said *s, const char *what)
{
	tap_is_int(err, -ERR_FORMAT, "%s says nothing", what);
	tap_ok(!s->name && !s->version && !s->from, "and nothing is set");
	said_free(s);
}

static void test_manifest(void)
{
	static const char *const bad[] = {"",
	                                  "[]",
	                                  "{",
	                                  "{}",
	                                  "{\"name\":1,\"version\":[]}",
	                                  "{\"name\":\"\"}",
	                                  "{\"name\":\"a\\nb\"}"};
	struct said s;
	char *large = malloc(SAID_MAX_BYTES + 64);

	SAID(said_manifest, "{\"name\":\"@s/a\",\"version\":\"1.0\"}", "a manifest", "@s/a", "1.0",
	     NULL, NULL);
	SAID(said_manifest, "\xef\xbb\xbf{\"name\":\"a\"}", "one with a mark", "a", NULL, NULL,
	     NULL);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		nothing(said_manifest(bad[i], strlen(bad[i]), &s), &s, bad[i]);
	if (large) {
		int head = snprintf(large, 16, "{\"name\":\"");

		memset(large + head, 'x', SAID_MAX_BYTES + 1);
		memcpy(large + head + SAID_MAX_BYTES + 1, "\"}", 3);
		nothing(said_manifest(large, strlen(large), &s), &s, "a name without end");
	}
	free(large);
}

static void test_lock(void)
{
	static const char text[] =
		"{\"packages\":{\"node_modules/a\":{\"version\":\"2.0\",\"resolved\":"
		"\"https://me:to@ken@h.example/a.tgz?x=@y\",\"integrity\":\"sha512-AA==\"}}}";
	struct said_lock *l = said_lock_read(text, strlen(text));
	struct said s;

	is_said(said_lock_of(l, "node_modules/a", &s), &s,
	        (const char *const[4]){NULL, "2.0", "https://h.example/a.tgz?x=@y", "sha512-AA=="},
	        "a lock file, without who asked");
	nothing(said_lock_of(l, "node_modules/b", &s), &s, "of another package it");
	nothing(said_lock_of(NULL, "node_modules/a", &s), &s, "no lock file");
	said_lock_free(l);
	tap_ok(!said_lock_read("[1]", 3), "one that is none");
}

static void test_python(void)
{
	char form[16];
	struct said s;

	SAID(said_metadata, "Metadata-Version: 2.1\r\nname:  A_b \r\nVersion: 1.0\r\n\r\nName: no",
	     "METADATA", "A_b", "1.0", NULL, NULL);
	nothing(said_metadata("\nName: a\n", 9, &s), &s, "a description");
	SAID(said_direct_url,
	     "{\"url\":\"https://u:p@h/x.whl\",\"archive_info\":{\"hashes\":{\"sha256\":\"00\"}}}",
	     "direct_url.json", NULL, NULL, "https://h/x.whl", "sha256=00");
	SAID(said_direct_url, "{\"url\":\"https://h/x\",\"vcs_info\":{\"commit_id\":\"abc\"}}",
	     "one of a repository", NULL, NULL, "https://h/x", "abc");
	tap_ok(said_python_name("A_.b-C", form, sizeof form), "a name has a form");
	tap_is_str(form, "a-b-c", "in which Python compares it");
	tap_ok(!said_python_name("a name that is too long", form, sizeof form), "or is too long");
}

static void test_record(void)
{
	static const char text[] =
		"b/x.py,sha256=x,1\r\n\"a \"\"q\"\", c/y.py\",,\nb/z.py,,\n"
		"../../../bin/b,,\n/etc/passwd,,\n./x,,\na/../../x,,\nb-1.dist-info/RECORD,,\n";
	struct said_names n;
	char *many = malloc((size_t)16 * (SAID_NAMES_MAX + 1));
	size_t len = 0;

	tap_is_int(said_record(text, strlen(text), &n), 0, "a RECORD");
	tap_ok(n.n == 3 && n.outside == 4, "names beside its folder, and others");
	tap_ok(n.n == 3 && strcmp(n.items[0], "a \"q\", c") == 0 && strcmp(n.items[1], "b") == 0 &&
	               strcmp(n.items[2], "b-1.dist-info") == 0,
	       "sorted, each once");
	said_names_free(&n);
	tap_is_int(said_record("\"a,,\n", 5, &n), -ERR_FORMAT, "a quote that does not end");
	said_names_free(&n);
	tap_is_int(said_record("a\0b,,\n", 6, &n), -ERR_FORMAT, "a zero byte");
	said_names_free(&n);
	for (int i = 0; many && i <= SAID_NAMES_MAX; i++)
		len += (size_t)snprintf(many + len, 16, "n%d,,\n", i);
	if (many) {
		tap_is_int(said_record(many, len, &n), -ERR_BOUND, "too many names");
		said_names_free(&n);
	}
	free(many);
}

int main(void)
{
	test_places();
	test_touched();
	test_manifest();
	test_lock();
	test_python();
	test_record();
	return tap_done();
}
