/* NCCL's profiler interface, versions 1 to 6, as far as the path of an operation needs it. NCCL looks in the library
 * named by NCCL_PROFILER_PLUGIN for the newest table it supports: ncclProfiler_v1 (NCCL 2.23), v2 (2.24), v3 (2.26),
 * v4 (2.27), v5 (2.28), v6 (2.29). Names are ours; layouts are NVIDIA's. Only the beginning of an event is
 * declared. */
#ifndef BUSBAR_NCCL_PROFILER_INTERFACE_H
#define BUSBAR_NCCL_PROFILER_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

/* Kinds of events; a mask selects which NCCL reports. */
enum {
	PROFILE_GROUP = 1 << 0,   /* a launch; before 2.28 NCCL reports collectives only if it has a handle */
	PROFILE_COLL = 1 << 1,
	PROFILE_P2P = 1 << 2,
	PROFILE_COPY = 1 << 12, /* a collective by copy engines, without a kernel; version 6 */
};

/* Version 1 has numbers where later versions have text. */
struct profiler_event_v1 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *comm_name;
			uint64_t comm_hash, sequence;
			uint8_t function;
			const void *send;
			void *recv;
			size_t count;
			int root;
			uint8_t data_type;
			uint32_t op;
			size_t traffic_bytes;
			uint8_t max_channels, warps, algorithm, protocol;
		} coll;
		struct {
			const char *comm_name;
			uint64_t comm_hash;
			uint8_t function;
		} p2p;
	};
};

struct profiler_event_v2 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *comm_name;
			uint64_t comm_hash, sequence;
			const char *function;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *data_type;
			size_t traffic_bytes;
			uint8_t max_channels, warps;
			const char *algorithm, *protocol;
		} coll;
		struct {
			const char *comm_name;
			uint64_t comm_hash;
			const char *function;
		} p2p;
	};
};

struct profiler_event_v3 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *comm_name;
			uint64_t comm_hash, sequence;
			const char *function;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *data_type;
			uint8_t max_channels, warps;
			const char *algorithm, *protocol;
		} coll;
		struct {
			const char *comm_name;
			uint64_t comm_hash;
			const char *function;
		} p2p;
	};
};

/* Since version 4, channels are those in use, and point-to-point operations have them too. Versions 5 and 6 differ
 * from 4 only in the width of the type. A collective by copy engines (version 6) begins as other collectives do and
 * ends after data_type. */
#define PROFILER_EVENT(name, type_of_type) \
	struct name { \
		type_of_type type; \
		void *parent; \
		int rank; \
		union { \
			struct { \
				uint64_t sequence; \
				const char *function; \
				const void *send; \
				void *recv; \
				size_t count; \
				int root; \
				const char *data_type; \
				uint8_t channels, warps; \
				const char *algorithm, *protocol; \
			} coll; \
			struct { \
				const char *function; \
				void *buffer; \
				const char *data_type; \
				size_t count; \
				int peer; \
				uint8_t channels; \
			} p2p; \
		}; \
	}
PROFILER_EVENT(profiler_event_v4, uint8_t);
PROFILER_EVENT(profiler_event_v5, uint64_t);
PROFILER_EVENT(profiler_event_v6, uint64_t);

/* Exports of the plugin for each version. All functions return NCCL's result, 0 for success. NCCL reads the mask until
 * the process ends; the plugin may change it at any time. */
#define PROFILER_TABLE(version, ...) \
	struct profiler_v##version { \
		const char *name; \
		int (*init)(__VA_ARGS__); \
		int (*start)(void *context, void **handle, struct profiler_event_v##version *); \
		int (*stop)(void *handle); \
		int (*record)(void *handle, int state, void *arguments); \
		int (*finalize)(void *context); \
	}
PROFILER_TABLE(1, void **context, int *mask);
PROFILER_TABLE(2, void **context, int *mask);
PROFILER_TABLE(3, void **context, int *mask);
PROFILER_TABLE(4, void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks, int rank, void *log);
PROFILER_TABLE(5, void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank, void *log);
PROFILER_TABLE(6, void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank, void *log);

#endif
