/* A measured operation: its arguments are bound once; without a group and with one slot, issuing it is a single direct
 * call. */
#include "operation.h"

#include <stdlib.h>
#include <string.h>

#define STEP(name) static int name(void *context, uint64_t i)

static int settled(operation *o, int rc)
{
	return rc == NCCL_IN_PROGRESS ? busbar_nccl_settle(o->c, rc) : rc;
}

static int cuda(int rc) { return rc ? BUSBAR_CUDA_CODE + rc : 0; }

STEP(issue_straight)
{
	operation *o = context;
	(void)i;
	return settled(o, o->call(o, o->send, o->recv));
}

static int at_slot(operation *o, uint64_t i)
{
	const int64_t slot = (int64_t)(i % o->slots);
	/* Compared as numbers: a rank may have no buffer. */
	const uintptr_t send = (uintptr_t)o->send + (uintptr_t)(slot * o->send_stride);
	const uintptr_t recv = (uintptr_t)o->recv + (uintptr_t)(slot * o->recv_stride);
	return o->call(o, (const char *)send, (char *)recv);
}

STEP(issue_slot)
{
	operation *o = context;
	return settled(o, at_slot(o, i));
}

STEP(issue_group)
{
	operation *o = context;
	int rc = o->t->group_start();
	if (failed(rc))
		return rc;
	for (uint64_t k = 0; k < o->aggregate && !failed(rc); k++)
		rc = at_slot(o, i * o->aggregate + k);
	return settled(o, end_group(o, rc));
}

/* Always ends a capture that has begun; otherwise the stream stays unusable. */
static int capture(struct busbar_nccl_operation *o)
{
	enum { THREAD_LOCAL = 1 }; /* other threads, such as NCCL's, may allocate memory during the capture */
	cuda_graph graph = NULL;
	int rc = cuda(o->cuda->capture_begin(o->stream, THREAD_LOCAL));
	if (rc)
		return rc;
	for (uint64_t k = 0; k < o->graph && !rc; k++)
		rc = o->captured(o, k);
	const int end = cuda(o->cuda->capture_end(o->stream, &graph));
	rc = rc ? rc : end;
	rc = rc ? rc : cuda(o->cuda->graph_instantiate(&o->exec, graph, 0));
	if (graph)
		o->cuda->graph_destroy(graph);
	return rc;
}

STEP(issue_graph)
{
	struct busbar_nccl_operation *o = context;
	(void)i;
	const int rc = o->exec ? 0 : capture(o);
	return rc ? rc : cuda(o->cuda->graph_launch(o->exec, o->stream));
}

/* No thread is inside NCCL during the wait, so the communicator can be aborted. */
static int wait_for(const struct busbar_cuda *driver, cuda_stream stream, const struct busbar_nccl_comm *c, void (*look)(void *),
		    void *looker)
{
	enum { LOOK = 1000000 }; /* nanoseconds between calls of look */
	const int64_t start = busbar_nccl_now();
	int64_t looked = start;
	for (;;) {
		const int state = driver->stream_query(stream);
		if (state != CUDA_NOT_READY)
			return cuda(state);
		if (busbar_nccl_interrupted(c))
			return BUSBAR_INTERRUPTED;
		const int64_t now = busbar_nccl_now();
		if (now - looked >= LOOK) {
			const int rc = busbar_nccl_async_error(c);
			if (failed(rc))
				return rc;
			looked = now;
			if (look)
				look(looker);
		}
		busbar_nccl_rest(now - start);
	}
}

STEP(wait_for_stream)
{
	operation *o = context;
	(void)i;
	return wait_for(o->cuda, o->stream, o->c, NULL, NULL);
}

int busbar_nccl_wait(void *waiter, void (*look)(void *), void *looker)
{
	const struct busbar_nccl_waiter *w = waiter;
	return wait_for(w->cuda, w->stream, w->c, look, looker);
}

STEP(sync_ranks)
{
	operation *o = context;
	return o->sync(o->sync_context, i);
}

