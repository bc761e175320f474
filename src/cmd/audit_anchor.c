/* wary audit anchor: one line that vouches for all that is on record now. */
#include "audit/anchor.h"
#include "audit/columns.h"
#include "base/log.h"
#include "base/own.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_words.h"

#include <errno.h>
#include <string.h>

/* The last checkpoint, whose signature must hold: an anchor of something that was
 * changed would vouch for the change. */
static int last_checkpoint(struct store *s, struct anchor *out, bool *there)
{
	sqlite3_stmt *stmt = NULL;
	struct rows_checkpoint point;
	struct columns c;
	int rc = sqlite3_prepare_v2(store_db(s),
	                            "SELECT " COLUMNS_CHECKPOINT COLUMNS_CHECKPOINT_FROM
	                            " ORDER BY c.id DESC LIMIT 1",
	                            -1, &stmt, NULL);
	int err = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	*there = rc == SQLITE_ROW;
	if (*there) {
		c = columns_of(stmt);
		columns_checkpoint(&c, &point);
		out->checkpoint = point.id;
		err = c.wrong ? -ERR_DAMAGED : chain_checkpoint_verify(&point);
		if (!err)
			err = chain_checkpoint_hash(&point, &out->hash);
	} else if (rc != SQLITE_DONE) {
		err = store_code(rc);
	}
	sqlite3_finalize(stmt);
	return err;
}

static int write_anchor(const struct anchor *a, const char *file)
{
	auto_buf text = BUF_INIT;

	anchor_write(&text, a);
	return buf_text(&text) ? audit_args_write(file, &text) : -ERR_NOMEM;
}

static int run(struct store *s, const char *file)
{
	struct anchor a;
	bool there = false;
	int err = last_checkpoint(s, &a, &there);

	if (err) {
		log_error("no anchor is made: the last checkpoint of the record is not as it was "
		          "signed, or cannot be read (%s): see wary audit verify",
		          err_text(err));
		return AUDIT_WRONG;
	}
	if (!there) {
		log_error("there is nothing on record yet");
		return AUDIT_USAGE;
	}
	if (write_anchor(&a, file) != 0) {
		log_error("the anchor cannot be written: %s", strerrordesc_np(errno));
		return AUDIT_USAGE;
	}
	return AUDIT_FINE;
}

int audit_anchor(int argc, char **argv)
{
	struct audit_args args;
	struct store *s;
	int status = audit_args_take("anchor", argc, argv, "o", 0, 0, &args);

	if (status || args.help)
		return status ? status : audit_help("anchor");
	s = audit_open(args.db);
	status = s ? run(s, args.output) : AUDIT_USAGE;
	store_close(s);
	return status;
}
