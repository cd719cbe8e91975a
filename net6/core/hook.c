// SPDX-License-Identifier: GPL-2.0
/* The ways into net6_rcv(). Beside the native stack there is a netdev ingress hook on each
 * device. It takes unicast packets for our addresses away, so that native never sees them, and
 * copies what is for our groups. Without a native stack: a packet handler of each device. Packets
 * shorter than an IPv6 header are left to native, which counts them.
 */
#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>

#include "addr.h"
#include "forward.h"
#include "ip.h"
#include "proxy.h"

#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)
/* A group's packet belongs to both stacks: native keeps the original. */
static void net6_hook_clone(struct net6_iface *iface, struct sk_buff *skb,
			    const struct net6_accept *accept)
{
	struct sk_buff *clone = skb_clone(skb, GFP_ATOMIC);

	if (clone) {
		__vlan_hwaccel_clear_tag(clone);
		net6_rcv_accepted(iface, clone, accept);
	} else {
		this_cpu_inc(iface->nn->mib->drop[NET6_DROP_NO_MEMORY]);
	}
}

/* A tagged frame on its way through the parent of a VLAN device is not ours there. One with
 * a priority only (IEEE 802.1Q: identifier 0) is, if there is no device for VLAN 0.
 */
static bool net6_hook_vlan(const struct sk_buff *skb)
{
	return skb_vlan_tag_present(skb) &&
	       (skb_vlan_tag_get_id(skb) ||
		__vlan_find_dev_deep_rcu(skb->dev, skb->vlan_proto, 0));
}

static unsigned int net6_hook_ingress(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	struct net6_iface *iface = priv;
	const struct net6_accept *accept;

	if (skb->protocol != htons(ETH_P_IPV6) || net6_hook_vlan(skb) ||
	    skb->pkt_type == PACKET_OTHERHOST || skb->pkt_type == PACKET_LOOPBACK)
		return NF_ACCEPT;
	if (iface->ops->flags & NET6_LINK_OWN) {
		skb = skb_share_check(skb, GFP_ATOMIC);
		if (skb)
			net6_rcv(iface, skb);
		else
			this_cpu_inc(iface->nn->mib->drop[NET6_DROP_NO_MEMORY]);
		return NF_STOLEN;
	}
	if (!net6_iface_usable(iface) || !pskb_may_pull(skb, sizeof(struct ipv6hdr)))
		return NF_ACCEPT;

	accept = net6_accept_find_rcv(iface->nn, &ipv6_hdr(skb)->daddr, iface);
	if (!accept)
		accept = net6_proxy_accept(iface, skb);
	if (!accept && !net6_forward_wants(iface, skb))
		return NF_ACCEPT;
	if (accept && accept->type == NET6_ACCEPT_MULTICAST) {
		net6_hook_clone(iface, skb, accept);
		return NF_ACCEPT;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb) {
		this_cpu_inc(iface->nn->mib->drop[NET6_DROP_NO_MEMORY]);
		return NF_STOLEN;
	}
	__vlan_hwaccel_clear_tag(skb);
	if (accept)
		net6_rcv_accepted(iface, skb, accept);
	else
		net6_forward(iface, skb, false);
	return NF_STOLEN;
}

static int net6_hook_register_ingress(struct net6_iface *iface)
{
	struct net_device *dev = iface->dev;

	/* A port's hook would see what is for its master. A VRF's port is for itself. */
	if ((netdev_master_upper_dev_get(dev) && !netif_is_l3_slave(dev)) ||
	    netdev_is_rx_handler_busy(dev))
		return -EBUSY;
	iface->hook = (struct nf_hook_ops) {
		.hook		= net6_hook_ingress,
		.dev		= dev,
		.priv		= iface,
		.pf		= NFPROTO_NETDEV,
		.hooknum	= NF_NETDEV_INGRESS,
		/* Behind the operator's own ingress filters. */
		.priority	= INT_MAX,
	};
	return nf_register_net_hook(iface->nn->net, &iface->hook);
}

static void net6_hook_unregister_ingress(struct net6_iface *iface)
{
	nf_unregister_net_hook(iface->nn->net, &iface->hook);
}
#else
static int net6_hook_register_ingress(struct net6_iface *iface)
{
	return -EOPNOTSUPP;
}

static void net6_hook_unregister_ingress(struct net6_iface *iface)
{
}
#endif

static int net6_hook_packet(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
			    struct net_device *orig_dev)
{
	struct net6_iface *iface = container_of(pt, struct net6_iface, packet);

	/* The kernel shows it to the handler of a VLAN's parent, too. */
	if (dev != iface->dev || skb->pkt_type == PACKET_OTHERHOST ||
	    skb->pkt_type == PACKET_LOOPBACK) {
		consume_skb(skb);
		return NET_RX_DROP;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	net6_rcv(iface, skb);
	return NET_RX_SUCCESS;
}

/* One for each interface, so that the packet need not look for it. */
static void net6_hook_register_packet(struct net6_iface *iface)
{
	iface->packet = (struct packet_type) {
		.type	= htons(ETH_P_IPV6),
		.dev	= iface->dev,
		.func	= net6_hook_packet,
	};
	dev_add_pack(&iface->packet);
}

/**
 * net6_hook_register() - let an interface receive
 * @iface: being attached; not the loopback
 *
 * Context: process, RTNL held.
 * Return: 0, -EBUSY for a device whose frames belong to a master, -EOPNOTSUPP if the
 * kernel lacks ingress hooks and native is up, -ENOMEM.
 */
int net6_hook_register(struct net6_iface *iface)
{
	int err;

	ASSERT_RTNL();
	if (iface->ops->flags & NET6_LINK_DIRECT)
		return 0;
	if (!ipv6_mod_enabled()) {
		net6_hook_register_packet(iface);
	} else {
		err = net6_hook_register_ingress(iface);
		if (err)
			return err;
	}
	set_bit(NET6_IFACE_HOOKED, &iface->flags);
	return 0;
}

/**
 * net6_hook_unregister() - no longer receive on an interface
 * @iface: may have no hook
 *
 * CPUs that are receiving on it are not waited for: synchronize_net() follows.
 * Context: process, RTNL held, may sleep.
 */
void net6_hook_unregister(struct net6_iface *iface)
{
	ASSERT_RTNL();
	if (!test_and_clear_bit(NET6_IFACE_HOOKED, &iface->flags))
		return;
	if (ipv6_mod_enabled())
		net6_hook_unregister_ingress(iface);
	else
		__dev_remove_pack(&iface->packet);
}
