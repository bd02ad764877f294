/* The engine: executes sends and receives with any number of peers at once, so that no order of them can deadlock. */
#include "inside.h"

#include <sched.h>
#include <string.h>

static const int64_t NAP = 10 * 1000000, NAP_WITH_TCP = 200 * 1000; /* ns; the bell wakes earlier */

static void take_peer_down(struct nccl_comm *c, int peer)
{
	int none = OK;
	if (atomic_compare_exchange_strong(&c->async, &none, REMOTE_ERROR))
		fail(REMOTE_ERROR, "rank %d closed its connection to rank %d", peer, c->rank);
}

/* Moves as much as possible of the first transfer of each; returns the bytes. */
static uint64_t move(struct nccl_comm *c, struct link *l, struct transfer *t)
{
	const uint64_t head = sizeof t->announced;
	uint64_t n = 0;
	if (!l->theirs) {
		if (l->fd < 0)
			return 0;
		const int64_t m = socket_move(l->fd, t);
		if (m < 0)
			take_peer_down(c, t->peer);
		n = m > 0 ? (uint64_t)m : 0;
		t->moved += n;
	} else if (t->receive) {
		if (t->moved < head)
			n = inbox_pull(c, t->peer, (char *)&t->announced + t->moved, head - t->moved);
		else if (t->moved < head + t->bytes)
			n = inbox_pull(c, t->peer, t->at + (t->moved - head), head + t->bytes - t->moved);
		t->moved += n;
	} else {
		if (t->moved < head)
			n = inbox_push(c, t->peer, (char *)&t->announced + t->moved, head - t->moved);
		else if (t->moved < head + t->bytes)
			n = inbox_push(c, t->peer, t->at + (t->moved - head), head + t->bytes - t->moved);
		t->moved += n;
	}
	if (t->receive && t->moved == head && n && t->announced != t->bytes) {
		int none = OK;
		if (atomic_compare_exchange_strong(&c->async, &none, INTERNAL_ERROR))
			fail(INTERNAL_ERROR, "rank %d sent %llu bytes where rank %d expected %llu: the ranks' calls differ",
			     t->peer, (unsigned long long)t->announced, c->rank, (unsigned long long)t->bytes);
	}
	return n;
}

static int finished(const struct transfer *t) { return t->moved == sizeof t->announced + t->bytes; }

/* One pass over all links; returns whether anything moved. */
static int turn(struct nccl_comm *c, size_t *left)
{
	int moved = 0;
	for (int i = 0; i < c->ranks; i++) {
		struct link *l = &c->links[i];
		while (l->sends && move(c, l, l->sends)) {
			moved = 1;
			if (finished(l->sends)) {
				l->sends = l->sends->next;
				--*left;
			}
		}
		while (l->receives && !atomic_load_explicit(&c->async, memory_order_relaxed) && move(c, l, l->receives)) {
			moved = 1;
			if (finished(l->receives)) {
				l->receives = l->receives->next;
				--*left;
			}
		}
	}
	return moved;
}

/* A rank copies for itself: its n-th send is its n-th receive. */
static nccl_result to_self(struct nccl_comm *c, struct link *l)
{
	struct transfer *s = l->sends, *r = l->receives;
	for (; s && r; s = s->next, r = r->next) {
		if (s->bytes != r->bytes)
			break;
		if (s->at != r->at)
			memmove(r->at, s->at, s->bytes);
	}
	l->sends = l->receives = NULL;
	if (!s && !r)
		return OK;
	int none = OK;
	atomic_compare_exchange_strong(&c->async, &none, INVALID_USAGE);
	return fail(INVALID_USAGE, "rank %d: sends to itself do not match its receives from itself", c->rank);
}

static void queue(struct nccl_comm *c, struct transfer *t)
{
	struct link *l = &c->links[t->peer];
	struct transfer ***end = t->receive ? &l->receives_end : &l->sends_end;
	struct transfer **first = t->receive ? &l->receives : &l->sends;
	t->next = NULL;
	t->moved = 0;
	t->announced = t->receive ? 0 : t->bytes;
	if (!*first)
		*end = first;
	**end = t;
	*end = &t->next;
}

static void rest(struct nccl_comm *c, uint32_t bell, unsigned idle)
{
	if ((int)idle < c->spins)
		return;
	if (idle < (unsigned)c->spins + 8) {
		sched_yield();
		return;
	}
	if (!c->by_tcp)
		inbox_sleep(c->inbox, bell, NAP);
	else if (c->by_tcp == c->ranks - 1)
		sockets_wait(c, NAP);
	else
		inbox_sleep(c->inbox, bell, NAP_WITH_TCP);
	control_check(c);
}

nccl_result exchange(struct nccl_comm *c, struct transfer *transfers, size_t n)
{
	size_t left = n;
	unsigned idle = 0;
	for (int i = 0; i < c->ranks; i++)
		c->links[i].sends = c->links[i].receives = NULL;
	for (size_t i = 0; i < n; i++) {
		left -= transfers[i].peer == c->rank;
		queue(c, &transfers[i]);
	}
	nccl_result rc = to_self(c, &c->links[c->rank]);
	while (!rc && left) {
		const uint32_t bell = atomic_load(&c->inbox->bell);
		if (turn(c, &left)) {
			idle = 0;
			continue;
		}
		if (atomic_load(&c->aborted))
			return INTERNAL_ERROR;
		rest(c, bell, idle++);
	}
	return rc;
}
