#include "audit/life.h"

#include "base/log.h"
#include "base/uses.h"

#include <unistd.h>

USES(getppid, getuid);

const char *life_name(enum life_reason why)
{
	static const char *const names[] = {"created", "paused", "ended", "cleaned up",
	                                    "recovered"};
	size_t tens = (size_t)why / 10;

	return tens < sizeof names / sizeof names[0] ? names[tens] : "?";
}

struct audit_event life_event(const char *what, const char *detail)
{
	return (struct audit_event){
		.kind = AUDIT_SESSION,
		.class = CLASS_SYSCALL,
		.answer = ANSWER_ALLOW,
		.pid = getpid(),
		.tid = getpid(),
		.ppid = getppid(),
		.uid = getuid(),
		.object = what,
		.object2 = detail,
	};
}

static void note(struct audit *a, const char *what, enum life_reason why, const char *detail)
{
	struct audit_event e = life_event(what, detail);

	e.reason = (int)why;
	if (audit_note(a, &e, 0) != 0)
		log_detail("the session's life is not on record: %s", what);
}

void life_note(struct audit *a, enum life_reason why, const char *detail)
{
	note(a, life_name(why), why, detail);
}

void life_note_resumed(struct audit *a, enum life_reason why, const char *detail)
{
	note(a, "resumed", why, detail);
}
