/* Go cannot call a function pointer, so each function has a trampoline. */
#ifndef BUSBAR_GLOO_CALL_H
#define BUSBAR_GLOO_CALL_H

#include <stdlib.h>

#include "busbar_gloo.h"

typedef struct busbar_gloo table;
typedef struct busbar_gloo_context context;
typedef struct busbar_gloo_operation operation;
typedef struct busbar_gloo_error error_text;

static inline const char *call_path(const table *t) { return t->path(); }
static inline int call_create(const table *t, const struct busbar_gloo_create *how, context **out, error_text *e)
{
	return t->create(how, out, e);
}
static inline int64_t call_address_bytes(const table *t, const context *c) { return t->address_bytes(c); }
static inline int call_addresses(const table *t, context *c, void *out, error_text *e) { return t->addresses(c, out, e); }
static inline int call_connect(const table *t, context *c, const void *all, error_text *e) { return t->connect(c, all, e); }
static inline const char *call_device(const table *t, const context *c) { return t->device(c); }
static inline int call_thread(const table *t, const context *c) { return t->thread(c); }
static inline void call_interrupt(const table *t, context *c) { t->interrupt(c); }
static inline void call_last_error(const table *t, const context *c, error_text *e) { t->last_error(c, e); }
static inline void call_destroy(const table *t, context *c) { t->destroy(c); }
static inline int call_prepare(const table *t, context *c, const struct busbar_gloo_spec *s, struct busbar_gloo_prepared *out,
			       error_text *e)
{
	return t->prepare(c, s, out, e);
}
static inline void call_release(const table *t, operation *o) { t->release(o); }

#endif
