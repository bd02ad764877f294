/* TCP between ranks without shared memory: each connects to those of lower rank. */
#include "inside.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct greeting {
	uint64_t token;
	int32_t rank;
};

static const int64_t PATIENCE = 60 * 1000000000ll;

static nccl_result call(struct nccl_comm *c, int peer, const struct place *p)
{
	const struct greeting g = {.token = c->token, .rank = c->rank};
	const int one = 1, fd = reach(p, &c->aborted);
	c->links[peer].fd = fd;
	if (fd < 0 || send(fd, &g, sizeof g, MSG_NOSIGNAL) != sizeof g)
		return fail(SYSTEM_ERROR, "rank %d cannot reach rank %d by TCP", c->rank, peer);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return OK;
}

/* Accepts one connection; IN_PROGRESS if there is none. */
static nccl_result answer(struct nccl_comm *c, int listener)
{
	const int one = 1;
	struct greeting g;
	const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	const struct timeval patience = {5, 0};
	if (fd < 0)
		return IN_PROGRESS;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (recv(fd, &g, sizeof g, MSG_WAITALL) != sizeof g || g.token != c->token || g.rank <= c->rank ||
	    g.rank >= c->ranks || c->links[g.rank].fd >= 0) {
		close(fd); /* not a rank */
		return IN_PROGRESS;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	c->links[g.rank].fd = fd;
	return OK;
}

/* places: one per rank, stride bytes apart. */
nccl_result sockets_open(struct nccl_comm *c, int listener, const struct place *places, size_t stride)
{
	const int64_t until = now() + PATIENCE;
	nccl_result rc = OK;
	int expected = 0;
	for (int i = 0; i < c->ranks; i++) {
		if (i == c->rank || c->links[i].theirs)
			continue;
		c->by_tcp++;
		expected += i > c->rank;
		if (i < c->rank && !rc)
			rc = call(c, i, (const struct place *)((const char *)places + (size_t)i * stride));
	}
	while (!rc && expected) {
		poll(&(struct pollfd){listener, POLLIN, 0}, 1, 20);
		if (!answer(c, listener))
			expected--;
		else if (atomic_load(&c->aborted) || now() > until)
			rc = fail(SYSTEM_ERROR, "rank %d: %d ranks did not connect by TCP", c->rank, expected);
	}
	return rc;
}

int64_t socket_move(int fd, struct transfer *t)
{
	const uint64_t head = sizeof t->announced;
	char *at = t->moved < head ? (char *)&t->announced + t->moved : t->at + (t->moved - head);
	const uint64_t left = t->moved < head ? head - t->moved : head + t->bytes - t->moved;
	const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (!t->receive && t->moved < head && t->bytes ? MSG_MORE : 0);
	const ssize_t n = t->receive ? recv(fd, at, left, flags) : send(fd, at, left, flags);
	if (n > 0)
		return n;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* Waits until a connection is ready for its transfers. */
void sockets_wait(struct nccl_comm *c, int64_t ns)
{
	struct pollfd *all = calloc((size_t)c->ranks, sizeof *all);
	nfds_t n = 0;
	for (int i = 0; i < c->ranks && all; i++) {
		const struct link *l = &c->links[i];
		const short events = (short)((l->sends ? POLLOUT : 0) | (l->receives ? POLLIN : 0));
		if (l->fd >= 0 && events)
			all[n++] = (struct pollfd){l->fd, events, 0};
	}
	ppoll(all, n, &(struct timespec){0, ns}, NULL);
	free(all);
}
