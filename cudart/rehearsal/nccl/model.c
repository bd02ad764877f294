/* The minimum time of an operation: BUSBAR_REHEARSAL_MODEL='alpha=8us,beta=200GB/s', a latency and a bus bandwidth.
 * Default: none. */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double alpha, ns_per_byte; /* ns */
nccl_result read_model(const char *);

static int read_part(const char *text)
{
	static const struct { const char *unit; double by; } times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}},
		rates[] = {{"B/s", 1}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
	const int is_alpha = !strncmp(text, "alpha=", 6);
	char *end;
	if (!is_alpha && strncmp(text, "beta=", 5) != 0)
		return -1;
	text = strchr(text, '=') + 1;
	const double x = strtod(text, &end);
	if (end == text || x < 0)
		return -1;
	for (unsigned i = 0; is_alpha && i < sizeof times / sizeof *times; i++)
		if (!strcmp(end, times[i].unit)) {
			alpha = x * times[i].by;
			return 0;
		}
	for (unsigned i = 0; !is_alpha && x > 0 && i < sizeof rates / sizeof *rates; i++)
		if (!strcmp(end, rates[i].unit)) {
			ns_per_byte = 1e9 / (x * rates[i].by);
			return 0;
		}
	return -1;
}

nccl_result read_model(const char *set)
{
	char text[256], *rest = text, *part;
	if (!set || !*set || !strcmp(set, "none"))
		return OK;
	snprintf(text, sizeof text, "%s", set);
	while ((part = strsep(&rest, ",")))
		if (read_part(part)) {
			fprintf(stderr, "simulation: BUSBAR_REHEARSAL_MODEL='%s': as in alpha=8us,beta=200GB/s, or none\n", set);
			return fail(INVALID_USAGE, "BUSBAR_REHEARSAL_MODEL='%s': as in alpha=8us,beta=200GB/s, or none", set);
		}
	return OK;
}

int64_t modelled(enum kind kind, int ranks, uint64_t bytes)
{
	const double n = ranks, share = (n - 1) / n;
	double factor = 1;
	if (kind == ALL_REDUCE)
		factor = 2 * share;
	else if (kind == ALL_GATHER || kind == REDUCE_SCATTER || kind == ALL_TO_ALL || kind == GATHER || kind == SCATTER)
		factor = share;
	return (int64_t)(alpha + (double)bytes * factor * ns_per_byte);
}
