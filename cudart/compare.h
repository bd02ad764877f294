/* Buffers whose bytes are a table, repeated: byte i is table[(first + i) mod period]. */
#ifndef BUSBAR_CUDA_COMPARE_H
#define BUSBAR_CUDA_COMPARE_H

#include <stdint.h>

/* Index of the first of n bytes at p that differs from the table's; -1 if all match. */
int64_t busbar_cuda_differs(const void *p, int64_t n, const void *table, int64_t period, int64_t first);

/* Tolerance for floats; ulps 0: compare bit for bit. */
struct busbar_near {
	uint64_t bytes;    /* of an element: 1, 2, 4 or 8; p, n, period and first are multiples of it */
	uint64_t ulps;     /* in units in the last place; +0 and -0 are equal */
	uint64_t greatest; /* largest valid value without the sign bit; patterns above it are NaN */
};

/* Index of the first byte of the first element outside the tolerance; -1 if all are within. */
int64_t busbar_cuda_far(const void *p, int64_t n, const void *table, int64_t period, int64_t first, struct busbar_near near);

/* Writes n bytes at p. */
void busbar_cuda_repeat(void *p, int64_t n, const void *table, int64_t period, int64_t first);

#endif
