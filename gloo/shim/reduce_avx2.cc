/* The loops of kernels.h for CPUs with AVX2 and F16C; empty for other kinds of CPU. */
#if defined(__x86_64__)
#pragma GCC target("avx2,f16c")
#endif
#include "kernels.h"
#include "reduce_avx2.h"

reduce_function_avx2 reduction_avx2(int type, int op)
{
#if defined(__AVX2__) && defined(__F16C__)
	return choose(type, op);
#else
	(void)type;
	(void)op;
	return nullptr;
#endif
}
