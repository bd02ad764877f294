/* The shim without Go, for the sanitizers: ranks are threads of one process, each with a context of its own. Every
 * kind, type, reduction and placement runs with small counts, and all that goes wrong. */
#include "../shim.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

extern "C" const struct busbar_gloo busbar_gloo;

/* Gloo forgets the list of interfaces where it finds none of the name. */
extern "C" const char *__lsan_default_suppressions();
extern "C" const char *__lsan_default_suppressions() { return "leak:CreateDeviceAttr\n"; }

namespace {

const auto &t = busbar_gloo;

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                  \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

class Barrier {
public:
	explicit Barrier(int n) : n_(n) {}
	void wait()
	{
		std::unique_lock<std::mutex> only(lock_);
		const int round = round_;
		if (++here_ == n_) {
			here_ = 0;
			round_++;
			all_.notify_all();
		} else {
			all_.wait(only, [&] { return round_ != round; });
		}
	}

private:
	const int n_;
	int here_ = 0, round_ = 0;
	std::mutex lock_;
	std::condition_variable all_;
};

struct Rank {
	busbar_gloo_context *c;
	int rank, size;
	Barrier &barrier;
};

/* Runs work on n connected ranks. */
void group(int n, int64_t timeout_ms, const std::function<void(Rank &)> &work)
{
	Barrier barrier(n);
	const size_t each = busbar_gloo_context::address_bytes;
	std::vector<std::vector<char>> told(static_cast<size_t>(n), std::vector<char>(each * static_cast<size_t>(n)));
	std::vector<std::thread> threads;
	for (int rank = 0; rank < n; rank++)
		threads.emplace_back([&, rank] {
			busbar_gloo_create how{};
			how.rank = rank;
			how.size = n;
			how.interface = "lo";
			how.connect_ms = 20000;
			how.timeout_ms = timeout_ms;
			busbar_gloo_context *c = nullptr;
			busbar_gloo_error e;
			CHECK(t.create(&how, &c, &e) == BUSBAR_GLOO_OK);
			CHECK(t.thread(c) > 0 && strstr(t.device(c), "iface=lo"));
			CHECK(t.addresses(c, told[static_cast<size_t>(rank)].data(), &e) == BUSBAR_GLOO_OK);
			barrier.wait();
			std::vector<char> mine;
			for (const auto &block : told) {
				const char *entry = block.data() + each * static_cast<size_t>(rank);
				mine.insert(mine.end(), entry, entry + each);
			}
			CHECK(t.connect(c, mine.data(), &e) == BUSBAR_GLOO_OK);
			Rank r{c, rank, n, barrier};
			work(r);
			barrier.wait();
			t.destroy(c);
		});
	for (auto &thread : threads)
		thread.join();
}

int nothing(void *, uint64_t) { return 0; }

/* Buffers of ones: the sum shows whether every rank took part. */
void run(Rank &r, int kind, int type, int op, int in_place, int64_t count)
{
	const size_t bytes = static_cast<size_t>(count) * static_cast<size_t>(r.size) * element_bytes(type);
	std::vector<char> send(2 * bytes, 0), recv(2 * bytes, 0);
	for (size_t i = 0; i < 2 * bytes; i += element_bytes(type))
		send[i] = recv[i] = 1; /* the number one in whole numbers of this byte order, something small in others */
	busbar_gloo_spec s{};
	s.kind = kind;
	s.type = type;
	s.op = op;
	s.root = r.size - 1;
	s.in_place = in_place;
	s.aggregate = 2;
	s.send = send.data();
	s.recv = recv.data();
	s.count = count;
	s.slots = 2;
	s.send_stride = s.recv_stride = static_cast<int64_t>(bytes);
	s.segment = count > 100 ? 64 : 0;
	s.sync = nothing;
	busbar_gloo_prepared p;
	busbar_gloo_error e;
	CHECK(t.prepare(r.c, &s, &p, &e) == BUSBAR_GLOO_OK);
	CHECK(p.sync(p.operation, 0) == 0);
	CHECK(p.issue(p.operation, 0) == BUSBAR_GLOO_OK);
	t.release(p.operation);
	const bool result = kind != BUSBAR_REDUCE || r.rank == s.root;
	const bool reduces = kind == BUSBAR_ALL_REDUCE || kind == BUSBAR_REDUCE_SCATTER || kind == BUSBAR_REDUCE;
	if (type <= BUSBAR_UINT64 && result && count > 0)
		CHECK(recv[bytes] == (reduces && op == BUSBAR_SUM ? r.size : 1));
}

void everything(Rank &r)
{
	for (int kind = BUSBAR_ALL_REDUCE; kind <= BUSBAR_SEND_RECV; kind++)
		for (int type = BUSBAR_INT8; type <= BUSBAR_FLOAT64; type++)
			for (int op = BUSBAR_SUM; op <= BUSBAR_AVG; op++)
				for (int in_place = 0; in_place < 2; in_place++) {
					if (in_place && (kind == BUSBAR_ALL_TO_ALL || kind == BUSBAR_SEND_RECV))
						continue;
					if (op != BUSBAR_SUM && kind != BUSBAR_ALL_REDUCE && kind != BUSBAR_REDUCE_SCATTER && kind != BUSBAR_REDUCE)
						continue;
					for (int64_t count : {0, 1, 301})
						run(r, kind, type, op, in_place, count);
				}
}

struct Prepared {
	explicit Prepared(Rank &r, int kind, int64_t count)
		: memory(static_cast<size_t>(count * r.size))
	{
		busbar_gloo_spec s{};
		s.kind = kind;
		s.type = BUSBAR_UINT8;
		s.op = BUSBAR_SUM;
		s.in_place = s.aggregate = 1;
		s.slots = 1;
		s.recv = memory.data();
		s.count = count;
		busbar_gloo_error e;
		CHECK(t.prepare(r.c, &s, &p, &e) == BUSBAR_GLOO_OK && p.sync == nullptr);
	}
	~Prepared() { t.release(p.operation); }
	int until_it_fails()
	{
		int status = 0;
		for (uint64_t i = 0; i < 100000 && !status; i++)
			status = p.issue(p.operation, i);
		return status;
	}
	std::vector<char> memory;
	busbar_gloo_prepared p;
};

void rest(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

/* Rank 0 is interrupted while all are busy; the others lose a connection. */
void interrupted(Rank &r, int kind, int64_t count)
{
	Prepared o(r, kind, count);
	std::thread later;
	if (r.rank == 0)
		later = std::thread([&] {
			rest(50);
			t.interrupt(r.c);
		});
	const int status = o.until_it_fails();
	busbar_gloo_error e;
	t.last_error(r.c, &e);
	CHECK(e.status == status && status == (r.rank == 0 ? BUSBAR_GLOO_INTERRUPTED : BUSBAR_GLOO_LOST));
	CHECK(r.rank == 0 || (e.peer >= 0 && e.peer != r.rank && e.text[0]));
	if (later.joinable())
		later.join();
}

void late(Rank &r)
{
	Prepared o(r, BUSBAR_ALL_REDUCE, 1000);
	if (r.rank == 1)
		rest(1000);
	const int status = o.p.issue(o.p.operation, 0);
	busbar_gloo_error e;
	t.last_error(r.c, &e);
	CHECK(status == (r.rank == 0 ? BUSBAR_GLOO_TIMEOUT : BUSBAR_GLOO_LOST) && e.peer == 1 - r.rank);
}

void refused()
{
	busbar_gloo_create how{};
	how.size = 1;
	how.interface = "nowhere0";
	busbar_gloo_context *c = nullptr;
	busbar_gloo_error e;
	CHECK(t.create(&how, &c, &e) == BUSBAR_GLOO_INVALID && !c && e.peer == -1 && strstr(e.text, "nowhere0"));
}

} // namespace

int main()
{
	signal(SIGPIPE, SIG_IGN);
	CHECK(t.abi == BUSBAR_GLOO_ABI && strstr(t.path(), "libgloo"));
	refused();
	for (int n : {1, 2, 3})
		group(n, 60000, everything);
	for (int64_t count : {100, 1 << 20, 64 << 20})
		for (int kind : {BUSBAR_ALL_REDUCE, BUSBAR_REDUCE_SCATTER, BUSBAR_BROADCAST})
			group(count > 1 << 20 ? 2 : 3, 60000, [&](Rank &r) { interrupted(r, kind, count); });
	group(2, 300, late);
	puts("gloo shim: ok");
}
