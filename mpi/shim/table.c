#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>

#define TEXT(x) #x
#define VALUE(x) TEXT(x)

#if defined(OPEN_MPI)
#define FAMILY "openmpi"
#define COMPILED "Open MPI " VALUE(OMPI_MAJOR_VERSION) "." VALUE(OMPI_MINOR_VERSION) "." VALUE(OMPI_RELEASE_VERSION)
#elif defined(MPICH_VERSION)
#define FAMILY "mpich"
#define COMPILED "MPICH " MPICH_VERSION
#else
#define FAMILY "other"
#define COMPILED "MPI " VALUE(MPI_VERSION) "." VALUE(MPI_SUBVERSION)
#endif

/* scripts/mpi-shim.sh finds the family in the compiled shim by this mark. */
#define MARK "busbar family: "

static const char *path(void)
{
	Dl_info info;
	return dladdr((void *)MPI_Init_thread, &info) && info.dli_fname ? info.dli_fname : "";
}

static int version(char *text, int size, int standard[2])
{
	char full[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length;
	int rc = MPI_Get_library_version(full, &length);
	snprintf(text, (size_t)size, "%s", full);
	return rc ? rc : MPI_Get_version(&standard[0], &standard[1]);
}

static int large(void) { return large_functions() != NULL; }

static int init(int *level)
{
	int provided = MPI_THREAD_SINGLE;
	int rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	*level = provided == MPI_THREAD_MULTIPLE     ? 3
		 : provided == MPI_THREAD_SERIALIZED ? 2
		 : provided == MPI_THREAD_FUNNELED   ? 1
						     : 0;
	return rc;
}

static int running(void)
{
	int initialized = 0, finalized = 0;
	MPI_Initialized(&initialized);
	MPI_Finalized(&finalized);
	return initialized && !finalized;
}

static int finalize(void)
{
	half_free();
	return MPI_Finalize();
}

static int end_all(int code) { return MPI_Abort(MPI_COMM_WORLD, code); }

#define CLASS(name) { name, #name }
static const struct { int number; const char *name; } classes[] = {
	CLASS(MPI_ERR_BUFFER), CLASS(MPI_ERR_COUNT), CLASS(MPI_ERR_TYPE), CLASS(MPI_ERR_TAG), CLASS(MPI_ERR_COMM),
	CLASS(MPI_ERR_RANK), CLASS(MPI_ERR_REQUEST), CLASS(MPI_ERR_ROOT), CLASS(MPI_ERR_GROUP), CLASS(MPI_ERR_OP),
	CLASS(MPI_ERR_TOPOLOGY), CLASS(MPI_ERR_DIMS), CLASS(MPI_ERR_ARG), CLASS(MPI_ERR_UNKNOWN),
	CLASS(MPI_ERR_TRUNCATE), CLASS(MPI_ERR_OTHER), CLASS(MPI_ERR_INTERN), CLASS(MPI_ERR_IN_STATUS),
	CLASS(MPI_ERR_PENDING), CLASS(MPI_ERR_KEYVAL), CLASS(MPI_ERR_NO_MEM), CLASS(MPI_ERR_INFO),
	CLASS(MPI_ERR_NAME), CLASS(MPI_ERR_PORT), CLASS(MPI_ERR_SERVICE), CLASS(MPI_ERR_SPAWN),
	CLASS(MPI_ERR_UNSUPPORTED_OPERATION),
};

static void error(int code, int *class, const char **name, char *text, int size)
{
	char full[MPI_MAX_ERROR_STRING] = "";
	int length;
	*class = code;
	*name = "an error class of this library's own";
	MPI_Error_class(code, class);
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (classes[i].number == *class)
			*name = classes[i].name;
	MPI_Error_string(code, full, &length);
	snprintf(text, (size_t)size, "%s", full);
}

extern const struct busbar_mpi busbar_mpi;
__attribute__((visibility("default"))) const struct busbar_mpi busbar_mpi = {
	.abi = BUSBAR_MPI_ABI,
	.family = &(MARK FAMILY)[sizeof MARK - 1],
	.compiled = COMPILED,
	.path = path,
	.version = version,
	.large = large,
	.init = init,
	.running = running,
	.finalize = finalize,
	.abort = end_all,
	.error = error,
	.world = comm_world,
	.self = comm_self,
	.rank = comm_rank,
	.size = comm_size,
	.split = comm_split,
	.free = comm_free,
	.barrier = comm_barrier,
	.barrier_start = comm_barrier_start,
	.barrier_test = comm_barrier_test,
	.barrier_wait = comm_barrier_wait,
	.bcast = comm_bcast,
	.gather = comm_gather,
	.gatherv = comm_gatherv,
	.all_reduce = comm_all_reduce,
	.clock = comm_clock,
	.prepare = prepare,
	.release = release,
};
