/* The part of the CUDA driver's interface that busbar uses, declared without NVIDIA's headers. The table of functions
 * is filled from libcuda.so.1 at run time.
 *
 * BUSBAR_CUDA_FUNCTIONS lists every function once: X(need, since, field, symbol, arguments). need is REQUIRED or
 * OPTIONAL (a NULL field: the driver is older); since is the CUDA version in which the symbol appeared; symbol is the
 * name that the driver exports, with its version suffix. All return a CUresult. */
#ifndef BUSBAR_CUDA_H
#define BUSBAR_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_result;        /* CUresult: 0 is success */
typedef int cuda_device;        /* CUdevice */
typedef uint64_t cuda_pointer;  /* CUdeviceptr */
typedef struct cuda_context_ *cuda_context;
typedef struct cuda_stream_ *cuda_stream;
typedef struct cuda_event_ *cuda_event;
typedef struct cuda_graph_ *cuda_graph;
typedef struct cuda_graph_exec_ *cuda_graph_exec;
typedef struct cuda_module_ *cuda_module;
typedef struct cuda_function_ *cuda_function;
typedef struct { char bytes[16]; } cuda_uuid;

enum { CUDA_OK = 0, CUDA_OUT_OF_MEMORY = 2, CUDA_NO_DEVICE = 100, CUDA_NOT_READY = 600 };

