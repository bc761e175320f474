/* Work as real sessions do it, for the tests and measures of the record: an
 * npm install or a build, as a sequence of events that one seed decides. */
#ifndef WARY_TESTS_LIB_AUDIT_WORK_H
#define WARY_TESTS_LIB_AUDIT_WORK_H

#include "audit/audit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct work {
	uint64_t state; /* of the random numbers */
	uint64_t n;     /* events so far */
	pid_t pid;
	char object[256], object2[256], program[64];
	const char *argv[8];
	struct audit_event event;
};

static inline uint64_t work_random(struct work *w)
{
	/* splitmix64 */
	uint64_t z = (w->state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline void work_begin(struct work *w, uint64_t seed)
{
	memset(w, 0, sizeof *w);
	w->state = seed;
	w->pid = 4711;
}

/* The next event, in w->event; *refused: it is a note, not an intent. */
static inline const struct audit_event *work_next(struct work *w, bool *refused)
{
	static const struct {
		const char *syscall, *rule;
		enum policy_class class;
		unsigned line;
	} kinds[] = {
		{"openat", "allow read /usr/**", CLASS_READ, 8},
		{"openat", "allow read ${PROJECT}/**", CLASS_READ, 9},
		{"openat", "allow edit ${PROJECT}/**", CLASS_CREATE, 12},
		{"openat", "allow edit ${PROJECT}/**", CLASS_WRITE, 12},
		{"unlinkat", "allow edit ${PROJECT}/**", CLASS_DELETE, 12},
		{"newfstatat", "allow read /usr/**", CLASS_STAT, 8},
	};
	uint64_t r = work_random(w);
	unsigned kind = r % 100 < 45   ? 0
	                : r % 100 < 70 ? 1
	                : r % 100 < 85 ? 2
	                : r % 100 < 92 ? 3
	                : r % 100 < 97 ? 4
	                               : 5;
	struct audit_event *e = &w->event;

	w->n++;
	if (w->n % 150 == 1)
		w->pid += 1 + (pid_t)(r >> 60);
	snprintf(w->program, sizeof w->program, "/usr/bin/%s", w->pid % 3 ? "node" : "gcc");
	/* New names come all the time, old ones are used again. */
	snprintf(w->object, sizeof w->object,
	         kind == 0 ? "/usr/lib/node_modules/npm/node_modules/module-%u/lib/part-%u.js"
	                   : "/home/ana/src/app/node_modules/package-%u/dist/file-%u.js",
	         (unsigned)(w->n / 40 + (r >> 8) % 3) % 700, (unsigned)(r >> 16) % 30);
	*e = (struct audit_event){
		.kind = AUDIT_DECISION,
		.class = kinds[kind].class,
		.answer = ANSWER_ALLOW,
		.rule_file = "default.wary",
		.rule_line = kinds[kind].line,
		.rule_text = kinds[kind].rule,
		.pid = w->pid,
		.tid = w->pid + (pid_t)((r >> 24) % 4 == 0),
		.ppid = 4711,
		.uid = 1000,
		.program = w->program,
		.syscall = kinds[kind].syscall,
		.object = w->object,
		.flags = kind == 2 ? 0x80241 : 0x80000,
	};
	*refused = false;
	if (w->n % 150 == 1) {
		e->class = CLASS_EXEC;
		e->syscall = "execve";
		e->object = w->program;
		e->argv = w->argv;
		e->argc = 3;
		e->cwd = "/home/ana/src/app";
		snprintf(w->object2, sizeof w->object2, "./build/step-%llu.sh",
		         (unsigned long long)w->n);
		w->argv[0] = w->program;
		w->argv[1] = "--do";
		w->argv[2] = w->object2;
	} else if (w->n % 1000 == 7) {
		e->answer = ANSWER_DENY;
		e->object = "/home/ana/.ssh/id_ed25519";
		e->rule_text = "deny file ~/.ssh/**";
		e->rule_line = 12;
		*refused = true;
	} else if (w->n % 400 == 9) {
		e->class = CLASS_CONNECT;
		e->syscall = "connect";
		e->object = "registry.example.org:443";
		e->rule_text = "allow connect registry:npm";
		e->rule_line = 31;
	}
	return e;
}

#endif
