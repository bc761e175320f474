/* Rows of the five tables that batches are made of, as they are read, and their hashes. */
#include "audit/verify_rows.h"

static void leaf_string(struct columns *c, struct verify_row *at, struct chain_hash *chain,
                        struct buf *copy)
{
	struct rows_string row = {.id = at->id};

	row.prefix = columns_id(c);
	row.text = columns_text(c);
	chain_string(chain, &row, copy);
}

static void leaf_actor(struct columns *c, struct verify_row *at, struct chain_hash *chain,
                       struct buf *copy)
{
	struct rows_actor row = {.id = at->id};

	row.pid = columns_u32(c);
	row.tid = columns_u32(c);
	row.ppid = columns_u32(c);
	row.uid = columns_u32(c);
	row.program = columns_id(c);
	chain_actor(chain, &row, copy);
}

static void leaf_act(struct columns *c, struct verify_row *at, struct chain_hash *chain,
                     struct buf *copy)
{
	struct rows_act row = {.id = at->id};

	row.kind = columns_text(c);
	row.class = columns_text(c);
	row.syscall = columns_text(c);
	row.flags = (uint64_t)columns_int(c);
	row.answer = columns_text(c);
	row.judge = columns_text(c);
	row.rule_file = columns_id(c);
	row.rule_line = columns_id(c);
	row.rule_text = columns_id(c);
	chain_act(chain, &row, copy);
}

static void leaf_detail(struct columns *c, struct verify_row *at, struct chain_hash *chain,
                        struct buf *copy)
{
	struct rows_detail row = {.id = at->id};

	row.object2 = columns_id(c);
	row.cwd = columns_id(c);
	row.argv = columns_id(c);
	row.stack = columns_id(c);
	row.has_sha256 = columns_blob_or_null(c, row.sha256, sizeof row.sha256);
	row.reason = columns_int(c);
	chain_detail(chain, &row, copy);
}

static void leaf_event(struct columns *c, struct verify_row *at, struct chain_hash *chain,
                       struct buf *copy)
{
	struct rows_event row = {.id = at->id, .seq = at->seq};
	bool has_links;

	row.at_us = columns_id(c);
	row.took_us = columns_id(c);
	row.actor = columns_id(c);
	/* As ROWS_ANEW says of it. */
	c->wrong |= row.actor < at->first_actor;
	at->actor = row.actor;
	row.act = columns_id(c);
	row.object = columns_id(c);
	row.detail = columns_id(c);
	row.result = columns_int_or_null(c, &row.known);
	row.size_before = (uint64_t)columns_int_or_null(c, &row.has_size);
	row.links_left = (uint64_t)columns_int_or_null(c, &has_links);
	if (row.has_size != has_links || (row.has_size && !row.known) ||
	    row.size_before > INT64_MAX || row.links_left > INT64_MAX)
		c->wrong = true;
	chain_event(chain, &row, copy);
}

const struct verify_table verify_tables[ROWS_TABLES] = {
	[ROWS_STRINGS] = {"string", "string", "prefix, text", leaf_string},
	[ROWS_ACTORS] = {"actor", "actor", "pid, tid, ppid, uid, program", leaf_actor},
	[ROWS_ACTS] =
		{"act", "act",
                 "kind, class, syscall, flags, answer, judge, rule_file, rule_line, rule_text",
                 leaf_act},
	[ROWS_DETAILS] = {"detail", "detail", "object2, cwd, argv, stack, sha256, reason",
                          leaf_detail},
	[ROWS_EVENTS] =
		{"row", "event",
                 "at_us, took_us, actor, act, object, detail, result, size_before, links_left",
                 leaf_event},
};
