// SPDX-License-Identifier: GPL-2.0
/* The chain of extension headers of a packet that we send, RFC 8200 section 4. Here is where it
 * may be cut into fragments, and which routing headers a program may ask for.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ipv6.h>

#include "exthdr_chain.h"

#define NET6_CHAIN_NEXTHDR	6	/* octet of Next Header in the IPv6 header */

/**
 * net6_chain_unfragmentable() - where the part that can be fragmented begins
 * @packet: IPv6 header and what follows it
 * @len: octets that can be read, those of the IPv6 header at least
 *
 * RFC 8200 4.5: "all headers up to and including the Routing header if present, else
 * the Hop-by-Hop Options header if present, else no extension headers."
 * Context: any. Return: the unfragmentable part; a header that is cut ends it.
 */
struct net6_unfragmentable net6_chain_unfragmentable(const u8 *packet, unsigned int len)
{
	struct net6_unfragmentable part = {
		.len = sizeof(struct ipv6hdr),
		.nexthdr = NET6_CHAIN_NEXTHDR,
	};
	unsigned int at = part.len;
	u8 type = packet[part.nexthdr];
	unsigned int size;

	while (type == IPPROTO_HOPOPTS || type == IPPROTO_ROUTING || type == IPPROTO_DSTOPTS) {
		if (len - at < 8)
			break;
		size = (packet[at + 1] + 1) * 8;
		if (size > len - at)
			break;
		if (type != IPPROTO_DSTOPTS) {
			part.len = at + size;
			part.nexthdr = at;
		}
		/* The headers behind the Routing header are for the final destination. */
		if (type == IPPROTO_ROUTING)
			break;
		type = packet[at];
		at += size;
	}
	return part;
}

/**
 * net6_chain_route_valid() - may a program send this routing header?
 * @hdr: from its Next Header field on
 * @len: octets that can be read
 *
 * As Linux: type 2 (RFC 6275 6.4) with its one address not yet visited. Type 0 is
 * deprecated (RFC 5095), and segment routing not built.
 * Context: any. Return: whether it is whole and of such a type.
 */
bool net6_chain_route_valid(const u8 *hdr, unsigned int len)
{
	return len >= 24 && hdr[1] == 2 && hdr[2] == IPV6_SRCRT_TYPE_2 && hdr[3] == 1;
}
