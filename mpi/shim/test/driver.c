/* Runs all of the shim and the timed loop under the sanitizers, with buffers of exactly the size that an operation may
 * access. It checks only sums; the Go tests check the results. See scripts/c-sanitize.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../busbar_mpi.h"

extern const struct busbar_mpi busbar_mpi;
static const struct busbar_mpi *const mpi = &busbar_mpi;
static int runs, started;

static void check(int rc, const char *what)
{
	char text[4096];
	const char *name;
	int class;
	if (!rc)
		return;
	mpi->error(rc, &class, &name, text, sizeof text);
	fprintf(stderr, "%s: %s: %s\n", what, name, text);
	mpi->abort(3);
}

static int64_t bytes_of(int type)
{
	static const int bytes[] = {0, 1, 1, 4, 4, 8, 8, 2, 2, 4, 8};
	return bytes[type];
}

static int64_t input_of(const struct busbar_mpi_spec *s, int rank, int ranks)
{
	if (s->kind == BUSBAR_REDUCE_SCATTER || s->kind == BUSBAR_ALL_TO_ALL)
		return s->count * ranks;
	if (s->kind == BUSBAR_SCATTER)
		return rank == s->root ? s->count * ranks : 0;
	return s->count;
}

static int64_t output_of(const struct busbar_mpi_spec *s, int rank, int ranks)
{
	if (s->kind == BUSBAR_ALL_GATHER || s->kind == BUSBAR_ALL_TO_ALL)
		return s->count * ranks;
	if (s->kind == BUSBAR_GATHER)
		return rank == s->root ? s->count * ranks : 0;
	if (s->kind == BUSBAR_REDUCE)
		return rank == s->root ? s->count : 0;
	return s->count;
}

/* Memory that ends at an inaccessible page: the library's own code is not instrumented. */
static void *guarded(int64_t bytes)
{
	const int64_t page = sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
	if (!bytes)
		return NULL;
	char *p = mmap(NULL, (size_t)(whole + page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + whole, (size_t)page, PROT_NONE))
		mpi->abort(3);
	return p + whole - bytes;
}

static void unguarded(void *p, int64_t bytes)
{
	const int64_t page = sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
	if (p)
		munmap((char *)p + bytes - whole, (size_t)(whole + page));
}

/* An operation that is started, then completed by tests or by waiting. */
static void by_itself(const struct busbar_async *a, int tests)
{
	int done = 0;
	check(a->start(a->context), "start");
	while (tests && !done)
		check(a->test(a->context, &done), "test");
	check(a->wait(a->context), "wait"); /* also for completed operations */
	started++;
}

static void run(struct busbar_comm *c, struct busbar_mpi_spec s)
{
	struct busbar_mpi_prepared p;
	struct busbar_loop loop = {0};
	int64_t start[3], issued[3], end[3];
	int rank, ranks;
	check(mpi->rank(c, &rank), "rank");
	check(mpi->size(c, &ranks), "size");
	s.send_stride = input_of(&s, rank, ranks) * bytes_of(s.type);
	s.recv_stride = output_of(&s, rank, ranks) * bytes_of(s.type);
	if (s.in_place && s.send_stride > s.recv_stride)
		s.recv_stride = s.send_stride;
	const int64_t send_bytes = s.in_place ? 0 : s.slots * s.send_stride, recv_bytes = s.slots * s.recv_stride;
	void *send = guarded(send_bytes), *recv = guarded(recv_bytes);
	s.send = send;
	s.recv = recv;
	if (send)
		memset(send, 1, (size_t)send_bytes);
	check(mpi->prepare(c, &s, &p), "prepare");
	loop.issue = p.issue;
	loop.sync = p.sync;
	loop.context = p.context;
	check(busbar_run(&loop, 2, 1, start, issued, end), "operations timed alone");
	check(busbar_run(&loop, 1, 2, start + 2, issued + 2, end + 2), "a batch of two");
	if (end[1] < start[0] || end[2] < end[1] || loop.next != 4) {
		fprintf(stderr, "the loop ran %d operations, and its clock ran backwards\n", (int)loop.next);
		mpi->abort(3);
	}
	if (p.async.start) {
		by_itself(&p.async, 0);
		by_itself(&p.async, 1);
	}
	if (s.kind == BUSBAR_ALL_REDUCE && s.op == BUSBAR_SUM && s.type == BUSBAR_INT8 && !s.in_place && s.count > 0 &&
	    ((char *)recv)[s.count - 1] != ranks) {
		fprintf(stderr, "a sum of %d ones is %d\n", ranks, ((char *)recv)[s.count - 1]);
		mpi->abort(3);
	}
	mpi->release(p.operation);
	unguarded(send, send_bytes);
	unguarded(recv, recv_bytes);
	runs++;
}

