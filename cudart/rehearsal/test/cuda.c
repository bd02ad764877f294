/* The simulated driver. */
#include "test.h"

#include <sys/mman.h>

static void without_context(void)
{
	cuda_pointer p;
	cuda_stream s;
	int n;
	size_t bytes;
	CHECK(cuda.device_count(&n) == 3);
	DO(cuda.init(0));
	DO(cuda.device_count(&n));
	CHECK(n == 3);
	CHECK(cuda.memory_alloc(&p, 8) == 201 && cuda.stream_create(&s, 0) == 201 && cuda.memory_info(&bytes, &bytes) == 201);
	CHECK(cuda.context_set(NULL) == 0 && cuda.stream_query(NULL) == 201);
}

static void devices(void)
{
	cuda_uuid a, b;
	cuda_device d;
	char text[64];
	int value;
	size_t bytes, available;
	const char *name;
	device_open(1);
	DO(cuda.device_get(&d, 2));
	CHECK(cuda.device_get(&d, 3) == 101);
	DO(cuda.device_name(text, sizeof text, 0));
	CHECK(!strcmp(text, "Rehearsed GPU"));
	DO(cuda.device_uuid(&a, 0));
	DO(cuda.device_uuid(&b, 1));
	CHECK(memcmp(&a, &b, sizeof a) != 0);
	DO(cuda.device_pci(text, sizeof text, 1));
	CHECK(!strcmp(text, "0000:11:00.0"));
	DO(cuda.device_attribute(&value, 75, 0));
	CHECK(value == 9);
	DO(cuda.can_access_peer(&value, 0, 1));
	CHECK(value == 1);
	DO(cuda.memory_info(&available, &bytes));
	CHECK(available == 1 << 20 && bytes == 1 << 20);
	DO(cuda.error_name(2, &name));
	CHECK(!strcmp(name, "CUDA_ERROR_OUT_OF_MEMORY") && cuda.error_string(12345, &name) == 1);
}

static void visible_devices(void)
{
	static const struct { const char *set; int count, first; } cases[] = {
		{"2,0", 2, 0x12}, {"1", 1, 0x11}, {"0,7,1", 1, 0x10}, {"0,0", 0, 0}, {"", 0, 0}, {"x", 0, 0}};
	const int i = rank;
	char text[32];
	int n;
	setenv("CUDA_VISIBLE_DEVICES", cases[i].set, 1);
	CHECK(cuda.init(0) == (cases[i].count ? 0 : 100));
	DO(cuda.device_count(&n));
	CHECK(n == cases[i].count);
	if (n) {
		DO(cuda.device_pci(text, sizeof text, 0));
		CHECK((int)strtol(text + 5, NULL, 16) == cases[i].first);
	}
}

static char *uuid_beginning; /* shared */

static void visible_by_uuid(void)
{
	cuda_uuid uuid;
	int n;
	if (rank == 0) {
		DO(cuda.init(0));
		DO(cuda.device_uuid(&uuid, 2));
		sprintf(uuid_beginning, "GPU-%02x%02X%02x", uuid.bytes[0] & 255, uuid.bytes[1] & 255, uuid.bytes[2] & 255);
	}
	meet();
	if (rank == 1) {
		char text[32];
		setenv("CUDA_VISIBLE_DEVICES", uuid_beginning, 1);
		DO(cuda.init(0));
		DO(cuda.device_count(&n));
		DO(cuda.device_pci(text, sizeof text, 0));
		CHECK(n == 1 && !strcmp(text, "0000:12:00.0"));
	}
}

static void memory(void)
{
	cuda_pointer p, q;
	size_t available, bytes;
	device_open(0);
	CHECK(cuda.memory_alloc(&p, (1 << 20) + 1) == 2 && cuda.memory_alloc(&p, 0) == 1);
	DO(cuda.memory_alloc(&p, 1 << 19));
	CHECK(cuda.memory_alloc(&q, (1 << 19) + 1) == 2);
	DO(cuda.memory_info(&available, &bytes));
	CHECK(available == 1 << 19);
	DO(cuda.memory_free(p));
	DO(cuda.memory_alloc(&p, 1 << 20));
	CHECK(cuda.memory_free(p + 1) == 1);
	DO(cuda.memory_free(p));
	DO(cuda.context_release(0));
	CHECK(cuda.memory_alloc(&p, 8) == 709);
}

