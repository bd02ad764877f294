/* Communicators: creation, splits and destruction. */
#include "test.h"

static struct nccl_config smallest(int blocking)
{
	return (struct nccl_config){.size = 24, .magic = (unsigned)CONFIG_MAGIC, .version = 21400, .blocking = blocking};
}

enum { ZERO = -1 };

/* Expected result for a configuration. A field that is 0 is passed as unset, one that is ZERO as 0. */
static nccl_result configured(const char *library, struct nccl_config config)
{
	struct nccl_id id;
	nccl_comm c = NULL;
	setenv("BUSBAR_REHEARSAL_VERSION", library, 1);
	config.magic = config.magic ? config.magic : (unsigned)CONFIG_MAGIC;
	int *const fields[] = {&config.blocking, &config.cga_cluster_size, &config.min_ctas, &config.max_ctas, &config.split_share,
		&config.traffic_class, &config.collnet, &config.cta_policy, &config.shrink_share, &config.nvls_ctas,
		&config.channels_per_peer, &config.nvlink_centric, &config.graph_usage, &config.rma_contexts, &config.max_peers,
		&config.graph_ordering};
	for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
		*fields[i] = *fields[i] == 0 ? UNSET : *fields[i] == ZERO ? 0 : *fields[i];
	DO(ncclGetUniqueId(&id));
	const nccl_result rc = ncclCommInitRankConfig(&c, 1, id, 0, &config);
	if (!rc)
		DO(ncclCommDestroy(c));
	return rc;
}

#define CONFIG(library, bytes, caller, ...) \
	configured(library, (struct nccl_config){.size = bytes, .version = caller, __VA_ARGS__})
#define ACCEPTED(...) CHECK(CONFIG(__VA_ARGS__) == OK)
#define REFUSED(...) CHECK(CONFIG(__VA_ARGS__) == INVALID_ARGUMENT)

/* The configuration rules of NCCL 2.14 to 2.31: docs/nccl.md has the table. */
static void configurations(void)
{
	device_open(0);
	/* Before 2.17 blocking is the only field, and it has no default. */
	ACCEPTED("21400", 24, 21400, .blocking = 1);
	REFUSED("21403", 24, 21400, .blocking = UNSET);
	REFUSED("22707", 24, 21400, .blocking = 7);
	REFUSED("22707", 24, 21400, .blocking = 1, .magic = 0xdeadbeef);
	ACCEPTED("21403", 40, 21700, .blocking = 1, .min_ctas = 4, .max_ctas = 1);
	ACCEPTED("22707", 24, 21400, .blocking = UNSET);
	/* A minimum of CTAs needs a maximum until 2.31. */
	static const char *const strict[] = {"21701", "21805", "22105", "22707", "22809", "23007"};
	for (unsigned i = 0; i < sizeof strict / sizeof *strict; i++) {
		REFUSED(strict[i], 40, 21700, .min_ctas = 4);
		ACCEPTED(strict[i], 40, 21700, .min_ctas = 4, .max_ctas = 1024);
		ACCEPTED(strict[i], 40, 21700, .max_ctas = 4);
	}
	ACCEPTED("23102", 40, 21700, .min_ctas = 4);
	REFUSED("23102", 40, 21700, .min_ctas = 4, .max_ctas = 1);
	REFUSED("22707", 40, 21700, .min_ctas = ZERO, .max_ctas = 4);
	ACCEPTED("22707", 40, 21400, .blocking = 1, .min_ctas = 4, .max_ctas = 1); /* unknown to the caller's version */
	/* Only the size decides on splitShare. */
	ACCEPTED("22707", 48, 21800, .split_share = 1);
	REFUSED("22707", 48, 21800, .split_share = 2);
	REFUSED("22707", 48, 21700, .split_share = 2);
	ACCEPTED("21701", 48, 21800, .split_share = 2);
	/* Each version added a value to CTAPolicy. */
	ACCEPTED("22605", 72, 22700, .cta_policy = 7);
	ACCEPTED("22707", 72, 22700, .cta_policy = 1);
	REFUSED("22707", 72, 22700, .cta_policy = 2);
	ACCEPTED("22809", 72, 22700, .cta_policy = 2);
	REFUSED("22809", 72, 22700, .cta_policy = 3);
	ACCEPTED("22907", 72, 22700, .cta_policy = 3);
	REFUSED("23007", 72, 22700, .cta_policy = 4);
	REFUSED("22707", 72, 22700, .collnet = 2);
	REFUSED("22707", 72, 22700, .shrink_share = 2);
	REFUSED("22707", 72, 22700, .nvls_ctas = ZERO);
	/* Fields of later versions. */
	const size_t all = sizeof(struct nccl_config);
	ACCEPTED("22707", all, 23007, .channels_per_peer = 65);
	REFUSED("22809", all, 23007, .channels_per_peer = 65);
	REFUSED("22809", all, 23007, .nvlink_centric = 2);
	ACCEPTED("22809", 72, 22700, .nvlink_centric = 2);
	REFUSED("22907", all, 23007, .graph_usage = 3);
	REFUSED("22907", all, 23007, .rma_contexts = ZERO);
	ACCEPTED("23007", all, 23007, .rma_contexts = ZERO);
	REFUSED("23007", all, 23007, .max_peers = ZERO);
	REFUSED("23007", all, 23007, .graph_ordering = 2);
	ACCEPTED("23007", all, 23000, .graph_ordering = 2);
}

