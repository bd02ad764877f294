/* A libcublas that records its calls and fails on request: FAKE_CUBLAS_FAIL=symbol=status. Declared from
 * cuBLAS' own interface, not from cublas.h, which is under test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char fake_log[1 << 14];
int fake_live;

static int note(const char *call, const char *text)
{
	const char *fail = getenv("FAKE_CUBLAS_FAIL");
	const size_t n = strlen(fake_log), c = strlen(call);
	snprintf(fake_log + n, sizeof fake_log - n, "%s%s\n", call, text);
	return fail && !strncmp(fail, call, c) && fail[c] == '=' ? atoi(fail + c + 1) : 0;
}

int cublasCreate_v2(void **h)
{
	*h = &fake_live;
	const int rc = note("cublasCreate_v2", "");
	if (rc)
		*h = NULL;
	fake_live += !rc;
	return rc;
}
int cublasDestroy_v2(void *h)
{
	fake_live -= h == &fake_live;
	return note("cublasDestroy_v2", "");
}
int cublasSetStream_v2(void *h, void *s) { return note("cublasSetStream_v2", h && s ? " of a stream" : ""); }
#ifdef MINOR /* lt.c has the version */
int fake_lt_minor(void);
#if MINOR >= 9
int fake_lt_since_9(void);
int fake_needs(void) { return fake_lt_since_9(); }
#endif
#else
static int fake_lt_minor(void) { return 4; }
#endif
int cublasGetProperty(int part, int *value)
{
	*value = part == 0 ? 12 : part == 1 ? fake_lt_minor() : 5;
	return note("cublasGetProperty", "");
}
#ifndef OLD
int cublasSetWorkspace_v2(void *h, void *p, size_t bytes)
{
	char text[64];
	snprintf(text, sizeof text, " of %zu MiB", bytes >> 20);
	return note("cublasSetWorkspace_v2", h && p ? text : " of nothing");
}
#endif
#ifndef PART
int cublasGemmEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int a_type, int lda, const void *b,
		 int b_type, int ldb, const void *beta, void *c, int c_type, int ldc, int compute, int algorithm)
{
	char text[256];
	snprintf(text, sizeof text, " %d%d, %d x %d x %d, leading %d %d %d, types %d %d %d, in %d, algorithm %d, %g and %g, %s", ta, tb, m, n,
		 k, lda, ldb, ldc, a_type, b_type, c_type, compute, algorithm, *(const float *)alpha, *(const float *)beta,
		 h && a && b && c && a != b && b != c ? "three matrices" : "matrices are missing");
	return note("cublasGemmEx", text);
}
#endif
