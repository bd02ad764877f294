/* Kept apart from shim.h, so that reduce_avx2.cc compiles no inline function that other files have too. */
#ifndef BUSBAR_GLOO_REDUCE_AVX2_H
#define BUSBAR_GLOO_REDUCE_AVX2_H

#include <cstddef>

using reduce_function_avx2 = void (*)(void *, const void *, const void *, size_t);

/* NULL where this CPU's kind has no such instructions at all; whether this very one has them is the caller's to ask. */
reduce_function_avx2 reduction_avx2(int type, int op);

#endif