static void arguments(void)
{
	struct nccl_id id = {{0}};
	nccl_comm c;
	char *p, *plain, host[64];
	void *window;
	int n;
	device_open(0);
	CHECK(ncclCommInitRank(&c, 1, id, 0) == INVALID_ARGUMENT);
	DO(ncclGetUniqueId(&id));
	CHECK(ncclCommInitRank(&c, 2, id, 2) == INVALID_ARGUMENT && ncclCommInitRank(NULL, 1, id, 0) == INVALID_ARGUMENT);
	DO(ncclCommInitRank(&c, 1, id, 0));
	DO(ncclMemAlloc((void **)&p, 8192));
	CHECK(ncclAllReduce(p, p, 1, FLOAT32, SUM, NULL, stream) == INVALID_ARGUMENT);
	CHECK(ncclAllReduce(p, p, 1, FLOAT32, 5, c, stream) == INVALID_ARGUMENT);
	CHECK(ncclBroadcast(p, p, 1, FLOAT32, 1, c, stream) == INVALID_ARGUMENT);
	CHECK(ncclAllReduce(host, p, 1, FLOAT32, SUM, c, stream) == INVALID_ARGUMENT);
	CHECK(ncclAllReduce(p, p, 8192, FLOAT32, SUM, c, stream) == INVALID_ARGUMENT);
	CHECK(strstr(ncclGetLastError(c), "memory of a device"));
	CHECK(ncclAlltoAll(p, p, 1, FLOAT32, c, stream) == INVALID_ARGUMENT);
	DO(ncclAllReduce(p, p, 0, FLOAT32, SUM, c, stream));
	CHECK(ncclCommWindowRegister(c, p + 8, 8, &window, 1) == INVALID_ARGUMENT);
	DO(ncclCommWindowRegister(c, p, 4096, &window, 1));
	CHECK(ncclCommDeregister(c, window) == INVALID_USAGE && ncclCommDeregister(c, NULL) == INVALID_USAGE);
	DO(ncclCommWindowDeregister(c, window));
	plain = device_memory(8192);
	CHECK(ncclCommWindowRegister(c, plain, 4096, &window, 1) == CUDA_FAILED);
	CHECK(!strcmp(ncclGetLastError(c), "Cuda failure 1 'invalid argument'"));
	DO(ncclCommRegister(c, plain, 4096, &window));
	DO(ncclCommDeregister(c, window));
	device_free(plain);
	CHECK(ncclCommWindowRegister(c, p + 4096, 8192, &window, 1) == INVALID_ARGUMENT);
	DO(ncclCommRegister(c, p + 8, 8, &window));
	DO(ncclCommDeregister(c, window));
	DO(ncclMemFree(p));
	DO(ncclMemAlloc((void **)&plain, 4096)); /* may reuse the other's address */
	DO(ncclCommWindowRegister(c, plain, 4096, &window, 1));
	DO(ncclCommWindowDeregister(c, window));
	DO(ncclMemFree(plain));
	DO(ncclGetVersion(&n));
	CHECK(n == 21903 && !strcmp(ncclGetErrorString(7), "NCCL operation in progress"));
	CHECK(ncclGroupEnd() == INVALID_USAGE);
	const char **keys, *value;
	DO(ncclParamGetAllParameterKeys(&keys, &n));
	DO(ncclParamGetParameter(keys[0], &value, &n));
	CHECK(!strcmp(keys[0], "NCCL_HOSTID") && !strcmp(value, "here") && n == 4);
	DO(ncclCommFinalize(c));
	CHECK(ncclAllReduce(p, p, 1, FLOAT32, SUM, c, stream) == INVALID_USAGE);
	DO(ncclCommDestroy(c));
}

