// SPDX-License-Identifier: GPL-2.0
/* Forwarding of unicast packets between interfaces, RFC 8200, RFC 4291, RFC 4443. The
 * destination cache is asked for the next hop alone. Options for each hop are not looked at
 * (RFC 8200 section 4 lets a router leave them alone), groups are not forwarded. Filters are
 * netfilter's, in takeover mode (nfhook.c).
 */
#include <linux/netfilter.h>
#include <net/addrconf.h>
#include <net/dsfield.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "../compat/gso.h"
#include "../compat/in6.h"
#include "addr.h"
#include "dest.h"
#include "forward.h"
#include "icmp.h"
#include "nd.h"
#include "nfhook.h"

/* RFC 4291 2.7.1: what a router is a member of */
static const struct in6_addr *const net6_forward_groups[] = {
	&in6addr_interfacelocal_allrouters,
	&in6addr_linklocal_allrouters,
	&in6addr_sitelocal_allrouters,
};

/**
 * net6_forward_set() - become a router on an interface, or a host again
 * @iface: interface that is in the tables
 * @on: a router
 *
 * All that routers have advertised to the host is forgotten.
 * Context: nn->lock held.
 */
void net6_forward_set(struct net6_iface *iface, bool on)
	__must_hold(&iface->nn->lock)
{
	unsigned int i;

	lockdep_assert_held(&iface->nn->lock);
	if (on == iface->forwarding || test_bit(NET6_IFACE_DEAD, &iface->flags))
		return;
	WRITE_ONCE(iface->forwarding, on);
	for (i = 0; i < ARRAY_SIZE(net6_forward_groups); i++) {
		if (!on)
			net6_group_leave_locked(iface, net6_forward_groups[i]);
		else if (net6_group_join_locked(iface, net6_forward_groups[i]))
			netdev_warn(iface->dev, "net6: cannot join the all-routers groups\n");
	}
	net6_anycast_set_router(iface);
	net6_nd_set_router(iface);
	net6_dest_flush(iface->nn);
}

/**
 * net6_forward_wants() - is this packet net6's to forward, beside the native stack?
 * @iface: interface it came in on
 * @skb: packet, network header linear, destination no address of net6's
 *
 * It is not if it is for an address of native's, or does not leave the link.
 * Context: softirq, RCU read lock held.
 */
bool net6_forward_wants(const struct net6_iface *iface, const struct sk_buff *skb)
{
	const struct in6_addr *daddr = &ipv6_hdr(skb)->daddr;

	if (likely(!net6_forward_on(iface)) || skb->pkt_type != PACKET_HOST ||
	    (ipv6_addr_type(daddr) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL)))
		return false;
	/* Native has no table of addresses when it is off. */
	return ipv6_mod_enabled() && !ipv6_dev_find(iface->nn->net, daddr, NULL);
}

/* Returns NET6_DROP_MAX for a packet that may be forwarded. */
static int net6_forward_check(const struct sk_buff *skb)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	int dtype = ipv6_addr_type(&h->daddr);

	if (skb->pkt_type != PACKET_HOST)
		return NET6_DROP_NOT_OURS;
	/* RFC 4291 2.5.2: "An IPv6 packet with a source address of unspecified must never
	 * be forwarded by an IPv6 router." 2.5.6: nor one to a link-local address.
	 */
	if (ipv6_addr_any(&h->saddr))
		return NET6_DROP_HEADER_SOURCE;
	if (dtype & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_MULTICAST))
		return NET6_DROP_NOT_OURS;
	/* A jumbogram (RFC 2675), or nothing behind the header: its length is not known. */
	if (!h->payload_len && h->nexthdr == NEXTHDR_HOP)
		return NET6_DROP_HEADER_LENGTH;
	/* Its segments were merged by hardware: they are not what was sent. */
	if (skb_warn_if_lro(skb))
		return NET6_DROP_FORWARD_LRO;
	return NET6_DROP_MAX;
}

