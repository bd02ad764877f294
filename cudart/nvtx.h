/* NVTX ranges for the tool that a profiler injects, without NVTX's headers: the tool gets tables of pointers, one for
 * each module of NVTX, and fills in the functions that it supports. */
#ifndef BUSBAR_NVTX_H
#define BUSBAR_NVTX_H

/* Passes the tables to the tool's InitializeInjectionNvtx2, once per process; 0: the tool declines. */
int busbar_nvtx_start(void *initialize);

/* Both return the tool's value: the depth of the range; -1 if it ignores ranges. */
int busbar_nvtx_push(const char *name);
int busbar_nvtx_pop(void);

#endif
