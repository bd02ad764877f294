/* Fault injection, the model, and the state after a failure. */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { N = 256 }; /* int32: 1024 bytes */
static int32_t *x;
static nccl_comm comm;

static void open(void)
{
	device_open(rank);
	comm = comm_open();
	x = device_memory(N * 4 * 8);
}

static nccl_result all_reduce(void)
{
	for (int i = 0; i < N; i++)
		x[i] = 1;
	return ncclAllReduce(x, x, N, INT32, SUM, comm, stream);
}

static int wrong_elements(void)
{
	int wrong = 0;
	DO(cuda.stream_synchronize(stream));
	for (int i = 0; i < N; i++)
		wrong += x[i] != ranks;
	return wrong;
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* After an abort the stream is usable, and a new communicator works. */
static void go_on(void)
{
	DO(cuda.stream_synchronize(stream));
	comm = comm_open();
	CHECK(sums_right(comm, ranks));
	DO(ncclCommDestroy(comm));
}

static void other_gpu(void)
{
	int ordinal;
	open();
	DO(ncclCommCuDevice(comm, &ordinal));
	CHECK(ordinal == rank + (rank == 1));
	DO(ncclCommDestroy(comm));
}

static void wrong(void)
{
	open();
	DO(all_reduce());
	CHECK(wrong_elements() == 0); /* the second only */
	DO(all_reduce());
	CHECK(wrong_elements() == (rank == 1));
	DO(ncclAllGather(x, x + N, N / (size_t)ranks, INT32, comm, stream));
	DO(cuda.stream_synchronize(stream));
	DO(all_reduce());
	CHECK(wrong_elements() == 0);
	DO(ncclCommDestroy(comm));
}

static void late(void)
{
	open();
	busbar_rehearsal_phase("warm-up");
	double start = seconds();
	DO(all_reduce());
	busbar_rehearsal_phase("timed");
	CHECK(wrong_elements() == 0);
	start = seconds();
	DO(all_reduce());
	CHECK(rank != 1 || seconds() - start >= 0.05);
	CHECK(wrong_elements() == 0);
	DO(ncclCommDestroy(comm));
}

static void *abort_soon(void *unused)
{
	meet(); /* the others are reported as waiting */
	DO(ncclCommAbort(comm));
	return unused;
}

/* The hung rank never returns from its call; the others wait for it. */
static void hang(void)
{
	nccl_result rc;
	pthread_t aborting;
	open();
	if (rank == 2) {
		CHECK(pthread_create(&aborting, NULL, abort_soon, NULL) == 0);
		CHECK(all_reduce() == INTERNAL_ERROR);
		CHECK(pthread_join(aborting, NULL) == 0);
	} else {
		DO(all_reduce());
		usleep(50000);
		DO(ncclCommGetAsyncError(comm, &rc));
		CHECK(rc == OK && cuda.stream_query(stream) == 600);
		meet();
		DO(ncclCommAbort(comm));
	}
	go_on();
}

static void out_of_memory(void)
{
	open();
	DO(ncclAllReduce(x, x, N / 2, INT32, SUM, comm, stream));
	DO(cuda.stream_synchronize(stream));
	CHECK(all_reduce() == CUDA_FAILED && !strcmp(ncclGetLastError(comm), "Failed to CUDA malloc 1024 bytes"));
	CHECK(wrong_elements() == N);
	CHECK(sums_right(comm, ranks)); /* crashes one size only */
	DO(ncclCommDestroy(comm));
}

static void error(nccl_result wanted)
{
	nccl_result rc;
	open();
	DO(all_reduce());
	if (rank == 1)
		CHECK(async_error(comm) == wanted && all_reduce() == wanted);
	usleep(30000);
	DO(ncclCommGetAsyncError(comm, &rc));
	CHECK(rc == (rank == 1 ? wanted : OK) && cuda.stream_query(stream) == 600);
	meet();
	DO(ncclCommAbort(comm));
	go_on();
}

static void async_error_asked(void) { error(INTERNAL_ERROR); }
static void remote_error_asked(void) { error(REMOTE_ERROR); }

static void init_hang(void)
{
	struct nccl_config config = {.size = 24, .magic = (unsigned)CONFIG_MAGIC, .version = 21400, .blocking = 0};
	struct nccl_id id;
	nccl_result rc;
	device_open(rank);
	share_id(&id);
	CHECK(ncclCommInitRankConfig(&comm, ranks, id, rank, &config) == IN_PROGRESS);
	usleep(50000);
	DO(ncclCommGetAsyncError(comm, &rc));
	CHECK(rc == IN_PROGRESS);
	meet();
	DO(ncclCommAbort(comm));
}

static void give_up(int signal)
{
	(void)signal;
	_exit(0);
}

static void abort_hang(void)
{
	open();
	if (rank == 1) {
		signal(SIGALRM, give_up);
		alarm(1);
	}
	DO(ncclCommAbort(comm));
	CHECK(rank != 1);
}

/* The other ranks notice any rank's exit, and an abort does not wait for it. */
static void crash(void)
{
	open();
	meet(); /* all are connected */
	DO(all_reduce());
	CHECK(async_error(comm) == REMOTE_ERROR);
	DO(ncclCommAbort(comm));
	DO(cuda.stream_synchronize(stream));
}

static void malformed(void)
{
	static const char *const faults[] = {"wrong", "wrongly@rank=1", "late@rank=1", "late:5@rank=1", "hang:3", "hang@rank=x",
		"hang@size", "oom@collective=allreduce", "init-hang@size=8", "hang@rank=1;nothing"};
	struct nccl_id id;
	setenv("BUSBAR_REHEARSAL_FAULT", faults[rank], 1);
	if (freopen("/dev/null", "w", stderr))
		CHECK(ncclGetUniqueId(&id) == (rank ? INVALID_USAGE : OK));
}

static void grouped(void)
{
	open();
	DO(ncclGroupStart());
	DO(ncclSend(x, 16, INT32, (rank + 1) % ranks, comm, stream));
	DO(ncclRecv(x + 16, 16, INT32, (rank + ranks - 1) % ranks, comm, stream));
	CHECK(ncclGroupEnd() == CUDA_FAILED);
	DO(ncclGroupStart());
	for (int i = 0; i < ranks; i++) {
		DO(ncclSend(x, 16, INT32, i, comm, stream));
		DO(ncclRecv(x + 16, 16, INT32, i, comm, stream));
	}
	CHECK(ncclGroupEnd() == OK);
	DO(ncclCommDestroy(comm));
}

static void model(void)
{
	open();
	const double start = seconds();
	for (int i = 0; i < 3; i++)
		DO(all_reduce());
	DO(cuda.stream_synchronize(stream));
	/* 10 ms, and 1024 bytes times 2(n-1)/n at 100 KB/s. */
	CHECK(seconds() - start >= 3 * (0.010 + 0.01024 * 2 * (ranks - 1) / ranks));
	DO(ncclCommDestroy(comm));
}

void fault_tests(void)
{
	world("wrong", 3, wrong, SETTINGS("BUSBAR_REHEARSAL_FAULT=wrong@rank=1,collective=all_reduce,size=1024,iteration=1"), -1);
	world("late", 2, late, SETTINGS("BUSBAR_REHEARSAL_FAULT=late:50ms@rank=1,phase=timed"), -1);
	world("hang", 3, hang, SETTINGS("BUSBAR_REHEARSAL_FAULT=hang@rank=2,size=1024"), -1);
	world("hang by TCP", 3, hang, SETTINGS("BUSBAR_REHEARSAL_FAULT=hang@rank=2,size=1024", "NCCL_HOSTID=host%d"), -1);
	world("oom", 2, out_of_memory, SETTINGS("BUSBAR_REHEARSAL_FAULT=oom@size=1024"), -1);
	world("async-error", 3, async_error_asked, SETTINGS("BUSBAR_REHEARSAL_FAULT=async-error@rank=1,size=1024"), -1);
	world("remote-error", 3, remote_error_asked, SETTINGS("BUSBAR_REHEARSAL_FAULT=remote-error@rank=1,size=1024"), -1);
	world("init-hang", 3, init_hang, SETTINGS("BUSBAR_REHEARSAL_FAULT=init-hang@rank=1"), -1);
	world("another GPU", 2, other_gpu, SETTINGS("BUSBAR_REHEARSAL_FAULT=other-gpu@rank=1"), -1);
	world("abort-hang", 2, abort_hang, SETTINGS("BUSBAR_REHEARSAL_FAULT=abort-hang@rank=1"), -1);
	world("crash", 3, crash, SETTINGS("BUSBAR_REHEARSAL_FAULT=crash@rank=1,size=1024"), 1);
	world("crash of the first", 3, crash, SETTINGS("BUSBAR_REHEARSAL_FAULT=crash@rank=0"), 0);
	world("crash by TCP", 3, crash, SETTINGS("BUSBAR_REHEARSAL_FAULT=crash@rank=1", "NCCL_HOSTID=host%d"), 1);
	world("malformed", 8, malformed, NULL, -1);
	world("grouped", 3, grouped, SETTINGS("BUSBAR_REHEARSAL_FAULT=oom@collective=sendrecv,size=64"), -1);
	world("model", 2, model, SETTINGS("BUSBAR_REHEARSAL_MODEL=alpha=10ms,beta=100KB/s"), -1);
}
