/* The table of functions between package mpi and its shim. A shim is compiled once per MPI and exports one symbol,
 * busbar_mpi; the interface has no types of mpi.h.
 *
 * Functions return 0 or MPI's error code, unless documented otherwise. */
#ifndef BUSBAR_MPI_H
#define BUSBAR_MPI_H

#include <stdint.h>

#include "../internal/loop/loop.h"

/* Increment with every change below. */
#define BUSBAR_MPI_ABI 4

enum busbar_mpi_kind {
	BUSBAR_ALL_REDUCE = 1,
	BUSBAR_ALL_GATHER,
	BUSBAR_REDUCE_SCATTER,
	BUSBAR_BROADCAST,
	BUSBAR_REDUCE,
	BUSBAR_ALL_TO_ALL,
	BUSBAR_GATHER,
	BUSBAR_SCATTER,
	BUSBAR_SEND_RECV,
	BUSBAR_ALL_TO_ALL_V,
};

enum busbar_mpi_type {
	BUSBAR_INT8 = 1,
	BUSBAR_UINT8,
	BUSBAR_INT32,
	BUSBAR_UINT32,
	BUSBAR_INT64,
	BUSBAR_UINT64,
	BUSBAR_FLOAT16,
	BUSBAR_BFLOAT16,
	BUSBAR_FLOAT32,
	BUSBAR_FLOAT64,
};

enum busbar_mpi_op { BUSBAR_SUM = 1, BUSBAR_PROD, BUSBAR_MIN, BUSBAR_MAX, BUSBAR_AVG };

struct busbar_comm;
struct busbar_operation;

/* An operation to measure; the fields as in OpSpec (types.go). */
struct busbar_mpi_spec {
	int kind, type, op, root, in_place;
	int aggregate; /* at least 1 */
	void *send, *recv;
	int64_t count;
	int64_t slots; /* at least 1 */
	int64_t send_stride, recv_stride;
	const int64_t *sends, *receives; /* all_to_all_v: elements to and from each rank */

	/* For tests: try large counts with small ones. */
	int64_t int_max; /* the maximum count of the int functions */
	int no_large;    /* as if the library had no _c functions */
};

/* Result of busbar_mpi.prepare. */
struct busbar_mpi_prepared {
	struct busbar_operation *operation; /* to be freed */
	busbar_step issue, sync;
	void *context; /* context of both */
	struct busbar_async async; /* NULL if the operation cannot run in the background */

	int large;          /* by the _c function */
	int derived;        /* a share is one element of a derived type */
	int64_t parts;      /* calls per operation; usually 1 */
	int64_t part_count; /* elements per call, except the last */
	int own_op;         /* the shim reduces, not MPI */
};

struct busbar_mpi {
	uint32_t abi;          /* BUSBAR_MPI_ABI; always first */
	const char *family;    /* "openmpi", "mpich" or "other" */
	const char *compiled;  /* the MPI it was compiled with: "Open MPI 4.1.4" */
	const char *(*path)(void); /* path of the MPI library, from the loader */
	int (*version)(char *text, int size, int standard[2]);
	int (*large)(void);    /* whether the library has the _c functions */

	int (*init)(int *level); /* requests MPI_THREAD_MULTIPLE; level 0 (single) to 3 (multiple) */
	int (*running)(void);    /* between init and finalize */
	int (*finalize)(void);
	int (*abort)(int code);
	void (*error)(int code, int *class, const char **name, char *text, int size);

	int (*world)(struct busbar_comm **c);
	int (*self)(struct busbar_comm **c);
	int (*rank)(struct busbar_comm *c, int *rank);
	int (*size)(struct busbar_comm *c, int *size);
	int (*split)(struct busbar_comm *c, int color, int key, struct busbar_comm **out); /* NULL for color < 0 */
	int (*free)(struct busbar_comm *c);

	int (*barrier)(struct busbar_comm *c);
	int (*barrier_start)(struct busbar_comm *c);
	int (*barrier_test)(struct busbar_comm *c, int *done);
	int (*barrier_wait)(struct busbar_comm *c);
	int (*bcast)(struct busbar_comm *c, void *bytes, int n, int root);
	int (*gather)(struct busbar_comm *c, const void *bytes, int n, void *all, int root);
	int (*gatherv)(struct busbar_comm *c, const void *bytes, int n, void *all, const int *counts, const int *at,
		       int root);
	int (*all_reduce)(struct busbar_comm *c, double *x, int n, int op); /* in place; op: BUSBAR_SUM, BUSBAR_MAX */
	int (*clock)(struct busbar_comm *c, int peer, int rounds, double *offset, double *uncertainty);

	int (*prepare)(struct busbar_comm *c, const struct busbar_mpi_spec *spec, struct busbar_mpi_prepared *out);
	void (*release)(struct busbar_operation *o);
};

#endif
