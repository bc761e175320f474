/* secret/: values are taken out of the environment and out of what is put on
 * record; variables that hijack programs are known. */
#include "base/buf.h"
#include "policy/policy.h"
#include "secret/grant.h"
#include "secret/hijack.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

static bool is_fixed(const void *ctx, const char *path)
{
	(void)ctx;
	return strncmp(path, "/usr/", 5) == 0;
}

static void test_hijack(void)
{
	static const char *const known[] = {
		"LD_PRELOAD=x",      "LD_AUDIT=",    "LD_LIBRARY_PATH=/l",       "LD_ANYTHING=1",
		"GCONV_PATH=/g",     "PYTHONPATH=.", "NODE_OPTIONS=--require x", "BASH_ENV=x",
		"GIT_SSH_COMMAND=x", "PERL5OPT=-Mx", "BASH_FUNC_ls%%=() { :; }", "OPENSSL_CONF=/x",
		"GLIBC_TUNABLES=x",
	};
	static const char *const others[] = {"PATH=/w", "HOME=/h",  "LD=1",          "TERM=x",
	                                     "LANG=C",  "PYTHON=1", "XLD_PRELOAD=x", "API_TOKEN=t"};
	static const struct {
		const char *entry, *image;
		bool takes_over;
	} cases[] = {
		{"LD_PRELOAD=/w/evil.so", "/usr/bin/ssh", true},
		{"LD_PRELOAD=/usr/lib/libjemalloc.so", "/usr/bin/ssh", false},
		{"LD_PRELOAD=/usr/lib/a.so:/w/b.so", "/usr/bin/ssh", true},
		{"LD_PRELOAD=evil.so", "/usr/bin/ssh", true},
		{"LD_LIBRARY_PATH=/usr/lib:", "/usr/bin/ssh", true},
		{"LD_LIBRARY_PATH=/usr/lib/../../w", "/usr/bin/ssh", true},
		{"LD_LIBRARY_PATH=$ORIGIN", "/usr/bin/ssh", true},
		{"LD_LIBRARY_PATH=", "/usr/bin/ssh", false},
		{"LD_BIND_NOW=1", "/usr/bin/ssh", false},
		{"NODE_OPTIONS=--require=/w/x.js", "/usr/bin/node", true},
		{"NODE_OPTIONS=--max-old-space-size=4096", "/usr/bin/node", false},
		{"NODE_OPTIONS=--require=/w/x.js", "/usr/bin/ssh", false},
		{"PYTHONPATH=/w", "/usr/bin/python3.11", true},
		{"PYTHONPATH=/usr/lib/x", "/usr/bin/python3.11", false},
		{"ENV=production", "/usr/bin/node", false},
		{"BASH_ENV=/w/x", "/usr/bin/bash", true},
		{"PATH=/w", "/usr/bin/ssh", false},
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		tap_ok(hijack_variable(known[i]), "%s can hijack", known[i]);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		tap_ok(!hijack_variable(others[i]), "%s cannot", others[i]);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		tap_is_int(hijack_takes_over(cases[i].entry, cases[i].image, is_fixed, NULL),
		           cases[i].takes_over, "%s for %s", cases[i].entry, cases[i].image);
}

static struct policy *load(const char *text)
{
	struct policy_world world = {0};
	const char *files[2];
	struct policy_report *report = NULL;
	struct policy *p = NULL;
	auto_buf rules = BUF_INIT;

	buf_fmt(&rules, "rules:%s", text);
	files[0] = buf_text(&rules);
	files[1] = NULL;
	if (policy_load(&world, files, &p, &report) != 0)
		for (size_t i = 0; i < policy_report_count(report); i++)
			tap_note("%s", policy_report_at(report, i)->text);
	policy_report_free(report);
	return p;
}

static char *entry(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		abort();
	return copy;
}

static void check_redacted(struct secrets *s, const char *text, const char *want)
{
	auto_buf out = BUF_INIT;
	bool differs = secrets_redact(s, text, strlen(text), &out);

	tap_is_int(differs, strcmp(text, want) != 0, "redacted or not: %s", text);
	if (differs)
		tap_is_str(buf_text(&out), want, "redacted: %s", text);
}

static void test_take(void)
{
	struct policy *p = load("secret TOKEN from env:MY_PAT to /usr/bin/gh as env\n"
	                        "secret KEY from env:KEY to /usr/bin/gh as env\n"
	                        "secret NONE from env:ABSENT to /usr/bin/gh as env\n");
	char *own[] = {entry("PATH=/usr/bin"), entry("MY_PAT=s3cr3t-value"),
	               entry("TOKEN=other"),   entry("KEY=kkkkkkkk"),
	               entry("KEYS=1"),        NULL};
	char *envp[6];
	struct secrets *s = NULL;

	memcpy(envp, own, sizeof envp);
	tap_ok(p != NULL, "a policy with secrets");
	if (!p)
		return;
	tap_is_int(secrets_take(p, envp, &s), 0, "they are taken");
	tap_is_str(envp[0], "PATH=/usr/bin", "what is not managed stays");
	tap_is_str(envp[1], "KEYS=1", "also with a name that begins alike");
	tap_ok(envp[2] == NULL, "the rest is gone");
	tap_ok(!memcmp(own[1], "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 19), "and overwritten");
	tap_is_str(own[2], "", "also a variable of the name that a recipient sees");
	tap_ok(secrets_has(s, 0) && secrets_has(s, 1) && !secrets_has(s, 2), "who has a value");
	tap_ok(secrets_manages(s, "TOKEN=x") && secrets_manages(s, "MY_PAT=") &&
	               secrets_manages(s, "ABSENT=1") && !secrets_manages(s, "TOKENS=1"),
	       "what is managed");
	check_redacted(s, "nothing here", "nothing here");
	check_redacted(s, "--token=s3cr3t-value", "--token=[TOKEN]");
	check_redacted(s, "a s3cr3t-value b kkkkkkkk s3cr3t-value", "a [TOKEN] b [KEY] [TOKEN]");
	tap_ok(!secrets_manages(NULL, "TOKEN=x") && !secrets_has(NULL, 0), "without secrets: none");
	secrets_free(s);
	policy_free(p);
	for (size_t i = 0; own[i]; i++)
		free(own[i]);
}

int main(void)
{
	test_hijack();
	test_take();
	return tap_done();
}
