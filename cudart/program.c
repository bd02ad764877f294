#include "program.h"

#include <sched.h>
#include <stddef.h>

#include "nvtx.h"

static int failure(struct busbar_cuda_program *p, enum busbar_cuda_call call, int of_op, int64_t at, int rc)
{
	if (rc) {
		p->failed = call;
		p->of_op = of_op;
		p->at = at;
	}
	return rc;
}

static int computes(const struct busbar_cuda_program *p) { return p->mode != BUSBAR_COMM; }
static int communicates(const struct busbar_cuda_program *p) { return p->mode != BUSBAR_COMPUTE; }

/* The range's length in a profiler is the time the host needs to enqueue the kernels. */
static void push(const char *name)
{
	if (name)
		busbar_nvtx_push(name);
}

static void pop(const char *name)
{
	if (name)
		busbar_nvtx_pop();
}

/* The first need operations complete before the segment begins: they share a stream, so waiting for the last is
 * enough. */
static int await_ops(struct busbar_cuda_program *p, int64_t need, int64_t segment)
{
	if (need <= p->done)
		return 0;
	p->done = need;
	return failure(p, BUSBAR_STREAM_WAIT, 0, segment, p->cuda->stream_wait_event(p->compute, p->ops[need - 1].end, 0));
}

static int run_segment(struct busbar_cuda_program *p, int64_t i)
{
	struct busbar_cuda_segment *s = &p->segments[i];
	const int64_t done = p->done;
	int rc = p->mode == BUSBAR_OVERLAPPED ? await_ops(p, s->needs, i) : 0;
	s->from = i ? p->segments[i - 1].end : p->begin;
	if (!rc && p->done != done) {
		s->from = s->start;
		rc = failure(p, BUSBAR_RECORD, 0, i, p->cuda->event_record(s->start, p->compute));
	}
	push(s->name);
	for (int64_t k = 0; k < s->count && !rc; k++)
		if (s->pieces[k])
			rc = failure(p, BUSBAR_WORK, 0, i, p->work(p->work_context, s->pieces[k]));
	pop(s->name);
	p->put++;
	return rc ? rc : failure(p, BUSBAR_RECORD, 0, i, p->cuda->event_record(s->end, p->compute));
}

/* segment: the one that precedes the operation; -1: none. */
static int run_op(struct busbar_cuda_program *p, int64_t i, int64_t segment)
{
	struct busbar_cuda_op *o = &p->ops[i];
	int rc = 0;
	o->from = i ? p->ops[i - 1].end : p->begin;
	if (segment > p->seen) {
		p->seen = segment;
		o->from = o->start;
		rc = failure(p, BUSBAR_STREAM_WAIT, 1, i, p->cuda->stream_wait_event(p->comm, p->segments[segment].end, 0));
		rc = rc ? rc : failure(p, BUSBAR_RECORD, 1, i, p->cuda->event_record(o->start, p->comm));
	}
	push(o->name);
	p->putting = i + 1;
	rc = rc ? rc : failure(p, BUSBAR_OP, 1, i, o->issue(o->context, 0));
	p->putting = 0;
	p->put++;
	pop(o->name);
	return rc ? rc : failure(p, BUSBAR_RECORD, 1, i, p->cuda->event_record(o->end, p->comm));
}

/* The segment that precedes operation i in this mode; none in comm mode. */
static int64_t behind(const struct busbar_cuda_program *p, int64_t i)
{
	return p->mode == BUSBAR_OVERLAPPED ? p->ops[i].after : p->mode == BUSBAR_SEQUENTIAL ? p->segment_count - 1 : -1;
}

/* The device's progress, as far as the mode runs segments and operations. */
static void look(void *program)
{
	struct busbar_cuda_program *p = program;
	const struct busbar_cuda_segment *s = p->segments;
	const struct busbar_cuda_op *o = p->ops;
	int64_t k = p->passed_segments;
	while (k < p->segment_count && s[k].from && p->cuda->event_query(s[k].end) == 0)
		p->passed_segments = ++k;
	for (k = p->passed_ops; k < p->op_count && o[k].from && p->cuda->event_query(o[k].end) == 0;)
		p->passed_ops = ++k;
}

static int begin(struct busbar_cuda_program *p)
{
	p->done = 0;
	p->seen = -1;
	p->passed_segments = p->passed_ops = p->put = 0;
	p->running = 1;
	for (int64_t i = 0; i < p->segment_count; i++)
		p->segments[i].from = NULL;
	for (int64_t i = 0; i < p->op_count; i++)
		p->ops[i].from = NULL;
	const int rc = failure(p, BUSBAR_RECORD, 0, -1, p->cuda->event_record(p->begin, p->compute));
	if (rc || !communicates(p))
		return rc;
	return failure(p, BUSBAR_STREAM_WAIT, 0, -1, p->cuda->stream_wait_event(p->comm, p->begin, 0));
}

/* A stream waits only for events recorded before the wait was issued. An operation is therefore enqueued right after
 * its segment, before every segment that waits for it. */
int busbar_cuda_program_issue(void *program, uint64_t i)
{
	struct busbar_cuda_program *p = program;
	int64_t op = 0;
	(void)i;
	int rc = begin(p);
	for (int64_t s = -1; s < p->segment_count && !rc; s++) {
		if (s >= 0 && computes(p))
			rc = run_segment(p, s);
		for (; communicates(p) && op < p->op_count && behind(p, op) <= s && !rc; op++)
			rc = run_op(p, op, p->mode == BUSBAR_COMM ? -1 : s);
	}
	rc = rc ? rc : await_ops(p, op, p->segment_count);
	return rc ? rc : failure(p, BUSBAR_RECORD, 0, p->segment_count, p->cuda->event_record(p->end, p->compute));
}

static int wait_for_stream(struct busbar_cuda_program *p)
{
	int state;
	if (p->wait)
		return failure(p, BUSBAR_WAITING, 0, 0, p->wait(p->wait_context, look, p));
	while ((state = p->cuda->stream_query(p->compute)) == CUDA_NOT_READY)
		sched_yield();
	return failure(p, BUSBAR_QUERY, 0, 0, state);
}

int busbar_cuda_program_wait(void *program, uint64_t i)
{
	struct busbar_cuda_program *p = program;
	(void)i;
	const int rc = wait_for_stream(p);
	p->running = rc != 0;
	return rc;
}

int busbar_cuda_program_sync(void *program, uint64_t i)
{
	struct busbar_cuda_program *p = program;
	return p->sync(p->sync_context, i);
}

int busbar_cuda_program_span(const struct busbar_cuda_program *p, cuda_event from, cuda_event to, float *start, float *end)
{
	const int rc = p->cuda->event_elapsed(start, p->begin, from);
	return rc ? rc : p->cuda->event_elapsed(end, p->begin, to);
}
