/* A function of a library that is looked up by name, and its place in the table of functions that a binding calls. */
#ifndef BUSBAR_SYMBOL_H
#define BUSBAR_SYMBOL_H

#include <stddef.h>

struct busbar_symbol {
	const char *name;
	int required; /* the library cannot be used without it */
	int since;    /* version of the library that it came with; 0: unknown */
	size_t offset;
};

#endif
