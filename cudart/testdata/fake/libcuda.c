#include "fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of objects not yet freed: read by tests. */
int fake_cuda_live;

enum { OK, INVALID = 1, NO_MEMORY = 2, NOT_INITIALIZED = 3, BAD_DEVICE = 101, BAD_CONTEXT = 201, BAD_HANDLE = 400, NOT_READY = 600,
       BAD_ADDRESS = 700, UNSUPPORTED = 801 };

struct cuda_context_ { int device, retained; };
enum kind { TO_DEVICE, TO_HOST, ON_DEVICE, SET, RECORD, LAUNCH };
struct work {
	enum kind kind;
	void *to;
	const void *from;
	size_t n;
	unsigned char value;
	cuda_event event;
	struct kernel *kernel;
	unsigned blocks, threads;
	uint64_t parameters[10];
	struct work *next;
};
struct cuda_stream_ { struct work *first, **last; int error; };
struct cuda_event_ { unsigned flags; int pending; double time; cuda_stream stream; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_context_ contexts[16];
static _Thread_local cuda_context current;
static struct { uint64_t at, n; } areas[64];
static size_t used;
static double clock_ms;
static int started;

static int failing(const char *symbol)
{
	const char *list = getenv("FAKE_CUDA_FAIL");
	size_t n = strlen(symbol);
	for (const char *s = list ? strstr(list, symbol) : NULL; s; s = strstr(s + 1, symbol))
		if (s[n] == '=' && (s == list || s[-1] == ','))
			return atoi(s + n + 1);
	return 0;
}

static long setting(const char *name, long otherwise)
{
	const char *v = getenv(name);
	return v ? atol(v) : otherwise;
}

#define FAIL(symbol) do { int code_ = failing(symbol); if (code_) return code_; } while (0)
#define STARTED(symbol) do { FAIL(symbol); if (!started) return NOT_INITIALIZED; } while (0)
#define CONTEXT(symbol) do { STARTED(symbol); if (!current || !current->retained) return BAD_CONTEXT; } while (0)

int reachable(uint64_t address, uint64_t n)
{
	for (int i = 0; i < 64; i++)
		if (areas[i].at && address >= areas[i].at && address - areas[i].at <= areas[i].n && n <= areas[i].n - (address - areas[i].at))
			return 1;
	return 0;
}

static int devices(void) { return (int)setting("FAKE_CUDA_DEVICES", 2); }
static size_t capacity(void) { return (size_t)setting("FAKE_CUDA_MEMORY", 1 << 30); }
/* Handles differ from ordinals. */
static int bad(cuda_device d) { return d < 100 || d >= 100 + devices(); }

int cuInit(unsigned flags)
{
	FAIL("cuInit");
	started = 1;
	return flags ? INVALID : devices() ? OK : CUDA_NO_DEVICE;
}
int cuDriverGetVersion(int *v) { FAIL("cuDriverGetVersion"); *v = 12040; return OK; }

static const struct { int code; const char *name, *text; } errors[] = {
	{ INVALID, "CUDA_ERROR_INVALID_VALUE", "invalid argument" }, { NO_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ 34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library" },
	{ 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
	{ BAD_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
	{ BAD_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
	{ UNSUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported" },
	{ BAD_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered" },
};
static int error_text(int code, const char **out, int name)
{
	*out = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code) {
			*out = name ? errors[i].name : errors[i].text;
			return OK;
		}
	return INVALID;
}
int cuGetErrorName(int code, const char **s) { return error_text(code, s, 1); }
int cuGetErrorString(int code, const char **s) { return error_text(code, s, 0); }

int cuDeviceGetCount(int *n) { STARTED("cuDeviceGetCount"); *n = devices(); return OK; }
int cuDeviceGet(cuda_device *d, int ordinal)
{
	STARTED("cuDeviceGet");
	*d = ordinal + 100;
	return ordinal < 0 || ordinal >= devices() ? BAD_DEVICE : OK;
}
int cuDeviceGetName(char *s, int n, cuda_device d)
{
	STARTED("cuDeviceGetName");
	snprintf(s, (size_t)n, "Fake GPU");
	return bad(d) ? BAD_DEVICE : OK;
}
int cuDeviceGetUuid(cuda_uuid *u, cuda_device d)
{
	STARTED("cuDeviceGetUuid");
	for (int i = 0; i < 16; i++)
		u->bytes[i] = (char)(0xa0 + i);
	u->bytes[15] = (char)d;
	return bad(d) ? BAD_DEVICE : OK;
}
int cuDeviceGetUuid_v2(cuda_uuid *u, cuda_device d)
{
	STARTED("cuDeviceGetUuid_v2");
	int rc = cuDeviceGetUuid(u, d);
	if (d == 101) /* a slice of a GPU */
		u->bytes[0] = 0x11;
	return rc;
}
int cuDeviceGetPCIBusId(char *s, int n, cuda_device d)
{
	STARTED("cuDeviceGetPCIBusId");
	snprintf(s, (size_t)n, "0000:%02X:00.0", 0x1b + d - 100);
	return bad(d) ? BAD_DEVICE : OK;
}
int cuDeviceGetAttribute(int *v, int attribute, cuda_device d)
{
	STARTED("cuDeviceGetAttribute");
	*v = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 1 : attribute == 134 ? 3 : -1;
	return bad(d) ? BAD_DEVICE : *v < 0 || (attribute == 134 && d == 101) ? INVALID : OK;
}
int cuDeviceTotalMem_v2(size_t *n, cuda_device d)
{
	STARTED("cuDeviceTotalMem_v2");
	*n = capacity();
	return bad(d) ? BAD_DEVICE : OK;
}
int cuDeviceCanAccessPeer(int *can, cuda_device d, cuda_device peer)
{
	STARTED("cuDeviceCanAccessPeer");
	*can = d != peer;
	return bad(d) || bad(peer) ? BAD_DEVICE : OK;
}

int cuDevicePrimaryCtxRetain(cuda_context *c, cuda_device d)
{
	STARTED("cuDevicePrimaryCtxRetain");
	if (bad(d))
		return BAD_DEVICE;
	*c = &contexts[d - 100];
	(*c)->retained++;
	fake_cuda_live++;
	return OK;
}
int cuDevicePrimaryCtxRelease_v2(cuda_device d)
{
	STARTED("cuDevicePrimaryCtxRelease_v2");
	if (bad(d) || !contexts[d - 100].retained)
		return BAD_CONTEXT;
	contexts[d - 100].retained--;
	fake_cuda_live--;
	return OK;
}
int cuCtxSetCurrent(cuda_context c) { STARTED("cuCtxSetCurrent"); current = c; return OK; }

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
	CONTEXT("cuMemGetInfo_v2");
	*total = capacity();
	*available = capacity() - used;
	return OK;
}
int cuMemAlloc_v2(cuda_pointer *p, size_t n)
{
	CONTEXT("cuMemAlloc_v2");
	if (!n)
		return INVALID;
	if (n > capacity() - used)
		return NO_MEMORY;
	for (int i = 0; i < 64; i++)
		if (!areas[i].at) {
			void *memory = aligned_alloc(256, (n + 255) / 256 * 256);
			memset(memory, 0xcc, n);
			areas[i].at = *p = (uint64_t)memory;
			areas[i].n = n;
			used += n;
			fake_cuda_live++;
			return OK;
		}
	return NO_MEMORY;
}
int cuMemFree_v2(cuda_pointer p)
{
	CONTEXT("cuMemFree_v2");
	for (int i = 0; i < 64; i++)
		if (p && areas[i].at == p) {
			used -= areas[i].n;
			areas[i].at = 0;
			free((void *)p);
			fake_cuda_live--;
			return OK;
		}
	return INVALID;
}
int cuMemHostAlloc(void **p, size_t n, unsigned flags)
{
	CONTEXT("cuMemHostAlloc");
	*p = malloc(n);
	fake_cuda_live++;
	return flags ? INVALID : OK;
}
int cuMemFreeHost(void *p) { CONTEXT("cuMemFreeHost"); free(p); fake_cuda_live--; return OK; }

static void launch(cuda_stream s, struct work *w)
{
	const char *mode = getenv("FAKE_CUDA_KERNELS");
	void *parameters[10];
	for (int i = 0; i < 10; i++)
		parameters[i] = &w->parameters[i];
	int rc = ptx_run(w->kernel, w->blocks, w->threads, parameters);
	if (rc)
		s->error = rc;
	unsigned char *p = (unsigned char *)w->parameters[0];
	int fill = !strcmp(ptx_name(w->kernel), "busbar_fill");
	if (fill && !strcmp(mode, "wrong-fill"))
		p[w->parameters[1] - 1] ^= 1;
	if (fill && !strcmp(mode, "beyond-fill"))
		p[w->parameters[1]] ^= 1;
	if (!fill && !strcmp(mode, "wrong-compare"))
		*(uint64_t *)w->parameters[4] |= 1;
	if (!strcmp(ptx_name(w->kernel), "busbar_near") && !strcmp(mode, "wrong-near"))
		*(uint64_t *)w->parameters[4] += 1;
}

/* Runs the next piece of work of a stream. */
static void work(cuda_stream s)
{
	struct work *w = s->first;
	s->first = w->next;
	if (!s->first)
		s->last = &s->first;
	clock_ms++;
	switch (w->kind) {
	case TO_DEVICE: case TO_HOST: case ON_DEVICE: memcpy(w->to, w->from, w->n); break;
	case SET: memset(w->to, w->value, w->n); break;
	case RECORD: w->event->pending--; w->event->time = clock_ms; break;
	case LAUNCH: launch(s, w); break;
	}
	free(w);
}

static int finish(cuda_stream s)
{
	pthread_mutex_lock(&lock);
	while (s->first)
		work(s);
	pthread_mutex_unlock(&lock);
	return s->error;
}

static int enqueue(cuda_stream s, struct work w)
{
	if (!s)
		return BAD_HANDLE;
	struct work *copy = malloc(sizeof *copy);
	*copy = w;
	copy->next = NULL;
	pthread_mutex_lock(&lock);
	*s->last = copy;
	s->last = &copy->next;
	pthread_mutex_unlock(&lock);
	return s->error;
}

int cuMemcpyHtoDAsync_v2(cuda_pointer to, const void *from, size_t n, cuda_stream s)
{
	CONTEXT("cuMemcpyHtoDAsync_v2");
	return reachable(to, n) ? enqueue(s, (struct work){ .kind = TO_DEVICE, .to = (void *)to, .from = from, .n = n }) : INVALID;
}
int cuMemcpyDtoHAsync_v2(void *to, cuda_pointer from, size_t n, cuda_stream s)
{
	CONTEXT("cuMemcpyDtoHAsync_v2");
	return reachable(from, n) ? enqueue(s, (struct work){ .kind = TO_HOST, .to = to, .from = (void *)from, .n = n }) : INVALID;
}
int cuMemcpyDtoDAsync_v2(cuda_pointer to, cuda_pointer from, size_t n, cuda_stream s)
{
	CONTEXT("cuMemcpyDtoDAsync_v2");
	if (!reachable(to, n) || !reachable(from, n) || (to < from + n && from < to + n))
		return INVALID;
	return enqueue(s, (struct work){ .kind = ON_DEVICE, .to = (void *)to, .from = (void *)from, .n = n });
}
int cuMemsetD8Async(cuda_pointer p, unsigned char value, size_t n, cuda_stream s)
{
	CONTEXT("cuMemsetD8Async");
	return reachable(p, n) ? enqueue(s, (struct work){ .kind = SET, .to = (void *)p, .value = value, .n = n }) : INVALID;
}

int cuStreamCreate(cuda_stream *s, unsigned flags)
{
	CONTEXT("cuStreamCreate");
	*s = calloc(1, sizeof **s);
	(*s)->last = &(*s)->first;
	fake_cuda_live++;
	return flags == 1 ? OK : INVALID;
}
int cuStreamDestroy_v2(cuda_stream s) { CONTEXT("cuStreamDestroy_v2"); finish(s); free(s); fake_cuda_live--; return OK; }
int cuStreamQuery(cuda_stream s)
{
	CONTEXT("cuStreamQuery");
	if (!s->first)
		return s->error;
	work(s);
	return NOT_READY;
}
int cuStreamSynchronize(cuda_stream s) { CONTEXT("cuStreamSynchronize"); return finish(s); }
int cuCtxSynchronize(void) { CONTEXT("cuCtxSynchronize"); return OK; }
int cuStreamWaitEvent(cuda_stream s, cuda_event e, unsigned flags) { (void)s; (void)e; (void)flags; return UNSUPPORTED; }

int cuEventCreate(cuda_event *e, unsigned flags)
{
	CONTEXT("cuEventCreate");
	*e = calloc(1, sizeof **e);
	(*e)->flags = flags;
	fake_cuda_live++;
	return OK;
}
int cuEventDestroy_v2(cuda_event e) { CONTEXT("cuEventDestroy_v2"); free(e); fake_cuda_live--; return OK; }
int cuEventRecord(cuda_event e, cuda_stream s)
{
	CONTEXT("cuEventRecord");
	e->pending++;
	e->stream = s;
	return enqueue(s, (struct work){ .kind = RECORD, .event = e });
}
int cuEventQuery(cuda_event e) { CONTEXT("cuEventQuery"); return e->pending ? NOT_READY : OK; }
int cuEventSynchronize(cuda_event e)
{
	CONTEXT("cuEventSynchronize");
	while (e->pending)
		work(e->stream);
	return e->stream ? e->stream->error : OK;
}
int cuEventElapsedTime(float *ms, cuda_event from, cuda_event to)
{
	CONTEXT("cuEventElapsedTime");
	*ms = (float)(to->time - from->time);
	return from->flags || to->flags ? BAD_HANDLE : from->pending || to->pending ? NOT_READY : OK;
}

int cuModuleLoadDataEx(cuda_module *m, const void *image, unsigned options, int *names, void **values)
{
	CONTEXT("cuModuleLoadDataEx");
	(void)names;
	(void)values;
	if (!getenv("FAKE_CUDA_KERNELS"))
		return UNSUPPORTED;
	*m = (cuda_module)ptx_parse(image);
	if (*m)
		fake_cuda_live++;
	return options ? INVALID : *m ? OK : 218;
}
int cuModuleUnload(cuda_module m) { CONTEXT("cuModuleUnload"); ptx_free((struct ptx *)m); fake_cuda_live--; return OK; }
int cuModuleGetFunction(cuda_function *f, cuda_module m, const char *name)
{
	CONTEXT("cuModuleGetFunction");
	*f = (cuda_function)ptx_kernel((struct ptx *)m, name);
	return *f ? OK : 500;
}
int cuLaunchKernel(cuda_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
		   cuda_stream s, void **parameters, void **extra)
{
	CONTEXT("cuLaunchKernel");
	if (!gx || gy != 1 || gz != 1 || !bx || bx > 1024 || by != 1 || bz != 1 || shared_bytes || extra)
		return INVALID;
	struct work w = { .kind = LAUNCH, .kernel = (struct kernel *)f, .blocks = gx, .threads = bx };
	for (int i = 0; i < ptx_parameters(w.kernel); i++)
		w.parameters[i] = *(uint64_t *)parameters[i];
	return enqueue(s, w);
}

int cuProfilerStart(void) { CONTEXT("cuProfilerStart"); return OK; }
int cuProfilerStop(void) { CONTEXT("cuProfilerStop"); return OK; }
