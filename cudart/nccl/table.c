#include "nccl.h"

#include <string.h>

enum { OPTIONAL, REQUIRED };

const struct busbar_nccl_symbol busbar_nccl_symbols[] = {
#define X(need, since, result, field, symbol, arguments) {symbol, need, since, offsetof(struct busbar_nccl, field)},
	BUSBAR_NCCL_FUNCTIONS(X)
#undef X
};

const int busbar_nccl_symbol_count = sizeof busbar_nccl_symbols / sizeof *busbar_nccl_symbols;

void busbar_nccl_set(struct busbar_nccl *t, int symbol, void *address)
{
	memcpy((char *)t + busbar_nccl_symbols[symbol].field, &address, sizeof address);
}
