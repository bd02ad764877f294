#include "fma.h"

#include <stddef.h>

int busbar_cuda_fma(void *context, uint64_t iterations)
{
	struct busbar_cuda_fma *f = context;
	void *parameters[] = { &iterations, &f->sink };
	return f->cuda->launch_kernel(f->kernel, f->blocks, 1, 1, f->threads, 1, 1, 0, f->stream, parameters, NULL);
}
