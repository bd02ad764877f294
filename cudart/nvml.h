/* The part of NVIDIA's management library (NVML) that busbar uses, declared without NVIDIA's header. All functions
 * except nvmlErrorString return an nvmlReturn_t. */
#ifndef BUSBAR_NVML_H
#define BUSBAR_NVML_H

#include "driver.h"

typedef struct nvml_device_ *nvml_device;

/* nvmlReturn_t: the device lacks the value, or this user may not read it. */
enum { NVML_OK = 0, NVML_NOT_SUPPORTED = 3, NVML_NO_PERMISSION = 4 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };

#define BUSBAR_NVML_FUNCTIONS(X) \
	X(REQUIRED, int, init, "nvmlInit_v2", (void)) \
	X(REQUIRED, const char *, error_text, "nvmlErrorString", (int code)) \
	X(REQUIRED, int, device_by_pci, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, nvml_device *)) \
	X(OPTIONAL, int, clock, "nvmlDeviceGetClockInfo", (nvml_device, int type, unsigned *megahertz)) \
	X(OPTIONAL, int, event_reasons, "nvmlDeviceGetCurrentClocksEventReasons", (nvml_device, unsigned long long *)) \
	X(OPTIONAL, int, throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", (nvml_device, unsigned long long *)) \
	X(OPTIONAL, int, ecc, "nvmlDeviceGetEccMode", (nvml_device, int *now, int *pending)) \
	X(OPTIONAL, int, ecc_errors, "nvmlDeviceGetTotalEccErrors", (nvml_device, int uncorrected, int lifetime, unsigned long long *)) \
	X(OPTIONAL, int, persistence, "nvmlDeviceGetPersistenceMode", (nvml_device, int *)) \
	X(OPTIONAL, int, temperature, "nvmlDeviceGetTemperature", (nvml_device, int sensor, unsigned *celsius)) \
	X(OPTIONAL, int, power, "nvmlDeviceGetPowerUsage", (nvml_device, unsigned *milliwatts))

struct busbar_nvml {
#define X(need, result, field, symbol, arguments) result (*field) arguments;
	BUSBAR_NVML_FUNCTIONS(X)
#undef X
};

extern const struct busbar_symbol busbar_nvml_symbols[];
extern const size_t busbar_nvml_symbol_count;

/* The values queried of a device. Negative: unknown. */
struct busbar_health {
	int clock[2];                   /* megahertz: multiprocessors, memory */
	long long reasons;              /* bits: the reasons for reduced clocks */
	int ecc, persistence;           /* 0 off, 1 on */
	long long ecc_errors;           /* uncorrected, since the driver was loaded */
	int celsius, milliwatts;
	int code;                       /* first error that is neither "not supported" nor "no permission" */
	const char *failed;             /* function that returned it */
};

void busbar_nvml_ask(const struct busbar_nvml *t, nvml_device d, struct busbar_health *h);

#endif
