/* Every collective, type, operation and placement; groups, graphs, and transports. */
#include "test.h"

#include <math.h>

enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, ALL_TO_ALL, GATHER, SCATTER, SEND_RECV, KINDS };
enum { POISON = 0xA5 };

static nccl_comm comm;

struct work {
	int kind, type, op, root, in_place;
	size_t count;
};

static size_t width(int type)
{
	static const size_t bytes[TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
	return bytes[type];
}

/* x in the type, which must represent it exactly. */
static uint64_t encode(int type, double x)
{
	static const int exponents[TYPES] = {[FLOAT16] = 5, [FLOAT32] = 8, [FLOAT64] = 11, [BFLOAT16] = 8, [FLOAT8E4M3] = 4,
		[FLOAT8E5M2] = 5};
	const int e = exponents[type], m = (int)width(type) * 8 - 1 - e;
	int power;
	if (type <= UINT64)
		return (uint64_t)(int64_t)x;
	if (x == 0)
		return 0;
	const double f = frexp(x, &power) * 2 - 1;
	return (uint64_t)(power - 1 + (1 << (e - 1)) - 1) << m | (uint64_t)ldexp(f, m);
}

static uint64_t hash(uint64_t x)
{
	x = (x + 1) * 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

static int reduces(int kind) { return kind == ALL_REDUCE || kind == REDUCE_SCATTER || kind == REDUCE; }

/* Rank r's element i: a value of the type for reductions, arbitrary bits for moves. */
static double number(const struct work *w, int r, size_t i)
{
	const unsigned bits = (unsigned)(hash(i * 8 + (size_t)r) >> 40);
	if (w->op == PROD)
		return 1 + (bits & 1);
	if (w->op == MIN || w->op == MAX)
		return bits & 7;
	return w->op == AVG ? ranks * (double)(bits & 1) : (double)(bits & 1);
}

static uint64_t input(const struct work *w, int r, size_t i)
{
	return reduces(w->kind) ? encode(w->type, number(w, r, i)) : hash((uint64_t)r << 40 ^ i);
}

static uint64_t reduced(const struct work *w, size_t i)
{
	double x = number(w, 0, i);
	for (int r = 1; r < ranks; r++) {
		const double y = number(w, r, i);
		x = w->op == PROD ? x * y : w->op == MAX ? fmax(x, y) : w->op == MIN ? fmin(x, y) : x + y;
	}
	return encode(w->type, w->op == AVG ? x / ranks : x);
}

static uint64_t expected(const struct work *w, size_t i)
{
	const size_t n = w->count, mine = (size_t)rank * n;
	switch (w->kind) {
	case ALL_REDUCE: case REDUCE: return reduced(w, i);
	case REDUCE_SCATTER: return reduced(w, mine + i);
	case BROADCAST: return input(w, w->root, i);
	case ALL_TO_ALL: return input(w, (int)(i / n), mine + i % n);
	case SCATTER: return input(w, w->root, mine + i);
	case SEND_RECV: return input(w, (rank + ranks - 1) % ranks, i);
	default: return input(w, (int)(i / n), i % n);
	}
}

static nccl_result issue(const struct work *w, void *s, void *r)
{
	const size_t n = w->count;
	switch (w->kind) {
	case ALL_REDUCE: return ncclAllReduce(s, r, n, w->type, w->op, comm, stream);
	case ALL_GATHER: return ncclAllGather(s, r, n, w->type, comm, stream);
	case REDUCE_SCATTER: return ncclReduceScatter(s, r, n, w->type, w->op, comm, stream);
	case BROADCAST:
		return s == r ? ncclBcast(r, n, w->type, w->root, comm, stream) :
		       ncclBroadcast(rank == w->root ? s : NULL, r, n, w->type, w->root, comm, stream);
	case REDUCE: return ncclReduce(s, rank == w->root ? r : NULL, n, w->type, w->op, w->root, comm, stream);
	case ALL_TO_ALL: return ncclAlltoAll(s, r, n, w->type, comm, stream);
	case GATHER: return ncclGather(s, rank == w->root ? r : NULL, n, w->type, w->root, comm, stream);
	case SCATTER: return ncclScatter(rank == w->root ? s : NULL, r, n, w->type, w->root, comm, stream);
	}
	DO(ncclGroupStart());
	DO(ncclSend(s, n, w->type, (rank + 1) % ranks, comm, stream));
	DO(ncclRecv(r, n, w->type, (rank + ranks - 1) % ranks, comm, stream));
	return ncclGroupEnd();
}

static void set(const struct work *w, char *at, size_t i, uint64_t value) { memcpy(at + i * width(w->type), &value, width(w->type)); }

static int same(const struct work *w, const char *at, size_t i, uint64_t value)
{
	return !memcmp(at + i * width(w->type), &value, width(w->type));
}

/* Elements that the rank sends and receives. */
static void lengths(const struct work *w, size_t *send, size_t *recv)
{
	const size_t n = w->count, all = n * (size_t)ranks;
	const int root = rank == w->root, k = w->kind;
	*send = k == REDUCE_SCATTER || k == ALL_TO_ALL ? all : k == SCATTER ? (root ? all : 0) : k == BROADCAST && !root ? 0 : n;
	*recv = k == ALL_GATHER || k == ALL_TO_ALL ? all : k == GATHER ? (root ? all : 0) : k == REDUCE && !root ? 0 : n;
}

static void run(struct work w)
{
	size_t sends, receives;
	lengths(&w, &sends, &receives);
	const size_t bytes = width(w.type), most = w.count * (size_t)ranks * bytes, mine = (size_t)rank * w.count * bytes;
	char *one = device_memory(most), *two = w.in_place ? one : device_memory(most), *s = one, *r = two;
	memset(two, POISON, most);
	if (w.in_place && (w.kind == ALL_GATHER || (w.kind == GATHER && rank == w.root)))
		s = one + mine;
	if (w.in_place && (w.kind == REDUCE_SCATTER || (w.kind == SCATTER && rank == w.root)))
		r = one + mine;
	for (size_t i = 0; i < sends; i++)
		set(&w, s, i, input(&w, rank, i));
	DO(issue(&w, s, r));
	DO(cuda.stream_synchronize(stream));
	for (size_t i = 0; i < receives; i++)
		if (!same(&w, r, i, expected(&w, i))) {
			fprintf(stderr, "kind %d type %d op %d root %d count %zu in place %d: rank %d of %d: element %zu is wrong\n",
				w.kind, w.type, w.op, w.root, w.count, w.in_place, rank, ranks, i);
			_exit(1);
		}
	for (size_t i = 0; i < sends && !w.in_place; i++)
		CHECK(same(&w, s, i, input(&w, rank, i)));
	for (size_t i = receives * bytes; i < most && !w.in_place; i++)
		CHECK((unsigned char)two[i] == POISON);
	device_free(one);
	if (!w.in_place)
		device_free(two);
}

static int power_of_two(int n) { return !(n & (n - 1)); }

/* All combinations, at small sizes. */
static void every_collective(void)
{
	device_open(rank);
	comm = comm_open();
	for (int kind = 0; kind < KINDS; kind++)
		for (int type = 0; type < TYPES; type++)
			for (int op = SUM; op <= (reduces(kind) ? AVG : SUM); op++)
				for (int in_place = 0; in_place < (kind == ALL_TO_ALL || kind == SEND_RECV ? 1 : 2); in_place++) {
					/* An average is exact if 1/n is. */
					if (op == AVG && type > UINT64 && !power_of_two(ranks))
						continue;
					run((struct work){kind, type, op, (type + op) % ranks, in_place, type % 2 ? 1 : 1001});
				}
	DO(ncclCommDestroy(comm));
}

/* More than fits into the rings, and more than fits into the scratch. */
static void large(void)
{
	device_open(rank);
	comm = comm_open();
	for (int kind = 0; kind < KINDS; kind++)
		run((struct work){kind, kind % 2 ? BFLOAT16 : FLOAT32, SUM, ranks - 1, 0, 1200007});
	run((struct work){ALL_REDUCE, FLOAT32, SUM, 0, 1, 2000003});
	DO(ncclCommDestroy(comm));
}

static void some(void)
{
	device_open(rank);
	comm = comm_open();
	for (int kind = 0; kind < KINDS; kind++)
		for (size_t count = 1; count < 200000; count *= 199)
			run((struct work){kind, FLOAT32, SUM, ranks - 1, 0, count});
	DO(ncclCommDestroy(comm));
}

/* Sums that the type cannot represent: rounded to nearest, ties to even; overflow; wrap; NaN. */
static void rounding(void)
{
	static const struct { int type, op; uint64_t a, b, result; } cases[] = {
		{FLOAT16, SUM, 0x6800, 0x3c00, 0x6800}, {FLOAT16, SUM, 0x6800, 0x4200, 0x6802}, {FLOAT16, SUM, 1, 1, 2},
		{FLOAT16, SUM, 0x3ff, 1, 0x400}, {FLOAT16, SUM, 0x7bff, 0x7bff, 0x7c00}, {FLOAT16, SUM, 0xbc00, 0x3c00, 0},
		{FLOAT16, SUM, 0x7e00, 0x3c00, 0x7fff}, {FLOAT16, MIN, 0xbc00, 0x3c00, 0xbc00},
		{BFLOAT16, SUM, 0x4380, 0x3f80, 0x4380}, {BFLOAT16, SUM, 0x4380, 0x4040, 0x4382}, {BFLOAT16, SUM, 1, 1, 2},
		{FLOAT8E4M3, SUM, 0x58, 0x38, 0x58}, {FLOAT8E4M3, SUM, 0x58, 0x44, 0x5a}, {FLOAT8E4M3, SUM, 1, 1, 2},
		{FLOAT8E4M3, SUM, 0x7e, 0x7e, 0x7e}, {FLOAT8E4M3, SUM, 0x7f, 0x38, 0x7f},
		{FLOAT8E5M2, SUM, 0x48, 0x3c, 0x48}, {FLOAT8E5M2, SUM, 0x48, 0x42, 0x4a}, {FLOAT8E5M2, SUM, 0x7b, 0x7b, 0x7b},
		{INT8, SUM, 127, 1, 128}, {INT8, MAX, 0xff, 1, 1}, {UINT8, MAX, 0xff, 1, 0xff}, {UINT32, SUM, 0xffffffff, 1, 0},
		{INT32, AVG, (uint32_t)-3, (uint32_t)-4, (uint32_t)-3}};
	device_open(rank);
	comm = comm_open();
	uint64_t *x = device_memory(8);
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		*x = rank ? cases[i].b : cases[i].a;
		DO(ncclAllReduce(x, x, 1, cases[i].type, cases[i].op, comm, stream));
		DO(cuda.stream_synchronize(stream));
		if (memcmp(x, &cases[i].result, width(cases[i].type)) != 0)
			fprintf(stderr, "case %u: %#llx\n", i, (unsigned long long)*x);
		CHECK(!memcmp(x, &cases[i].result, width(cases[i].type)));
	}
	DO(ncclCommDestroy(comm));
}

static void pre_mul_sum(void)
{
	float two = 2, *x, *three;
	int by_two, by_three;
	device_open(rank);
	comm = comm_open();
	x = device_memory(8);
	three = device_memory(4);
	x[0] = 1;
	x[1] = 2;
	*three = 3;
	DO(ncclRedOpCreatePreMulSum(&by_two, &two, FLOAT32, 1, comm));
	two = 0; /* read when created */
	DO(ncclRedOpCreatePreMulSum(&by_three, three, FLOAT32, 0, comm));
	DO(ncclAllReduce(x, x, 2, FLOAT32, by_two, comm, stream));
	DO(ncclAllReduce(x, x, 2, FLOAT32, by_three, comm, stream));
	DO(cuda.stream_synchronize(stream));
	CHECK(x[0] == 6.f * (float)(ranks * ranks) && x[1] == 12.f * (float)(ranks * ranks));
	CHECK(ncclAllReduce(x, x, 2, FLOAT64, by_two, comm, stream) == INVALID_ARGUMENT);
	DO(ncclRedOpDestroy(by_two, comm));
	CHECK(ncclAllReduce(x, x, 2, FLOAT32, by_two, comm, stream) == INVALID_ARGUMENT);
	DO(ncclCommDestroy(comm));
}

static void groups_and_graphs(void)
{
	cuda_graph graph;
	cuda_graph_exec exec;
	const size_t n = (size_t)ranks;
	int32_t *x, *y;
	device_open(rank);
	comm = comm_open();
	x = device_memory(n * 4);
	y = device_memory(n * 4);
	for (int i = 0; i < ranks; i++)
		x[i] = 100 * rank + i;
	DO(ncclGroupStart());
	for (int i = 0; i < ranks; i++) { /* to itself too */
		DO(ncclRecv(y + i, 1, INT32, i, comm, stream));
		DO(ncclSend(x + i, 1, INT32, i, comm, stream));
	}
	DO(ncclGroupStart());
	DO(ncclGroupEnd());
	CHECK(cuda.stream_query(stream) == 0); /* no data sent yet */
	DO(ncclGroupEnd());
	DO(cuda.stream_synchronize(stream));
	for (int i = 0; i < ranks; i++)
		CHECK(y[i] == 100 * i + rank);
	DO(ncclGroupStart());
	for (int i = 0; i < 3; i++)
		DO(ncclAllReduce(x, x, n, INT32, MAX, comm, stream));
	DO(ncclGroupEnd());
	DO(cuda.stream_synchronize(stream));
	CHECK(x[0] == 100 * (ranks - 1));
	for (size_t i = 0; i < n; i++)
		x[i] = 1;
	DO(cuda.capture_begin(stream, 0));
	DO(ncclAllReduce(x, x, n, INT32, SUM, comm, stream));
	DO(cuda.capture_end(stream, &graph));
	DO(cuda.graph_instantiate(&exec, graph, 0));
	DO(cuda.graph_destroy(graph));
	for (int i = 0; i < 3; i++)
		DO(cuda.graph_launch(exec, stream));
	DO(cuda.stream_synchronize(stream));
	CHECK(x[0] == ranks * ranks * ranks);
	DO(cuda.graph_exec_destroy(exec));
	DO(ncclGroupStart());
	CHECK(ncclAllReduce(x, x, n, 99, SUM, comm, stream) == INVALID_ARGUMENT);
	CHECK(ncclGroupEnd() == INVALID_ARGUMENT);
	DO(ncclCommDestroy(comm));
}

static void ncclx(void)
{
	size_t counts[8], at[8], received[8], places[8], all = 0;
	int32_t *x, *y;
	device_open(rank);
	comm = comm_open();
	/* Rank r gets r + 1 elements from every rank. */
	for (int i = 0; i < ranks; i++) {
		counts[i] = (size_t)i + 1;
		at[i] = all;
		all += counts[i];
		received[i] = (size_t)rank + 1;
		places[i] = (size_t)i * received[i];
	}
	x = device_memory(all * 4);
	y = device_memory((size_t)ranks * received[0] * 4);
	for (size_t i = 0; i < all; i++)
		x[i] = 100 * rank + (int)i;
	DO(ncclAllToAllv(x, counts, at, y, received, places, INT32, comm, stream));
	DO(cuda.stream_synchronize(stream));
	for (int i = 0; i < ranks; i++)
		CHECK(y[places[i]] == 100 * i + (int)at[rank]);
	DO(ncclCommDestroy(comm));
}

void collective_tests(void)
{
	for (int n = 1; n <= 5; n++)
		world("every collective", n, every_collective, NULL, -1);
	world("large", 3, large, NULL, -1);
	world("by TCP", 3, some, SETTINGS("NCCL_HOSTID=host%d"), -1);
	world("late starts", 3, some, SETTINGS("BUSBAR_REHEARSAL_DELAY=2000"), -1);
	world("rounding", 2, rounding, NULL, -1);
	world("PreMulSum", 2, pre_mul_sum, NULL, -1);
	world("groups and graphs", 4, groups_and_graphs, NULL, -1);
	world("NCCLX", 3, ncclx, NULL, -1);
}
