/* Which loop combines elements of a type, and the division of averages. */
#include "kernels.h"
#include "reduce_avx2.h"
#include "shim.h"

namespace {

bool has_avx2()
{
#if defined(__x86_64__)
	static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
	return has;
#else
	return false;
#endif
}

template <class T, class Wide> void divide(void *data, size_t n, int by)
{
	auto *x = static_cast<typename T::Stored *>(data);
	for (size_t i = 0; i < n; i++)
		x[i] = T::out(static_cast<typename T::Wide>(static_cast<Wide>(T::in(x[i])) / static_cast<Wide>(by)));
}

} // namespace

size_t element_bytes(int type)
{
	static const size_t bytes[] = {0, 1, 1, 4, 4, 8, 8, 2, 2, 4, 8};
	return bytes[type];
}

reduce_function reduction(int type, int op)
{
	reduce_function fast = has_avx2() ? reduction_avx2(type, op) : nullptr;
	return fast ? fast : choose(type, op);
}

divide_function division(int type)
{
	switch (type) {
	case BUSBAR_INT8: return divide<Plain<int8_t>, int32_t>;
	case BUSBAR_UINT8: return divide<Plain<uint8_t>, uint32_t>;
	case BUSBAR_INT32: return divide<Plain<int32_t>, int32_t>;
	case BUSBAR_UINT32: return divide<Plain<uint32_t>, uint32_t>;
	case BUSBAR_INT64: return divide<Plain<int64_t>, int64_t>;
	case BUSBAR_UINT64: return divide<Plain<uint64_t>, uint64_t>;
	case BUSBAR_FLOAT16: return divide<Float16, float>;
	case BUSBAR_BFLOAT16: return divide<BFloat16, float>;
	case BUSBAR_FLOAT32: return divide<Plain<float>, float>;
	case BUSBAR_FLOAT64: return divide<Plain<double>, double>;
	}
	return nullptr;
}
