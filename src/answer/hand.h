/* A worker's hand: what it needs to act in a caller's place, and the taking on
 * and off of the caller's credentials around each step that touches files. */
#ifndef WARY_ANSWER_HAND_H
#define WARY_ANSWER_HAND_H

#include "answer/request.h"
#include "base/err.h"
#include "tracee/place.h"

#include <stdbool.h>

/* The kernel's settings for files in sticky folders (sysctl fs.protected_*). */
struct hand_rules {
	bool links;
	int regular;
	int fifos;
};

enum hand_need {
	HAND_IDS = 0,
	HAND_UMASK = 1, /* something may be created */
};

/** hand_ready: before anything is fetched from a caller: a worker that has kept
 * the tree's capabilities on since its last call takes them off as soon as some
 * caller has changed its own; memory of a process that has become another user
 * is read with wary's. */
void hand_ready(struct request *r);

/** hand_fetch: learns the caller's ids, capabilities and umask, as far as
 * they can differ from what is known.  Fetched by tid: mem_valid() follows.
 * Returns 0, -ERR_GONE, -ERR_NOMEM, -ERR_SYS, -ERR_BOUND. */
must_check int hand_fetch(struct request *r, unsigned need);

/** hand_on: the worker now acts as the caller that hand_fetch saw.
 * Returns 0 or -ERR_SYS. */
must_check int hand_on(struct request *r);

/** hand_begin: how an act begins: what looking found is the answer, or the worker acts
 * as the caller from here on.
 * @error: 0, or the negative errno that the caller gets.
 * Returns whether it does; where not, the answer is stated. */
must_check bool hand_begin(struct request *r, int error);

/** hand_on_named: likewise, and who is at a socket's other end is told the caller's user
 * and group (wear_names). Returns 0 or -ERR_SYS. */
must_check int hand_on_named(struct request *r);

/** hand_on_real: likewise with the caller's real ids, for access(2).
 * Returns 0 or -ERR_SYS. */
must_check int hand_on_real(struct request *r);

/** hand_tgid: the caller's process, looked up if it is not known yet. */
pid_t hand_tgid(struct request *r);

/** hand_off: the worker is itself again. Always after hand_on. */
void hand_off(struct request *r);

/** hand_env: fills what place_resolve needs; afterwards hand_env_done keeps
 * what was looked up on the way. */
void hand_env(struct request *r, struct place_env *env);
void hand_env_done(struct request *r, const struct place_env *env);

/** hand_rules: of this machine, read once. */
const struct hand_rules *hand_rules(struct request *r);

/** hand_is_linked: whether a link was lately met on the way to a name in the same
 * folder, so that the name is not worth trying as it is.  Only a hint: what
 * is a link by now is found out by the kernel, and a wrong hint costs time.
 * @name: canonical, absolute.  hand_note_linked: one was met. */
bool hand_is_linked(struct request *r, const char *name);
void hand_note_linked(struct request *r, const char *name);

/** hand_self_path: "/proc/self/fd/N" by which the kernel opens again what a
 * descriptor of wary refers to. */
void hand_self_path(int fd, char out[32]);

/** hand_free: frees what a worker holds; at its end. */
void hand_free(struct worker *w);

#endif
