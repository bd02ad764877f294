/* The simulated libcublas.so.12: it computes nothing, but a matrix product occupies the stream, at RATE floating-point
 * operations per nanosecond on every device, independent of other load. */
#include <stdlib.h>

#include "../rehearsal.h"

#define CUBLAS(symbol) EXPORT int symbol

enum { NOT_INITIALIZED = 1, ALLOC_FAILED = 3, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum { RATE = 50000, HALF = 2, COMPUTE_FLOAT = 68 };

/* Identifies the simulation in any folder. */
EXPORT const char *busbar_rehearsal_cublas(void);
const char *busbar_rehearsal_cublas(void) { return "1"; }

struct handle { cuda_stream stream; };

CUBLAS(cublasCreate_v2)(struct handle **);
CUBLAS(cublasDestroy_v2)(struct handle *);
CUBLAS(cublasSetStream_v2)(struct handle *, cuda_stream);
CUBLAS(cublasSetWorkspace_v2)(struct handle *, void *, size_t);
CUBLAS(cublasGetProperty)(int, int *);
CUBLAS(cublasGemmEx)(struct handle *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
		     const void *, void *, int, int, int, int);

int cublasCreate_v2(struct handle **out)
{
	struct busbar_rehearsal_device device;
	if (busbar_rehearsal_device(&device))
		return NOT_INITIALIZED;
	*out = calloc(1, sizeof **out);
	return *out ? 0 : ALLOC_FAILED;
}

int cublasDestroy_v2(struct handle *h)
{
	free(h);
	return h ? 0 : NOT_INITIALIZED;
}

int cublasSetStream_v2(struct handle *h, cuda_stream s)
{
	h->stream = s;
	return 0;
}

int cublasSetWorkspace_v2(struct handle *h, void *p, size_t bytes)
{
	return h && busbar_rehearsal_owns(p, bytes) ? 0 : INVALID_VALUE;
}

int cublasGetProperty(int part, int *value)
{
	static const int version[] = {12, 8, 0};
	if (part < 0 || part > 2)
		return INVALID_VALUE;
	*value = version[part];
	return 0;
}

static void run(void *nanoseconds) { busbar_rehearsal_sleep(*(uint64_t *)nanoseconds); }

static int is_matrix(const void *p, int rows, int columns, int ld)
{
	return ld >= rows && busbar_rehearsal_owns(p, (size_t)ld * (size_t)columns * 2);
}

int cublasGemmEx(struct handle *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int a_type, int lda,
		 const void *b, int b_type, int ldb, const void *beta, void *c, int c_type, int ldc, int compute, int algorithm)
{
	if (ta || tb || a_type != HALF || b_type != HALF || c_type != HALF || compute != COMPUTE_FLOAT || algorithm != -1)
		return NOT_SUPPORTED;
	if (m < 1 || n < 1 || k < 1 || !alpha || !beta || !is_matrix(a, m, k, lda) || !is_matrix(b, k, n, ldb) || !is_matrix(c, m, n, ldc))
		return INVALID_VALUE;
	uint64_t *nanoseconds = malloc(sizeof *nanoseconds);
	if (!nanoseconds)
		return ALLOC_FAILED;
	*nanoseconds = 2 * (uint64_t)m * (uint64_t)n * (uint64_t)k / RATE;
	const struct busbar_rehearsal_work w = {run, free, nanoseconds};
	if (busbar_rehearsal_enqueue(h->stream, &w, NULL)) {
		free(nanoseconds);
		return EXECUTION_FAILED;
	}
	return 0;
}
