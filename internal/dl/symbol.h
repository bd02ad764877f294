/* A function to look up by name, and its place in a binding's table of functions. */
#ifndef BUSBAR_SYMBOL_H
#define BUSBAR_SYMBOL_H

#include <stddef.h>

struct busbar_symbol {
	const char *name;
	int required; /* the library is unusable without it */
	int since;    /* version of the library that introduced it; 0: unknown */
	size_t offset;
};

#endif