/* RFC 4443 3.1; -EINVAL is a route that swallows what it is asked for. */
static void net6_forward_no_route(struct net6_net *nn, struct sk_buff *skb, int err)
{
	if (err != -EINVAL)
		net6_icmp_send(skb, ICMPV6_DEST_UNREACH,
			       err == -EACCES ? ICMPV6_ADM_PROHIBITED : ICMPV6_NOROUTE, 0);
	net6_drop(nn, skb, NET6_DROP_NO_ROUTE);
}

/* RFC 4443 3.1: code 2, "Beyond scope of source address" (RFC 4291 2.5.6) */
static bool net6_forward_leaves_scope(const struct net6_iface *iface, const struct sk_buff *skb,
				      const struct net6_hop *hop)
{
	return hop->neigh->iface != iface &&
	       (ipv6_addr_type(&ipv6_hdr(skb)->saddr) & IPV6_ADDR_LINKLOCAL);
}

static bool net6_forward_too_big(const struct sk_buff *skb, unsigned int mtu)
{
	if (skb->len <= mtu)
		return false;
	return !skb_is_gso(skb) || !skb_gso_validate_network_len(skb, mtu);
}

/* RFC 4443 3.1: "destined to an address within a subnet assigned to that same link [...]
 * the packet MUST NOT be forwarded back onto the arrival link"
 */
static bool net6_forward_comes_back(const struct net6_iface *iface, const struct net6_hop *hop)
{
	return hop->neigh->iface == iface && (hop->flags & NET6_DEST_ONLINK) &&
	       (iface->ops->flags & NET6_LINK_POINTOPOINT);
}

/**
 * net6_forward_finish() - send a packet that netfilter has seen
 * @neigh: next hop, on an interface that is usable; borrowed
 * @skb: one hop further, skb->dev set; consumed
 * @reassembled: it came in fragments
 *
 * Context: BH disabled, RCU read lock held. Return: as net6_output().
 */
int net6_forward_finish(struct net6_neigh *neigh, struct sk_buff *skb, bool reassembled)
{
	NET6_INC_IFACE(neigh->iface, Ip6OutForwDatagrams);
	NET6_ADD_IFACE(neigh->iface, Ip6OutOctets, skb->len);
	/* Put together for the filter's sake (nfhook.c): in pieces that no link on the rest of
	 * its way can refuse.
	 */
	if (unlikely(reassembled && skb->len > NET6_MIN_MTU))
		return net6_frag_output(skb, neigh, NET6_MIN_MTU);
	return net6_neigh_output(neigh, skb);
}

/* All rules are kept: one hop further. */
static void net6_forward_output(struct net6_iface *iface, struct net6_neigh *neigh,
				struct sk_buff *skb, bool reassembled)
{
	struct net6_iface *out = neigh->iface;

	if (skb_cow(skb, LL_RESERVED_SPACE(out->dev))) {
		net6_drop(iface->nn, skb, NET6_DROP_NO_MEMORY);
		return;
	}
	ipv6_hdr(skb)->hop_limit--;
	skb_forward_csum(skb);
	skb_clear_tstamp(skb);
	skb->priority = rt_tos2priority(ipv6_get_dsfield(ipv6_hdr(skb)));
	if ((net6_nf_on(NF_INET_FORWARD) || net6_nf_on(NF_INET_POST_ROUTING)) &&
	    !net6_nf_forward(iface, skb, out, reassembled))
		return;
	skb->dev = out->dev;
	net6_forward_finish(neigh, skb, reassembled);
}

static void net6_forward_to(struct net6_iface *iface, const struct net6_hop *hop,
			    struct sk_buff *skb, bool reassembled)
{
	struct net6_net *nn = iface->nn;
	struct net6_iface *out;
	unsigned int mtu;