static void non_blocking(void)
{
	struct nccl_config config = smallest(0);
	struct nccl_id id;
	nccl_comm c;
	nccl_result rc;
	int32_t *x;
	device_open(rank);
	share_id(&id);
	x = device_memory(4);
	if (rank == ranks - 1)
		meet(); /* the others are still waiting */
	CHECK(ncclCommInitRankScalable(&c, ranks, rank, 1, &id, &config) == IN_PROGRESS);
	if (rank < ranks - 1) {
		DO(ncclCommGetAsyncError(c, &rc));
		CHECK(rc == IN_PROGRESS && ncclAllReduce(x, x, 1, INT32, SUM, c, stream) == INVALID_ARGUMENT);
		meet();
	}
	CHECK(settled(c) == OK && sums_right(c, ranks));
	CHECK(ncclCommFinalize(c) == IN_PROGRESS);
	CHECK(settled(c) == OK);
	DO(ncclCommDestroy(c));
}

/* BUSBAR_TEST_UNEQUAL: expected result for windows of different sizes. */
static void windows(void)
{
	void *window, *p;
	device_open(rank);
	nccl_comm c = comm_open();
	DO(ncclCommDeregister(c, NULL));
	DO(ncclMemAlloc(&p, 8192));
	DO(ncclCommWindowRegister(c, p, 8192, &window, 1));
	DO(ncclCommWindowDeregister(c, window));
	const nccl_result unequal = ncclCommWindowRegister(c, p, rank ? 4096 : 8192, &window, 1);
	CHECK(unequal == (nccl_result)atoi(getenv("BUSBAR_TEST_UNEQUAL")) && !window == (unequal != OK));
	DO(ncclCommWindowDeregister(c, window));
	const nccl_result refused = ncclCommWindowRegister(c, rank ? p : NULL, 8192, &window, 1);
	CHECK(refused == (rank ? CUDA_FAILED : INVALID_ARGUMENT)); /* neither rank waits for the other */
	DO(ncclMemFree(p));
	DO(ncclCommDestroy(c));
}

