/* Reductions with a factor, memory, and its registration, which is checked but has no effect. */
#include "inside.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

nccl_result ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, nccl_comm c)
{
	const nccl_result rc = comm_ready(c);
	if (rc)
		return rc;
	if (!op || !scalar || type < 0 || type >= TYPES || residence < 0 || residence > 1)
		return fail(INVALID_ARGUMENT, "RedOpCreatePreMulSum : an argument is NULL or out of range");
	for (int i = 0; i < SCALARS; i++) {
		struct scalar *s = &c->scalars[i];
		if (s->used)
			continue;
		*s = (struct scalar){.used = 1, .type = type, .device = residence ? NULL : scalar};
		if (residence)
			memcpy(s->value, scalar, type_bytes(type));
		*op = FIRST_CREATED + i;
		return OK;
	}
	return fail(INVALID_USAGE, "RedOpCreatePreMulSum : more than %d operations", SCALARS);
}

nccl_result ncclRedOpDestroy(int op, nccl_comm c)
{
	const int i = op - FIRST_CREATED;
	if (!c || i < 0 || i >= SCALARS || !c->scalars[i].used)
		return fail(INVALID_ARGUMENT, "RedOpDestroy : operator unknown to communicator");
	c->scalars[i].used = 0;
	return OK;
}

extern cuda_result allocate(cuda_pointer *, size_t) __asm__("cuMemAlloc_v2");
extern cuda_result release(cuda_pointer) __asm__("cuMemFree_v2");

/* Memory from ncclMemAlloc: only this memory has handles, which a window requires. */
struct handed {
	struct handed *next;
	uintptr_t at;
	size_t bytes;
};

static struct handed *all_handed;
static pthread_mutex_t handed_lock = PTHREAD_MUTEX_INITIALIZER;

static nccl_result hand_out(uintptr_t at, size_t bytes)
{
	struct handed *h = malloc(sizeof *h);
	if (!h)
		return fail(SYSTEM_ERROR, "out of memory");
	*h = (struct handed){.at = at, .bytes = bytes};
	pthread_mutex_lock(&handed_lock);
	h->next = all_handed;
	all_handed = h;
	pthread_mutex_unlock(&handed_lock);
	return OK;
}

static void take_back(uintptr_t at)
{
	struct handed *gone = NULL;
	pthread_mutex_lock(&handed_lock);
	for (struct handed **h = &all_handed; *h; h = &(*h)->next)
		if ((*h)->at == at) {
			gone = *h;
			*h = gone->next;
			break;
		}
	pthread_mutex_unlock(&handed_lock);
	free(gone);
}

static int was_handed_out(uintptr_t at, size_t bytes)
{
	int found = 0;
	pthread_mutex_lock(&handed_lock);
	for (const struct handed *h = all_handed; h && !found; h = h->next)
		found = at >= h->at && at - h->at <= h->bytes && bytes <= h->bytes - (at - h->at);
	pthread_mutex_unlock(&handed_lock);
	return found;
}

nccl_result ncclMemAlloc(void **out, size_t bytes)
{
	struct busbar_rehearsal_device device;
	cuda_pointer p;
	if (!out || !bytes)
		return fail(INVALID_ARGUMENT, "MemAlloc : invalid size or pointer");
	cuda_result rc = busbar_rehearsal_device(&device);
	if (rc || (rc = allocate(&p, bytes)))
		return fail(CUDA_FAILED, "Cuda failure %d '%s'", rc, rc == CUDA_OUT_OF_MEMORY ? "out of memory" : "no device");
	const nccl_result kept = hand_out((uintptr_t)p, bytes);
	if (kept) {
		release(p);
		return kept;
	}
	*out = (void *)p;
	return OK;
}

nccl_result ncclMemFree(void *p)
{
	take_back((uintptr_t)p); /* before the address is reused */
	if (p && release((cuda_pointer)p))
		return fail(INVALID_ARGUMENT, "MemFree : the pointer is none of ncclMemAlloc's");
	return OK;
}

struct registration {
	nccl_comm comm;
	int window;
};

static nccl_result enrol(nccl_comm c, void *p, size_t bytes, void **out, int window)
{
	struct registration *r;
	const nccl_result rc = comm_ready(c);
	if (rc)
		return rc;
	if (!out || !p || !bytes || !busbar_rehearsal_owns(p, bytes))
		return fail(INVALID_ARGUMENT, "a buffer to register is not, or not in whole, memory of a device");
	if (window && (uintptr_t)p % 4096)
		return fail(INVALID_ARGUMENT, "a window starts at a multiple of 4096");
	if (window && !was_handed_out((uintptr_t)p, bytes)) /* the driver has no handle for memory from cuMemAlloc */
		return fail(CUDA_FAILED, "Cuda failure 1 'invalid argument'");
	if (!(r = malloc(sizeof *r)))
		return fail(SYSTEM_ERROR, "out of memory");
	*r = (struct registration){c, window};
	*out = r;
	return OK;
}

/* Registering a window is collective; before 2.30 each rank maps the others' memory with its own length. */
static nccl_result alike(nccl_comm c, size_t bytes)
{
	size_t *all = calloc((size_t)c->ranks, sizeof *all);
	nccl_result rc = all ? control_round(c, &bytes, sizeof bytes, all) : fail(SYSTEM_ERROR, "out of memory");
	for (int i = 0; i < c->ranks && !rc; i++)
		if (!all[i] || (all[i] != bytes && reported_version() < 23000))
			rc = fail(CUDA_FAILED, "Cuda failure 1 'invalid argument'");
	free(all);
	return rc;
}

static nccl_result dismiss(nccl_comm c, void *handle, int window)
{
	struct registration *r = handle;
	if (!r && !window && reported_version() < 22300)
		return fail(INVALID_USAGE, "Deregister: Could not find handle");
	if (!r)
		return OK;
	if (r->comm != c || r->window != window)
		return fail(INVALID_USAGE, "Deregister: Could not find handle");
	free(r);
	return OK;
}

nccl_result ncclCommRegister(nccl_comm c, void *p, size_t bytes, void **out) { return enrol(c, p, bytes, out, 0); }
nccl_result ncclCommDeregister(nccl_comm c, void *handle) { return dismiss(c, handle, 0); }
nccl_result ncclCommWindowDeregister(nccl_comm c, void *window) { return dismiss(c, window, 1); }

nccl_result ncclCommWindowRegister(nccl_comm c, void *p, size_t bytes, void **out, int flags)
{
	if (flags & ~3)
		return fail(INVALID_ARGUMENT, "CommWindowRegister : unknown flags %d", flags);
	const nccl_result rc = enrol(c, p, bytes, out, 1);
	if (comm_ready(c))
		return rc;
	const nccl_result all = alike(c, rc ? 0 : bytes);
	if (!rc && all) {
		dismiss(c, *out, 1);
		*out = NULL;
	}
	return rc ? rc : all;
}
