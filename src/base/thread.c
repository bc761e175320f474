#include "base/thread.h"

int thread_begin(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	sigset_t mask;
	sigset_t kept;
	int no;

	thread_mask(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, &kept);
	no = pthread_create(out, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
	return no ? -ERR_NOMEM : 0;
}
