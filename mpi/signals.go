//go:build cgo

package mpi

/*
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct handlers { struct sigaction of[65]; int known[65]; };

static struct handlers *handlers_save(void)
{
	struct handlers *h = calloc(1, sizeof *h);
	for (int s = 1; h && s < 65; s++)
		h->known[s] = sigaction(s, NULL, &h->of[s]) == 0;
	return h;
}

// Gives signals back to whoever had a handler; the others belong to the library (a signal between its
// threads).
static void handlers_restore(struct handlers *h)
{
	for (int s = 1; h && s < 65; s++) {
		struct sigaction now;
		if (!h->known[s] || h->of[s].sa_handler == SIG_DFL || h->of[s].sa_handler == SIG_IGN)
			continue;
		if (sigaction(s, NULL, &now) == 0 &&
		    (now.sa_handler != h->of[s].sa_handler || now.sa_flags != h->of[s].sa_flags))
			sigaction(s, &h->of[s], NULL);
	}
	free(h);
}
*/
import "C"

// keepSignals returns a function that gives back to the Go runtime the signals that a library has taken since.
// MPICH 4.0 takes SIGUSR1, and without an alternate stack, which Go does not survive.
func keepSignals() func() {
	saved := C.handlers_save()
	return func() { C.handlers_restore(saved) }
}
