/* Copies and memset, executed by the stream's thread. As with the driver, host memory that is not pinned is read
 * before the call returns and written before it returns. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

struct copy {
	void *to;
	const void *from; /* NULL: set to value */
	size_t bytes;
	int value;
};

static void run(void *context)
{
	const struct copy *c = context;
	if (c->from)
		memmove(c->to, c->from, c->bytes);
	else
		memset(c->to, c->value, c->bytes);
}

/* staged: read the source now. */
static cuda_result start(cuda_stream s, struct copy c, int staged)
{
	struct copy *mine;
	if (!c.bytes)
		return CUDA_OK;
	mine = malloc(sizeof *mine + (staged ? c.bytes : 0));
	if (!mine)
		return CUDA_OUT_OF_MEMORY;
	*mine = c;
	if (staged)
		mine->from = memcpy(mine + 1, c.from, c.bytes);
	const cuda_result rc = enqueue(s, (struct busbar_rehearsal_work){run, free, mine}, NULL);
	if (rc)
		free(mine);
	return rc;
}

cuda_result rehearse_copy_to_device(cuda_pointer to, const void *from, size_t bytes, cuda_stream s)
{
	const cuda_result rc = find_stream(&s);
	if (rc || !is_device_memory(to, bytes) || !from)
		return rc ? rc : INVALID_VALUE;
	return start(s, (struct copy){.to = (void *)to, .from = from, .bytes = bytes}, !is_pinned(from, bytes));
}

cuda_result rehearse_copy_to_host(void *to, cuda_pointer from, size_t bytes, cuda_stream s)
{
	cuda_result rc = find_stream(&s);
	if (rc || !is_device_memory(from, bytes) || !to)
		return rc ? rc : INVALID_VALUE;
	rc = start(s, (struct copy){.to = to, .from = (const void *)from, .bytes = bytes}, 0);
	return rc || is_pinned(to, bytes) ? rc : rehearse_stream_synchronize(s);
}

cuda_result rehearse_copy_on_device(cuda_pointer to, cuda_pointer from, size_t bytes, cuda_stream s)
{
	const cuda_result rc = find_stream(&s);
	if (rc || !is_device_memory(from, bytes) || !is_device_memory(to, bytes))
		return rc ? rc : INVALID_VALUE;
	return start(s, (struct copy){.to = (void *)to, .from = (const void *)from, .bytes = bytes}, 0);
}

cuda_result rehearse_set_bytes(cuda_pointer to, unsigned char value, size_t count, cuda_stream s)
{
	const cuda_result rc = find_stream(&s);
	if (rc || !is_device_memory(to, count))
		return rc ? rc : INVALID_VALUE;
	return start(s, (struct copy){.to = (void *)to, .bytes = count, .value = value}, 0);
}