int busbar_nccl_has_graphs(const struct busbar_cuda *c)
{
	return c->capture_begin && c->capture_end && c->graph_instantiate && c->graph_launch && c->graph_destroy &&
	       c->graph_exec_destroy;
}

/* 2, the factor of PreMulSum, in the data type. */
static void two(int type, void *out)
{
	switch (type) {
	case NCCL_INT32:
	case NCCL_UINT32: *(int32_t *)out = 2; break;
	case NCCL_INT64:
	case NCCL_UINT64: *(int64_t *)out = 2; break;
	case NCCL_FLOAT32: *(float *)out = 2; break;
	case NCCL_FLOAT64: *(double *)out = 2; break;
	case NCCL_FLOAT16:
	case NCCL_BFLOAT16: *(uint16_t *)out = 0x4000; break;
	case NCCL_FLOAT8E4M3:
	case NCCL_FLOAT8E5M2: *(uint8_t *)out = 0x40; break;
	default: *(int8_t *)out = 2;
	}
}

static void split(struct busbar_nccl_part *parts, const int64_t *counts, const struct busbar_nccl_spec *s)
{
	size_t at = 0;
	for (int r = 0; r < s->ranks; r++) {
		parts[r] = (struct busbar_nccl_part){.count = (size_t)counts[r], .at = at};
		at += (size_t)(counts[r] * s->bytes);
	}
}

int busbar_nccl_prepare(struct busbar_nccl_comm *c, const struct busbar_nccl_spec *s, struct busbar_nccl_prepared *out)
{
	const size_t parts = s->sends ? 2 * (size_t)s->ranks : 0;
	struct busbar_nccl_operation *o = calloc(1, sizeof *o + parts * sizeof o->parts[0]);
	*out = (struct busbar_nccl_prepared){0};
	if (!o)
		return NCCL_SYSTEM_ERROR;
	*o = (struct busbar_nccl_operation){
		.t = c->t, .cuda = s->cuda, .c = c, .comm = c->comm, .stream = s->stream,
		.send = (const char *)(uintptr_t)s->send, .recv = (char *)(uintptr_t)s->recv,
		.count = (size_t)s->count, .share = (size_t)(s->count * s->bytes),
		.type = s->type, .op = s->op, .root = s->root, .rank = s->rank, .ranks = s->ranks,
		.slots = (uint64_t)s->slots, .aggregate = (uint64_t)s->aggregate, .graph = (uint64_t)s->graph,
		.send_stride = s->send_stride, .recv_stride = s->recv_stride,
		.sync = s->sync, .sync_context = s->sync_context,
	};
	if (s->sends) {
		split(o->parts, s->sends, s);
		split(o->parts + s->ranks, s->receives, s);
	}
	busbar_nccl_take_way(o, s->kind, out);
	if (!out->function) {
		free(o);
		return NCCL_SUCCESS;
	}
	if (s->op == BUSBAR_PRE_MUL_SUM) {
		int64_t scalar = 0;
		two(s->type, &scalar);
		const int rc = c->t->op_create(&o->op, &scalar, s->type, NCCL_SCALAR_ON_HOST, c->comm);
		if (rc) {
			free(o);
			return rc;
		}
		o->own_op = 1;
	}
	out->issue = o->aggregate > 1 ? issue_group : o->slots > 1 ? issue_slot : issue_straight;
	if (o->graph) {
		o->captured = out->issue;
		out->issue = issue_graph;
	}
	out->operation = o;
	out->wait = wait_for_stream;
	out->sync = s->sync ? sync_ranks : NULL;
	return NCCL_SUCCESS;
}

/* The communicator may be destroyed first; it then has destroyed its reductions. */
int busbar_nccl_release(struct busbar_nccl_operation *o)
{
	int rc = NCCL_SUCCESS;
	if (o->exec)
		rc = cuda(o->cuda->graph_exec_destroy(o->exec));
	if (o->own_op && o->c->comm && o->t->op_destroy) {
		const int other = o->t->op_destroy(o->op, o->comm);
		rc = rc ? rc : other;
	}
	free(o);
	return rc;
}
