/* Every operation is made of exchanges with all peers and a reduction, with NCCL's rules for in-place buffers: one
 * buffer for all_reduce, broadcast and reduce; the rank's own place in the receive buffer for all_gather and gather;
 * its own place in the send buffer for reduce_scatter and scatter. */
#include "inside.h"

#include <string.h>

static void copy(void *to, const void *from, size_t bytes)
{
	if (to != from && bytes)
		memmove(to, from, bytes);
}

static void send_to(struct nccl_comm *c, size_t *n, int peer, const void *at, size_t bytes)
{
	c->transfers[(*n)++] = (struct transfer){.peer = peer, .at = (char *)at, .bytes = bytes};
}

static void receive_from(struct nccl_comm *c, size_t *n, int peer, void *at, size_t bytes)
{
	c->transfers[(*n)++] = (struct transfer){.peer = peer, .receive = 1, .at = at, .bytes = bytes};
}

/* Rank r gets the reduction of all ranks' parts[r], of counts[r] elements; they must fit into the scratch. */
static nccl_result combine(struct nccl_comm *c, const struct operation *o, char *out)
{
	const size_t bytes = type_bytes(o->type), mine = c->counts[c->rank];
	const size_t stride = (mine * bytes + 63) / 64 * 64;
	size_t n = 0;
	for (int r = 0; r < c->ranks; r++) {
		c->sources[r] = r == c->rank ? c->parts[r] : c->scratch + (size_t)r * stride;
		if (r != c->rank && c->counts[r])
			send_to(c, &n, r, c->parts[r], c->counts[r] * bytes);
		if (r != c->rank && mine)
			receive_from(c, &n, r, (char *)c->sources[r], mine * bytes);
	}
	const nccl_result rc = exchange(c, c->transfers, n);
	if (!rc && mine)
		reduce(o, out, c->sources, c->ranks, mine);
	return rc;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Number of elements of which one from every rank fits into the scratch. */
static size_t piece(const struct nccl_comm *c, const struct operation *o)
{
	const size_t most = SCRATCH / ((size_t)c->ranks * type_bytes(o->type));
	return most ? most : 1;
}

static nccl_result reduce_scatter(struct nccl_comm *c, const struct operation *o)
{
	const size_t bytes = type_bytes(o->type), step = piece(c, o);
	nccl_result rc = OK;
	for (size_t at = 0; at < o->count && !rc; at += step) {
		for (int r = 0; r < c->ranks; r++) {
			c->parts[r] = (const char *)o->send + ((size_t)r * o->count + at) * bytes;
			c->counts[r] = least(step, o->count - at);
		}
		rc = combine(c, o, (char *)o->recv + at * bytes);
	}
	return rc;
}

static nccl_result reduce_to_root(struct nccl_comm *c, const struct operation *o)
{
	const size_t bytes = type_bytes(o->type), step = piece(c, o);
	nccl_result rc = OK;
	for (size_t at = 0; at < o->count && !rc; at += step) {
		for (int r = 0; r < c->ranks; r++) {
			c->parts[r] = (const char *)o->send + at * bytes;
			c->counts[r] = r == o->root ? least(step, o->count - at) : 0;
		}
		rc = combine(c, o, (char *)o->recv + at * bytes);
	}
	return rc;
}

/* Small: every rank reduces everything. Large: in pieces; each rank reduces a share and all gather the shares. */
static nccl_result all_reduce(struct nccl_comm *c, const struct operation *o)
{
	enum { SMALL = 8 << 10 };
	const size_t bytes = type_bytes(o->type), ranks = (size_t)c->ranks;
	const int whole = o->count * bytes <= SMALL && o->count <= piece(c, o);
	const size_t step = whole ? o->count : piece(c, o) * ranks;
	nccl_result rc = OK;
	for (size_t at = 0; at < o->count && !rc; at += step) {
		const size_t elements = least(step, o->count - at), share = (elements + ranks - 1) / ranks;
		char *out = (char *)o->recv + at * bytes;
		size_t n = 0;
		for (size_t r = 0; r < ranks; r++) {
			const size_t from = whole ? 0 : least(r * share, elements);
			c->parts[r] = (const char *)o->send + (at + from) * bytes;
			c->counts[r] = whole ? elements : least(share, elements - from);
		}
		const size_t mine = whole ? 0 : least((size_t)c->rank * share, elements);
		rc = combine(c, o, out + mine * bytes);
		for (int r = 0; r < c->ranks && !whole; r++)
			if (r != c->rank) {
				if (c->counts[c->rank])
					send_to(c, &n, r, out + mine * bytes, c->counts[c->rank] * bytes);
				if (c->counts[r])
					receive_from(c, &n, r, out + (size_t)r * share * bytes, c->counts[r] * bytes);
			}
		if (!rc && n)
			rc = exchange(c, c->transfers, n);
	}
	return rc;
}

/* Operations that only move data: what goes to each rank and what comes from it. */
static nccl_result move(struct nccl_comm *c, const struct operation *o)
{
	const size_t bytes = type_bytes(o->type), share = o->count * bytes;
	const char *send = o->send;
	char *recv = o->recv;
	const int root = c->rank == o->root;
	size_t n = 0;
	for (int r = 0; r < c->ranks; r++) {
		const size_t place = (size_t)r * share;
		const int self = r == c->rank;
		switch (o->kind) {
		case ALL_GATHER:
			if (self) {
				copy(recv + place, send, share);
				break;
			}
			send_to(c, &n, r, send, share);
			receive_from(c, &n, r, recv + place, share);
			break;
		case BROADCAST:
			if (root && self)
				copy(recv, send, share);
			else if (root)
				send_to(c, &n, r, send, share);
			else if (r == o->root)
				receive_from(c, &n, r, recv, share);
			break;
		case ALL_TO_ALL:
			send_to(c, &n, r, send + place, share);
			receive_from(c, &n, r, recv + place, share);
			break;
		case GATHER:
			if (root && self)
				copy(recv + place, send, share);
			else if (root)
				receive_from(c, &n, r, recv + place, share);
			else if (r == o->root)
				send_to(c, &n, r, send, share);
			break;
		case SCATTER:
			if (root && self)
				copy(recv, send + place, share);
			else if (root)
				send_to(c, &n, r, send + place, share);
			else if (r == o->root)
				receive_from(c, &n, r, recv, share);
			break;
		default: { /* ALL_TO_ALL_V */
			const size_t *split = o->split + 4 * r;
			send_to(c, &n, r, send + split[1] * bytes, split[0] * bytes);
			receive_from(c, &n, r, recv + split[3] * bytes, split[2] * bytes);
		}
		}
	}
	return exchange(c, c->transfers, n);
}

nccl_result run_collective(struct nccl_comm *c, const struct operation *o)
{
	switch (o->kind) {
	case ALL_REDUCE: return all_reduce(c, o);
	case REDUCE: return reduce_to_root(c, o);
	case REDUCE_SCATTER: return reduce_scatter(c, o);
	default: return move(c, o);
	}
}

size_t output_count(const struct nccl_comm *c, const struct operation *o)
{
	const size_t all = o->count * (size_t)c->ranks;
	switch (o->kind) {
	case ALL_GATHER: case ALL_TO_ALL: return all;
	case GATHER: return c->rank == o->root ? all : 0;
	case REDUCE: return c->rank == o->root ? o->count : 0;
	case SEND: case ALL_TO_ALL_V: return 0;
	default: return o->count;
	}
}
