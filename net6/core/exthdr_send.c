// SPDX-License-Identifier: GPL-2.0
/* Extension headers on their way down: those that a program gave (RFC 3542), in the order
 * of RFC 8200 section 4.1. They are kept as the kernel keeps them, in struct
 * ipv6_txoptions.
 */
#include <net/ipv6.h>

#include "exthdr.h"

/**
 * net6_exthdr_measure() - write down how much room headers need
 * @opt: its pointers are set
 *
 * RFC 3542 9.3: Destination Options before the Routing header are sent only if there is
 * one.
 * Context: any.
 */
void net6_exthdr_measure(struct ipv6_txoptions *opt)
{
	opt->opt_nflen = opt->hopopt ? ipv6_optlen(opt->hopopt) : 0;
	if (opt->srcrt) {
		opt->opt_nflen += ipv6_optlen(opt->srcrt);
		if (opt->dst0opt)
			opt->opt_nflen += ipv6_optlen(opt->dst0opt);
	}
	opt->opt_flen = opt->dst1opt ? ipv6_optlen(opt->dst1opt) : 0;
}

/**
 * net6_exthdr_first_hop() - what stands in the IPv6 header as the destination
 * @opt: headers, measured
 * @daddr: where the packet is to end up
 *
 * Context: any. Return: @daddr, or the address in the routing header.
 */
const struct in6_addr *net6_exthdr_first_hop(const struct ipv6_txoptions *opt,
					     const struct in6_addr *daddr)
{
	return opt->srcrt ? &((const struct rt2_hdr *)opt->srcrt)->addr : daddr;
}

static void *net6_exthdr_put(struct sk_buff *skb, u8 *proto, u8 type,
			     const struct ipv6_opt_hdr *from)
{
	struct ipv6_opt_hdr *hdr = skb_push(skb, ipv6_optlen(from));

	memcpy(hdr, from, ipv6_optlen(from));
	hdr->nexthdr = *proto;
	*proto = type;
	return hdr;
}

/**
 * net6_exthdr_push() - put a program's headers in front of a transport header
 * @skb: data at the transport header, NET6_HEADROOM in front, the checksum complete
 * @opt: headers, measured
 * @proto: what is at skb->data; becomes the IPv6 header's Next Header
 * @daddr: where the packet is to end up, which goes into a routing header's last place
 *
 * Context: any. Return: 0, or -ENOBUFS with nothing changed.
 */
int net6_exthdr_push(struct sk_buff *skb, const struct ipv6_txoptions *opt, u8 *proto,
		     const struct in6_addr *daddr)
{
	struct rt2_hdr *route;

	if (skb_cow_head(skb, NET6_HEADROOM + opt->opt_nflen + opt->opt_flen))
		return -ENOBUFS;
	if (opt->dst1opt)
		net6_exthdr_put(skb, proto, NEXTHDR_DEST, opt->dst1opt);
	if (opt->srcrt) {
		route = net6_exthdr_put(skb, proto, NEXTHDR_ROUTING,
					(const struct ipv6_opt_hdr *)opt->srcrt);
		route->addr = *daddr;
		if (opt->dst0opt)
			net6_exthdr_put(skb, proto, NEXTHDR_DEST, opt->dst0opt);
	}
	if (opt->hopopt)
		net6_exthdr_put(skb, proto, NEXTHDR_HOP, opt->hopopt);
	return 0;
}