#define BUSBAR_CUDA_FUNCTIONS(X) \
	X(REQUIRED, 2000, init, "cuInit", (unsigned flags)) \
	X(REQUIRED, 2020, driver_version, "cuDriverGetVersion", (int *version)) \
	X(REQUIRED, 6000, error_name, "cuGetErrorName", (cuda_result, const char **text)) \
	X(REQUIRED, 6000, error_string, "cuGetErrorString", (cuda_result, const char **text)) \
	X(REQUIRED, 2000, device_count, "cuDeviceGetCount", (int *count)) \
	X(REQUIRED, 2000, device_get, "cuDeviceGet", (cuda_device *, int ordinal)) \
	X(REQUIRED, 2000, device_name, "cuDeviceGetName", (char *name, int room, cuda_device)) \
	X(OPTIONAL, 11040, device_uuid, "cuDeviceGetUuid_v2", (cuda_uuid *, cuda_device)) \
	X(OPTIONAL, 9020, device_uuid_whole, "cuDeviceGetUuid", (cuda_uuid *, cuda_device)) \
	X(REQUIRED, 4010, device_pci, "cuDeviceGetPCIBusId", (char *text, int room, cuda_device)) \
	X(REQUIRED, 2000, device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, cuda_device)) \
	X(REQUIRED, 3020, device_memory, "cuDeviceTotalMem_v2", (size_t *bytes, cuda_device)) \
	X(REQUIRED, 7000, context_retain, "cuDevicePrimaryCtxRetain", (cuda_context *, cuda_device)) \
	X(REQUIRED, 11000, context_release, "cuDevicePrimaryCtxRelease_v2", (cuda_device)) \
	X(REQUIRED, 4000, context_set, "cuCtxSetCurrent", (cuda_context)) \
	X(REQUIRED, 2000, context_synchronize, "cuCtxSynchronize", (void)) \
	X(REQUIRED, 3020, memory_info, "cuMemGetInfo_v2", (size_t *available, size_t *total)) \
	X(REQUIRED, 3020, memory_alloc, "cuMemAlloc_v2", (cuda_pointer *, size_t bytes)) \
	X(REQUIRED, 3020, memory_free, "cuMemFree_v2", (cuda_pointer)) \
	X(REQUIRED, 2020, host_alloc, "cuMemHostAlloc", (void **, size_t bytes, unsigned flags)) \
	X(REQUIRED, 2000, host_free, "cuMemFreeHost", (void *)) \
	X(REQUIRED, 3020, copy_to_device, "cuMemcpyHtoDAsync_v2", (cuda_pointer, const void *, size_t bytes, cuda_stream)) \
	X(REQUIRED, 3020, copy_to_host, "cuMemcpyDtoHAsync_v2", (void *, cuda_pointer, size_t bytes, cuda_stream)) \
	X(REQUIRED, 3020, copy_on_device, "cuMemcpyDtoDAsync_v2", (cuda_pointer to, cuda_pointer from, size_t bytes, cuda_stream)) \
	X(REQUIRED, 3020, set_bytes, "cuMemsetD8Async", (cuda_pointer, unsigned char value, size_t count, cuda_stream)) \
	X(REQUIRED, 2000, stream_create, "cuStreamCreate", (cuda_stream *, unsigned flags)) \
	X(REQUIRED, 4000, stream_destroy, "cuStreamDestroy_v2", (cuda_stream)) \
	X(REQUIRED, 2000, stream_query, "cuStreamQuery", (cuda_stream)) \
	X(REQUIRED, 2000, stream_synchronize, "cuStreamSynchronize", (cuda_stream)) \
	X(REQUIRED, 3020, stream_wait_event, "cuStreamWaitEvent", (cuda_stream, cuda_event, unsigned flags)) \
	X(REQUIRED, 2000, event_create, "cuEventCreate", (cuda_event *, unsigned flags)) \
	X(REQUIRED, 4000, event_destroy, "cuEventDestroy_v2", (cuda_event)) \
	X(REQUIRED, 2000, event_record, "cuEventRecord", (cuda_event, cuda_stream)) \
	X(REQUIRED, 2000, event_query, "cuEventQuery", (cuda_event)) \
	X(REQUIRED, 2000, event_synchronize, "cuEventSynchronize", (cuda_event)) \
	X(REQUIRED, 2000, event_elapsed, "cuEventElapsedTime", (float *milliseconds, cuda_event from, cuda_event to)) \
	X(OPTIONAL, 10010, capture_begin, "cuStreamBeginCapture_v2", (cuda_stream, int mode)) \
	X(OPTIONAL, 10000, capture_end, "cuStreamEndCapture", (cuda_stream, cuda_graph *)) \
	X(OPTIONAL, 11040, graph_instantiate, "cuGraphInstantiateWithFlags", (cuda_graph_exec *, cuda_graph, unsigned long long flags)) \
	X(OPTIONAL, 10000, graph_launch, "cuGraphLaunch", (cuda_graph_exec, cuda_stream)) \
	X(OPTIONAL, 10000, graph_destroy, "cuGraphDestroy", (cuda_graph)) \
	X(OPTIONAL, 10000, graph_exec_destroy, "cuGraphExecDestroy", (cuda_graph_exec)) \
	X(OPTIONAL, 2010, module_load, "cuModuleLoadDataEx", (cuda_module *, const void *image, unsigned options, int *names, void **values)) \
	X(OPTIONAL, 2000, module_unload, "cuModuleUnload", (cuda_module)) \
	X(OPTIONAL, 2000, module_function, "cuModuleGetFunction", (cuda_function *, cuda_module, const char *name)) \
	X(OPTIONAL, 4000, launch_kernel, "cuLaunchKernel", (cuda_function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, \
		unsigned by, unsigned bz, unsigned shared_bytes, cuda_stream, void **parameters, void **extra)) \
	X(OPTIONAL, 4000, can_access_peer, "cuDeviceCanAccessPeer", (int *can, cuda_device, cuda_device peer)) \
	X(OPTIONAL, 8000, peer_attribute, "cuDeviceGetP2PAttribute", (int *value, int attribute, cuda_device from, cuda_device to)) \
	X(OPTIONAL, 4000, profiler_start, "cuProfilerStart", (void)) \
	X(OPTIONAL, 4000, profiler_stop, "cuProfilerStop", (void))

struct busbar_cuda {
#define X(need, since, field, symbol, arguments) cuda_result (*field) arguments;
	BUSBAR_CUDA_FUNCTIONS(X)
#undef X
};

#endif
