/* A library with NCCL's ABI that records its calls, and the part of a CUDA driver that operations use. The tests read
 * fake_log and write fake_set. Declared from the ABI, not from nccl.h, which is under test. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

char fake_log[1 << 16];

enum { RESULT, POLLS, STATE, NOT_READY, QUERY, CAPTURE, NO_HANDLE, IN_GROUP, LOOKS, REFUSES };
volatile int fake_set[16];

static void note(const char *format, ...)
{
	const size_t length = strlen(fake_log);
	va_list list;
	va_start(list, format);
	vsnprintf(fake_log + length, sizeof fake_log - length, format, list);
	va_end(list);
	strncat(fake_log, "\n", sizeof fake_log - strlen(fake_log) - 1);
}

struct comm { int rank, size; };
typedef struct { char internal[128]; } id;

/* Returns ncclInProgress for the configured number of polls. */
static int answer(void) { return fake_set[RESULT] ? fake_set[RESULT] : fake_set[POLLS] ? 7 : 0; }

#ifdef TEXT
const char fake_text[] = TEXT;
#endif

#ifndef NO_VERSION
int ncclGetVersion(int *code)
{
	*code = VERSION;
	return 0;
}
#endif

int ncclGetUniqueId(id *out)
{
	for (int i = 0; i < 128; i++)
		out->internal[i] = (char)(i + 1);
	return fake_set[RESULT];
}

static int init(struct comm **out, int size, int rank, const id *by_value)
{
	int whole = 1;
	for (int i = 0; i < 128; i++)
		whole &= by_value->internal[i] == (char)(i + 1);
	note("id %s", whole ? "whole" : "broken");
	*out = malloc(sizeof **out);
	**out = (struct comm){rank, size};
	return answer();
}

int ncclCommInitRank(struct comm **out, int size, id by_value, int rank)
{
	note("ncclCommInitRank(%d of %d)", rank, size);
	return init(out, size, rank, &by_value);
}

int ncclCommDestroy(struct comm *c)
{
	note("ncclCommDestroy");
	free(c);
	return 0;
}

#ifdef MSCCLPP
const char *ncclGetErrorString(int result) { return result ? "internal error (run with MSCCLPP_DEBUG=WARN for details)" : "no error"; }
#else
const char *ncclGetErrorString(int result) { return result == 1 ? "unhandled cuda error" : result == 6 ? "remote process exited" : "another error"; }
#endif

int ncclGroupStart(void)
{
	note("ncclGroupStart");
	return 0;
}

int ncclGroupEnd(void)
{
	note("ncclGroupEnd");
	return fake_set[IN_GROUP] ? 0 : answer();
}

#define P(x) (unsigned)(uintptr_t)(x)

int ncclAllReduce(const void *s, void *r, size_t n, int type, int op, struct comm *c, void *stream)
{
	note("ncclAllReduce(%x, %x, %zu, type %d, op %d, rank %d, stream %x)", P(s), P(r), n, type, op, c->rank, P(stream));
	return answer();
}

#ifndef MINIMAL
static void print_config(const void *config)
{
	static const char *names[] = {"blocking", "cga", "minCTAs", "maxCTAs", "", "", "splitShare", "traffic", "", "", "collnet",
		"CTAPolicy", "shrinkShare", "nvlsCTAs"};
	const int *word = config;
	size_t size;
	memcpy(&size, config, sizeof size);
	note("config size %zu magic %x version %d", size, word[2], word[3]);
	for (size_t i = 4; i < size / 4; i++)
		if (names[i - 4][0] && word[i] != (int)0x80000000)
			note("  %s %d", names[i - 4], word[i]);
		else if (!names[i - 4][0] && word[i])
			note("  a name at %zu", 4 * i);
}

int ncclCommInitRankConfig(struct comm **out, int size, id by_value, int rank, void *config)
{
	note("ncclCommInitRankConfig(%d of %d)", rank, size);
	print_config(config);
	if (fake_set[LOOKS] && ((int *)config)[2] != (int)0xcafebeef)
		return 4;
	if (fake_set[LOOKS] && (int)*(size_t *)config == fake_set[REFUSES])
		return 4;
	return init(out, size, rank, &by_value);
}

