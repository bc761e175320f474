/* Answers of this session that still hold: a yes or no "this session", a yes
 * for a time, a rule that was just written. Not thread-safe; bounded. */
#ifndef WARY_ASK_MEMO_H
#define WARY_ASK_MEMO_H

#include "ask/rule.h"
#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMO_MAX 4096

struct memo_entry {
	enum policy_class class;
	struct rule_choice what; /* owned; text and deny unused */
	char *program;           /* owned; NULL: whoever it is */
	bool yes;
	uint64_t until_ns; /* of CLOCK_MONOTONIC; 0: the session's end */
};

/* A no to one call: the same process is not heard again with the same question
 * for a while, or it could ask until somebody tires (execvp(3) asks for each
 * folder of PATH). */
#define MEMO_REFUSED_MAX 64
#define MEMO_REFUSED_S 60

struct memo_refused {
	pid_t pid;
	char *key; /* owned; of question_key() */
	uint64_t until_ns;
};

struct memo {
	struct memo_refused refused[MEMO_REFUSED_MAX]; /* a ring */
	size_t refused_at;
	struct memo_entry *each;
	size_t n;
	/* How often each class was answered, for "seen before". */
	unsigned yes[CLASS_COUNT], no[CLASS_COUNT];
};

void memo_free(struct memo *m);

/** memo_find: 1: a yes holds, 0: a no holds, -1: neither. The latest answer
 * that covers the question holds. */
int memo_find(const struct memo *m, const struct facts *f, uint64_t now_ns);

/** memo_add: @choice: what it covers, copied.  @for_s: 0: to the end.
 * When the memory is full or short, the answer is not remembered: the person is
 * asked again. */
void memo_add(struct memo *m, const struct facts *f, const struct rule_choice *choice, bool yes,
              uint32_t for_s, uint64_t now_ns);

/** memo_refuse: remembers a no to @pid's question @key (copied).
 * memo_is_refused: whether such a no still holds. */
void memo_refuse(struct memo *m, pid_t pid, const char *key, uint64_t now_ns);
bool memo_is_refused(const struct memo *m, pid_t pid, const char *key, uint64_t now_ns);

/** memo_seen: "3 allowed and 1 refused in this session", for the box. */
void memo_seen(const struct memo *m, const struct facts *f, struct buf *out);

#endif
