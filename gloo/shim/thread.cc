/* The thread that Gloo starts for each device: it reads and writes the sockets, and every operation waits for it. It
 * inherits what the thread that makes the device has: signals, name, CPUs. */
#include "shim.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <sys/prctl.h>
#include <system_error>

namespace {

const char thread_name[] = "busbar-gloo"; /* as top -H shows it; 15 characters at most */

class BorrowedName {
public:
	BorrowedName()
	{
		prctl(PR_GET_NAME, before_);
		prctl(PR_SET_NAME, thread_name);
	}
	~BorrowedName() { prctl(PR_SET_NAME, before_); }

private:
	char before_[16] = {};
};

std::set<int> threads()
{
	std::set<int> ids;
	DIR *d = opendir("/proc/self/task");
	if (!d)
		return ids;
	while (const dirent *e = readdir(d))
		if (int id = atoi(e->d_name))
			ids.insert(id);
	closedir(d);
	return ids;
}

bool has_name(int id)
{
	char path[64], name[32] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	bool same = fgets(name, sizeof name, f) && strncmp(name, thread_name, strlen(thread_name)) == 0;
	fclose(f);
	return same;
}

/* Other threads may have come meanwhile, but only this one has the name. */
int newcomer(const std::set<int> &before)
{
	int self = static_cast<int>(gettid());
	for (int id : threads())
		if (id != self && !before.count(id) && has_name(id))
			return id;
	return 0;
}

void place(int thread, const busbar_gloo_create &how)
{
	if (how.cpus > 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		for (int i = 0; i < how.cpus; i++) {
			if (how.cpu[i] < 0 || how.cpu[i] >= CPU_SETSIZE)
				throw std::invalid_argument("CPU " + std::to_string(how.cpu[i]) + " is beyond what sched_setaffinity takes");
			CPU_SET(how.cpu[i], &set);
		}
		if (sched_setaffinity(thread, sizeof set, &set) != 0)
			throw std::system_error(errno, std::generic_category(), "binding Gloo's thread to its CPUs");
	}
}

} // namespace

BlockedSignals::BlockedSignals()
{
	sigset_t all;
	sigfillset(&all);
	int rc = pthread_sigmask(SIG_BLOCK, &all, &before_);
	if (rc)
		throw std::system_error(rc, std::generic_category(), "blocking signals");
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::shared_ptr<gloo::transport::Device> make_device(const busbar_gloo_create &how, int &thread)
{
	static std::mutex one; /* two at once could confuse their threads */
	std::lock_guard<std::mutex> only(one);
	gloo::transport::tcp::attr a;
	if (how.interface)
		a.iface = how.interface;
	else if (how.address)
		a.hostname = how.address;
	std::shared_ptr<gloo::transport::Device> device;
	{
		const std::set<int> before = threads();
		BlockedSignals signals;
		BorrowedName name;
		device = gloo::transport::tcp::CreateDevice(a);
		thread = newcomer(before);
	}
	if (how.cpus > 0 && thread == 0)
		throw std::runtime_error("Gloo's thread is not to be found in /proc/self/task, so it cannot be bound");
	if (thread)
		place(thread, how);
	return device;
}
