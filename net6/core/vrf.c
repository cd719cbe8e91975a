// SPDX-License-Identifier: GPL-2.0
/* The link of a VRF's device. As lo for others, it is where packets to addresses of the VRF come
 * up. Beside that a route of another table may lead there: the packet is routed again, in the VRF.
 * So routes leak from one VRF to another; a packet does not go from there to a third one.
 */
#include <net/ipv6.h>

#include "../compat/gso.h"
#include "dest.h"
#include "icmp.h"
#include "ip.h"
#include "loopback.h"
#include "rule.h"
#include "vrf.h"

/* Where the VRF's table leads to. */
static struct net6_dest *net6_vrf_dest(const struct net6_iface *iface, struct sk_buff *skb)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	struct net6_dest *dest;
	struct net6_flow flow;

	net6_rules_flow(iface->nn, skb, 0, &flow);
	dest = net6_dest_lookup_flow(iface->nn, &h->saddr, &h->daddr, iface->ifindex, &flow);
	if (IS_ERR(dest) || dest->flags & NET6_DEST_LOCAL || !net6_iface_is_loopback(dest->iface))
		return dest;
	net6_dest_put(dest);
	return ERR_PTR(-ELOOP);
}

/* Who has sent it, on this host or another, is told by what it came in on. */
static void net6_vrf_too_big(struct net6_net *nn, struct sk_buff *skb, u32 mtu)
{
	struct net_device *in = dev_get_by_index_rcu(nn->net, skb->skb_iif);

	skb->dev = in ?: nn->net->loopback_dev;
	net6_icmp_send(skb, ICMPV6_PKT_TOOBIG, 0, mtu);
	net6_drop(nn, skb, NET6_DROP_OUT_TOO_BIG);
}

static bool net6_vrf_fits(const struct sk_buff *skb, u32 mtu)
{
	return skb->len <= mtu || skb->ignore_df ||
	       (skb_is_gso(skb) && skb_gso_validate_network_len(skb, mtu));
}

static int net6_vrf_send(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr)
{
	struct net6_dest *dest = net6_vrf_dest(iface, skb);
	int err = -EMSGSIZE;
	u32 mtu;

	if (IS_ERR(dest)) {
		net6_drop(iface->nn, skb, NET6_DROP_NO_ROUTE);
		return PTR_ERR(dest);
	}
	mtu = net6_dest_mtu(dest);
	if (unlikely(!(dest->flags & NET6_DEST_LOCAL) && !net6_vrf_fits(skb, mtu)))
		net6_vrf_too_big(iface->nn, skb, mtu);
	else
		err = net6_output_routed(skb, dest);
	net6_dest_put(dest);
	return err;
}

const struct net6_link_ops net6_vrf_ops = {
	.name			= "vrf",
	.flags			= NET6_LINK_MULTICAST | NET6_LINK_LOOPBACK |
				  NET6_LINK_POINTOPOINT,
	.send			= net6_vrf_send,
	.set_multicast		= net6_loopback_set_multicast,
	.make_iid		= net6_loopback_make_iid,
	.map_multicast		= net6_loopback_map_multicast,
	.read_lladdr_option	= net6_loopback_read_option,
	.write_lladdr_option	= net6_loopback_write_option,
};
