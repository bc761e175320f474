/* Calls on other processes: signals (process.c), attributes (attribute.c). */
#ifndef WARY_ANSWER_PROCESS_H
#define WARY_ANSWER_PROCESS_H

#include "answer/member.h"
#include "answer/request.h"

#include <stdbool.h>
#include <stddef.h>

/* What every such call has in target.more, first. */
struct process {
	struct member member; /* who is meant, where that is one other process */
	bool proceed;         /* goes on as the caller's own call */
};

/** process_new: makes target.more, of @size_bytes, which begins with a struct
 * process and is freed with the request. Returns it, or NULL without memory. */
struct process *process_new(struct request *r, size_t size_bytes);

/** process_one: one target by number: the caller itself (proceed), or a member
 * of the tree, pinned. Returns as fetch.h says; -ERR_OUTSIDE. */
must_check int process_one(struct request *r, struct process *p, pid_t pid);

/** process_prepare_signal, process_act_signal: kill and its like.
 * attribute_prepare, attribute_act: limits, priorities, scheduling. */
must_check int process_prepare_signal(struct request *r);
void process_act_signal(struct request *r);
must_check int attribute_prepare(struct request *r);
void attribute_act(struct request *r);

#endif
