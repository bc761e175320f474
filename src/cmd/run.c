#include "base/buf.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/session.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: wary [options] [--] COMMAND [ARG...]\n"
	"       wary policy|audit|approve|doctor ...\n"
	"\n"
	"Runs COMMAND and whatever it starts under supervision: every security-relevant\n"
	"system call is decided by a policy and recorded.\n"
	"\n"
	"  -p, --policy POLICY  a shipped policy's name, or a file (with a /); else your\n"
	"                       own policy, else \"default\"\n"
	"  -r, --rule RULE      one more rule, after all others; may be repeated\n"
	"  -o, --db FILE        the record (else WARY_DB, else the state folder)\n"
	"      --learn          refuse nothing but what no rule may allow; record all\n"
	"      --audit-sync     refusals, questions, grants and installs wait for the disk\n"
	"      --end            end what COMMAND leaves running when it has ended\n"
	"  -q, --quiet          say nothing of refusals, and no summary\n"
	"  -v, --verbose        say more\n"
	"      --help           this text\n"
	"      --version        wary's version\n"
	"\n"
	"Status: COMMAND's own (by the same signal, if one ended it); 125 where wary\n"
	"failed and nothing was run, 126 where COMMAND was refused or cannot be executed,\n"
	"127 where it was not found.\n"
	"\n"
	"wary policy     check, explain and change policies\n"
	"wary audit      read and verify the record\n"
	"wary approve    answer questions from another terminal or a program\n"
	"wary doctor     what this machine offers and lacks\n"
	"\n"
	"See wary(1), wary-policy(5), wary-audit(1).\n";

enum { OPT_LEARN = 256, OPT_SYNC, OPT_END, OPT_HELP, OPT_VERSION };

static const struct option options[] = {
	{"policy", required_argument, NULL, 'p'},
	{"rule", required_argument, NULL, 'r'},
	{"db", required_argument, NULL, 'o'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"learn", no_argument, NULL, OPT_LEARN},
	{"audit-sync", no_argument, NULL, OPT_SYNC},
	{"end", no_argument, NULL, OPT_END},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{0},
};

struct given {
	struct session_options session;
	struct buf rules;
	bool quiet, verbose;
	int done; /* a status to end with at once, or -1 */
};

static int bad_usage(const char *what, const char *word)
{
	auto_free char *shown = text_printable_str(word, 80);

	log_error("%s%s (see \"wary --help\")", what, shown);
	return CMD_FAILED;
}

static int say(const char *text)
{
	return fputs(text, stdout) < 0 || fflush(stdout) != 0 ? CMD_FAILED : 0;
}

static void take_option(struct given *g, int option)
{
	switch (option) {
	case 'p':
		g->session.policy = optarg;
		break;
	case 'o':
		g->session.db = optarg;
		break;
	case 'r':
		buf_str(&g->rules, optarg);
		buf_chr(&g->rules, '\n');
		break;
	case 'q':
		g->quiet = true;
		break;
	case 'v':
		g->verbose = true;
		break;
	case OPT_LEARN:
		g->session.learn = true;
		break;
	case OPT_SYNC:
		g->session.audit_sync = true;
		break;
	case OPT_END:
		g->session.end_with_command = true;
		break;
	case OPT_HELP:
		g->done = say(usage);
		break;
	case OPT_VERSION:
		g->done = say("wary " PACKAGE_VERSION "\n");
		break;
	default:
		break;
	}
}

int cmd_run(int argc, char **argv)
{
	struct given g = {.done = -1};
	int option;
	int status;

	/* "+": options end at COMMAND, whose own are not wary's. */
	opterr = 0;
	while (g.done < 0 && (option = getopt_long(argc, argv, "+p:r:o:qv", options, NULL)) >= 0) {
		if (option == '?')
			g.done = bad_usage("no such option, or it needs a value: ",
			                   argv[optind - 1]);
		take_option(&g, option);
	}
	if (g.done < 0 && optind >= argc)
		g.done = bad_usage("no command was given", "");
	if (g.done >= 0) {
		buf_free(&g.rules);
		return g.done;
	}
	log_set_level(g.quiet, g.verbose);
	g.session.argv = argv + optind;
	if (g.rules.len_bytes)
		g.session.rules = buf_text(&g.rules);
	status = session_run(&g.session);
	buf_free(&g.rules);
	return status;
}
