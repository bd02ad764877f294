#include "loop.h"

#include <time.h>

int64_t busbar_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int busbar_throughput(struct busbar_loop *l, uint64_t n, int64_t stamps[3])
{
	int rc = 0;
	const uint64_t end = l->next + n;
	l->reached = l->next;
	l->stage = BUSBAR_SYNC;
	if (l->sync && (rc = l->sync(l->context, l->next)) != 0)
		goto out;
	l->stage = BUSBAR_ISSUE;
	stamps[0] = stamps[1] = busbar_now();
	if (l->wait && l->next < end) {
		if ((rc = l->issue(l->context, l->next++)) != 0)
			goto out;
		stamps[1] = busbar_now();
	}
	for (uint64_t i = l->next; i < end; i++) {
		l->reached = i;
		if ((rc = l->issue(l->context, i)) != 0)
			goto out;
	}
	l->next = end;
	l->stage = BUSBAR_WAIT;
	if (l->wait && (rc = l->wait(l->context, end)) != 0)
		goto out;
	stamps[2] = busbar_now();
out:
	if (rc)
		l->failed = l->stage;
	l->stage = BUSBAR_IDLE;
	return rc;
}

int busbar_latency(struct busbar_loop *l, uint64_t n, int64_t *start, int64_t *issued, int64_t *end)
{
	int rc = 0;
	for (uint64_t i = 0; i < n; i++, l->next++) {
		l->reached = l->next;
		l->stage = BUSBAR_SYNC;
		if (l->sync && (rc = l->sync(l->context, l->next)) != 0)
			goto out;
		l->stage = BUSBAR_ISSUE;
		start[i] = busbar_now();
		if ((rc = l->issue(l->context, l->next)) != 0)
			goto out;
		if (l->wait) {
			issued[i] = busbar_now();
			l->stage = BUSBAR_WAIT;
			if ((rc = l->wait(l->context, l->next)) != 0)
				goto out;
		} else {
			issued[i] = start[i];
		}
		end[i] = busbar_now();
	}
out:
	if (rc)
		l->failed = l->stage;
	l->stage = BUSBAR_IDLE;
	return rc;
}