static int reduces(int kind)
{
	return kind == BUSBAR_ALL_REDUCE || kind == BUSBAR_REDUCE_SCATTER || kind == BUSBAR_REDUCE;
}

static void every(struct busbar_comm *c, int64_t count, int64_t int_max, int no_large)
{
	const int root = 0; /* MPICH 4.0 crashes on an in-place MPI_Reduce to another root */
	for (int kind = BUSBAR_ALL_REDUCE; kind <= BUSBAR_SEND_RECV; kind++)
		for (int type = BUSBAR_INT8; type <= BUSBAR_FLOAT64; type++)
			for (int in_place = kind == BUSBAR_BROADCAST; in_place < 2; in_place++)
				for (int op = BUSBAR_SUM; op <= BUSBAR_AVG; op += reduces(kind) ? 1 : BUSBAR_MAX - BUSBAR_SUM)
					run(c, (struct busbar_mpi_spec){.kind = kind, .type = type, .op = op, .root = root,
						.in_place = in_place, .aggregate = op, .slots = op == BUSBAR_MAX ? 3 : 1,
						.count = count, .int_max = int_max, .no_large = no_large});
}

static void control(struct busbar_comm *world)
{
	struct busbar_comm *self, *half, *none;
	double x[2] = {1, 2}, offset, uncertainty;
	char text[9000];
	int standard[2], rank, ranks, done = 0, counts[64], at[64];
	char all[64] = "", mine[2] = "ab";
	check(mpi->rank(world, &rank), "rank");
	check(mpi->size(world, &ranks), "size");
	check(mpi->version(text, 10, standard), "version into a short text");
	check(mpi->version(text, sizeof text, standard), "version");
	check(mpi->self(&self), "self");
	check(mpi->split(world, rank % 2, 0, &half), "split");
	check(mpi->split(world, -1, 0, &none), "split into nothing");
	if (none || !mpi->running() || !*mpi->path())
		mpi->abort(3);
	check(mpi->barrier(half), "barrier");
	check(mpi->barrier_start(world), "barrier_start");
	while (!done)
		check(mpi->barrier_test(world, &done), "barrier_test");
	check(mpi->barrier_start(world), "barrier_start");
	check(mpi->barrier_wait(world), "barrier_wait");
	check(mpi->bcast(world, text, sizeof text, 0), "bcast");
	check(mpi->gather(world, mine, 2, all, 0), "gather");
	for (int r = 0; r < ranks; r++) {
		counts[r] = r % 3;
		at[r] = r ? at[r - 1] + counts[r - 1] : 0;
	}
	check(mpi->gatherv(world, mine, rank % 3, all, counts, at, 0), "gatherv");
	check(mpi->all_reduce(world, x, 2, BUSBAR_SUM), "all_reduce");
	check(mpi->clock(world, ranks > 1 ? rank ^ 1 : 0, 20, &offset, &uncertainty), "clock");
	every(half, 3, 2, 1);
	check(mpi->free(half), "free");
	int class;
	const char *word;
	int rc = mpi->bcast(world, text, 1, 99);
	mpi->error(rc, &class, &word, text, 20);
	if (!rc || strcmp(word, "MPI_ERR_ROOT") != 0)
		mpi->abort(3);
}

int main(void)
{
	int level, rank;
	struct busbar_comm *world;
	check(mpi->init(&level), "init");
	check(mpi->world(&world), "world");
	check(mpi->rank(world, &rank), "rank");
	control(world);
	const int64_t counts[] = {0, 10, 700};
	for (int k = 0; k < 3; k++) {
		every(world, counts[k], INT32_MAX, 0);
		every(world, counts[k], 1 + counts[k] * 2 / 5, 0);
		every(world, counts[k], 1 + counts[k] * 2 / 5, 1);
	}
	if (rank == 0)
		printf("%s: %d operations, %d of them without blocking\n", mpi->compiled, runs, started);
	check(mpi->finalize(), "finalize");
	return mpi->running();
}
