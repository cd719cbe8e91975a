// SPDX-License-Identifier: GPL-2.0
/* A packet's way up: validity (RFC 8200 section 3, RFC 4291), is it ours, extension
 * headers, and the protocol switch. Packets for others are dropped, or forwarded
 * where this is a router.
 */
#include <linux/netfilter.h>
#include <net/ipv6.h>

#include "proto.h"
#include "addr.h"
#include "exthdr.h"
#include "forward.h"
#include "icmp.h"
#include "nfhook.h"
#include "proxy.h"

/* Addresses that begin with zeros or ones: the few that are not allowed everywhere. */
static int net6_rcv_check_addrs(const struct ipv6hdr *h, bool looped)
{
	int stype = ipv6_addr_type(&h->saddr);
	int dtype = ipv6_addr_type(&h->daddr);

	/* RFC 4291 2.7: "Multicast addresses must not be used as source addresses". RFC 4291
	 * 2.5.3: ::1 never leaves a node and "must be dropped" from the wire. RFC 4942 2.2:
	 * IPv4-mapped addresses do not belong in IPv6 headers.
	 */
	if (stype & (IPV6_ADDR_MULTICAST | IPV6_ADDR_MAPPED))
		return NET6_DROP_HEADER_SOURCE;
	if ((stype & IPV6_ADDR_LOOPBACK) && !looped)
		return NET6_DROP_HEADER_SOURCE;
	if (dtype == IPV6_ADDR_ANY || (dtype & IPV6_ADDR_MAPPED))
		return NET6_DROP_HEADER_DEST;
	if ((dtype & IPV6_ADDR_LOOPBACK) && !looped)
		return NET6_DROP_HEADER_DEST;
	/* RFC 4291 2.7: scope 0 "must be silently dropped", scope 1 is for loopback. */
	if ((dtype & IPV6_ADDR_MULTICAST) &&
	    IPV6_ADDR_MC_SCOPE(&h->daddr) <= (looped ? 0 : 1))
		return NET6_DROP_HEADER_DEST;
	return NET6_DROP_MAX;
}

static bool net6_rcv_usual_addr(const struct in6_addr *addr)
{
	return addr->s6_addr32[0] && addr->s6_addr[0] != 0xff;
}

static __always_inline int __net6_rcv_check(struct sk_buff *skb, bool looped)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	unsigned int len = ntohs(h->payload_len) + sizeof(*h);
	int reason;

	if (unlikely(h->version != 6))
		return NET6_DROP_HEADER_VERSION;
	if (unlikely(!net6_rcv_usual_addr(&h->saddr) || !net6_rcv_usual_addr(&h->daddr))) {
		reason = net6_rcv_check_addrs(h, looped);
		if (reason != NET6_DROP_MAX)
			return reason;
	}
	if (unlikely(len > skb->len))
		return NET6_DROP_HEADER_LENGTH;
	/* RFC 2675: the length is in the Hop-by-Hop Options, for whose sake it is refused. */
	if (unlikely(!h->payload_len && h->nexthdr == NEXTHDR_HOP))
		return NET6_DROP_MAX;
	if (unlikely(pskb_trim_rcsum(skb, len)))
		return NET6_DROP_NO_MEMORY;
	return NET6_DROP_MAX;
}

/**
 * net6_rcv_check() - is a received packet in order?
 * @skb: data at the IPv6 header, which is linear
 * @looped: sent by ourselves
 *
 * Context: any. Return: NET6_DROP_MAX if it is; else why it is to be dropped. If it is, it ends
 * where its header says, unless it may be a jumbogram.
 */
int net6_rcv_check(struct sk_buff *skb, bool looped)
{
	return __net6_rcv_check(skb, looped);
}

/* Walk what is behind the IPv6 header; @skb's data is there. */
static void net6_rcv_walk(struct net6_iface *iface, struct sk_buff *skb)
{
	const struct net6_proto *proto;
	unsigned int headers = 0;
	net6_exthdr_fn handler;
	bool wanted = false;

	for (;;) {
		u8 nexthdr = net6_rx_cb(skb)->nexthdr;

		skb_reset_transport_header(skb);
		if (static_branch_unlikely(&net6_proto_tapped))
			wanted = net6_proto_tap_rcv(skb, nexthdr);
		proto = net6_proto_find(nexthdr);
		if (likely(proto)) {
			NET6_INC_IFACE(iface, Ip6InDelivers);
			proto->rcv(skb);
			return;
		}
		handler = net6_exthdr_find(nexthdr);
		if (!handler && wanted) {
			NET6_INC_IFACE(iface, Ip6InDelivers);
			consume_skb(skb);
			return;
		}
		if (!handler) {
			/* RFC 8200 section 4: code 1, pointer to the unrecognised value */
			net6_exthdr_problem(skb, NET6_DROP_NEXTHDR_UNKNOWN,
					    NET6_PARAM_NEXT_HEADER, net6_rx_cb(skb)->nhoff);
			return;
		}
		/* RFC 8504 5.3 lets a host limit the number of extension headers. */
		if (++headers > READ_ONCE(iface->nn->limits.max_exthdrs)) {
			net6_exthdr_problem(skb, NET6_DROP_EXTHDR_LIMIT,
					    NET6_PARAM_TOO_MANY_HEADERS, net6_rx_cb(skb)->nhoff);
			return;
		}
		skb = handler(skb);
		if (!skb)
			return;
	}
}

static const u16 net6_rcv_flags[] = {
	[NET6_ACCEPT_UNICAST]	= 0,
	[NET6_ACCEPT_ANYCAST]	= NET6_RX_ANYCAST,
	[NET6_ACCEPT_MULTICAST]	= NET6_RX_MULTICAST,
};

