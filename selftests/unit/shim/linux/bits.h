/* SPDX-License-Identifier: GPL-2.0 */
/* Bit masks. */
#pragma once

#define BITS_PER_LONG	64
#define BITS_PER_BYTE	8
#define BIT(nr)		(1UL << (nr))
#define BIT_ULL(nr)	(1ULL << (nr))
#define GENMASK(h, l)	(((~0UL) << (l)) & (~0UL >> (BITS_PER_LONG - 1 - (h))))
