/* SPDX-License-Identifier: GPL-2.0 */
/* Limits of the kernel's integer types. */
#pragma once

#include_next <linux/limits.h>
#include <stdint.h>

#define U8_MAX		((uint8_t)~0U)
#define S8_MAX		((int8_t)(U8_MAX >> 1))
#define U16_MAX		((uint16_t)~0U)
#define S16_MAX		((int16_t)(U16_MAX >> 1))
#define U32_MAX		((uint32_t)~0U)
#define S32_MAX		((int32_t)(U32_MAX >> 1))
#define U64_MAX		((unsigned long long)~0ULL)
#define S64_MAX		((long long)(U64_MAX >> 1))
#ifndef INT_MAX
#define INT_MAX		((int)(~0U >> 1))
#endif
#ifndef UINT_MAX
#define UINT_MAX	(~0U)
#endif
#ifndef ULONG_MAX
#define ULONG_MAX	(~0UL)
#endif
#ifndef LONG_MAX
#define LONG_MAX	((long)(~0UL >> 1))
#endif
