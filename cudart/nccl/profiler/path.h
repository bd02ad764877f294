/* rank's interface to the plugin, in the same process: the loader gives rank and NCCL one copy of the plugin. */
#ifndef BUSBAR_NCCL_PROFILER_PATH_H
#define BUSBAR_NCCL_PROFILER_PATH_H

/* An operation of this rank that NCCL reported; texts are NCCL's, or "". */
struct busbar_path_event {
	int channels; /* 0: not reported */
	char function[24], algorithm[24], protocol[16];
};

/* The version of the interface that NCCL uses; 0: NCCL has not loaded the plugin. */
int busbar_path_interface(void);

/* Makes NCCL report operations issued from now on; -1 if it has not loaded the plugin. */
int busbar_path_watch(void);

/* Ends the watch and copies NCCL's reports to out, in order; returns their number, which may exceed room. */
int busbar_path_take(struct busbar_path_event *out, int room);

#endif
