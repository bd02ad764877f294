/* Streams: each has a queue and a thread that executes it and sleeps when it is empty. A caller that does not wait for
 * a stream reads old data. */
#include "driver.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static cuda_stream streams;
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t delay; /* ns by which all work starts later: BUSBAR_REHEARSAL_DELAY, in microseconds */
static pthread_once_t read_delay = PTHREAD_ONCE_INIT;

static void set_delay(void)
{
	const char *set = getenv("BUSBAR_REHEARSAL_DELAY");
	delay = set ? atoll(set) * 1000 : 0;
}

static void put_stream(cuda_stream s)
{
	pthread_mutex_lock(&streams_lock);
	const int left = --s->references;
	pthread_mutex_unlock(&streams_lock);
	if (left)
		return;
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->more);
	pthread_cond_destroy(&s->done);
	free(s);
}

static void *work(void *context)
{
	cuda_stream s = context;
	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (!s->queue.first && !s->leaving) {
			s->idle = 1;
			pthread_cond_wait(&s->more, &s->lock);
		}
		struct entry *e = s->queue.first;
		s->idle = 0;
		if (!e)
			break;
		if (!(s->queue.first = e->next))
			s->queue.end = &s->queue.first;
		pthread_mutex_unlock(&s->lock);
		if (delay)
			nanosleep(&(struct timespec){delay / 1000000000, delay % 1000000000}, NULL);
		e->work.run(e->work.context);
		e->work.release(e->work.context);
		free(e);
		pthread_mutex_lock(&s->lock);
		atomic_fetch_add(&s->completed, 1);
		if (s->waiters)
			pthread_cond_broadcast(&s->done);
	}
	pthread_mutex_unlock(&s->lock);
	put_stream(s);
	return NULL;
}

static cuda_result create(cuda_context c, cuda_stream *out)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all, before;
	cuda_stream s = calloc(1, sizeof *s);
	if (!s)
		return CUDA_OUT_OF_MEMORY;
	pthread_once(&read_delay, set_delay);
	s->context = c;
	s->references = 2;
	s->queue.end = &s->queue.first;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->done, NULL);
	/* Signals must reach the program's own threads only. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	const int failed = pthread_create(&thread, &attributes, work, s);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		s->references = 1;
		put_stream(s);
		return CUDA_OUT_OF_MEMORY;
	}
	pthread_mutex_lock(&streams_lock);
	s->next = streams;
	streams = s;
	pthread_mutex_unlock(&streams_lock);
	*out = s;
	return CUDA_OK;
}

cuda_result rehearse_stream_create(cuda_stream *out, unsigned flags)
{
	cuda_context c;
	const cuda_result rc = flags > 1 ? INVALID_VALUE : current(&c);
	return rc ? rc : create(c, out);
}

/* NULL and small numbers mean the default stream. */
cuda_result find_stream(cuda_stream *s)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	cuda_context c;
	cuda_result rc = CUDA_OK;
	if ((uintptr_t)*s > 2)
		return CUDA_OK;
	if ((rc = current(&c)))
		return rc;
	pthread_mutex_lock(&lock);
	if (!c->standard)
		rc = create(c, &c->standard);
	*s = c->standard;
	pthread_mutex_unlock(&lock);
	return rc;
}

/* The stream's thread finishes the queued work and then ends. */
cuda_result rehearse_stream_destroy(cuda_stream s)
{
	cuda_stream *at = &streams;
	if ((uintptr_t)s <= 2)
		return INVALID_HANDLE;
	pthread_mutex_lock(&streams_lock);
	while (*at && *at != s)
		at = &(*at)->next;
	const int found = *at != NULL;
	if (found)
		*at = s->next;
	pthread_mutex_unlock(&streams_lock);
	if (!found)
		return INVALID_HANDLE;
	pthread_mutex_lock(&s->lock);
	s->leaving = 1;
	if (s->capture)
		release_graph(s->capture);
	s->capture = NULL;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	put_stream(s);
	return CUDA_OK;
}

void append(struct list *l, struct entry *e)
{
	e->next = NULL;
	*l->end = e;
	l->end = &e->next;
}

cuda_result enqueue(cuda_stream s, struct busbar_rehearsal_work w, int *captured)
{
	cuda_result rc = find_stream(&s);
	struct entry *e = rc ? NULL : malloc(sizeof *e);
	if (!e)
		return rc ? rc : CUDA_OUT_OF_MEMORY;
	e->work = w;
	pthread_mutex_lock(&s->lock);
	if (captured)
		*captured = s->capture != NULL;
	if (s->capture) {
		append(&s->capture->work, e);
	} else {
		append(&s->queue, e);
		atomic_fetch_add(&s->submitted, 1);
		if (s->idle)
			pthread_cond_signal(&s->more);
	}
	pthread_mutex_unlock(&s->lock);
	return CUDA_OK;
}

cuda_result busbar_rehearsal_enqueue(cuda_stream s, const struct busbar_rehearsal_work *w, int *captured)
{
	return enqueue(s, *w, captured);
}

/* A capture ends in an error if its stream was queried or waited for. */
static cuda_result must_not_capture(cuda_stream s)
{
	pthread_mutex_lock(&s->lock);
	const int capturing = s->capture != NULL;
	s->broken |= capturing;
	pthread_mutex_unlock(&s->lock);
	return capturing ? CAPTURE_UNSUPPORTED : CUDA_OK;
}

cuda_result rehearse_stream_query(cuda_stream s)
{
	cuda_result rc = find_stream(&s);
	if (rc)
		return rc;
	if (atomic_load(&s->completed) != atomic_load(&s->submitted))
		return CUDA_NOT_READY;
	return must_not_capture(s);
}

static void wait_for(cuda_stream s)
{
	const uint64_t wanted = atomic_load(&s->submitted);
	pthread_mutex_lock(&s->lock);
	s->waiters++;
	while (atomic_load(&s->completed) < wanted)
		pthread_cond_wait(&s->done, &s->lock);
	s->waiters--;
	pthread_mutex_unlock(&s->lock);
}

cuda_result rehearse_stream_synchronize(cuda_stream s)
{
	cuda_result rc = find_stream(&s);
	if (!rc && !(rc = must_not_capture(s)))
		wait_for(s);
	return rc;
}

cuda_result rehearse_context_synchronize(void)
{
	cuda_context c;
	const cuda_result rc = current(&c);
	cuda_stream busy;
	if (rc)
		return rc;
	do {
		pthread_mutex_lock(&streams_lock);
		for (busy = streams; busy; busy = busy->next)
			if (busy->context == c && atomic_load(&busy->completed) != atomic_load(&busy->submitted))
				break;
		if (busy)
			busy->references++;
		pthread_mutex_unlock(&streams_lock);
		if (busy) {
			wait_for(busy);
			put_stream(busy);
		}
	} while (busy);
	return CUDA_OK;
}
