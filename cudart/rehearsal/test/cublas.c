/* The simulated cuBLAS. */
#include "test.h"

#include <dlfcn.h>

enum { N = 1024, HALF = 2, FLOAT = 68 };

static int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int, const void *,
		   void *, int, int, int, int);

static int multiply(void *handle, const void *a, const void *b, void *c, int n, int type)
{
	const float one = 1, zero = 0;
	return gemm(handle, 0, 0, n, n, n, &one, a, type, n, b, type, n, &zero, c, type, n, FLOAT, -1);
}

static void products(void)
{
	char path[4096], *m[3];
	void *handle = NULL;
	cuda_event before, after;
	float ms;
	int value;
	int (*create)(void **), (*destroy)(void *), (*set_stream)(void *, cuda_stream), (*set_workspace)(void *, void *, size_t);
	int (*property)(int, int *);
	snprintf(path, sizeof path, "%s/libcublas.so.12", folder);
	void *library = dlopen(path, RTLD_NOW);
	CHECK(library && dlsym(library, "busbar_rehearsal_cublas"));
	CHECK((*(void **)&create = dlsym(library, "cublasCreate_v2")) && (*(void **)&destroy = dlsym(library, "cublasDestroy_v2")));
	CHECK((*(void **)&set_stream = dlsym(library, "cublasSetStream_v2")) && (*(void **)&gemm = dlsym(library, "cublasGemmEx")));
	CHECK((*(void **)&set_workspace = dlsym(library, "cublasSetWorkspace_v2")) && (*(void **)&property = dlsym(library, "cublasGetProperty")));
	device_open(0);
	for (int i = 0; i < 3; i++)
		m[i] = device_memory(N * N * 2);
	DO(property(0, &value));
	CHECK(value == 12 && property(3, &value) == 7);
	DO(create(&handle));
	DO(set_stream(handle, stream));
	CHECK(set_workspace(handle, m[0], N * N * 2 + 1) == 7);
	DO(set_workspace(handle, m[0], N * N * 2));
	CHECK(multiply(handle, m[0], m[1], m[2], N, 0) == 15);      /* of another type */
	CHECK(multiply(handle, m[0], m[1], m[2], N + 1, HALF) == 7); /* larger than the memory */
	DO(cuda.event_create(&before, 0));
	DO(cuda.event_create(&after, 0));
	DO(cuda.event_record(before, stream));
	for (int i = 0; i < 100; i++)
		DO(multiply(handle, m[0], m[1], m[2], N, HALF));
	DO(cuda.event_record(after, stream));
	DO(cuda.stream_synchronize(stream));
	DO(cuda.event_elapsed(&ms, before, after));
	CHECK(ms > 4.2); /* 2 x 1024^3 operations at 50 per picosecond, 100 times */
	DO(cuda.event_destroy(before));
	DO(cuda.event_destroy(after));
	DO(destroy(handle));
	CHECK(destroy(NULL) == 1);
}

void cublas_tests(void) { world("products of matrices", 1, products, NULL, -1); }
