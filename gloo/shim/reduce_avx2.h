/* Separate from shim.h, so that reduce_avx2.cc compiles no inline function that other files compile too. */
#ifndef BUSBAR_GLOO_REDUCE_AVX2_H
#define BUSBAR_GLOO_REDUCE_AVX2_H

#include <cstddef>

using reduce_function_avx2 = void (*)(void *, const void *, const void *, size_t);

/* NULL if this architecture has no such instructions; the caller checks whether this CPU has them. */
reduce_function_avx2 reduction_avx2(int type, int op);

#endif
