#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/tool.h"
#include "cmd/verbs.h"

#include <string.h>

struct verb {
	const char *name;
	const char *args;
	const char *summary;
	const char *more; /* for its own --help */
	unsigned options;
	size_t min, max; /* arguments */
	bool question;   /* takes words after "--" */
	int (*run)(struct tool *t);
};

static const struct verb verbs[] = {
	{"check", "FILE…", "find errors, traps and rules that never decide",
         "Exit status: 0 clean, 1 warnings, 2 errors.", TOOL_JSON, 0, 100, false, verb_check},
	{"explain", "[POLICY] -- CLASS OBJECT [by P] [under P] [argv WORD…]",
         "say what is decided, by which rule, and why no other",
         "Without POLICY the ones in force are asked.", TOOL_JSON, 0, 1, true, verb_explain},
	{"test", "[FILE…]", "run the expect lines of a policy",
         "Exit status: 0 all as expected, 1 not, 2 errors.", TOOL_JSON, 0, 100, false, verb_test},
	{"fmt", "FILE…", "lay a policy out",
         "  -w, --write  change the files instead of printing\n"
         "  --check      print nothing, exit 1 where a file would change",
         TOOL_WRITE | TOOL_CHECK, 1, 100, false, verb_fmt},
	{"suggest", "SESSION", "write the policy that would have let a session run",
         "Made from the decisions on record, best of a run with `wary --learn`.\n"
         "  --db FILE  the store\n"
         "  -o FILE    write there instead of printing",
         TOOL_JSON | TOOL_DB | TOOL_OUTPUT, 1, 1, false, verb_suggest},
	{"trust", "[FILE]", "accept a project's policy as it is now",
         "Shows what it allows beyond your policy, and asks. Without FILE the\n"
         "accepted ones are listed.\n"
         "  --forget   take the acceptance back\n"
         "  -y, --yes  do not ask",
         TOOL_YES | TOOL_FORGET | TOOL_JSON, 0, 1, false, verb_trust},
	{"allow", "RULE", "add an allow rule to your policy, after showing its effect",
         "RULE is a rule without its verdict: 'connect files.example.org:443'.\n"
         "  -y, --yes  do not ask",
         TOOL_YES, 1, TOOL_ARGS_MAX, false, verb_allow},
	{"deny", "RULE", "add a deny rule to your policy, after showing its effect",
         "RULE is a rule without its verdict: 'read ~/Documents/'.\n"
         "  -y, --yes  do not ask",
         TOOL_YES, 1, TOOL_ARGS_MAX, false, verb_deny},
	{"list", "", "name the policies that are shipped and found here", "", TOOL_JSON, 0, 0,
         false, verb_list},
	{"show", "[POLICY]", "print the rules of a policy as they are in force",
         "Without POLICY: the ones in force.", TOOL_JSON, 0, 1, false, verb_show},
};

static const struct {
	const char *word;
	enum tool_option option;
} options[] = {
	{"--json", TOOL_JSON},     {"-y", TOOL_YES},        {"--yes", TOOL_YES},
	{"-w", TOOL_WRITE},        {"--write", TOOL_WRITE}, {"--check", TOOL_CHECK},
	{"--forget", TOOL_FORGET}, {"--db", TOOL_DB},       {"-o", TOOL_OUTPUT},
	{"-h", TOOL_HELP},         {"--help", TOOL_HELP},
};

static void usage(FILE *out)
{
	fputs("usage: wary policy VERB …\n\n", out);
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		fprintf(out, "  %-8s %s\n", verbs[i].name, verbs[i].summary);
	fputs("\nwary policy VERB --help says more; the language is in wary-policy(5).\n", out);
}

static void usage_of(FILE *out, const struct verb *v)
{
	fprintf(out, "usage: wary policy %s %s\n\nTo %s.\n", v->name, v->args, v->summary);
	if (*v->more)
		fprintf(out, "%s\n", v->more);
	if (v->options & TOOL_JSON)
		fputs("  --json     the same for programs\n", out);
}

static const struct verb *find(const char *name)
{
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static int unknown(const char *name)
{
	auto_free char *shown = text_printable_str(name, 60);
	const char *names[sizeof verbs / sizeof verbs[0] + 1] = {NULL};
	const char *near;

	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		names[i] = verbs[i].name;
	near = text_nearest(name, names);
	if (near)
		log_error("policy: no verb \"%s\": did you mean \"%s\"?", shown, near);
	else
		log_error("policy: no verb \"%s\": see wary policy --help", shown);
	return CMD_FAILED;
}

/* One option; *value is the argument that it may take.
 * Returns how many words it is, or 0 with a message. */
static int take_option(struct tool *t, const struct verb *v, const char *word, const char *value)
{
	auto_free char *shown = text_printable_str(word, 60);

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		if (strcmp(options[i].word, word) != 0)
			continue;
		if (options[i].option != TOOL_HELP && !(v->options & options[i].option))
			break;
		t->options |= options[i].option;
		if (options[i].option != TOOL_DB && options[i].option != TOOL_OUTPUT)
			return 1;
		if (!value) {
			log_error("policy %s: %s needs a file", v->name, shown);
			return 0;
		}
		if (options[i].option == TOOL_DB)
			t->db = value;
		else
			t->output = value;
		return 2;
	}
	log_error("policy %s: no option \"%s\": see wary policy %s --help", v->name, shown,
	          v->name);
	return 0;
}

/* Returns whether the words could be read. */
static bool read_words(struct tool *t, const struct verb *v, int argc, char **argv)
{
	for (int i = 0; i < argc;) {
		if (strcmp(argv[i], "--") == 0) {
			t->rest = (const char *const *)argv + i + 1;
			break;
		}
		if (argv[i][0] == '-' && argv[i][1]) {
			int words = take_option(t, v, argv[i], i + 1 < argc ? argv[i + 1] : NULL);

			if (!words)
				return false;
			i += words;
			continue;
		}
		if (t->args_n + 1 == TOOL_ARGS_MAX) {
			log_error("policy %s: too many arguments", v->name);
			return false;
		}
		t->args[t->args_n++] = argv[i++];
	}
	return true;
}

static bool fits(const struct tool *t, const struct verb *v)
{
	if (t->args_n >= v->min && t->args_n <= v->max && (v->question || !t->rest || !*t->rest) &&
	    (!v->question || (t->rest && *t->rest)))
		return true;
	log_error("usage: wary policy %s %s", v->name, v->args);
	return false;
}

static int run(const struct verb *v, int argc, char **argv)
{
	auto_free struct tool *t = calloc(1, sizeof *t);
	int status;
	int err;

	if (!t)
		return CMD_FAILED;
	t->verb = v->name;
	t->colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	if (!read_words(t, v, argc, argv))
		return CMD_FAILED;
	if (t->options & TOOL_HELP) {
		usage_of(stdout, v);
		return 0;
	}
	if (!fits(t, v))
		return CMD_FAILED;
	err = world_new(&t->world);
	if (err)
		return tool_failed(t, "cannot begin", err);
	status = v->run(t);
	world_free(t->world);
	free(t->made);
	if (fflush(stdout)) {
		log_error("policy %s: cannot write to standard output", v->name);
		return CMD_FAILED;
	}
	return status;
}

int cmd_policy(int argc, char **argv)
{
	const struct verb *v;

	if (argc < 2) {
		usage(stderr);
		return CMD_FAILED;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		usage(stdout);
		return 0;
	}
	v = find(argv[1]);
	return v ? run(v, argc - 2, argv + 2) : unknown(argv[1]);
}
