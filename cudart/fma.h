/* Computation by busbar's own kernel. */
#ifndef BUSBAR_CUDA_FMA_H
#define BUSBAR_CUDA_FMA_H

#include "cuda.h"

struct busbar_cuda_fma {
	const struct busbar_cuda *cuda;
	cuda_function kernel;
	cuda_stream stream;
	unsigned blocks, threads;
	cuda_pointer sink; /* 4 bytes; the kernel never writes them */
};

/* The step of a Work: one kernel of count iterations. */
int busbar_cuda_fma(void *fma, uint64_t iterations);

#endif
