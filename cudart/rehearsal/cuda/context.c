/* Primary contexts: current per thread; calls without one fail as the driver's do. Names of errors. */
#include "driver.h"

static _Thread_local cuda_context mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int retained(cuda_context c)
{
	pthread_mutex_lock(&lock);
	const int n = c->retained;
	pthread_mutex_unlock(&lock);
	return n;
}

cuda_result current(cuda_context *out)
{
	if (!mine)
		return INVALID_CONTEXT;
	if (!retained(mine))
		return CONTEXT_IS_DESTROYED;
	*out = mine;
	return CUDA_OK;
}

cuda_result rehearse_context_retain(cuda_context *out, cuda_device d)
{
	const cuda_result rc = device_of(d, out);
	if (!rc) {
		pthread_mutex_lock(&lock);
		(*out)->retained++;
		pthread_mutex_unlock(&lock);
	}
	return rc;
}

cuda_result rehearse_context_release(cuda_device d)
{
	cuda_context c;
	const cuda_result rc = device_of(d, &c);
	if (rc)
		return rc;
	pthread_mutex_lock(&lock);
	const int before = c->retained;
	c->retained -= before > 0;
	pthread_mutex_unlock(&lock);
	if (!before)
		return INVALID_CONTEXT;
	if (before == 1)
		release_memory(c);
	return CUDA_OK;
}

cuda_result rehearse_context_set(cuda_context c)
{
	if (c && !retained(c))
		return CONTEXT_IS_DESTROYED;
	mine = c;
	return CUDA_OK;
}

cuda_result busbar_rehearsal_device(struct busbar_rehearsal_device *out)
{
	cuda_context c;
	cuda_result rc;
	if (current(&c)) {
		if ((rc = rehearse_init(0)) || (rc = rehearse_context_retain(&c, 0)) || (rc = rehearse_context_set(c)))
			return rc;
	}
	*out = (struct busbar_rehearsal_device){.context = c, .ordinal = c->ordinal, .bus = bus_of(c),
		.capability = compute_capability()};
	return CUDA_OK;
}

static const struct {
	cuda_result code;
	const char *name, *text;
} errors[] = {
	{CUDA_OK, "CUDA_SUCCESS", "no error"},
	{INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{CUDA_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{CUDA_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{CUDA_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
	{CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
	{NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
	{CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
	{CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture was not initiated in this stream"},
};

static cuda_result text_of(cuda_result code, const char **text, int name)
{
	for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code) {
			*text = name ? errors[i].name : errors[i].text;
			return CUDA_OK;
		}
	*text = NULL;
	return INVALID_VALUE;
}

cuda_result rehearse_error_name(cuda_result code, const char **text) { return text_of(code, text, 1); }
cuda_result rehearse_error_string(cuda_result code, const char **text) { return text_of(code, text, 0); }

cuda_result rehearse_profiler_start(void) { return CUDA_OK; }
cuda_result rehearse_profiler_stop(void) { return CUDA_OK; }
