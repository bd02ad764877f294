/* Counts that exceed an int: by the functions of MPI 4, in several calls, or as one element of a derived type. */
#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <string.h>

static struct large functions;

const struct large *large_functions(void)
{
	static const struct { const char *name; void *function; } wanted[] = {
		{"MPI_Allreduce_c", &functions.all_reduce},
		{"MPI_Allgather_c", &functions.all_gather},
		{"MPI_Reduce_scatter_block_c", &functions.reduce_scatter},
		{"MPI_Bcast_c", &functions.broadcast},
		{"MPI_Reduce_c", &functions.reduce},
		{"MPI_Alltoall_c", &functions.all_to_all},
		{"MPI_Alltoallv_c", &functions.all_to_all_v},
		{"MPI_Gather_c", &functions.gather},
		{"MPI_Scatter_c", &functions.scatter},
		{"MPI_Sendrecv_c", &functions.send_recv},
		{"MPI_Sendrecv_replace_c", &functions.send_recv_replace},
		{"MPI_Iallreduce_c", &functions.iall_reduce},
		{"MPI_Iallgather_c", &functions.iall_gather},
		{"MPI_Ireduce_scatter_block_c", &functions.ireduce_scatter},
		{"MPI_Op_create_c", &functions.op_create},
	};
	static int known; /* 1: all present, -1: not */
	for (size_t i = 0; !known && i < sizeof wanted / sizeof *wanted; i++) {
		/* At run time: a library may be newer than the header at compile time. */
		void *function = dlsym(RTLD_DEFAULT, wanted[i].name);
		if (!function)
			known = -1;
		memcpy(wanted[i].function, &function, sizeof function);
	}
	if (!known)
		known = 1;
	return known > 0 ? &functions : NULL;
}

STEP(all_reduce)
{
	OPERATION;
	return functions.all_reduce(o->send, o->recv, o->count, o->type, o->op, o->comm);
}

STEP(all_gather)
{
	OPERATION;
	return functions.all_gather(o->send, o->count, o->type, o->recv, o->count, o->type, o->comm);
}

STEP(reduce_scatter)
{
	OPERATION;
	return functions.reduce_scatter(o->send, o->recv, o->count, o->type, o->op, o->comm);
}

STEP(broadcast)
{
	OPERATION;
	return functions.broadcast(o->recv, o->count, o->type, o->root, o->comm);
}

STEP(reduce)
{
	OPERATION;
	return functions.reduce(o->send, o->recv, o->count, o->type, o->op, o->root, o->comm);
}

STEP(all_to_all)
{
	OPERATION;
	return functions.all_to_all(o->send, o->count, o->type, o->recv, o->count, o->type, o->comm);
}

STEP(all_to_all_v)
{
	OPERATION;
	const struct large_vectors *v = o->large_vectors;
	return functions.all_to_all_v(o->send, v->sends, v->from, o->type, o->recv, v->receives, v->to, o->type, o->comm);
}

STEP(gather)
{
	OPERATION;
	return functions.gather(o->send, o->count, o->type, o->recv, o->count, o->type, o->root, o->comm);
}

STEP(scatter)
{
	OPERATION;
	return functions.scatter(o->send, o->count, o->type, o->recv, o->count, o->type, o->root, o->comm);
}

STEP(send_recv)
{
	OPERATION;
	return functions.send_recv(o->send, o->count, o->type, o->to, 0, o->recv, o->count, o->type, o->from, 0,
				   o->comm, MPI_STATUS_IGNORE);
}

STEP(send_recv_replace)
{
	OPERATION;
	return functions.send_recv_replace(o->recv, o->count, o->type, o->to, 0, o->from, 0, o->comm,
					   MPI_STATUS_IGNORE);
}

busbar_step large_step(int kind, int in_place)
{
	static const busbar_step all[] = {NULL, all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all,
		gather, scatter, send_recv, all_to_all_v};
	return kind == BUSBAR_SEND_RECV && in_place ? send_recv_replace : all[kind];
}

/* In several calls. */

static const void *input(const struct busbar_operation *o, int64_t at)
{
	return o->send == MPI_IN_PLACE ? MPI_IN_PLACE : (const char *)o->send + at * o->bytes;
}

static void *output(const struct busbar_operation *o, int64_t at)
{
	return o->recv ? (char *)o->recv + at * o->bytes : NULL;
}

static int length(const struct busbar_operation *o, int64_t at)
{
	return (int)(o->count - at < o->part ? o->count - at : o->part);
}

