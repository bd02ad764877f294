/* The hub behind a unique id: a thread of the process that created the id, with a connection to every rank. It gathers
 * what ranks exchange (rounds), and notifies all when one exits unexpectedly. */
#include "inside.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct member {
	int fd, rank, pid, left;
	struct header header;
	char *body;       /* of the incoming message */
	size_t have;      /* bytes received, including its header */
	char *share;      /* of the round */
	uint32_t share_bytes;
};

struct hub {
	int listener, ranks, joined, gone; /* gone: a rank that exited, -1: none */
	uint64_t token;
	struct member *members; /* ranks of them, and connections of unknown rank */
	int count;
};

static void tell(struct member *m, int message, const void *body, size_t bytes)
{
	const struct header h = {(uint32_t)message, (uint32_t)bytes};
	if (m->fd >= 0 && send(m->fd, &h, sizeof h, MSG_NOSIGNAL | (bytes ? MSG_MORE : 0)) == sizeof h && bytes)
		for (size_t sent = 0; sent < bytes;) {
			const ssize_t n = send(m->fd, (const char *)body + sent, bytes - sent, MSG_NOSIGNAL);
			if (n <= 0)
				break;
			sent += (size_t)n;
		}
}

static void drop(struct member *m)
{
	close(m->fd);
	free(m->body);
	free(m->share);
	m->fd = -1;
	m->body = m->share = NULL;
}

static void lost(struct hub *h, struct member *m)
{
	const int32_t rank = m->rank;
	drop(m);
	if (rank < 0 || m->left)
		return;
	h->gone = rank;
	for (int i = 0; i < h->count; i++)
		if (h->members[i].rank >= 0)
			tell(&h->members[i], GONE, &rank, sizeof rank);
}

static void refuse(struct member *m, const char *text)
{
	tell(m, REFUSED, text, strlen(text) + 1);
	m->rank = -1;
	drop(m);
}

static void join(struct hub *h, struct member *m, const struct hello *hello)
{
	char text[200];
	if (h->ranks && hello->ranks != h->ranks) {
		snprintf(text, sizeof text, "rank %d has a world size of %d, other ranks have %d", hello->rank,
			 hello->ranks, h->ranks);
		refuse(m, text);
		return;
	}
	for (int i = 0; i < h->count; i++)
		if (h->members[i].rank == hello->rank) {
			snprintf(text, sizeof text, "two processes have rank %d", hello->rank);
			refuse(m, text);
			return;
		}
	h->ranks = hello->ranks;
	if (++h->joined == h->ranks)
		fail(OK, "%s", ""); /* stop waiting for any rank */
	m->rank = hello->rank;
	m->pid = hello->pid;
	tell(m, WELCOME, NULL, 0);
	if (h->gone >= 0)
		tell(m, GONE, &h->gone, sizeof h->gone);
}

/* Sends all shares of a round, in rank order, when the last has arrived. */
static void share(struct hub *h, struct member *m)
{
	free(m->share);
	m->share = m->body;
	m->share_bytes = m->header.bytes;
	m->body = NULL;
	if (h->gone >= 0)
		tell(m, GONE, &h->gone, sizeof h->gone);
	if (h->joined < h->ranks)
		return;
	for (int i = 0; i < h->count; i++)
		if (h->members[i].left)
			tell(m, GONE, &h->members[i].rank, sizeof h->members[i].rank);
	for (int i = 0; i < h->count; i++)
		if (h->members[i].rank >= 0 && (!h->members[i].share || h->members[i].share_bytes != m->share_bytes))
			return;
	char *all = malloc((size_t)h->ranks * m->share_bytes);
	const size_t bytes = m->share_bytes;
	for (int i = 0; i < h->count && all; i++)
		if (h->members[i].rank >= 0)
			memcpy(all + (size_t)h->members[i].rank * bytes, h->members[i].share, bytes);
	for (int i = 0; i < h->count; i++)
		if (h->members[i].rank >= 0) {
			free(h->members[i].share);
			h->members[i].share = NULL;
			tell(&h->members[i], ROUND, all, all ? (size_t)h->ranks * bytes : 0);
		}
	free(all);
}

