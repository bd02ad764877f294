/* The part of NCCL's interface that the simulation implements, with own names for its types. All functions except
 * those that return text return a result. */
#ifndef BUSBAR_REHEARSAL_ABI_H
#define BUSBAR_REHEARSAL_ABI_H

#include "../rehearsal.h"

typedef int nccl_result;
enum { OK, CUDA_FAILED, SYSTEM_ERROR, INTERNAL_ERROR, INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR, IN_PROGRESS };
enum { SUM, PROD, MAX, MIN, AVG, FIRST_CREATED };
enum { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, FLOAT8E4M3, FLOAT8E5M2, TYPES };

typedef struct nccl_comm *nccl_comm;
struct nccl_id { char bytes[128]; };

/* The newest layout; callers may pass its beginning, with its size and version. */
enum { UNSET = INT32_MIN, CONFIG_MAGIC = (int)0xcafebeef };
struct nccl_config {
	size_t size;
	unsigned magic, version;
	int blocking, cga_cluster_size, min_ctas, max_ctas;
	const char *net_name;
	int split_share, traffic_class;
	const char *name;
	int collnet, cta_policy, shrink_share, nvls_ctas;
	int channels_per_peer, nvlink_centric, graph_usage, rma_contexts, max_peers, graph_ordering;
};

/* Options of one call; newer libraries have a longer struct. */
struct nccl_choice {
	size_t size;
	unsigned magic, version;
	void *extensions;
	int min_ctas, max_ctas, nvls_ctas, cga_cluster_size;
	const char *algorithms;
	int force, cta_policy;
	uint64_t profiler_tag;
};

#define API EXPORT nccl_result
API ncclGetVersion(int *);
API ncclGetUniqueId(struct nccl_id *);
API ncclCommInitRank(nccl_comm *, int ranks, struct nccl_id, int rank);
API ncclCommInitRankConfig(nccl_comm *, int ranks, struct nccl_id, int rank, struct nccl_config *);
API ncclCommInitRankScalable(nccl_comm *, int ranks, int rank, int ids, struct nccl_id *, struct nccl_config *);
API ncclCommSplit(nccl_comm, int color, int key, nccl_comm *, struct nccl_config *);
API ncclCommFinalize(nccl_comm);
API ncclCommDestroy(nccl_comm);
API ncclCommAbort(nccl_comm);
API ncclCommGetAsyncError(nccl_comm, nccl_result *);
API ncclCommCount(nccl_comm, int *);
API ncclCommCuDevice(nccl_comm, int *);
API ncclCommUserRank(nccl_comm, int *);
EXPORT const char *ncclGetErrorString(nccl_result);
EXPORT const char *ncclGetLastError(nccl_comm);

API ncclGroupStart(void);
API ncclGroupEnd(void);
API ncclAllReduce(const void *, void *, size_t count, int type, int op, nccl_comm, cuda_stream);
API ncclAllGather(const void *, void *, size_t send_count, int type, nccl_comm, cuda_stream);
API ncclReduceScatter(const void *, void *, size_t recv_count, int type, int op, nccl_comm, cuda_stream);
API ncclBroadcast(const void *, void *, size_t count, int type, int root, nccl_comm, cuda_stream);
API ncclBcast(void *, size_t count, int type, int root, nccl_comm, cuda_stream);
API ncclReduce(const void *, void *, size_t count, int type, int op, int root, nccl_comm, cuda_stream);
API ncclAlltoAll(const void *, void *, size_t count, int type, nccl_comm, cuda_stream);
API ncclGather(const void *, void *, size_t count, int type, int root, nccl_comm, cuda_stream);
API ncclScatter(const void *, void *, size_t count, int type, int root, nccl_comm, cuda_stream);
API ncclAllReduceConfig(const void *, void *, size_t count, int type, int op, nccl_comm, cuda_stream, const struct nccl_choice *);
API ncclAllGatherConfig(const void *, void *, size_t send_count, int type, nccl_comm, cuda_stream, const struct nccl_choice *);
API ncclReduceScatterConfig(const void *, void *, size_t recv_count, int type, int op, nccl_comm, cuda_stream,
			    const struct nccl_choice *);
API ncclBroadcastConfig(const void *, void *, size_t count, int type, int root, nccl_comm, cuda_stream,
			const struct nccl_choice *);
API ncclReduceConfig(const void *, void *, size_t count, int type, int op, int root, nccl_comm, cuda_stream,
		     const struct nccl_choice *);
API ncclAlltoAllConfig(const void *, void *, size_t count, int type, nccl_comm, cuda_stream, const struct nccl_choice *);
API ncclGatherConfig(const void *, void *, size_t count, int type, int root, nccl_comm, cuda_stream, const struct nccl_choice *);
API ncclScatterConfig(const void *, void *, size_t count, int type, int root, nccl_comm, cuda_stream, const struct nccl_choice *);
API ncclSend(const void *, size_t count, int type, int peer, nccl_comm, cuda_stream);
API ncclRecv(void *, size_t count, int type, int peer, nccl_comm, cuda_stream);

API ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, nccl_comm);
API ncclRedOpDestroy(int op, nccl_comm);
API ncclMemAlloc(void **, size_t bytes);
API ncclMemFree(void *);
API ncclCommRegister(nccl_comm, void *, size_t bytes, void **handle);
API ncclCommDeregister(nccl_comm, void *handle);
API ncclCommWindowRegister(nccl_comm, void *, size_t bytes, void **window, int flags);
API ncclCommWindowDeregister(nccl_comm, void *window);
API ncclParamGetParameter(const char *key, const char **value, int *length);
API ncclParamGetAllParameterKeys(const char ***keys, int *count);

/* NCCLX's, built on request. */
API ncclAllToAllv(const void *, const size_t *send_counts, const size_t *send_at, void *, const size_t *recv_counts,
		  const size_t *recv_at, int type, nccl_comm, cuda_stream);
API ncclReduceScatterQuantize(const void *, void *, size_t recv_count, int type, int transport_type, int op,
			      uint64_t *seed, nccl_comm, cuda_stream);
API ncclCommGetUniqueHash(nccl_comm, uint64_t *hash);

/* Our own: the first identifies a simulation; the second sets the phase that faults may name. */
EXPORT const char *busbar_rehearsal_version(void);
EXPORT void busbar_rehearsal_phase(const char *);

#endif
