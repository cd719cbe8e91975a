// SPDX-License-Identifier: GPL-2.0
/* Extension headers on their way up, RFC 8200 section 4: a table from Next Header
 * value to what is done with it. Authentication and encryption are not supported.
 */
#include "exthdr.h"
#include "exthdr_opts.h"
#include "icmp.h"

/**
 * net6_exthdr_problem() - drop a packet with a Parameter Problem
 * @skb: data at the header that is at fault; consumed
 * @reason: why
 * @code: NET6_PARAM_*
 * @offset: of the octet at fault from the IPv6 header
 *
 * Context: softirq, RCU read lock held. Return: NULL, for its callers to return.
 */
struct sk_buff *net6_exthdr_problem(struct sk_buff *skb, enum net6_drop_reason reason, u8 code,
				    unsigned int offset)
{
	struct net6_net *nn = net6_rx_cb(skb)->iface->nn;

	net6_icmp_send(skb, ICMPV6_PARAMPROB, code, offset);
	net6_drop(nn, skb, reason);
	return NULL;
}

static struct sk_buff *net6_exthdr_drop(struct sk_buff *skb, enum net6_drop_reason reason)
{
	net6_drop(net6_rx_cb(skb)->iface->nn, skb, reason);
	return NULL;
}

/**
 * net6_exthdr_pull() - go on behind an extension header
 * @skb: data at the header, @len octets linear
 * @len: of the header
 *
 * Context: any. Return: @skb.
 */
struct sk_buff *net6_exthdr_pull(struct sk_buff *skb, unsigned int len)
{
	struct net6_rx_cb *cb = net6_rx_cb(skb);

	cb->nexthdr = skb->data[0];
	cb->nhoff = -skb_network_offset(skb);
	skb_pull_rcsum(skb, len);
	return skb;
}

/* Length in octets with all of it linear, 0 if the packet ends before. */
static unsigned int net6_exthdr_len(struct sk_buff *skb)
{
	unsigned int len;

	if (!pskb_may_pull(skb, 8))
		return 0;
	len = (skb->data[1] + 1) * 8;
	return pskb_may_pull(skb, len) ? len : 0;
}

static struct sk_buff *net6_exthdr_options(struct sk_buff *skb, bool hop_by_hop)
{
	const struct net6_limits *l = &net6_rx_cb(skb)->iface->nn->limits;
	struct net6_opts_limits limits = {
		.options = hop_by_hop ? READ_ONCE(l->max_hbh_options) :
					READ_ONCE(l->max_dst_options),
		.padding = READ_ONCE(l->max_padding),
		.no_unknown = !(hop_by_hop ? READ_ONCE(l->unknown_hbh_options) :
					     READ_ONCE(l->unknown_dst_options)),
	};
	unsigned int max = hop_by_hop ? READ_ONCE(l->max_hbh_length) :
					READ_ONCE(l->max_dst_length);
	unsigned int len = net6_exthdr_len(skb);
	struct net6_opts opts;
	unsigned int pointer;

	if (!len)
		return net6_exthdr_drop(skb, NET6_DROP_EXTHDR_SHORT);
	/* RFC 8504 5.3 lets a host limit the length, too. */
	if (unlikely(len > max))
		return net6_exthdr_problem(skb, NET6_DROP_EXTHDR_LIMIT, NET6_PARAM_HEADER_TOO_BIG,
					   -skb_network_offset(skb));
	opts = net6_opts_parse(skb->data, len, hop_by_hop, &limits);
	pointer = opts.pointer - skb_network_offset(skb);

