/* A barrier over stream sockets, as a step of the timed loop. */
#ifndef BUSBAR_SOCKET_H
#define BUSBAR_SOCKET_H

#include <stdint.h>

struct busbar_socket_barrier {
	int parent;   /* socket to the rank that releases this one; -1 on the first rank */
	int pause;    /* milliseconds before an error is returned: others report better why a rank exited */
	int count;    /* of children: ranks that this one collects and releases */
	int children[];
};

/* busbar_socket_barrier_step is a busbar_step. It returns 0, or an error number of the system. */
int busbar_socket_barrier_step(void *barrier, uint64_t i);

#endif
