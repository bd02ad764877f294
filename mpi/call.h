/* Go cannot call through a table of C functions; these can. */
#ifndef BUSBAR_CALL_H
#define BUSBAR_CALL_H

#include "busbar_mpi.h"

typedef const struct busbar_mpi table;
typedef struct busbar_comm comm;

static inline const char *call_path(table *t) { return t->path(); }
static inline int call_version(table *t, char *s, int n, int v[2]) { return t->version(s, n, v); }
static inline int call_large(table *t) { return t->large(); }
static inline int call_init(table *t, int *level) { return t->init(level); }
static inline int call_running(table *t) { return t->running(); }
static inline int call_finalize(table *t) { return t->finalize(); }
static inline int call_abort(table *t, int code) { return t->abort(code); }
static inline void call_error(table *t, int code, int *class, const char **name, char *s, int n)
{
	t->error(code, class, name, s, n);
}

static inline int call_world(table *t, comm **c) { return t->world(c); }
static inline int call_self(table *t, comm **c) { return t->self(c); }
static inline int call_rank(table *t, comm *c, int *rank) { return t->rank(c, rank); }
static inline int call_size(table *t, comm *c, int *size) { return t->size(c, size); }
static inline int call_split(table *t, comm *c, int color, int key, comm **out) { return t->split(c, color, key, out); }
static inline int call_free(table *t, comm *c) { return t->free(c); }

static inline int call_barrier(table *t, comm *c) { return t->barrier(c); }
static inline int call_barrier_start(table *t, comm *c) { return t->barrier_start(c); }
static inline int call_barrier_test(table *t, comm *c, int *done) { return t->barrier_test(c, done); }
static inline int call_barrier_wait(table *t, comm *c) { return t->barrier_wait(c); }
static inline int call_bcast(table *t, comm *c, void *p, int n, int root) { return t->bcast(c, p, n, root); }
static inline int call_gather(table *t, comm *c, const void *p, int n, void *all, int root)
{
	return t->gather(c, p, n, all, root);
}
static inline int call_gatherv(table *t, comm *c, const void *p, int n, void *all, const int *counts, const int *at,
			       int root)
{
	return t->gatherv(c, p, n, all, counts, at, root);
}
static inline int call_all_reduce(table *t, comm *c, double *x, int n, int op) { return t->all_reduce(c, x, n, op); }
static inline int call_clock(table *t, comm *c, int peer, int rounds, double *offset, double *uncertainty)
{
	return t->clock(c, peer, rounds, offset, uncertainty);
}

static inline int call_prepare(table *t, comm *c, const struct busbar_mpi_spec *s, struct busbar_mpi_prepared *out)
{
	return t->prepare(c, s, out);
}
static inline void call_release(table *t, struct busbar_operation *o) { t->release(o); }

#endif
