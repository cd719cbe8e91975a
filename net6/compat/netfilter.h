/* SPDX-License-Identifier: GPL-2.0 */
/* netfilter's queue, which is exported but declared in a header that is not shipped (6.1 to
 * 7.3). Until it is in <net/netfilter/nf_queue.h>.
 */
#ifndef _NET6_COMPAT_NETFILTER_H
#define _NET6_COMPAT_NETFILTER_H

#include <linux/netfilter.h>

/* Drop what waits for a verdict in a namespace. Any context. */
#ifdef CONFIG_NETFILTER
void nf_queue_nf_hook_drop(struct net *net);
#else
static inline void nf_queue_nf_hook_drop(struct net *net)
{
}
#endif

#endif /* _NET6_COMPAT_NETFILTER_H */
