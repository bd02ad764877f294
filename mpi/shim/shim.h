/* Shared by the files of the shim; not exported. */
#ifndef BUSBAR_SHIM_H
#define BUSBAR_SHIM_H

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <stddef.h>

#include "../busbar_mpi.h"

struct busbar_comm {
	MPI_Comm comm;
	MPI_Request barrier;
};

/* One block with an entry per rank in each. */
struct vectors { int *sends, *from, *receives, *to; };
struct large_vectors { MPI_Count *sends, *receives; MPI_Aint *from, *to; };

/* The context of a step: one MPI call, or a wrapper around such calls. */
struct busbar_operation {
	/* The arguments of the plain calls, which use no others. */
	const void *send;
	void *recv;
	int n, root;
	int to, from; /* the neighbours in the ring */
	MPI_Datatype type;
	MPI_Op op;
	MPI_Comm comm;
	MPI_Request request; /* request of the background operation */

	/* Large counts. */
	int64_t count, part; /* elements in all, and per call */
	int64_t bytes;       /* of one element */
	int rank, ranks;
	int *counts; /* one per rank */

	/* all_to_all_v: elements to each rank and where they begin, then the same from each rank; one of the two. */
	struct vectors *vectors;
	struct large_vectors *large_vectors;

	/* Wrappers: the steps they wrap, and how often. */
	busbar_step inner;
	struct busbar_operation *wrapped;
	uint64_t times;
	void (*divide)(void *x, int64_t n, int by);
};

/* The functions of MPI 4 whose counts have 64 bits. */
struct large {
	int (*all_reduce)(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
	int (*all_gather)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm);
	int (*reduce_scatter)(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
	int (*broadcast)(void *, MPI_Count, MPI_Datatype, int, MPI_Comm);
	int (*reduce)(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
	int (*all_to_all)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm);
	int (*all_to_all_v)(const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *, const MPI_Count *,
			    const MPI_Aint *, MPI_Datatype, MPI_Comm);
	int (*gather)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int, MPI_Comm);
	int (*scatter)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int, MPI_Comm);
	int (*send_recv)(const void *, MPI_Count, MPI_Datatype, int, int, void *, MPI_Count, MPI_Datatype, int, int,
			 MPI_Comm, MPI_Status *);
	int (*send_recv_replace)(void *, MPI_Count, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status *);
	int (*iall_reduce)(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
	int (*iall_gather)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm, MPI_Request *);
	int (*ireduce_scatter)(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
	int (*op_create)(void (*)(void *, void *, MPI_Count *, MPI_Datatype *), int, MPI_Op *);
};

/* Those functions; NULL if the library lacks any. */
const struct large *large_functions(void);

#define STEP(name) static int name(void *context, uint64_t i)
#define OPERATION                                      \
	const struct busbar_operation *o = context;    \
	(void)i

/* The step that issues an operation of this kind, by the int or by the _c functions. */
busbar_step plain_step(int kind, int in_place);
busbar_step large_step(int kind, int in_place);

/* The same in several calls; NULL for kinds whose shares become one element of a derived type instead. */
busbar_step parts_step(int kind, int in_place);

/* The functions of a background operation; start is NULL for kinds that support blocking only. */
struct busbar_async async_steps(struct busbar_operation *o, int kind, int large);

/* A type of one element with count elements, built by calls with counts of at most most. */
int derived_type(MPI_Datatype element, int64_t bytes, int64_t count, int64_t most, MPI_Datatype *out);

/* float16 and bfloat16 have no MPI type: they travel as MPI_UINT16_T. Their operations are created on first use and
 * freed before MPI ends. */
int half_op(int type, int op, const struct large *large, MPI_Op *out);
void half_free(void);
typedef void (*divide_function)(void *x, int64_t n, int by);
divide_function divide_step(int type);

int prepare(struct busbar_comm *c, const struct busbar_mpi_spec *s, struct busbar_mpi_prepared *out);
void release(struct busbar_operation *o);

/* The control plane, comm.c. */
int comm_world(struct busbar_comm **c);
int comm_self(struct busbar_comm **c);
int comm_rank(struct busbar_comm *c, int *rank);
int comm_size(struct busbar_comm *c, int *size);
int comm_split(struct busbar_comm *c, int color, int key, struct busbar_comm **out);
int comm_free(struct busbar_comm *c);
int comm_barrier(struct busbar_comm *c);
int comm_barrier_start(struct busbar_comm *c);
int comm_barrier_test(struct busbar_comm *c, int *done);
int comm_barrier_wait(struct busbar_comm *c);
int comm_bcast(struct busbar_comm *c, void *bytes, int n, int root);
int comm_gather(struct busbar_comm *c, const void *bytes, int n, void *all, int root);
int comm_gatherv(struct busbar_comm *c, const void *bytes, int n, void *all, const int *counts, const int *at, int root);
int comm_all_reduce(struct busbar_comm *c, double *x, int n, int op);
int comm_clock(struct busbar_comm *c, int peer, int rounds, double *offset, double *uncertainty);

#endif
