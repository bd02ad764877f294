/* busbar-nccl-profiler.so: receives the path of an operation from NCCL. NCCL loads it by NCCL_PROFILER_PLUGIN. Its
 * mask is empty except while rank watches a single operation. */
#include <pthread.h>
#include <stdio.h>

#include "interface.h"
#include "path.h"

#define EXPORT __attribute__((visibility("default")))

enum { EVENTS = 64 };

/* NCCL calls from its own threads too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int interface, watching, told;
static int *mask; /* NCCL's */
static struct busbar_path_event events[EVENTS];
static char token; /* target of handles and contexts: NCCL treats NULL as a failure */

/* Requires the lock. */
static void set_mask(void)
{
	int wanted = PROFILE_COLL | PROFILE_P2P;
	if (interface >= 6)
		wanted |= PROFILE_COPY;
	if (mask)
		__atomic_store_n(mask, watching ? wanted : 0, __ATOMIC_RELAXED);
}

static int begin(int version, void **context, int *theirs)
{
	*context = &token;
	pthread_mutex_lock(&lock);
	interface = version;
	mask = theirs;
	set_mask();
	pthread_mutex_unlock(&lock);
	return 0;
}

static void keep(const char *function, const char *algorithm, const char *protocol, int channels)
{
	pthread_mutex_lock(&lock);
	if (watching && told++ < EVENTS) {
		struct busbar_path_event *e = &events[told - 1];
		e->channels = channels;
		snprintf(e->function, sizeof e->function, "%s", function ? function : "");
		snprintf(e->algorithm, sizeof e->algorithm, "%s", algorithm ? algorithm : "");
		snprintf(e->protocol, sizeof e->protocol, "%s", protocol ? protocol : "");
	}
	pthread_mutex_unlock(&lock);
}

/* Names for the numbers of NCCL 2.23, the only version with interface version 1. */
static const char *word(const char *const *words, size_t n, unsigned number) { return number < n ? words[number] : ""; }
#define WORD(number, ...) word((const char *const[]){__VA_ARGS__}, sizeof(const char *[]){__VA_ARGS__} / sizeof(char *), number)

static const char *function_word(unsigned n)
{
	return WORD(n, "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce", "SendRecv", "Send", "Recv");
}

static const char *algorithm_word(unsigned n)
{
	return WORD(n, "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT");
}

static const char *protocol_word(unsigned n) { return WORD(n, "LL", "LL128", "SIMPLE"); }

/* Only launches get a handle: otherwise NCCL 2.28 and newer keep reporting after the mask is empty. */
static void *handle_for(uint64_t type) { return type == PROFILE_GROUP ? &token : NULL; }

static int start_v1(void *context, void **handle, struct profiler_event_v1 *e)
{
	(void)context;
	*handle = handle_for(e->type);
	if (e->type == PROFILE_COLL)
		keep(function_word(e->coll.function), algorithm_word(e->coll.algorithm), protocol_word(e->coll.protocol),
		     e->coll.max_channels);
	else if (e->type == PROFILE_P2P)
		keep(function_word(e->p2p.function), NULL, NULL, 0);
	return 0;
}

#define START(version, channels_of_coll, channels_of_p2p) \
	static int start_v##version(void *context, void **handle, struct profiler_event_v##version *e) \
	{ \
		(void)context; \
		*handle = handle_for(e->type); \
		if (e->type == PROFILE_COLL) \
			keep(e->coll.function, e->coll.algorithm, e->coll.protocol, channels_of_coll); \
		else if (e->type == PROFILE_P2P) \
			keep(e->p2p.function, NULL, NULL, channels_of_p2p); \
		else if (e->type == PROFILE_COPY && version >= 6) \
			keep(e->coll.function, "CE", NULL, 0); \
		return 0; \
	}
START(2, e->coll.max_channels, 0)
START(3, e->coll.max_channels, 0)
START(4, e->coll.channels, e->p2p.channels)
START(5, e->coll.channels, e->p2p.channels)
START(6, e->coll.channels, e->p2p.channels)

static int stop(void *handle)
{
	(void)handle;
	return 0;
}

static int record(void *handle, int state, void *arguments)
{
	(void)handle, (void)state, (void)arguments;
	return 0;
}

static int finalize(void *context)
{
	(void)context;
	return 0;
}

#define INIT_EARLY(version) \
	static int init_v##version(void **context, int *theirs) { return begin(version, context, theirs); }
INIT_EARLY(1)
INIT_EARLY(2)
INIT_EARLY(3)

static int init_v4(void **context, int *theirs, const char *name, uint64_t hash, int nodes, int ranks, int rank, void *log)
{
	(void)name, (void)hash, (void)nodes, (void)ranks, (void)rank, (void)log;
	return begin(4, context, theirs);
}

#define INIT_LATE(version) \
	static int init_v##version(void **context, uint64_t id, int *theirs, const char *name, int nodes, int ranks, int rank, \
				   void *log) \
	{ \
		(void)id, (void)name, (void)nodes, (void)ranks, (void)rank, (void)log; \
		return begin(version, context, theirs); \
	}
INIT_LATE(5)
INIT_LATE(6)

#define EXPORTED(version) \
	extern const struct profiler_v##version ncclProfiler_v##version; \
	EXPORT const struct profiler_v##version ncclProfiler_v##version = {"busbar", init_v##version, start_v##version, stop, record, finalize};
EXPORTED(1)
EXPORTED(2)
EXPORTED(3)
EXPORTED(4)
EXPORTED(5)
EXPORTED(6)

EXPORT int busbar_path_interface(void)
{
	pthread_mutex_lock(&lock);
	const int version = interface;
	pthread_mutex_unlock(&lock);
	return version;
}

EXPORT int busbar_path_watch(void)
{
	pthread_mutex_lock(&lock);
	const int there = mask != NULL;
	watching = there;
	told = 0;
	set_mask();
	pthread_mutex_unlock(&lock);
	return there ? 0 : -1;
}

EXPORT int busbar_path_take(struct busbar_path_event *out, int room)
{
	pthread_mutex_lock(&lock);
	watching = 0;
	set_mask();
	for (int i = 0; i < room && i < told && i < EVENTS; i++)
		out[i] = events[i];
	const int n = told;
	pthread_mutex_unlock(&lock);
	return n;
}
