/* The calls for each kind of operation: a function of the library, or sends and receives in a group. */
#include "operation.h"

#define CALL(name) static int name(operation *o, const char *send, char *recv)

CALL(all_reduce) { return o->t->all_reduce(send, recv, o->count, o->type, o->op, o->comm, o->stream); }
CALL(all_gather) { return o->t->all_gather(send, recv, o->count, o->type, o->comm, o->stream); }
CALL(reduce_scatter) { return o->t->reduce_scatter(send, recv, o->count, o->type, o->op, o->comm, o->stream); }
CALL(broadcast) { return o->t->broadcast(send, recv, o->count, o->type, o->root, o->comm, o->stream); }
CALL(reduce) { return o->t->reduce(send, recv, o->count, o->type, o->op, o->root, o->comm, o->stream); }
CALL(all_to_all) { return o->t->all_to_all(send, recv, o->count, o->type, o->comm, o->stream); }
CALL(all_to_all_other) { return o->t->all_to_all_other(send, recv, o->count, o->type, o->comm, o->stream); }
CALL(gather) { return o->t->gather(send, recv, o->count, o->type, o->root, o->comm, o->stream); }
CALL(scatter) { return o->t->scatter(send, recv, o->count, o->type, o->root, o->comm, o->stream); }

static int send_to(operation *o, const char *send, int peer)
{
	return o->t->send(send, o->count, o->type, peer, o->comm, o->stream);
}

static int receive_from(operation *o, char *recv, int peer)
{
	return o->t->recv(recv, o->count, o->type, peer, o->comm, o->stream);
}

CALL(all_to_all_grouped)
{
	int rc = o->t->group_start();
	if (failed(rc))
		return rc;
	for (int peer = 0; peer < o->ranks && !failed(rc); peer++) {
		rc = send_to(o, send + (size_t)peer * o->share, peer);
		if (!failed(rc))
			rc = receive_from(o, recv + (size_t)peer * o->share, peer);
	}
	return end_group(o, rc);
}

/* Parts without elements are left out. */
CALL(all_to_all_v_grouped)
{
	int rc = o->t->group_start();
	if (failed(rc))
		return rc;
	for (int peer = 0; peer < o->ranks && !failed(rc); peer++) {
		const struct busbar_nccl_part to = o->parts[peer], from = o->parts[o->ranks + peer];
		if (to.count)
			rc = o->t->send(send + to.at, to.count, o->type, peer, o->comm, o->stream);
		if (from.count && !failed(rc))
			rc = o->t->recv(recv + from.at, from.count, o->type, peer, o->comm, o->stream);
	}
	return end_group(o, rc);
}

CALL(gather_grouped)
{
	int rc = o->t->group_start();
	if (failed(rc))
		return rc;
	rc = send_to(o, send, o->root);
	for (int peer = 0; o->rank == o->root && peer < o->ranks && !failed(rc); peer++)
		rc = receive_from(o, recv + (size_t)peer * o->share, peer);
	return end_group(o, rc);
}

CALL(scatter_grouped)
{
	int rc = o->t->group_start();
	if (failed(rc))
		return rc;
	for (int peer = 0; o->rank == o->root && peer < o->ranks && !failed(rc); peer++)
		rc = send_to(o, send + (size_t)peer * o->share, peer);
	if (!failed(rc))
		rc = receive_from(o, recv, o->root);
	return end_group(o, rc);
}

CALL(send_recv)
{
	int rc = o->t->group_start();
	if (failed(rc))
		return rc;
	rc = send_to(o, send, (o->rank + 1) % o->ranks);
	if (!failed(rc))
		rc = receive_from(o, recv, (o->rank + o->ranks - 1) % o->ranks);
	return end_group(o, rc);
}

struct way { int there; const char *function; int (*call)(operation *, const char *, char *); int kind; };

/* The implementation of a kind: native, or by sends and receives in a group. */
void busbar_nccl_take_way(struct busbar_nccl_operation *o, int kind, struct busbar_nccl_prepared *out)
{
	const struct busbar_nccl *t = o->t;
	const struct way ways[] = {
		{t->all_reduce != NULL, "ncclAllReduce", all_reduce, BUSBAR_ALL_REDUCE},
		{t->all_gather != NULL, "ncclAllGather", all_gather, BUSBAR_ALL_GATHER},
		{t->reduce_scatter != NULL, "ncclReduceScatter", reduce_scatter, BUSBAR_REDUCE_SCATTER},
		{t->broadcast != NULL, "ncclBroadcast", broadcast, BUSBAR_BROADCAST},
		{t->reduce != NULL, "ncclReduce", reduce, BUSBAR_REDUCE},
		{t->all_to_all != NULL, "ncclAlltoAll", all_to_all, BUSBAR_ALL_TO_ALL},
		{t->all_to_all_other != NULL, "ncclAllToAll", all_to_all_other, BUSBAR_ALL_TO_ALL},
		{t->gather != NULL, "ncclGather", gather, BUSBAR_GATHER},
		{t->scatter != NULL, "ncclScatter", scatter, BUSBAR_SCATTER},
		{t->send && t->recv, NULL, all_to_all_grouped, BUSBAR_ALL_TO_ALL},
		{t->send && t->recv, NULL, all_to_all_v_grouped, BUSBAR_ALL_TO_ALL_V},
		{t->send && t->recv, NULL, gather_grouped, BUSBAR_GATHER},
		{t->send && t->recv, NULL, scatter_grouped, BUSBAR_SCATTER},
		{t->send && t->recv, NULL, send_recv, BUSBAR_SEND_RECV},
	};
	for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
		if (ways[k].kind != kind || !ways[k].there)
			continue;
		o->call = ways[k].call;
		out->grouped = !ways[k].function;
		out->function = ways[k].function ? ways[k].function : "ncclSend and ncclRecv";
		return;
	}
}
