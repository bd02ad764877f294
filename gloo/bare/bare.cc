/* The yardstick of `make bench` for Gloo: a bare loop of gloo::allreduce over float32, linked to libgloo directly, on a
 * context that Gloo connects by itself over a file. The bench calls busbar_bare_gloo() between the batches of busbar's
 * own loop, with the same buffers and barrier. */
#include "../../internal/loop/loop.h"

#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#define EXPORT __attribute__((visibility("default")))

namespace {

/* One batch; internal/tools/bench lays out the same in Go. The first part is that of mpi/bare/bare.c. */
struct bare_batch {
	void *send;
	void *recv;
	int64_t count;      /* elements */
	int64_t operations; /* in this batch */
	int64_t latency;    /* 0: back to back; 1: each after a barrier and timed alone */
	int64_t *start;     /* ns: one entry back to back, else one an operation */
	int64_t *end;

	busbar_step sync; /* MPI's barrier, as busbar's loop calls it */
	void *sync_context;

	int64_t rank, size;
	char store[256]; /* a folder that all ranks see, in which the first call connects them */
};

std::shared_ptr<gloo::rendezvous::Context> context;

int64_t now()
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

int timed(const bare_batch &b, gloo::AllreduceOptions &options, int64_t operations, int64_t at)
{
	int rc = b.sync(b.sync_context, static_cast<uint64_t>(at));
	b.start[at] = now();
	for (int64_t k = 0; k < operations && !rc; k++)
		gloo::allreduce(options);
	b.end[at] = now();
	return rc;
}

void connect(const bare_batch &b)
{
	gloo::transport::tcp::attr loopback;
	loopback.iface = "lo";
	auto device = gloo::transport::tcp::CreateDevice(loopback);
	gloo::rendezvous::FileStore store(b.store);
	context = std::make_shared<gloo::rendezvous::Context>(static_cast<int>(b.rank), static_cast<int>(b.size));
	context->connectFullMesh(store, device);
}

} // namespace

/* Has the type busbar_step, so that the loop can call a whole batch as one operation. */
extern "C" EXPORT int busbar_bare_gloo(void *argument, uint64_t)
{
	const auto &b = *static_cast<const bare_batch *>(argument);
	try {
		if (!context)
			connect(b);
		gloo::AllreduceOptions options(context);
		options.setInput(static_cast<float *>(b.send), static_cast<size_t>(b.count));
		options.setOutput(static_cast<float *>(b.recv), static_cast<size_t>(b.count));
		options.setReduceFunction(static_cast<void (*)(void *, const void *, const void *, size_t)>(&gloo::sum<float>));
		options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
		if (!b.latency)
			return timed(b, options, b.operations, 0);
		int rc = 0;
		for (int64_t k = 0; k < b.operations && !rc; k++)
			rc = timed(b, options, 1, k);
		return rc;
	} catch (const std::exception &e) {
		fprintf(stderr, "bare: %s\n", e.what());
		return 1;
	}
}
