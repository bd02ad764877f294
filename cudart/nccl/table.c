#include "nccl.h"

enum { OPTIONAL, REQUIRED };

const struct busbar_symbol busbar_nccl_symbols[] = {
#define X(need, since, result, field, symbol, arguments) {symbol, need, since, offsetof(struct busbar_nccl, field)},
	BUSBAR_NCCL_FUNCTIONS(X)
#undef X
};

const size_t busbar_nccl_symbol_count = sizeof busbar_nccl_symbols / sizeof *busbar_nccl_symbols;