int ncclCommAbort(struct comm *c)
{
	note("ncclCommAbort");
	free(c);
	return 0;
}

int ncclCommGetAsyncError(struct comm *c, int *state)
{
	volatile int *left = &fake_set[POLLS];
	(void)c;
	*state = fake_set[STATE];
	if (*left > 0) {
		--*left;
		*state = 7;
	}
	return 0;
}

const char *ncclGetLastError(struct comm *c) { return c ? "the last words\nof a communicator\n" : "the last words\n"; }

int ncclCommCuDevice(struct comm *c, int *ordinal)
{
	*ordinal = 10 + c->rank;
	return fake_set[RESULT];
}

int ncclCommSplit(void) { return 1; }

int ncclReduceScatter(const void *s, void *r, size_t n, int type, int op, struct comm *c, void *stream)
{
	note("ncclReduceScatter(%x, %x, %zu, type %d, op %d, rank %d, stream %x)", P(s), P(r), n, type, op, c->rank, P(stream));
	return answer();
}

int ncclReduce(const void *s, void *r, size_t n, int type, int op, int root, struct comm *c, void *stream)
{
	note("ncclReduce(%x, %x, %zu, type %d, op %d, root %d, rank %d, stream %x)", P(s), P(r), n, type, op, root, c->rank,
	     P(stream));
	return answer();
}

