/* NCCL's side of its profiler interface. It loads the plugin named by NCCL_PROFILER_PLUGIN with the first
 * communicator, uses the newest version that both support, and reports the operations that its mask selects. The
 * reported path is a model: algorithm, protocol and channels depend on the size. */
#include "inside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "../../nccl/profiler/interface.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *library, *table;
static int version, users, failed;
static int mask; /* written by the plugin */

/* The interface version of the simulated NCCL; 0: none. */
static int newest(void)
{
	static const int since[] = {22300, 22400, 22600, 22700, 22800, 22900};
	const int code = reported_version();
	int n = 0;
	while (n < (int)(sizeof since / sizeof *since) && code >= since[n])
		n++;
	return n;
}

/* Requires the lock; returns 0 if there is a plugin. */
static int load(void)
{
	const char *name = getenv("NCCL_PROFILER_PLUGIN");
	char symbol[32], path[255]; /* NCCL's own size: it truncates longer paths */
	if (!name || !*name || !strcasecmp(name, "none") || !newest())
		return -1;
	snprintf(path, sizeof path, "%s", name);
	if (!(library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
		return -1;
	for (version = newest(); version > 0; version--) {
		snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version);
		if ((table = dlsym(library, symbol)))
			return 0;
	}
	dlclose(library);
	return -1;
}

static int init(struct nccl_comm *c)
{
	void **context = &c->profiler;
	const uint64_t id = c->id.token;
	switch (version) {
	case 1: return ((const struct profiler_v1 *)table)->init(context, &mask);
	case 2: return ((const struct profiler_v2 *)table)->init(context, &mask);
	case 3: return ((const struct profiler_v3 *)table)->init(context, &mask);
	case 4: return ((const struct profiler_v4 *)table)->init(context, &mask, "", id, 1, c->ranks, c->rank, NULL);
	case 5: return ((const struct profiler_v5 *)table)->init(context, id, &mask, "", 1, c->ranks, c->rank, NULL);
	}
	return ((const struct profiler_v6 *)table)->init(context, id, &mask, "", 1, c->ranks, c->rank, NULL);
}

void profiler_open(struct nccl_comm *c)
{
	pthread_mutex_lock(&lock);
	if (!failed && !users)
		failed = load() != 0;
	if (!failed && init(c) == 0)
		users++;
	else
		c->profiler = NULL;
	pthread_mutex_unlock(&lock);
}

void profiler_close(struct nccl_comm *c)
{
	if (!c->profiler)
		return;
	pthread_mutex_lock(&lock);
	/* The end of the table is the same in all versions. */
	((const struct profiler_v6 *)table)->finalize(c->profiler);
	if (--users == 0)
		dlclose(library);
	pthread_mutex_unlock(&lock);
}

enum { TREE, RING };
enum { LL, LL128, SIMPLE };
struct path { int algorithm, protocol, channels; };

static struct path path_of(const struct nccl_comm *c, enum kind kind, uint64_t bytes)
{
	if (bytes < 64 << 10)
		return (struct path){kind == ALL_REDUCE && c->ranks > 2 ? TREE : RING, LL, 2};
	return bytes < 1 << 20 ? (struct path){RING, LL128, 8} : (struct path){RING, SIMPLE, 16};
}

/* The path, or the first that the caller allows. */
static struct path allowed(struct path p, unsigned ways)
{
	enum { PROTOCOLS = SIMPLE + 1 };
	if (!ways || ways >> (p.algorithm * PROTOCOLS + p.protocol) & 1)
		return p;
	const int first = __builtin_ctz(ways);
	return (struct path){first / PROTOCOLS, first % PROTOCOLS, p.channels};
}

static const char *const functions[] = {[ALL_REDUCE] = "AllReduce", [ALL_GATHER] = "AllGather", [REDUCE_SCATTER] = "ReduceScatter",
	[BROADCAST] = "Broadcast", [REDUCE] = "Reduce", [SEND] = "Send", [RECV] = "Recv"};
static const uint8_t numbers[] = {[ALL_REDUCE] = 4, [ALL_GATHER] = 2, [REDUCE_SCATTER] = 3, [BROADCAST] = 0, [REDUCE] = 1, [SEND] = 6,
	[RECV] = 7};

/* An event of each version: an operation's if it has a path, else a send's or receive's with channels only. As in NCCL
 * before 2.28, a launch without a handle reports nothing. */
#define TELL(v, coll_fields, p2p_fields) \
	static void tell_v##v(const struct nccl_comm *c, enum kind kind, const struct path *p, int channels) \
	{ \
		const struct profiler_v##v *plugin = table; \
		struct profiler_event_v##v group = {.type = PROFILE_GROUP}, e = {.rank = c->rank}; \
		void *launch = NULL, *handle = NULL; \
		plugin->start(c->profiler, &launch, &group); \
		if (!launch && v < 5) \
			return; \
		e.parent = launch; \
		if (p && mask & PROFILE_COLL) { \
			e.type = PROFILE_COLL; \
			coll_fields \
			plugin->start(c->profiler, &handle, &e); \
		} else if (!p && mask & PROFILE_P2P) { \
			e.type = PROFILE_P2P; \
			p2p_fields \
			plugin->start(c->profiler, &handle, &e); \
		} \
		(void)channels; \
		if (handle) \
			plugin->stop(handle); \
		if (launch) \
			plugin->stop(launch); \
	}
static const char *const algorithms[] = {"TREE", "RING"}, *const protocols[] = {"LL", "LL128", "SIMPLE"};
#define TEXTS(part) e.part.function = functions[kind];
#define PATH e.coll.algorithm = algorithms[p->algorithm]; e.coll.protocol = protocols[p->protocol];
TELL(1, e.coll.function = numbers[kind]; e.coll.algorithm = (uint8_t)p->algorithm; e.coll.protocol = (uint8_t)p->protocol;
     e.coll.max_channels = (uint8_t)p->channels;, e.p2p.function = numbers[kind];)
TELL(2, TEXTS(coll) PATH e.coll.max_channels = (uint8_t)p->channels;, TEXTS(p2p))
TELL(3, TEXTS(coll) PATH e.coll.max_channels = (uint8_t)p->channels;, TEXTS(p2p))
TELL(4, TEXTS(coll) PATH e.coll.channels = (uint8_t)p->channels;, TEXTS(p2p) e.p2p.channels = (uint8_t)channels;)
TELL(5, TEXTS(coll) PATH e.coll.channels = (uint8_t)p->channels;, TEXTS(p2p) e.p2p.channels = (uint8_t)channels;)
TELL(6, TEXTS(coll) PATH e.coll.channels = (uint8_t)p->channels;, TEXTS(p2p) e.p2p.channels = (uint8_t)channels;)

static void tell(const struct nccl_comm *c, enum kind kind, const struct path *p, int channels)
{
	static void (*const by[])(const struct nccl_comm *, enum kind, const struct path *, int) = {tell_v1, tell_v2, tell_v3,
		tell_v4, tell_v5, tell_v6};
	by[version - 1](c, kind, p, channels);
}

/* NCCL has no algorithms for point-to-point, and none for a single rank. */
void profiler_tell(const struct nccl_comm *c, const struct operation *o, uint64_t bytes)
{
	if (!c->profiler || c->ranks < 2 || !__atomic_load_n(&mask, __ATOMIC_RELAXED))
		return;
	const struct path p = allowed(path_of(c, o->kind, bytes), o->ways);
	if (o->kind <= REDUCE)
		tell(c, o->kind, &p, p.channels);
	else if (o->kind == SEND || o->kind == RECV)
		tell(c, o->kind, NULL, p.channels);
	else
		for (int k = SEND; k <= RECV; k++)
			tell(c, (enum kind)k, NULL, p.channels);
}
