/* SPDX-License-Identifier: GPL-2.0 */
/* Bit counting; the atomic operations are plain ones here. */
#pragma once

#include <linux/bits.h>
#include <linux/types.h>

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline int ffs_bit(unsigned int x)
{
	return __builtin_ffs(x);
}

static inline unsigned int hweight32(u32 x)
{
	return __builtin_popcount(x);
}

static inline bool test_bit(long nr, const unsigned long *addr)
{
	return addr[nr / BITS_PER_LONG] >> (nr % BITS_PER_LONG) & 1;
}

static inline void __set_bit(long nr, unsigned long *addr)
{
	addr[nr / BITS_PER_LONG] |= BIT(nr % BITS_PER_LONG);
}

static inline void __clear_bit(long nr, unsigned long *addr)
{
	addr[nr / BITS_PER_LONG] &= ~BIT(nr % BITS_PER_LONG);
}

static inline u64 rol64(u64 word, unsigned int shift)
{
	return word << (shift & 63) | word >> (-shift & 63);
}
