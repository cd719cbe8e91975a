// SPDX-License-Identifier: GPL-2.0
/* Translators as devices, and as links of net6: making and removing them, their counters.
 * IPv4 sees a device without addresses, so does IPv6.
 */
#include <linux/if_arp.h>
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>
#include <net6/link.h>

#include "../net6/compat/netdevice.h"
#include "hosts.h"
#include "xlat.h"

#define NET6_XLAT_MTU		1500
#define NET6_XLAT_MAX_MTU	65515	/* less than what would be too long as IPv6 */

static const struct {
	const char		*name;
	const char		*text;
	enum skb_drop_reason	core;
} net6_xlat_drops[NET6_XLAT_VERDICTS] = {
	{ NULL },	/* NET6_XLAT_GOOD */
#define X(n, c, t) { #n, t, SKB_DROP_REASON_##c },
	NET6_XLAT_DROPS(X)
#undef X
};

static const char *const net6_xlat_counters[NET6_XLAT_COUNTERS] = {
#define X(n) #n,
	NET6_XLAT_COUNTERS_LIST(X)
#undef X
};

/**
 * net6_xlat_counter_name() - a counter's name
 * @counter: which one
 *
 * Return: as it is in the list.
 */
const char *net6_xlat_counter_name(enum net6_xlat_counter counter)
{
	return net6_xlat_counters[counter];
}

/**
 * net6_xlat_drop_name() - a reason's name
 * @verdict: not NET6_XLAT_GOOD
 *
 * Return: as it is in the list.
 */
const char *net6_xlat_drop_name(enum net6_xlat_verdict verdict)
{
	return net6_xlat_drops[verdict].name;
}

/**
 * net6_xlat_drop_text() - the sentence that explains a reason
 * @verdict: not NET6_XLAT_GOOD
 *
 * Return: a string constant.
 */
const char *net6_xlat_drop_text(enum net6_xlat_verdict verdict)
{
	return net6_xlat_drops[verdict].text;
}

/**
 * net6_xlat_read() - a counter's sum over all CPUs
 * @x: translator
 * @counter: which one
 *
 * Return: the sum; other CPUs may be counting meanwhile.
 */
u64 net6_xlat_read(const struct net6_xlat *x, enum net6_xlat_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(x->stats, cpu)->value[counter]);
	return sum;
}

/**
 * net6_xlat_read_drop() - how many packets were dropped for a reason
 * @x: translator
 * @verdict: which one
 *
 * Return: the sum over all CPUs.
 */
u64 net6_xlat_read_drop(const struct net6_xlat *x, enum net6_xlat_verdict verdict)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(x->stats, cpu)->drop[verdict]);
	return sum;
}

/**
 * net6_xlat_drop() - free a packet that is not translated, and say why
 * @x: translator
 * @skb: consumed
 * @verdict: the reason; the kernel's nearest one goes to drop monitors
 *
 * Context: any.
 */
void net6_xlat_drop(struct net6_xlat *x, struct sk_buff *skb, enum net6_xlat_verdict verdict)
{
	this_cpu_inc(x->stats->drop[verdict]);
	kfree_skb_reason(skb, net6_xlat_drops[verdict].core);
}

/**
 * net6_xlat_map_alloc() - memory for a map
 * @n: explicit mappings that it can have
 *
 * Context: process, sleeps. Return: an empty one, NULL without memory.
 */
struct net6_xlat_map *net6_xlat_map_alloc(unsigned int n)
{
	struct net6_xlat_map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	map->eams = kvcalloc(n, sizeof(*map->eams), GFP_KERNEL_ACCOUNT);
	map->by4 = kvcalloc(n, sizeof(*map->by4), GFP_KERNEL_ACCOUNT);
	map->by6 = kvcalloc(n, sizeof(*map->by6), GFP_KERNEL_ACCOUNT);
	if (map->eams && map->by4 && map->by6)
		return map;
	net6_xlat_map_free(map);
	return NULL;
}

/**
 * net6_xlat_map_free() - end of a map
 * @map: in no translator, or NULL
 *
 * Context: process.
 */
