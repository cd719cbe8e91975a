/* SPDX-License-Identifier: GPL-2.0 */
/* Arithmetic that tells when it overflows. */
#pragma once

#include <linux/limits.h>
#include <linux/types.h>

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d)	__builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)
