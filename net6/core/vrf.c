// SPDX-License-Identifier: GPL-2.0
/* The link of a VRF's device. As lo for others, it is where packets to addresses of the VRF come
 * up. Beside that a route of another table may lead there: the packet is routed again, in the VRF.
 * So routes leak from one VRF to another; a packet does not go from there to a third one.
 */
#include <net/ipv6.h>

#include "../compat/gso.h"
#include "addr.h"
#include "dest.h"
#include "forward.h"
#include "icmp.h"
#include "ip.h"
#include "loopback.h"
#include "nfhook.h"
#include "rule.h"
#include "vrf.h"

/* Of a packet of ours, by an entry that its errors find and that learns the path's MTU. */
static int net6_vrf_hop_own(const struct net6_iface *iface, struct sk_buff *skb,
			    struct net6_hop *hop)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	struct net6_dest *dest;
	struct net6_flow flow;

	net6_rules_flow(iface->nn, skb, 0, &flow);
	dest = net6_dest_lookup_flow(iface->nn, &h->saddr, &h->daddr, iface->ifindex, &flow);
	if (IS_ERR(dest))
		return PTR_ERR(dest);
	hop->neigh = dest->neigh;
	hop->flags = dest->flags;
	hop->mtu = net6_dest_mtu(dest);
	net6_dest_put(dest);	/* the RCU section keeps the neighbor */
	return 0;
}

/* Where the VRF's table leads to. What has come in makes entries as others that are forwarded. */
static int net6_vrf_hop(const struct net6_iface *iface, struct sk_buff *skb, struct net6_hop *hop)
{
	int err = skb->skb_iif ? net6_forward_by(iface, skb, hop) :
				 net6_vrf_hop_own(iface, skb, hop);

	if (err || hop->flags & NET6_DEST_LOCAL)
		return err;
	if (net6_iface_is_loopback(hop->neigh->iface))
		return -ELOOP;
	hop->mtu = min(hop->mtu, READ_ONCE(hop->neigh->iface->mtu));
	return 0;
}

/* To an address of the VRF's, on the interface that has it. */
static int net6_vrf_loop(struct net6_iface *iface, struct sk_buff *skb)
{
	const struct net6_accept *own = net6_accept_in(iface->nn, &ipv6_hdr(skb)->daddr,
						       net6_iface_table(iface)->id);

	if (own)
		return net6_loopback_queue(iface, own->iface->ifindex, skb);
	net6_drop(iface->nn, skb, NET6_DROP_NO_ROUTE);
	return -ENETUNREACH;
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

/* It was counted where it was sent to the VRF. */
static int net6_vrf_output(const struct net6_hop *hop, struct sk_buff *skb)
{
	struct net6_iface *out = hop->neigh->iface;
	int err;

	if (unlikely(!net6_iface_usable(out))) {
		net6_drop(out->nn, skb, NET6_DROP_IFACE_DOWN);
		return -ENETDOWN;
	}
	if (unlikely(!net6_vrf_fits(skb, hop->mtu))) {
		net6_vrf_too_big(out->nn, skb, hop->mtu);
		return -EMSGSIZE;
	}
	if (net6_nf_on(NF_INET_POST_ROUTING) && !net6_nf_post_again(out, skb, &err))
		return err;
	skb->dev = out->dev;
	if (unlikely(skb->len > hop->mtu && !skb_is_gso(skb)))
		return net6_frag_output(skb, hop->neigh, hop->mtu);
	return net6_neigh_output(hop->neigh, skb);
}

static int net6_vrf_send(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr)
{
	struct net6_hop hop;
	int err = net6_vrf_hop(iface, skb, &hop);

	if (err) {
		net6_drop(iface->nn, skb, err == -ENOMEM ? NET6_DROP_NO_MEMORY :
							   NET6_DROP_NO_ROUTE);
		return err;
	}
	return hop.flags & NET6_DEST_LOCAL ? net6_vrf_loop(iface, skb) :
					     net6_vrf_output(&hop, skb);
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
