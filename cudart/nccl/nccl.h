/* The part of NCCL's interface that busbar uses, declared without NVIDIA's header. The table of functions is filled
 * from a library at run time.
 *
 * BUSBAR_NCCL_FUNCTIONS lists every function once: X(need, since, result, field, symbol, arguments). need is REQUIRED
 * or OPTIONAL (a NULL field: the library lacks it); since is the version code of the NCCL in which the symbol
 * appeared, or 0 if only other libraries have it. */
#ifndef BUSBAR_NCCL_H
#define BUSBAR_NCCL_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "../../internal/loop/loop.h"
#include "../../internal/dl/symbol.h"
#include "../cuda.h"

typedef int nccl_result; /* ncclResult_t */
typedef struct nccl_comm_ *nccl_comm;
typedef struct nccl_window_ *nccl_window;
typedef struct { char bytes[128]; } nccl_id; /* ncclUniqueId; passed by value, so calls need a compiled trampoline */

enum { NCCL_SUCCESS = 0, NCCL_SYSTEM_ERROR = 2, NCCL_IN_PROGRESS = 7 };
enum { NCCL_INT8, NCCL_UINT8, NCCL_INT32, NCCL_UINT32, NCCL_INT64, NCCL_UINT64, NCCL_FLOAT16, NCCL_FLOAT32,
       NCCL_FLOAT64, NCCL_BFLOAT16, NCCL_FLOAT8E4M3, NCCL_FLOAT8E5M2 };
enum { NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG, BUSBAR_PRE_MUL_SUM };
enum { NCCL_SCALAR_ON_HOST = 1, NCCL_WINDOW_SYMMETRIC = 1 };

/* The beginning of ncclConfig_t that all libraries share; it ended after 24, 40, 48 and 72 bytes in NCCL 2.14, 2.17,
 * 2.18 and 2.27. */
struct nccl_config {
	size_t size;
	unsigned magic, version;
	int blocking;
	int cga_cluster_size, min_ctas, max_ctas;
	const char *net_name;
	int split_share, traffic_class;
	const char *comm_name;
	int collnet_enable, cta_policy, shrink_share, nvls_ctas;
};
#define NCCL_CONFIG_MAGIC 0xcafebeefu
#define NCCL_UNSET INT_MIN
_Static_assert(offsetof(struct nccl_config, cga_cluster_size) == 20 && offsetof(struct nccl_config, split_share) == 40 &&
	       offsetof(struct nccl_config, comm_name) == 48 && sizeof(struct nccl_config) == 72, "ncclConfig_t");

#define REDUCTION (const void *send, void *recv, size_t count, int type, int op, nccl_comm, cuda_stream)
#define MOVE (const void *send, void *recv, size_t count, int type, nccl_comm, cuda_stream)
#define ROOTED_MOVE (const void *send, void *recv, size_t count, int type, int root, nccl_comm, cuda_stream)

#define BUSBAR_NCCL_FUNCTIONS(X) \
	X(REQUIRED, 20300, nccl_result, version, "ncclGetVersion", (int *code)) \
	X(REQUIRED, 20300, nccl_result, unique_id, "ncclGetUniqueId", (nccl_id *)) \
	X(REQUIRED, 20300, nccl_result, init, "ncclCommInitRank", (nccl_comm *, int ranks, nccl_id, int rank)) \
	X(OPTIONAL, 21400, nccl_result, init_config, "ncclCommInitRankConfig", (nccl_comm *, int ranks, nccl_id, int rank, \
		struct nccl_config *)) \
	X(REQUIRED, 20300, nccl_result, destroy, "ncclCommDestroy", (nccl_comm)) \
	X(OPTIONAL, 20400, nccl_result, abort, "ncclCommAbort", (nccl_comm)) \
	X(OPTIONAL, 20400, nccl_result, async_error, "ncclCommGetAsyncError", (nccl_comm, nccl_result *)) \
	X(REQUIRED, 20300, const char *, error_string, "ncclGetErrorString", (nccl_result)) \
	X(OPTIONAL, 21300, const char *, last_error, "ncclGetLastError", (nccl_comm)) \
	X(OPTIONAL, 20300, nccl_result, comm_device, "ncclCommCuDevice", (nccl_comm, int *ordinal)) \
	X(OPTIONAL, 21800, nccl_result, split, "ncclCommSplit", (nccl_comm, int color, int key, nccl_comm *, \
		struct nccl_config *)) \
	X(REQUIRED, 20300, nccl_result, group_start, "ncclGroupStart", (void)) \
	X(REQUIRED, 20300, nccl_result, group_end, "ncclGroupEnd", (void)) \
	X(OPTIONAL, 20300, nccl_result, all_reduce, "ncclAllReduce", REDUCTION) \
	X(OPTIONAL, 20300, nccl_result, all_gather, "ncclAllGather", MOVE) \
	X(OPTIONAL, 20300, nccl_result, reduce_scatter, "ncclReduceScatter", REDUCTION) \
	X(OPTIONAL, 20300, nccl_result, broadcast, "ncclBroadcast", ROOTED_MOVE) \
	X(OPTIONAL, 20300, nccl_result, reduce, "ncclReduce", (const void *send, void *recv, size_t count, int type, int op, \
		int root, nccl_comm, cuda_stream)) \
	X(OPTIONAL, 20700, nccl_result, send, "ncclSend", (const void *, size_t count, int type, int peer, nccl_comm, \
		cuda_stream)) \
	X(OPTIONAL, 20700, nccl_result, recv, "ncclRecv", (void *, size_t count, int type, int peer, nccl_comm, \
		cuda_stream)) \
	X(OPTIONAL, 22800, nccl_result, all_to_all, "ncclAlltoAll", MOVE) \
	X(OPTIONAL, 0, nccl_result, all_to_all_other, "ncclAllToAll", MOVE) \
	X(OPTIONAL, 22800, nccl_result, gather, "ncclGather", ROOTED_MOVE) \
	X(OPTIONAL, 22800, nccl_result, scatter, "ncclScatter", ROOTED_MOVE) \
	X(OPTIONAL, 21100, nccl_result, op_create, "ncclRedOpCreatePreMulSum", (int *op, void *scalar, int type, \
		int residence, nccl_comm)) \
	X(OPTIONAL, 21100, nccl_result, op_destroy, "ncclRedOpDestroy", (int op, nccl_comm)) \
	X(OPTIONAL, 21900, nccl_result, mem_alloc, "ncclMemAlloc", (void **, size_t bytes)) \
	X(OPTIONAL, 21900, nccl_result, mem_free, "ncclMemFree", (void *)) \
	X(OPTIONAL, 21900, nccl_result, buffer_register, "ncclCommRegister", (nccl_comm, void *, size_t bytes, void **handle)) \
	X(OPTIONAL, 21900, nccl_result, buffer_deregister, "ncclCommDeregister", (nccl_comm, void *handle)) \
	X(OPTIONAL, 22700, nccl_result, window_register, "ncclCommWindowRegister", (nccl_comm, void *, size_t bytes, \
		nccl_window *, int flags)) \
	X(OPTIONAL, 22700, nccl_result, window_deregister, "ncclCommWindowDeregister", (nccl_comm, nccl_window)) \
	X(OPTIONAL, 23000, nccl_result, parameter, "ncclParamGetParameter", (const char *key, const char **value, int *length)) \
	X(OPTIONAL, 23000, nccl_result, parameter_keys, "ncclParamGetAllParameterKeys", (const char ***keys, int *count)) \
	X(OPTIONAL, 0, const char *, rehearsal_version, "busbar_rehearsal_version", (void)) \
	X(OPTIONAL, 0, void, rehearsal_phase, "busbar_rehearsal_phase", (const char *name))

