#include "nvml.h"

enum { OPTIONAL, REQUIRED };

const struct busbar_symbol busbar_nvml_symbols[] = {
#define X(need, result, field, symbol, arguments) { symbol, need, 0, offsetof(struct busbar_nvml, field) },
	BUSBAR_NVML_FUNCTIONS(X)
#undef X
};

const size_t busbar_nvml_symbol_count = sizeof busbar_nvml_symbols / sizeof *busbar_nvml_symbols;

/* Whether the result is usable. */
static int answered(struct busbar_health *h, int code, const char *function)
{
	if (code != NVML_OK && code != NVML_NOT_SUPPORTED && code != NVML_NO_PERMISSION && h->code == NVML_OK) {
		h->code = code;
		h->failed = function;
	}
	return code == NVML_OK;
}

#define ASK(field, symbol, ...) (t->field && answered(h, t->field(d, __VA_ARGS__), symbol))

void busbar_nvml_ask(const struct busbar_nvml *t, nvml_device d, struct busbar_health *h)
{
	static const int types[] = { NVML_CLOCK_SM, NVML_CLOCK_MEMORY };
	unsigned n;
	unsigned long long many;
	int on, pending;

	*h = (struct busbar_health){ { -1, -1 }, -1, -1, -1, -1, -1, -1, NVML_OK, "" };
	for (int i = 0; i < 2; i++) {
		if (ASK(clock, "nvmlDeviceGetClockInfo", types[i], &n))
			h->clock[i] = (int)n;
	}
	if (ASK(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons", &many))
		h->reasons = (long long)many;
	else if (ASK(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", &many))
		h->reasons = (long long)many;
	if (ASK(ecc, "nvmlDeviceGetEccMode", &on, &pending))
		h->ecc = on;
	if (ASK(ecc_errors, "nvmlDeviceGetTotalEccErrors", 1, 0, &many))
		h->ecc_errors = (long long)many;
	if (ASK(persistence, "nvmlDeviceGetPersistenceMode", &on))
		h->persistence = on;
	if (ASK(temperature, "nvmlDeviceGetTemperature", 0, &n))
		h->celsius = (int)n;
	if (ASK(power, "nvmlDeviceGetPowerUsage", &n))
		h->milliwatts = (int)n;
}
