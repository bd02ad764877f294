#include "cublas.h"

enum { OPTIONAL, REQUIRED };

const struct busbar_symbol busbar_cublas_symbols[] = {
#define X(need, field, symbol, arguments) { symbol, need, 0, offsetof(struct busbar_cublas, field) },
	BUSBAR_CUBLAS_FUNCTIONS(X)
#undef X
};

const size_t busbar_cublas_symbol_count = sizeof busbar_cublas_symbols / sizeof *busbar_cublas_symbols;

int busbar_cublas_multiply(void *context, uint64_t products)
{
	const struct busbar_cublas_gemm *g = context;
	const float one = 1, zero = 0;
	int rc = 0;
	for (uint64_t i = 0; i < products && !rc; i++)
		rc = g->t->gemm(g->handle, CUBLAS_NOT_TRANSPOSED, CUBLAS_NOT_TRANSPOSED, g->n, g->n, g->n, &one,
				(const void *)(uintptr_t)g->a, CUBLAS_HALF, g->n, (const void *)(uintptr_t)g->b, CUBLAS_HALF, g->n,
				&zero, (void *)(uintptr_t)g->c, CUBLAS_HALF, g->n, CUBLAS_COMPUTE_FLOAT, CUBLAS_DEFAULT_ALGORITHM);
	return rc;
}
