#include "audit/bus.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

/* Where a fault of this thread's copy goes; NULL outside of one. */
static _Thread_local sigjmp_buf *volatile landing;

static void on_bus(int sig)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};

	if (landing)
		siglongjmp(*landing, 1);
	/* Returning runs into the same fault, which then kills. */
	sigaction(sig, &dfl, NULL);
}

int bus_install(void)
{
	/* NODEFER: the mask is not saved, for speed, so it must not change. */
	struct sigaction sa = {.sa_handler = on_bus, .sa_flags = SA_NODEFER};

	return sigaction(SIGBUS, &sa, NULL) == 0 ? 0 : -ERR_SYS;
}

bool bus_commit(void *to, const void *from, size_t len_bytes, uint64_t *word, uint64_t value,
                uint64_t *clear)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 0)) {
		landing = NULL;
		return false;
	}
	landing = &here;
	if (clear)
		__atomic_store_n(clear, 0, __ATOMIC_RELAXED);
	memcpy(to, from, len_bytes);
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	landing = NULL;
	return true;
}