/* 8-bit floats. BUSBAR_TEST_MOVED: expected result of all_gather; BUSBAR_TEST_SENT: of sends. */
static void float8(void)
{
	const int moved = atoi(getenv("BUSBAR_TEST_MOVED")), sent = atoi(getenv("BUSBAR_TEST_SENT"));
	if (rank) /* the lowest of all ranks applies */
		setenv("BUSBAR_REHEARSAL_CAPABILITY", "9.0", 1);
	device_open(rank);
	nccl_comm c = comm_open();
	char *p = device_memory(64);
	for (int type = FLOAT8E4M3; type <= FLOAT8E5M2; type++) {
		CHECK(ncclAllReduce(p, p, 4, type, SUM, c, stream) == INVALID_ARGUMENT);
		CHECK(ncclReduceScatter(p, p + 32, 4, type, AVG, c, stream) == INVALID_ARGUMENT);
		CHECK(ncclReduce(p, p, 4, type, MAX, 0, c, stream) == INVALID_ARGUMENT);
		CHECK(ncclAllGather(p, p + 32, 4, type, c, stream) == moved);
		CHECK(ncclBroadcast(p, p, 4, type, 0, c, stream) == moved);
		DO(ncclGroupStart());
		CHECK(ncclSend(p, 4, type, (rank + 1) % ranks, c, stream) == sent);
		CHECK(ncclRecv(p + 32, 4, type, (rank + 1) % ranks, c, stream) == sent);
		CHECK(ncclGroupEnd() == sent);
	}
	DO(cuda.stream_synchronize(stream));
	CHECK(sums_right(c, ranks)); /* remains usable */
	DO(ncclCommDestroy(c));
}

static void splits(void)
{
	nccl_comm world, half, none, self;
	int n, r;
	device_open(rank);
	world = comm_open();
	DO(ncclCommSplit(world, rank % 2, -rank, &half, NULL)); /* in reverse order */
	DO(ncclCommCount(half, &n));
	DO(ncclCommUserRank(half, &r));
	CHECK(n == (ranks + 1 - rank % 2) / 2 && r == n - 1 - rank / 2);
	CHECK(sums_right(half, n));
	DO(ncclCommSplit(world, rank ? -1 : 0, 0, &none, NULL));
	CHECK((none == NULL) == (rank != 0));
	DO(ncclCommSplit(half, r, 0, &self, NULL));
	CHECK(sums_right(self, 1) && sums_right(world, ranks));
	DO(ncclCommDestroy(self));
	DO(ncclCommDestroy(none));
	DO(ncclCommDestroy(world));
	CHECK(sums_right(half, n)); /* outlives its parent */
	DO(ncclCommDestroy(half));
}

/* One rank finishes and exits while others continue; it does not count as crashed. */
static void early_end(void)
{
	nccl_comm world, rest;
	nccl_result rc;
	device_open(rank);
	world = comm_open();
	DO(ncclCommSplit(world, rank ? 0 : -1, 0, &rest, NULL));
	if (rank == 0) {
		DO(ncclCommDestroy(world));
		return;
	}
	for (int i = 0; i < 50; i++) {
		DO(ncclCommGetAsyncError(world, &rc));
		CHECK(rc == OK && sums_right(rest, ranks - 1));
	}
	DO(ncclCommDestroy(rest));
	DO(ncclCommDestroy(world));
}

static void shared_gpu(void)
{
	struct nccl_id id;
	nccl_comm c;
	device_open(getenv("BUSBAR_REHEARSAL_SLICES") ? rank : 0);
	share_id(&id);
	CHECK(ncclCommInitRank(&c, ranks, id, rank) == INVALID_USAGE);
	CHECK(strstr(ncclGetLastError(NULL), getenv("BUSBAR_TEST_ERROR")));
}

/* Slices of one GPU share its address and have different UUIDs. */
static void slices(void)
{
	cuda_uuid own, whole[2], uuid[2];
	char pci[2][32];
	DO(cuda.init(0));
	for (int i = 0; i < 2; i++) {
		DO(cuda.device_uuid(&uuid[i], i));
		DO(cuda.device_uuid_whole(&whole[i], i));
		DO(cuda.device_pci(pci[i], sizeof pci[i], i));
	}
	DO(cuda.device_uuid_whole(&own, 2));
	CHECK(memcmp(&uuid[0], &uuid[1], sizeof own) && memcmp(&uuid[0], &whole[0], sizeof own));
	CHECK(!memcmp(&whole[0], &whole[1], sizeof own) && memcmp(&whole[0], &own, sizeof own) && !strcmp(pci[0], pci[1]));
}

static void shared_gpu_allowed(void)
{
	device_open(getenv("BUSBAR_REHEARSAL_SLICES") ? rank : 0);
	nccl_comm c = comm_open();
	CHECK(sums_right(c, ranks));
	DO(ncclCommDestroy(c));
}

