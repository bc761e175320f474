/* wary audit prune: retention. */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_words.h"
#include "cmd/messages.h"
#include "cmd/retain.h"
#include "cmd/world.h"
#include "policy/policy.h"

#include <getopt.h>
#include <stdio.h>

struct options {
	const char *db;
	struct retain_want want;
	bool help;
};

static int take_keep(struct options *o, const char *word)
{
	if (audit_ago_word(word, &o->want.before_us) == 0)
		return 0;
	log_error("audit prune: --keep %s is no span, as 90d or 12h", word);
	return AUDIT_USAGE;
}

static int take_max(struct options *o, const char *word)
{
	static const uint64_t bytes[] = {(uint64_t)1 << 10, (uint64_t)1 << 20, (uint64_t)1 << 30,
	                                 (uint64_t)1 << 40};

	if (audit_amount_word(word, 1000000, "KMGT", bytes, &o->want.max_bytes) != 0) {
		log_error("audit prune: --max-size %s is no size, as 500M or 2G", word);
		return AUDIT_USAGE;
	}
	o->want.has_max = true;
	return 0;
}

static int take_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"db", required_argument, NULL, 'd'},       {"keep", required_argument, NULL, 'k'},
		{"max-size", required_argument, NULL, 'm'}, {"dry-run", no_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
	int status = 0;
	int c;

	optind = 0;
	while (!status && (c = getopt_long(argc, argv, "hn", longs, NULL)) != -1) {
		if (c == 'd')
			o->db = optarg;
		else if (c == 'k')
			status = take_keep(o, optarg);
		else if (c == 'm')
			status = take_max(o, optarg);
		else if (c == 'n')
			o->want.dry_run = true;
		else if (c == 'h')
			o->help = true;
		else
			status = audit_usage("prune");
	}
	if (!status && !o->help && optind != argc)
		status = audit_usage("prune");
	return status;
}

static void say(void *ctx, const struct prune_session *s, const char *what)
{
	auto_buf line = BUF_INIT;

	(void)ctx;
	buf_fmt(&line, "wary: session %s (", s->name);
	if (s->ended_us) {
		buf_str(&line, "ended ");
		audit_put_time(&line, s->ended_us, AUDIT_TIME_MINUTE);
		buf_str(&line, ", ");
	}
	text_thousands(&line, s->events);
	buf_fmt(&line, " row%s) %s", s->events == 1 ? "" : "s", what);
	puts(buf_text(&line) ? line.data : "?");
	/* Who reads along sees it when it is so. */
	fflush(stdout);
}

static void print_bytes(struct buf *out, uint64_t bytes)
{
	text_thousands(out, (bytes + 1023) / 1024);
	buf_str(out, " KiB");
}

/* What was not begun has no summary. */
static int finish(const struct options *o, const struct retain_result *r, int status,
                  const struct buf *why)
{
	bool dry_run = o->want.dry_run;
	auto_buf line = BUF_INIT;

	if (status == AUDIT_FINE || r->too_large) {
		text_thousands(&line, r->removed);
		buf_fmt(&line, " session%s (", r->removed == 1 ? "" : "s");
		text_thousands(&line, r->rows);
		buf_fmt(&line, " row%s) %sremoved, ", r->rows == 1 ? "" : "s",
		        dry_run ? "would be " : "");
		buf_str(&line, dry_run ? "about " : "");
		print_bytes(&line, r->used_bytes);
		buf_str(&line, dry_run ? " would stay" : " stay");
		printf("wary: %s\n", buf_text(&line) ? line.data : "out of memory");
	}
	if (why->len_bytes)
		log_error("%s", why->data);
	return status;
}

static int prune(struct options *o, int argc, char **argv)
{
	struct retain_result r;
	auto_buf why = BUF_INIT;
	int status;

	o->want.db = o->db;
	o->want.say = say;
	status = retain_run(&o->want, argc, argv, &r, &why);
	return finish(o, &r, status, &why);
}

/* The policy that is in force where no other is named. */
static int load(struct policy **out)
{
	static const struct world_want want = {.policy = NULL};
	struct policy_report *report = NULL;
	const char *const *files = NULL;
	struct world *world = NULL;
	int err = world_new(&world);

	if (!err)
		err = world_files(world, &want, &files);
	if (!err)
		err = policy_load(world_policy(world), files, out, &report);
	messages_print(report);
	policy_report_free(report);
	world_free(world);
	return err;
}

/* Without --keep and --max-size: as the policy says, now. */
static int prune_by_policy(struct options *o, int argc, char **argv)
{
	struct policy *policy = NULL;
	bool dry_run = o->want.dry_run;
	int status;

	if (load(&policy) != 0) {
		log_error("audit prune: the policy has errors; see \"wary policy check\"");
		return AUDIT_USAGE;
	}
	if (retain_policy(policy_audit_of(policy), &o->want)) {
		o->want.dry_run = dry_run;
		status = prune(o, argc, argv);
	} else {
		log_error("audit prune: your policy has no \"audit keep\" and no \"audit "
		          "max-size\": say --keep SPAN or --max-size SIZE");
		status = AUDIT_USAGE;
	}
	policy_free(policy);
	return status;
}

int audit_prune(int argc, char **argv)
{
	struct options o = {.db = NULL};
	auto_buf db = BUF_INIT;
	int status = take_options(argc, argv, &o);

	if (status || o.help)
		return status ? status : audit_help("prune");
	if (audit_store_path(o.db, &db) != 0 || !buf_text(&db))
		return AUDIT_USAGE;
	o.db = db.data;
	return o.want.before_us || o.want.has_max ? prune(&o, argc, argv)
	                                          : prune_by_policy(&o, argc, argv);
}
