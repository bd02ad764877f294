/* A rank's connection to the hub. */
#include "inside.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int tell(int fd, int message, const void *body, size_t bytes)
{
	const struct header h = {(uint32_t)message, (uint32_t)bytes};
	if (send(fd, &h, sizeof h, MSG_NOSIGNAL | (bytes ? MSG_MORE : 0)) != sizeof h)
		return -1;
	for (size_t sent = 0; sent < bytes;) {
		const ssize_t n = send(fd, (const char *)body + sent, bytes - sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			poll(&(struct pollfd){fd, POLLOUT, 0}, 1, 20);
		else if (n <= 0)
			return -1;
		else
			sent += (size_t)n;
	}
	return 0;
}

/* Reads exactly n bytes; -1 if the hub has exited, the communicator is being aborted, or the timeout (0: none)
 * expires. */
static int hear(struct nccl_comm *c, void *to, size_t bytes, int64_t until)
{
	for (size_t have = 0; have < bytes;) {
		const ssize_t n = recv(c->control.fd, (char *)to + have, bytes - have, MSG_DONTWAIT);
		if (n > 0) {
			have += (size_t)n;
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return -1;
		if (until ? now() > until : atomic_load(&c->aborted))
			return -1;
		poll(&(struct pollfd){c->control.fd, POLLIN, 0}, 1, 20);
	}
	return 0;
}

/* Skips the body of an unneeded message. */
static int note(struct nccl_comm *c, const struct header *h)
{
	char text[1024] = "";
	int32_t rank;
	if (h->bytes >= sizeof text || hear(c, text, h->bytes, 0))
		return -1;
	switch (h->message) {
	case GONE:
		memcpy(&rank, text, sizeof rank);
		c->control.gone = rank;
		return fail(REMOTE_ERROR, "rank %d ended, or its connection broke", rank);
	case REFUSED: return fail(INVALID_USAGE, "%s", text);
	case LEAVING: c->control.unwatched = 1;
	}
	return OK;
}

nccl_result control_open(struct nccl_comm *c, const struct id *id)
{
	const struct hello hello = {id->token, c->rank, c->ranks, getpid()};
	struct header h;
	pthread_mutex_lock(&c->control.lock);
	c->control.fd = reach(&id->hub, &c->aborted);
	nccl_result rc = c->control.fd < 0 ? fail(SYSTEM_ERROR, "rank %d cannot reach the process that made the unique id",
		c->rank) : OK;
	if (!rc && (tell(c->control.fd, HELLO, &hello, sizeof hello) || hear(c, &h, sizeof h, 0)))
		rc = fail(REMOTE_ERROR, "the process that made the unique id closed the connection of rank %d", c->rank);
	if (!rc && h.message != WELCOME && !(rc = note(c, &h)))
		rc = fail(INTERNAL_ERROR, "the process that made the unique id did not welcome rank %d", c->rank);
	pthread_mutex_unlock(&c->control.lock);
	return rc < 0 ? REMOTE_ERROR : rc;
}

nccl_result control_round(struct nccl_comm *c, const void *mine, size_t bytes, void *all)
{
	struct header h = {0, 0};
	pthread_mutex_lock(&c->control.lock);
	int rc = tell(c->control.fd, ROUND, mine, bytes);
	while (!rc && h.message != ROUND) {
		rc = hear(c, &h, sizeof h, 0);
		if (!rc && h.message != ROUND)
			rc = note(c, &h);
	}
	if (!rc)
		rc = h.bytes == bytes * (size_t)c->ranks ? hear(c, all, h.bytes, 0) : -1;
	pthread_mutex_unlock(&c->control.lock);
	if (rc < 0)
		rc = fail(REMOTE_ERROR, "rank %d lost the process that made the unique id", c->rank);
	return rc;
}

void control_check(struct nccl_comm *c)
{
	struct header h;
	int none = OK;
	if (pthread_mutex_trylock(&c->control.lock))
		return;
	const ssize_t n = c->control.fd < 0 ? -1 : recv(c->control.fd, &h, sizeof h, MSG_PEEK | MSG_DONTWAIT);
	int rc = OK;
	if (n == (ssize_t)sizeof h)
		rc = hear(c, &h, sizeof h, 0) ? REMOTE_ERROR : note(c, &h);
	else if (n == 0 && !c->control.unwatched)
		rc = fail(REMOTE_ERROR, "the process that made the unique id (rank 0's, as a rule) ended");
	pthread_mutex_unlock(&c->control.lock);
	if (rc)
		atomic_compare_exchange_strong(&c->async, &none, REMOTE_ERROR);
}

/* Announces the exit and waits up to patience (ns) for the reply; with 0, the others learn of a crash. */
void control_close(struct nccl_comm *c, int64_t patience)
{
	const int64_t until = now() + patience;
	struct header h;
	char body[1024];
	pthread_mutex_lock(&c->control.lock);
	if (c->control.fd >= 0 && patience && !tell(c->control.fd, BYE, NULL, 0))
		while (!hear(c, &h, sizeof h, until) && h.message != BYE && h.bytes <= sizeof body &&
		       !hear(c, body, h.bytes, until))
			;
	if (c->control.fd >= 0)
		close(c->control.fd);
	c->control.fd = -1;
	pthread_mutex_unlock(&c->control.lock);
}
