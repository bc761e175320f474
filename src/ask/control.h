/* The control socket: other terminals and programs that answer questions.
 *
 * Lines of JSON, one message each.  From wary:
 *   {"type":"question","session":"a3f9","id":7,"lines":{"headline":…,…},
 *    "rules":["allow …",…],"never":"deny …","scopes":["once","session","always"]}
 *   {"type":"withdrawn","session":"a3f9","id":7}
 *   {"type":"error","session":"a3f9","text":…}
 * To wary:
 *   {"id":7,"answer":"yes"|"no"|"stop","scope":"once"|"session"|"always",
 *    "rule":0}
 *
 * The socket's folder is a floor path, so that no process of the tree gets
 * there; a peer of another user, one that is in the tree after all, and wary
 * itself (as whom emulated calls of the tree would come) are turned away.
 */
#ifndef WARY_ASK_CONTROL_H
#define WARY_ASK_CONTROL_H

#include "ask/card.h"
#include "ask/dialog.h"
#include "base/err.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define CONTROL_CLIENTS_MAX 8
#define CONTROL_LINE_MAX 4096

struct control;

struct control_answer {
	uint64_t id;
	struct dialog_result result;
};

struct control_ops {
	void *ctx;
	/* A client has come: tell it what is open, by control_tell. */
	void (*came)(void *ctx, struct control *c, int client);
	void (*answered)(void *ctx, const struct control_answer *a);
};

/** control_open: listens. @path: SESSION.sock in a folder of wary's own, which
 * is made with mode 0700 where it is missing.
 * Returns 0, -ERR_SYS, -ERR_NOMEM, -ERR_TOOLONG, -ERR_PERM. */
must_check int control_open(const char *path, const char *session, pid_t guardian_pid,
                            const struct control_ops *ops, struct control **out);

/** control_clients: how many could answer now. */
size_t control_clients(const struct control *c);

/** control_waits: whether somebody has connected that control_serve has not looked at
 * yet, and who may turn out to be welcome or not. Never blocks. */
bool control_waits(const struct control *c);

/** control_poll: fills @p (CONTROL_CLIENTS_MAX + 1 entries); returns how many.
 * control_serve: after poll(2) on these; also takes in who has come since. Never
 * blocks. */
size_t control_poll(struct control *c, struct pollfd *p);
void control_serve(struct control *c, const struct pollfd *p);

/** control_tell: sends a question to @client, or to all where it is -1. */
void control_tell(struct control *c, int client, const struct card *card);

/** control_withdrawn: says that a question needs no answer any more. */
void control_withdrawn(struct control *c, uint64_t id);

/** control_close: removes the socket and frees. NULL is fine. */
void control_close(struct control *c);

#endif
