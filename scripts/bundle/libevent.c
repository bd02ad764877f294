/* The bundle links this file with Debian's libevent_core.a. Debian's shared library requires the two functions of glibc
 * 2.36; with these it runs with glibc 2.34. Open MPI takes no random numbers from libevent. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void arc4random_buf(void *to, size_t bytes)
{
	for (char *p = to; bytes > 0;) {
		const ssize_t n = getrandom(p, bytes, 0);
		if (n < 0 && errno != EINTR)
			abort();
		if (n > 0) {
			p += n;
			bytes -= (size_t)n;
		}
	}
}

HIDDEN uint32_t arc4random(void)
{
	uint32_t word;
	arc4random_buf(&word, sizeof word);
	return word;
}

/* The archive is compiled for programs: its access to stderr does not link into a library. openmpi.sh renames that
 * symbol to this one. */
HIDDEN FILE *busbar_stderr;

__attribute__((constructor)) static void set_stderr(void)
{
	busbar_stderr = stderr;
}
