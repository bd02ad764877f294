#include "socket.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

static int send_byte(int socket)
{
	const char byte = 'b';
	for (;;) {
		const ssize_t n = send(socket, &byte, 1, MSG_NOSIGNAL);
		if (n == 1)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return errno;
	}
}

/* The thread polls, so that it is released at once, and yields, since another rank may need the core. */
static int receive_byte(int socket)
{
	char byte;
	for (;;) {
		const ssize_t n = recv(socket, &byte, 1, MSG_DONTWAIT);
		if (n == 1)
			return 0;
		if (n == 0)
			return ECONNRESET;
		if (errno != EINTR && errno != EAGAIN)
			return errno;
		sched_yield();
	}
}

int busbar_socket_barrier_step(void *barrier, uint64_t i)
{
	(void)i;
	const struct busbar_socket_barrier *b = barrier;
	int rc = 0;
	for (int c = 0; c < b->count && !rc; c++)
		rc = receive_byte(b->children[c]);
	if (b->parent >= 0 && !rc)
		rc = send_byte(b->parent);
	if (b->parent >= 0 && !rc)
		rc = receive_byte(b->parent);
	for (int c = 0; c < b->count && !rc; c++)
		rc = send_byte(b->children[c]);
	if (rc && b->pause > 0)
		(void)poll(NULL, 0, b->pause);
	return rc;
}