	if (hop->flags & NET6_DEST_LOCAL) {
		net6_drop(nn, skb, NET6_DROP_NOT_OURS);
		return;
	}
	if (net6_forward_leaves_scope(iface, skb, hop)) {
		net6_icmp_send(skb, ICMPV6_DEST_UNREACH, ICMPV6_NOT_NEIGHBOUR, 0);
		net6_drop(nn, skb, NET6_DROP_FORWARD_SCOPE);
		return;
	}
	if (net6_forward_comes_back(iface, hop)) {
		net6_icmp_send(skb, ICMPV6_DEST_UNREACH, ICMPV6_ADDR_UNREACH, 0);
		net6_drop(nn, skb, NET6_DROP_FORWARD_BACK);
		return;
	}
	out = hop->neigh->iface;
	if (!net6_iface_usable(out)) {
		net6_drop(nn, skb, NET6_DROP_IFACE_DOWN);
		return;
	}
	mtu = min(READ_ONCE(out->mtu), hop->mtu);
	if (!reassembled && net6_forward_too_big(skb, mtu)) {
		net6_icmp_send(skb, ICMPV6_PKT_TOOBIG, 0, mtu);
		net6_drop(nn, skb, NET6_DROP_FORWARD_TOO_BIG);
		return;
	}
	if (out == iface)
		net6_redirect_send(iface, skb, hop);
	net6_forward_output(iface, hop->neigh, skb, reassembled);
}

static noinline int net6_forward_ruled(struct net6_net *nn, struct net6_dest_key *key,
				       struct sk_buff *skb, int iif, struct net6_hop *hop)
{
	struct flowi6 fl6;

	net6_rules_ask_packet(nn, key, skb, iif, &fl6);
	key->rule = net6_rules_hash(nn, &fl6);
	return net6_dest_forward(nn, key, &fl6, skb, hop);
}

static __always_inline int net6_forward_lookup(struct net6_net *nn, struct sk_buff *skb, int iif,
					       int oif, struct net6_hop *hop)
{
	struct net6_dest_key key = { .daddr = ipv6_hdr(skb)->daddr, .oif = oif };

	if (READ_ONCE(nn->n_routers) > 1)
		key.first_hop = NET6_DEST_SETTLED;
	if (net6_rules_on(nn))
		return net6_forward_ruled(nn, &key, skb, iif, hop);
	return net6_dest_forward(nn, &key, NULL, skb, hop);
}

/**
 * net6_forward_by() - where a packet of somebody else goes by a VRF that a route leads it to
 * @iface: the VRF's own interface
 * @skb: the packet, data at the IPv6 header; to a unicast address that is not link-local
 * @hop: filled; good within the RCU section
 *
 * Context: BH disabled, RCU read lock held. Return: 0 or -errno, as net6_dest_forward().
 */
int net6_forward_by(const struct net6_iface *iface, struct sk_buff *skb, struct net6_hop *hop)
{
	return net6_forward_lookup(iface->nn, skb, 0, iface->ifindex, hop);
}

/**
 * net6_forward() - send a packet for somebody else on its way
 * @iface: interface it came in on, on which this host is a router
 * @skb: not shared, data at the IPv6 header, which is linear; consumed
 * @reassembled: it came in fragments
 *
 * Context: softirq or BH disabled, RCU read lock held.
 */
void net6_forward(struct net6_iface *iface, struct sk_buff *skb, bool reassembled)
{
	struct net6_net *nn = iface->nn;
	struct net6_hop hop;
	int reason, err;

	NET6_INC_IFACE(iface, Ip6InReceives);
	NET6_ADD_IFACE(iface, Ip6InOctets, skb->len);
	skb_reset_network_header(skb);
	reason = net6_rcv_check(skb, false);
	if (reason == NET6_DROP_MAX)
		reason = net6_forward_check(skb);
	if (unlikely(reason != NET6_DROP_MAX)) {
		net6_drop(nn, skb, reason);
		return;
	}
	skb_orphan(skb);
	skb_dst_drop(skb);
	net6_nf_reset(skb);
	/* RFC 4443 3.3 */
	if (ipv6_hdr(skb)->hop_limit <= 1) {
		net6_icmp_send(skb, ICMPV6_TIME_EXCEED, ICMPV6_EXC_HOPLIMIT, 0);
		net6_drop(nn, skb, NET6_DROP_FORWARD_HOP_LIMIT);
		return;
	}
	err = net6_forward_lookup(nn, skb, iface->ifindex, 0, &hop);
	if (likely(!err))
		net6_forward_to(iface, &hop, skb, reassembled);
	else if (err == -ENOMEM)
		net6_drop(nn, skb, NET6_DROP_NO_MEMORY);
	else
		net6_forward_no_route(nn, skb, err);
}
