/* SPDX-License-Identifier: GPL-2.0 */
/* Metrics of routes as the kernel reads them. Ends with support for kernels before 6.12. */
#ifndef _NET6_COMPAT_IP_H
#define _NET6_COMPAT_IP_H

#include <linux/version.h>
#include <net/ip.h>

static inline struct dst_metrics *net6_compat_fib_metrics_init(struct net *net,
							       struct nlattr *first, int len,
							       struct netlink_ext_ack *extack)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	return ip_fib_metrics_init(first, len, extack);
#else
	return ip_fib_metrics_init(net, first, len, extack);
#endif
}

#endif /* _NET6_COMPAT_IP_H */
