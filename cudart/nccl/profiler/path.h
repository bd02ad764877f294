/* What rank asks of the plugin, which lies in the same process: the loader gives rank and NCCL one copy of it. */
#ifndef BUSBAR_NCCL_PROFILER_PATH_H
#define BUSBAR_NCCL_PROFILER_PATH_H

/* An operation of this rank that NCCL reported; texts are NCCL's, or "". */
struct busbar_path_event {
	int channels; /* 0: not reported */
	char function[24], algorithm[24], protocol[16];
};

/* The version of the interface through which NCCL asked for the plugin; 0: it has not. */
int busbar_path_interface(void);

/* Makes NCCL report operations issued from now on; -1 if it has not loaded the plugin. */
int busbar_path_watch(void);

/* Ends the watch and copies what NCCL reported to out, in its order; returns how many there were, also beyond room. */
int busbar_path_take(struct busbar_path_event *out, int room);

#endif
