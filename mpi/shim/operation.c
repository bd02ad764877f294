/* A measured operation: its arguments are bound once, and issuing it is a single direct call. */
#include "shim.h"

#include <stdlib.h>

STEP(sync_ranks)
{
	OPERATION;
	return MPI_Barrier(o->comm);
}

STEP(all_reduce)
{
	OPERATION;
	return MPI_Allreduce(o->send, o->recv, o->n, o->type, o->op, o->comm);
}

STEP(all_gather)
{
	OPERATION;
	return MPI_Allgather(o->send, o->n, o->type, o->recv, o->n, o->type, o->comm);
}

STEP(reduce_scatter)
{
	OPERATION;
	return MPI_Reduce_scatter_block(o->send, o->recv, o->n, o->type, o->op, o->comm);
}

STEP(broadcast)
{
	OPERATION;
	return MPI_Bcast(o->recv, o->n, o->type, o->root, o->comm);
}

STEP(reduce)
{
	OPERATION;
	return MPI_Reduce(o->send, o->recv, o->n, o->type, o->op, o->root, o->comm);
}

STEP(all_to_all)
{
	OPERATION;
	return MPI_Alltoall(o->send, o->n, o->type, o->recv, o->n, o->type, o->comm);
}

STEP(all_to_all_v)
{
	OPERATION;
	const struct vectors *v = o->vectors;
	return MPI_Alltoallv(o->send, v->sends, v->from, o->type, o->recv, v->receives, v->to, o->type, o->comm);
}

STEP(gather)
{
	OPERATION;
	return MPI_Gather(o->send, o->n, o->type, o->recv, o->n, o->type, o->root, o->comm);
}

STEP(scatter)
{
	OPERATION;
	return MPI_Scatter(o->send, o->n, o->type, o->recv, o->n, o->type, o->root, o->comm);
}

STEP(send_recv)
{
	OPERATION;
	return MPI_Sendrecv(o->send, o->n, o->type, o->to, 0, o->recv, o->n, o->type, o->from, 0, o->comm,
			    MPI_STATUS_IGNORE);
}

STEP(send_recv_replace)
{
	OPERATION;
	return MPI_Sendrecv_replace(o->recv, o->n, o->type, o->to, 0, o->from, 0, o->comm, MPI_STATUS_IGNORE);
}

busbar_step plain_step(int kind, int in_place)
{
	static const busbar_step all[] = {NULL, all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all,
		gather, scatter, send_recv, all_to_all_v};
	return kind == BUSBAR_SEND_RECV && in_place ? send_recv_replace : all[kind];
}

/* Wrappers. */

STEP(average)
{
	OPERATION;
	int rc = o->inner(context, i);
	if (rc == MPI_SUCCESS)
		o->divide(o->recv, o->count, o->ranks);
	return rc;
}

STEP(rotate)
{
	const struct busbar_operation *o = context;
	return o->inner(&o->wrapped[i % o->times], i);
}

STEP(aggregate)
{
	const struct busbar_operation *o = context;
	for (uint64_t k = 0; k < o->times; k++) {
		int rc = o->inner(o->wrapped, i * o->times + k);
		if (rc)
			return rc;
	}
	return MPI_SUCCESS;
}

static MPI_Datatype element_type(int type)
{
	switch (type) {
	case BUSBAR_INT8: return MPI_INT8_T;
	case BUSBAR_UINT8: return MPI_UINT8_T;
	case BUSBAR_INT32: return MPI_INT32_T;
	case BUSBAR_UINT32: return MPI_UINT32_T;
	case BUSBAR_INT64: return MPI_INT64_T;
	case BUSBAR_UINT64: return MPI_UINT64_T;
	case BUSBAR_FLOAT32: return MPI_FLOAT;
	case BUSBAR_FLOAT64: return MPI_DOUBLE;
	}
	return MPI_UINT16_T;
}

static int64_t element_bytes(int type)
{
	static const int bytes[] = {0, 1, 1, 4, 4, 8, 8, 2, 2, 4, 8};
	return bytes[type];
}

static MPI_Op reduction(int op)
{
	switch (op) {
	case BUSBAR_PROD: return MPI_PROD;
	case BUSBAR_MIN: return MPI_MIN;
	case BUSBAR_MAX: return MPI_MAX;
	}
	return MPI_SUM;
}

