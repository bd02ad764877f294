/* Functions of the simulated driver, in addition to CUDA's, that the simulated NCCL uses. */
#ifndef BUSBAR_REHEARSAL_H
#define BUSBAR_REHEARSAL_H

#include "../cuda.h"

#define EXPORT __attribute__((visibility("default")))

/* Work for a stream. The stream's thread calls run, repeatedly if the work was captured into a graph, and release
 * once, when the work will not run again. */
struct busbar_rehearsal_work {
	void (*run)(void *context);
	void (*release)(void *context);
	void *context;
};

/* The device of this thread's current context; without one the first device, as in CUDA's runtime. */
struct busbar_rehearsal_device {
	cuda_context context;
	int ordinal;    /* index in this process */
	int bus;        /* of its PCI address */
	int capability; /* 90: compute capability 9.0 */
};
EXPORT cuda_result busbar_rehearsal_device(struct busbar_rehearsal_device *);

/* Takes ownership unless it fails. captured: it was added to the graph and not to the queue. */
EXPORT cuda_result busbar_rehearsal_enqueue(cuda_stream, const struct busbar_rehearsal_work *, int *captured);

/* Occupies a stream's thread for a kernel's time. */
EXPORT void busbar_rehearsal_sleep(uint64_t nanoseconds);

/* Whether all bytes belong to one allocation of a device or of pinned host memory. */
EXPORT int busbar_rehearsal_owns(const void *, size_t bytes);

#endif
