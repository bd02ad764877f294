#include "compare.h"

#include <string.h>

int64_t busbar_cuda_differs(const void *p, int64_t n, const void *table, int64_t period, int64_t first)
{
	const unsigned char *got = p, *want = table;
	int64_t j = first % period;
	for (int64_t at = 0; at < n; j = 0) {
		int64_t run = period - j < n - at ? period - j : n - at;
		if (memcmp(got + at, want + j, (size_t)run)) {
			while (got[at] == want[j]) {
				at++;
				j++;
			}
			return at;
		}
		at += run;
	}
	return -1;
}

void busbar_cuda_repeat(void *p, int64_t n, const void *table, int64_t period, int64_t first)
{
	unsigned char *out = p;
	const unsigned char *from = table;
	int64_t j = first % period;
	for (int64_t at = 0; at < n; j = 0) {
		int64_t run = period - j < n - at ? period - j : n - at;
		memcpy(out + at, from + j, (size_t)run);
		at += run;
	}
}
