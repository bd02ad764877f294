/* Device memory and pinned host memory: both are pages of this process. */
#include "driver.h"

#include <stdlib.h>
#include <sys/mman.h>

struct block {
	struct block *next;
	uintptr_t start;
	size_t bytes, mapped;
	cuda_context device; /* NULL: the host's */
};

static struct block *blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cuda_result map(cuda_context device, size_t bytes, uintptr_t *out)
{
	const size_t mapped = (bytes + 4095) / 4096 * 4096;
	cuda_result rc = CUDA_OUT_OF_MEMORY;
	struct block *b = malloc(sizeof *b);
	if (!bytes) {
		free(b);
		return INVALID_VALUE;
	}
	pthread_mutex_lock(&lock);
	if (b && mapped >= bytes && (!device || mapped <= device->bytes - device->used)) {
		void *p = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED) {
			*b = (struct block){blocks, (uintptr_t)p, bytes, mapped, device};
			blocks = b;
			if (device)
				device->used += mapped;
			*out = b->start;
			rc = CUDA_OK;
			b = NULL;
		}
	}
	pthread_mutex_unlock(&lock);
	free(b);
	return rc;
}

/* Frees the block at start, or, with a device and no start, the device's first block. */
static cuda_result unmap(cuda_context device, uintptr_t start, int host)
{
	cuda_result rc = INVALID_VALUE;
	pthread_mutex_lock(&lock);
	for (struct block **at = &blocks; *at; at = &(*at)->next) {
		struct block *b = *at;
		if (start ? b->start != start || (b->device == NULL) != host : b->device != device)
			continue;
		if (b->device)
			b->device->used -= b->mapped;
		munmap((void *)b->start, b->mapped);
		*at = b->next;
		free(b);
		rc = CUDA_OK;
		break;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static struct block find(uintptr_t p, size_t bytes)
{
	struct block found = {0};
	pthread_mutex_lock(&lock);
	for (struct block *b = blocks; b; b = b->next)
		if (p >= b->start && p - b->start <= b->bytes && bytes <= b->bytes - (p - b->start)) {
			found = *b;
			break;
		}
	pthread_mutex_unlock(&lock);
	return found;
}

int busbar_rehearsal_owns(const void *p, size_t bytes) { return find((uintptr_t)p, bytes).bytes != 0; }
int is_device_memory(cuda_pointer p, size_t bytes) { return find(p, bytes).device != NULL; }

int is_pinned(const void *p, size_t bytes)
{
	const struct block b = find((uintptr_t)p, bytes);
	return b.bytes && !b.device;
}

void release_memory(cuda_context c)
{
	while (!unmap(c, 0, 0))
		;
}

cuda_result rehearse_memory_alloc(cuda_pointer *out, size_t bytes)
{
	cuda_context c;
	uintptr_t p;
	cuda_result rc = current(&c);
	if (!rc && !(rc = map(c, bytes, &p)))
		*out = p;
	return rc;
}

/* As the driver does, waits for work in progress, which may use the memory. */
cuda_result rehearse_memory_free(cuda_pointer p)
{
	const cuda_result rc = p ? rehearse_context_synchronize() : CUDA_OK;
	return rc || !p ? rc : unmap(NULL, p, 0);
}

cuda_result rehearse_host_alloc(void **out, size_t bytes, unsigned flags)
{
	cuda_context c;
	uintptr_t p;
	cuda_result rc = flags & ~7u ? INVALID_VALUE : current(&c);
	if (!rc && !(rc = map(NULL, bytes, &p)))
		*out = (void *)p;
	return rc;
}

cuda_result rehearse_host_free(void *p) { return p ? unmap(NULL, (uintptr_t)p, 1) : INVALID_VALUE; }

cuda_result rehearse_memory_info(size_t *available, size_t *total)
{
	cuda_context c;
	const cuda_result rc = current(&c);
	if (rc)
		return rc;
	pthread_mutex_lock(&lock);
	*total = c->bytes;
	*available = c->bytes - c->used;
	pthread_mutex_unlock(&lock);
	return CUDA_OK;
}
