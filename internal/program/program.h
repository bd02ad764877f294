/* A step's program on threads of this process. host.go documents the fields. */
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
	int due;  /* the next with the same before, counted from 1; 0: none */
	int done; /* of an operation by async, in this step */
	struct span span;
};

struct program_segment {
	uint64_t units;
	int due; /* the first operation that must complete before it, counted from 1; 0: none */
	struct span span;
};

struct program {
	struct crew *crew;
	int segments, ops;
	struct program_segment *segment; /* the last one is the end of the step */
	struct program_op *op;
	int second;       /* operations are issued in the second thread */
	int64_t interval; /* ns between tests while computing; 0: none */
	busbar_step sync;
	void *sync_context;

	int mode;
	struct span span;
	uint64_t step;     /* current step */
	int begun;         /* operations started, or given to the second thread */
	int over;          /* completed operations, a prefix */
	int64_t next_test;
	uint64_t answered; /* by the second thread before this step */
	int issued;        /* by the second thread in this step */

	/* The first error and its origin; after it, nothing more is started in any step. */
	atomic_int failed;
	int failed_op;

	/* Current state, for other threads: the segment, and the operation for which the library is called or else the
	 * oldest in progress; both counted from 1, 0 is none. parts is the number of segments and operations that this
	 * step has started. */
	atomic_int computing, communicating;
	atomic_uint_fast64_t parts;
};

/* Finds which operations must complete before each segment; once, before the first step. */
void program_link(struct program *p);

/* The steps of a loop: synchronise the ranks, and run the program once in its mode. */
int program_sync(void *context, uint64_t i);
int program_run(void *context, uint64_t i);

#endif
