/* What the families of calls on names share: arguments fetched once, names
 * resolved, questions stated. */
#ifndef WARY_ANSWER_FETCH_H
#define WARY_ANSWER_FETCH_H

#include "answer/request.h"
#include "call/op.h"

/* Functions here that return int give 0; or a negative errno, the kernel's
 * answer to the caller; or a negative ERR_, wary's own failure. */

/** fetch_result: what prepare returns for such a code: answers an errno with a
 * record, hands an ERR_ on.  0 stays 0. */
must_check int fetch_result(struct request *r, int err);

/** fetch_arg: a register by role; 0 where the row has none. */
uint64_t fetch_arg(const struct request *r, enum call_role role);

/** fetch_flags: ROLE_FLAGS as the kernel takes it, an int. */
int fetch_flags(const struct request *r);

/** fetch_text: a C string argument into @out. */
must_check int fetch_text(struct request *r, enum call_role role, char *out, size_t cap_bytes);

/** fetch_bytes: @len_bytes from where the argument points. */
must_check int fetch_bytes(struct request *r, enum call_role role, void *out, size_t len_bytes);

/** fetch_extensible: a structure that grows with the kernel's versions, of ROLE_SIZE bytes
 * where ROLE_HOW points: copied once, and what this version does not know of must be zero.
 * @out: of @known_bytes, its first and only version's size.
 * Returns 0; -EINVAL for a shorter one, -E2BIG, -EFAULT; a negative ERR_. */
must_check int fetch_extensible(struct request *r, void *out, size_t known_bytes);

/** fetch_name: the text of a name and an O_PATH descriptor of what it starts
 * from, into target.place[i].
 * @path: ROLE_PATH or ROLE_PATH2.  @dirfd: ROLE_DIRFD or ROLE_DIRFD2; a row
 *   without it means the caller's working folder.
 * @flags: PLACE_EMPTY where an empty name is allowed. */
must_check int fetch_name(struct request *r, unsigned i, enum call_role path, enum call_role dirfd,
                          unsigned flags);

/** fetch_base: the same for a name whose text is in target.place[i] already. */
must_check int fetch_base(struct request *r, unsigned i, enum call_role dirfd, unsigned flags);

/** fetch_object: the caller's descriptor in ROLE_FD (or @dirfd_role), got into
 * target.object_fd, an open file. */
must_check int fetch_object(struct request *r, enum call_role role);

/** fetch_end: the last of what is fetched: credentials as @need (enum
 * hand_need) says, then the check that all of it was the caller's. */
must_check int fetch_end(struct request *r, unsigned need);

/** fetch_resolve: resolves target.place[i] as the caller. Its error is in the
 * place; what is returned is wary's own failure, or a refusal: -ERR_PERM for
 * what belongs to a process outside the tree. */
must_check int fetch_resolve(struct request *r, unsigned i, unsigned flags, uint64_t resolve);

/** fetch_one: fetch_name, fetch_end and fetch_resolve for a call on one name. */
must_check int fetch_one(struct request *r, unsigned flags, unsigned need);

/** fetch_place_of_object: target.place[0] becomes that of target.object_fd. */
must_check int fetch_place_of_object(struct request *r);

/** state: one question about the object of a place. Returns it, never NULL:
 * without memory wary ends, and the tree with it. */
struct facts *state(struct request *r, enum policy_class class, const struct place *p);

/** state_links: the links that were followed, each under its own name (law 11):
 * only those that a rule refuses or asks about become questions.
 * Returns 0, or -ERR_BOUND where there are more of those than can be put. */
must_check int state_links(struct request *r, enum policy_class class, const struct place *p);

/** state_failed: the name leads nowhere: the kernel's errno is the answer, and
 * knowing it is the only effect, so it is decided as stat. Returns as
 * state_links. */
must_check int state_failed(struct request *r, const struct place *p);

/** state_call: a question of class syscall with the call's own name. */
void state_call(struct request *r);

/** fetch_last_name: the last component as the caller wrote it, with its slash:
 * what is given to the kernel together with parent_fd. */
void fetch_last_name(const struct place *p, char out[PLACE_NAME_MAX + 1]);

#endif
