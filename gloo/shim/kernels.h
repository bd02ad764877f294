/* The loops that combine elements, compiled once for any CPU (reduce.cc) and once for CPUs with AVX2 and F16C
 * (reduce_avx2.cc). All is in an unnamed namespace without instances of the standard library, so that the linker
 * cannot use AVX2 code for any CPU. */
#include "../busbar_gloo.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__) && defined(__F16C__)
#include <immintrin.h>
#endif

namespace {

inline float as_float(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

inline uint32_t as_bits(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

/* Arithmetic of each type: integers as unsigned, which wrap; halves as floats, rounded to nearest, ties to even. */
template <class T> struct Plain {
	using Stored = T;
	using Wide = T;
	static T in(T x) { return x; }
	static T out(T x) { return x; }
};

struct Float16 {
	using Stored = uint16_t;
	using Wide = float;
	static float in(uint16_t h)
	{
		const uint32_t magnitude = h & 0x7fffu;
		const uint32_t subnormal = as_bits(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
		const uint32_t normal = (magnitude << 13) + (112u << 23);
		const uint32_t special = (magnitude << 13) | 0x7f800000u; /* infinity and NaN */
		const uint32_t finite = magnitude < 0x0400u ? subnormal : normal;
		return as_float((magnitude < 0x7c00u ? finite : special) | static_cast<uint32_t>(h & 0x8000u) << 16);
	}
	static uint16_t out(float f)
	{
		const uint32_t bits = as_bits(f), magnitude = bits & 0x7fffffffu;
		/* Adding half aligns the last bit of a float with the last bit of a subnormal float16. */
		const uint32_t subnormal = as_bits(as_float(magnitude) + 0.5f) - as_bits(0.5f);
		const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
		const uint32_t finite = magnitude < 113u << 23 ? subnormal : normal;
		const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
		return static_cast<uint16_t>((magnitude < 143u << 23 ? finite : special) | (bits >> 16 & 0x8000u));
	}
};

struct BFloat16 {
	using Stored = uint16_t;
	using Wide = float;
	static float in(uint16_t h) { return as_float(static_cast<uint32_t>(h) << 16); }
	static uint16_t out(float f)
	{
		const uint32_t bits = as_bits(f);
		const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
		return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 | 0x40u) : rounded);
	}
};

struct Sum {
	template <class T> static T of(T a, T b) { return static_cast<T>(a + b); }
};
struct Prod {
	template <class T> static T of(T a, T b) { return static_cast<T>(a * b); }
};
/* A NaN in either operand gives a NaN. */
struct Min {
	template <class T> static T of(T a, T b) { return a < b || a != a ? a : b; }
};
struct Max {
	template <class T> static T of(T a, T b) { return a > b || a != a ? a : b; }
};

template <class T, class Op> void combine(void *out, const void *a, const void *b, size_t n)
{
	using Stored = typename T::Stored;
	auto *z = static_cast<Stored *>(out);
	auto *x = static_cast<const Stored *>(a);
	auto *y = static_cast<const Stored *>(b);
	/* out may be a or b; elements are independent. */
#pragma GCC ivdep
	for (size_t i = 0; i < n; i++)
		z[i] = T::out(Op::template of<typename T::Wide>(T::in(x[i]), T::in(y[i])));
}

#if defined(__AVX2__) && defined(__F16C__)
struct WideSum {
	static __m256 of(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
};
struct WideProd {
	static __m256 of(__m256 a, __m256 b) { return _mm256_mul_ps(a, b); }
};
/* The instructions return the second operand if either is a NaN; a NaN in the first must win as well. */
struct WideMin {
	static __m256 of(__m256 a, __m256 b) { return _mm256_blendv_ps(_mm256_min_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
};
struct WideMax {
	static __m256 of(__m256 a, __m256 b) { return _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
};

template <class Wide, class Op> void combine_float16(void *out, const void *a, const void *b, size_t n)
{
	auto *z = static_cast<uint16_t *>(out);
	auto *x = static_cast<const uint16_t *>(a);
	auto *y = static_cast<const uint16_t *>(b);
	auto load = [](const uint16_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))); };
	size_t i = 0;
	for (; i + 8 <= n; i += 8)
		_mm_storeu_si128(reinterpret_cast<__m128i *>(z + i),
				 _mm256_cvtps_ph(Wide::of(load(x + i), load(y + i)), _MM_FROUND_TO_NEAREST_INT));
	combine<Float16, Op>(z + i, x + i, y + i, n - i);
}
#endif

using Function = void (*)(void *, const void *, const void *, size_t);

/* Signed and unsigned sums and products have the same bits. */
template <class Signed, class Unsigned, class Op> constexpr Function whole_number(bool ordered)
{
	return ordered ? combine<Plain<Signed>, Op> : combine<Plain<Unsigned>, Op>;
}

template <class Op, class Wide> Function of_type(int type, bool ordered)
{
	switch (type) {
	case BUSBAR_INT8: return whole_number<int8_t, uint8_t, Op>(ordered);
	case BUSBAR_UINT8: return combine<Plain<uint8_t>, Op>;
	case BUSBAR_INT32: return whole_number<int32_t, uint32_t, Op>(ordered);
	case BUSBAR_UINT32: return combine<Plain<uint32_t>, Op>;
	case BUSBAR_INT64: return whole_number<int64_t, uint64_t, Op>(ordered);
	case BUSBAR_UINT64: return combine<Plain<uint64_t>, Op>;
#if defined(__AVX2__) && defined(__F16C__)
	case BUSBAR_FLOAT16: return combine_float16<Wide, Op>;
#else
	case BUSBAR_FLOAT16: return combine<Float16, Op>;
#endif
	case BUSBAR_BFLOAT16: return combine<BFloat16, Op>;
	case BUSBAR_FLOAT32: return combine<Plain<float>, Op>;
	case BUSBAR_FLOAT64: return combine<Plain<double>, Op>;
	}
	return nullptr;
}

#if !(defined(__AVX2__) && defined(__F16C__))
using WideSum = Sum;
using WideProd = Prod;
using WideMin = Min;
using WideMax = Max;
#endif

inline Function choose(int type, int op)
{
	switch (op) {
	case BUSBAR_SUM:
	case BUSBAR_AVG: return of_type<Sum, WideSum>(type, false);
	case BUSBAR_PROD: return of_type<Prod, WideProd>(type, false);
	case BUSBAR_MIN: return of_type<Min, WideMin>(type, true);
	case BUSBAR_MAX: return of_type<Max, WideMax>(type, true);
	}
	return nullptr;
}

} // namespace
