/* The symbols of a table of functions, for filling it by name. */
#ifndef BUSBAR_CUDA_DRIVER_H
#define BUSBAR_CUDA_DRIVER_H

#include "../internal/dl/symbol.h"
#include "cuda.h"

/* The symbols of struct busbar_cuda. */
extern const struct busbar_symbol busbar_cuda_symbols[];
extern const size_t busbar_cuda_symbol_count;

#endif
