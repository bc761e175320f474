/* wary audit tree: the processes of a session, each below who started it. */
#include "audit/record.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/audit_args.h"
#include "cmd/audit_used.h"
#include "cmd/audit_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIDS_MAX (1u << 22) /* of the kernel: PID_MAX_LIMIT */
/* Deeper ones are not drawn further to the right. */
#define DEPTH_SHOWN 40
#define COMMAND_CHARS 200

struct node {
	uint32_t pid, uid;
	uint32_t parent; /* index + 1; 0: none */
	uint32_t first_child, last_child, next;
	uint64_t began_us, ended_us;
	bool is_known, has_ended;
	int64_t status; /* of wait(2); -1: not known */
	char *command;  /* as the child chose it; NULL: it only forked */
	char *program;  /* as JSON */
	struct audit_used used;
};

struct tree {
	struct node *nodes;
	uint32_t n, cap;
	uint32_t *by_pid; /* the latest that has the number, index + 1 */
	uint32_t last_root;
	int err;
};

static struct node *node_of(struct tree *t, uint32_t number)
{
	return number ? &t->nodes[number - 1] : NULL;
}

static uint32_t living(const struct tree *t, uint32_t pid)
{
	uint32_t number = pid < PIDS_MAX ? t->by_pid[pid] : 0;

	return number && t->nodes && !t->nodes[number - 1].has_ended ? number : 0;
}

static uint32_t add(struct tree *t, const struct read_event *e)
{
	uint32_t parent = living(t, e->ppid);
	struct node *more;

	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 64;
		more = reallocarray(t->nodes, t->cap, sizeof *t->nodes);
		if (!more) {
			t->err = -ERR_NOMEM;
			return 0;
		}
		t->nodes = more;
	}
	t->nodes[t->n++] = (struct node){
		.pid = e->pid,
		.uid = e->uid,
		.parent = parent,
		.began_us = e->time_us,
		.status = -1,
	};
	if (parent) {
		struct node *p = node_of(t, parent);

		*(p->last_child ? &t->nodes[p->last_child - 1].next : &p->first_child) = t->n;
		p->last_child = t->n;
	} else {
		if (t->last_root)
			t->nodes[t->last_root - 1].next = t->n;
		t->last_root = t->n;
	}
	if (e->pid < PIDS_MAX)
		t->by_pid[e->pid] = t->n;
	return t->n;
}

/* What it runs from now on; of one that runs another program both are shown. */
static void set_command(struct tree *t, struct node *n, const struct read_event *e)
{
	const struct rows_text *what = e->argv.len_bytes ? &e->argv : &e->object;
	struct buf text = BUF_INIT;
	struct buf program = BUF_INIT;

	if (n->command)
		buf_fmt(&text, "%s ⇒ ", n->command);
	if (what->len_bytes)
		buf_add(&text, what->bytes, what->len_bytes);
	audit_json_text(&program, &e->program);
	free(n->command);
	free(n->program);
	n->command = buf_take(&text);
	n->program = buf_take(&program);
	if (!n->command || !n->program)
		t->err = -ERR_NOMEM;
}

static void take(struct tree *t, const struct read_event *e)
{
	bool started = audit_is_word(&e->object2, "started");
	uint32_t number = living(t, e->pid);

	if (!started && !audit_is_word(&e->object2, "forked")) {
		if (number) {
			struct node *n = node_of(t, number);

			n->has_ended = true;
			n->ended_us = e->time_us;
			n->status = e->reason;
			audit_used_of(e, &n->used);
		}
		return;
	}
	if (!number)
		number = add(t, e);
	if (number && started)
		set_command(t, node_of(t, number), e);
}

static int load(struct tree *t, struct store *s, uint64_t session)
{
	const struct read_filter f = {.session = session, .kinds = 1u << AUDIT_PROCESS};
	struct reader *r = NULL;
	bool there = true;
	int err = read_open(s, &f, &r);

	t->by_pid = calloc(PIDS_MAX, sizeof *t->by_pid);
	if (!err && !t->by_pid)
		err = -ERR_NOMEM;
	while (!err && !t->err) {
		struct read_event e;

		err = read_next(r, &e, &there);
		if (err || !there)
			break;
		take(t, &e);
	}
	read_close(r);
	return err ? err : t->err;
}

static void put_end(struct buf *out, const struct node *n)
{
	const char *name;

	if (!n->has_ended) {
		buf_str(out, "?");
		return;
	}
	/* As wait(2) has it: the signal's number in the low seven bits. */
	name = n->status > 0 && n->status & 0x7f ? sigabbrev_np((int)(n->status & 0x7f)) : NULL;
	if (n->status < 0)
		buf_str(out, "ended");
	else if (name)
		buf_fmt(out, "SIG%s", name);
	else
		buf_fmt(out, "%lld", (long long)(n->status >> 8 & 0xff));
}