struct busbar_nccl {
#define X(need, since, result, field, symbol, arguments) result (*field) arguments;
	BUSBAR_NCCL_FUNCTIONS(X)
#undef X
};

extern const struct busbar_symbol busbar_nccl_symbols[];
extern const size_t busbar_nccl_symbol_count;

/* Codes in addition to NCCL's results. */
enum { BUSBAR_CUDA_CODE = 1000, BUSBAR_INTERRUPTED = 10000 };

struct busbar_nccl_comm {
	const struct busbar_nccl *t;
	nccl_comm comm; /* NULL once it is destroyed */
	volatile int interrupted;
};

/* comm.c. All return a result of NCCL, or BUSBAR_INTERRUPTED. */
int busbar_nccl_init(struct busbar_nccl_comm *c, int ranks, int rank, const void *id, struct nccl_config *config);
int busbar_nccl_async_error(const struct busbar_nccl_comm *c);
int busbar_nccl_close(struct busbar_nccl_comm *c);
int busbar_nccl_abort(struct busbar_nccl_comm *c);
int busbar_nccl_register(const struct busbar_nccl_comm *c, uint64_t p, size_t bytes, int window, void **handle);
int busbar_nccl_deregister(const struct busbar_nccl_comm *c, int window, void *handle);

/* rc is the result of a call; if it is ncclInProgress, polls until the communicator's state changes. */
int busbar_nccl_settle(const struct busbar_nccl_comm *c, int rc);
void busbar_nccl_rest(int64_t waited);
int64_t busbar_nccl_now(void);

static inline int busbar_nccl_interrupted(const struct busbar_nccl_comm *c)
{
	return __atomic_load_n(&c->interrupted, __ATOMIC_RELAXED);
}

/* operation.c, ways.c */
enum busbar_nccl_kind {
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

/* An operation to measure; the fields as in OpSpec, with NCCL's numbers for type and op. */
struct busbar_nccl_spec {
	int kind, type, op, root;
	int rank, ranks;
	int64_t bytes; /* of one element */
	uint64_t send, recv;
	int64_t count, slots, send_stride, recv_stride;
	const int64_t *sends, *receives; /* all_to_all_v: elements to and from each rank */
	int aggregate, graph;
	void *stream;
	const struct busbar_cuda *cuda;
	busbar_step sync;
	void *sync_context;
};

struct busbar_nccl_operation;
struct busbar_nccl_prepared {
	struct busbar_nccl_operation *operation; /* to be freed; the context of the steps */
	busbar_step issue, wait, sync;
	const char *function; /* function that performs the operation; NULL: the library has none */
	int grouped;          /* by ncclSend and ncclRecv in a group */
};

int busbar_nccl_prepare(struct busbar_nccl_comm *c, const struct busbar_nccl_spec *s, struct busbar_nccl_prepared *out);
int busbar_nccl_release(struct busbar_nccl_operation *o);

/* Waits for a stream that also has work other than the communicator's operations, as an operation's wait does. It
 * calls look periodically. */
struct busbar_nccl_waiter {
	const struct busbar_nccl_comm *c;
	const struct busbar_cuda *cuda;
	cuda_stream stream;
};
int busbar_nccl_wait(void *waiter, void (*look)(void *), void *looker);

int busbar_nccl_has_graphs(const struct busbar_cuda *cuda);

#endif