void net6_xlat_map_free(struct net6_xlat_map *map)
{
	if (!map)
		return;
	net6_xlat_hosts_free(map->hosts);
	kvfree(map->by6);
	kvfree(map->by4);
	kvfree(map->eams);
	kfree(map);
}

/* As a link */

/* Through dev_queue_xmit(), so that taps and qdiscs see the packet. */
static int net6_xlat_send(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr)
{
	skb->dev = net6_link_dev(iface);
	skb->protocol = htons(ETH_P_IPV6);
	return net6_link_xmit(skb);
}

/* There are no groups behind a translator (RFC 7915 section 1.2). */
static int net6_xlat_set_multicast(struct net6_iface *iface, const u8 *maddr, bool join)
{
	return 0;
}

static void net6_xlat_make_iid(const struct net6_iface *iface, u8 iid[8])
{
	int ifindex = net6_link_dev(iface)->ifindex;

	memset(iid, 0, 8);
	memcpy(iid, &ifindex, sizeof(ifindex));
}

static void net6_xlat_map_addr(const struct net6_iface *iface, const struct in6_addr *addr,
			       u8 *lladdr)
{
}

static int net6_xlat_read_option(const u8 *body, unsigned int len, u8 *lladdr)
{
	return -EINVAL;
}

static unsigned int net6_xlat_write_option(u8 type, const u8 *lladdr, u8 *buf)
{
	return 0;
}

static const struct net6_link_ops net6_xlat_link_ops = {
	.name			= "xlat",
	.flags			= NET6_LINK_OWN | NET6_LINK_POINTOPOINT | NET6_LINK_ARRANGED |
				  NET6_LINK_TRANSIT,
	.send			= net6_xlat_send,
	.set_multicast		= net6_xlat_set_multicast,
	.make_iid		= net6_xlat_make_iid,
	.map_multicast		= net6_xlat_map_addr,
	.map_unicast		= net6_xlat_map_addr,
	.read_lladdr_option	= net6_xlat_read_option,
	.write_lladdr_option	= net6_xlat_write_option,
};

static bool net6_xlat_match(const struct net_device *dev);

static struct net6_link_type net6_xlat_link_type = {
	.ops	= &net6_xlat_link_ops,
	.match	= net6_xlat_match,
};

/* As a device */

static int net6_xlat_dev_start(struct net_device *dev)
{
	struct net6_xlat *x = netdev_priv(dev);

	if (net6_compat_tstats_alloc(dev))
		return -ENOMEM;
	x->stats = alloc_percpu_gfp(struct net6_xlat_stats, GFP_KERNEL_ACCOUNT);
	if (x->stats)
		return 0;
	net6_compat_tstats_free(dev);
	return -ENOMEM;
}

static void net6_xlat_dev_destroy(struct net_device *dev)
{
	struct net6_xlat *x = netdev_priv(dev);

	net6_xlat_map_free(x->map);
	free_percpu(x->stats);
	net6_compat_tstats_free(dev);
}

/* What is dropped is an error of what was sent here; the counters have the reasons. */
static void net6_xlat_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	const struct net6_xlat *x = netdev_priv(dev);
	int i;

	dev_get_tstats64(dev, stats);
	for (i = NET6_XLAT_GOOD + 1; i < NET6_XLAT_VERDICTS; i++)
		stats->tx_errors += net6_xlat_read_drop(x, i);
}

static const struct net_device_ops net6_xlat_netdev_ops = {
	.ndo_init		= net6_xlat_dev_start,
	.ndo_start_xmit		= net6_xlat_xmit,
	.ndo_get_stats64	= net6_xlat_stats64,
};

static bool net6_xlat_match(const struct net_device *dev)
{
	return dev->netdev_ops == &net6_xlat_netdev_ops;
}

/**
 * net6_xlat_of() - the translator that a device is
 * @dev: device
 *
 * Context: RTNL or RCU read lock held. Return: it, NULL if it is none.
 */
struct net6_xlat *net6_xlat_of(struct net_device *dev)
{
	return net6_xlat_match(dev) ? netdev_priv(dev) : NULL;
}

