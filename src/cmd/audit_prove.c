/* wary audit prove: a file that shows one row to be on record. */
#include "audit/prove.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_words.h"

#include <string.h>

static int explain(int err, unsigned long long row, const char *why)
{
	if (err == -ERR_NOTFOUND) {
		log_error("there is no row %llu", row);
		return AUDIT_WRONG;
	}
	if (err == -ERR_DAMAGED) {
		log_error("no proof is made: the record is not as it was signed there (%s): see "
		          "wary audit verify",
		          why ? why : err_text(err));
		return AUDIT_WRONG;
	}
	log_error("no proof can be made: %s", err_text(err));
	return AUDIT_USAGE;
}

static int run(struct store *s, unsigned long long row, const char *file)
{
	struct proof *p = NULL;
	auto_free char *why = NULL;
	struct buf text;
	int err = prove_row(s, row, &p, &why);
	int status = AUDIT_FINE;

	if (err)
		return explain(err, row, why);
	buf_init(&text, PROOF_MAX_BYTES);
	proof_write(&text, p);
	proof_free(p);
	if (!buf_text(&text))
		status = explain(-ERR_BOUND, row, NULL);
	else if (audit_args_write(file, &text) != 0) {
		log_error("the proof cannot be written: %s", strerrordesc_np(errno));
		status = AUDIT_USAGE;
	}
	buf_free(&text);
	return status;
}

int audit_prove(int argc, char **argv)
{
	struct audit_args args;
	unsigned long long row = 0;
	struct store *s;
	int status = audit_args_take("prove", argc, argv, "o", 1, 1, &args);

	if (status || args.help)
		return status ? status : audit_help("prove");
	if (text_number(args.words[0], INT64_MAX, &row) != 0)
		return audit_usage("prove");
	s = audit_open(args.db);
	status = s ? run(s, row, args.output) : AUDIT_USAGE;
	store_close(s);
	return status;
}
