/* SPDX-License-Identifier: GPL-2.0 */
/* Properties of a device. Two are feature bits until 6.11 and fields of their own from 6.12 on.
 * One of them has another name from 6.15 and stable 6.12.114 on. Its counters per CPU are the
 * core's to allocate from 6.7 on. Ends when 6.1 is no longer supported.
 */
#ifndef _NET6_COMPAT_NETDEVICE_H
#define _NET6_COMPAT_NETDEVICE_H

#include <linux/netdevice.h>
#include <linux/version.h>

/* It locks what it needs when it sends. To be called after the device's features are set. */
static inline void net6_compat_lockless_tx(struct net_device *dev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	dev->features |= NETIF_F_LLTX;
#else
	dev->lltx = true;
#endif
}

/* It stays in the namespace that it is made in. To be called as above. */
static inline void net6_compat_netns_local(struct net_device *dev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	dev->features |= NETIF_F_NETNS_LOCAL;
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0) || \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 114) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0))
	dev->netns_immutable = true;
#else
	dev->netns_local = true;
#endif
}

/* It counts in dev->tstats; to be called by ndo_init. The core allocates that later, and
 * iptunnel_xmit() counts for nobody else: it warns.
 */
static inline int net6_compat_tstats_alloc(struct net_device *dev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	return dev->tstats ? 0 : -ENOMEM;
#else
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	return 0;
#endif
}

/* To be called by the destructor, or by ndo_init when it fails. */
static inline void net6_compat_tstats_free(struct net_device *dev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	free_percpu(dev->tstats);
#endif
}

static inline unsigned int net6_compat_get_flags(const struct net_device *dev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
	return dev_get_flags(dev);
#else
	return netif_get_flags(dev);
#endif
}

/* Parameters of rtnl_link_ops.newlink(), the link's attributes and its kind's. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define NET6_COMPAT_NEWLINK_PARAMS \
	struct net *net, struct net_device *dev, struct nlattr *attrs[], \
	struct nlattr *data[], struct netlink_ext_ack *extack
#define net6_compat_newlink_tb	attrs
#define net6_compat_newlink_data	data
#else
#define NET6_COMPAT_NEWLINK_PARAMS \
	struct net_device *dev, struct rtnl_newlink_params *params, struct netlink_ext_ack *extack
#define net6_compat_newlink_tb	(params->tb)
#define net6_compat_newlink_data	(params->data)
#endif

#endif /* _NET6_COMPAT_NETDEVICE_H */
