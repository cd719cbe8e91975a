/* SPDX-License-Identifier: GPL-2.0 */
/* Arithmetic that tells when it overflows. */
#pragma once

#include <linux/limits.h>
#include <linux/types.h>

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d)	__builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)

static inline size_t size_add(size_t a, size_t b)
{
	return __builtin_add_overflow(a, b, &a) ? SIZE_MAX : a;
}

static inline size_t array_size(size_t a, size_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? SIZE_MAX : a;
}

#define struct_size(p, member, n) \
	size_add(sizeof(*(p)), array_size(n, sizeof((p)->member[0])))
