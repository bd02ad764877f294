/* NVTX ranges for the tool that a profiler injects, without NVTX's headers: the tool gets tables of places for its own
 * functions, one for each module of NVTX, and fills in those it supports. */
#ifndef BUSBAR_NVTX_H
#define BUSBAR_NVTX_H

/* Hands the tables to the tool's InitializeInjectionNvtx2, once in a process; 0: it declines to start. */
int busbar_nvtx_start(void *initialize);

/* Both return the tool's value: the depth of the range; -1 if it ignores ranges. */
int busbar_nvtx_push(const char *name);
int busbar_nvtx_pop(void);

#endif
