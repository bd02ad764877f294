/* Shared by the files of the shim; not exported. */
#ifndef BUSBAR_GLOO_SHIM_H
#define BUSBAR_GLOO_SHIM_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#pragma GCC visibility push(default)
#include <gloo/context.h>
#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#pragma GCC visibility pop

#include "../busbar_gloo.h"

/* A Gloo context that connects without a store and records which of its connections broke first. */
struct busbar_gloo_context final : gloo::Context {
	explicit busbar_gloo_context(const busbar_gloo_create &how);
	~busbar_gloo_context() override;

	/* One address of a pair; all have the same length. */
	static constexpr size_t address_bytes = 192;
	void addresses(char *out);
	void connect(const char *all);
	void interrupt();

	/* Turns the current exception into a status and stores its text; the first failure is kept. */
	int failed() noexcept;
	void last(busbar_gloo_error &e) const noexcept;

	/* Called by the pairs with their locks held. */
	void pair_closed(int peer, const std::string &why, bool awaited);

	std::shared_ptr<gloo::transport::Device> device;
	std::string device_text;
	int thread = 0;
	std::shared_ptr<gloo::Context> shared; /* this, for Gloo's options; not owned */

private:
	class Transport;
	class Pair;
	void break_others();

	std::shared_ptr<Transport> transport_;
	std::chrono::milliseconds running_; /* the timeout of operations */
	std::atomic<bool> interrupted_{false};
	int connecting_ = -1;

	mutable std::mutex lock_; /* protects the fields below */
	std::condition_variable closed_;
	int lost_ = -1, awaited_ = -1;
	std::string why_;
	busbar_gloo_error first_{};
	std::thread breaker_;
};

/* The current exception, from a call without a context. */
int describe_exception(busbar_gloo_error &e) noexcept;
int give_error(busbar_gloo_error *e, int status, int peer, const char *text) noexcept;

/* thread.cc. The process's other threads must block signals: a signal in a thread unknown to Go would end the process,
 * and a dead peer sends SIGPIPE to the writer. Threads inherit the signal mask. */
class BlockedSignals {
public:
	BlockedSignals();
	~BlockedSignals();
	BlockedSignals(const BlockedSignals &) = delete;
	BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
	sigset_t before_;
};

/* Creates a Gloo device, whose thread blocks all signals and is found by its id. */
std::shared_ptr<gloo::transport::Device> make_device(const busbar_gloo_create &how, int &thread);

/* reduce.cc: out = a op b, n elements; out may be a or b. */
using reduce_function = void (*)(void *out, const void *a, const void *b, size_t n);
using divide_function = void (*)(void *x, size_t n, int by);
reduce_function reduction(int type, int op);
divide_function division(int type);
size_t element_bytes(int type);

/* One call with all its arguments. */
struct Call {
	virtual ~Call() = default;
	virtual void run() = 0;
};

/* ring.cc: operations that Gloo lacks, over its unbound buffers. */
std::unique_ptr<Call> ring_reduce_scatter(busbar_gloo_context &c, const busbar_gloo_spec &s, const char *send, char *recv,
					  int64_t &scratch);
std::unique_ptr<Call> ring_shift(busbar_gloo_context &c, const char *send, char *recv, size_t bytes);

/* The functions of the table. */
int prepare(busbar_gloo_context *c, const busbar_gloo_spec *s, busbar_gloo_prepared *out, busbar_gloo_error *e);
void release(busbar_gloo_operation *o);

#endif
