/* Buffers whose bytes are a table, repeated: byte i is table[(first + i) mod period]. */
#ifndef BUSBAR_CUDA_COMPARE_H
#define BUSBAR_CUDA_COMPARE_H

#include <stdint.h>

/* Index of the first of n bytes at p that is not the table's; -1 if there is none. */
int64_t busbar_cuda_differs(const void *p, int64_t n, const void *table, int64_t period, int64_t first);

/* Writes n bytes at p. */
void busbar_cuda_repeat(void *p, int64_t n, const void *table, int64_t period, int64_t first);

#endif
