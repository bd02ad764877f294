/* Events: the time at which a stream's thread reached them. */
#include "driver.h"

#include <stdlib.h>
#include <time.h>

enum { DISABLE_TIMING = 2 };

struct cuda_event_ {
	atomic_int references;
	unsigned flags;
	pthread_mutex_t lock;
	pthread_cond_t came;
	uint64_t recorded, reached; /* number of recordings */
	int64_t time;               /* ns, when last reached */
};

/* One recording of an event, in a stream. */
struct mark {
	cuda_event event;
	uint64_t number;
};

static void put_event(cuda_event e)
{
	if (atomic_fetch_sub(&e->references, 1) > 1)
		return;
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->came);
	free(e);
}

static void reach(void *context)
{
	const struct mark *m = context;
	cuda_event e = m->event;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	pthread_mutex_lock(&e->lock);
	e->time = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	if (e->reached < m->number)
		e->reached = m->number;
	pthread_cond_broadcast(&e->came);
	pthread_mutex_unlock(&e->lock);
}

static void await(void *context)
{
	const struct mark *m = context;
	cuda_event e = m->event;
	pthread_mutex_lock(&e->lock);
	while (e->reached < m->number)
		pthread_cond_wait(&e->came, &e->lock);
	pthread_mutex_unlock(&e->lock);
}

static void put_mark(void *context)
{
	struct mark *m = context;
	put_event(m->event);
	free(m);
}

cuda_result rehearse_event_create(cuda_event *out, unsigned flags)
{
	cuda_context c;
	const cuda_result rc = flags & ~7u ? INVALID_VALUE : current(&c);
	cuda_event e = rc ? NULL : calloc(1, sizeof *e);
	if (!e)
		return rc ? rc : CUDA_OUT_OF_MEMORY;
	atomic_init(&e->references, 1);
	e->flags = flags;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->came, NULL);
	*out = e;
	return CUDA_OK;
}

cuda_result rehearse_event_destroy(cuda_event e)
{
	if (!e)
		return INVALID_HANDLE;
	put_event(e);
	return CUDA_OK;
}

static cuda_result send_mark(cuda_stream s, cuda_event e, int record)
{
	struct mark *m = malloc(sizeof *m);
	if (!m)
		return CUDA_OUT_OF_MEMORY;
	pthread_mutex_lock(&e->lock);
	e->recorded += (uint64_t)record;
	*m = (struct mark){e, e->recorded};
	const int passed = !record && e->reached >= e->recorded;
	pthread_mutex_unlock(&e->lock);
	atomic_fetch_add(&e->references, 1);
	const cuda_result rc = passed ? CUDA_OK :
		enqueue(s, (struct busbar_rehearsal_work){record ? reach : await, put_mark, m}, NULL);
	if (rc || passed)
		put_mark(m);
	return rc;
}

cuda_result rehearse_event_record(cuda_event e, cuda_stream s)
{
	const cuda_result rc = e ? find_stream(&s) : INVALID_HANDLE;
	return rc ? rc : send_mark(s, e, 1);
}

cuda_result rehearse_stream_wait_event(cuda_stream s, cuda_event e, unsigned flags)
{
	const cuda_result rc = !e ? INVALID_HANDLE : flags > 1 ? INVALID_VALUE : find_stream(&s);
	return rc ? rc : send_mark(s, e, 0);
}

cuda_result rehearse_event_query(cuda_event e)
{
	if (!e)
		return INVALID_HANDLE;
	pthread_mutex_lock(&e->lock);
	const int passed = e->reached >= e->recorded;
	pthread_mutex_unlock(&e->lock);
	return passed ? CUDA_OK : CUDA_NOT_READY;
}

cuda_result rehearse_event_synchronize(cuda_event e)
{
	if (!e)
		return INVALID_HANDLE;
	pthread_mutex_lock(&e->lock);
	const uint64_t wanted = e->recorded;
	while (e->reached < wanted)
		pthread_cond_wait(&e->came, &e->lock);
	pthread_mutex_unlock(&e->lock);
	return CUDA_OK;
}

static cuda_result time_of(cuda_event e, int64_t *time)
{
	cuda_result rc = INVALID_HANDLE;
	if (!e)
		return rc;
	pthread_mutex_lock(&e->lock);
	if (e->recorded && !(e->flags & DISABLE_TIMING))
		rc = e->reached >= e->recorded ? CUDA_OK : CUDA_NOT_READY;
	*time = e->time;
	pthread_mutex_unlock(&e->lock);
	return rc;
}

cuda_result rehearse_event_elapsed(float *milliseconds, cuda_event from, cuda_event to)
{
	int64_t start, end;
	cuda_result rc = time_of(from, &start);
	if (!rc && !(rc = time_of(to, &end)))
		*milliseconds = (float)((double)(end - start) / 1e6);
	return rc;
}