static void other_version(void)
{
	struct nccl_id id;
	nccl_comm c;
	setenv("BUSBAR_REHEARSAL_VERSION", rank ? "22707" : "22803", 1);
	device_open(rank);
	share_id(&id);
	CHECK(ncclCommInitRank(&c, ranks, id, rank) == INVALID_USAGE && strstr(ncclGetLastError(NULL), "Mismatched NCCL version"));
}

static void different_calls(void)
{
	nccl_comm c;
	char *x;
	device_open(rank);
	x = device_memory(64);
	c = comm_open();
	DO(ncclAllReduce(x, x, rank ? 4 : 8, INT32, SUM, c, stream));
	CHECK(async_error(c) == INTERNAL_ERROR && strstr(ncclGetLastError(c), "calls differ"));
	DO(ncclCommAbort(c));
	DO(cuda.stream_synchronize(stream));
}

void life_tests(void)
{
	world("configurations", 1, configurations, NULL, -1);
	world("arguments", 1, arguments, SETTINGS("BUSBAR_REHEARSAL_VERSION=21903", "NCCL_HOSTID=here"), -1);
	world("non-blocking", 3, non_blocking, NULL, -1);
	world("windows", 2, windows, SETTINGS("BUSBAR_TEST_UNEQUAL=1"), -1);
	world("windows of a newer NCCL", 2, windows, SETTINGS("BUSBAR_TEST_UNEQUAL=0", "BUSBAR_REHEARSAL_VERSION=23007"), -1);
	const char *const sm80 = "BUSBAR_REHEARSAL_CAPABILITY=8.0";
	const char *const refused = "BUSBAR_TEST_MOVED=4";
	world("8-bit floats, NCCL 2.27", 2, float8, SETTINGS(sm80, refused, "BUSBAR_TEST_SENT=0"), -1);
	world("8-bit floats, NCCL 2.28", 2, float8,
	      SETTINGS(sm80, "BUSBAR_REHEARSAL_VERSION=22803", "BUSBAR_TEST_MOVED=0", "BUSBAR_TEST_SENT=0"), -1);
	world("8-bit floats, NCCL 2.23", 2, float8,
	      SETTINGS("BUSBAR_REHEARSAL_VERSION=22304", refused, "BUSBAR_TEST_SENT=4"), -1);
	world("splits", 5, splits, NULL, -1);
	world("an early end", 3, early_end, NULL, -1);
	const char *const duplicate = "BUSBAR_TEST_ERROR=Duplicate GPU detected : rank 0 and rank 1";
	const char *const multiple = "BUSBAR_TEST_ERROR=Multiple ranks detected";
	const char *const allow = "NCCL_MULTI_RANK_GPU_ENABLE=1", *const old = "BUSBAR_REHEARSAL_VERSION=22907";
	const char *const newer = "BUSBAR_REHEARSAL_VERSION=23003", *const cut = "BUSBAR_REHEARSAL_SLICES=2";
	world("a shared GPU", 2, shared_gpu, SETTINGS(duplicate, old, allow), -1);
	world("a shared GPU of a newer NCCL", 2, shared_gpu, SETTINGS(multiple, newer), -1);
	world("a shared GPU, allowed", 2, shared_gpu_allowed, SETTINGS(newer, allow), -1);
	world("slices", 1, slices, SETTINGS(cut), -1);
	world("slices, duplicate", 2, shared_gpu, SETTINGS(duplicate, old, allow, cut), -1);
	world("slices of a newer NCCL", 2, shared_gpu, SETTINGS(multiple, newer, cut), -1);
	world("slices, allowed", 2, shared_gpu_allowed, SETTINGS(newer, allow, cut), -1);
	world("a shared GPU, other host", 2, shared_gpu_allowed, SETTINGS("NCCL_HOSTID=%d"), -1);
	world("other versions", 2, other_version, NULL, -1);
	world("different calls", 2, different_calls, NULL, -1);
}
