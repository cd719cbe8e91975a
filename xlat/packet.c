// SPDX-License-Identifier: GPL-2.0
/* A packet's way through the translator: the rules of header.c and icmp.c, done to buffers. Large
 * packets (GSO) and checksums that are still to be completed go through as they are.
 */
#include <linux/inetdevice.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/icmp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net6/link.h>

#include "../net6/compat/gso.h"
#include "icmp.h"
#include "xlat.h"

#define NET6_XLAT_TRANSPORT	20	/* bytes of a transport's header that are looked at */
#define NET6_XLAT_WALK		(NET6_XLAT_IPV6 + NET6_XLAT_TRANSPORT)	/* most end there */
#define NET6_XLAT_WALK_MAX	1280	/* and in which all must */

/* What large packets are cut with. */
#define NET6_XLAT_CUT_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM)

static void net6_xlat_ctx(const struct net6_xlat *x, struct net6_xlat_ctx *ctx)
{
	*ctx = (struct net6_xlat_ctx){
		.map	= x->map,
		.mtu	= READ_ONCE(x->dev->mtu),
	};
}

/* The sender of an IPv4 packet is told, if it can do something about it. */
static void net6_xlat_tell4(struct sk_buff *skb, enum net6_xlat_verdict verdict)
{
	switch (verdict) {
	case NET6_XLAT_SOURCE_ROUTE:
		/* RFC 7915 section 4.1: "code 5, Source Route Failed" */
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_SR_FAILED, 0);
		break;
	case NET6_XLAT_DEST:
	case NET6_XLAT_HAIRPIN:
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, 0);
		break;
	case NET6_XLAT_PROTOCOL:
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_PROT_UNREACH, 0);
		break;
	default:
		break;
	}
}

static unsigned int net6_xlat_segments_left(const struct sk_buff *skb)
{
	const u8 *data = skb->data;
	unsigned int at = NET6_XLAT_IPV6;
	u8 next = data[6];

	/* It was walked, and there is one. */
	while (next != NEXTHDR_ROUTING && at + 8 <= skb_headlen(skb)) {
		next = data[at];
		at += (data[at + 1] + 1) * 8;
	}
	return at + 3;
}

static void net6_xlat_tell6(struct net6_xlat *x, struct sk_buff *skb,
			    enum net6_xlat_verdict verdict)
{
	struct net6_iface *iface = net6_link_iface(x->dev);

	if (!iface)
		return;
	/* RFC 7915 5.1: "Parameter Problem/Code 0 [...] pointing to the first octet of the Segments
	 * Left field"
	 */
	if (verdict == NET6_XLAT_SOURCE_ROUTE)
		net6_link_problem(iface, skb, net6_xlat_segments_left(skb));
	else if (verdict == NET6_XLAT_DEST || verdict == NET6_XLAT_HOSTS)
		net6_link_unreachable(iface, skb);
}

/* Bytes of the largest packet that will be made of it. */
static unsigned int net6_xlat_largest(const struct sk_buff *skb)
{
	unsigned int header = sizeof(struct udphdr);

	if (likely(!skb_is_gso(skb)))
		return skb->len;
	if (skb_shinfo(skb)->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6))
		header = tcp_hdrlen(skb);
	return min_t(unsigned int, skb->len,
		     skb_transport_offset(skb) + header + skb_shinfo(skb)->gso_size);
}

/* The transport's header can be written, and @room bytes in front of the packet. Checksums that
 * the device is to complete are those that the translator knows.
 */
static enum net6_xlat_verdict net6_xlat_prepare(struct sk_buff *skb,
						const struct net6_xlat_plan *plan,
						unsigned int room, bool *partial)
{
	unsigned int len = min_t(unsigned int, skb->len, plan->old_len + NET6_XLAT_TRANSPORT);

	if (skb_cow_head(skb, room + LL_RESERVED_SPACE(skb->dev)) ||
	    skb_ensure_writable(skb, len))
		return NET6_XLAT_NO_MEMORY;
	*partial = false;
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		*partial = net6_xlat_checksum_at(plan->proto) &&
			   skb_checksum_start_offset(skb) == plan->old_len &&
			   skb->csum_offset == net6_xlat_checksum_at(plan->proto);
		if (!*partial && skb_checksum_help(skb))
			return NET6_XLAT_NO_MEMORY;
	} else if (skb->ip_summed == CHECKSUM_COMPLETE) {
		skb->ip_summed = CHECKSUM_NONE;
	}
	return NET6_XLAT_GOOD;
}

