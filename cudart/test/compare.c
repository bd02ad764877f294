/* Compares and repeats buffers that end where their memory ends, for scripts/c-sanitize.sh: every length, period and
 * beginning up to some bytes, and a difference at every place. */
#include "../compare.h"
#include "../driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

static void want(int64_t got, int64_t expected, const char *what)
{
	if (got != expected && !failed++)
		fprintf(stderr, "%s: %lld, want %lld\n", what, (long long)got, (long long)expected);
}

static void try(int64_t n, int64_t period, int64_t first)
{
	unsigned char *buffer = calloc(1, (size_t)n), *table = calloc(1, (size_t)period);
	for (int64_t i = 0; i < period; i++)
		table[i] = (unsigned char)(i * 7 + 1);
	busbar_cuda_repeat(buffer, n, table, period, first);
	for (int64_t i = 0; i < n; i++)
		want(buffer[i], table[(first + i) % period], "repeat");
	want(busbar_cuda_differs(buffer, n, table, period, first), -1, "no difference");
	for (int64_t i = n - 1; i >= 0; i--) {
		buffer[i] ^= 0x80;
		want(busbar_cuda_differs(buffer, n, table, period, first), i, "difference");
	}
	free(buffer);
	free(table);
}

int main(void)
{
	for (int64_t n = 0; n < 40; n++)
		for (int64_t period = 1; period < 20; period++)
			for (int64_t first = 0; first < 3 * period; first++)
				try(n, period, first);
	try(100000, 4093, 4092);

	want((int64_t)(busbar_cuda_symbol_count * sizeof(void *)), sizeof(struct busbar_cuda), "size of the table");
	for (size_t i = 0; i < busbar_cuda_symbol_count; i++)
		want((int64_t)busbar_cuda_symbols[i].offset, (int64_t)(i * sizeof(void *)), busbar_cuda_symbols[i].name);
	if (!failed)
		puts("cudart: buffers are compared and repeated as they must be");
	return failed != 0;
}
