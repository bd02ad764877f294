/* Internals of the simulated libnccl.so.2: hub.c gathers the ranks behind a unique id, control.c is its client;
 * world.c connects the ranks by inbox.c (shared memory) and socket.c (TCP); exchange.c moves data over both;
 * collective.c builds every operation from exchanges and reduce.c; launch.c and group.c enqueue them on streams;
 * profiler.c reports them to a plugin. */
#ifndef BUSBAR_REHEARSAL_INSIDE_H
#define BUSBAR_REHEARSAL_INSIDE_H

#define _GNU_SOURCE /* accept4, memfd_create, ppoll */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "abi.h"

enum kind { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, ALL_TO_ALL, GATHER, SCATTER, SEND_RECV, KINDS,
	SEND = KINDS, RECV, ALL_TO_ALL_V };

/* --- errors.c, host.c --- */

/* Stores the text for ncclGetLastError and returns the result. */
nccl_result fail(nccl_result, const char *format, ...) __attribute__((format(printf, 2, 3)));
int reported_version(void); /* the simulated version of NCCL: 22707 */
int64_t now(void); /* ns */
void pause_for(int64_t ns);

enum { ADDRESSES = 6 };
struct place {
	uint64_t host;    /* boot, name and NCCL_HOSTID */
	uint64_t machine; /* processes with equal values share memory: boot and process namespace */
	uint16_t port;    /* of a listener, network order */
	uint16_t count;
	uint32_t address[ADDRESSES]; /* network order; the last is the loopback's */
};
void place_here(struct place *);
int listen_here(struct place *);                              /* a listener; -1: failed */
int reach(const struct place *, const _Atomic int *aborted);  /* a connection; -1: failed */
int start_thread(void *(*run)(void *), void *context, pthread_t *); /* without a pthread_t */

/* --- faults.c, model.c --- */

enum fault { NO_FAULT, WRONG, LATE, HANG, OOM, ASYNC_ERROR, REMOTE, INIT_HANG, ABORT_HANG, CRASH, OTHER_GPU };
nccl_result read_settings(void); /* parses faults and model; errors are reported */
/* Bit set (1 << fault each) of the faults for this operation; S is its bytes. late: their delay, in ns. */
unsigned faults_of(unsigned kinds, int rank, int collective, uint64_t bytes, int64_t *late);
int64_t modelled(enum kind, int ranks, uint64_t bytes); /* ns */

/* --- profiler.c --- */

struct operation;
void profiler_open(struct nccl_comm *);
void profiler_close(struct nccl_comm *);
void profiler_tell(const struct nccl_comm *, const struct operation *, uint64_t bytes); /* the bytes are S */

/* --- hub.c, control.c --- */

struct id { /* the content of a unique id */
	char magic[8];
	uint64_t token;
	struct place hub;
};
_Static_assert(sizeof(struct id) <= sizeof(struct nccl_id), "the id is 128 bytes");

enum message { HELLO, WELCOME, REFUSED, ROUND, GONE, LEAVING, BYE };
struct header { uint32_t message, bytes; };
struct hello { uint64_t token; int32_t rank, ranks, pid; };
nccl_result open_hub(struct id *);

struct control {
	int fd;
	int unwatched; /* the hub shut down normally */
	int gone;      /* a rank that crashed, -1: none */
	pthread_mutex_t lock;
};
nccl_result control_open(struct nccl_comm *, const struct id *);
nccl_result control_round(struct nccl_comm *, const void *mine, size_t bytes, void *all);
void control_check(struct nccl_comm *); /* a crashed rank becomes the communicator's asynchronous error */
void control_close(struct nccl_comm *, int64_t patience);

/* --- inbox.c, socket.c, exchange.c --- */

struct ring {
	_Alignas(64) _Atomic uint64_t written;
	_Alignas(64) _Atomic uint64_t read;
};

/* What a rank receives on this host: a ring for each sender. */
struct inbox {
	uint64_t token;
	_Alignas(64) _Atomic uint32_t bell; /* rung when data arrives or a receiver frees space */
	_Alignas(64) _Atomic uint32_t asleep;
	struct ring rings[]; /* followed by the data, ring_bytes each */
};

struct transfer {
	struct transfer *next;
	int peer, receive;
	char *at;
	uint64_t bytes;
	uint64_t moved, announced; /* the length goes first */
};

struct link {
	struct inbox *theirs; /* NULL: by TCP */
	int fd;
	struct transfer *sends, **sends_end, *receives, **receives_end;
};

