/* A training step's program on two streams of a GPU: compute segments on one, communication on the other, and events
 * that enforce the dependencies. The host enqueues all of a step without waiting, then waits once. internal/program
 * defines the modes and the links.
 *
 * Every boundary is an event with a time, on which the streams wait too. Such an event costs a call on the host and a
 * time stamp on the device between two kernels, which delays the second by about a microsecond. All modes have the
 * same events around what they run, so this cancels where modes are compared; but a step of many short segments takes
 * longer than its kernels alone would. */
#ifndef BUSBAR_CUDA_PROGRAM_H
#define BUSBAR_CUDA_PROGRAM_H

#include "../internal/loop/loop.h"
#include "cuda.h"

/* Waits for the compute stream; returns its own library's code. It calls look periodically. */
typedef int (*busbar_cuda_wait)(void *context, void (*look)(void *program), void *program);

/* In the order of program.Mode. */
enum busbar_cuda_mode { BUSBAR_COMPUTE, BUSBAR_COMM, BUSBAR_SEQUENTIAL, BUSBAR_OVERLAPPED };

/* The part of a step that failed; the code is that of the library called. */
enum busbar_cuda_call { BUSBAR_NO_CALL, BUSBAR_RECORD, BUSBAR_STREAM_WAIT, BUSBAR_QUERY, BUSBAR_WORK, BUSBAR_OP, BUSBAR_WAITING };

struct busbar_cuda_segment {
	const char *name;       /* name of its range; NULL: none */
	const uint64_t *pieces; /* amounts of work */
	int64_t count;
	cuda_event start, end;

	int64_t needs;          /* operations that complete before it begins, when overlapped */
	cuda_event from;        /* event of its beginning in the last run; NULL: it did not run */
};

struct busbar_cuda_op {
	const char *name;
	busbar_step issue; /* enqueues the operation on the communication stream */
	void *context;
	int64_t after;     /* the segment that precedes it; -1: none */
	cuda_event start, end;

	cuda_event from;
};

/* Zeroed, then filled by the caller; it owns nothing. */
struct busbar_cuda_program {
	const struct busbar_cuda *cuda;
	cuda_stream compute, comm;
	cuda_event begin, end;
	struct busbar_cuda_segment *segments;
	struct busbar_cuda_op *ops;
	int64_t segment_count, op_count;
	int mode;

	busbar_step work; /* enqueues an amount of work on the compute stream */
	void *work_context;
	busbar_cuda_wait wait; /* NULL: polls the stream until it is done */
	void *wait_context;
	busbar_step sync;
	void *sync_context;

	/* While a step is enqueued. */
	int64_t done; /* operations that the compute stream waits for */
	int64_t seen; /* segment that the communication stream waits for */

	enum busbar_cuda_call failed;
	int64_t at; /* segment, or operation */
	int of_op;  /* at is an operation */

	/* For the watchdog, which reads them from another thread: how many segments and operations the device has
	 * completed, how many of both are enqueued, and the operation being enqueued, counted from 1. */
	volatile int64_t passed_segments, passed_ops;
	volatile int64_t put, putting;
	volatile int running; /* 0: between runs */
};

/* The steps of the loop. The code of sync is its own library's; failed describes those of the others. */
int busbar_cuda_program_issue(void *program, uint64_t i);
int busbar_cuda_program_wait(void *program, uint64_t i);
int busbar_cuda_program_sync(void *program, uint64_t i);

/* Begin and end of a segment or an operation of the last run, in milliseconds from the step's beginning. */
int busbar_cuda_program_span(const struct busbar_cuda_program *p, cuda_event from, cuda_event to, float *start, float *end);

#endif
