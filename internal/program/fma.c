/* Fused multiply-adds in independent chains, enough to keep a core's units busy, on registers only. Each chain goes
 * from its seed towards 1 and oscillates around it, so that bits keep changing and no value becomes denormal or
 * infinite. */
#include "crew.h"

typedef float lanes __attribute__((vector_size(32)));

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define SEED(k) lanes x##k = (lanes){seed, seed, seed, seed, seed, seed, seed, seed} + (float)k;
#define STEP(k) x##k = x##k * a + b;
#define ADD(k) +x##k
enum { chains = 12, width = 8, steps = 512 };

/* Without an FMA instruction: a multiplication and an addition. */
#define UNITS(name, target)                                                                      \
	target static float name(uint64_t units, uint64_t first)                                 \
	{                                                                                        \
		const lanes a = {-.99f, -.99f, -.99f, -.99f, -.99f, -.99f, -.99f, -.99f};        \
		const lanes b = {1.99f, 1.99f, 1.99f, 1.99f, 1.99f, 1.99f, 1.99f, 1.99f};        \
		float sum = 0;                                                                   \
		for (uint64_t u = first; u < first + units; u++) {                               \
			const float seed = (float)(u % 8);                                       \
			EACH(SEED)                                                               \
			for (int i = 0; i < steps; i++) {                                        \
				EACH(STEP)                                                       \
			}                                                                        \
			const lanes all = (lanes){0} EACH(ADD);                                  \
			float one = 0;                                                           \
			for (int l = 0; l < width; l++)                                          \
				one += all[l];                                                   \
			sum += one / (chains * width);                                           \
		}                                                                                \
		return sum;                                                                      \
	}

UNITS(plain_units, )

#if defined(__x86_64__)
UNITS(avx2_units, __attribute__((target("avx2,fma"))))

float fma_units(uint64_t units, uint64_t first)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2_units(units, first) : plain_units(units, first);
}
#else
float fma_units(uint64_t units, uint64_t first) { return plain_units(units, first); }
#endif
