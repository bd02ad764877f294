/* The timed loop of busbar: it exists once, here. A backend hands it three functions; nothing of Go runs inside.
 *
 * Every function gets the backend's own context and the number of the operation, counted through the life of the
 * loop (so that rotating buffers go on where they were), and returns 0 or its library's error code. */
#ifndef BUSBAR_LOOP_H
#define BUSBAR_LOOP_H

#include <stdint.h>

typedef int (*busbar_step)(void *context, uint64_t i);

enum busbar_stage { BUSBAR_IDLE, BUSBAR_SYNC, BUSBAR_ISSUE, BUSBAR_WAIT };

struct busbar_loop {
	busbar_step issue; /* issue operation i; a blocking library completes it here */
	busbar_step wait;  /* wait until all i operations issued so far are done; NULL when issue blocks */
	busbar_step sync;  /* bring all ranks together before a batch */
	void *context;

	uint64_t next; /* number of the next operation */

	/* For the watchdog, which reads them from another thread. */
	volatile uint64_t reached; /* operation in hand */
	volatile int stage;        /* enum busbar_stage */
	volatile int broken;       /* a step has returned an error */
	int failed;                /* the stage in which it did */

	/* After an error, go on with the syncs of the batches that are left: the other ranks may be in one, and a barrier
	 * cannot be taken back. */
	int in_step;
};

/* An operation that goes on by itself once it has been started, so that other work can be done beside it. Each function
 * returns 0 or the library's error code; it is started again only when it is done. */
struct busbar_async {
	int (*start)(void *context);
	int (*test)(void *context, int *done); /* lets the library go on with it, and says whether it is done */
	int (*wait)(void *context);            /* until it is done */
	void *context;
};

/* Batches of n operations (n at least 1), each batch after a sync, its operations back to back, with one wait at the
 * end; batches of one are operations timed alone. Of each batch: start[b] before its first issue, issued[b] when its
 * first operation was issued (equal to start[b] where issue blocks), end[b] after the wait. */
int busbar_run(struct busbar_loop *l, uint64_t batches, uint64_t n, int64_t *start, int64_t *issued, int64_t *end);

/* Nanoseconds of CLOCK_MONOTONIC_RAW, the clock of all stamps. */
int64_t busbar_now(void);

#endif
