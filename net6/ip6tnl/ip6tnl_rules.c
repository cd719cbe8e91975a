// SPDX-License-Identifier: GPL-2.0
/* The rules of tunnels over IPv6, RFC 2473: the encapsulation limit, what an error about an outer
 * packet says of the inner one, and what fits. Pure functions of bytes.
 */
#include <linux/icmpv6.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/string.h>

#include "ip6tnl_rules.h"

#define NET6_IP6TNL_NEXTHDR	6	/* octet of Next Header in the IPv6 header */
#define NET6_IP6TNL_PAD1	0	/* RFC 8200 4.2 */
#define NET6_IP6TNL_PADN	1
#define NET6_IP6TNL_LIMIT	4	/* RFC 2473 4.1.1: option type */
#define NET6_IP6TNL_HEADERS	8	/* extension headers that are looked at */

/* Of a Destination Options header of @size octets. Returns the option's offset, 0: none. */
static unsigned int net6_ip6tnl_limit_option(const u8 *hdr, unsigned int size)
{
	unsigned int at = 2;

	while (at < size) {
		if (hdr[at] == NET6_IP6TNL_PAD1) {
			at++;
			continue;
		}
		if (size - at < 2 || size - at - 2 < hdr[at + 1])
			return 0;
		if (hdr[at] == NET6_IP6TNL_LIMIT)
			return hdr[at + 1] == 1 ? at : 0;
		at += 2 + hdr[at + 1];
	}
	return 0;
}

/**
 * net6_ip6tnl_find_limit() - the tunnel encapsulation limit that a packet comes with
 * @packet: IPv6 header and what follows it
 * @len: octets that can be read, those of the IPv6 header at least
 *
 * RFC 2473 4.1.1: an option for the tunnel's exit, which an inner entry reads, too. A header that
 * is cut ends the search, and what is not the first fragment has none.
 * Context: any. Return: offset of the limit's octet, 0: none.
 */
unsigned int net6_ip6tnl_find_limit(const u8 *packet, unsigned int len)
{
	unsigned int at = sizeof(struct ipv6hdr), size, option, i;
	u8 type = packet[NET6_IP6TNL_NEXTHDR];

	for (i = 0; i < NET6_IP6TNL_HEADERS; i++) {
		if (type != IPPROTO_HOPOPTS && type != IPPROTO_ROUTING &&
		    type != IPPROTO_DSTOPTS && type != IPPROTO_FRAGMENT)
			break;
		if (len - at < 8)
			break;
		if (type == IPPROTO_FRAGMENT) {
			if (packet[at + 2] || packet[at + 3] & 0xf8)
				break;
			size = 8;
		} else {
			size = (packet[at + 1] + 1) * 8;
		}
		if (size > len - at)
			break;
		option = type == IPPROTO_DSTOPTS ? net6_ip6tnl_limit_option(packet + at, size) : 0;
		if (option)
			return at + option + 2;
		type = packet[at];
		at += size;
	}
	return 0;
}

/**
 * net6_ip6tnl_write_limit() - write the header that has a packet's limit
 * @hdr: NET6_IP6TNL_LIMIT_HEADER octets
 * @nexthdr: what follows it
 * @limit: how many more tunnels may be entered
 *
 * Context: any.
 */
void net6_ip6tnl_write_limit(u8 *hdr, u8 nexthdr, u8 limit)
{
	const u8 bytes[NET6_IP6TNL_LIMIT_HEADER] = {
		nexthdr, 0, NET6_IP6TNL_LIMIT, 1, limit, NET6_IP6TNL_PADN, 1, 0,
	};

	memcpy(hdr, bytes, sizeof(bytes));
}

/**
 * net6_ip6tnl_error() - what the sender of an inner packet is told
 * @type: ICMPv6 type of an error about the outer packet
 * @code: its code
 * @pointer: its pointer, host byte order
 * @limit: offset of the limit in the outer packet, 0 if it has none
 *
 * RFC 2473 section 8.1: hop limit, unreachable nodes and limits are the tunnel's; another problem
 * with the outer header is the entry's own. Context: any.
 */
enum net6_ip6tnl_error net6_ip6tnl_error(u8 type, u8 code, u32 pointer, unsigned int limit)
{
	switch (type) {
	case ICMPV6_PKT_TOOBIG:
		return NET6_IP6TNL_ERR_TOO_BIG;
	case ICMPV6_DEST_UNREACH:
		return NET6_IP6TNL_ERR_UNREACHABLE;
	case ICMPV6_TIME_EXCEED:
		return code == ICMPV6_EXC_HOPLIMIT ? NET6_IP6TNL_ERR_UNREACHABLE :
						     NET6_IP6TNL_ERR_IGNORE;
	case ICMPV6_PARAMPROB:
		return code == ICMPV6_HDR_FIELD && limit && pointer == limit ?
		       NET6_IP6TNL_ERR_UNREACHABLE : NET6_IP6TNL_ERR_IGNORE;
	}
	return NET6_IP6TNL_ERR_IGNORE;
}

/**
 * net6_ip6tnl_mtu() - what fits into a tunnel packet, RFC 2473 section 6.7
 * @path_mtu: MTU of the path to the far end, in octets, 1280 at least
 * @limited: it has an encapsulation limit
 *
 * Context: any. Return: octets of inner packet.
 */
u32 net6_ip6tnl_mtu(u32 path_mtu, bool limited)
{
	return path_mtu - sizeof(struct ipv6hdr) - (limited ? NET6_IP6TNL_LIMIT_HEADER : 0);
}