/* All work starts 30 ms late, so that data is missing without a wait. */
static void order(void)
{
	unsigned char *device, host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8];
	void *pinned;
	cuda_event event, untimed;
	cuda_stream other;
	float ms = -1;
	device_open(0);
	device = device_memory(16);
	DO(cuda.host_alloc(&pinned, 8, 0));
	DO(cuda.stream_create(&other, 1));
	DO(cuda.event_create(&event, 0));
	DO(cuda.event_create(&untimed, 2));
	CHECK(cuda.event_elapsed(&ms, event, event) == 400 && cuda.event_query(event) == 0);
	DO(cuda.copy_to_device((cuda_pointer)device, host, 8, stream));
	memset(host, 0, 8); /* read before the call returned */
	CHECK(cuda.stream_query(stream) == 600 && device[0] == 0);
	DO(cuda.copy_on_device((cuda_pointer)device + 8, (cuda_pointer)device, 8, stream));
	DO(cuda.event_record(event, stream));
	CHECK(cuda.event_query(event) == 600 && cuda.event_elapsed(&ms, event, event) == 600);
	DO(cuda.stream_wait_event(other, event, 0));
	DO(cuda.copy_to_host(pinned, (cuda_pointer)device + 8, 8, other));
	CHECK(*(unsigned char *)pinned == 0);
	DO(cuda.stream_synchronize(other));
	CHECK(((unsigned char *)pinned)[7] == 8 && cuda.event_query(event) == 0);
	DO(cuda.set_bytes((cuda_pointer)device, 9, 4, stream));
	DO(cuda.copy_to_host(back, (cuda_pointer)device, 8, stream)); /* written when the call returns */
	CHECK(back[3] == 9 && back[4] == 5);
	DO(cuda.event_record(untimed, NULL));
	DO(cuda.event_synchronize(untimed));
	CHECK(cuda.event_elapsed(&ms, event, untimed) == 400 && cuda.event_elapsed(&ms, event, event) == 0 && ms == 0);
	CHECK(cuda.copy_to_device(8, host, 8, stream) == 1);
	DO(cuda.set_bytes((cuda_pointer)device, 7, 16, stream));
	DO(cuda.stream_destroy(stream)); /* queued work still runs */
	DO(cuda.context_synchronize());
	while (device[15] != 7)
		usleep(1000);
	CHECK(cuda.stream_destroy(stream) == 400);
	DO(cuda.event_destroy(event));
	DO(cuda.event_destroy(untimed));
	DO(cuda.stream_destroy(other));
	DO(cuda.host_free(pinned));
}

static void graphs(void)
{
	cuda_graph graph;
	cuda_graph_exec exec;
	unsigned char *p;
	device_open(0);
	p = device_memory(16);
	CHECK(cuda.capture_end(stream, &graph) == 903);
	DO(cuda.capture_begin(stream, 0));
	CHECK(cuda.stream_synchronize(stream) == 900 && cuda.capture_end(stream, &graph) == 901 && !graph);
	DO(cuda.capture_begin(stream, 0));
	DO(cuda.copy_on_device((cuda_pointer)p + 8, (cuda_pointer)p, 8, stream));
	DO(cuda.set_bytes((cuda_pointer)p, 5, 8, stream));
	DO(cuda.capture_end(stream, &graph));
	DO(cuda.stream_synchronize(stream));
	CHECK(p[0] == 0);
	DO(cuda.graph_instantiate(&exec, graph, 0));
	DO(cuda.graph_destroy(graph));
	DO(cuda.graph_launch(exec, stream));
	DO(cuda.stream_synchronize(stream));
	CHECK(p[0] == 5 && p[8] == 0);
	DO(cuda.graph_launch(exec, stream));
	DO(cuda.graph_exec_destroy(exec));
	DO(cuda.stream_synchronize(stream));
	CHECK(p[8] == 5);
}

static void kernels(void)
{
	static const char text[] = ".visible .entry busbar_fma(\n\t.param .u64 iterations\n)";
	cuda_module module;
	cuda_function fma;
	cuda_event before, after;
	uint64_t iterations = 400000, sink = 0;
	void *parameters[] = {&iterations, &sink};
	float ms;
	device_open(0);
	CHECK(cuda.module_load(&module, "", 0, NULL, NULL) == 801);
	CHECK(cuda.module_load(&module, ".visible .entry busbar_fill(", 0, NULL, NULL) == 801);
	CHECK(cuda.module_load(&module, ".entry busbar_fma( ) .entry busbar_fill(", 0, NULL, NULL) == 801);
	DO(cuda.module_load(&module, text, 0, NULL, NULL));
	CHECK(cuda.module_function(&fma, module, "busbar_fill") == 500);
	DO(cuda.module_function(&fma, module, "busbar_fma"));
	CHECK(cuda.launch_kernel(fma, 0, 1, 1, 256, 1, 1, 0, stream, parameters, NULL) == 1);
	CHECK(cuda.launch_kernel(fma, 1, 1, 1, 2048, 1, 1, 0, stream, parameters, NULL) == 1);
	CHECK(cuda.launch_kernel((cuda_function)parameters, 1, 1, 1, 256, 1, 1, 0, stream, parameters, NULL) == 400);
	DO(cuda.event_create(&before, 0));
	DO(cuda.event_create(&after, 0));
	DO(cuda.event_record(before, stream));
	DO(cuda.launch_kernel(fma, 1, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
	iterations = 0; /* read before the call returned */
	DO(cuda.event_record(after, stream));
	DO(cuda.stream_synchronize(stream));
	DO(cuda.event_elapsed(&ms, before, after));
	CHECK(ms >= 20); /* 50 ns per iteration */
	DO(cuda.event_destroy(before));
	DO(cuda.event_destroy(after));
	DO(cuda.module_unload(module));
	CHECK(cuda.module_unload((cuda_module)parameters) == 400);
}

void cuda_tests(void)
{
	world("without a context", 1, without_context, SETTINGS("BUSBAR_REHEARSAL_GPUS=3"), -1);
	world("devices", 1, devices, SETTINGS("BUSBAR_REHEARSAL_GPUS=3", "BUSBAR_REHEARSAL_MEMORY=1M"), -1);
	world("visible devices", 6, visible_devices, SETTINGS("BUSBAR_REHEARSAL_GPUS=4"), -1);
	world("memory", 1, memory, SETTINGS("BUSBAR_REHEARSAL_MEMORY=1M"), -1);
	world("order", 1, order, SETTINGS("BUSBAR_REHEARSAL_DELAY=30000"), -1);
	world("graphs", 1, graphs, NULL, -1);
	world("kernels", 1, kernels, NULL, -1);
	uuid_beginning = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	world("visible by UUID", 2, visible_by_uuid, NULL, -1);
}
