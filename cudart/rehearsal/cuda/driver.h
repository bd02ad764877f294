/* Internals of the simulated libcuda.so.1: devices in host memory; each stream is a thread. Every function of
 * cudart/cuda.h is defined here under the driver's symbol, by an assembler name. */
#ifndef BUSBAR_REHEARSAL_DRIVER_H
#define BUSBAR_REHEARSAL_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "../rehearsal.h"

#define X(need, since, field, symbol, arguments) EXPORT cuda_result rehearse_##field arguments __asm__(symbol);
BUSBAR_CUDA_FUNCTIONS(X)
#undef X

enum {
	INVALID_VALUE = 1,
	NOT_INITIALIZED = 3,
	INVALID_DEVICE = 101,
	INVALID_CONTEXT = 201,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500,
	CONTEXT_IS_DESTROYED = 709,
	NOT_SUPPORTED = 801,
	CAPTURE_UNSUPPORTED = 900,
	CAPTURE_INVALIDATED = 901,
	CAPTURE_UNMATCHED = 903,
};

/* A device and its primary context. */
struct cuda_context_ {
	int ordinal, physical, retained;
	cuda_uuid uuid;
	size_t bytes, used;
	cuda_stream standard; /* the default stream, created on first use */
};

/* A piece of work in a queue or in a graph. */
struct entry {
	struct entry *next;
	struct busbar_rehearsal_work work;
};

struct list {
	struct entry *first, **end;
};

/* The work of a graph, shared by its instances and by launches in progress. */
struct cuda_graph_ {
	atomic_int references;
	struct list work;
};

struct cuda_stream_ {
	struct cuda_stream_ *next;
	cuda_context context;
	int references; /* owner, worker, and threads that synchronise the context; under streams_lock */

	pthread_mutex_t lock;
	pthread_cond_t more, done;
	struct list queue;
	int idle, waiters, leaving;
	cuda_graph capture;
	int broken; /* a call that must not be captured invalidated the capture */

	_Atomic uint64_t submitted, completed;
};

#define UNUSED(x) ((void)(x))

int bus_of(const struct cuda_context_ *);
int compute_capability(void); /* 90: 9.0 */
cuda_result device_of(cuda_device, cuda_context *);
cuda_result current(cuda_context *); /* of this thread; an error if it has none */
size_t parse_bytes(const char *, size_t otherwise);

/* Adds work to a stream (NULL: the default one) or to the graph that it captures. */
cuda_result enqueue(cuda_stream, struct busbar_rehearsal_work, int *captured);
cuda_result find_stream(cuda_stream *);
void append(struct list *, struct entry *);
void release_graph(void *graph);

void release_memory(cuda_context);
int is_device_memory(cuda_pointer, size_t bytes);
int is_pinned(const void *, size_t bytes);

#endif
