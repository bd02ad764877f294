/* The host's identity, addresses and clock. */
#include "inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void pause_for(int64_t ns)
{
	struct timespec left = {ns / 1000000000, ns % 1000000000};
	while (ns > 0 && nanosleep(&left, &left) && errno == EINTR)
		;
}

static uint64_t mix(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return (h ^ '/') * 0x100000001b3u;
}

static uint64_t this_boot(void)
{
	char text[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f) {
		if (!fgets(text, sizeof text, f))
			text[0] = 0;
		fclose(f);
	}
	return mix(0xcbf29ce484222325u, text);
}

/* Whether NCCL_SOCKET_IFNAME allows the interface: a list of prefixes; "^" excludes them. */
static int allowed(const char *name)
{
	const char *set = getenv("NCCL_SOCKET_IFNAME"), *at = set;
	if (!set || !*set)
		return strncmp(name, "docker", 6) != 0 && strncmp(name, "virbr", 5) != 0;
	const int unless = *at == '^';
	for (at += unless || *at == '='; *at; at += *at == ',') {
		const size_t n = strcspn(at, ",");
		if (n && !strncmp(name, at, n))
			return !unless;
		at += n;
	}
	return unless;
}

void place_here(struct place *p)
{
	char name[256] = "", space[64] = "";
	const char *id = getenv("NCCL_HOSTID");
	struct ifaddrs *all = NULL;
	memset(p, 0, sizeof *p);
	if (gethostname(name, sizeof name - 1) || readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
		space[0] = 0;
	p->host = id && *id ? mix(0, id) : mix(this_boot(), name);
	p->machine = mix(mix(this_boot(), space), id ? id : "");
	if (!getifaddrs(&all))
		for (struct ifaddrs *a = all; a && p->count < ADDRESSES - 1; a = a->ifa_next)
			if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET && a->ifa_flags & IFF_UP &&
			    !(a->ifa_flags & IFF_LOOPBACK) && allowed(a->ifa_name))
				p->address[p->count++] = ((struct sockaddr_in *)a->ifa_addr)->sin_addr.s_addr;
	if (all)
		freeifaddrs(all);
	p->address[p->count++] = htonl(INADDR_LOOPBACK);
}

int listen_here(struct place *p)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t n = sizeof a;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	place_here(p);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&a, n) || listen(fd, 4096) ||
			getsockname(fd, (struct sockaddr *)&a, &n))) {
		close(fd);
		return -1;
	}
	p->port = a.sin_port;
	return fd;
}

/* Connects to one address, with a timeout of two seconds. */
static int try(uint32_t address, uint16_t port, const _Atomic int *aborted)
{
	const struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = port, .sin_addr = {address}};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = {fd, POLLOUT, 0};
	int error = 0, ready = 0;
	socklen_t n = sizeof error;
	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&a, sizeof a) && errno == EINPROGRESS)
		for (int tries = 0; tries < 100 && !ready && !atomic_load(aborted); tries++)
			ready = poll(&p, 1, 20) > 0;
	/* A pending connection has no peer yet. */
	struct sockaddr_in peer;
	socklen_t m = sizeof peer;
	if (!getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) && !error && !getpeername(fd, (struct sockaddr *)&peer, &m))
		return fd;
	close(fd);
	return -1;
}

int reach(const struct place *p, const _Atomic int *aborted)
{
	struct place here;
	int fd = -1;
	place_here(&here);
	/* The loopback works only on this host; it comes last in the list. */
	if (here.machine == p->machine)
		fd = try(p->address[p->count - 1], p->port, aborted);
	for (int i = 0; fd < 0 && i < p->count; i++)
		fd = try(p->address[i], p->port, aborted);
	return fd;
}

/* A thread with signals blocked: signals must reach the program's own threads only. */
int start_thread(void *(*run)(void *), void *context, pthread_t *out)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	if (!out)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	const int rc = pthread_create(out ? out : &thread, &attributes, run, context);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}
