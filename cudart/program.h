/* The program of a training step on two streams of a GPU: segments of computing on one, operations of communication on
 * the other, and events that keep each behind what it depends on. The host puts all of a step onto the streams without
 * waiting, and then waits once. internal/program defines the modes and the links.
 *
 * Every boundary is an event with a time, on which the streams wait too. Such an event is a call on the host and a time
 * stamp that the device writes between two kernels, of which the next begins a microsecond or so later. All modes have
 * the same events around what they run, so that this cancels where modes are compared, but a step of many short
 * segments is longer by it than the kernels alone would be. */
#ifndef BUSBAR_CUDA_PROGRAM_H
#define BUSBAR_CUDA_PROGRAM_H

#include "../internal/loop/loop.h"
#include "cuda.h"

/* Waits for the compute stream; gives its own library's code. It calls look now and then meanwhile. */
typedef int (*busbar_cuda_wait)(void *context, void (*look)(void *program), void *program);

/* In the order of program.Mode. */
enum busbar_cuda_mode { BUSBAR_COMPUTE, BUSBAR_COMM, BUSBAR_SEQUENTIAL, BUSBAR_OVERLAPPED };

/* What a step of the program was doing when it failed; the code is that of the library called. */
enum busbar_cuda_call { BUSBAR_NO_CALL, BUSBAR_RECORD, BUSBAR_STREAM_WAIT, BUSBAR_QUERY, BUSBAR_WORK, BUSBAR_OP, BUSBAR_WAITING };

struct busbar_cuda_segment {
	const char *name;       /* of its range; NULL: it has none */
	const uint64_t *pieces; /* amounts of work */
	int64_t count;
	cuda_event start, end;

	int64_t needs;          /* so many operations are done before it begins, when overlapped */
	cuda_event from;        /* what marks its beginning in the last run; NULL: it did not run */
};

struct busbar_cuda_op {
	const char *name;
	busbar_step issue; /* puts the operation onto the communication stream */
	void *context;
	int64_t after;     /* segment; -1: the beginning */
	cuda_event start, end;

	cuda_event from;
};

/* Zeroed, then filled by its maker; it owns nothing. */
struct busbar_cuda_program {
	const struct busbar_cuda *cuda;
	cuda_stream compute, comm;
	cuda_event begin, end;
	struct busbar_cuda_segment *segments;
	struct busbar_cuda_op *ops;
	int64_t segment_count, op_count;
	int mode;

	busbar_step work; /* puts an amount of work onto the compute stream */
	void *work_context;
	busbar_cuda_wait wait; /* NULL: the stream, behind which everything is, is asked until it is done */
	void *wait_context;
	busbar_step sync;
	void *sync_context;

	/* While a step is put onto the streams. */
	int64_t done; /* operations that the compute stream is behind */
	int64_t seen; /* segment that the communication stream is behind */

	enum busbar_cuda_call failed;
	int64_t at; /* segment, or operation */
	int of_op;  /* at is an operation */

	/* For the watchdog, which reads them from another thread: the segments and operations that the device is seen to be
	 * behind, how many of both are on the streams, and the operation that is being put there, counted from 1. */
	volatile int64_t passed_segments, passed_ops;
	volatile int64_t put, putting;
	volatile int running; /* 0: between runs */
};

/* The steps of the loop. The code of sync is its own library's; failed describes those of the others. */
int busbar_cuda_program_issue(void *program, uint64_t i);
int busbar_cuda_program_wait(void *program, uint64_t i);
int busbar_cuda_program_sync(void *program, uint64_t i);

/* Where a segment or an operation of the last run lies, in milliseconds from the step's beginning. */
int busbar_cuda_program_span(const struct busbar_cuda_program *p, cuda_event from, cuda_event to, float *start, float *end);

#endif
