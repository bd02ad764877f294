/* An operation, shared by ways.c (how it is called) and operation.c (how the loop issues it). */
#ifndef BUSBAR_NCCL_OPERATION_H
#define BUSBAR_NCCL_OPERATION_H

#include "nccl.h"

/* What goes to, or comes from, one rank. */
struct busbar_nccl_part {
	size_t count, at; /* elements; bytes from the start of the buffer */
};

struct busbar_nccl_operation {
	const struct busbar_nccl *t;
	const struct busbar_cuda *cuda;
	const struct busbar_nccl_comm *c;
	nccl_comm comm;
	cuda_stream stream;

	/* One operation at these addresses. */
	int (*call)(const struct busbar_nccl_operation *o, const char *send, char *recv);
	const char *send;
	char *recv;
	size_t count, share; /* elements; bytes of one rank's share */
	int type, op, root, rank, ranks;
	int own_op; /* op must be destroyed */

	uint64_t slots, aggregate, graph;
	int64_t send_stride, recv_stride;
	busbar_step sync;
	void *sync_context;

	busbar_step captured; /* the captured step */
	cuda_graph_exec exec; /* NULL before it is captured */

	struct busbar_nccl_part parts[]; /* all_to_all_v: to each rank, then from each rank */
};

typedef const struct busbar_nccl_operation operation;

static inline int failed(int rc) { return rc != NCCL_SUCCESS && rc != NCCL_IN_PROGRESS; }

/* Ends a group; an error inside it has priority over the error of its end. */
static inline int end_group(operation *o, int rc)
{
	const int end = o->t->group_end();
	return failed(rc) ? rc : end;
}

/* Sets the operation's call, and out's function and grouped; function stays NULL if the library does not support the
 * operation. */
void busbar_nccl_take_way(struct busbar_nccl_operation *o, int kind, struct busbar_nccl_prepared *out);

#endif
