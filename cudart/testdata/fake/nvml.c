/* NVML for tests: device …:1b:… reports everything, …:1c:… nothing, …:1d:… is lost during a query. FAKE_NVML_FAIL is
 * the result of nvmlInit_v2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int started;

int nvmlInit_v2(void)
{
	const char *fail = getenv("FAKE_NVML_FAIL");
	started = 1;
	return fail ? atoi(fail) : 0;
}
int nvmlShutdown(void) { int rc = started ? 0 : 1; started = 0; return rc; }
const char *nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : code == 15 ? "GPU is lost" : "Not Found"; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { snprintf(s, n, "550.54.15"); return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **d)
{
	static int devices[3];
	for (int i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "0000:1%c:00.0", 'b' + i);
		devices[i] = i == 0 ? 0 : i == 1 ? 3 : 15;
		if (!strcmp(pci, name)) {
			*d = &devices[i];
			return 0;
		}
	}
	return 6;
}

#define TELL(to, value) (*(int *)d ? *(int *)d : (*(to) = (value), 0))
int nvmlDeviceGetClockInfo(void *d, int type, unsigned *n) { return TELL(n, type == 1 ? 1755 : type == 2 ? 2619 : 0); }
int nvmlDeviceGetMaxClockInfo(void *d, int type, unsigned *n) { return TELL(n, type == 1 ? 1980 : type == 2 ? 3201 : 0); }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *n) { return TELL(n, 0x1000000000000065); }
int nvmlDeviceGetEccMode(void *d, int *now, int *pending) { *pending = 0; return TELL(now, 1); }
int nvmlDeviceGetTotalEccErrors(void *d, int uncorrected, int lifetime, unsigned long long *n)
{
	return TELL(n, uncorrected == 1 && lifetime == 0 ? 5 : 99);
}
int nvmlDeviceGetPersistenceMode(void *d, int *mode) { return TELL(mode, 0); }
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *n) { return TELL(n, sensor == 0 ? 61 : 0); }
int nvmlDeviceGetPowerUsage(void *d, unsigned *n) { return *(int *)d == 3 ? 4 : TELL(n, 512250); }
