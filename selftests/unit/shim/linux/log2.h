/* SPDX-License-Identifier: GPL-2.0 */
/* Powers of two. */
#pragma once

#include <linux/bitops.h>

#define is_power_of_2(n)	((n) && !((n) & ((n) - 1)))
#define ilog2(n)		(fls64(n) - 1)

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return n <= 1 ? 1 : 1UL << fls64(n - 1);
}
