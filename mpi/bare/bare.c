/* The baseline of `make bench`: a bare loop of MPI_Allreduce over float32, linked to MPI directly, without shim,
 * table, watchdog or statistics. It is a shared object whose busbar_bare() the bench calls between the batches of
 * busbar's own loop. */
#include <mpi.h>
#include <stdint.h>
#include <time.h>

/* One batch, with the same layout as in internal/tools/bench. */
struct bare_batch {
	const void *send;
	void *recv;
	int64_t count;      /* elements */
	int64_t operations; /* in this batch */
	int64_t latency;    /* 0: back to back; 1: each after a barrier and timed alone */
	int64_t *start;     /* ns: one entry for the batch, or one per operation */
	int64_t *end;
};

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A busbar_step of internal/loop, so that the loop can call a whole batch as one operation. */
int busbar_bare(void *context, uint64_t i)
{
	struct bare_batch *b = context;
	const int n = (int)b->count;
	int rc = 0;
	(void)i;
	if (!b->latency) {
		rc = MPI_Barrier(MPI_COMM_WORLD);
		b->start[0] = now();
		for (int64_t k = 0; k < b->operations && !rc; k++)
			rc = MPI_Allreduce(b->send, b->recv, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		b->end[0] = now();
		return rc;
	}
	for (int64_t k = 0; k < b->operations && !rc; k++) {
		rc = MPI_Barrier(MPI_COMM_WORLD);
		b->start[k] = now();
		rc = rc ? rc : MPI_Allreduce(b->send, b->recv, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		b->end[k] = now();
	}
	return rc;
}
