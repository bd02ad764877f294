/* A step's program on threads of this process. See host.go for what the fields mean to a caller. */
#ifndef BUSBAR_PROGRAM_H
#define BUSBAR_PROGRAM_H

#include "crew.h"

enum busbar_mode { BUSBAR_COMPUTE, BUSBAR_COMM, BUSBAR_SEQUENTIAL, BUSBAR_OVERLAPPED };

struct span { int64_t start, end; };

/* An operation: by async, or by issue, which blocks and is called in the second thread. */
struct program_op {
	struct busbar_async async;
	busbar_step issue;
	void *context; /* of issue */
	int after, before;
	int due;  /* the next with the same before, counted from 1; 0: there is none */
	int done; /* of an operation by async, in this step */
	struct span span;
};

struct program_segment {
	uint64_t units;
	int due; /* the first operation that has to be done before it, counted from 1; 0: there is none */
	struct span span;
};

struct program {
	struct crew *crew;
	int segments, ops;
	struct program_segment *segment; /* and behind the last one the end of the step */
	struct program_op *op;
	int second;       /* operations are issued in the second thread */
	int64_t interval; /* ns between tests while computing; 0: none */
	busbar_step sync;
	void *sync_context;

	int mode;
	struct span span;
	uint64_t step;     /* number of the step in hand */
	int begun;         /* operations that have been started, or given to the second thread */
	int over;          /* operations from the first on that are done */
	int64_t next_test;
	uint64_t answered; /* by the second thread before this step */
	int issued;        /* by the second thread in this step */

	/* The first error, and whose it is: after it nothing is started any more, in any step. */
	atomic_int failed;
	int failed_op;

	/* What is in hand, for who wants to name it from another thread: the segment, and the operation for which the library
	 * is called or, where it is not, the oldest that is on its way; both counted from 1, 0 is none. parts are the segments
	 * and operations that this step has begun. */
	atomic_int computing, communicating;
	atomic_uint_fast64_t parts;
};

/* Finds what has to be done before which segment; once, before the first step. */
void program_link(struct program *p);

/* The steps of a loop: bring the ranks together, and run the program once in its mode. */
int program_sync(void *context, uint64_t i);
int program_run(void *context, uint64_t i);

#endif
