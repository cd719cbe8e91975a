/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's sorting. */
#pragma once

#include <stdlib.h>

#define sort(base, n, size, cmp, swap)	qsort(base, n, size, cmp)
