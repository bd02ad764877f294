#include "compare.h"

#include <string.h>

int64_t busbar_cuda_differs(const void *p, int64_t n, const void *table, int64_t period, int64_t first)
{
	const unsigned char *got = p, *want = table;
	int64_t j = first % period;
	for (int64_t at = 0; at < n; j = 0) {
		int64_t run = period - j < n - at ? period - j : n - at;
		if (memcmp(got + at, want + j, (size_t)run)) {
			while (got[at] == want[j]) {
				at++;
				j++;
			}
			return at;
		}
		at += run;
	}
	return -1;
}

/* Bit patterns have the order of their values if negative ones count downwards from zero. The distance of two values
 * of unlike sign is the sum of their distances from zero; it cannot overflow because the sign bit is free. The first
 * loop has no exit, so that the compiler vectorises it. */
#define FAR(name, type) \
	static inline int name##_one(type got, type want, type ulps, type greatest) \
	{ \
		const type sign = (type)((type)1 << (8 * sizeof(type) - 1)); \
		const type g = (type)(got & ~sign), w = (type)(want & ~sign); \
		const type alike = (type)(g > w ? g - w : w - g), unlike = (type)(g + w); \
		return (((got ^ want) & sign ? unlike : alike) > ulps) | (g > greatest); \
	} \
	static int64_t name(const type *got, const type *want, int64_t n, struct busbar_near near) \
	{ \
		enum { BLOCK = 512 }; \
		const type most = (type)~(type)0, greatest = (type)near.greatest; \
		const type ulps = near.ulps < most ? (type)near.ulps : most; \
		for (int64_t at = 0; at < n; at += BLOCK) { \
			const int64_t end = n - at < BLOCK ? n : at + BLOCK; \
			int far = 0; \
			for (int64_t i = at; i < end; i++) \
				far |= name##_one(got[i], want[i], ulps, greatest); \
			for (int64_t i = at; far && i < end; i++) \
				if (name##_one(got[i], want[i], ulps, greatest)) \
					return i; \
		} \
		return -1; \
	}
FAR(far_1, uint8_t)
FAR(far_2, uint16_t)
FAR(far_4, uint32_t)
FAR(far_8, uint64_t)

static int64_t far_element(const void *got, const void *want, int64_t n, struct busbar_near near)
{
	switch (near.bytes) {
	case 1: return far_1(got, want, n, near);
	case 2: return far_2(got, want, n, near);
	case 4: return far_4(got, want, n, near);
	default: return far_8(got, want, n, near);
	}
}

int64_t busbar_cuda_far(const void *p, int64_t n, const void *table, int64_t period, int64_t first, struct busbar_near near)
{
	const unsigned char *got = p, *want = table;
	const int64_t bytes = (int64_t)near.bytes;
	int64_t j = first % period;
	for (int64_t at = 0; at < n; j = 0) {
		int64_t run = period - j < n - at ? period - j : n - at;
		int64_t element = far_element(got + at, want + j, run / bytes, near);
		if (element >= 0)
			return at + element * bytes;
		at += run;
	}
	return -1;
}

void busbar_cuda_repeat(void *p, int64_t n, const void *table, int64_t period, int64_t first)
{
	unsigned char *out = p;
	const unsigned char *from = table;
	int64_t j = first % period;
	for (int64_t at = 0; at < n; j = 0) {
		int64_t run = period - j < n - at ? period - j : n - at;
		memcpy(out + at, from + j, (size_t)run);
		at += run;
	}
}