/* The new headers in the place of the old ones. */
static void net6_xlat_swap(struct sk_buff *skb, const struct net6_xlat_plan *plan, bool to6)
{
	__skb_pull(skb, plan->old_len);
	skb_reset_transport_header(skb);
	__skb_push(skb, plan->new_len);
	skb_reset_network_header(skb);
	memcpy(skb->data, plan->header, plan->new_len);
	skb->protocol = to6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	if (!skb_is_gso(skb))
		return;
	if (skb_shinfo(skb)->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)) {
		skb_shinfo(skb)->gso_type &= ~(SKB_GSO_TCPV4 | SKB_GSO_TCPV6 | SKB_GSO_TCP_FIXEDID);
		skb_shinfo(skb)->gso_type |= to6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4;
	}
}

/* RFC 7915 5.1: a packet that may be fragmented has an Identification of its own. */
static void net6_xlat_give_id(const struct net6_xlat *x, struct sk_buff *skb)
{
	struct iphdr *iph = ip_hdr(skb);

	__ip_select_ident(dev_net(x->dev), iph, skb_shinfo(skb)->gso_segs ?: 1);
	ip_send_check(iph);
}

/* RFC 7915 4.5: a UDP checksum that is missing. Whoever sends the packet computes it. */
static void net6_xlat_give_checksum(struct net6_xlat *x, struct sk_buff *skb, unsigned int len)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);

	NET6_XLAT_INC(x, To6UdpChecksums);
	udp_hdr(skb)->check = ~csum_ipv6_magic(&h->saddr, &h->daddr, len, IPPROTO_UDP, 0);
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	skb->ip_summed = CHECKSUM_PARTIAL;
}

/* An ICMP error is written anew. */
static enum net6_xlat_verdict net6_xlat_error_skb(struct net6_xlat *x, struct sk_buff *skb,
						  const struct net6_xlat_ctx *ctx,
						  struct net6_xlat_plan *plan, bool to6)
{
	unsigned int most = to6 ? NET6_XLAT_ERROR6_MAX : NET6_XLAT_ERROR4_MAX, len;
	enum net6_xlat_verdict verdict;
	struct sk_buff *error;
	u32 sum;

	if (skb_linearize(skb) ||
	    (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb)))
		return NET6_XLAT_NO_MEMORY;
	sum = to6 ? 0 : plan->pseudo6 + plan->payload;
	sum = net6_xlat_sum(skb->data + plan->old_len, plan->payload, sum);
	if (net6_xlat_fold(sum) != 0xffff)
		return NET6_XLAT_ICMP_CSUM;
	error = alloc_skb(LL_MAX_HEADER + plan->new_len + most, GFP_ATOMIC);
	if (!error)
		return NET6_XLAT_NO_MEMORY;
	skb_reserve(error, LL_MAX_HEADER + plan->new_len);
	verdict = net6_xlat_error(ctx, plan, to6, skb->data + plan->old_len, plan->payload,
				  error->data, &len);
	if (verdict != NET6_XLAT_GOOD) {
		kfree_skb(error);
		return verdict;
	}
	skb_put(error, len);
	skb_reset_transport_header(error);
	memcpy(__skb_push(error, plan->new_len), plan->header, plan->new_len);
	skb_reset_network_header(error);
	error->protocol = to6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	error->priority = skb->priority;
	error->mark = skb->mark;
	if (plan->wants_id)
		net6_xlat_give_id(x, error);
	if (to6)
		NET6_XLAT_INC(x, To6IcmpErrors);
	else
		NET6_XLAT_INC(x, To4IcmpErrors);
	net6_xlat_up(x, error);
	consume_skb(skb);
	return NET6_XLAT_GOOD;
}

