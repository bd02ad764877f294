/* Groups: the calls between ncclGroupStart and ncclGroupEnd are enqueued together, as one batch per communicator. */
#include "inside.h"

#include <stdlib.h>

enum { JOBS = 64 };

static _Thread_local struct {
	int depth, jobs;
	nccl_result error;
	struct batch *batches;
	nccl_comm job[JOBS]; /* communicators being connected */
} group;

int in_group(void) { return group.depth > 0; }

nccl_result group_failed(nccl_result rc)
{
	if (group.depth && rc && !group.error)
		group.error = rc;
	return rc;
}

nccl_result group_job(nccl_comm c)
{
	if (group.jobs == JOBS)
		return group_failed(fail(INVALID_USAGE, "more than %d communicators in a group", JOBS));
	group.job[group.jobs++] = c;
	return OK;
}

static struct batch *batch_new(nccl_comm c, cuda_stream s)
{
	struct batch *b = calloc(1, sizeof *b);
	if (b) {
		b->comm = c;
		b->stream = s;
		b->end = &b->first;
		atomic_fetch_add(&c->references, 1);
	}
	return b;
}

static nccl_result launch_pending(struct nccl_comm *c)
{
	struct batch *b = c->pending;
	c->pending = NULL;
	return launch(b);
}

static nccl_result start(struct batch *b)
{
	if (!b->comm->non_blocking)
		return launch(b);
	comm_job_end(b->comm);
	b->comm->pending = b;
	return comm_begin(b->comm, launch_pending);
}

/* The operation's batch: the group's, or a new one. */
static struct batch *batch_for(nccl_comm c, cuda_stream s)
{
	struct batch *b;
	for (b = group.depth ? group.batches : NULL; b && b->comm != c; b = b->next)
		;
	if (b || !(b = batch_new(c, s)) || !group.depth)
		return b;
	b->next = group.batches;
	return group.batches = b;
}

nccl_result submit(nccl_comm c, cuda_stream s, struct operation operation)
{
	struct operation *o = malloc(sizeof *o);
	struct batch *b = o ? batch_for(c, s) : NULL;
	if (!b || b->stream != s) {
		free(o);
		free(operation.split);
		return group_failed(b ? fail(INVALID_USAGE, "the simulation does not support groups with one communicator on several streams") :
			fail(SYSTEM_ERROR, "out of memory"));
	}
	*o = operation;
	*b->end = o;
	b->end = &o->next;
	return group.depth ? OK : start(b);
}

nccl_result ncclGroupStart(void)
{
	group.depth++;
	return OK;
}

nccl_result ncclGroupEnd(void)
{
	nccl_result rc, one;
	struct batch *next;
	if (!group.depth)
		return fail(INVALID_USAGE, "ncclGroupEnd: not in a group call.");
	if (--group.depth)
		return group.error;
	rc = group.error;
	for (int i = 0; i < group.jobs; i++) {
		comm_job_end(group.job[i]);
		one = atomic_load(&group.job[i]->state);
		rc = rc ? rc : one;
	}
	for (struct batch *b = group.batches; b; b = next) {
		next = b->next;
		b->next = NULL;
		if (rc && rc != IN_PROGRESS) {
			batch_free(b);
			continue;
		}
		if ((one = start(b)))
			rc = one;
	}
	group.batches = NULL;
	group.error = OK;
	group.jobs = 0;
	return rc;
}
