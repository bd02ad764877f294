#include "driver.h"

enum { OPTIONAL, REQUIRED };

const struct busbar_symbol busbar_cuda_symbols[] = {
#define X(need, since, field, symbol, arguments) { symbol, need, since, offsetof(struct busbar_cuda, field) },
	BUSBAR_CUDA_FUNCTIONS(X)
#undef X
};

const size_t busbar_cuda_symbol_count = sizeof busbar_cuda_symbols / sizeof *busbar_cuda_symbols;