static enum net6_xlat_verdict net6_xlat_to6(struct net6_xlat *x, struct sk_buff *skb, bool whole);
static enum net6_xlat_verdict net6_xlat_to4(struct net6_xlat *x, struct sk_buff *skb);

/* A large packet that cannot be one in IPv6 is translated packet by packet. */
static enum net6_xlat_verdict net6_xlat_cut(struct net6_xlat *x, struct sk_buff *skb)
{
	struct sk_buff *segs, *seg, *next;
	enum net6_xlat_verdict verdict;

	skb_reset_mac_header(skb);
	skb_reset_mac_len(skb);
	segs = __skb_gso_segment(skb, NET6_XLAT_CUT_FEATURES, true);
	if (IS_ERR_OR_NULL(segs))
		return NET6_XLAT_NO_MEMORY;
	NET6_XLAT_INC(x, GsoSegmented);
	consume_skb(skb);
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		verdict = net6_xlat_to6(x, seg, false);
		if (verdict != NET6_XLAT_GOOD)
			net6_xlat_drop(x, seg, verdict);
	}
	return NET6_XLAT_GOOD;
}

/* What IPv4 would let a router cut is cut packet by packet. */
static bool net6_xlat_must_cut(const struct sk_buff *skb, const struct net6_xlat_plan *plan)
{
	struct net6_xlat_plan one = *plan;

	if (!skb_is_gso(skb))
		return false;
	one.payload = net6_xlat_largest(skb) - plan->old_len;
	return net6_xlat_piece_room(&one);
}

/* The transport's part of it, and what follows. The packet is consumed, unless it is refused. */
static enum net6_xlat_verdict net6_xlat_finish6(struct net6_xlat *x, struct sk_buff *skb,
						struct net6_xlat_plan *plan)
{
	enum net6_xlat_verdict verdict;
	unsigned int room;
	bool partial;

	verdict = net6_xlat_prepare(skb, plan, plan->new_len, &partial);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	verdict = net6_xlat_transport(plan, true, skb->data + plan->old_len,
				      skb_headlen(skb) - plan->old_len, partial);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	net6_xlat_swap(skb, plan, true);
	if (plan->no_checksum)
		net6_xlat_give_checksum(x, skb, plan->payload);
	room = skb_is_gso(skb) ? 0 : net6_xlat_piece_room(plan);
	if (likely(!room)) {
		net6_xlat_up(x, skb);
		return NET6_XLAT_GOOD;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb))
		return NET6_XLAT_NO_MEMORY;
	net6_xlat_up_pieces(x, skb, plan, room);
	return NET6_XLAT_GOOD;
}

/* @whole: it may be a large packet that has not been cut. */
static enum net6_xlat_verdict net6_xlat_to6(struct net6_xlat *x, struct sk_buff *skb, bool whole)
{
	struct net6_xlat_plan plan = { .payload = skb->len };
	enum net6_xlat_verdict verdict;
	struct net6_xlat_ctx ctx;
	unsigned int len;

	if (!pskb_may_pull(skb, sizeof(struct iphdr)))
		return NET6_XLAT_SHORT;
	len = ip_hdrlen(skb) + NET6_XLAT_TRANSPORT;
	if (!pskb_may_pull(skb, min(skb->len, len)))
		return NET6_XLAT_NO_MEMORY;
	net6_xlat_ctx(x, &ctx);
	verdict = net6_xlat_plan46(&ctx, skb->data, skb_headlen(skb), &plan);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	if (pskb_trim_rcsum(skb, plan.old_len + plan.payload))
		return NET6_XLAT_NO_MEMORY;
	if (net6_xlat_is_error(&plan, true, skb->data + plan.old_len,
			       skb_headlen(skb) - plan.old_len))
		return net6_xlat_error_skb(x, skb, &ctx, &plan, true);
	if (whole && net6_xlat_must_cut(skb, &plan))
		return net6_xlat_cut(x, skb);
	return net6_xlat_finish6(x, skb, &plan);
}

