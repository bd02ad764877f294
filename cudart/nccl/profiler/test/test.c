/* Loads the plugin as NCCL does and calls every version of it as NCCL would: test PATH. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../interface.h"
#include "../path.h"

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

/* The offsets in NVIDIA's headers on 64-bit Linux. */
#define AT(version, member, offset) \
	_Static_assert(offsetof(struct profiler_event_v##version, member) == offset, #member " of version " #version)
#define HEAD(version) AT(version, type, 0); AT(version, parent, 8); AT(version, rank, 16)
#define OLD(version) AT(version, coll.comm_name, 24); AT(version, coll.sequence, 40); AT(version, coll.function, 48); \
	AT(version, coll.send, 56); AT(version, coll.recv, 64); AT(version, coll.count, 72); AT(version, coll.root, 80); \
	AT(version, p2p.comm_name, 24); AT(version, p2p.function, 40)
#define NEW(version) AT(version, coll.sequence, 24); AT(version, coll.function, 32); AT(version, coll.send, 40); \
	AT(version, coll.recv, 48); AT(version, coll.count, 56); AT(version, coll.root, 64); AT(version, coll.data_type, 72); \
	AT(version, coll.channels, 80); AT(version, coll.warps, 81); AT(version, coll.algorithm, 88); \
	AT(version, coll.protocol, 96); AT(version, p2p.function, 24); AT(version, p2p.peer, 56); AT(version, p2p.channels, 60)
HEAD(1); OLD(1); AT(1, coll.data_type, 84); AT(1, coll.op, 88); AT(1, coll.traffic_bytes, 96); AT(1, coll.max_channels, 104);
AT(1, coll.algorithm, 106); AT(1, coll.protocol, 107);
HEAD(2); OLD(2); AT(2, coll.data_type, 88); AT(2, coll.traffic_bytes, 96); AT(2, coll.max_channels, 104);
AT(2, coll.algorithm, 112); AT(2, coll.protocol, 120);
HEAD(3); OLD(3); AT(3, coll.data_type, 88); AT(3, coll.max_channels, 96); AT(3, coll.algorithm, 104); AT(3, coll.protocol, 112);
HEAD(4); NEW(4);
HEAD(5); NEW(5);
HEAD(6); NEW(6);
_Static_assert(sizeof(((struct profiler_event_v4 *)0)->type) == 1, "a byte until version 4");
_Static_assert(sizeof(((struct profiler_event_v5 *)0)->type) == 8, "64 bits from version 5 on");
_Static_assert(offsetof(struct profiler_v6, finalize) == 40 && sizeof(struct profiler_v6) == 48, "a name and five functions");

static void *library;
static int (*interface)(void), (*watch)(void), (*take)(struct busbar_path_event *, int);
static int mask;

static void *symbol(const char *name)
{
	void *found = dlsym(library, name);
	CHECK(found);
	return found;
}

/* The reports during the watch of one operation. */
static void took(const char *function, const char *algorithm, const char *protocol, int channels)
{
	struct busbar_path_event e = {.channels = -1};
	CHECK(take(&e, 1) == 1);
	CHECK(mask == 0);
	CHECK(!strcmp(e.function, function) && !strcmp(e.algorithm, algorithm) && !strcmp(e.protocol, protocol));
	CHECK(e.channels == channels);
}

/* Only a launch gets a handle; without it older versions report nothing. */
#define GROUP(version) \
	do { \
		struct profiler_event_v##version e = {.type = PROFILE_GROUP}; \
		CHECK(!p->start(context, &handle, &e) && handle); \
		CHECK(!p->stop(handle) && !p->record(handle, 3, NULL)); \
		e.type = 1 << 5; \
		CHECK(!p->start(context, &handle, &e) && !handle); \
	} while (0)

#define VERSION(version, p2p_channels, coll_start, p2p_start, ...) \
	static void version_##version(void) \
	{ \
		const struct profiler_v##version *p = symbol("ncclProfiler_v" #version); \
		void *context = NULL, *handle; \
		mask = 77; \
		CHECK(!strcmp(p->name, "busbar") && !p->init(__VA_ARGS__) && context && mask == 0); \
		CHECK(interface() == version); \
		CHECK(watch() == 0 && (mask & 0xfff) == (PROFILE_COLL | PROFILE_P2P)); \
		CHECK(!!(mask & PROFILE_COPY) == (version == 6)); \
		GROUP(version); \
		struct profiler_event_v##version coll = {.type = PROFILE_COLL, .rank = 3, .coll = coll_start}; \
		CHECK(!p->start(context, &handle, &coll) && !handle); \
		took("AllReduce", "NVLS_TREE", "LL128", 24); \
		CHECK(watch() == 0); \
		struct profiler_event_v##version p2p = {.type = PROFILE_P2P, .p2p = p2p_start}; \
		CHECK(!p->start(context, &handle, &p2p) && !handle); \
		took("Recv", "", "", p2p_channels); \
		/* A late report, after the watch, is ignored. */ \
		CHECK(!p->start(context, &handle, &coll)); \
		CHECK(watch() == 0 && take(NULL, 0) == 0); \
		CHECK(!p->finalize(context)); \
	}
#define LIST(...) {__VA_ARGS__}
VERSION(1, 0, LIST(.function = 4, .max_channels = 24, .algorithm = 5, .protocol = 1), LIST(.function = 7), &context, &mask)
#define TEXTS .function = "AllReduce", .algorithm = "NVLS_TREE", .protocol = "LL128"
VERSION(2, 0, LIST(TEXTS, .max_channels = 24), LIST(.function = "Recv"), &context, &mask)
VERSION(3, 0, LIST(TEXTS, .max_channels = 24), LIST(.function = "Recv"), &context, &mask)
VERSION(4, 2, LIST(TEXTS, .channels = 24), LIST(.function = "Recv", .channels = 2), &context, &mask, "", 1, 1, 8, 3, NULL)
VERSION(5, 2, LIST(TEXTS, .channels = 24), LIST(.function = "Recv", .channels = 2), &context, 1, &mask, "", 1, 8, 3, NULL)
VERSION(6, 2, LIST(TEXTS, .channels = 24), LIST(.function = "Recv", .channels = 2), &context, 1, &mask, "", 1, 8, 3, NULL)

static void copy_engines(void)
{
	const struct profiler_v6 *p = symbol("ncclProfiler_v6");
	struct profiler_event_v6 e = {.type = PROFILE_COPY, .coll = {.function = "AllGather"}};
	void *handle;
	CHECK(watch() == 0 && !p->start(NULL, &handle, &e) && !handle);
	took("AllGather", "CE", "", 0);
}

/* More operations than room, unknown numbers, and texts that are too long or NULL. */
static void odd(void)
{
	const struct profiler_v1 *one = symbol("ncclProfiler_v1");
	const struct profiler_v4 *four = symbol("ncclProfiler_v4");
	struct profiler_event_v1 unknown = {.type = PROFILE_COLL, .coll = {.function = 250, .algorithm = 7, .protocol = 3}};
	struct profiler_event_v4 e = {.type = PROFILE_COLL, .coll = {.algorithm = "an algorithm with a name of forty letters"}};
	static struct busbar_path_event out[500];
	void *handle;
	CHECK(watch() == 0 && !one->start(NULL, &handle, &unknown));
	took("", "", "", 0);
	CHECK(watch() == 0 && !four->start(NULL, &handle, &e));
	took("", "an algorithm with a nam", "", 0);
	CHECK(watch() == 0);
	for (int i = 0; i < 500; i++)
		CHECK(!four->start(NULL, &handle, &e));
	CHECK(take(out, 500) == 500 && out[63].algorithm[0] && !out[64].algorithm[0]);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(library);
	*(void **)&interface = symbol("busbar_path_interface");
	*(void **)&watch = symbol("busbar_path_watch");
	*(void **)&take = symbol("busbar_path_take");
	CHECK(interface() == 0 && watch() == -1 && take(NULL, 0) == 0);
	version_1();
	version_2();
	version_3();
	version_4();
	version_5();
	version_6();
	copy_engines();
	odd();
	puts("the plugin for NCCL's profiler interface: ok");
	return 0;
}
