/* What the simulated NCCL uses of the simulated driver beside CUDA's functions. */
#ifndef BUSBAR_REHEARSAL_H
#define BUSBAR_REHEARSAL_H

#include "../cuda.h"

#define EXPORT __attribute__((visibility("default")))

/* Work for a stream. run is called on the stream's own thread, again and again when it was captured into a graph;
 * release once, when it will not be run any more. */
struct busbar_rehearsal_work {
	void (*run)(void *context);
	void (*release)(void *context);
	void *context;
};

/* The device whose context is current on this thread; the first one, as CUDA's runtime would take, if none is. */
struct busbar_rehearsal_device {
	cuda_context context;
	int ordinal;    /* as this process counts */
	int bus;        /* of its PCI address */
	int capability; /* 90: compute capability 9.0 */
};
EXPORT cuda_result busbar_rehearsal_device(struct busbar_rehearsal_device *);

/* Takes the work over, unless it fails. captured: it went into a graph and not into the queue. */
EXPORT cuda_result busbar_rehearsal_enqueue(cuda_stream, const struct busbar_rehearsal_work *, int *captured);

/* How a stream's thread spends the time that a kernel would take. */
EXPORT void busbar_rehearsal_sleep(uint64_t nanoseconds);

/* Whether all these bytes lie in one allocation of a device or of pinned host memory. */
EXPORT int busbar_rehearsal_owns(const void *, size_t bytes);

#endif