/* The headers, as many of them as there are, can be read. */
static enum net6_xlat_verdict net6_xlat_plan6(struct net6_xlat *x, struct sk_buff *skb,
					      struct net6_xlat_ctx *ctx,
					      struct net6_xlat_plan *plan)
{
	enum net6_xlat_verdict verdict;
	unsigned int len = NET6_XLAT_WALK;

	for (;;) {
		if (!pskb_may_pull(skb, min(skb->len, len)))
			return NET6_XLAT_NO_MEMORY;
		plan->payload = skb->len;
		verdict = net6_xlat_plan64(ctx, skb->data, skb_headlen(skb),
					   net6_xlat_largest(skb), plan);
		if (verdict == NET6_XLAT_SHORT && len == NET6_XLAT_WALK &&
		    skb->len > NET6_XLAT_WALK) {
			len = NET6_XLAT_WALK_MAX;
			continue;
		}
		/* A router's error: it gets the translator's own address. */
		if (verdict == NET6_XLAT_SOURCE && !ctx->self4) {
			ctx->self4 = inet_select_addr(x->dev, 0, RT_SCOPE_UNIVERSE);
			if (ctx->self4)
				continue;
		}
		break;
	}
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	len = plan->old_len + NET6_XLAT_TRANSPORT;
	if (!pskb_may_pull(skb, min(skb->len, len)) ||
	    pskb_trim_rcsum(skb, plan->old_len + plan->payload))
		return NET6_XLAT_NO_MEMORY;
	return NET6_XLAT_GOOD;
}

static enum net6_xlat_verdict net6_xlat_to4(struct net6_xlat *x, struct sk_buff *skb)
{
	enum net6_xlat_verdict verdict;
	struct net6_xlat_plan plan = {};
	struct net6_xlat_ctx ctx;
	bool partial;

	if (!pskb_may_pull(skb, sizeof(struct ipv6hdr)))
		return NET6_XLAT_SHORT;
	net6_xlat_ctx(x, &ctx);
	verdict = net6_xlat_plan6(x, skb, &ctx, &plan);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	if (net6_xlat_is_error(&plan, false, skb->data + plan.old_len,
			       skb_headlen(skb) - plan.old_len))
		return net6_xlat_error_skb(x, skb, &ctx, &plan, false);
	verdict = net6_xlat_prepare(skb, &plan, 0, &partial);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	verdict = net6_xlat_transport(&plan, false, skb->data + plan.old_len,
				      skb_headlen(skb) - plan.old_len, partial);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	net6_xlat_swap(skb, &plan, false);
	if (plan.wants_id)
		net6_xlat_give_id(x, skb);
	net6_xlat_up(x, skb);
	return NET6_XLAT_GOOD;
}

/**
 * net6_xlat_xmit() - ndo_start_xmit
 * @skb: packet of either IP; consumed
 * @dev: translator
 *
 * What has just come up here is not translated back: RFC 7915 knows no hosts that are reached so.
 * net6 sees to that itself, for the interface is that of a point-to-point link.
 * Return: NETDEV_TX_OK.
 */
netdev_tx_t net6_xlat_xmit(struct sk_buff *skb, struct net_device *dev)
{
	bool to6 = skb->protocol == htons(ETH_P_IP);
	struct net6_xlat *x = netdev_priv(dev);
	enum net6_xlat_verdict verdict;

	dev_sw_netstats_tx_add(dev, 1, skb->len);
	skb_reset_network_header(skb);
	if (to6) {
		NET6_XLAT_INC(x, To6);
		verdict = skb->skb_iif == dev->ifindex ? NET6_XLAT_HAIRPIN :
							 net6_xlat_to6(x, skb, true);
	} else if (skb->protocol == htons(ETH_P_IPV6)) {
		NET6_XLAT_INC(x, To4);
		verdict = net6_xlat_to4(x, skb);
	} else {
		verdict = NET6_XLAT_HEADER;
	}
	if (likely(verdict == NET6_XLAT_GOOD))
		return NETDEV_TX_OK;
	if (to6)
		net6_xlat_tell4(skb, verdict);
	else
		net6_xlat_tell6(x, skb, verdict);
	net6_xlat_drop(x, skb, verdict);
	return NETDEV_TX_OK;
}
