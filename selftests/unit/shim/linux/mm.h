/* SPDX-License-Identifier: GPL-2.0 */
/* Large pieces of memory, of the C library too. */
#pragma once

#include <linux/slab.h>

#define kvzalloc(size, gfp)	calloc(1, size)
#define kvfree(ptr)		free((void *)(ptr))
