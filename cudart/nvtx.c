#include "nvtx.h"

#include <stddef.h>
#include <stdint.h>

typedef void (*function)(void);

/* The modules (core, CUDA, OpenCL, CUDA runtime, domains, synchronisation) and their numbers of functions, including
 * the unused number 0. A tool expects all modules; only ranges of the first are used here. */
enum { CORE = 1, MODULES = 7, MOST = 16 };
static const unsigned sizes[MODULES] = { 0, 16, 9, 15, 7, 16, 7 };
enum { RANGE_PUSH = 9, RANGE_POP = 11 };

static function functions[MODULES][MOST];
static function *tables[MODULES][MOST + 1];

static int module_functions(int module, function ***table, unsigned *size)
{
	if (module < CORE || module >= MODULES)
		return 0;
	for (unsigned i = 1; i < sizes[module]; i++)
		tables[module][i] = &functions[module][i];
	if (table)
		*table = tables[module];
	if (size)
		*size = sizes[module];
	return 1;
}

static void tool_version(uint32_t version) { (void)version; }

static const struct { size_t bytes; int (*get)(int, function ***, unsigned *); } callbacks = { sizeof callbacks, module_functions };
static const struct { size_t bytes; uint32_t version, reserved; void (*set)(uint32_t); } version = { sizeof version, 3, 0, tool_version };

static const void *export(uint32_t id)
{
	enum { CALLBACKS = 1, VERSION = 3 };
	return id == CALLBACKS ? (const void *)&callbacks : id == VERSION ? (const void *)&version : NULL;
}

int busbar_nvtx_start(void *initialize)
{
	return ((int (*)(const void *(*)(uint32_t)))initialize)(export);
}

int busbar_nvtx_push(const char *name)
{
	int (*push)(const char *) = (int (*)(const char *))functions[CORE][RANGE_PUSH];
	return push ? push(name) : -1;
}

int busbar_nvtx_pop(void)
{
	int (*pop)(void) = (int (*)(void))functions[CORE][RANGE_POP];
	return pop ? pop() : -1;
}
