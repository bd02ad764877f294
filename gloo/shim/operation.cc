/* A measured operation: its arguments, Gloo's buffers and options are bound once, and issuing it is one call of Gloo's. */
#include "shim.h"

#include <cstring>

#pragma GCC visibility push(default)
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>
#pragma GCC visibility pop

struct busbar_gloo_operation {
	busbar_gloo_context &context;
	std::vector<std::unique_ptr<Call>> slots; /* empty: there is nothing to move */
	uint64_t aggregate;
	busbar_step sync;
	void *sync_context;
};

namespace {

/* Where one slot's data lies, in Gloo's terms: in is NULL where the output is the input too. */
struct Place {
	const busbar_gloo_spec &s;
	char *in, *out;
	size_t bytes; /* of one count */
};

/* A collective of Gloo with its options, which Gloo only reads: they serve every call. */
template <class Options, class Function> class Bound final : public Call {
public:
	Bound(busbar_gloo_context &c, Function f) : options(c.shared), function_(f) {}
	void run() override { function_(options); }
	Options options;

private:
	Function function_;
};

template <class Options, class Function> auto bind(busbar_gloo_context &c, Function f)
{
	return std::make_unique<Bound<Options, Function>>(c, f);
}

/* Gloo's options take the size of an element from a type. */
template <class Options> void set_buffers(Options &o, const Place &p, size_t element, size_t count)
{
	auto set = [&](auto zero) {
		using T = decltype(zero);
		if (p.in)
			o.template setInput<T>(reinterpret_cast<T *>(p.in), count);
		o.template setOutput<T>(reinterpret_cast<T *>(p.out), count);
	};
	switch (element) {
	case 1: return set(uint8_t{});
	case 2: return set(uint16_t{});
	case 4: return set(uint32_t{});
	default: return set(uint64_t{});
	}
}

std::unique_ptr<Call> all_reduce(busbar_gloo_context &c, const Place &p)
{
	auto call = bind<gloo::AllreduceOptions>(c, [](const gloo::AllreduceOptions &o) { gloo::allreduce(o); });
	using Algorithm = gloo::AllreduceOptions::Algorithm;
	set_buffers(call->options, p, element_bytes(p.s.type), static_cast<size_t>(p.s.count));
	call->options.setReduceFunction(reduction(p.s.type, p.s.op));
	call->options.setAlgorithm(Algorithm::RING);
	return call;
}

/* A rank that is not the root needs an output all the same: Gloo keeps partial results there. */
std::unique_ptr<Call> reduce(busbar_gloo_context &c, const Place &p)
{
	auto call = bind<gloo::ReduceOptions>(c, [](gloo::ReduceOptions &o) { gloo::reduce(o); });
	set_buffers(call->options, p, element_bytes(p.s.type), static_cast<size_t>(p.s.count));
	call->options.setReduceFunction(reduction(p.s.type, p.s.op));
	call->options.setRoot(p.s.root);
	return call;
}

std::unique_ptr<Call> all_gather(busbar_gloo_context &c, const Place &p)
{
	auto call = bind<gloo::AllgatherOptions>(c, [](gloo::AllgatherOptions &o) { gloo::allgather(o); });
	if (p.in)
		call->options.setInput(p.in, p.bytes);
	call->options.setOutput(p.out, p.bytes * static_cast<size_t>(c.size));
	return call;
}

std::unique_ptr<Call> broadcast(busbar_gloo_context &c, const Place &p)
{
	auto call = bind<gloo::BroadcastOptions>(c, [](gloo::BroadcastOptions &o) { gloo::broadcast(o); });
	if (p.in && c.rank == p.s.root)
		call->options.setInput(p.in, p.bytes);
	call->options.setOutput(p.out, p.bytes);
	call->options.setRoot(p.s.root);
	return call;
}

std::unique_ptr<Call> all_to_all(busbar_gloo_context &c, const Place &p)
{
	auto call = bind<gloo::AlltoallOptions>(c, [](gloo::AlltoallOptions &o) { gloo::alltoall(o); });
	call->options.setInput(p.in, p.bytes * static_cast<size_t>(c.size));
	call->options.setOutput(p.out, p.bytes * static_cast<size_t>(c.size));
	return call;
}

std::unique_ptr<Call> all_to_all_v(busbar_gloo_context &c, const Place &p)
{
	auto call = bind<gloo::AlltoallvOptions>(c, [](gloo::AlltoallvOptions &o) { gloo::alltoallv(o); });
	const auto element = static_cast<int64_t>(element_bytes(p.s.type));
	auto bytes = [&](const int64_t *counts) {
		std::vector<int64_t> all(counts, counts + c.size);
		for (auto &n : all)
			n *= element;
		return all;
	};
	call->options.setInput(p.in, bytes(p.s.sends));
	call->options.setOutput(p.out, bytes(p.s.receives));
	return call;
}

/* In place the root's own share lies in the output already; Gloo copies it onto itself. */
std::unique_ptr<Call> gather(busbar_gloo_context &c, const Place &p)
{
	auto call = bind<gloo::GatherOptions>(c, [](gloo::GatherOptions &o) { gloo::gather(o); });
	const bool root = c.rank == p.s.root;
	char *in = p.in ? p.in : root ? p.out + p.bytes * static_cast<size_t>(c.rank) : p.out;
	call->options.setInput(in, p.bytes);
	if (root)
		call->options.setOutput(p.out, p.bytes * static_cast<size_t>(c.size));
	call->options.setRoot(p.s.root);
	return call;
}

std::unique_ptr<Call> scatter(busbar_gloo_context &c, const Place &p)
{
	auto call = bind<gloo::ScatterOptions>(c, [](gloo::ScatterOptions &o) { gloo::scatter(o); });
	char *out = p.out;
	if (c.rank == p.s.root) {
		char *in = p.in ? p.in : p.out;
		std::vector<char *> shares;
		for (int i = 0; i < c.size; i++)
			shares.push_back(in + p.bytes * static_cast<size_t>(i));
		if (!p.in)
			out = shares[static_cast<size_t>(c.rank)];
		call->options.setInputs(shares, p.bytes);
	}
	call->options.setOutput(out, p.bytes);
	call->options.setRoot(p.s.root);
	return call;
}

/* Gives its inner call memory that the rank has no buffer for. */
class WithScratch final : public Call {
public:
	explicit WithScratch(size_t bytes) : memory(bytes) {}
	void run() override { inner->run(); }
	std::vector<char> memory;
	std::unique_ptr<Call> inner;
};

class Average final : public Call {
public:
	Average(std::unique_ptr<Call> sum, const Place &p, int ranks)
		: sum_(std::move(sum)), divide_(division(p.s.type)), at_(p.out), n_(static_cast<size_t>(p.s.count)), ranks_(ranks)
	{
	}
	void run() override
	{
		sum_->run();
		divide_(at_, n_, ranks_);
	}

private:
	std::unique_ptr<Call> sum_;
	const divide_function divide_;
	char *const at_;
	const size_t n_;
	const int ranks_;
};

std::unique_ptr<Call> plain(busbar_gloo_context &c, const Place &p, int64_t &scratch)
{
	switch (p.s.kind) {
	case BUSBAR_ALL_REDUCE: return all_reduce(c, p);
	case BUSBAR_ALL_GATHER: return all_gather(c, p);
	case BUSBAR_REDUCE_SCATTER: return ring_reduce_scatter(c, p.s, p.in ? p.in : p.out, p.out, scratch);
	case BUSBAR_BROADCAST: return broadcast(c, p);
	case BUSBAR_ALL_TO_ALL: return all_to_all(c, p);
	case BUSBAR_ALL_TO_ALL_V: return all_to_all_v(c, p);
	case BUSBAR_GATHER: return gather(c, p);
	case BUSBAR_SCATTER: return scatter(c, p);
	case BUSBAR_SEND_RECV: return ring_shift(c, p.in, p.out, p.bytes);
	}
	if (c.rank == p.s.root || !p.in)
		return reduce(c, p);
	auto call = std::make_unique<WithScratch>(p.bytes);
	scratch += static_cast<int64_t>(p.bytes);
	call->inner = reduce(c, Place{p.s, p.in, call->memory.data(), p.bytes});
	return call;
}

std::unique_ptr<Call> slot(busbar_gloo_context &c, const busbar_gloo_spec &s, int64_t i, int64_t &scratch)
{
	Place p{s, nullptr, static_cast<char *>(s.recv), static_cast<size_t>(s.count) * element_bytes(s.type)};
	if (p.out)
		p.out += i * s.recv_stride;
	if (!s.in_place && s.send)
		p.in = static_cast<char *>(s.send) + i * s.send_stride;
	auto call = plain(c, p, scratch);
	const bool result = s.kind == BUSBAR_ALL_REDUCE || s.kind == BUSBAR_REDUCE_SCATTER ||
			    (s.kind == BUSBAR_REDUCE && c.rank == s.root);
	if (result && s.op == BUSBAR_AVG)
		return std::make_unique<Average>(std::move(call), p, c.size);
	return call;
}

int issue(void *context, uint64_t i)
{
	auto *o = static_cast<busbar_gloo_operation *>(context);
	const size_t slots = o->slots.size();
	if (slots == 0)
		return BUSBAR_GLOO_OK;
	try {
		for (uint64_t k = i * o->aggregate; k < (i + 1) * o->aggregate; k++)
			o->slots[k % slots]->run();
		return BUSBAR_GLOO_OK;
	} catch (...) {
		return o->context.failed();
	}
}

int sync_ranks(void *context, uint64_t i)
{
	auto *o = static_cast<busbar_gloo_operation *>(context);
	return o->sync(o->sync_context, i);
}

} // namespace

int prepare(busbar_gloo_context *c, const busbar_gloo_spec *s, busbar_gloo_prepared *out, busbar_gloo_error *e)
{
	*out = busbar_gloo_prepared{};
	try {
		std::unique_ptr<busbar_gloo_operation> o(new busbar_gloo_operation{
			*c, {}, static_cast<uint64_t>(s->aggregate), s->sync, s->sync_context});
		for (int64_t i = 0; s->count > 0 && i < s->slots; i++)
			o->slots.push_back(slot(*c, *s, i, out->scratch));
		out->operation = o.release();
		out->issue = issue;
		out->sync = s->sync ? sync_ranks : nullptr;
		return BUSBAR_GLOO_OK;
	} catch (...) {
		return describe_exception(*e);
	}
}

void release(busbar_gloo_operation *o) { delete o; }
