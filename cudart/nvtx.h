/* NVTX ranges for the tool that a profiler injects, without NVTX's headers: the tool gets tables of places for its own
 * functions, one for each module of NVTX, and fills in those it wants to be called. */
#ifndef BUSBAR_NVTX_H
#define BUSBAR_NVTX_H

/* Hands the tables to the tool's InitializeInjectionNvtx2, once in a process; 0 says that it does not want to start. */
int busbar_nvtx_start(void *initialize);

/* Both give what the tool gives: the depth of the range; -1 where it does not want to know. */
int busbar_nvtx_push(const char *name);
int busbar_nvtx_pop(void);

#endif
