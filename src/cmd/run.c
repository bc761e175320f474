#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/session.h"

#include <stdio.h>
#include <string.h>

/* What the command line says. */
struct wanted {
	struct session_options session;
	struct buf rules;
	bool quiet, verbose, help, version;
};

struct option {
	char letter; /* 0: none */
	const char *name;
	const char *value; /* what it takes, for --help; NULL: nothing */
	const char *help;
	void (*set)(struct wanted *w, const char *value);
};

static void set_policy(struct wanted *w, const char *value)
{
	w->session.policy = value;
}

static void set_db(struct wanted *w, const char *value)
{
	w->session.db = value;
}

static void add_rule(struct wanted *w, const char *value)
{
	buf_str(&w->rules, value);
	buf_chr(&w->rules, '\n');
}

static void set_quiet(struct wanted *w, const char *value)
{
	(void)value;
	w->quiet = true;
}

static void set_verbose(struct wanted *w, const char *value)
{
	(void)value;
	w->verbose = true;
}

static void set_learn(struct wanted *w, const char *value)
{
	(void)value;
	w->session.learn = true;
}

static void set_sync(struct wanted *w, const char *value)
{
	(void)value;
	w->session.audit_sync = true;
}

static void set_end(struct wanted *w, const char *value)
{
	(void)value;
	w->session.end_with_command = true;
}

static void set_help(struct wanted *w, const char *value)
{
	(void)value;
	w->help = true;
}

static void set_version(struct wanted *w, const char *value)
{
	(void)value;
	w->version = true;
}

static const struct option options[] = {
	{'p', "policy", "POLICY", "a policy's name or file; else the user's own, or default",
         set_policy},
	{'o', "db", "FILE", "the store of the record", set_db},
	{0, "rule", "RULE", "one more rule, after those of the policy", add_rule},
	{'q', "quiet", NULL, "no refusals and no summary on standard error", set_quiet},
	{'v', "verbose", NULL, "say more", set_verbose},
	{0, "learn", NULL, "record, and refuse only what the floor refuses", set_learn},
	{0, "audit-sync", NULL, "what matters is on disk before it is done", set_sync},
	{0, "kill-on-exit", NULL, "end what COMMAND leaves running", set_end},
	{'h', "help", NULL, "this", set_help},
	{0, "version", NULL, "wary's version", set_version},
};

#define OPTIONS_N (sizeof options / sizeof options[0])

static void print_help(void)
{
	(void)printf("usage: wary [OPTION…] [--] COMMAND [ARGUMENT…]\n"
	             "Runs COMMAND and all that it starts under a policy, and keeps a record.\n\n");
	for (size_t i = 0; i < OPTIONS_N; i++) {
		const struct option *o = &options[i];
		char left[40];

		(void)snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
		               o->value ? o->value : "");
		(void)printf("  %c%c%c %-18s %s\n", o->letter ? '-' : ' ',
		             o->letter ? o->letter : ' ', o->letter ? ',' : ' ', left, o->help);
	}
	(void)printf("\nOther commands:\n");
	cmd_print_list();
	(void)printf(
		"\nExits as COMMAND does; 125: wary itself failed and nothing ran "
		"unsupervised,\n126: refused or not executable, 127: not found. See wary(1).\n");
}

static int bad_usage(const char *what, const char *word)
{
	auto_buf shown = BUF_INIT;
	const char *text;

	text_printable(&shown, word, strlen(word), 80);
	text = buf_text(&shown);
	log_error("%s: %s (wary --help says more)", text ? text : "?", what);
	return -ERR_SYNTAX;
}

static const struct option *find_long(const char *word, size_t len)
{
	for (size_t i = 0; i < OPTIONS_N; i++)
		if (strlen(options[i].name) == len && strncmp(options[i].name, word, len) == 0)
			return &options[i];
	return NULL;
}

static const struct option *find_short(char letter)
{
	for (size_t i = 0; i < OPTIONS_N; i++)
		if (options[i].letter && options[i].letter == letter)
			return &options[i];
	return NULL;
}

/* "--name", "--name=value", "--name value". */
static int take_long(struct wanted *w, char ***at)
{
	const char *word = **at + 2;
	const char *equals = strchr(word, '=');
	const struct option *o = find_long(word, equals ? (size_t)(equals - word) : strlen(word));
	const char *value = equals ? equals + 1 : NULL;

	if (!o)
		return bad_usage("no such option", **at);
	if (!o->value && value)
		return bad_usage("takes no value", **at);
	if (o->value && !value) {
		if (!(*at)[1])
			return bad_usage("needs a value", **at);
		value = *++*at;
	}
	o->set(w, value);
	return 0;
}

/* "-q", "-qp NAME", "-pNAME". */
static int take_short(struct wanted *w, char ***at)
{
	const char *letters = **at + 1;

	for (; *letters; letters++) {
		const struct option *o = find_short(*letters);
		const char *value = letters + 1;

		if (!o)
			return bad_usage("no such option", **at);
		if (!o->value) {
			o->set(w, NULL);
			continue;
		}
		if (!*value && !(*at)[1])
			return bad_usage("needs a value", **at);
		o->set(w, *value ? value : *++*at);
		return 0;
	}
	return 0;
}

/* Options end at the first word that is none: the rest is COMMAND's. */
static int take_options(struct wanted *w, char **argv)
{
	char **at = argv + 1;
	int err = 0;

	for (; !err && *at && (*at)[0] == '-' && (*at)[1]; at++) {
		if (strcmp(*at, "--") == 0) {
			at++;
			break;
		}
		err = (*at)[1] == '-' ? take_long(w, &at) : take_short(w, &at);
	}
	w->session.argv = at;
	return err;
}

static int run(struct wanted *w)
{
	if (w->help) {
		print_help();
		return fflush(stdout) == 0 ? 0 : CMD_FAILED;
	}
	if (w->version) {
		(void)printf("wary %s\n", PACKAGE_VERSION);
		return fflush(stdout) == 0 ? 0 : CMD_FAILED;
	}
	if (!w->session.argv[0] || !w->session.argv[0][0]) {
		log_error("no command to run (wary --help says more)");
		return CMD_FAILED;
	}
	log_set_level(w->quiet, w->verbose);
	w->session.rules = w->rules.len_bytes > 0 ? buf_text(&w->rules) : NULL;
	return session_run(&w->session);
}

int cmd_run(int argc, char **argv)
{
	struct wanted w = {0};
	int status;

	(void)argc;
	status = take_options(&w, argv) == 0 ? run(&w) : CMD_FAILED;
	buf_free(&w.rules);
	return status;
}
