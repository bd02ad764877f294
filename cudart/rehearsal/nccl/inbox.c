/* Shared memory between ranks of one host: each rank owns an inbox with a ring for every sender. The memory has no
 * name, so the system frees it when a process dies; others open it through its owner's /proc entry. */
#include "inside.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static size_t head_bytes(const struct nccl_comm *c)
{
	const size_t bytes = sizeof(struct inbox) + (size_t)c->ranks * sizeof(struct ring);
	return (bytes + 4095) / 4096 * 4096;
}

static size_t all_bytes(const struct nccl_comm *c) { return head_bytes(c) + (size_t)c->ranks * c->ring_bytes; }

static char *data(const struct nccl_comm *c, struct inbox *box, int sender)
{
	return (char *)box + head_bytes(c) + (size_t)sender * c->ring_bytes;
}

static struct inbox *map(const struct nccl_comm *c, int fd)
{
	void *p = mmap(NULL, all_bytes(c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* Creates the rank's own inbox; 0, or -1. */
int inbox_open(struct nccl_comm *c, int *fd)
{
	*fd = memfd_create("busbar-rehearsal", MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, (off_t)all_bytes(c)) || !(c->inbox = map(c, *fd)))
		return -1;
	c->inbox->token = c->token;
	return 0;
}

/* Opens a peer's inbox; on failure TCP is used. */
void inbox_map(struct nccl_comm *c, int peer, int pid, int fd)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
	const int theirs = open(path, O_RDWR | O_CLOEXEC);
	if (theirs < 0)
		return;
	if (lseek(theirs, 0, SEEK_END) == (off_t)all_bytes(c) && (c->links[peer].theirs = map(c, theirs)) &&
	    c->links[peer].theirs->token != c->token)
		inbox_drop(c, peer);
	close(theirs);
}

void inbox_drop(struct nccl_comm *c, int peer)
{
	if (c->links[peer].theirs)
		munmap(c->links[peer].theirs, all_bytes(c));
	c->links[peer].theirs = NULL;
}

void inbox_close(struct nccl_comm *c)
{
	for (int i = 0; c->links && i < c->ranks; i++)
		inbox_drop(c, i);
	if (c->inbox)
		munmap(c->inbox, all_bytes(c));
}

static void futex(_Atomic uint32_t *word, int what, uint32_t value, const struct timespec *patience)
{
	syscall(SYS_futex, word, what, value, patience, NULL, 0);
}

void inbox_ring(struct inbox *box)
{
	atomic_fetch_add(&box->bell, 1);
	if (atomic_load(&box->asleep))
		futex(&box->bell, FUTEX_WAKE, INT_MAX, NULL);
}

/* Sleeps until the bell rings after the given reading. */
void inbox_sleep(struct inbox *box, uint32_t bell, int64_t ns)
{
	const struct timespec patience = {ns / 1000000000, ns % 1000000000};
	atomic_store(&box->asleep, 1);
	if (atomic_load(&box->bell) == bell)
		futex(&box->bell, FUTEX_WAIT, bell, &patience);
	atomic_store(&box->asleep, 0);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Copies what fits, at most a quarter of the ring, so that the receiver works in parallel. */
uint64_t inbox_push(struct nccl_comm *c, int peer, const void *from, uint64_t bytes)
{
	struct inbox *box = c->links[peer].theirs;
	struct ring *r = &box->rings[c->rank];
	char *ring = data(c, box, c->rank);
	const uint64_t size = c->ring_bytes, at = atomic_load_explicit(&r->written, memory_order_relaxed);
	const uint64_t room = size - (at - atomic_load_explicit(&r->read, memory_order_acquire));
	const uint64_t n = least(least(bytes, room), size / 4), first = least(n, size - at % size);
	if (!n)
		return 0;
	memcpy(ring + at % size, from, first);
	memcpy(ring, (const char *)from + first, n - first);
	atomic_store_explicit(&r->written, at + n, memory_order_release);
	inbox_ring(box);
	return n;
}

uint64_t inbox_pull(struct nccl_comm *c, int peer, void *to, uint64_t bytes)
{
	struct ring *r = &c->inbox->rings[peer];
	const char *ring = data(c, c->inbox, peer);
	const uint64_t size = c->ring_bytes, at = atomic_load_explicit(&r->read, memory_order_relaxed);
	const uint64_t there = atomic_load_explicit(&r->written, memory_order_acquire) - at;
	const uint64_t n = least(least(bytes, there), size / 4), first = least(n, size - at % size);
	if (!n)
		return 0;
	memcpy(to, ring + at % size, first);
	memcpy((char *)to + first, ring, n - first);
	atomic_store_explicit(&r->read, at + n, memory_order_release);
	inbox_ring(c->links[peer].theirs);
	return n;
}
