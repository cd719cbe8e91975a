/* SPDX-License-Identifier: GPL-2.0 */
/* Routes. In later kernels dst_alloc() takes the first reference itself and empties the list head
 * for routes of no table, which was struct rt6_info's. dst_ops.ifdown lost an argument. All
 * between 6.1 and 6.12. Ends when 6.1 is no longer supported.
 */
#ifndef _NET6_COMPAT_DST_H
#define _NET6_COMPAT_DST_H

#include <linux/version.h>
#include <net/dst.h>
#include <net/ip6_fib.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define NET6_COMPAT_IFDOWN_PARAMS \
	struct dst_entry *dst, struct net_device *dev, int unregister
#else
#define NET6_COMPAT_IFDOWN_PARAMS \
	struct dst_entry *dst, struct net_device *dev
#endif

/* A route with one reference, in no table, what is behind its dst zeroed; or NULL. */
static inline struct rt6_info *net6_compat_rt6_alloc(struct dst_ops *ops, struct net_device *dev,
						     int obsolete, unsigned short flags)
{
	struct rt6_info *rt;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	rt = dst_alloc(ops, dev, 1, obsolete, flags);
#else
	rt = dst_alloc(ops, dev, obsolete, flags);
#endif
	if (!rt)
		return NULL;
	memset_after(rt, 0, dst);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	INIT_LIST_HEAD(&rt->rt6i_uncached);
#endif
	return rt;
}

#endif /* _NET6_COMPAT_DST_H */
