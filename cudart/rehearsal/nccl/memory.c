/* Reductions with a factor, memory, and its registration, which changes nothing here but is checked. */
#include "inside.h"

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

nccl_result ncclMemAlloc(void **out, size_t bytes)
{
	struct busbar_rehearsal_device device;
	cuda_pointer p;
	if (!out || !bytes)
		return fail(INVALID_ARGUMENT, "MemAlloc : invalid size or pointer");
	cuda_result rc = busbar_rehearsal_device(&device);
	if (rc || (rc = allocate(&p, bytes)))
		return fail(CUDA_FAILED, "Cuda failure %d '%s'", rc, rc == CUDA_OUT_OF_MEMORY ? "out of memory" : "no device");
	*out = (void *)p;
	return OK;
}

nccl_result ncclMemFree(void *p)
{
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
	if (!(r = malloc(sizeof *r)))
		return fail(SYSTEM_ERROR, "out of memory");
	*r = (struct registration){c, window};
	*out = r;
	return OK;
}

static nccl_result dismiss(nccl_comm c, void *handle, int window)
{
	struct registration *r = handle;
	if (!r)
		return OK;
	if (r->comm != c || r->window != window)
		return fail(INVALID_ARGUMENT, "the registration is of another kind or communicator");
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
	return enrol(c, p, bytes, out, 1);
}
