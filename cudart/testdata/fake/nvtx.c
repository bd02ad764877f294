/* An NVTX tool for tests: it records its calls in fake_nvtx_log and declines a program with wrong tables. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

char fake_nvtx_log[256];

static int push(const char *name) { strcat(strcat(fake_nvtx_log, name), "("); return 0; }
static int pop(void) { strcat(fake_nvtx_log, ")"); return 0; }

typedef void (*function)(void);
struct callbacks { size_t bytes; int (*get)(int module, function ***table, unsigned *size); };
struct version { size_t bytes; uint32_t version, reserved; void (*set)(uint32_t); };

int InitializeInjectionNvtx2(const void *(*export)(uint32_t))
{
	static const unsigned sizes[] = { 16, 9, 15, 7, 16, 7 };
	const struct callbacks *c = export(1);
	const struct version *v = export(3);
	function **table;
	unsigned size;
	if (!c || c->bytes != 16 || !v || v->bytes != 24 || v->version != 3 || export(0) || export(2) || c->get(0, &table, &size) || c->get(7, &table, &size))
		return 0;
	v->set(3);
	for (int module = 1; module <= 6; module++) {
		if (!c->get(module, &table, &size) || size != sizes[module - 1] || table[0] || table[size])
			return 0;
		for (unsigned i = 1; i < size; i++)
			if (!table[i])
				return 0;
	}
	c->get(1, &table, NULL);
	*table[9] = (function)push;
	*table[11] = (function)pop;
	return 1;
}
