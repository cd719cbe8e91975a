// SPDX-License-Identifier: GPL-2.0
/* A tunnel of somebody else that leads back into one of net6's. What is sent to such a
 * device goes, behind an IPv6 header, to the device that it was made on, in the same
 * call: `ip link add link t0 name n0 type net6nest`.
 */
#include <linux/if_arp.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/rtnetlink.h>

#include "../../net6/compat/netdevice.h"

struct nest_priv {
	int	link;		/* ifindex of the device below */
};

/* 2001:db8:77::1 and ::2; nobody looks at them. */
static const struct ipv6hdr nest_header = {
	.version	= 6,
	.nexthdr	= IPPROTO_IPIP,
	.hop_limit	= 64,
	.saddr.s6_addr	= { 0x20, 0x01, 0x0d, 0xb8, 0, 0x77, [15] = 1 },
	.daddr.s6_addr	= { 0x20, 0x01, 0x0d, 0xb8, 0, 0x77, [15] = 2 },
};

static netdev_tx_t nest_xmit(struct sk_buff *skb, struct net_device *dev)
{
	const struct nest_priv *priv = netdev_priv(dev);
	struct net_device *lower = dev_get_by_index_rcu(dev_net(dev), priv->link);
	__be16 len = htons(skb->len);
	struct ipv6hdr *ip6;

	if (!lower || skb_cow_head(skb, sizeof(*ip6) + LL_RESERVED_SPACE(lower)))
		goto drop;
	ip6 = skb_push(skb, sizeof(*ip6));
	*ip6 = nest_header;
	ip6->payload_len = len;
	skb_reset_network_header(skb);
	skb_dst_drop(skb);
	skb->protocol = htons(ETH_P_IPV6);
	skb->dev = lower;
	if (dev_hard_header(skb, lower, ETH_P_IPV6, lower->broadcast, NULL, skb->len) < 0)
		goto drop;
	dev_queue_xmit(skb);
	return NETDEV_TX_OK;

drop:
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops nest_netdev_ops = {
	.ndo_start_xmit	= nest_xmit,
};

static void nest_setup(struct net_device *dev)
{
	dev->netdev_ops = &nest_netdev_ops;
	dev->needs_free_netdev = true;
	dev->type = ARPHRD_VOID;
	dev->flags = IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	net6_compat_lockless_tx(dev);
	dev->mtu = 1400;
}

static int nest_newlink(NET6_COMPAT_NEWLINK_PARAMS)
{
	struct nlattr **tb = net6_compat_newlink_tb;
	struct nest_priv *priv = netdev_priv(dev);

	if (!tb[IFLA_LINK])
		return -EINVAL;
	priv->link = nla_get_u32(tb[IFLA_LINK]);
	return register_netdevice(dev);
}

static struct rtnl_link_ops nest_link_ops __read_mostly = {
	.kind		= "net6nest",
	.priv_size	= sizeof(struct nest_priv),
	.setup		= nest_setup,
	.newlink	= nest_newlink,
};

static int __init nest_init(void)
{
	return rtnl_link_register(&nest_link_ops);
}

static void __exit nest_exit(void)
{
	rtnl_link_unregister(&nest_link_ops);
}

module_init(nest_init);
module_exit(nest_exit);
MODULE_ALIAS_RTNL_LINK("net6nest");
MODULE_DESCRIPTION("A tunnel that leads back into net6's, for a test");
MODULE_LICENSE("GPL");
