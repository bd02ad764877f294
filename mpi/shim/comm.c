/* Communicators, and the data exchanged between measurements. */
#include "shim.h"

#include <stdlib.h>
#include <time.h>

static struct busbar_comm world, self;

static int adopt(struct busbar_comm *c, MPI_Comm comm)
{
	c->comm = comm;
	c->barrier = MPI_REQUEST_NULL;
	return MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

int comm_world(struct busbar_comm **c) { return adopt(*c = &world, MPI_COMM_WORLD); }
int comm_self(struct busbar_comm **c) { return adopt(*c = &self, MPI_COMM_SELF); }
int comm_rank(struct busbar_comm *c, int *rank) { return MPI_Comm_rank(c->comm, rank); }
int comm_size(struct busbar_comm *c, int *size) { return MPI_Comm_size(c->comm, size); }

static int make(MPI_Comm comm, struct busbar_comm **out)
{
	*out = NULL;
	if (comm == MPI_COMM_NULL)
		return MPI_SUCCESS;
	if (!(*out = calloc(1, sizeof **out))) {
		MPI_Comm_free(&comm);
		return MPI_ERR_NO_MEM;
	}
	return adopt(*out, comm);
}

int comm_split(struct busbar_comm *c, int color, int key, struct busbar_comm **out)
{
	MPI_Comm comm = MPI_COMM_NULL;
	int rc = MPI_Comm_split(c->comm, color < 0 ? MPI_UNDEFINED : color, key, &comm);
	return rc ? rc : make(comm, out);
}

int comm_free(struct busbar_comm *c)
{
	int rc = MPI_Comm_free(&c->comm);
	free(c);
	return rc;
}

int comm_barrier(struct busbar_comm *c) { return MPI_Barrier(c->comm); }
int comm_barrier_start(struct busbar_comm *c) { return MPI_Ibarrier(c->comm, &c->barrier); }
int comm_barrier_test(struct busbar_comm *c, int *done) { return MPI_Test(&c->barrier, done, MPI_STATUS_IGNORE); }
int comm_barrier_wait(struct busbar_comm *c) { return MPI_Wait(&c->barrier, MPI_STATUS_IGNORE); }

int comm_bcast(struct busbar_comm *c, void *bytes, int n, int root)
{
	return MPI_Bcast(bytes, n, MPI_BYTE, root, c->comm);
}

int comm_gather(struct busbar_comm *c, const void *bytes, int n, void *all, int root)
{
	return MPI_Gather(bytes, n, MPI_BYTE, all, n, MPI_BYTE, root, c->comm);
}

int comm_gatherv(struct busbar_comm *c, const void *bytes, int n, void *all, const int *counts, const int *at, int root)
{
	return MPI_Gatherv(bytes, n, MPI_BYTE, all, counts, at, MPI_BYTE, root, c->comm);
}

int comm_all_reduce(struct busbar_comm *c, double *x, int n, int op)
{
	return MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, op == BUSBAR_SUM ? MPI_SUM : MPI_MAX, c->comm);
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The lower rank asks, the other replies with its clock. The round with the shortest round trip is the most accurate:
 * the clock was read within it. */
int comm_clock(struct busbar_comm *c, int peer, int rounds, double *offset, double *uncertainty)
{
	enum { tag = 0x6275 };
	int64_t best[2] = {0, INT64_MAX}; /* offset, round trip */
	int rank;
	int rc = MPI_Comm_rank(c->comm, &rank);
	*offset = *uncertainty = 0;
	if (rc || rank == peer)
		return rc;
	for (int i = 0; i < rounds; i++) {
		int64_t theirs = 0, asked = now();
		if (rank > peer) {
			if ((rc = MPI_Recv(&theirs, 1, MPI_INT64_T, peer, tag, c->comm, MPI_STATUS_IGNORE)))
				return rc;
			asked = now();
			if ((rc = MPI_Send(&asked, 1, MPI_INT64_T, peer, tag, c->comm)))
				return rc;
			continue;
		}
		if ((rc = MPI_Send(&asked, 1, MPI_INT64_T, peer, tag, c->comm)) ||
		    (rc = MPI_Recv(&theirs, 1, MPI_INT64_T, peer, tag, c->comm, MPI_STATUS_IGNORE)))
			return rc;
		const int64_t trip = now() - asked;
		if (trip < best[1]) {
			best[0] = theirs - (asked + trip / 2);
			best[1] = trip;
		}
	}
	rc = rank < peer ? MPI_Send(best, 2, MPI_INT64_T, peer, tag, c->comm)
			 : MPI_Recv(best, 2, MPI_INT64_T, peer, tag, c->comm, MPI_STATUS_IGNORE);
	*offset = (rank < peer ? 1e-9 : -1e-9) * (double)best[0];
	*uncertainty = 0.5e-9 * (double)best[1];
	return rc;
}
