/* SPDX-License-Identifier: GPL-2.0 */
/* The chain of extension headers of a packet that we send, RFC 8200 section 4.
 * Pure: bytes in, offsets and verdicts out.
 */
#ifndef _NET6_EXTHDR_CHAIN_H
#define _NET6_EXTHDR_CHAIN_H

#include <linux/types.h>

/**
 * struct net6_unfragmentable - the part that every fragment of a packet has
 * @len: octets from the IPv6 header on
 * @nexthdr: offset of its last Next Header field, which names the Fragment header
 */
struct net6_unfragmentable {
	unsigned int	len;
	unsigned int	nexthdr;
};

struct net6_unfragmentable net6_chain_unfragmentable(const u8 *packet, unsigned int len);
bool net6_chain_route_valid(const u8 *hdr, unsigned int len);

#endif /* _NET6_EXTHDR_CHAIN_H */
