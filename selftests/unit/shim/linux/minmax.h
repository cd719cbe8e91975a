/* SPDX-License-Identifier: GPL-2.0 */
/* min(), max(), clamp() and their typed forms. */
#pragma once

#include <linux/types.h>

#define __shim_cmp(x, op, y) ({			\
	__typeof__(x) __x = (x);		\
	__typeof__(y) __y = (y);		\
	(void)(&__x == &__y);			\
	__x op __y ? __x : __y; })
#define min(x, y)		__shim_cmp(x, <, y)
#define max(x, y)		__shim_cmp(x, >, y)
#define min3(x, y, z)		min((__typeof__(x))min(x, y), z)
#define max3(x, y, z)		max((__typeof__(x))max(x, y), z)
#define min_t(type, x, y)	min((type)(x), (type)(y))
#define max_t(type, x, y)	max((type)(x), (type)(y))
#define clamp(val, lo, hi)	min((__typeof__(val))max(val, lo), hi)
#define clamp_t(type, val, lo, hi) min_t(type, max_t(type, val, lo), hi)
#define clamp_val(val, lo, hi)	clamp_t(__typeof__(val), val, lo, hi)
#define swap(a, b) do { __typeof__(a) __t = (a); (a) = (b); (b) = __t; } while (0)
