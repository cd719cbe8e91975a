/* SPDX-License-Identifier: GPL-2.0 */
/* skb_frag_unref() moved from linux/skbuff.h to linux/skbuff_ref.h in 6.10. Ends when 6.1
 * is no longer supported.
 */
#ifndef _NET6_COMPAT_SKBUFF_H
#define _NET6_COMPAT_SKBUFF_H

#include <linux/skbuff.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#include <linux/skbuff_ref.h>
#endif

#endif /* _NET6_COMPAT_SKBUFF_H */