	switch (opts.verdict) {
	case NET6_OPTS_OK:
		if (opts.router_alert)
			net6_rx_cb(skb)->flags |= NET6_RX_ROUTER_ALERT;
		break;
	case NET6_OPTS_DISCARD:
		return net6_exthdr_drop(skb, NET6_DROP_EXTHDR_OPTION);
	case NET6_OPTS_PROBLEM_UNICAST:
		/* RFC 8200 4.2: "only if the packet's Destination Address was not a
		 * multicast address"
		 */
		if (ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr))
			return net6_exthdr_drop(skb, NET6_DROP_EXTHDR_OPTION);
		fallthrough;
	case NET6_OPTS_PROBLEM:
		return net6_exthdr_problem(skb, NET6_DROP_EXTHDR_OPTION, NET6_PARAM_OPTION,
					   pointer);
	case NET6_OPTS_MALFORMED:
		return net6_exthdr_problem(skb, NET6_DROP_EXTHDR_SHORT, NET6_PARAM_HEADER_FIELD,
					   pointer);
	case NET6_OPTS_TOO_MANY:
		return net6_exthdr_problem(skb, NET6_DROP_EXTHDR_LIMIT,
					   NET6_PARAM_TOO_MANY_OPTIONS, pointer);
	}
	return net6_exthdr_pull(skb, len);
}

static struct sk_buff *net6_exthdr_hop_by_hop(struct sk_buff *skb)
{
	struct net6_rx_cb *cb = net6_rx_cb(skb);

	/* RFC 8200 section 4: "If, as a result of processing a header, the destination
	 * node is required to proceed to the next header but the Next Header value is
	 * zero [in any header other than an IPv6 header], it should take the same
	 * action" as for an unrecognised one.
	 */
	if (cb->nhoff != offsetof(struct ipv6hdr, nexthdr) || (cb->flags & NET6_RX_FRAGMENTED))
		return net6_exthdr_problem(skb, NET6_DROP_EXTHDR_ORDER, NET6_PARAM_NEXT_HEADER,
					   cb->nhoff);
	cb->flags |= NET6_RX_HOPBYHOP;
	/* A jumbogram's option is one that nobody knows here. */
	skb = net6_exthdr_options(skb, true);
	/* RFC 2675 section 3: no length anywhere is "code 0, pointing to the high-order octet of
	 * the IPv6 Payload Length"
	 */
	if (unlikely(skb && !ipv6_hdr(skb)->payload_len))
		return net6_exthdr_problem(skb, NET6_DROP_HEADER_LENGTH, NET6_PARAM_HEADER_FIELD,
					   offsetof(struct ipv6hdr, payload_len));
	return skb;
}

static struct sk_buff *net6_exthdr_destination(struct sk_buff *skb)
{
	return net6_exthdr_options(skb, false);
}

/* RFC 8200 section 4.4: no type is recognised (type 0 is deprecated, RFC 5095). With Segments
 * Left zero the header is ignored, else the packet is discarded.
 */
static struct sk_buff *net6_exthdr_routing(struct sk_buff *skb)
{
	const struct ipv6_rt_hdr *hdr;
	unsigned int len = net6_exthdr_len(skb);

	if (!len)
		return net6_exthdr_drop(skb, NET6_DROP_EXTHDR_SHORT);
	hdr = (const struct ipv6_rt_hdr *)skb->data;
	if (hdr->segments_left)
		return net6_exthdr_problem(skb, NET6_DROP_EXTHDR_ROUTING,
					   NET6_PARAM_HEADER_FIELD,
					   offsetof(struct ipv6_rt_hdr, type) -
					   skb_network_offset(skb));
	return net6_exthdr_pull(skb, len);
}

/* RFC 8200 section 4.7: nothing follows, and what does is ignored. */
static struct sk_buff *net6_exthdr_none(struct sk_buff *skb)
{
	NET6_INC_IFACE(net6_rx_cb(skb)->iface, Ip6InDelivers);
	consume_skb(skb);
	return NULL;
}

static const net6_exthdr_fn net6_exthdrs[256] = {
	[NEXTHDR_HOP]		= net6_exthdr_hop_by_hop,
	[NEXTHDR_ROUTING]	= net6_exthdr_routing,
	[NEXTHDR_FRAGMENT]	= net6_reasm_rcv,
	[NEXTHDR_NONE]		= net6_exthdr_none,
	[NEXTHDR_DEST]		= net6_exthdr_destination,
};

/**
 * net6_exthdr_find() - what to do with an extension header
 * @nexthdr: Next Header value
 *
 * Context: any. Return: NULL if that is no extension header we know.
 */
net6_exthdr_fn net6_exthdr_find(u8 nexthdr)
{
	return net6_exthdrs[nexthdr];
}
