/* Contexts: made in steps around an exchange of addresses that the caller does by its own means, and broken in a way
 * that names the rank. */
#include "shim.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

#include <gloo/common/error.h>
#include <gloo/common/logging.h>
#include <gloo/transport/tcp/pair.h>
#include <gloo/transport/tcp/unbound_buffer.h>

using std::chrono::milliseconds;
namespace tcp = gloo::transport::tcp;

namespace {

std::string text_of(const std::exception_ptr &e)
{
	try {
		std::rethrow_exception(e);
	} catch (const std::exception &x) {
		return x.what();
	} catch (...) {
		return "an exception without a text";
	}
}

bool has(const std::string &text, const char *word) { return text.find(word) != std::string::npos; }

/* Opens UnboundBuffer::signalException, with which Gloo's own pairs wake who waits for a buffer. */
struct Waiter : tcp::UnboundBuffer {
	static void wake(tcp::UnboundBuffer &b, const std::exception_ptr &why)
	{
		(b.*static_cast<void (tcp::UnboundBuffer::*)(std::exception_ptr)>(&Waiter::signalException))(why);
	}
};

} // namespace

/* A pair that reports when it breaks, and wakes waiters that Gloo forgets: those of the message that is being read,
 * or of one that is being written. Without this a rank whose peer dies in the middle of a message waits for ever. */
class busbar_gloo_context::Pair final : public tcp::Pair {
public:
	Pair(tcp::Context *t, tcp::Device *d, int peer, milliseconds timeout, busbar_gloo_context &c)
		: tcp::Pair(t, d, peer, timeout), c_(c)
	{
	}

protected:
	void changeState(state next) noexcept override
	{
		if (next == CLOSED && state_ != CLOSED && ex_) {
			bool awaited = !localPendingRecv_.empty() || !localPendingSend_.empty();
			awaited |= wake(rx_);
			for (const tcp::Op &op : tx_)
				awaited |= wake(op);
			try {
				c_.pair_closed(rank_, text_of(ex_), awaited);
			} catch (...) { /* no memory for the text */
			}
		}
		tcp::Pair::changeState(next);
	}

private:
	/* Whether a thread waits for the message, a part of which is read or written. */
	bool wake(const tcp::Op &op)
	{
		gloo::NonOwningPtr<tcp::UnboundBuffer> buffer(op.ubuf);
		if (buffer)
			Waiter::wake(*buffer.operator->(), ex_);
		return static_cast<bool>(buffer);
	}

	busbar_gloo_context &c_;
};

class busbar_gloo_context::Transport final : public tcp::Context {
public:
	Transport(const std::shared_ptr<tcp::Device> &d, busbar_gloo_context &c) : tcp::Context(d, c.rank, c.size), c_(c) {}

	std::unique_ptr<gloo::transport::Pair> &createPair(int peer) override
	{
		pairs_[static_cast<size_t>(peer)].reset(new Pair(this, device_.get(), peer, getTimeout(), c_));
		return pairs_[static_cast<size_t>(peer)];
	}

	void break_all(const char *why) { signalException(why); }

private:
	busbar_gloo_context &c_;
};

busbar_gloo_context::busbar_gloo_context(const busbar_gloo_create &how)
	: gloo::Context(how.rank, how.size), shared(static_cast<gloo::Context *>(this), [](gloo::Context *) {}),
	  running_(how.timeout_ms)
{
	first_.peer = -1;
	device = make_device(how, thread);
	device_text = device->str();
	transport_ = std::make_shared<Transport>(std::static_pointer_cast<tcp::Device>(device), *this);
	/* Pairs keep the timeout that they are made with, for connecting, and wait five times as long. */
	transport_->setTimeout(std::max(milliseconds(how.connect_ms) / 5, milliseconds(1)));
	for (int i = 0; i < size; i++)
		if (i != rank)
			transport_->createPair(i);
	device_ = device;
	transportContext_ = transport_;
}

busbar_gloo_context::~busbar_gloo_context()
{
	try {
		closeConnections();
	} catch (...) { /* the sockets end them in any case */
	}
	if (breaker_.joinable())
		breaker_.join();
}

void busbar_gloo_context::addresses(char *out)
{
	memset(out, 0, address_bytes * static_cast<size_t>(size));
	for (int i = 0; i < size; i++) {
		if (i == rank)
			continue;
		const std::vector<char> bytes = transport_->getPair(i)->address().bytes();
		if (bytes.size() + 1 > address_bytes)
			throw std::length_error("an address of Gloo has " + std::to_string(bytes.size()) + " bytes, more than busbar expects");
		char *to = out + address_bytes * static_cast<size_t>(i);
		to[0] = static_cast<char>(bytes.size());
		memcpy(to + 1, bytes.data(), bytes.size());
	}
}

