/* The collectives as they are called: arguments are looked at, and the operation is handed on. */
#include "inside.h"

#include <stdlib.h>

static nccl_result bad(const char *what) { return group_failed(fail(INVALID_ARGUMENT, "%s", what)); }

/* Checks what all share; send and recv are the elements that the rank reads and writes there. */
static nccl_result call(nccl_comm c, cuda_stream s, struct operation o, size_t send, size_t recv)
{
	const nccl_result rc = comm_ready(c);
	if (rc)
		return group_failed(rc);
	if (o.type < 0 || o.type >= TYPES)
		return bad("invalid data type");
	if (o.root < 0 || o.root >= c->ranks)
		return bad("invalid root or peer: there is no such rank");
	if (o.op < 0 || o.op >= FIRST_CREATED + 64 || (o.op >= FIRST_CREATED && !c->scalars[o.op - FIRST_CREATED].used))
		return bad("invalid reduction operation");
	if (o.op >= FIRST_CREATED) {
		o.scalar = c->scalars[o.op - FIRST_CREATED];
		if (o.scalar.type != o.type)
			return bad("the reduction operation was created with another data type");
	}
	if (!o.count)
		return OK;
	if ((send && !busbar_rehearsal_owns(o.send, send * type_bytes(o.type))) ||
	    (recv && !busbar_rehearsal_owns(o.recv, recv * type_bytes(o.type))))
		return bad("a buffer is not, or not in whole, memory of a device");
	return submit(c, s, o);
}

static size_t ranks_of(nccl_comm c) { return c ? (size_t)c->ranks : 0; }
static int is_rank(nccl_comm c, int rank) { return c && c->rank == rank; }

nccl_result ncclAllReduce(const void *send, void *recv, size_t n, int type, int op, nccl_comm c, cuda_stream s)
{
	return call(c, s, (struct operation){.kind = ALL_REDUCE, .send = send, .recv = recv, .count = n, .type = type, .op = op}, n, n);
}

nccl_result ncclAllGather(const void *send, void *recv, size_t n, int type, nccl_comm c, cuda_stream s)
{
	return call(c, s, (struct operation){.kind = ALL_GATHER, .send = send, .recv = recv, .count = n, .type = type},
		    n, n * ranks_of(c));
}

nccl_result ncclReduceScatter(const void *send, void *recv, size_t n, int type, int op, nccl_comm c, cuda_stream s)
{
	return call(c, s, (struct operation){.kind = REDUCE_SCATTER, .send = send, .recv = recv, .count = n, .type = type, .op = op},
		    n * ranks_of(c), n);
}

nccl_result ncclBroadcast(const void *send, void *recv, size_t n, int type, int root, nccl_comm c, cuda_stream s)
{
	return call(c, s, (struct operation){.kind = BROADCAST, .send = send, .recv = recv, .count = n, .type = type, .root = root},
		    is_rank(c, root) ? n : 0, n);
}

nccl_result ncclBcast(void *buffer, size_t n, int type, int root, nccl_comm c, cuda_stream s)
{
	return ncclBroadcast(buffer, buffer, n, type, root, c, s);
}

nccl_result ncclReduce(const void *send, void *recv, size_t n, int type, int op, int root, nccl_comm c, cuda_stream s)
{
	return call(c, s, (struct operation){.kind = REDUCE, .send = send, .recv = recv, .count = n, .type = type, .op = op, .root = root},
		    n, is_rank(c, root) ? n : 0);
}

nccl_result ncclAlltoAll(const void *send, void *recv, size_t n, int type, nccl_comm c, cuda_stream s)
{
	if (send == recv && send)
		return bad("AlltoAll has no in-place form: sendbuff and recvbuff must be distinct");
	return call(c, s, (struct operation){.kind = ALL_TO_ALL, .send = send, .recv = recv, .count = n, .type = type},
		    n * ranks_of(c), n * ranks_of(c));
}

nccl_result ncclGather(const void *send, void *recv, size_t n, int type, int root, nccl_comm c, cuda_stream s)
{
	return call(c, s, (struct operation){.kind = GATHER, .send = send, .recv = recv, .count = n, .type = type, .root = root},
		    n, is_rank(c, root) ? n * ranks_of(c) : 0);
}

nccl_result ncclScatter(const void *send, void *recv, size_t n, int type, int root, nccl_comm c, cuda_stream s)
{
	return call(c, s, (struct operation){.kind = SCATTER, .send = send, .recv = recv, .count = n, .type = type, .root = root},
		    is_rank(c, root) ? n * ranks_of(c) : 0, n);
}

nccl_result ncclSend(const void *send, size_t n, int type, int peer, nccl_comm c, cuda_stream s)
{
	return call(c, s, (struct operation){.kind = SEND, .send = send, .count = n, .type = type, .root = peer}, n, 0);
}

nccl_result ncclRecv(void *recv, size_t n, int type, int peer, nccl_comm c, cuda_stream s)
{
	return call(c, s, (struct operation){.kind = RECV, .recv = recv, .count = n, .type = type, .root = peer}, 0, n);
}

#ifdef BUSBAR_NCCLX
EXPORT nccl_comm ncclCommWorld;

nccl_result ncclAllToAllv(const void *send, const size_t *send_counts, const size_t *send_at, void *recv,
			  const size_t *recv_counts, const size_t *recv_at, int type, nccl_comm c, cuda_stream s)
{
	size_t *split = calloc(ranks_of(c), 4 * sizeof *split), all = 0;
	if (!split || !send_counts || !send_at || !recv_counts || !recv_at) {
		free(split);
		return bad("AllToAllv : an argument is NULL");
	}
	for (int r = 0; r < c->ranks; r++) {
		const size_t one[] = {send_counts[r], send_at[r], recv_counts[r], recv_at[r]};
		for (int i = 0; i < 4; i++)
			split[4 * r + i] = one[i];
		all += send_counts[r] + recv_counts[r];
	}
	const struct operation o = {.kind = ALL_TO_ALL_V, .send = send, .recv = recv, .count = all ? 1 : 0, .type = type, .split = split};
	const nccl_result rc = call(c, s, o, 0, 0);
	if (!all || (rc && rc != IN_PROGRESS))
		free(split);
	return rc;
}

/* In the rehearsal the data travels as it is. */
nccl_result ncclReduceScatterQuantize(const void *send, void *recv, size_t n, int type, int transport, int op, uint64_t *seed,
				      nccl_comm c, cuda_stream s)
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