#define MOVE(name) \
	int name(const void *s, void *r, size_t n, int type, struct comm *c, void *stream) \
	{ \
		note(#name "(%x, %x, %zu, type %d, rank %d, stream %x)", P(s), P(r), n, type, c->rank, P(stream)); \
		return answer(); \
	}
#define ROOTED(name) \
	int name(const void *s, void *r, size_t n, int type, int root, struct comm *c, void *stream) \
	{ \
		note(#name "(%x, %x, %zu, type %d, root %d, rank %d, stream %x)", P(s), P(r), n, type, root, c->rank, P(stream)); \
		return answer(); \
	}
MOVE(ncclAllGather)
ROOTED(ncclBroadcast)
#ifdef OTHER
MOVE(ncclAllToAll)
#elif !defined(NO_NATIVE)
MOVE(ncclAlltoAll)
ROOTED(ncclGather)
ROOTED(ncclScatter)
#endif

int ncclSend(const void *s, size_t n, int type, int peer, struct comm *c, void *stream)
{
	note("ncclSend(%x, %zu, type %d, to %d, rank %d, stream %x)", P(s), n, type, peer, c->rank, P(stream));
	return fake_set[RESULT];
}

int ncclRecv(void *r, size_t n, int type, int peer, struct comm *c, void *stream)
{
	note("ncclRecv(%x, %zu, type %d, from %d, rank %d, stream %x)", P(r), n, type, peer, c->rank, P(stream));
	return fake_set[RESULT];
}

int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, struct comm *c)
{
	static const int sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
	char hex[17] = "";
	(void)c;
	for (int i = 0; i < sizes[type]; i++)
		sprintf(hex + 2 * i, "%02x", ((unsigned char *)scalar)[i]);
	note("ncclRedOpCreatePreMulSum(%s, type %d, residence %d)", hex, type, residence);
	*op = 17;
	return fake_set[RESULT];
}

int ncclRedOpDestroy(int op, struct comm *c)
{
	(void)c;
	note("ncclRedOpDestroy(%d)", op);
	return 0;
}

int ncclMemAlloc(void **p, size_t bytes)
{
	note("ncclMemAlloc(%zu)", bytes);
	*p = fake_set[RESULT] ? NULL : (void *)0xabc000;
	return fake_set[RESULT];
}

int ncclMemFree(void *p)
{
	note("ncclMemFree(%x)", P(p));
	return 0;
}

int ncclCommRegister(struct comm *c, void *p, size_t bytes, void **handle)
{
	(void)c;
	note("ncclCommRegister(%x, %zu)", P(p), bytes);
	*handle = fake_set[NO_HANDLE] ? NULL : (void *)0x77;
	return answer();
}

int ncclCommDeregister(struct comm *c, void *handle)
{
	(void)c;
	note("ncclCommDeregister(%x)", P(handle));
	return answer();
}

int ncclCommWindowRegister(struct comm *c, void *p, size_t bytes, void **window, int flags)
{
	(void)c;
	note("ncclCommWindowRegister(%x, %zu, flags %d)", P(p), bytes, flags);
	if (!fake_set[NO_HANDLE])
		*window = (void *)0x88;
	return answer();
}

int ncclCommWindowDeregister(struct comm *c, void *window)
{
	(void)c;
	note("ncclCommWindowDeregister(%x)", P(window));
	return answer();
}

int ncclParamGetAllParameterKeys(const char ***keys, int *count)
{
	static const char *all[] = {"NCCL_DEBUG", "NCCL_ALGO", "NCCL_GONE"};
	*keys = all;
	*count = 3;
	return 0;
}

int ncclParamGetParameter(const char *key, const char **value, int *length)
{
	*value = !strcmp(key, "NCCL_DEBUG") ? "WARN" : "";
	*length = (int)strlen(*value);
	return strcmp(key, "NCCL_GONE") ? 0 : 4;
}
#endif

#ifdef NCCLX
int ncclReduceScatterQuantize(void) { return 0; }
#endif

#ifdef REHEARSAL
const char *busbar_rehearsal_version(void) { return "1"; }
void busbar_rehearsal_phase(const char *name) { note("phase %s", name); }
#endif

/* The driver. */

static cuda_result stream_query(cuda_stream s)
{
	(void)s;
	if (fake_set[NOT_READY] > 0)
		fake_set[NOT_READY]--;
	return fake_set[NOT_READY] ? CUDA_NOT_READY : fake_set[QUERY];
}

static cuda_result capture_begin(cuda_stream s, int mode)
{
	note("begin capture of %x, mode %d", P(s), mode);
	return fake_set[CAPTURE];
}

static cuda_result capture_end(cuda_stream s, cuda_graph *out)
{
	note("end capture of %x", P(s));
	*out = (cuda_graph)0x99;
	return 0;
}

static cuda_result instantiate(cuda_graph_exec *out, cuda_graph graph, unsigned long long flags)
{
	note("instantiate %x, flags %llu", P(graph), flags);
	*out = (cuda_graph_exec)0xaa;
	return 0;
}

static cuda_result launch(cuda_graph_exec exec, cuda_stream s)
{
	note("launch %x on %x", P(exec), P(s));
	return 0;
}

static cuda_result destroy(cuda_graph graph)
{
	note("destroy %x", P(graph));
	return 0;
}

static cuda_result destroy_exec(cuda_graph_exec exec)
{
	note("destroy exec %x", P(exec));
	return 0;
}

static cuda_result error_name(cuda_result code, const char **text)
{
	*text = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
	return code == 700 ? 0 : 1;
}

static cuda_result error_string(cuda_result code, const char **text)
{
	*text = code == 700 ? "an illegal memory access was encountered" : NULL;
	return code == 700 ? 0 : 1;
}

struct busbar_cuda fake_cuda_old = {.stream_query = stream_query, .error_name = error_name, .error_string = error_string};
struct busbar_cuda fake_cuda = {.stream_query = stream_query, .error_name = error_name, .error_string = error_string,
	.capture_begin = capture_begin, .capture_end = capture_end, .graph_instantiate = instantiate, .graph_launch = launch,
	.graph_destroy = destroy, .graph_exec_destroy = destroy_exec};

/* A synchronisation of another library. */
int fake_sync(void *context, uint64_t i)
{
	note("sync %s %d", (const char *)context, (int)i);
	return 0;
}
char fake_sync_context[] = "of ranks";
