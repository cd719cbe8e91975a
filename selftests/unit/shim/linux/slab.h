/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of the C library; every flag is ignored. */
#pragma once

#include <stdlib.h>
#include <linux/types.h>

#define GFP_KERNEL	0
#define GFP_ATOMIC	0
#define __GFP_ACCOUNT	0
#define __GFP_NOWARN	0
#define GFP_KERNEL_ACCOUNT	0
#define kmalloc(size, gfp)	malloc(size)
#define kzalloc(size, gfp)	calloc(1, size)
#define kcalloc(n, size, gfp)	calloc(n, size)
#define kfree(ptr)		free((void *)(ptr))