void busbar_gloo_context::connect(const char *all)
{
	for (int i = 0; i < size; i++) {
		if (i == rank)
			continue;
		const char *from = all + address_bytes * static_cast<size_t>(i);
		const auto length = static_cast<unsigned char>(from[0]);
		if (length == 0 || length >= address_bytes)
			throw std::invalid_argument("the address of rank " + std::to_string(i) + " is damaged");
		connecting_ = i;
		transport_->getPair(i)->connect(std::vector<char>(from + 1, from + 1 + length));
	}
	connecting_ = -1;
	setTimeout(running_);
	transport_->setTimeout(running_);
}

void busbar_gloo_context::interrupt()
{
	interrupted_ = true;
	transport_->break_all("interrupted");
}

void busbar_gloo_context::pair_closed(int peer, const std::string &why, bool awaited)
{
	std::lock_guard<std::mutex> only(lock_);
	if (interrupted_)
		return;
	/* After a timeout Gloo closes all pairs; the ones with something outstanding are those that were waited for. */
	if (has(why, "pplication timeout")) {
		if (awaited && awaited_ < 0)
			awaited_ = peer;
	} else if (lost_ < 0) {
		lost_ = peer;
		why_ = why;
		closed_.notify_all();
		break_others();
	}
}

/* Gloo does not wake a thread that waits for one rank when another rank dies. The thread would wait on, as it cannot do
 * without that rank. A closing pair holds its lock and must not take those of others, so a thread does it. */
void busbar_gloo_context::break_others()
{
	BlockedSignals signals;
	breaker_ = std::thread([t = transport_] {
		try {
			t->break_all("the connection to another rank broke");
		} catch (...) { /* the timeout is left */
		}
	});
}

int describe_exception(busbar_gloo_error &e) noexcept
{
	auto give = [&e](int status, const char *text) { return give_error(&e, status, -1, text); };
	try {
		throw;
	} catch (const gloo::IoException &x) {
		return give(strstr(x.what(), "imed out") || strstr(x.what(), "imeout") ? BUSBAR_GLOO_TIMEOUT : BUSBAR_GLOO_LOST,
			    x.what());
	} catch (const gloo::InvalidOperationException &x) {
		return give(BUSBAR_GLOO_INVALID, x.what());
	} catch (const gloo::EnforceNotMet &x) {
		return give(BUSBAR_GLOO_INVALID, x.what());
	} catch (const std::invalid_argument &x) {
		return give(BUSBAR_GLOO_INVALID, x.what());
	} catch (const std::bad_alloc &) {
		return give(BUSBAR_GLOO_MEMORY, "no memory");
	} catch (const std::exception &x) {
		return give(BUSBAR_GLOO_FAILED, x.what());
	} catch (...) {
		return give(BUSBAR_GLOO_FAILED, "an exception without a text");
	}
}

int give_error(busbar_gloo_error *e, int status, int peer, const char *text) noexcept
{
	e->status = status;
	e->peer = peer;
	snprintf(e->text, sizeof e->text, "%s", text);
	return status;
}

int busbar_gloo_context::failed() noexcept
{
	busbar_gloo_error now;
	describe_exception(now);
	try {
		std::unique_lock<std::mutex> only(lock_);
		if (first_.status)
			return first_.status;
		/* Gloo wakes waiters before the pair closes and reports its rank. */
		if (now.status == BUSBAR_GLOO_LOST && !interrupted_)
			closed_.wait_for(only, std::chrono::seconds(1), [this] { return lost_ >= 0 || interrupted_; });
		if (interrupted_)
			return give_error(&first_, BUSBAR_GLOO_INTERRUPTED, -1, "interrupted");
		if (now.status == BUSBAR_GLOO_LOST && lost_ >= 0)
			return give_error(&first_, now.status, lost_, why_.c_str());
		now.peer = connecting_ >= 0 ? connecting_ : now.status == BUSBAR_GLOO_TIMEOUT ? awaited_ : -1;
		first_ = now;
	} catch (...) { /* locking the mutex failed */
	}
	return now.status;
}

void busbar_gloo_context::last(busbar_gloo_error &e) const noexcept
{
	try {
		std::lock_guard<std::mutex> only(lock_);
		e = first_;
	} catch (...) {
		describe_exception(e);
	}
}
