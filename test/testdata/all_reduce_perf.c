/* Prints nccl-tests' output for its flags -b, -e (in bytes) and -f 2, with made-up times: US microseconds at every
 * size. SINGLE is a build without MPI; VERSION is the NCCL version at compile time, if it differs from the loaded
 * one. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int ncclGetVersion(int *);

#ifndef US
#define US 100.0
#endif

int main(int argc, char **argv)
{
	int version = 0, rank = 0, ranks = 1;
	MPI_Init(&argc, &argv);
#ifndef SINGLE
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
	ncclGetVersion(&version);
#ifdef VERSION
	version = VERSION;
#endif
	if (rank == 0) {
		printf("# nccl-tests version 2.17.8 nccl-headers=%d nccl-library=%d\n# Collective test starting: all_reduce_perf\n", version, version);
		printf("# nThread 1 nGpus 1 minBytes 8 maxBytes 65536 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 0 graph: 0\n#\n# Using devices\n");
		for (int r = 0; r < ranks; r++)
			printf("#  Rank %2d Group  0 Pid %6d on %10s device %2d [0000:%02x:00] Simulated\n", r, (int)getpid() + r, "host", r, 16 + r);
		printf("#\n#%12s %12s %8s %6s %6s", "size", "count", "type", "redop", "root");
		for (int i = 0; i < 2; i++)
			printf(" %7s %7s %7s %6s", "time", "algbw", "busbw", "#wrong");
		printf("\n");
		for (long size = 8; size <= 65536; size *= 2)
			printf("%12ld %12ld %8s %6s %6d  %7.2f %7.2f %7.2f %6s  %7.2f %7.2f %7.2f %6s\n", size, size / 4, "float", "sum", -1, US,
			       0.0, 0.0, "N/A", US, 0.0, 0.0, "N/A");
		printf("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0\n#\n# Collective test concluded: all_reduce_perf\n");
	}
	MPI_Finalize();
	return 0;
}
