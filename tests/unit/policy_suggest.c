/* Suggestions: one text for the same uses, that allows them and no neighbour. */
#include "base/buf.h"
#include "base/own.h"
#include "policy/policy.h"
#include "policy/suggest.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct suggest_folders folders = {
	.home = "/home/ana",
	.project = "/home/ana/app",
	.gitdir = "/home/ana/app/.git",
	.tmpdir = "/tmp",
	.cache = "/home/ana/.cache",
	.config = "/home/ana/.config",
	.state = "/home/ana/.local/state",
	.runtime = "/run/user/1000",
};

/* --- a world with the text and an empty part "keys" --------------------- */

static int world_read(void *ctx, const char *from_file, const char *word, char **text,
                      size_t *len_bytes, char **path)
{
	const char *found = strcmp(word, "keys") == 0 ? "wary 1\n" : ctx;

	(void)from_file;
	*text = strdup(found);
	*len_bytes = strlen(found);
	*path = strdup(word);
	return *text && *path ? 0 : -ERR_NOMEM;
}

static const char *world_variable(void *ctx, const char *name)
{
	static const char *const pairs[][2] = {
		{"HOME", "/home/ana"},
		{"PROJECT", "/home/ana/app"},
		{"GITDIR", "/home/ana/app/.git"},
		{"TMPDIR", "/tmp"},
		{"CACHE", "/home/ana/.cache"},
		{"CONFIG", "/home/ana/.config"},
		{"RUNTIME", "/run/user/1000"},
		{"STATE", "/home/ana/.local/state"},
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (strcmp(pairs[i][0], name) == 0)
			return pairs[i][1];
	return NULL;
}

static struct policy *load(struct buf *text)
{
	static const char *const words[] = {"text", NULL};
	char *copy = strdup(buf_text(text));
	struct policy_world world = {.ctx = copy, .read = world_read, .variable = world_variable};
	struct policy_report *report = NULL;
	struct policy *p = NULL;

	if (policy_load(&world, words, &p, &report))
		for (size_t i = 0; i < policy_report_count(report); i++)
			tap_note("%u: %s", policy_report_at(report, i)->line,
			         policy_report_at(report, i)->text);
	policy_report_free(report);
	free(copy);
	return p;
}

static enum policy_answer decide(const struct policy *p, enum policy_class class,
                                 const char *object)
{
	struct facts f = {.class = class, .object = object, .under_known = true, .now_s = 1};
	struct verdict v = {.answer = ANSWER_DENY};

	if (class == CLASS_EXEC)
		f.target = (struct facts_program){.path = object, .argv_whole = true};
	if (p)
		policy_decide(p, &f, &v);
	return v.answer;
}

/* --- the text ----------------------------------------------------------- */

static const struct suggest_use work[] = {
	{CLASS_READ, "/usr/lib/libc.so.6", NULL, 40, false},
	{CLASS_READ, "/usr/share/x", NULL, 2, false},
	{CLASS_READ, "/etc/passwd", NULL, 3, false},
	{CLASS_READ, "/etc/hosts", NULL, 1, false},
	{CLASS_READ, "/etc/ssl/a", NULL, 1, false},
	{CLASS_READ, "/etc/ssl/b", NULL, 1, false},
	{CLASS_READ, "/proc/123/maps", NULL, 1, false},
	{CLASS_READ, "/proc/77/maps", NULL, 1, false},
	{CLASS_EXEC, "/usr/bin/git", NULL, 2, false},
	{CLASS_EXEC, "/usr/bin/bash", NULL, 1, false},
	{CLASS_WRITE, "/home/ana/app/a", NULL, 5, false},
	{CLASS_READ, "/home/ana/app/.git/config", NULL, 1, false},
	{CLASS_EXEC, "/home/ana/app/build.sh", NULL, 1, false},
	{CLASS_CREATE, "/tmp/cc12345.o", NULL, 1, false},
	{CLASS_READ, "/home/ana/.cache/pip/a", NULL, 1, false},
	{CLASS_WRITE, "/home/ana/.cache/pip/b", NULL, 1, false},
	{CLASS_READ, "/home/ana/.tool", NULL, 1, false},
	{CLASS_READ, "/home/ana/.tool/a", NULL, 1, false},
	{CLASS_READ, "/home/ana/.tool/sub/b", NULL, 1, false},
	{CLASS_READ, "/home/ana/.config/one/file", NULL, 1, false},
	{CLASS_CREATE, "/home/ana/x-0a1b2c3d.log", NULL, 1, false},
	{CLASS_READ, "/", NULL, 1, false},
	{CLASS_READ, "/home/ana/.ssh/id", NULL, 1, true},
	{CLASS_CONNECT, "203.0.113.7:443", NULL, 1, false},
	{CLASS_CONNECT, "127.0.0.1:4000", "own:*", 2, false},
	{CLASS_CONNECT, "203.0.113.9:443", "registry:npm", 7, false},
	{CLASS_CONNECT, "unix:/run/user/1000/x/s", NULL, 1, false},
	{CLASS_BIND, "127.0.0.1:3001", NULL, 1, false},
	{CLASS_BIND, "127.0.0.1:3002", NULL, 1, false},
	{CLASS_BIND, "127.0.0.1:3003", NULL, 1, false},
	{CLASS_BIND, "127.0.0.1:3004", NULL, 1, false},
	{CLASS_BIND, "127.0.0.1:3005", NULL, 1, false},
	{CLASS_BIND, "127.0.0.1:3006", NULL, 1, false},
	{CLASS_INSTALL, "npm:@scope/a", NULL, 1, false},
	{CLASS_INSTALL, "npm:b", NULL, 1, false},
	{CLASS_STAT, "/home/ana/.ssh", NULL, 9, false},
	{CLASS_SYSCALL, "umask", NULL, 9, false},
};
enum { WORK = sizeof work / sizeof work[0] };

static const char expected[] =
	"\n# The machine.\n"
	"allow  read            /.                                         # 1\n"
	"allow  read            /etc/{hosts,passwd}                        # 4\n"
	"allow  read            /etc/ssl/                                  # 2\n"
	"allow  read            /proc/*/maps                               # 2\n"
	"allow  read            /usr/                                      # 42\n"
	"allow  exec            /usr/bin/{bash,git}                        # 3\n"
	"\n# The home.\n"
	"allow  read            ${CONFIG}/one/file                         # 1\n"
	"allow  read            ~/.tool/                                   # 3\n"
	"allow  edit            ~/x-*.log                                  # 1\n"
	"\n# Caches.\n"
	"allow  read,edit       ${CACHE}/pip/                              # 2\n"
	"\n# Temporary folders.\n"
	"allow  edit            ${TMPDIR}/**                               # 1\n"
	"\n# The project.\n"
	"allow  read,edit,exec  ${PROJECT}/                                # 7\n"
	"\n# The network.\n"
	"allow  connect         203.0.113.7:443                            # 1\n"
	"allow  connect         own:*                                      # 2\n"
	"allow  connect         registry:npm                               # 7\n"
	"allow  connect         unix:${RUNTIME}/x/s                        # 1\n"
	"allow  bind            127.0.0.1:*                                # 6\n"
	"\n# Packages.\n"
	"allow  install         npm:@scope/a                               # 1\n"
	"allow  install         npm:b                                      # 1\n"
	"\n# What no build needs stays refused.\n"
	"include \"keys\"\n"
	"\n# Of what \"keys\" refuses, the session did this: keep no line that you\n"
	"# cannot give a reason for.\n"
	"allow  read            ~/.ssh/id                                  # 1\n";

static void test_text(void)
{
	struct suggest_use shuffled[WORK];
	auto_buf text = BUF_INIT;
	bool same = true;

	tap_is_int(suggest_write(&folders, work, WORK, &text), 0, "a session is folded");
	tap_is_str(buf_text(&text), expected, "as the method says");
	for (unsigned round = 1; round <= 20; round++) {
		auto_buf again = BUF_INIT;
		uint32_t seed = round * 2654435761u;

		memcpy(shuffled, work, sizeof work);
		for (size_t i = WORK - 1; i > 0; i--) {
			size_t k = (seed = seed * 1664525u + 1013904223u) % (i + 1);
			struct suggest_use kept = shuffled[i];

			shuffled[i] = shuffled[k];
			shuffled[k] = kept;
		}
		same &= suggest_write(&folders, shuffled, WORK, &again) == 0 &&
		        strcmp(buf_text(&again), expected) == 0;
	}
	tap_ok(same, "in whatever order the uses come");
}

/* --- names that mean something in the language -------------------------- */

static const char *const odd_names[] = {
	"/srv/d/a*",       "/srv/d/{x,y}",     "/srv/d/a b",     "/srv/d/q\"q",
	"/srv/d/back\\s",  "/srv/d/#hash",     "/srv/d/x #y",    "/srv/d/new\nline",
	"/srv/d/\377\376", "/srv/d/\u202eabc", "/srv/d/${HOME}", "/srv/d/~",
	"/srv/d/**",       "/srv/d/[a]",       "/srv/d/a,b",     "/srv/d/because",
	"/srv/d/\033[31m", "/srv/d/by",        "/srv/d/ümlaut",  "/srv/d/'single'",
	"/srv/d/a=b",      "/srv/d/a:b",       "/srv/d/@a",      "/srv/d/a?b",
};
enum { ODD = sizeof odd_names / sizeof odd_names[0] };

static void test_odd(void)
{
	for (size_t i = 0; i < ODD; i++) {
		struct suggest_use use = {CLASS_READ, odd_names[i], NULL, 1, false};
		auto_buf text = BUF_INIT;
		struct policy *p;

		buf_str(&text, "wary 1\ndefault deny\n");
		suggest_rule(&folders, &use, &text);
		p = load(&text);
		tap_ok(p && decide(p, CLASS_READ, odd_names[i]) == ANSWER_ALLOW,
		       "odd name %zu is allowed", i);
		tap_ok(decide(p, CLASS_READ, "/srv/d/ab") == ANSWER_DENY &&
		               decide(p, CLASS_READ, "/srv/d/x") == ANSWER_DENY &&
		               decide(p, CLASS_READ, "/srv/d/a/b") == ANSWER_DENY &&
		               decide(p, CLASS_WRITE, odd_names[i]) == ANSWER_DENY,
		       "odd name %zu and no other", i);
		policy_free(p);
	}
}

/* --- any uses ----------------------------------------------------------- */

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void random_path(uint32_t *seed, char *out, size_t size)
{
	static const char *const starts[] = {
		"/usr",
		"/etc",
		"/home/ana",
		"/home/ana/app",
		"/tmp",
		"/srv",
		"/home/ana/.cache",
		"/proc/12",
		"/var/lib",
		"/home/ana/.config",
		"/opt",
		"/dev",
		"/run",
		"",
	};
	static const char *const parts[] = {
		"a",  "b", ".hidden", "12345", "deadbeef01", "x.c",
		"a*", "ü", "{",       "c d",   "lib",        "#",
	};
	size_t n = 1 + next(seed) % 4;
	int len = snprintf(out, size, "%s", starts[next(seed) % (sizeof starts / sizeof *starts)]);

	for (size_t i = 0; i < n; i++)
		len += snprintf(out + len, size - (size_t)len, "/%s",
		                parts[next(seed) % (sizeof parts / sizeof *parts)]);
}

/* Every use of a session is allowed by what is suggested for it. */
static void test_random(void)
{
	enum { USES = 60, ROUNDS = 60 };
	static const enum policy_class classes[] = {CLASS_READ, CLASS_WRITE, CLASS_EXEC,
	                                            CLASS_DELETE};
	static char paths[USES][256];
	unsigned missed = 0;

	for (uint32_t round = 1; round <= ROUNDS; round++) {
		struct suggest_use uses[USES];
		uint32_t seed = round * 7919u;
		auto_buf text = BUF_INIT;
		struct policy *p;

		for (size_t i = 0; i < USES; i++) {
			random_path(&seed, paths[i], sizeof paths[i]);
			uses[i] = (struct suggest_use){classes[next(&seed) % 4], paths[i], NULL, 1,
			                               false};
		}
		buf_str(&text, "wary 1\ndefault deny\n");
		if (suggest_write(&folders, uses, USES, &text)) {
			missed++;
			continue;
		}
		p = load(&text);
		for (size_t i = 0; i < USES; i++) {
			if (decide(p, uses[i].class, uses[i].object) == ANSWER_ALLOW)
				continue;
			if (missed++ == 0)
				tap_note("round %u: %s in:\n%s", round, uses[i].object,
				         buf_text(&text));
		}
		policy_free(p);
	}
	tap_is_int(missed, 0, "%d uses in %d sessions are covered", USES, ROUNDS);
}

int main(void)
{
	auto_buf none = BUF_INIT;

	test_text();
	test_odd();
	test_random();
	tap_is_int(suggest_write(&folders, NULL, 0, &none), 0, "a session without decisions");
	tap_is_str(buf_text(&none), "\n# What no build needs stays refused.\ninclude \"keys\"\n",
	           "allows nothing");
	return tap_done();
}
