/* Blocking and non-blocking communicators. */
#include "nccl.h"

#include <sched.h>
#include <time.h>

enum { YIELD = 1000000000, NAP = 100000 }; /* nanoseconds */

int64_t busbar_nccl_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Pause between two polls. The thread first yields the CPU, as nccl-tests does, because a thread of the library may
 * need this core. After a second it sleeps, for at most a ten-thousandth of the elapsed wait. */
void busbar_nccl_rest(int64_t waited)
{
	if (waited < YIELD)
		sched_yield();
	else
		nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
}

int busbar_nccl_async_error(const struct busbar_nccl_comm *c)
{
	int state = NCCL_SUCCESS;
	if (!c->t->async_error || !c->comm)
		return NCCL_SUCCESS;
	int rc = c->t->async_error(c->comm, &state);
	return rc ? rc : state;
}

int busbar_nccl_settle(const struct busbar_nccl_comm *c, int rc)
{
	const int64_t start = busbar_nccl_now();
	while (rc == NCCL_IN_PROGRESS) {
		if (busbar_nccl_interrupted(c))
			return BUSBAR_INTERRUPTED;
		if (!c->comm || !c->t->async_error)
			return rc;
		if ((rc = busbar_nccl_async_error(c)) == NCCL_IN_PROGRESS)
			busbar_nccl_rest(busbar_nccl_now() - start);
	}
	return rc;
}

int busbar_nccl_init(struct busbar_nccl_comm *c, int ranks, int rank, const void *id, struct nccl_config *config)
{
	const nccl_id *by_value = id;
	return busbar_nccl_settle(c, config ? c->t->init_config(&c->comm, ranks, *by_value, rank, config)
					    : c->t->init(&c->comm, ranks, *by_value, rank));
}

/* Some calls of NCCL 2.28 and later return success while a non-blocking communicator still works. */
static int settle_all(const struct busbar_nccl_comm *c, int rc)
{
	rc = busbar_nccl_settle(c, rc);
	return rc ? rc : busbar_nccl_settle(c, busbar_nccl_async_error(c));
}

int busbar_nccl_close(struct busbar_nccl_comm *c)
{
	const int rc = c->t->destroy(c->comm);
	c->comm = NULL;
	return rc;
}

int busbar_nccl_abort(struct busbar_nccl_comm *c)
{
	int rc = c->t->abort(c->comm);
	c->comm = NULL;
	return rc;
}

/* The library may write the handle after an interruption: the handle must outlive the call. */
int busbar_nccl_register(const struct busbar_nccl_comm *c, uint64_t p, size_t bytes, int window, void **handle)
{
	void *buffer = (void *)(uintptr_t)p;
	*handle = NULL;
	return settle_all(c, window ? c->t->window_register(c->comm, buffer, bytes, (nccl_window *)handle, NCCL_WINDOW_SYMMETRIC)
				    : c->t->buffer_register(c->comm, buffer, bytes, handle));
}

int busbar_nccl_deregister(const struct busbar_nccl_comm *c, int window, void *handle)
{
	return busbar_nccl_settle(c, window ? c->t->window_deregister(c->comm, handle)
					    : c->t->buffer_deregister(c->comm, handle));
}
