/* SPDX-License-Identifier: GPL-2.0 */
/* Read-copy-update without readers: pointers are plain, memory goes at once. */
#pragma once

#include <linux/compiler.h>
#include <linux/slab.h>

struct rcu_head {
	int unused;
};

#define rcu_dereference_raw(p)		(p)
#define rcu_assign_pointer(p, v)	((p) = (v))
#define RCU_INIT_POINTER(p, v)		((p) = (v))
#define kfree_rcu(ptr, field)		kfree(ptr)
