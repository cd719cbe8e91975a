/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes of a dump request moved into a struct genl_info in 6.6. Ends when 6.1 is
 * no longer supported.
 */
#ifndef _NET6_COMPAT_GENETLINK_H
#define _NET6_COMPAT_GENETLINK_H

#include <linux/version.h>
#include <net/genetlink.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
static inline struct nlattr **net6_compat_dump_attrs(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb)->attrs;
}
#else
static inline struct nlattr **net6_compat_dump_attrs(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs;
}
#endif

#endif /* _NET6_COMPAT_GENETLINK_H */
