/* The part of cuBLAS' interface that busbar uses, declared without NVIDIA's headers. The table of functions is filled
 * from the library at run time. X(need, field, symbol, arguments); need is REQUIRED or OPTIONAL (a NULL field: the
 * library is older). All return a cublasStatus_t, 0 for success. */
#ifndef BUSBAR_CUBLAS_H
#define BUSBAR_CUBLAS_H

#include <stddef.h>
#include <stdint.h>

#include "../../internal/dl/symbol.h"
#include "../cuda.h"

typedef struct cublas_handle_ *cublas_handle;

/* Constants of cublasGemmEx since cuBLAS 11. */
enum { CUBLAS_NOT_TRANSPOSED = 0, CUBLAS_HALF = 2, CUBLAS_COMPUTE_FLOAT = 68, CUBLAS_DEFAULT_ALGORITHM = -1 };

#define BUSBAR_CUBLAS_FUNCTIONS(X) \
	X(REQUIRED, create, "cublasCreate_v2", (cublas_handle *)) \
	X(REQUIRED, destroy, "cublasDestroy_v2", (cublas_handle)) \
	X(REQUIRED, set_stream, "cublasSetStream_v2", (cublas_handle, cuda_stream)) \
	X(OPTIONAL, set_workspace, "cublasSetWorkspace_v2", (cublas_handle, void *, size_t bytes)) \
	X(REQUIRED, property, "cublasGetProperty", (int part, int *value)) \
	X(REQUIRED, gemm, "cublasGemmEx", (cublas_handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, \
		int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, void *c, int c_type, int ldc, \
		int compute, int algorithm))

struct busbar_cublas {
#define X(need, field, symbol, arguments) int (*field) arguments;
	BUSBAR_CUBLAS_FUNCTIONS(X)
#undef X
};

extern const struct busbar_symbol busbar_cublas_symbols[];
extern const size_t busbar_cublas_symbol_count;

/* Products of square matrices of half precision, summed in float32: c = a b. */
struct busbar_cublas_gemm {
	const struct busbar_cublas *t;
	cublas_handle handle;
	int n; /* rows and columns */
	cuda_pointer a, b, c;
};

/* The step of a Work: count products, one after another. Returns cuBLAS' status. */
int busbar_cublas_multiply(void *gemm, uint64_t products);

#endif
