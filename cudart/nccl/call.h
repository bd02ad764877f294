/* Go cannot call through a table of C functions; these can. */
#ifndef BUSBAR_NCCL_CALL_H
#define BUSBAR_NCCL_CALL_H

#include "nccl.h"

typedef const struct busbar_nccl nccl_table;

static inline int nccl_version(nccl_table *t, int *code) { return t->version(code); }
static inline int nccl_unique_id(nccl_table *t, nccl_id *id) { return t->unique_id(id); }
static inline const char *nccl_error_string(nccl_table *t, int rc) { return t->error_string(rc); }
static inline const char *nccl_last_error(nccl_table *t, nccl_comm c) { return t->last_error(c); }
static inline int nccl_parameter_keys(nccl_table *t, char ***keys, int *count)
{
	return t->parameter_keys((const char ***)keys, count);
}
static inline int nccl_parameter(nccl_table *t, const char *key, char **value, int *length)
{
	return t->parameter(key, (const char **)value, length);
}
static inline void nccl_phase(nccl_table *t, const char *name) { t->rehearsal_phase(name); }
static inline int nccl_mem_alloc(nccl_table *t, void **p, size_t bytes) { return t->mem_alloc(p, bytes); }
static inline int nccl_mem_free(nccl_table *t, uint64_t p) { return t->mem_free((void *)(uintptr_t)p); }
static inline int nccl_comm_device(const struct busbar_nccl_comm *c, int *ordinal)
{
	return c->t->comm_device(c->comm, ordinal);
}
static inline void nccl_interrupt(struct busbar_nccl_comm *c) { __atomic_store_n(&c->interrupted, 1, __ATOMIC_RELAXED); }
static inline void nccl_resume(struct busbar_nccl_comm *c) { __atomic_store_n(&c->interrupted, 0, __ATOMIC_RELAXED); }

#endif
