/* Entry points of the collectives: they check arguments and pass the operation on. */
#include "inside.h"

#include <stdlib.h>

static nccl_result bad(const char *what) { return group_failed(fail(INVALID_ARGUMENT, "%s", what)); }

/* Checks common to all; send and recv are the elements that the rank reads and writes. */
static nccl_result check(nccl_comm c, struct operation *o, size_t send, size_t recv)
{
	const nccl_result rc = comm_ready(c);
	if (rc)
		return group_failed(rc);
	o->ways = chosen_ways;
	if (o->type < 0 || o->type >= TYPES || (o->type >= FLOAT8E4M3 && reported_version() < 22400))
		return bad("invalid data type");
	if (o->root < 0 || o->root >= c->ranks)
		return bad("invalid root or peer: there is no such rank");
	if (o->op < 0 || o->op >= FIRST_CREATED + SCALARS)
		return bad("invalid reduction operation");
	if (o->op >= FIRST_CREATED) {
		if (!c->scalars[o->op - FIRST_CREATED].used)
			return bad("the reduction operation was destroyed, or never created");
		o->scalar = c->scalars[o->op - FIRST_CREATED];
		if (o->scalar.type != o->type)
			return bad("the reduction operation was created with another data type");
	}
	if (o->count && ((send && !busbar_rehearsal_owns(o->send, send * type_bytes(o->type))) ||
			 (recv && !busbar_rehearsal_owns(o->recv, recv * type_bytes(o->type)))))
		return bad("a buffer is not, or not in whole, memory of a device");
	return OK;
}

/* NCCL reduces 8-bit floats since compute capability 9.0. Before 2.28 it also refuses them in all_gather and
 * broadcast. */
static int lacks_float8(nccl_comm c, const struct operation *o)
{
	const int reduces = o->kind == ALL_REDUCE || o->kind == REDUCE || o->kind == REDUCE_SCATTER;
	const int refused = reduces || (reported_version() < 22800 && (o->kind == ALL_GATHER || o->kind == BROADCAST));
	return o->type >= FLOAT8E4M3 && refused && c->capability < 90;
}

static nccl_result call(nccl_comm c, cuda_stream s, struct operation o, size_t send, size_t recv)
{
	const nccl_result rc = check(c, &o, send, recv);
	if (!rc && o.count && lacks_float8(c, &o))
		return bad("FP8 reduction support begins with sm90 capable devices.");
	if (!rc && o.count)
		return submit(c, s, o);
	free(o.split);
	return rc;
}

#define CALL(what, sends, receives, ...) \
	call(c, s, (struct operation){.kind = what, .count = n, .type = type, __VA_ARGS__}, sends, receives)

static size_t ranks_of(nccl_comm c) { return c ? (size_t)c->ranks : 0; }
static int is_rank(nccl_comm c, int rank) { return c && c->rank == rank; }

nccl_result ncclAllReduce(const void *send, void *recv, size_t n, int type, int op, nccl_comm c, cuda_stream s)
{
	return CALL(ALL_REDUCE, n, n, .send = send, .recv = recv, .op = op);
}

nccl_result ncclAllGather(const void *send, void *recv, size_t n, int type, nccl_comm c, cuda_stream s)
{
	return CALL(ALL_GATHER, n, n * ranks_of(c), .send = send, .recv = recv);
}

nccl_result ncclReduceScatter(const void *send, void *recv, size_t n, int type, int op, nccl_comm c, cuda_stream s)
{
	return CALL(REDUCE_SCATTER, n * ranks_of(c), n, .send = send, .recv = recv, .op = op);
}

nccl_result ncclBroadcast(const void *send, void *recv, size_t n, int type, int root, nccl_comm c, cuda_stream s)
{
	return CALL(BROADCAST, is_rank(c, root) ? n : 0, n, .send = send, .recv = recv, .root = root);
}

nccl_result ncclBcast(void *buffer, size_t n, int type, int root, nccl_comm c, cuda_stream s)
{
	return ncclBroadcast(buffer, buffer, n, type, root, c, s);
}

nccl_result ncclReduce(const void *send, void *recv, size_t n, int type, int op, int root, nccl_comm c, cuda_stream s)
{
	return CALL(REDUCE, n, is_rank(c, root) ? n : 0, .send = send, .recv = recv, .op = op, .root = root);
}

nccl_result ncclAlltoAll(const void *send, void *recv, size_t n, int type, nccl_comm c, cuda_stream s)
{
	if (send == recv && send)
		return bad("AlltoAll has no in-place form: sendbuff and recvbuff must be distinct");
	return CALL(ALL_TO_ALL, n * ranks_of(c), n * ranks_of(c), .send = send, .recv = recv);
}

nccl_result ncclGather(const void *send, void *recv, size_t n, int type, int root, nccl_comm c, cuda_stream s)
{
	return CALL(GATHER, n, is_rank(c, root) ? n * ranks_of(c) : 0, .send = send, .recv = recv, .root = root);
}

nccl_result ncclScatter(const void *send, void *recv, size_t n, int type, int root, nccl_comm c, cuda_stream s)
{
	return CALL(SCATTER, is_rank(c, root) ? n * ranks_of(c) : 0, n, .send = send, .recv = recv, .root = root);
}

nccl_result ncclSend(const void *send, size_t n, int type, int peer, nccl_comm c, cuda_stream s)
{
	return CALL(SEND, n, 0, .send = send, .root = peer);
}

nccl_result ncclRecv(void *recv, size_t n, int type, int peer, nccl_comm c, cuda_stream s)
{
	return CALL(RECV, 0, n, .recv = recv, .root = peer);
}

#ifdef BUSBAR_NCCLX
EXPORT nccl_comm ncclCommWorld;

nccl_result ncclAllToAllv(const void *send, const size_t *send_counts, const size_t *send_at, void *recv,
			  const size_t *recv_counts, const size_t *recv_at, int type, nccl_comm c, cuda_stream s)
{
	size_t *split = calloc(ranks_of(c) + 1, 4 * sizeof *split), n = 0;
	if (!split || !send_counts || !send_at || !recv_counts || !recv_at) {
		free(split);
		return bad("AllToAllv : an argument is NULL");
	}
	for (size_t r = 0; r < ranks_of(c); r++) {
		const size_t one[] = {send_counts[r], send_at[r], recv_counts[r], recv_at[r]};
		for (size_t i = 0; i < 4; i++)
			split[4 * r + i] = one[i];
		n |= send_counts[r] | recv_counts[r];
	}
	return CALL(ALL_TO_ALL_V, 0, 0, .send = send, .recv = recv, .split = split);
}

/* The simulation moves the data unchanged. */
nccl_result ncclReduceScatterQuantize(const void *send, void *recv, size_t n, int type, int transport, int op,
				      uint64_t *seed, nccl_comm c, cuda_stream s)
{
	(void)seed;
	if (transport < 0 || transport >= TYPES)
		return bad("invalid transport type");
	return ncclReduceScatter(send, recv, n, type, op, c, s);
}

nccl_result ncclCommGetUniqueHash(nccl_comm c, uint64_t *hash)
{
	if (!c || !hash)
		return bad("CommGetUniqueHash : an argument is NULL");
	*hash = c->id.token;
	return OK;
}
#endif
