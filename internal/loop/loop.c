#include "loop.h"

#include <time.h>

int64_t busbar_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* One batch; on failure l->stage is the stage that failed. */
static inline int batch(struct busbar_loop *l, uint64_t n, int64_t *start, int64_t *issued, int64_t *end)
{
	int rc;
	const uint64_t last = l->next + n;
	l->reached = l->next;
	l->stage = BUSBAR_SYNC;
	if (l->sync && (rc = l->sync(l->context, l->next)) != 0)
		return rc;
	l->stage = BUSBAR_ISSUE;
	*start = *issued = busbar_now();
	if (l->wait) {
		if ((rc = l->issue(l->context, l->next++)) != 0)
			return rc;
		*issued = busbar_now();
	}
	for (uint64_t i = l->next; i < last; i++) {
		l->reached = i;
		if ((rc = l->issue(l->context, i)) != 0)
			return rc;
	}
	l->next = last;
	l->stage = BUSBAR_WAIT;
	if (l->wait && (rc = l->wait(l->context, last)) != 0)
		return rc;
	*end = busbar_now();
	return 0;
}

int busbar_run(struct busbar_loop *l, uint64_t batches, uint64_t n, int64_t *start, int64_t *issued, int64_t *end)
{
	int rc = 0;
	for (uint64_t b = 0; b < batches && !rc; b++) {
		if ((rc = batch(l, n, &start[b], &issued[b], &end[b])) == 0)
			continue;
		l->failed = l->stage;
		l->broken = 1;
		if (!l->in_step || l->failed == BUSBAR_SYNC)
			break;
		l->stage = BUSBAR_SYNC;
		while (++b < batches && l->sync && l->sync(l->context, l->next) == 0)
			;
	}
	l->stage = BUSBAR_IDLE;
	return rc;
}

int busbar_beside_issue(void *context, uint64_t i)
{
	struct busbar_beside *b = context;
	for (int k = 0; k < b->n; k++) {
		const struct busbar_beside_part *p = &b->part[k];
		const int rc = p->issue ? p->issue(p->context, i) : p->async.start(p->async.context);
		b->failed = k;
		if (rc)
			return rc;
	}
	for (int k = 0; k < b->n; k++) {
		const struct busbar_async *a = &b->part[k].async;
		const int rc = a->wait ? a->wait(a->context) : 0;
		b->failed = k;
		if (rc)
			return rc;
	}
	return 0;
}

int busbar_beside_wait(void *context, uint64_t i)
{
	struct busbar_beside *b = context;
	for (int k = 0; k < b->n; k++) {
		const struct busbar_beside_part *p = &b->part[k];
		const int rc = p->wait(p->context, i);
		b->failed = k;
		if (rc)
			return rc;
	}
	return 0;
}

int busbar_beside_sync(void *context, uint64_t i)
{
	const struct busbar_beside *b = context;
	return b->sync(b->sync_context, i);
}
