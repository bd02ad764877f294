/* Go cannot call through a table of C functions; these can. */
#ifndef BUSBAR_CUBLAS_CALL_H
#define BUSBAR_CUBLAS_CALL_H

#include "cublas.h"

typedef const struct busbar_cublas cublas_table;

static inline int cublas_create(cublas_table *t, cublas_handle *h) { return t->create(h); }
static inline int cublas_destroy(cublas_table *t, cublas_handle h) { return t->destroy(h); }
static inline int cublas_set_stream(cublas_table *t, cublas_handle h, void *s) { return t->set_stream(h, s); }
static inline int cublas_set_workspace(cublas_table *t, cublas_handle h, uint64_t p, size_t bytes)
{
	return t->set_workspace(h, (void *)(uintptr_t)p, bytes);
}
static inline int cublas_property(cublas_table *t, int part, int *value) { return t->property(part, value); }

#endif
