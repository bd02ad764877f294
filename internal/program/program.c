/* Runs a program: starts operations when their dependencies are met and handles errors. A "point" is the work between
 * two segments, named after the segment that follows; the last point is the end of the step. */
#include "program.h"

#include <string.h>

void program_link(struct program *p)
{
	for (int s = 0; s <= p->segments; s++)
		p->segment[s].due = 0;
	for (int k = p->ops - 1; k >= 0; k--) {
		struct program_segment *before = &p->segment[p->op[k].before];
		p->op[k].due = before->due;
		before->due = k + 1;
	}
}

int program_sync(void *context, uint64_t i)
{
	struct program *p = context;
	return p->sync(p->sync_context, i);
}

static int fail(struct program *p, int op, int code)
{
	p->failed_op = op;
	atomic_store(&p->failed, code);
	return code;
}

/* Operations that the library starts and completes. */

/* After a call of the library, records the oldest operation in progress. */
static void called(struct program *p)
{
	while (p->over < p->begun && p->op[p->over].done)
		p->over++;
	atomic_store(&p->communicating, p->over < p->begun ? p->over + 1 : 0);
}

static int start(struct program *p, int k)
{
	struct program_op *o = &p->op[k];
	atomic_store(&p->communicating, k + 1);
	atomic_fetch_add(&p->parts, 1);
	o->span.start = now();
	const int rc = o->async.start(o->async.context);
	called(p);
	return rc ? fail(p, k, rc) : 0;
}

static int ended(struct program *p, int k, int rc, int done)
{
	if (done)
		p->op[k].span.end = now();
	p->op[k].done = done;
	called(p);
	return rc ? fail(p, k, rc) : 0;
}

static int test(struct program *p, int k)
{
	struct program_op *o = &p->op[k];
	int done = 0;
	atomic_store(&p->communicating, k + 1);
	const int rc = o->async.test(o->async.context, &done);
	return ended(p, k, rc, !rc && done);
}

static int wait(struct program *p, int k)
{
	struct program_op *o = &p->op[k];
	if (o->done)
		return 0;
	atomic_store(&p->communicating, k + 1);
	const int rc = o->async.wait(o->async.context);
	return ended(p, k, rc, !rc);
}

/* Called every few units of a segment: tests the oldest operation in progress, which lets the library progress all of
 * them, and the following ones once it is done. */
static int poll(void *context)
{
	struct program *p = context;
	if (p->over == p->begun || now() < p->next_test)
		return 0;
	int rc = 0, oldest;
	do {
		oldest = p->over;
		rc = test(p, oldest);
	} while (!rc && p->over > oldest && p->over < p->begun);
	p->next_test = now() + p->interval;
	return rc;
}

/* Blocking operations, in the second thread: a job runs the next of them. After a failure the rest are skipped. */
static void issue(void *context)
{
	struct program *p = context;
	const int k = p->issued++;
	struct program_op *o = &p->op[k];
	if (atomic_load(&p->failed))
		return;
	atomic_store(&p->communicating, k + 1);
	atomic_fetch_add(&p->parts, 1);
	o->span.start = now();
	const int rc = o->issue(o->context, p->step);
	o->span.end = now();
	atomic_store(&p->communicating, 0);
	if (rc)
		fail(p, k, rc);
}

/* Starts the operations whose segments are done, up to the first that must wait; all of them if after is the number of
 * segments. */
static int begin(struct program *p, int after)
{
	const int before = p->begun;
	while (p->begun < p->ops && p->op[p->begun].after <= after) {
		const int k = p->begun++;
		const int rc = p->second ? 0 : start(p, k);
		if (rc)
			return rc;
	}
	if (p->second && p->begun > before)
		gate_open(&p->crew->asked, (uint64_t)(p->begun - before));
	return atomic_load(&p->failed);
}

/* Waits for the operations that must complete before a segment; all have been started. It waits in their order, so
 * that the communication time ends with the last one. */
static int finish(struct program *p, int before)
{
	int rc = 0, last = 0;
	for (int due = p->segment[before].due; due && !rc; due = p->op[due - 1].due) {
		last = due;
		if (!p->second)
			rc = wait(p, due - 1);
	}
	if (!p->second)
		return rc;
	gate_await(&p->crew->answered, p->answered + (uint64_t)last, p->crew->spin);
	return atomic_load(&p->failed);
}

static int compute(struct program *p, int s, int polls)
{
	struct program_segment *g = &p->segment[s];
	atomic_store(&p->computing, s + 1);
	atomic_fetch_add(&p->parts, 1);
	g->span.start = now();
	const int rc = crew_compute(p->crew, g->units, polls ? poll : NULL, p);
	g->span.end = now();
	atomic_store(&p->computing, 0);
	return rc;
}

/* Runs all points, with or without the segments between them. Without segments, operations keep their order: an
 * operation that follows a segment starts when those that had to complete before the segment are done, and may use
 * their memory. */
static int communicate(struct program *p, int computes)
{
	int rc = 0;
	for (int s = 0; s <= p->segments && !rc; s++) {
		rc = begin(p, s - 1);
		if (!rc)
			rc = finish(p, s);
		if (!rc && s < p->segments && computes)
			rc = compute(p, s, p->interval > 0);
	}
	return rc;
}

static int run(struct program *p)
{
	if (p->mode == BUSBAR_COMPUTE || p->mode == BUSBAR_SEQUENTIAL)
		for (int s = 0; s < p->segments; s++)
			compute(p, s, 0);
	return p->mode == BUSBAR_COMPUTE ? 0 : communicate(p, p->mode == BUSBAR_OVERLAPPED);
}

static void reset(struct program *p, uint64_t i)
{
	for (int k = 0; k < p->ops; k++) {
		p->op[k].done = 0;
		p->op[k].span = (struct span){0, 0};
	}
	for (int s = 0; s < p->segments; s++)
		p->segment[s].span = (struct span){0, 0};
	p->step = i;
	p->begun = p->over = p->issued = 0;
	atomic_store(&p->parts, 0);
	if (p->second) {
		p->answered = atomic_load(&p->crew->answered.count);
		p->crew->job = issue;
		p->crew->context = p;
	}
}

int program_run(void *context, uint64_t i)
{
	struct program *p = context;
	int rc = atomic_load(&p->failed);
	if (rc)
		return rc;
	reset(p, i);
	p->span.start = now();
	p->next_test = p->span.start + p->interval;
	rc = run(p);
	p->span.end = now();
	/* In any case, the second thread has finished with the program. */
	if (p->second)
		gate_await(&p->crew->answered, p->answered + (uint64_t)p->begun, p->crew->spin);
	atomic_store(&p->communicating, 0);
	return rc;
}