static int reduces(int kind)
{
	return kind == BUSBAR_ALL_REDUCE || kind == BUSBAR_REDUCE_SCATTER || kind == BUSBAR_REDUCE;
}

static int shared(int kind)
{
	return kind == BUSBAR_ALL_GATHER || kind == BUSBAR_REDUCE_SCATTER || kind == BUSBAR_ALL_TO_ALL ||
	       kind == BUSBAR_GATHER || kind == BUSBAR_SCATTER;
}

/* The buffers in MPI's terms; in place, all data is in recv. */
static void place(struct busbar_operation *o, const struct busbar_mpi_spec *s, int64_t slot)
{
	const int at_root = o->rank == o->root;
	o->recv = s->recv ? (char *)s->recv + slot * s->recv_stride : NULL;
	if (!s->in_place) {
		o->send = s->send ? (const char *)s->send + slot * s->send_stride : NULL;
		return;
	}
	o->send = o->recv;
	switch (s->kind) {
	case BUSBAR_ALL_REDUCE:
	case BUSBAR_ALL_GATHER:
	case BUSBAR_REDUCE_SCATTER:
	case BUSBAR_ALL_TO_ALL:
		o->send = MPI_IN_PLACE;
		break;
	case BUSBAR_REDUCE:
	case BUSBAR_GATHER:
		if (at_root)
			o->send = MPI_IN_PLACE;
		else
			o->recv = NULL;
		break;
	case BUSBAR_SCATTER:
		if (at_root)
			o->recv = MPI_IN_PLACE;
		break;
	}
}

/* Parts of one length, as few as possible, aligned to pages. */
static int64_t even_part(int64_t total, int64_t most)
{
	const int64_t step = most < 4096 ? 1 : 4096;
	const int64_t parts = (total - 1) / (most / step * step) + 1;
	return ((total - 1) / parts / step + 1) * step;
}

/* Chooses how to pass the count, and the step that does so. */
static int choose(struct busbar_operation *o, const struct busbar_mpi_spec *s, struct busbar_mpi_prepared *out)
{
	const int64_t total = shared(s->kind) ? s->count * o->ranks : s->count;
	const struct large *large = s->no_large ? NULL : large_functions();
	const int is_large = total > s->int_max;
	int rc = MPI_SUCCESS;
	out->parts = 1;
	out->part_count = s->count;
	if (reduces(s->kind)) {
		const int op = s->op == BUSBAR_AVG ? BUSBAR_SUM : s->op;
		o->op = reduction(op);
		if ((out->own_op = s->type == BUSBAR_FLOAT16 || s->type == BUSBAR_BFLOAT16))
			rc = half_op(s->type, op, is_large ? large : NULL, &o->op);
	}
	o->n = (int)s->count;
	if (!is_large) {
		out->issue = plain_step(s->kind, s->in_place);
	} else if (large) {
		out->large = 1;
		out->issue = large_step(s->kind, s->in_place);
	} else if ((out->issue = parts_step(s->kind, s->in_place))) {
		o->part = out->part_count = even_part(total, s->int_max);
		out->parts = (total - 1) / o->part + 1;
	} else {
		out->derived = 1;
		out->issue = plain_step(s->kind, s->in_place);
		o->n = 1;
		rc = rc ? rc : derived_type(o->type, o->bytes, s->count, s->int_max, &o->type);
	}
	return rc;
}

static struct vectors *new_vectors(const struct busbar_mpi_spec *s, size_t n)
{
	struct vectors *v = calloc(1, sizeof *v + 4 * n * sizeof(int));
	if (!v)
		return NULL;
	v->sends = (int *)(v + 1);
	v->from = v->sends + n;
	v->receives = v->from + n;
	v->to = v->receives + n;
	for (size_t r = 0; r < n; r++) {
		v->sends[r] = (int)s->sends[r];
		v->receives[r] = (int)s->receives[r];
		v->from[r] = r ? v->from[r - 1] + v->sends[r - 1] : 0;
		v->to[r] = r ? v->to[r - 1] + v->receives[r - 1] : 0;
	}
	return v;
}

