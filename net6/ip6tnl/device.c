// SPDX-License-Identifier: GPL-2.0
/* Tunnels over IPv6 as devices. A tunnel belongs to the namespace that its packets travel in and
 * does not move.
 */
#include <linux/if_arp.h>
#include <net/ip_tunnels.h>

#include "../compat/netdevice.h"
#include "ip6tnl.h"

#define NET6_IP6TNL_MIN_MTU	68	/* RFC 791 */

static int net6_ip6tnl_dev_init(struct net_device *dev)
{
	struct net6_ip6tnl *t = netdev_priv(dev);
	int err = -ENOMEM;

	if (net6_compat_tstats_alloc(dev))
		return err;
	t->ways = alloc_percpu_gfp(struct net6_ip6tnl_way, GFP_KERNEL_ACCOUNT);
	if (!t->ways)
		goto err_tstats;
	err = gro_cells_init(&t->cells, dev);
	if (err)
		goto err_ways;
	return 0;

err_ways:
	free_percpu(t->ways);
err_tstats:
	net6_compat_tstats_free(dev);
	return err;
}

/* RTNL held, and nothing is sent any more; a grace period follows before the destructor. */
static void net6_ip6tnl_dev_uninit(struct net_device *dev)
{
	struct net6_ip6tnl *t = netdev_priv(dev);

	net6_ip6tnl_remove(t);
	net6_ip6tnl_forget(t);
}

/**
 * net6_ip6tnl_free_parms() - free the parameters of a device that is gone, or never was
 * @t: its tunnel; a device that fails to register may have freed them
 *
 * Context: process.
 */
void net6_ip6tnl_free_parms(struct net6_ip6tnl *t)
{
	kfree(rcu_dereference_protected(t->parms, true));
	RCU_INIT_POINTER(t->parms, NULL);
}

static void net6_ip6tnl_dev_destroy(struct net_device *dev)
{
	struct net6_ip6tnl *t = netdev_priv(dev);

	gro_cells_destroy(&t->cells);
	free_percpu(t->ways);
	net6_compat_tstats_free(dev);
	net6_ip6tnl_free_parms(t);
}

static int net6_ip6tnl_iflink(const struct net_device *dev)
{
	const struct net6_ip6tnl *t = netdev_priv(dev);
	int link;

	rcu_read_lock();
	link = rcu_dereference(t->parms)->link;
	rcu_read_unlock();
	return link ?: dev->ifindex;
}

static const struct net_device_ops net6_ip6tnl_netdev_ops = {
	.ndo_init		= net6_ip6tnl_dev_init,
	.ndo_uninit		= net6_ip6tnl_dev_uninit,
	.ndo_start_xmit		= net6_ip6tnl_xmit,
	.ndo_get_stats64	= dev_get_tstats64,
	.ndo_get_iflink		= net6_ip6tnl_iflink,
};

/* Is it a tunnel over IPv6 of ours? */
bool net6_ip6tnl_is(const struct net_device *dev)
{
	return dev->netdev_ops == &net6_ip6tnl_netdev_ops;
}

/**
 * net6_ip6tnl_setup() - what all tunnels have
 * @dev: new device
 *
 * Context: process.
 */
void net6_ip6tnl_setup(struct net_device *dev)
{
	netdev_features_t offloads = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA |
				     NETIF_F_HW_CSUM | NETIF_F_GSO_SOFTWARE;

	dev->netdev_ops = &net6_ip6tnl_netdev_ops;
	dev->priv_destructor = net6_ip6tnl_dev_destroy;
	dev->needs_free_netdev = true;
	dev->type = ARPHRD_TUNNEL6;
	dev->addr_len = sizeof(struct in6_addr);
	dev->needed_headroom = LL_MAX_HEADER + sizeof(struct ipv6hdr) + NET6_IP6TNL_LIMIT_HEADER;
	dev->flags = IFF_NOARP | IFF_POINTOPOINT;
	dev->priv_flags |= IFF_NO_QUEUE;
	netif_keep_dst(dev);
	dev->min_mtu = NET6_IP6TNL_MIN_MTU;
	dev->max_mtu = NET6_IP6TNL_MAX_MTU;
	dev->mtu = net6_ip6tnl_mtu(NET6_IP6TNL_MTU, true);
	dev->features |= offloads;
	dev->hw_features |= offloads;
	/* With the headers in front it has a payload length of 16 bits. */
	netif_set_tso_max_size(dev, NET6_IP6TNL_MAX_MTU);
	net6_compat_lockless_tx(dev);
	net6_compat_netns_local(dev);
}
