/* The threads that run a program: compute threads, including the caller, and the second thread, which issues blocking
 * operations. They are created once and serve every program, one at a time. They block signals, which belong to Go's
 * threads, and inherit the creator's CPUs. */
#ifndef BUSBAR_CREW_H
#define BUSBAR_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "../loop/loop.h"

/* A counter that only grows and that threads wait for. A short wait spins, a longer one sleeps. */
struct gate {
	atomic_uint_fast64_t count;
	atomic_int sleepers;
	pthread_mutex_t lock;
	pthread_cond_t grown;
};

/* One cache line each, to avoid false sharing. */
struct helper {
	_Alignas(128) struct crew *crew;
	pthread_t thread;
	uint64_t units; /* its share of the current segment */
	float sum;
};

struct crew {
	int threads; /* compute threads, one more than helpers */
	int started; /* helpers that run */
	int second_started;
	struct helper *helper;
	pthread_t second;
	atomic_int ending;
	int64_t spin; /* ns for which a wait spins before it sleeps */

	struct gate begun, finished; /* shares that each helper may start; that all together completed */
	uint64_t shared;             /* number of shares per thread so far */
	float sum;                   /* of the calling thread */
	uint64_t units;              /* computed so far, by all */

	/* The second thread runs one job for each count of asked. */
	struct gate asked, answered;
	void (*job)(void *context);
	void *context;
};

/* The clock of package loop's time stamps. */
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

/* Computes the units on all threads of the crew, each an equal share. between, unless NULL, is called on the calling
 * thread every few units. A result other than 0 ends the calls and is returned at the end of the segment. */
int crew_compute(struct crew *c, uint64_t units, int (*between)(void *context), void *context);

/* Starts the second thread if needed; 0 or an errno. */
int crew_second(struct crew *c);

/* A unit of computing: FMAs in registers, about a microsecond. The results sum to about 1 per unit, so that no
 * compiler can remove them. */
float fma_units(uint64_t units, uint64_t first);

#endif