int inbox_open(struct nccl_comm *, int *fd);
void inbox_map(struct nccl_comm *, int peer, int pid, int fd);
void inbox_drop(struct nccl_comm *, int peer);
void inbox_close(struct nccl_comm *);
uint64_t inbox_push(struct nccl_comm *, int peer, const void *, uint64_t bytes);
uint64_t inbox_pull(struct nccl_comm *, int peer, void *, uint64_t bytes);
void inbox_ring(struct inbox *);
void inbox_sleep(struct inbox *, uint32_t bell, int64_t ns);

nccl_result sockets_open(struct nccl_comm *, int listener, const struct place *places, size_t stride);
int64_t socket_move(int fd, struct transfer *); /* bytes; -1: the peer exited */
void sockets_wait(struct nccl_comm *, int64_t ns);

/* Executes all transfers; those with the same peer in order. Only an abort stops it early. */
nccl_result exchange(struct nccl_comm *, struct transfer *, size_t n);

/* --- world.c, comm.c --- */

enum { SCALARS = 64 };
struct scalar { /* of a PreMulSum */
	int used, type;
	const void *device; /* read when the operation runs; NULL: value */
	char value[8];
};

struct nccl_comm {
	_Atomic int references;
	int rank, ranks;
	struct busbar_rehearsal_device device;
	int capability; /* the lowest of all ranks' GPUs */
	int non_blocking;
	struct id id;
	struct nccl_comm *parent; /* of a split in progress */
	int color, key;

	_Atomic int state;   /* of the last call: OK, IN_PROGRESS or an error */
	_Atomic int async;   /* the asynchronous error */
	_Atomic int aborted;
	int finalized, has_job;
	pthread_t job; /* thread of a non-blocking call, or of one within a group */

	pthread_mutex_t turn; /* one batch at a time moves data */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int outstanding; /* queued batches; with lock */
	struct scalar scalars[SCALARS];
	struct batch *pending; /* of a non-blocking call */
	unsigned connected;    /* collectives that were used before, one bit each */
	void *profiler;        /* the plugin's context; NULL: no plugin */

	struct control control;
	uint64_t token; /* of the inboxes and sockets */
	struct inbox *inbox;
	uint64_t ring_bytes;
	int spins, by_tcp;
	struct link *links;

	/* For collectives: one per rank, and twice as many transfers. */
	const char **parts, **sources;
	size_t *counts;
	struct transfer *transfers;
	char *scratch;
};

nccl_result connect_world(struct nccl_comm *);
nccl_result split_world(struct nccl_comm *);
nccl_result comm_new(nccl_comm *, int ranks, int rank, const struct nccl_config *, nccl_comm like);
nccl_result comm_begin(nccl_comm, nccl_result (*work)(struct nccl_comm *));
void comm_job_end(nccl_comm); /* waits for the job */
nccl_result comm_ready(nccl_comm);
void comm_put(nccl_comm);
nccl_result read_config(const struct nccl_config *, struct nccl_config *);

/* --- reduce.c, collective.c --- */

struct operation {
	struct operation *next;
	enum kind kind;
	const void *send;
	void *recv;
	size_t count;
	int type, op;
	int root; /* or the peer */
	struct scalar scalar;
	enum fault fault;   /* injected while it runs */
	unsigned ways; /* allowed by the caller, one bit per algorithm and protocol; 0: any */
	size_t *split; /* ALL_TO_ALL_V: counts and places, sent and received */
};

enum { SCRATCH = 4 << 20 };
size_t type_bytes(int type);
/* out = the reduction of n sources, in order; out may be one of them. */
void reduce(const struct operation *, void *out, const char *const *sources, int n, size_t count);
void round_scalar(struct scalar *, double);

nccl_result run_collective(struct nccl_comm *, const struct operation *);
nccl_result run_transfers(struct nccl_comm *, const struct operation *first);
size_t output_count(const struct nccl_comm *, const struct operation *);

/* --- launch.c, group.c --- */

struct batch { /* the operations of one communicator in one group */
	struct batch *next;
	nccl_comm comm;
	cuda_stream stream;
	struct operation *first, **end;
	int captured;
	int64_t modelled;
};

nccl_result launch(struct batch *); /* frees it on failure */
void batch_free(void *);
nccl_result submit(nccl_comm, cuda_stream, struct operation);
int in_group(void);
nccl_result group_failed(nccl_result);
/* Allowed by the current call (operation.ways). */
extern _Thread_local unsigned chosen_ways;
nccl_result group_job(nccl_comm);

#endif