#define EACH_PART(call)                                                        \
	for (int64_t at = 0; at < o->count; at += o->part) {                   \
		void *to = output(o, at);                                      \
		const int n = length(o, at);                                   \
		int rc = call;                                                 \
		if (rc)                                                        \
			return rc;                                             \
	}                                                                      \
	return MPI_SUCCESS

STEP(all_reduce_parts)
{
	OPERATION;
	EACH_PART(MPI_Allreduce(input(o, at), to, n, o->type, o->op, o->comm));
}

STEP(broadcast_parts)
{
	OPERATION;
	EACH_PART(MPI_Bcast(to, n, o->type, o->root, o->comm));
}

STEP(reduce_parts)
{
	OPERATION;
	EACH_PART(MPI_Reduce(input(o, at), to, n, o->type, o->op, o->root, o->comm));
}

STEP(send_recv_parts)
{
	OPERATION;
	EACH_PART(MPI_Sendrecv(input(o, at), n, o->type, o->to, 0, to, n, o->type, o->from, 0, o->comm,
			       MPI_STATUS_IGNORE));
}

STEP(send_recv_replace_parts)
{
	OPERATION;
	EACH_PART(MPI_Sendrecv_replace(to, n, o->type, o->to, 0, o->from, 0, o->comm, MPI_STATUS_IGNORE));
}

/* A part of the whole vector holds the end of one rank's share, some whole shares, and the beginning of another's. In
 * place, a result arrives at the front of its part and must be moved to the front of the vector, over input that was
 * already used: a share's place in the result is never behind its place in the vector. */
STEP(reduce_scatter_parts)
{
	OPERATION;
	const int64_t total = o->count * o->ranks;
	for (int64_t at = 0; at < total; at += o->part) {
		const int64_t end = total - at < o->part ? total : at + o->part;
		for (int r = 0; r < o->ranks; r++) {
			const int64_t from = r * o->count < at ? at : r * o->count;
			const int64_t to = (r + 1) * o->count < end ? (r + 1) * o->count : end;
			o->counts[r] = to > from ? (int)(to - from) : 0;
		}
		const int64_t mine = o->counts[o->rank];
		const int64_t before = mine && at > o->rank * o->count ? at - o->rank * o->count : 0;
		void *result = output(o, before);
		void *to = o->send == MPI_IN_PLACE ? output(o, at) : result;
		int rc = MPI_Reduce_scatter(input(o, at), to, o->counts, o->type, o->op, o->comm);
		if (rc)
			return rc;
		if (mine && to != result)
			memmove(result, to, (size_t)(mine * o->bytes));
	}
	return MPI_SUCCESS;
}

busbar_step parts_step(int kind, int in_place)
{
	switch (kind) {
	case BUSBAR_ALL_REDUCE: return all_reduce_parts;
	case BUSBAR_REDUCE_SCATTER: return reduce_scatter_parts;
	case BUSBAR_BROADCAST: return broadcast_parts;
	case BUSBAR_REDUCE: return reduce_parts;
	case BUSBAR_SEND_RECV: return in_place ? send_recv_replace_parts : send_recv_parts;
	}
	return NULL;
}

int derived_type(MPI_Datatype element, int64_t bytes, int64_t count, int64_t most, MPI_Datatype *out)
{
	/* Blocks of most elements, and the remainder. */
	const int64_t blocks = count / most, rest = count % most;
	const MPI_Aint at[2] = {0, (MPI_Aint)(blocks * most * bytes)};
	const int once[2] = {1, 1};
	MPI_Datatype block = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL;
	MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
	int rc = MPI_SUCCESS;
	if (blocks) {
		rc = MPI_Type_contiguous((int)most, element, &block);
		if (!rc)
			rc = MPI_Type_contiguous((int)blocks, block, &parts[0]);
	}
	if (!rc && (rest || !blocks))
		rc = MPI_Type_contiguous((int)rest, element, &parts[1]);
	if (!rc)
		rc = blocks && rest ? MPI_Type_create_struct(2, once, at, parts, &whole)
				    : MPI_Type_dup(parts[blocks ? 0 : 1], &whole);
	if (!rc)
		rc = MPI_Type_commit(&whole);
	if (!rc)
		*out = whole;
	else if (whole != MPI_DATATYPE_NULL)
		MPI_Type_free(&whole);
	for (int k = 0; k < 2; k++)
		if (parts[k] != MPI_DATATYPE_NULL)
			MPI_Type_free(&parts[k]);
	if (block != MPI_DATATYPE_NULL)
		MPI_Type_free(&block);
	return rc;
}
