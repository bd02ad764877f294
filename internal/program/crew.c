#define _GNU_SOURCE
#include "crew.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

enum { spin_ns = 20000, slice = 4 /* units between two calls of between */ };

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static int gate_make(struct gate *g)
{
	int rc = pthread_mutex_init(&g->lock, NULL);
	return rc ? rc : pthread_cond_init(&g->grown, NULL);
}

static void gate_end(struct gate *g)
{
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->grown);
}

/* The opener checks for sleepers after it increments the count; a sleeper checks the count after it registers: one of
 * them sees the other. */
void gate_open(struct gate *g, uint64_t more)
{
	atomic_fetch_add(&g->count, more);
	if (!atomic_load(&g->sleepers))
		return;
	pthread_mutex_lock(&g->lock);
	pthread_cond_broadcast(&g->grown);
	pthread_mutex_unlock(&g->lock);
}

void gate_await(struct gate *g, uint64_t count, int64_t spin)
{
	if (atomic_load(&g->count) >= count)
		return;
	for (const int64_t until = now() + spin; spin && now() < until;)
		for (int i = 0; i < 16; i++) {
			if (atomic_load(&g->count) >= count)
				return;
			relax();
		}
	pthread_mutex_lock(&g->lock);
	atomic_fetch_add(&g->sleepers, 1);
	while (atomic_load(&g->count) < count)
		pthread_cond_wait(&g->grown, &g->lock);
	atomic_fetch_sub(&g->sleepers, 1);
	pthread_mutex_unlock(&g->lock);
}

static void *helper_life(void *argument)
{
	struct helper *h = argument;
	struct crew *c = h->crew;
	for (uint64_t share = 1;; share++) {
		gate_await(&c->begun, share, c->spin);
		if (atomic_load(&c->ending))
			return NULL;
		h->sum += fma_units(h->units, 0);
		gate_open(&c->finished, 1);
	}
}

static void *second_life(void *argument)
{
	struct crew *c = argument;
	for (uint64_t job = 1;; job++) {
		gate_await(&c->asked, job, c->spin);
		if (atomic_load(&c->ending))
			return NULL;
		c->job(c->context);
		gate_open(&c->answered, 1);
	}
}

static int start(pthread_t *thread, void *(*life)(void *), void *argument)
{
	sigset_t all, before;
	sigfillset(&all);
	int rc = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (rc)
		return rc;
	rc = pthread_create(thread, NULL, life, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL); /* restoring the old value cannot fail, and the thread already runs */
	return rc;
}

/* With one CPU the other thread cannot run while this one spins. */
static int64_t spin_time(void)
{
	cpu_set_t cpus;
	return sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 1 ? 0 : spin_ns;
}

int crew_new(int threads, struct crew **out)
{
	struct crew *c = calloc(1, sizeof *c);
	int rc = 0;
	*out = NULL;
	if (!c)
		return ENOMEM;
	c->threads = threads;
	c->spin = spin_time();
	if ((rc = gate_make(&c->begun)) || (rc = gate_make(&c->finished)) || (rc = gate_make(&c->asked)) || (rc = gate_make(&c->answered))) {
		free(c);
		return rc;
	}
	if (threads > 1 && !(c->helper = aligned_alloc(_Alignof(struct helper), (size_t)(threads - 1) * sizeof *c->helper)))
		rc = ENOMEM;
	for (; !rc && c->started < threads - 1; c->started += !rc) {
		c->helper[c->started] = (struct helper){.crew = c};
		rc = start(&c->helper[c->started].thread, helper_life, &c->helper[c->started]);
	}
	if (rc) {
		crew_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

void crew_free(struct crew *c)
{
	if (!c)
		return;
	atomic_store(&c->ending, 1);
	gate_open(&c->begun, 1);
	gate_open(&c->asked, 1);
	for (int i = 0; i < c->started; i++)
		pthread_join(c->helper[i].thread, NULL);
	if (c->second_started)
		pthread_join(c->second, NULL);
	gate_end(&c->begun);
	gate_end(&c->finished);
	gate_end(&c->asked);
	gate_end(&c->answered);
	free(c->helper);
	free(c);
}

int crew_second(struct crew *c)
{
	if (c->second_started)
		return 0;
	const int rc = start(&c->second, second_life, c);
	c->second_started = !rc;
	return rc;
}

/* Runs the calling thread's share. */
static int compute_own(struct crew *c, uint64_t units, int (*between)(void *), void *context)
{
	int rc = 0;
	uint64_t did = 0;
	while (between && !rc && did < units) {
		const uint64_t some = units - did < slice ? units - did : slice;
		c->sum += fma_units(some, did);
		did += some;
		rc = between(context);
	}
	c->sum += fma_units(units - did, did);
	return rc;
}

/* Lets the helpers start their shares. */
static void begin(struct crew *c)
{
	c->shared++;
	gate_open(&c->begun, 1);
}

static void finish(struct crew *c) { gate_await(&c->finished, c->shared * ((uint64_t)c->threads - 1), c->spin); }

int crew_compute(struct crew *c, uint64_t units, int (*between)(void *context), void *context)
{
	const uint64_t helpers = (uint64_t)c->threads - 1, each = units / (uint64_t)c->threads;
	if (each) {
		for (uint64_t i = 0; i < helpers; i++)
			c->helper[i].units = each;
		begin(c);
	}
	const int rc = compute_own(c, units - helpers * each, between, context);
	if (each)
		finish(c);
	c->units += units;
	return rc;
}
