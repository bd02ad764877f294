/* The baseline of `make bench`: a bare loop of MPI_Allreduce over float32, linked to MPI directly, without shim,
 * table, watchdog or statistics. Compiled twice: as a shared object whose busbar_bare() the bench calls between the
 * batches of busbar's own loop, and with -DPROGRAM as a program to compare whole launches. */
#include <mpi.h>
#include <stdint.h>
#include <time.h>

/* One batch, with the same layout as in internal/tools/bench. */
struct bare_batch {
	const void *send;
	void *recv;
	int64_t count;      /* elements */
	int64_t operations; /* in this batch */
	int64_t latency;    /* 0: back to back; 1: each after a barrier and timed alone */
	int64_t *start;     /* ns: one entry for the batch, or one per operation */
	int64_t *end;
};

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A busbar_step of internal/loop, so that the loop can call a whole batch as one operation. */
int busbar_bare(void *context, uint64_t i)
{
	struct bare_batch *b = context;
	const int n = (int)b->count;
	int rc = 0;
	(void)i;
	if (!b->latency) {
		rc = MPI_Barrier(MPI_COMM_WORLD);
		b->start[0] = now();
		for (int64_t k = 0; k < b->operations && !rc; k++)
			rc = MPI_Allreduce(b->send, b->recv, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		b->end[0] = now();
		return rc;
	}
	for (int64_t k = 0; k < b->operations && !rc; k++) {
		rc = MPI_Barrier(MPI_COMM_WORLD);
		b->start[k] = now();
		rc = rc ? rc : MPI_Allreduce(b->send, b->recv, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		b->end[k] = now();
	}
	return rc;
}

#ifdef PROGRAM

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 4096 };

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The time per operation in a batch: the maximum over the ranks, in seconds; for latency the median of those. */
static double batch_seconds(struct bare_batch *b)
{
	static double mine[MAX_SAMPLES], slowest[MAX_SAMPLES];
	const int samples = b->latency ? (int)b->operations : 1;
	const double per = b->latency ? 1 : (double)b->operations;
	busbar_bare(b, 0);
	for (int k = 0; k < samples; k++)
		mine[k] = (double)(b->end[k] - b->start[k]) / 1e9 / per;
	MPI_Allreduce(mine, slowest, samples, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	qsort(slowest, (size_t)samples, sizeof *slowest, ascending);
	return slowest[samples / 2];
}

/* The median of at least 10 batches (or 1, without a given time) over the given time. A batch takes a millisecond and
 * has at least 20 operations (4 if that would take long). */
static double measure(struct bare_batch *b, double budget)
{
	static double batches[1000];
	b->operations = 4;
	batch_seconds(b);
	double t = batch_seconds(b), spent = 0;
	const double wanted = 1e-3 / t;
	b->operations = 20 * t > 0.1 ? 4 : wanted < 20 ? 20 : wanted > MAX_SAMPLES ? MAX_SAMPLES : (int64_t)wanted;
	int n = 0;
	do {
		batches[n++] = t = batch_seconds(b);
		spent += t * (double)b->operations;
	} while (budget > 0 && n < 1000 && (n < 10 || spent < budget));
	qsort(batches, (size_t)n, sizeof *batches, ascending);
	return batches[n / 2];
}

/* This process's peak resident size so far, in KiB. */
static long peak_kib(void)
{
	char line[256];
	long kib = -1;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "VmHWM: %ld kB", &kib);
	if (f)
		fclose(f);
	return kib;
}

int main(int argc, char **argv)
{
	int rank, level;
	/* The thread level has a cost: busbar requests multiple, so that its watchdog can abort. */
	const int multiple = argc == 7 && !strcmp(argv[6], "multiple");
	MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 7) {
		if (rank == 0)
			fprintf(stderr, "usage: bare throughput|latency MIN_BYTES MAX_BYTES FACTOR SECONDS_A_SIZE single|multiple\n");
		MPI_Finalize();
		return 1;
	}
	const size_t first = strtoull(argv[2], 0, 10), last = strtoull(argv[3], 0, 10), factor = strtoull(argv[4], 0, 10);
	static int64_t start[MAX_SAMPLES], end[MAX_SAMPLES];
	const size_t room = (last + 4095) / 4096 * 4096;
	float *send = aligned_alloc(4096, room), *recv = aligned_alloc(4096, room);
	if (!send || !recv || factor < 2 || first < 4)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (size_t i = 0; i < room / sizeof *send; i++)
		send[i] = 1;
	memset(recv, 0, room);
	for (size_t bytes = first; bytes <= last; bytes *= factor) {
		struct bare_batch b = {send, recv, (int64_t)(bytes / sizeof *send), 0, !strcmp(argv[1], "latency"), start, end};
		const double t = measure(&b, atof(argv[5]));
		if (rank == 0)
			printf("%zu %.9e\n", bytes, t);
	}
	if (rank == 0)
		printf("peak_kib %ld\n", peak_kib());
	MPI_Finalize();
	return 0;
}

#endif
