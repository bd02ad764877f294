/* Runs programs of fakes on threads under the sanitizers: all modes, both kinds of operations, and errors in each.
 * Checks that every operation ran once and the order of its times; the Go tests check the rest. See
 * scripts/c-sanitize.sh. */
#include "../program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { segments = 4, ops = 5, broken = 77 };

static int left, runs; /* tests until an operation is done */

struct fake {
	int began, ended, fails;
};

static int on_start(void *context)
{
	struct fake *f = context;
	f->began++;
	return f->fails ? broken : 0;
}

static int on_test(void *context, int *done)
{
	struct fake *f = context;
	*done = --left <= 0;
	f->ended += *done;
	return 0;
}

static int on_wait(void *context)
{
	struct fake *f = context;
	f->ended++;
	return 0;
}

static int on_issue(void *context, uint64_t i)
{
	struct fake *f = context;
	(void)i;
	f->began++;
	if (f->fails)
		return broken;
	f->ended++;
	return 0;
}

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "program: %s\n", what);
	exit(3);
}

static void run(struct crew *c, int second, int64_t interval, int fails)
{
	struct program_segment segment[segments + 1] = {{.units = 3}, {.units = 0}, {.units = 40}, {.units = 7}};
	struct program_op op[ops];
	struct fake fake[ops] = {0};
	struct program p = {.crew = c, .segments = segments, .ops = ops, .segment = segment, .op = op, .second = second, .interval = interval};
	for (int k = 0; k < ops; k++) {
		fake[k].fails = k == fails;
		op[k] = (struct program_op){.after = k - 1, .before = k + 1 < segments ? k + 1 : segments, .issue = on_issue,
			.context = &fake[k], .async = {on_start, on_test, on_wait, &fake[k]}};
	}
	op[ops - 1].after = 1;
	program_link(&p);
	for (p.mode = BUSBAR_COMPUTE; p.mode <= BUSBAR_OVERLAPPED; p.mode++) {
		left = 3;
		const int rc = program_run(&p, 0), communicates = p.mode != BUSBAR_COMPUTE;
		check(rc == (communicates && fails < ops ? broken : 0), "another code than that of the operation");
		check(!rc || p.failed_op == fails, "another operation failed");
		for (int k = 0; k < ops && !rc; k++) {
			check(fake[k].began == communicates && fake[k].ended == communicates, "an operation did not run once");
			check(p.mode != BUSBAR_OVERLAPPED || op[k].span.start >= (op[k].after < 0 ? p.span.start : segment[op[k].after].span.end),
			      "an operation began too early");
			check(p.mode != BUSBAR_OVERLAPPED || op[k].span.end <= (op[k].before < segments ? segment[op[k].before].span.start : p.span.end),
			      "an operation was done too late");
			fake[k].began = fake[k].ended = 0;
		}
		runs++;
	}
}

int main(void)
{
	for (int threads = 1; threads <= 4; threads++) {
		struct crew *c;
		check(!crew_new(threads, &c), "no threads");
		check(!crew_second(c) && !crew_second(c), "no second thread");
		for (int round = 0; round < 20; round++)
			for (int fails = 0; fails <= ops; fails++) {
				run(c, 0, 0, fails);
				run(c, 0, 1, fails);
				run(c, 1, 0, fails);
			}
		crew_free(c);
	}
	crew_free(NULL);
	printf("program: %d steps\n", runs);
	return 0;
}
