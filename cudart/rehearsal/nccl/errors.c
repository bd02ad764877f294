/* Texts of results; version and parameters of the library. */
#include "inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char last[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

nccl_result fail(nccl_result result, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	pthread_mutex_lock(&lock);
	vsnprintf(last, sizeof last, format, arguments);
	pthread_mutex_unlock(&lock);
	va_end(arguments);
	return result;
}

const char *ncclGetLastError(nccl_comm c)
{
	static _Thread_local char text[sizeof last];
	(void)c;
	pthread_mutex_lock(&lock);
	memcpy(text, last, sizeof text);
	pthread_mutex_unlock(&lock);
	return text;
}

const char *ncclGetErrorString(nccl_result result)
{
	static const char *const texts[] = {"no error", "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
		"unhandled system error (run with NCCL_DEBUG=INFO for details)",
		"internal error - please report this issue to the NCCL developers",
		"invalid argument (run with NCCL_DEBUG=WARN for details)",
		"invalid usage (run with NCCL_DEBUG=WARN for details)",
		"remote process exited or there was a network error", "NCCL operation in progress"};
	return result < 0 || result > IN_PROGRESS ? "unknown result code" : texts[result];
}

int reported_version(void)
{
	const char *set = getenv("BUSBAR_REHEARSAL_VERSION");
	return set && *set ? atoi(set) : 22707;
}

nccl_result ncclGetVersion(int *version)
{
	if (!version)
		return fail(INVALID_ARGUMENT, "GetVersion : version argument is NULL");
	*version = reported_version();
	return OK;
}

const char *busbar_rehearsal_version(void) { return "1"; }

/* The supported parameters. */
static const char *keys[] = {"NCCL_HOSTID", "NCCL_MULTI_RANK_GPU_ENABLE", "NCCL_SOCKET_IFNAME"};
enum { KEYS = sizeof keys / sizeof *keys };

nccl_result ncclParamGetAllParameterKeys(const char ***out, int *count)
{
	if (!out || !count)
		return fail(INVALID_ARGUMENT, "ParamGetAllParameterKeys : an argument is NULL");
	*out = keys;
	*count = KEYS;
	return OK;
}

nccl_result ncclParamGetParameter(const char *key, const char **value, int *length)
{
	if (!key || !value || !length)
		return fail(INVALID_ARGUMENT, "ParamGetParameter : an argument is NULL");
	for (int i = 0; i < KEYS; i++)
		if (!strcmp(keys[i], key)) {
			const char *set = getenv(key);
			*value = set ? set : i == 1 ? "0" : "";
			*length = (int)strlen(*value);
			return OK;
		}
	return fail(INVALID_ARGUMENT, "ParamGetParameter : no parameter %s", key);
}
