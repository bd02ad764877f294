/* Arithmetic of float16 and bfloat16 in float, rounded to nearest, ties to even; and the division of averages. The
 * conversions have no branches, so that compilers can vectorise the loops. */
#include "shim.h"

#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

static inline float as_float(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline uint32_t as_bits(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

static inline float from_float16(uint16_t h)
{
	const uint32_t magnitude = h & 0x7fffu;
	const uint32_t subnormal = as_bits((float)(int32_t)magnitude * 0x1p-24f);
	const uint32_t normal = (magnitude << 13) + (112u << 23);
	const uint32_t special = (magnitude << 13) | 0x7f800000u; /* infinity and NaN */
	const uint32_t finite = magnitude < 0x0400u ? subnormal : normal;
	return as_float((magnitude < 0x7c00u ? finite : special) | (uint32_t)(h & 0x8000u) << 16);
}

static inline uint16_t to_float16(float f)
{
	const uint32_t bits = as_bits(f), magnitude = bits & 0x7fffffffu;
	/* Adding half aligns the last bit of a float with the last bit of a subnormal float16. */
	const uint32_t subnormal = as_bits(as_float(magnitude) + 0.5f) - as_bits(0.5f);
	const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
	const uint32_t finite = magnitude < 113u << 23 ? subnormal : normal;
	const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
	return (uint16_t)((magnitude < 143u << 23 ? finite : special) | (bits >> 16 & 0x8000u));
}

static inline float from_bfloat16(uint16_t h) { return as_float((uint32_t)h << 16); }

static inline uint16_t to_bfloat16(float f)
{
	const uint32_t bits = as_bits(f);
	const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
	return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 | 0x40u) : rounded);
}

/* All of them propagate NaN. */
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define MIN(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define MAX(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))

/* One function for MPI_Op_create and one for MPI_Op_create_c, whose count is an MPI_Count. */
#define COMBINE_COUNT(name, type, combine, count)                                                                      \
	static void name(void *in, void *inout, count *n, MPI_Datatype *unused)                                        \
	{                                                                                                              \
		const uint16_t *restrict x = in;                                                                       \
		uint16_t *restrict y = inout;                                                                          \
		const int64_t end = *n;                                                                                \
		(void)unused;                                                                                          \
		for (int64_t k = 0; k < end; k++) {                                                                    \
			const float a = from_##type(x[k]), b = from_##type(y[k]);                                      \
			y[k] = to_##type(combine(a, b));                                                               \
		}                                                                                                      \
	}
#define COMBINE(type, combine)                                                                                         \
	COMBINE_COUNT(type##_##combine, type, combine, int)                                                            \
	COMBINE_COUNT(type##_##combine##_large, type, combine, MPI_Count)

COMBINE(float16, SUM)
COMBINE(float16, PROD)
COMBINE(float16, MIN)
COMBINE(float16, MAX)
COMBINE(bfloat16, SUM)
COMBINE(bfloat16, PROD)
COMBINE(bfloat16, MIN)
COMBINE(bfloat16, MAX)

#define BOTH(type, combine) { type##_##combine, type##_##combine##_large }
static const struct {
	void (*small)(void *, void *, int *, MPI_Datatype *);
	void (*large)(void *, void *, MPI_Count *, MPI_Datatype *);
} functions[2][4] = {
	{BOTH(float16, SUM), BOTH(float16, PROD), BOTH(float16, MIN), BOTH(float16, MAX)},
	{BOTH(bfloat16, SUM), BOTH(bfloat16, PROD), BOTH(bfloat16, MIN), BOTH(bfloat16, MAX)},
};

static struct { MPI_Op op; int made; } ops[2][4][2];

int half_op(int type, int op, const struct large *large, MPI_Op *out)
{
	const int t = type == BUSBAR_BFLOAT16, o = op - BUSBAR_SUM, l = large != NULL;
	int rc = MPI_SUCCESS;
	if (!ops[t][o][l].made)
		rc = l ? large->op_create(functions[t][o].large, 1, &ops[t][o][l].op)
		       : MPI_Op_create(functions[t][o].small, 1, &ops[t][o][l].op);
	ops[t][o][l].made |= rc == MPI_SUCCESS;
	*out = ops[t][o][l].op;
	return rc;
}

void half_free(void)
{
	for (int i = 0; i < 16; i++) {
		if (ops[i / 8][i / 2 % 4][i % 2].made)
			MPI_Op_free(&ops[i / 8][i / 2 % 4][i % 2].op);
		ops[i / 8][i / 2 % 4][i % 2].made = 0;
	}
}

#define SAME(x) (x)
#define DIVIDE(name, type, wide, from, to)                                                                             \
	static void name(void *data, int64_t n, int by)                                                                \
	{                                                                                                              \
		type *restrict x = data;                                                                               \
		for (int64_t k = 0; k < n; k++)                                                                        \
			x[k] = (type)to((wide)from(x[k]) / (wide)by);                                                  \
	}

DIVIDE(divide_int8, int8_t, int32_t, SAME, SAME)
DIVIDE(divide_uint8, uint8_t, uint32_t, SAME, SAME)
DIVIDE(divide_int32, int32_t, int32_t, SAME, SAME)
DIVIDE(divide_uint32, uint32_t, uint32_t, SAME, SAME)
DIVIDE(divide_int64, int64_t, int64_t, SAME, SAME)
DIVIDE(divide_uint64, uint64_t, uint64_t, SAME, SAME)
DIVIDE(divide_float16, uint16_t, float, from_float16, to_float16)
DIVIDE(divide_bfloat16, uint16_t, float, from_bfloat16, to_bfloat16)
DIVIDE(divide_float32, float, float, SAME, SAME)
DIVIDE(divide_float64, double, double, SAME, SAME)

divide_function divide_step(int type)
{
	static const divide_function all[] = {NULL, divide_int8, divide_uint8, divide_int32, divide_uint32, divide_int64,
		divide_uint64, divide_float16, divide_bfloat16, divide_float32, divide_float64};
	return all[type];
}
