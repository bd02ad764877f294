/* The symbols of a table of functions, for filling it by name. */
#ifndef BUSBAR_CUDA_DRIVER_H
#define BUSBAR_CUDA_DRIVER_H

#include "cuda.h"

struct busbar_cuda_symbol {
	const char *name;
	int since;     /* CUDA version in which it appeared */
	int required;
	size_t offset; /* of its field in the table */
};

/* Those of struct busbar_cuda. */
extern const struct busbar_cuda_symbol busbar_cuda_symbols[];
extern const size_t busbar_cuda_symbol_count;

#endif
