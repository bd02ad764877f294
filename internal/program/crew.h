/* The threads that run a program: those that compute, of which the calling thread is one, and the second thread, which
 * issues operations that block. They are made once and serve every program, one at a time. Signals are blocked in them, as
 * they belong to Go's threads; they run where the thread may that made them. */
#ifndef BUSBAR_CREW_H
#define BUSBAR_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "../loop/loop.h"

/* A count that only grows, and that threads wait for. A short wait spins, a longer one sleeps. */
struct gate {
	atomic_uint_fast64_t count;
	atomic_int sleepers;
	pthread_mutex_t lock;
	pthread_cond_t grown;
};

/* One line of a cache each, so that threads do not write in each other's. */
struct helper {
	_Alignas(128) struct crew *crew;
	pthread_t thread;
	uint64_t units; /* its share of the segment in hand */
	float sum;
};

struct crew {
	int threads; /* that compute; helpers are one less */
	int started; /* helpers that run */
	int second_started;
	struct helper *helper;
	pthread_t second;
	atomic_int ending;
	int64_t spin; /* ns for which a wait spins before it sleeps */

	struct gate begun, finished; /* shares that each helper may begin; that all together are done with */
	uint64_t shared;             /* how often all had a share */
	float sum;                   /* of the calling thread */
	uint64_t units;              /* computed so far, by all */

	/* The second thread runs one job for each count of asked; a job returns when it is over. */
	struct gate asked, answered;
	void (*job)(void *context);
	void *context;
};

/* The same clock as the stamps of package loop. */
static inline int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void gate_open(struct gate *g, uint64_t more);
void gate_await(struct gate *g, uint64_t count, int64_t spin);

/* 0, or an errno; *out is NULL then. */
int crew_new(int threads, struct crew **out);
void crew_free(struct crew *c);

/* Computes so many units on all threads of the crew, each an equal share. between, unless it is NULL, is called on the
 * calling thread every few units; once it returns something else than 0 it is not called again, and that is returned
 * when the segment is over. */
int crew_compute(struct crew *c, uint64_t units, int (*between)(void *context), void *context);

/* Starts the second thread, unless it runs; 0 or an errno. */
int crew_second(struct crew *c);

/* A unit of computing: FMAs in registers, a microsecond or so. The sum of what they end with is about 1 for each unit, so
 * that no compiler can leave them out. */
float fma_units(uint64_t units, uint64_t first);

#endif
