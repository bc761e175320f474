#include "ask/orphan.h"

#include "ask/term.h"

#include <poll.h>

/* Wary's end and the tree's may be one event, of which the guardian sees the latter first:
 * a shell's job whose leader dies is sent a hangup. */
#define WARY_ENDS_MS 1000
/* It has the terminal's own waits (for output that drains) before it ends. */
#define ASKER_ENDS_MS 10000

static bool ends(int pidfd, int within_ms)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return pidfd >= 0 && poll(&p, 1, within_ms) > 0;
}

void orphan_give_back(const void *asker, int wary_pidfd)
{
	const struct asker *a = asker;
	struct term t;

	if (!asker_left_terminal(a, &t) || !ends(wary_pidfd, WARY_ENDS_MS) ||
	    !ends(a->pidfd, ASKER_ENDS_MS))
		return;
	if (asker_left_terminal(a, &t))
		term_give_back(&t);
}
