/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of sysctl: register_net_sysctl() became register_net_sysctl_sz() in 6.6, the
 * empty last entry must not be there from 6.11 on.
 */
#ifndef _NET6_COMPAT_SYSCTL_H
#define _NET6_COMPAT_SYSCTL_H

#include <linux/sysctl.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
/* @table has @n entries and an empty one behind them. */
#define net6_compat_register_net_sysctl(net, path, table, n) \
	register_net_sysctl(net, path, table)
#else
#define net6_compat_register_net_sysctl(net, path, table, n) \
	register_net_sysctl_sz(net, path, table, n)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define net6_compat_ctl_table	struct ctl_table
#else
#define net6_compat_ctl_table	const struct ctl_table
#endif

#endif /* _NET6_COMPAT_SYSCTL_H */
