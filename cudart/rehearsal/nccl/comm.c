/* Creation and destruction of communicators. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t SECOND = 1000000000;

void comm_put(struct nccl_comm *c)
{
	if (atomic_fetch_sub(&c->references, 1) > 1)
		return;
	profiler_close(c);
	inbox_close(c);
	for (int i = 0; c->links && i < c->ranks; i++)
		if (c->links[i].fd >= 0)
			close(c->links[i].fd);
	pthread_mutex_destroy(&c->turn);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->control.lock);
	pthread_cond_destroy(&c->ended);
	free(c->links);
	free(c->parts);
	free(c->sources);
	free(c->counts);
	free(c->transfers);
	free(c->scratch);
	free(c);
}

/* A communicator that is not connected yet, with the given settings or those of an existing one. */
nccl_result comm_new(nccl_comm *out, int ranks, int rank, const struct nccl_config *given, nccl_comm like)
{
	struct nccl_config config;
	struct nccl_comm *c;
	nccl_result rc = read_settings();
	if (!rc)
		rc = read_config(given, &config);
	if (rc)
		return rc;
	if (!(c = calloc(1, sizeof *c)))
		return fail(SYSTEM_ERROR, "out of memory");
	atomic_init(&c->references, 1);
	c->rank = rank;
	c->ranks = ranks;
	c->control = (struct control){.fd = -1, .gone = -1};
	pthread_mutex_init(&c->turn, NULL);
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->control.lock, NULL);
	pthread_cond_init(&c->ended, NULL);
	c->non_blocking = like && !given ? like->non_blocking : config.blocking == 0;
	if (like)
		c->device = like->device;
	else if (busbar_rehearsal_device(&c->device)) {
		comm_put(c);
		return fail(CUDA_FAILED, "Cuda failure : no CUDA-capable device is detected");
	}
	profiler_open(c);
	*out = c;
	return OK;
}

struct job {
	struct nccl_comm *comm;
	nccl_result (*work)(struct nccl_comm *);
};

static void *do_job(void *context)
{
	struct job j = *(struct job *)context;
	free(context);
	atomic_store(&j.comm->state, j.work(j.comm));
	comm_put(j.comm);
	return NULL;
}

/* Runs the work at once, or in a thread for a non-blocking communicator and within a group. */
nccl_result comm_begin(nccl_comm c, nccl_result (*work)(struct nccl_comm *))
{
	struct job *j;
	if (!c->non_blocking && !in_group()) {
		const nccl_result rc = work(c);
		atomic_store(&c->state, rc);
		return rc;
	}
	comm_job_end(c);
	if (!(j = malloc(sizeof *j)))
		return fail(SYSTEM_ERROR, "out of memory");
	*j = (struct job){c, work};
	atomic_store(&c->state, IN_PROGRESS);
	atomic_fetch_add(&c->references, 1);
	if (start_thread(do_job, j, &c->job)) {
		free(j);
		comm_put(c);
		atomic_store(&c->state, SYSTEM_ERROR);
		return fail(SYSTEM_ERROR, "no thread");
	}
	c->has_job = 1;
	if (c->non_blocking)
		return IN_PROGRESS;
	return group_job(c);
}

void comm_job_end(nccl_comm c)
{
	if (c->has_job)
		pthread_join(c->job, NULL);
	c->has_job = 0;
}

/* Whether calls may use it now. */
nccl_result comm_ready(nccl_comm c)
{
	if (!c)
		return fail(INVALID_ARGUMENT, "comm argument is NULL");
	const int state = atomic_load(&c->state), async = atomic_load(&c->async);
	if (state == IN_PROGRESS)
		return fail(INVALID_ARGUMENT, "Attempt to use communicator before the previous operation returned ncclSuccess");
	if (c->finalized)
		return fail(INVALID_USAGE, "the communicator was finalized");
	return async ? async : state;
}

nccl_result ncclCommGetAsyncError(nccl_comm c, nccl_result *out)
{
	if (!c || !out)
		return fail(INVALID_ARGUMENT, "CommGetAsyncError : an argument is NULL");
	*out = atomic_load(&c->state);
	if (*out)
		return OK;
	control_check(c);
	*out = atomic_load(&c->async);
	return OK;
}

/* Waits for queued work. */
static nccl_result drain(struct nccl_comm *c)
{
	pthread_mutex_lock(&c->lock);
	while (c->outstanding && !atomic_load(&c->aborted))
		pthread_cond_wait(&c->ended, &c->lock);
	pthread_mutex_unlock(&c->lock);
	return OK;
}

nccl_result ncclCommFinalize(nccl_comm c)
{
	const nccl_result rc = comm_ready(c);
	if (rc)
		return rc;
	c->finalized = 1;
	return comm_begin(c, drain);
}

nccl_result ncclCommDestroy(nccl_comm c)
{
	if (!c)
		return OK;
	comm_job_end(c);
	drain(c);
	control_close(c, 2 * SECOND);
	comm_put(c);
	return OK;
}

nccl_result ncclCommAbort(nccl_comm c)
{
	if (!c)
		return OK;
	if (faults_of(1 << ABORT_HANG, c->rank, -1, 0, NULL))
		for (;;)
			pause_for(3600 * SECOND);
	atomic_store(&c->aborted, 1);
	pthread_mutex_lock(&c->lock);
	pthread_cond_broadcast(&c->ended);
	pthread_mutex_unlock(&c->lock);
	/* A split waits for its parent's ranks. It ends with the parent, which frees the rest. */
	if (c->parent && c->has_job && atomic_load(&c->state) == IN_PROGRESS)
		pthread_detach(c->job);
	else
		comm_job_end(c);
	if (c->inbox)
		inbox_ring(c->inbox);
	/* After our turn, nothing accesses the caller's buffers. */
	pthread_mutex_lock(&c->turn);
	pthread_mutex_unlock(&c->turn);
	control_close(c, SECOND / 5);
	comm_put(c);
	return OK;
}

static nccl_result tell(nccl_comm c, int *out, int value)
{
	if (!c || !out)
		return fail(INVALID_ARGUMENT, "an argument is NULL");
	*out = value;
	return OK;
}

nccl_result ncclCommCount(nccl_comm c, int *out) { return tell(c, out, c ? c->ranks : 0); }
nccl_result ncclCommUserRank(nccl_comm c, int *out) { return tell(c, out, c ? c->rank : 0); }
nccl_result ncclCommCuDevice(nccl_comm c, int *out)
{
	const int other = c && faults_of(1 << OTHER_GPU, c->rank, -1, 0, NULL);
	return tell(c, out, c ? c->device.ordinal + other : 0);
}
