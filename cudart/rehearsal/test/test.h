/* Shared by the simulation's tests. Each test runs in its own processes, one per rank. */
#ifndef BUSBAR_REHEARSAL_TEST_H
#define BUSBAR_REHEARSAL_TEST_H

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nccl/abi.h"

extern struct busbar_cuda cuda;
extern int rank, ranks;
extern const char *folder; /* of the libraries under test */

#define CHECK(condition)                                                                                       \
	do {                                                                                                  \
		if (!(condition)) {                                                                           \
			fprintf(stderr, "%s:%d: rank %d of %d: check failed: %s (%s)\n", __FILE__, __LINE__, rank,   \
				ranks, #condition, ncclGetLastError(NULL));                                   \
			_exit(1);                                                                             \
		}                                                                                             \
	} while (0)
#define DO(call) CHECK((call) == 0)

/* Runs the body in n processes. settings: environment, "NAME=value" each, NULL at the end; %d is the rank. crashes:
 * the rank that must end by SIGABRT, -1: none. */
void world(const char *name, int n, void (*body)(void), const char *const *settings, int crashes);
#define SETTINGS(...) (const char *const[]){__VA_ARGS__, NULL}

void device_open(int ordinal); /* makes a context current and creates a stream */
extern cuda_stream stream;
void *device_memory(size_t bytes);
void device_free(void *);
void meet(void);               /* all ranks */
void share_id(struct nccl_id *); /* rank 0's */
nccl_comm comm_open(void);
nccl_result settled(nccl_comm); /* waits until it is no longer ncclInProgress */
nccl_result async_error(nccl_comm); /* waits until it has an error */
int sums_right(nccl_comm, int n); /* a sum of ones over n ranks */

void cuda_tests(void);
void collective_tests(void);
void life_tests(void);
void fault_tests(void);
void profiler_tests(void);
void cublas_tests(void);

#endif
