/* SPDX-License-Identifier: GPL-2.0 */
/* Rounding. */
#pragma once

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define round_up(x, y)		((((x) - 1) | ((__typeof__(x))(y) - 1)) + 1)
#define round_down(x, y)	((x) & ~((__typeof__(x))(y) - 1))
#define roundup(x, y)		((((x) + (y) - 1) / (y)) * (y))
#define rounddown(x, y)		((x) - (x) % (y))
#define abs_diff(a, b)		((a) > (b) ? (a) - (b) : (b) - (a))
