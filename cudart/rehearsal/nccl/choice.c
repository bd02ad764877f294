/* The collectives with a choice of algorithms (ncclCollConfig_t): comma-separated names of algorithms and protocols,
 * or prefixes of them; a leading ^ excludes them. The profiler gets the choice; it does not change how data moves. */
#include "inside.h"

#include <string.h>
#include <strings.h>

/* In the order of the bits of operation.ways. */
static const char *const names[] = {"TREE_LL", "TREE_LL128", "TREE_SIMPLE", "RING_LL", "RING_LL128", "RING_SIMPLE"};
enum { NAMES = sizeof names / sizeof *names, TREES = 7, RINGS = 7 << 3 };

_Thread_local unsigned chosen_ways;

/* The algorithms and protocols of the names; 0 if one is unknown. */
static unsigned parse(const char *words)
{
	const int others = *words == '^';
	unsigned ways = 0;
	for (words += others; *words;) {
		const size_t length = strcspn(words, ",");
		unsigned found = 0;
		for (unsigned i = 0; i < NAMES && length; i++)
			if (!strncasecmp(words, names[i], length))
				found |= 1u << i;
		if (!found)
			return 0;
		ways |= found;
		words += length + (words[length] == ',');
	}
	return others ? (TREES | RINGS) & ~ways : ways;
}

/* Validates a choice before the communicator, as NCCL does, and stores what it allows in chosen_ways. */
static nccl_result take(const struct nccl_choice *given, enum kind kind, const char *name)
{
	chosen_ways = 0;
	if (!given)
		return OK;
	if (given->magic != (unsigned)CONFIG_MAGIC)
		return fail(INVALID_ARGUMENT, "ncclCollConfig_t magic mismatch (got 0x%x, expected 0x%x)", given->magic, (unsigned)CONFIG_MAGIC);
	if (given->size < sizeof *given || given->version < 23100)
		return fail(INVALID_ARGUMENT, "ncclCollConfig_t of %zu bytes and version %u is no known one", given->size, given->version);
	if (given->force != 0 && given->force != 1)
		return fail(INVALID_ARGUMENT, "config->forceAlgSelection=%d is invalid, accepted values are 0 or 1", given->force);
	if (given->cta_policy != UNSET && (given->cta_policy < 0 || given->cta_policy > 3))
		return fail(INVALID_ARGUMENT, "config->CTAPolicy=%d is invalid", given->cta_policy);
	if (!given->algorithms || !*given->algorithms)
		return OK;
	const unsigned there = kind == ALL_REDUCE ? TREES | RINGS : kind <= REDUCE ? RINGS : 0;
	chosen_ways = parse(given->algorithms) & there;
	if (!chosen_ways && given->force)
		return fail(INVALID_ARGUMENT, "config->algSelection \"%s\" cannot be honored for %s", given->algorithms, name);
	return OK;
}

/* ncclNAMEConfig is ncclNAME with a choice as last argument. */
#define BEGIN const void *send, void *recv, size_t n, int type
#define END nccl_comm c, cuda_stream s, const struct nccl_choice *choice
#define CHOSEN(kind, name, parameters, arguments) \
	nccl_result nccl##name##Config parameters \
	{ \
		const nccl_result rc = take(choice, kind, #name); \
		const nccl_result result = rc ? group_failed(rc) : nccl##name arguments; \
		chosen_ways = 0; \
		return result; \
	}

CHOSEN(ALL_REDUCE, AllReduce, (BEGIN, int op, END), (send, recv, n, type, op, c, s))
CHOSEN(ALL_GATHER, AllGather, (BEGIN, END), (send, recv, n, type, c, s))
CHOSEN(REDUCE_SCATTER, ReduceScatter, (BEGIN, int op, END), (send, recv, n, type, op, c, s))
CHOSEN(BROADCAST, Broadcast, (BEGIN, int root, END), (send, recv, n, type, root, c, s))
CHOSEN(REDUCE, Reduce, (BEGIN, int op, int root, END), (send, recv, n, type, op, root, c, s))
CHOSEN(ALL_TO_ALL, AlltoAll, (BEGIN, END), (send, recv, n, type, c, s))
CHOSEN(GATHER, Gather, (BEGIN, int root, END), (send, recv, n, type, root, c, s))
CHOSEN(SCATTER, Scatter, (BEGIN, int root, END), (send, recv, n, type, root, c, s))
