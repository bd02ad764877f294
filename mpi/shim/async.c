/* Operations that run in the background. The library progresses them inside its own calls, for any operation, and in
 * its own thread if it has one. */
#include "shim.h"

#define START(name) static int name(void *context)
#define STARTED struct busbar_operation *o = context

START(all_reduce)
{
	STARTED;
	return MPI_Iallreduce(o->send, o->recv, o->n, o->type, o->op, o->comm, &o->request);
}

START(all_gather)
{
	STARTED;
	return MPI_Iallgather(o->send, o->n, o->type, o->recv, o->n, o->type, o->comm, &o->request);
}

START(reduce_scatter)
{
	STARTED;
	return MPI_Ireduce_scatter_block(o->send, o->recv, o->n, o->type, o->op, o->comm, &o->request);
}

START(all_reduce_large)
{
	STARTED;
	return large_functions()->iall_reduce(o->send, o->recv, o->count, o->type, o->op, o->comm, &o->request);
}

START(all_gather_large)
{
	STARTED;
	return large_functions()->iall_gather(o->send, o->count, o->type, o->recv, o->count, o->type, o->comm, &o->request);
}

START(reduce_scatter_large)
{
	STARTED;
	return large_functions()->ireduce_scatter(o->send, o->recv, o->count, o->type, o->op, o->comm, &o->request);
}

static int test(void *context, int *done)
{
	STARTED;
	return MPI_Test(&o->request, done, MPI_STATUS_IGNORE);
}

static int wait(void *context)
{
	STARTED;
	return MPI_Wait(&o->request, MPI_STATUS_IGNORE);
}

struct busbar_async async_steps(struct busbar_operation *o, int kind, int large)
{
	struct busbar_async a = {NULL, test, wait, o};
	switch (kind) {
	case BUSBAR_ALL_REDUCE: a.start = large ? all_reduce_large : all_reduce; break;
	case BUSBAR_ALL_GATHER: a.start = large ? all_gather_large : all_gather; break;
	case BUSBAR_REDUCE_SCATTER: a.start = large ? reduce_scatter_large : reduce_scatter; break;
	}
	return a;
}
