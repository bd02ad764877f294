/* busbar's only timed loop. A backend passes it three functions; no Go code runs inside.
 *
 * Every function gets the backend's context and the number of the operation, counted over the life of the loop (so
 * that rotating buffers continue), and returns 0 or its library's error code. */
#ifndef BUSBAR_LOOP_H
#define BUSBAR_LOOP_H

#include <stdint.h>

typedef int (*busbar_step)(void *context, uint64_t i);

enum busbar_stage { BUSBAR_IDLE, BUSBAR_SYNC, BUSBAR_ISSUE, BUSBAR_WAIT };

struct busbar_loop {
	busbar_step issue; /* issue operation i; a blocking library completes it here */
	busbar_step wait;  /* wait until all i operations issued so far are done; NULL when issue blocks */
	busbar_step sync;  /* synchronise all ranks before a batch */
	void *context;

	uint64_t next; /* number of the next operation */

	/* For the watchdog, which reads them from another thread. */
	volatile uint64_t reached; /* current operation */
	volatile int stage;        /* enum busbar_stage */
	volatile int broken;       /* a step has returned an error */
	int failed;                /* the stage of that step */

	/* After an error, continue with the syncs of the remaining batches: other ranks may be in one, and a barrier
	 * cannot be cancelled. */
	int in_step;
};

/* An operation that progresses after it is started, so that other work can overlap. Each function returns 0 or the
 * library's error code; it is restarted only when it is done. */
struct busbar_async {
	int (*start)(void *context);
	int (*test)(void *context, int *done); /* gives the library time to progress, and reports whether it is done */
	int (*wait)(void *context);            /* until it is done */
	void *context;
};

/* Operations that run at the same time, as one: all are started in their order by one thread, then all are awaited in
 * that order. One with async is awaited before issue returns, so that it can be started again. */
struct busbar_beside {
	int n;
	struct busbar_beside_part {
		busbar_step issue, wait; /* with context; NULL with async */
		void *context;
		struct busbar_async async;
	} part[2];
	busbar_step sync;
	void *sync_context;
	volatile int failed; /* the part whose step failed */
};

int busbar_beside_issue(void *context, uint64_t i);
int busbar_beside_wait(void *context, uint64_t i);
int busbar_beside_sync(void *context, uint64_t i);

/* Batches of n operations (n at least 1): a sync, the operations back to back, one wait at the end. Batches of one
 * time single operations. Of each batch: start[b] before its first issue, issued[b] when its first operation was
 * issued (equal to start[b] where issue blocks), end[b] after the wait. */
int busbar_run(struct busbar_loop *l, uint64_t batches, uint64_t n, int64_t *start, int64_t *issued, int64_t *end);

/* Nanoseconds of CLOCK_MONOTONIC_RAW, which all time stamps use. */
int64_t busbar_now(void);

#endif
