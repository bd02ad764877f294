/* Processes and helpers of the tests; see scripts/rehearsal.sh. */
#include "test.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct busbar_cuda cuda;
cuda_stream stream;
int rank, ranks;
const char *folder;
static struct shared {
	atomic_int arrived, turn, have_id;
	struct nccl_id id;
} *shared;

static void fill_table(void)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
	void *library = dlopen(path, RTLD_NOW);
	CHECK(library);
#define X(need, since, field, symbol, arguments) CHECK((*(void **)&cuda.field = dlsym(library, symbol)) != NULL);
	BUSBAR_CUDA_FUNCTIONS(X)
#undef X
}

static void begin(void (*body)(void), const char *const *settings)
{
	alarm(100);
	for (int i = 0; settings && settings[i]; i++) {
		char text[4400];
		snprintf(text, sizeof text, "%s", settings[i]);
		char *value = strchr(text, '=');
		char *number = strstr(text, "%d");
		if (number)
			sprintf(number, "%d", rank);
		*value = 0;
		setenv(text, value + 1, 1);
	}
	fill_table();
	body();
	exit(0);
}

void world(const char *name, int n, void (*body)(void), const char *const *settings, int crashes)
{
	pid_t pids[8];
	int status, failed = 0;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ranks = n;
	fflush(stdout);
	for (rank = 0; rank < n; rank++)
		if (!(pids[rank] = fork()))
			begin(body, settings);
	for (int i = 0; i < n; i++) {
		if (waitpid(pids[i], &status, 0) < 0)
			abort();
		if (i == crashes ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT : status != 0) {
			fprintf(stderr, "%s: rank %d of %d ended with status %#x\n", name, i, n, (unsigned)status);
			failed = 1;
		}
	}
	munmap(shared, sizeof *shared);
	if (failed)
		exit(1);
}

void meet(void)
{
	const int now = atomic_load(&shared->turn);
	if (atomic_fetch_add(&shared->arrived, 1) == ranks - 1) {
		atomic_store(&shared->arrived, 0);
		atomic_fetch_add(&shared->turn, 1);
	}
	while (atomic_load(&shared->turn) == now)
		usleep(200);
}

void share_id(struct nccl_id *id)
{
	if (rank == 0)
		DO(ncclGetUniqueId(&shared->id));
	meet();
	*id = shared->id;
	meet();
}

void device_open(int ordinal)
{
	cuda_context context;
	DO(cuda.init(0));
	DO(cuda.context_retain(&context, ordinal));
	DO(cuda.context_set(context));
	DO(cuda.stream_create(&stream, 1));
}

void *device_memory(size_t bytes)
{
	cuda_pointer p;
	DO(cuda.memory_alloc(&p, bytes ? bytes : 1));
	return (void *)p;
}

void device_free(void *p) { DO(cuda.memory_free((cuda_pointer)p)); }

nccl_comm comm_open(void)
{
	struct nccl_id id;
	nccl_comm c;
	share_id(&id);
	DO(ncclCommInitRank(&c, ranks, id, rank));
	return c;
}

nccl_result settled(nccl_comm c)
{
	nccl_result rc;
	do {
		DO(ncclCommGetAsyncError(c, &rc));
		usleep(500);
	} while (rc == IN_PROGRESS);
	return rc;
}

nccl_result async_error(nccl_comm c)
{
	nccl_result rc;
	do {
		DO(ncclCommGetAsyncError(c, &rc));
		usleep(500);
	} while (rc == OK);
	return rc;
}

int sums_right(nccl_comm c, int n)
{
	int32_t *x = device_memory(4);
	*x = 1;
	const nccl_result rc = ncclAllReduce(x, x, 1, INT32, SUM, c, stream);
	CHECK(rc == OK || rc == IN_PROGRESS);
	CHECK(settled(c) == OK);
	DO(cuda.stream_synchronize(stream));
	const int right = *x == n;
	device_free(x);
	return right;
}

int main(int argc, char **argv)
{
	folder = argc > 1 ? argv[1] : ".";
	cuda_tests();
	collective_tests();
	life_tests();
	fault_tests();
	profiler_tests();
	cublas_tests();
	puts("the simulation of libcuda, libnccl and libcublas: ok");
	return 0;
}
