/* Reductions of all data types. The small floating types are computed in float and rounded once, to nearest. */
#include "inside.h"

#include <math.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

size_t type_bytes(int type)
{
	static const size_t bytes[TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
	return bytes[type];
}

static inline uint32_t bits_of(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

static inline float float_of(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

/* A format of exponent and mantissa bits; E4M3 has no infinity, and only all ones is NaN. */
static inline float widen(uint32_t x, int exponent_bits, int mantissa_bits, int infinity)
{
	const uint32_t most = (1u << exponent_bits) - 1, mantissa = x & ((1u << mantissa_bits) - 1);
	const uint32_t exponent = x >> mantissa_bits & most;
	const int bias = (1 << (exponent_bits - 1)) - 1;
	const uint32_t sign = (x >> (exponent_bits + mantissa_bits) & 1) << 31;
	if (exponent == 0)
		return float_of(sign | bits_of((float)ldexp(mantissa, 1 - bias - mantissa_bits)));
	if (exponent == most && infinity)
		return float_of(sign | 0x7f800000u | mantissa << (23 - mantissa_bits));
	if (exponent == most && mantissa == (1u << mantissa_bits) - 1)
		return float_of(sign | 0x7fc00000u);
	return float_of(sign | (exponent + (uint32_t)(127 - bias)) << 23 | mantissa << (23 - mantissa_bits));
}

/* largest: result of overflow: infinity, or the largest finite value for 8-bit types. */
static inline uint32_t narrow(float f, int exponent_bits, int mantissa_bits, uint32_t largest, uint32_t nan)
{
	const int bias = (1 << (exponent_bits - 1)) - 1, shift = 23 - mantissa_bits;
	const uint32_t bits = bits_of(f), magnitude = bits & 0x7fffffffu;
	const uint32_t sign = bits >> 31 << (exponent_bits + mantissa_bits);
	uint32_t x;
	if (magnitude > 0x7f800000u)
		return sign | nan;
	if ((int)(magnitude >> 23) - 127 < 1 - bias)
		x = (uint32_t)rint(ldexp(float_of(magnitude), mantissa_bits + bias - 1));
	else
		x = ((magnitude + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1)) >> shift) -
		    ((uint32_t)(127 - bias) << mantissa_bits);
	return sign | (x > largest ? largest : x);
}

#define SAME(x) (x)
#define FROM_HALF(x) widen(x, 5, 10, 1)
#define TO_HALF(x) ((uint16_t)narrow(x, 5, 10, 0x7c00, 0x7fff))
#define FROM_BFLOAT(x) float_of((uint32_t)(x) << 16)
#define TO_BFLOAT(x) ((uint16_t)narrow(x, 8, 7, 0x7f80, 0x7fff))
#define FROM_E4M3(x) widen(x, 4, 3, 0)
#define TO_E4M3(x) ((uint8_t)narrow(x, 4, 3, 0x7e, 0x7f))
#define FROM_E5M2(x) widen(x, 5, 2, 1)
#define TO_E5M2(x) ((uint8_t)narrow(x, 5, 2, 0x7b, 0x7f))

enum { BLOCK = 256 };

/* Integers wrap, as on a GPU, so sums and products use the unsigned type U. An average of integers is divided at the
 * end; other averages are, as in NCCL, a PreMulSum with 1/n. */
#define COMBINE(expression)                                         \
	for (int r = 1; r < n; r++) {                               \
		const T *x = (const T *)sources[r] + at;            \
		for (size_t i = 0; i < m; i++) {                    \
			const A a = sum[i], b = LOAD(x[i]);         \
			sum[i] = (A)(expression);                   \
		}                                                   \
	}                                                           \
	break
#define REDUCTION(name)                                                                                               \
	static void name(int op, void *out, const char *const *sources, int n, size_t count, A factor, int divisor)   \
	{                                                                                                             \
		A sum[BLOCK];                                                                                         \
		for (size_t at = 0; at < count; at += BLOCK) {                                                        \
			const size_t m = count - at < BLOCK ? count - at : BLOCK;                                     \
			for (size_t i = 0; i < m; i++)                                                                \
				sum[i] = (A)((U)LOAD(((const T *)sources[0])[at + i]) * (U)factor);                   \
			switch (op) {                                                                                 \
			case PROD: COMBINE((U)a * (U)b);                                                              \
			case MAX: COMBINE(a > b || a != a ? a : b);                                                   \
			case MIN: COMBINE(a < b || a != a ? a : b);                                                   \
			default: COMBINE((U)a + (U)b * (U)factor);                                                    \
			}                                                                                             \
			for (size_t i = 0; i < m; i++)                                                                \
				((T *)out)[at + i] = (T)STORE(divisor > 1 ? (A)(sum[i] / (A)divisor) : sum[i]);       \
		}                                                                                                     \
	}


#define T int8_t
#define A int64_t
#define U uint64_t
#define LOAD SAME
#define STORE SAME
REDUCTION(reduce_int8)
#undef T
#define T int32_t
REDUCTION(reduce_int32)
#undef T
#define T int64_t
REDUCTION(reduce_int64)
#undef T
#undef A
#define A uint64_t
#define T uint8_t
REDUCTION(reduce_uint8)
#undef T
#define T uint32_t
REDUCTION(reduce_uint32)
#undef T
#define T uint64_t
REDUCTION(reduce_uint64)
#undef T
#undef A
#undef U
#define A double
#define U double
#define T double
REDUCTION(reduce_float64)
#undef T
#undef A
#undef U
#define A float
#define U float
#define T float
REDUCTION(reduce_float32)
#undef T
#undef LOAD
#undef STORE
#define T uint16_t
#define LOAD FROM_HALF
#define STORE TO_HALF
REDUCTION(reduce_float16)
#undef LOAD
#undef STORE
#define LOAD FROM_BFLOAT
#define STORE TO_BFLOAT
REDUCTION(reduce_bfloat16)
#undef LOAD
#undef STORE
#undef T
#define T uint8_t
#define LOAD FROM_E4M3
#define STORE TO_E4M3
REDUCTION(reduce_e4m3)
#undef LOAD
#undef STORE
#define LOAD FROM_E5M2
#define STORE TO_E5M2
REDUCTION(reduce_e5m2)

/* A value in the scalar's type. */
void round_scalar(struct scalar *s, double x)
{
	const float f = (float)x;
	const uint16_t half = TO_HALF(f), bfloat = TO_BFLOAT(f);
	const uint8_t e4m3 = TO_E4M3(f), e5m2 = TO_E5M2(f);
	const void *const values[TYPES] = {[FLOAT16] = &half, [FLOAT32] = &f, [FLOAT64] = &x, [BFLOAT16] = &bfloat,
		[FLOAT8E4M3] = &e4m3, [FLOAT8E5M2] = &e5m2};
	memcpy(s->value, values[s->type], type_bytes(s->type));
}

#define CASE(code, name, T, A, LOAD)                                           \
	case code: {                                                           \
		T raw;                                                         \
		A factor = 1;                                                  \
		if (scalar) {                                                  \
			memcpy(&raw, scalar, sizeof raw);                      \
			factor = (A)LOAD(raw);                                 \
		}                                                              \
		name(op, out, sources, n, count, factor, divisor);             \
		break;                                                         \
	}

void reduce(const struct operation *o, void *out, const char *const *sources, int n, size_t count)
{
	const int whole = o->type <= UINT64;
	const int op = o->op == AVG || o->op >= FIRST_CREATED ? SUM : o->op;
	const int divisor = o->op == AVG && whole ? n : 1;
	struct scalar inverse = {.type = o->type};
	const void *scalar = NULL;
	if (o->op >= FIRST_CREATED)
		scalar = o->scalar.device ? o->scalar.device : o->scalar.value;
	if (o->op == AVG && !whole) {
		round_scalar(&inverse, 1.0 / n);
		scalar = inverse.value;
	}
	switch (o->type) {
	CASE(INT8, reduce_int8, int8_t, int64_t, SAME)
	CASE(UINT8, reduce_uint8, uint8_t, uint64_t, SAME)
	CASE(INT32, reduce_int32, int32_t, int64_t, SAME)
	CASE(UINT32, reduce_uint32, uint32_t, uint64_t, SAME)
	CASE(INT64, reduce_int64, int64_t, int64_t, SAME)
	CASE(UINT64, reduce_uint64, uint64_t, uint64_t, SAME)
	CASE(FLOAT16, reduce_float16, uint16_t, float, FROM_HALF)
	CASE(FLOAT32, reduce_float32, float, float, SAME)
	CASE(FLOAT64, reduce_float64, double, double, SAME)
	CASE(BFLOAT16, reduce_bfloat16, uint16_t, float, FROM_BFLOAT)
	CASE(FLOAT8E4M3, reduce_e4m3, uint8_t, float, FROM_E4M3)
	CASE(FLOAT8E5M2, reduce_e5m2, uint8_t, float, FROM_E5M2)
	}
}
