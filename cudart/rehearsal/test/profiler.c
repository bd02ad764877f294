/* busbar's profiler plugin, installed beside the libraries and called as NCCL calls it. */
#include "test.h"

#include <dlfcn.h>

#include "../../nccl/profiler/path.h"

static int (*interface)(void), (*watch)(void), (*take)(struct busbar_path_event *, int);

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);
	CHECK(found);
	return found;
}

static void open_plugin(void)
{
	void *library = dlopen(getenv("NCCL_PROFILER_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
	CHECK(library);
	*(void **)&interface = symbol(library, "busbar_path_interface");
	*(void **)&watch = symbol(library, "busbar_path_watch");
	*(void **)&take = symbol(library, "busbar_path_take");
}

static void told_of(nccl_comm c, size_t count, const char *algorithm, const char *protocol, int channels)
{
	struct busbar_path_event e[4] = {{.channels = -1}};
	float *x = device_memory(count * 4), *y = device_memory(count * 4 * (size_t)ranks);
	DO(ncclAllReduce(x, x, count, FLOAT32, SUM, c, stream));
	DO(cuda.stream_synchronize(stream));
	DO(watch());
	DO(ncclAllReduce(x, x, count, FLOAT32, SUM, c, stream));
	DO(cuda.stream_synchronize(stream));
	CHECK(take(e, 4) == 1);
	CHECK(!strcmp(e->function, "AllReduce") && !strcmp(e->algorithm, algorithm) && !strcmp(e->protocol, protocol));
	CHECK(e->channels == channels);
	DO(watch());
	DO(ncclGather(x, y, count, FLOAT32, 0, c, stream));
	DO(cuda.stream_synchronize(stream));
	CHECK(take(e, 4) == 2 && !strcmp(e[0].function, "Send") && !strcmp(e[1].function, "Recv") && !*e->algorithm);
	CHECK(e->channels == (interface() < 4 ? 0 : channels));
	device_free(x);
	device_free(y);
}

/* BUSBAR_TEST_INTERFACE: the version that the library must find. The plugin stays loaded for several communicators. */
static void path(void)
{
	device_open(rank);
	open_plugin();
	CHECK(interface() == 0 && watch() < 0);
	for (int i = 0; i < 2; i++) {
		nccl_comm c = comm_open();
		CHECK(interface() == atoi(getenv("BUSBAR_TEST_INTERFACE")));
		if (interface()) {
			told_of(c, 256, ranks > 2 ? "TREE" : "RING", "LL", 2);
			told_of(c, 1 << 15, "RING", "LL128", 8);
			told_of(c, 1 << 18, "RING", "SIMPLE", 16);
		}
		meet();
		DO(ncclCommDestroy(c));
	}
}

/* A single rank moves data without NCCL's algorithms. */
static void alone(void)
{
	struct busbar_path_event e;
	device_open(0);
	open_plugin();
	nccl_comm c = comm_open();
	DO(watch());
	CHECK(sums_right(c, 1) && take(&e, 1) == 0);
	DO(ncclCommDestroy(c));
}

static void no_plugin(void)
{
	device_open(rank);
	nccl_comm c = comm_open();
	CHECK(sums_right(c, 2));
	DO(ncclCommDestroy(c));
}

/* NCCL truncates the plugin's path to 254 bytes: a longer path names no file. */
static void long_path(int bytes, const char *interface)
{
	static const char name[] = "busbar-nccl-profiler.so";
	char plugin[512], wanted[64];
	const int slashes = bytes - (int)(strlen(folder) + strlen(name));
	CHECK(slashes > 0 && bytes < 400);
	int n = snprintf(plugin, sizeof plugin, "NCCL_PROFILER_PLUGIN=%s", folder);
	for (int i = 0; i < slashes; i++)
		plugin[n++] = '/';
	strcpy(plugin + n, name);
	snprintf(wanted, sizeof wanted, "BUSBAR_TEST_INTERFACE=%s", interface);
	world("a long path", 2, path, SETTINGS(plugin, "BUSBAR_REHEARSAL_VERSION=22707", wanted), -1);
}

void profiler_tests(void)
{
	static const struct { const char *library, *interface; } versions[] = {{"22207", "0"}, {"22300", "1"}, {"22403", "2"},
		{"22501", "2"}, {"22606", "3"}, {"22707", "4"}, {"22803", "5"}, {"22902", "6"}, {"23007", "6"}};
	char plugin[4200], library[64], wanted[64];
	snprintf(plugin, sizeof plugin, "NCCL_PROFILER_PLUGIN=%s/busbar-nccl-profiler.so", folder);
	for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++) {
		snprintf(library, sizeof library, "BUSBAR_REHEARSAL_VERSION=%s", versions[i].library);
		snprintf(wanted, sizeof wanted, "BUSBAR_TEST_INTERFACE=%s", versions[i].interface);
		world("path", i % 2 ? 3 : 2, path, SETTINGS(plugin, library, wanted), -1);
	}
	world("path, alone", 1, alone, SETTINGS(plugin), -1);
	world("no plugin", 2, no_plugin, SETTINGS("NCCL_PROFILER_PLUGIN=none"), -1);
	world("a plugin that is not there", 2, no_plugin, SETTINGS("NCCL_PROFILER_PLUGIN=/nowhere/plugin.so"), -1);
	world("a library that is no plugin", 2, no_plugin, SETTINGS("NCCL_PROFILER_PLUGIN=libm.so.6"), -1);
	long_path(254, "4");
	long_path(255, "0");
}
