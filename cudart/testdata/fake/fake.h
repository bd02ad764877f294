/* A CUDA driver for tests, in host memory. It is lazy: work on a stream runs only when a caller waits for it,
 * so that a missing wait gives a wrong result. Calls without a current context, and addresses outside of one
 * allocation, are errors as they are on a GPU.
 *
 * FAKE_CUDA_DEVICES   number of GPUs (2)
 * FAKE_CUDA_MEMORY    bytes on each (1 GiB)
 * FAKE_CUDA_FAIL      symbol=code,…: these functions return that code
 * FAKE_CUDA_KERNELS   run: PTX is interpreted; wrong-fill, beyond-fill, wrong-compare: with that fault; else 801 */
#ifndef FAKE_H
#define FAKE_H

#include "cuda.h"

/* Parses all kernels of a text; on failure NULL, with the reason on stderr. */
struct ptx *ptx_parse(const char *text);
void ptx_free(struct ptx *);

struct kernel;
struct kernel *ptx_kernel(struct ptx *, const char *name);

/* Runs all threads one after another; parameters are all 8 bytes. Gives the driver's error code. */
int ptx_run(struct kernel *, unsigned blocks, unsigned threads, void **parameters);
int ptx_parameters(const struct kernel *);
const char *ptx_name(const struct kernel *);

/* Whether all n bytes at an address belong to one allocation of device memory. */
int reachable(uint64_t address, uint64_t n);

#endif
