/* Operations for tests of programs: each enqueues an amount of work on the stream of its work, or fails. The test
 * fills the table. */
#include <stdint.h>

struct op {
	int (*start)(void *context, uint64_t amount);
	void *context;
	uint64_t amount;
	int64_t code;
};
struct op ops[16];

int issue(void *op, uint64_t i)
{
	struct op *o = op;
	(void)i;
	return o->code ? (int)o->code : o->start(o->context, o->amount);
}
