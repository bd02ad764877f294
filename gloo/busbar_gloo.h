/* The table of functions between package gloo and its shim, which is C++ and linked to libgloo. The shim exports one
 * symbol, busbar_gloo; the interface has no C++ types and no exceptions.
 *
 * Functions that return int return a status. Its text is in the given error, or comes from last_error. */
#ifndef BUSBAR_GLOO_H
#define BUSBAR_GLOO_H

#include <stdint.h>

#include "../internal/loop/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Increment with every change below. */
#define BUSBAR_GLOO_ABI 3

enum busbar_gloo_status {
	BUSBAR_GLOO_OK,
	BUSBAR_GLOO_INVALID,     /* Gloo rejects these arguments */
	BUSBAR_GLOO_LOST,        /* the connection to another rank broke */
	BUSBAR_GLOO_TIMEOUT,     /* timeout waiting for another rank */
	BUSBAR_GLOO_MEMORY,      /* out of memory */
	BUSBAR_GLOO_INTERRUPTED, /* interrupt was called */
	BUSBAR_GLOO_FAILED,      /* any other failure */
};

enum busbar_gloo_kind {
	BUSBAR_ALL_REDUCE = 1,
	BUSBAR_ALL_GATHER,
	BUSBAR_REDUCE_SCATTER,
	BUSBAR_BROADCAST,
	BUSBAR_REDUCE,
	BUSBAR_ALL_TO_ALL,
	BUSBAR_GATHER,
	BUSBAR_SCATTER,
	BUSBAR_SEND_RECV,
	BUSBAR_ALL_TO_ALL_V,
};

enum busbar_gloo_type {
	BUSBAR_INT8 = 1,
	BUSBAR_UINT8,
	BUSBAR_INT32,
	BUSBAR_UINT32,
	BUSBAR_INT64,
	BUSBAR_UINT64,
	BUSBAR_FLOAT16,
	BUSBAR_BFLOAT16,
	BUSBAR_FLOAT32,
	BUSBAR_FLOAT64,
};

enum busbar_gloo_op { BUSBAR_SUM = 1, BUSBAR_PROD, BUSBAR_MIN, BUSBAR_MAX, BUSBAR_AVG };

struct busbar_gloo_context;
struct busbar_gloo_operation;

struct busbar_gloo_error {
	int status; /* enum busbar_gloo_status */
	int peer;   /* the rank concerned; -1: unknown */
	char text[1024];
};

struct busbar_gloo_create {
	int rank, size;
	const char *interface; /* of the network; NULL: by address */
	const char *address;   /* a name or an address of this host; NULL: by interface */
	int64_t connect_ms, timeout_ms;
	int cpus;       /* length of cpu; 0: Gloo's thread inherits the caller's CPUs */
	const int *cpu; /* the CPUs it may run on */
};

/* An operation to measure; the fields as in internal/operation. */
struct busbar_gloo_spec {
	int kind, type, op, root, in_place;
	int aggregate; /* at least 1 */
	void *send, *recv;
	int64_t count;
	int64_t slots; /* at least 1 */
	int64_t send_stride, recv_stride;
	const int64_t *sends, *receives; /* all_to_all_v: elements to and from each rank */
	int64_t segment; /* bytes per send of reduce_scatter; 0: Gloo's default */
	busbar_step sync;
	void *sync_context;
};

/* Result of busbar_gloo.prepare. */
struct busbar_gloo_prepared {
	struct busbar_gloo_operation *operation; /* to be freed; the context of both steps */
	busbar_step issue, sync;
	int64_t scratch; /* bytes allocated in addition to the buffers */
};

struct busbar_gloo {
	uint32_t abi;              /* BUSBAR_GLOO_ABI; always first */
	const char *version;       /* of the headers that the shim was compiled with: "0.5.0" */
	const char *(*path)(void); /* path of libgloo, from the loader */

	/* A context is created in steps: create opens a listening socket for each other rank; addresses writes size
	 * entries of address_bytes, entry i for rank i; connect gets the entries that the ranks have for this one, in rank
	 * order, and returns when all are connected. */
	int (*create)(const struct busbar_gloo_create *how, struct busbar_gloo_context **out, struct busbar_gloo_error *e);
	int64_t (*address_bytes)(const struct busbar_gloo_context *c);
	int (*addresses)(struct busbar_gloo_context *c, void *out, struct busbar_gloo_error *e);
	int (*connect)(struct busbar_gloo_context *c, const void *all, struct busbar_gloo_error *e);
	const char *(*device)(const struct busbar_gloo_context *c); /* from Gloo: interface, address, speed */
	int (*thread)(const struct busbar_gloo_context *c);         /* the id of Gloo's thread; 0 if not found */

	/* From any thread: the blocked operation of this context and all later ones fail, and the other ranks lose the
	 * connection. */
	void (*interrupt)(struct busbar_gloo_context *c);
	void (*last_error)(const struct busbar_gloo_context *c, struct busbar_gloo_error *e);
	void (*destroy)(struct busbar_gloo_context *c);

	int (*prepare)(struct busbar_gloo_context *c, const struct busbar_gloo_spec *spec, struct busbar_gloo_prepared *out,
		       struct busbar_gloo_error *e);
	void (*release)(struct busbar_gloo_operation *o);
};

#ifdef __cplusplus
}
#endif
#endif