static void net6_xlat_dellink(struct net_device *dev, struct list_head *head)
{
	unregister_netdevice_queue(dev, head);
}

/* Translators are made over a netlink family of ours; this lets `ip link del`, the end of a
 * namespace and that of the module remove them.
 */
static struct rtnl_link_ops net6_xlat_rtnl_ops __read_mostly = {
	.kind		= "net6xlat",
	.dellink	= net6_xlat_dellink,
};

/* ARPHRD_VOID: no program and no part of the kernel configures such a device. A packet of IPv4's
 * keeps its route until it is translated, for ICMP errors about it.
 */
static void net6_xlat_setup(struct net_device *dev)
{
	netdev_features_t offloads = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA |
				     NETIF_F_HW_CSUM | NETIF_F_ALL_TSO | NETIF_F_GSO_UDP_L4;

	dev->netdev_ops = &net6_xlat_netdev_ops;
	dev->rtnl_link_ops = &net6_xlat_rtnl_ops;
	dev->priv_destructor = net6_xlat_dev_destroy;
	dev->needs_free_netdev = true;
	dev->type = ARPHRD_VOID;
	dev->needed_headroom = LL_MAX_HEADER + NET6_XLAT_IPV6 + NET6_XLAT_FRAG - NET6_XLAT_IPV4;
	dev->flags = IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->priv_flags &= ~IFF_XMIT_DST_RELEASE;
	dev->min_mtu = NET6_XLAT_MIN_MTU;
	dev->max_mtu = NET6_XLAT_MAX_MTU;
	dev->mtu = NET6_XLAT_MTU;
	dev->features |= offloads;
	dev->hw_features |= offloads;
	net6_compat_lockless_tx(dev);
	net6_compat_netns_local(dev);
}

/**
 * net6_xlat_add() - make a translator and bring it up
 * @net: namespace
 * @name: of the device; may hold a %d
 * @map: addresses, built; the translator's if this succeeds
 * @extack: why not
 *
 * Context: process, RTNL held. Return: 0, -EEXIST, -ENOMEM, or -errno of the device.
 */
int net6_xlat_add(struct net *net, const char *name, struct net6_xlat_map *map,
		  struct netlink_ext_ack *extack)
{
	struct net_device *dev;
	struct net6_xlat *x;
	int err;

	ASSERT_RTNL();
	dev = alloc_netdev(sizeof(*x), name, NET_NAME_USER, net6_xlat_setup);
	if (!dev)
		return -ENOMEM;
	dev_net_set(dev, net);
	x = netdev_priv(dev);
	x->dev = dev;
	err = register_netdevice(dev);
	if (err) {
		free_netdev(dev);
		NL_SET_ERR_MSG(extack, "no device of this name can be made");
		return err;
	}
	x->map = map;
	err = dev_open(dev, extack);
	if (!err && !net6_link_iface(dev))
		err = -EOPNOTSUPP;
	if (err) {
		NL_SET_ERR_MSG(extack, "net6 does not attach it");
		unregister_netdevice(dev);
		/* Nobody sends here any more; the device is freed when RTNL is released. */
		x->map = NULL;
	}
	return err;
}

/**
 * net6_xlat_del() - remove a translator
 * @x: it
 *
 * Context: process, RTNL held.
 */
void net6_xlat_del(struct net6_xlat *x)
{
	ASSERT_RTNL();
	unregister_netdevice(x->dev);
}

/**
 * net6_xlat_dev_init() - get ready for translators
 *
 * Context: process, sleeps. Return: 0 or -errno.
 */
int net6_xlat_dev_init(void)
{
	int err = rtnl_link_register(&net6_xlat_rtnl_ops);

	if (err)
		return err;
	err = net6_link_register(&net6_xlat_link_type);
	if (err)
		rtnl_link_unregister(&net6_xlat_rtnl_ops);
	return err;
}

/**
 * net6_xlat_dev_exit() - end of all translators, whatever traffic there is
 *
 * Context: process, sleeps.
 */
void net6_xlat_dev_exit(void)
{
	net6_link_unregister(&net6_xlat_link_type);
	rtnl_link_unregister(&net6_xlat_rtnl_ops);
}
