/* What Gloo has no function for, over its unbound buffers: a reduce_scatter around the ring, and a shift by one rank. */
#include "shim.h"

#include <algorithm>
#include <cstring>

#include <gloo/transport/unbound_buffer.h>
#include <gloo/types.h>

namespace {

using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;

/* Slots of messages, beyond the prefixes that Gloo gives to its collectives (gloo/types.h). */
constexpr uint64_t slot_of(uint64_t prefix) { return prefix << 40; }
constexpr uint64_t reduce_scatter_slot = slot_of(0xb1), shift_slot = slot_of(0xb2);

/* Unbound buffers only read what they send. */
Buffer make_buffer(busbar_gloo_context &c, const char *p, size_t bytes)
{
	return c.createUnboundBuffer(const_cast<char *>(p), bytes);
}

/* A block is the share of one rank. In step s this rank sends block rank-1-s to the right, having combined it with its own
 * input, and receives block rank-2-s from the left; the last one received is its own. Blocks are cut into segments,
 * of which a few are under way while another is combined.
 *
 * Units are counted over all steps: unit u is segment u mod segments of step u / segments. What unit u sends was made by
 * unit u - segments. Receives are posted `ahead` units early into slots of their own, so that the neighbour never
 * waits for one that waits for it. */
class ReduceScatter final : public Call {
public:
	ReduceScatter(busbar_gloo_context &c, const busbar_gloo_spec &s, const char *send, char *recv, int64_t &scratch)
		: rank_(static_cast<size_t>(c.rank)), ranks_(static_cast<size_t>(c.size)),
		  left_((c.rank + c.size - 1) % c.size), right_((c.rank + 1) % c.size), element_(element_bytes(s.type)),
		  block_(static_cast<size_t>(s.count) * element_), combine_(reduction(s.type, s.op)), in_(send), out_(recv)
	{
		choose_segment(static_cast<size_t>(s.segment));
		if (ranks_ == 1)
			return;
		in_place_ = in_ == out_;
		received_.resize(ahead * segment_);
		if (!in_place_ && ranks_ > 2) /* in place the sums are kept where the input was */
			sums_.resize(block_);
		scratch += static_cast<int64_t>(received_.size() + sums_.size());
		input_ = make_buffer(c, in_, ranks_ * block_);
		from_left_ = make_buffer(c, received_.data(), received_.size());
		if (!sums_.empty())
			kept_ = make_buffer(c, sums_.data(), sums_.size());
	}

	void run() override
	{
		if (ranks_ == 1) {
			if (!in_place())
				memcpy(out_, in_, block_);
			return;
		}
		const size_t units = (ranks_ - 1) * segments_;
		const size_t early = std::min(ahead, segments_);
		for (size_t u = 0; u < std::min(ahead, units); u++)
			post(u);
		for (size_t u = 0; u < early; u++)
			pass_on(u);
		for (size_t u = 0; u < units; u++) {
			from_left_->waitRecv();
			sender(u)->waitSend();
			add(u);
			if (u + ahead < units)
				post(u + ahead);
			if (u + early < units)
				pass_on(u + early);
		}
	}

private:
	static constexpr size_t ahead = 4;
	static constexpr size_t largest = 1 << 20, smallest = 16 << 10;

	/* Whole elements; at least four segments of a block, where they do not get too small. */
	void choose_segment(size_t wanted)
	{
		if (!wanted)
			wanted = std::clamp((block_ + ahead - 1) / ahead, smallest, largest);
		segment_ = std::min(std::max(wanted / element_ * element_, element_), block_);
		segments_ = (block_ + segment_ - 1) / segment_;
	}

	bool in_place() const { return in_ == out_; }
	size_t offset(size_t u) const { return u % segments_ * segment_; }
	size_t bytes(size_t u) const { return std::min(segment_, block_ - offset(u)); }
	size_t block_sent(size_t u) const { return (rank_ + 2 * ranks_ - 1 - u / segments_) % ranks_; }
	size_t block_received(size_t u) const { return (rank_ + 2 * ranks_ - 2 - u / segments_) % ranks_; }

	gloo::transport::UnboundBuffer *sender(size_t u) const
	{
		return u < segments_ || in_place_ ? input_.get() : kept_.get();
	}

	void post(size_t u) { from_left_->recv(left_, reduce_scatter_slot, u % ahead * segment_, bytes(u)); }

	void pass_on(size_t u)
	{
		const size_t at = sender(u) == input_.get() ? block_sent(u) * block_ + offset(u) : offset(u);
		sender(u)->send(right_, reduce_scatter_slot, at, bytes(u));
	}

	/* Combines what has come with this rank's own input: for the right neighbour, or in the last step as the result. */
	void add(size_t u)
	{
		const char *own = in_ + block_received(u) * block_ + offset(u);
		char *to = sums_.data() + offset(u);
		if (u / segments_ == ranks_ - 2)
			to = out_ + offset(u);
		else if (in_place_)
			to = out_ + block_received(u) * block_ + offset(u);
		combine_(to, received_.data() + u % ahead * segment_, own, bytes(u) / element_);
	}

	const size_t rank_, ranks_;
	const int left_, right_;
	const size_t element_, block_;
	size_t segment_ = 0, segments_ = 0;
	const reduce_function combine_;
	const char *in_;
	char *out_;
	bool in_place_ = false;
	std::vector<char> received_, sums_;
	Buffer input_, kept_, from_left_;
};

/* Every rank sends to the next one and receives from the one before. */
class Shift final : public Call {
public:
	Shift(busbar_gloo_context &c, const char *send, char *recv, size_t bytes)
		: left_((c.rank + c.size - 1) % c.size), right_((c.rank + 1) % c.size), alone_(c.size == 1),
		  from_(send), to_(recv), bytes_(bytes), in_(make_buffer(c, send, bytes)), out_(make_buffer(c, recv, bytes))
	{
	}

	void run() override
	{
		if (alone_) {
			memcpy(to_, from_, bytes_);
			return;
		}
		out_->recv(left_, shift_slot);
		in_->send(right_, shift_slot);
		out_->waitRecv();
		in_->waitSend();
	}

private:
	const int left_, right_;
	const bool alone_;
	const char *from_;
	char *to_;
	const size_t bytes_;
	Buffer in_, out_;
};

} // namespace

std::unique_ptr<Call> ring_reduce_scatter(busbar_gloo_context &c, const busbar_gloo_spec &s, const char *send, char *recv,
					  int64_t &scratch)
{
	return std::make_unique<ReduceScatter>(c, s, send, recv, scratch);
}

std::unique_ptr<Call> ring_shift(busbar_gloo_context &c, const char *send, char *recv, size_t bytes)
{
	return std::make_unique<Shift>(c, send, recv, bytes);
}