static __always_inline void __net6_rcv_deliver(struct net6_iface *iface, struct sk_buff *skb,
					       const struct net6_accept *accept, bool reassembled)
{
	struct net6_rx_cb *cb = net6_rx_cb(skb);
	u16 flags = net6_rcv_flags[accept->type];

	if (skb->pkt_type == PACKET_LOOPBACK)
		flags |= NET6_RX_LOOPBACK;
	else if (skb->pkt_type == PACKET_MULTICAST || skb->pkt_type == PACKET_BROADCAST)
		flags |= NET6_RX_LL_MULTICAST;
	if (unlikely(reassembled))
		flags |= NET6_RX_FRAGMENTED;
	nf_reset_ct(skb);
	/* A sender's time of departure is no time of arrival. */
	skb_clear_delivery_time(skb);
	cb->iface = iface;
	cb->ifindex = net6_rcv_ifindex(iface, skb);
	cb->flags = flags;
	cb->nhoff = offsetof(struct ipv6hdr, nexthdr);
	cb->nexthdr = ipv6_hdr(skb)->nexthdr;
	if (likely(skb->ip_summed != CHECKSUM_COMPLETE))
		__skb_pull(skb, sizeof(struct ipv6hdr));
	else
		skb_pull_rcsum(skb, sizeof(struct ipv6hdr));
	net6_rcv_walk(iface, skb);
}

/**
 * net6_rcv_deliver() - hand a packet of ours to whom it is for
 * @iface: interface it came in on
 * @skb: in order, data at the IPv6 header; consumed
 * @accept: the entry of its destination
 * @reassembled: it came in fragments
 *
 * Context: softirq or BH disabled, RCU read lock held.
 */
void net6_rcv_deliver(struct net6_iface *iface, struct sk_buff *skb,
		      const struct net6_accept *accept, bool reassembled)
{
	__net6_rcv_deliver(iface, skb, accept, reassembled);
}

static void net6_rcv_ours(struct net6_iface *iface, struct sk_buff *skb,
			  const struct net6_accept *accept, bool reassembled)
{
	bool looped = skb->pkt_type == PACKET_LOOPBACK;
	struct net6_net *nn = iface->nn;
	int reason;

	NET6_INC_IFACE(iface, Ip6InReceives);
	NET6_ADD_IFACE(iface, Ip6InOctets, skb->len);
	skb_reset_network_header(skb);
	reason = __net6_rcv_check(skb, looped);
	if (unlikely(reason != NET6_DROP_MAX)) {
		net6_drop(nn, skb, reason);
		return;
	}
	/* A sender on this host waits for its pages (MSG_ZEROCOPY): no queue may keep them. */
	if (unlikely(skb_orphan_frags_rx(skb, GFP_ATOMIC))) {
		net6_drop(nn, skb, NET6_DROP_NO_MEMORY);
		return;
	}

	if (accept->type == NET6_ACCEPT_MULTICAST)
		NET6_INC_IFACE(iface, Ip6InMcastPkts);
	skb_orphan(skb);
	skb_dst_drop(skb);
	if (!net6_nf_on(NF_INET_LOCAL_IN) || net6_nf_local_in(iface, skb, reassembled))
		__net6_rcv_deliver(iface, skb, accept, reassembled);
}

/**
 * net6_rcv_accepted() - receive a packet whose destination was found to be ours
 * @iface: interface it came in on
 * @skb: not shared, data at the IPv6 header, which is linear; consumed
 * @accept: the entry of that address
 *
 * Context: softirq or BH disabled, RCU read lock held.
 */
void net6_rcv_accepted(struct net6_iface *iface, struct sk_buff *skb,
		       const struct net6_accept *accept)
{
	net6_rcv_ours(iface, skb, accept, false);
}

/**
 * net6_rcv_route() - receive or forward a packet
 * @iface: usable interface that it came in on
 * @skb: not shared, data at the IPv6 header, which is linear; consumed
 * @reassembled: it came in fragments
 *
 * Context: softirq or BH disabled, RCU read lock held.
 */
void net6_rcv_route(struct net6_iface *iface, struct sk_buff *skb, bool reassembled)
{
	const struct net6_accept *accept;
	struct net6_net *nn = iface->nn;

	accept = net6_accept_find_rcv(nn, &ipv6_hdr(skb)->daddr, iface);
	if (unlikely(!accept))
		accept = net6_proxy_accept(iface, skb);
	if (likely(accept))
		net6_rcv_ours(iface, skb, accept, reassembled);
	else if (net6_forward_on(iface) && !net6_iface_is_loopback(iface))
		net6_forward(iface, skb, reassembled);
	else
		net6_drop(nn, skb, NET6_DROP_NOT_OURS);
}

void net6_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	struct net6_net *nn = iface->nn;

	if (unlikely(!net6_iface_usable(iface))) {
		net6_drop(nn, skb, NET6_DROP_IFACE_DOWN);
		return;
	}
	if (unlikely(!pskb_may_pull(skb, sizeof(struct ipv6hdr)))) {
		net6_drop(nn, skb, NET6_DROP_HEADER_SHORT);
		return;
	}
	skb_reset_network_header(skb);
	if (net6_nf_on(NF_INET_PRE_ROUTING))
		net6_nf_rcv(iface, skb);
	else
		net6_rcv_route(iface, skb, false);
}
EXPORT_SYMBOL_GPL(net6_rcv);

/**
 * net6_input_init() - get ready to receive
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_input_init(void)
{
	return net6_reasm_init();
}

/**
 * net6_input_exit() - end of receiving; all namespaces are gone
 *
 * Context: process, sleeps.
 */
void net6_input_exit(void)
{
	net6_reasm_exit();
}