static struct large_vectors *new_large_vectors(const struct busbar_mpi_spec *s, size_t n)
{
	struct large_vectors *v = calloc(1, sizeof *v + n * (2 * sizeof(MPI_Count) + 2 * sizeof(MPI_Aint)));
	if (!v)
		return NULL;
	v->sends = (MPI_Count *)(v + 1);
	v->receives = v->sends + n;
	v->from = (MPI_Aint *)(v->receives + n);
	v->to = v->from + n;
	for (size_t r = 0; r < n; r++) {
		v->sends[r] = s->sends[r];
		v->receives[r] = s->receives[r];
		v->from[r] = r ? v->from[r - 1] + (MPI_Aint)v->sends[r - 1] : 0;
		v->to[r] = r ? v->to[r - 1] + (MPI_Aint)v->receives[r - 1] : 0;
	}
	return v;
}

/* Allocations of prepare: the wrappers, then an operation for each slot. */
enum { wrappers = 2 };

int prepare(struct busbar_comm *c, const struct busbar_mpi_spec *s, struct busbar_mpi_prepared *out)
{
	struct busbar_operation *all = calloc((size_t)s->slots + wrappers, sizeof *all);
	struct busbar_operation *first = all + wrappers;
	int rc = MPI_SUCCESS;
	*out = (struct busbar_mpi_prepared){.operation = all, .context = first, .sync = sync_ranks};
	if (!all)
		return MPI_ERR_NO_MEM;
	first->type = MPI_DATATYPE_NULL;
	first->comm = c->comm;
	first->request = MPI_REQUEST_NULL;
	if ((rc = MPI_Comm_rank(c->comm, &first->rank)) || (rc = MPI_Comm_size(c->comm, &first->ranks)))
		goto failed;
	first->root = s->root;
	first->to = (first->rank + 1) % first->ranks;
	first->from = (first->rank + first->ranks - 1) % first->ranks;
	first->type = element_type(s->type);
	first->bytes = element_bytes(s->type);
	first->count = s->count;
	if ((rc = choose(first, s, out)))
		goto failed;
	if (out->parts > 1 && s->kind == BUSBAR_REDUCE_SCATTER &&
	    !(first->counts = calloc((size_t)first->ranks, sizeof *first->counts))) {
		rc = MPI_ERR_NO_MEM;
		goto failed;
	}
	if (s->kind == BUSBAR_ALL_TO_ALL_V) {
		if (out->large)
			first->large_vectors = new_large_vectors(s, (size_t)first->ranks);
		else
			first->vectors = new_vectors(s, (size_t)first->ranks);
		all->vectors = first->vectors;
		all->large_vectors = first->large_vectors;
		if (!first->vectors && !first->large_vectors) {
			rc = MPI_ERR_NO_MEM;
			goto failed;
		}
	}
	all->type = out->derived ? first->type : MPI_DATATYPE_NULL;
	all->counts = first->counts;
	if (reduces(s->kind) && s->op == BUSBAR_AVG && (s->kind != BUSBAR_REDUCE || first->rank == s->root)) {
		first->divide = divide_step(s->type);
		first->inner = out->issue;
		out->issue = average;
	}
	for (int64_t slot = 0; slot < s->slots; slot++) {
		first[slot] = *first;
		place(&first[slot], s, slot);
	}
	/* Only a single MPI call on one slot can run in the background. */
	if (s->slots == 1 && s->aggregate == 1 && out->parts == 1 && !first->divide)
		out->async = async_steps(first, s->kind, out->large);
	if (s->slots > 1) {
		all[1] = (struct busbar_operation){.comm = c->comm, .inner = out->issue, .wrapped = first,
			.times = (uint64_t)s->slots};
		out->context = &all[1];
		out->issue = rotate;
	}
	if (s->aggregate > 1) {
		all[0].comm = c->comm;
		all[0].inner = out->issue;
		all[0].wrapped = out->context;
		all[0].times = (uint64_t)s->aggregate;
		out->context = &all[0];
		out->issue = aggregate;
	}
	return MPI_SUCCESS;
failed:
	all->type = MPI_DATATYPE_NULL;
	release(all);
	out->operation = NULL;
	return rc;
}

void release(struct busbar_operation *o)
{
	/* A started collective cannot be cancelled: MPI may write to its memory while it runs. */
	if (o[wrappers].request != MPI_REQUEST_NULL)
		return;
	if (o->type != MPI_DATATYPE_NULL)
		MPI_Type_free(&o->type);
	free(o->counts);
	free(o->vectors);
	free(o->large_vectors);
	free(o);
}
