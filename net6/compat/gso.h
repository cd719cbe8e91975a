/* SPDX-License-Identifier: GPL-2.0 */
/* __skb_gso_segment() and its like moved from linux/netdevice.h to net/gso.h in 6.5. Ends when 6.1
 * is no longer supported.
 */
#ifndef _NET6_COMPAT_GSO_H
#define _NET6_COMPAT_GSO_H

#include <linux/netdevice.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif

#endif /* _NET6_COMPAT_GSO_H */
