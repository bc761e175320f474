#include "answer/wait.h"

#include "supervise.h"

#include <errno.h>
#include <stdatomic.h>

#define ERESTARTSYS 512

int wait_begin(struct request *r)
{
	return worker_block_begin(r->worker, r->call->id, r->call->tid);
}

bool wait_again(const struct request *r, int error_no)
{
	return error_no == EINTR && !atomic_load(&r->worker->cancelled);
}

long wait_end(struct request *r, long result)
{
	worker_block_end(r->worker);
	if (result == -EINTR && atomic_load(&r->worker->interrupted))
		return -ERESTARTSYS;
	return result;
}