static void leave(struct hub *h, struct member *m)
{
	m->left = 1;
	/* The round that others wait in can no longer complete. */
	for (int i = 0; i < h->count; i++)
		if (h->members[i].share)
			tell(&h->members[i], GONE, &m->rank, sizeof m->rank);
	/* The hub ends with this process. */
	if (m->pid == getpid())
		for (int i = 0; i < h->count; i++)
			if (h->members[i].rank >= 0 && &h->members[i] != m)
				tell(&h->members[i], LEAVING, NULL, 0);
	tell(m, BYE, NULL, 0);
}

static void handle(struct hub *h, struct member *m)
{
	struct hello hello;
	switch (m->header.message) {
	case HELLO:
		if (m->header.bytes != sizeof hello || m->rank >= 0)
			break;
		memcpy(&hello, m->body, sizeof hello);
		if (hello.token == h->token && hello.rank >= 0 && hello.rank < hello.ranks)
			join(h, m, &hello);
		else
			refuse(m, "this is not the world of that unique id");
		break;
	case ROUND:
		if (m->rank >= 0)
			share(h, m);
		break;
	case BYE:
		leave(h, m);
	}
	free(m->body);
	m->body = NULL;
	m->have = 0;
}

static void receive(struct hub *h, struct member *m)
{
	enum { MOST = 1 << 20 };
	const size_t head = sizeof m->header;
	char *to = m->have < head ? (char *)&m->header + m->have : m->body + (m->have - head);
	const size_t want = m->have < head ? head - m->have : head + m->header.bytes - m->have;
	const ssize_t n = recv(m->fd, to, want, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		lost(h, m);
		return;
	}
	m->have += (size_t)n;
	if (m->have == head && (m->header.bytes > MOST || !(m->body = malloc(m->header.bytes + 1))))
		lost(h, m);
	else if (m->have >= head && m->have == head + m->header.bytes)
		handle(h, m);
}

static void admit(struct hub *h)
{
	const int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);
	struct member *more = fd < 0 ? NULL : realloc(h->members, (size_t)(h->count + 1) * sizeof *more);
	/* A rank that does not read must not delay the others for long. */
	const struct timeval patience = {5, 0};
	if (!more) {
		if (fd >= 0)
			close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	h->members = more;
	more[h->count++] = (struct member){.fd = fd, .rank = -1};
}

/* Lists the missing ranks in the text of ncclGetLastError. */
static void name_missing(const struct hub *h)
{
	char text[200];
	int at = 0;
	for (int r = 0; r < h->ranks && at < (int)sizeof text - 16; r++) {
		int here = 0;
		for (int i = 0; i < h->count; i++)
			here |= h->members[i].rank == r;
		if (!here)
			at += snprintf(text + at, sizeof text - (size_t)at, " %d", r);
	}
	fail(OK, "init: waiting for rank%s of a world of %d", text, h->ranks);
}

static void *serve(void *context)
{
	struct hub *h = context;
	struct pollfd *polled = NULL, *more;
	for (;;) {
		const int n = h->count;
		int open = 0;
		if (!(more = realloc(polled, (size_t)(n + 1) * sizeof *polled)))
			break;
		polled = more;
		for (int i = 0; i < n; i++) {
			polled[i] = (struct pollfd){h->members[i].fd, POLLIN, 0};
			open += h->members[i].fd >= 0;
		}
		polled[n] = (struct pollfd){h->listener, POLLIN, 0};
		if (h->ranks && h->joined == h->ranks && !open)
			break;
		const int came = poll(polled, (nfds_t)n + 1, h->joined < h->ranks ? 1000 : -1);
		if (came == 0)
			name_missing(h);
		if (came <= 0)
			continue;
		for (int i = 0; i < n; i++)
			if (polled[i].revents && h->members[i].fd >= 0)
				receive(h, &h->members[i]);
		if (polled[n].revents)
			admit(h);
	}
	free(polled);
	close(h->listener);
	free(h->members);
	free(h);
	return NULL;
}

nccl_result open_hub(struct id *id)
{
	struct hub *h = calloc(1, sizeof *h);
	memcpy(id->magic, "REHEARSE", sizeof id->magic);
	if (!h || getrandom(&id->token, sizeof id->token, 0) != sizeof id->token ||
	    (h->listener = listen_here(&id->hub)) < 0) {
		free(h);
		return fail(SYSTEM_ERROR, "GetUniqueId : no socket to listen at: %s", strerror(errno));
	}
	h->token = id->token;
	h->gone = -1;
	if (start_thread(serve, h, NULL)) {
		close(h->listener);
		free(h);
		return fail(SYSTEM_ERROR, "GetUniqueId : no thread");
	}
	return OK;
}
