/* Linked with Debian's libevent_core.a into the library of the bundle. Debian's shared one takes the two functions from
 * glibc 2.36; with these it runs with 2.34. Open MPI draws no random numbers from libevent; they are as good as
 * glibc's all the same. */
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

/* The archive is compiled for programs and reaches stderr as only a program may; there it is renamed to this. */
HIDDEN FILE *busbar_stderr;

__attribute__((constructor)) static void set_stderr(void)
{
	busbar_stderr = stderr;
}
