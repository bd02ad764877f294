/* The baseline of `make bench` for NCCL: a bare loop of ncclAllReduce over float32, linked to the simulation directly,
 * without table, watchdog or statistics. The bench calls busbar_bare_nccl() between the batches of busbar's own loop,
 * with the same communicator, stream, buffers and barrier. */
#include "../nccl/abi.h"

#include "../../../internal/loop/loop.h"

#include <sched.h>
#include <time.h>

/* One batch, with the same layout as in internal/tools/bench. The first part is that of mpi/bare/bare.c. */
struct bare_batch {
	const void *send;
	void *recv;
	int64_t count;      /* elements */
	int64_t operations; /* in this batch */
	int64_t latency;    /* 0: back to back; 1: each after a barrier and timed alone */
	int64_t *start;     /* ns: one entry for the batch, or one per operation */
	int64_t *end;

	nccl_comm comm;
	cuda_stream stream;
	busbar_step sync; /* the barrier, as busbar's loop calls it */
	void *sync_context;
};

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

cuda_result cuStreamQuery(cuda_stream);

/* nccl-tests also polls the communicator in every round. That costs NCCL an atomic read, but the simulation a system
 * call, which would distort the comparison. */
static int complete(const struct bare_batch *b)
{
	int rc;
	while ((rc = cuStreamQuery(b->stream)) == CUDA_NOT_READY)
		sched_yield();
	return rc;
}

static int timed(const struct bare_batch *b, int64_t operations, int64_t at)
{
	int rc = b->sync(b->sync_context, (uint64_t)at);
	b->start[at] = now();
	for (int64_t k = 0; k < operations && !rc; k++)
		rc = ncclAllReduce(b->send, b->recv, (size_t)b->count, FLOAT32, SUM, b->comm, b->stream);
	rc = rc ? rc : complete(b);
	b->end[at] = now();
	return rc;
}

/* A busbar_step, so that the loop can call a whole batch as one operation. */
EXPORT int busbar_bare_nccl(void *context, uint64_t i);
int busbar_bare_nccl(void *context, uint64_t i)
{
	const struct bare_batch *b = context;
	int rc = OK;
	(void)i;
	if (!b->latency)
		return timed(b, b->operations, 0);
	for (int64_t k = 0; k < b->operations && !rc; k++)
		rc = timed(b, 1, k);
	return rc;
}
