/* Go cannot call through a table of C functions; these can. */
#ifndef BUSBAR_CUDA_CALL_H
#define BUSBAR_CUDA_CALL_H

#include "compare.h"
#include "driver.h"

typedef const struct busbar_cuda table;
typedef cuda_result result;

static inline result call_init(table *t) { return t->init(0); }
static inline result call_driver_version(table *t, int *version) { return t->driver_version(version); }
static inline void call_error(table *t, result code, const char **name, const char **text)
{
	if (t->error_name(code, name) || !*name)
		*name = "an error of this driver's own";
	if (t->error_string(code, text) || !*text)
		*text = "no text";
}

static inline result call_device_count(table *t, int *n) { return t->device_count(n); }
static inline result call_device_get(table *t, cuda_device *d, int ordinal) { return t->device_get(d, ordinal); }
static inline result call_device_name(table *t, char *s, int n, cuda_device d) { return t->device_name(s, n, d); }
static inline result call_device_uuid(table *t, cuda_uuid *u, cuda_device d) { return t->device_uuid(u, d); }
static inline result call_device_uuid_whole(table *t, cuda_uuid *u, cuda_device d) { return t->device_uuid_whole(u, d); }
static inline result call_device_pci(table *t, char *s, int n, cuda_device d) { return t->device_pci(s, n, d); }
static inline result call_device_attribute(table *t, int *v, int a, cuda_device d) { return t->device_attribute(v, a, d); }
static inline result call_device_memory(table *t, size_t *n, cuda_device d) { return t->device_memory(n, d); }
static inline result call_can_access_peer(table *t, int *can, cuda_device d, cuda_device peer)
{
	return t->can_access_peer(can, d, peer);
}

static inline result call_context_retain(table *t, cuda_context *c, cuda_device d) { return t->context_retain(c, d); }
static inline result call_context_release(table *t, cuda_device d) { return t->context_release(d); }
static inline result call_context_set(table *t, cuda_context c) { return t->context_set(c); }

static inline result call_memory_info(table *t, size_t *available, size_t *all) { return t->memory_info(available, all); }
static inline result call_memory_alloc(table *t, cuda_pointer *p, size_t n) { return t->memory_alloc(p, n); }
static inline result call_memory_free(table *t, cuda_pointer p) { return t->memory_free(p); }
static inline result call_host_alloc(table *t, void **p, size_t n) { return t->host_alloc(p, n, 0); }
static inline result call_host_free(table *t, void *p) { return t->host_free(p); }
static inline result call_copy_to_device(table *t, cuda_pointer to, const void *from, size_t n, cuda_stream s)
{
	return t->copy_to_device(to, from, n, s);
}
static inline result call_copy_to_host(table *t, void *to, cuda_pointer from, size_t n, cuda_stream s)
{
	return t->copy_to_host(to, from, n, s);
}
static inline result call_copy_on_device(table *t, cuda_pointer to, cuda_pointer from, size_t n, cuda_stream s)
{
	return t->copy_on_device(to, from, n, s);
}
static inline result call_set_bytes(table *t, cuda_pointer p, unsigned char value, size_t n, cuda_stream s)
{
	return t->set_bytes(p, value, n, s);
}

static inline result call_stream_create(table *t, cuda_stream *s, unsigned flags) { return t->stream_create(s, flags); }
static inline result call_stream_destroy(table *t, cuda_stream s) { return t->stream_destroy(s); }
static inline result call_stream_query(table *t, cuda_stream s) { return t->stream_query(s); }
static inline result call_stream_synchronize(table *t, cuda_stream s) { return t->stream_synchronize(s); }

static inline result call_event_create(table *t, cuda_event *e, unsigned flags) { return t->event_create(e, flags); }
static inline result call_event_destroy(table *t, cuda_event e) { return t->event_destroy(e); }
static inline result call_event_record(table *t, cuda_event e, cuda_stream s) { return t->event_record(e, s); }
static inline result call_event_synchronize(table *t, cuda_event e) { return t->event_synchronize(e); }
static inline result call_event_elapsed(table *t, float *ms, cuda_event from, cuda_event to)
{
	return t->event_elapsed(ms, from, to);
}

static inline result call_module_load(table *t, cuda_module *m, const void *image)
{
	return t->module_load(m, image, 0, NULL, NULL);
}
static inline result call_module_unload(table *t, cuda_module m) { return t->module_unload(m); }
static inline result call_module_function(table *t, cuda_function *f, cuda_module m, const char *name)
{
	return t->module_function(f, m, name);
}
/* The kernels of kernels.ptx share the parameters up to first; busbar_near has all of them. The driver ignores
 * parameters that a kernel does not have. */
static inline result call_launch(table *t, cuda_function f, unsigned blocks, unsigned threads, cuda_stream s,
				 cuda_pointer p, uint64_t bytes, cuda_pointer cycle, uint64_t words, cuda_pointer first,
				 struct busbar_near near)
{
	uint64_t sign = near.bytes ? (uint64_t)1 << (8 * near.bytes - 1) : 0;
	void *parameters[] = { &p, &bytes, &cycle, &words, &first, &near.bytes, &sign, &near.ulps, &near.greatest };
	return t->launch_kernel(f, blocks, 1, 1, threads, 1, 1, 0, s, parameters, NULL);
}

static inline result call_profiler_start(table *t) { return t->profiler_start(); }
static inline result call_profiler_stop(table *t) { return t->profiler_stop(); }

#endif