/* The lines that lead down to a node: from the root's level on. */
static void put_lines(struct buf *out, struct tree *t, const struct node *n)
{
	const struct node *above[DEPTH_SHOWN] = {NULL};
	size_t depth = 0;

	for (const struct node *p = n; p->parent && depth < DEPTH_SHOWN; p = node_of(t, p->parent))
		above[depth++] = p;
	for (size_t i = depth; i-- > 1;)
		buf_str(out, above[i]->next ? "│  " : "   ");
	if (depth)
		buf_str(out, n->next ? "├─ " : "└─ ");
}

static const char *shown(struct buf *b)
{
	const char *text = buf_text(b);

	return text ? text : "?";
}

static void print_node(struct tree *t, const struct node *n)
{
	auto_buf line = BUF_INIT;
	auto_buf end = BUF_INIT;
	auto_buf took = BUF_INIT;
	auto_buf cpu = BUF_INIT;
	auto_buf peak = BUF_INIT;

	put_end(&end, n);
	if (n->has_ended)
		audit_put_span(&took, n->ended_us - n->began_us);
	audit_used_put_time(&cpu, &n->used);
	audit_used_put_peak(&peak, &n->used);
	put_lines(&line, t, n);
	if (n->command)
		text_printable(&line, n->command, strlen(n->command), COMMAND_CHARS);
	else
		buf_str(&line, "(forked)");
	printf("%7u  %-7s  %8s  %8s  %9s  %s\n", n->pid, shown(&end), shown(&took), shown(&cpu),
	       shown(&peak), shown(&line));
}

static void print_json(struct tree *t, const struct node *n)
{
	const struct node *parent = node_of(t, n->parent);
	struct rows_text command = {n->command, n->command ? strlen(n->command) : 0};
	auto_buf b = BUF_INIT;

	buf_fmt(&b, "{\"id\":%zu,\"parent\":%u,\"pid\":%u,\"ppid\":%u,\"uid\":%u",
	        (size_t)(n - t->nodes) + 1, n->parent, n->pid, parent ? parent->pid : 0, n->uid);
	buf_fmt(&b, ",\"program\":%s,\"command\":", n->program ? n->program : "null");
	audit_json_text(&b, &command);
	buf_fmt(&b, ",\"began_us\":%llu", (unsigned long long)n->began_us);
	if (n->has_ended)
		buf_fmt(&b, ",\"ended_us\":%llu,\"status\":%lld", (unsigned long long)n->ended_us,
		        (long long)n->status);
	audit_used_json(&b, &n->used);
	buf_chr(&b, '}');
	puts(buf_text(&b) ? b.data : "");
}

/* Every node after its parent. Children come after it in the list, so that
 * going down, then on, then up, needs no stack. */
static void print_all(struct tree *t, bool json)
{
	const struct node *n = t->n ? &t->nodes[0] : NULL;

	if (!json)
		printf("%7s  %-7s  %8s  %8s  %9s  %s\n", "PID", "EXIT", "TIME", "CPU", "PEAK",
		       "COMMAND");
	while (n) {
		if (json)
			print_json(t, n);
		else
			print_node(t, n);
		if (n->first_child) {
			n = node_of(t, n->first_child);
			continue;
		}
		while (n && !n->next)
			n = node_of(t, n->parent);
		n = n ? node_of(t, n->next) : NULL;
	}
}

static void tree_free(struct tree *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		free(t->nodes[i].command);
		free(t->nodes[i].program);
	}
	free(t->nodes);
	free(t->by_pid);
}

static int run(struct store *s, uint64_t session, bool json)
{
	struct tree t = {0};
	int err = load(&t, s, session);

	if (err)
		log_error("the record cannot be read: %s", store_why(s));
	else
		print_all(&t, json);
	if (!err && !t.n)
		log_notice("no process of this session is on record");
	tree_free(&t);
	return err ? AUDIT_USAGE : AUDIT_FINE;
}

int audit_tree(int argc, char **argv)
{
	struct audit_args args;
	uint64_t session = 0;
	struct store *s;
	int status = audit_args_take("tree", argc, argv, "j", 1, 1, &args);

	if (status || args.help)
		return status ? status : audit_help("tree");
	s = audit_open(args.db);
	status = s ? audit_session_word(s, args.words[0], &session) : AUDIT_USAGE;
	if (!status)
		status = run(s, session, args.json);
	store_close(s);
	return status;
}
