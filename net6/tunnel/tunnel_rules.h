/* SPDX-License-Identifier: GPL-2.0 */
/* What tunnels over IPv4 decide without looking at anything but bytes: RFC 4213, RFC
 * 2893, RFC 2529, RFC 6040. No kernel: unit-tested and fuzzed in user space.
 */
#ifndef _NET6_TUNNEL_RULES_H
#define _NET6_TUNNEL_RULES_H

#include <linux/types.h>

#define NET6_TUNNEL_IPV4	20	/* bytes of an IPv4 header without options */
#define NET6_TUNNEL_IPV6	40	/* bytes of an IPv6 header */
#define NET6_TUNNEL_MIN_MTU	1280	/* RFC 4213 3.2.1, RFC 8200 section 5 */

enum net6_tunnel_kind {
	NET6_TUNNEL_CONFIGURED,		/* RFC 4213 */
	NET6_TUNNEL_AUTOMATIC,		/* RFC 2893: to v4-compatible addresses */
	NET6_TUNNEL_6OVER4,		/* RFC 2529 */
	NET6_TUNNEL_KINDS
};

/* What is wrong with a packet, if anything. */
enum net6_tunnel_verdict {
	NET6_TUNNEL_GOOD,
	NET6_TUNNEL_SHORT,		/* cut, or no IPv6 inside */
	NET6_TUNNEL_OUTER,		/* outer source is no host's */
	NET6_TUNNEL_INNER_SOURCE,	/* inner source cannot come from there */
	NET6_TUNNEL_INNER_DEST,		/* inner destination cannot go that way */
	NET6_TUNNEL_ECN,		/* RFC 6040 4.2: congestion that cannot be told */
	NET6_TUNNEL_VERDICTS
};

/**
 * struct net6_tunnel_inner - the addresses of a packet in a packet
 * @osaddr, @odaddr: outer addresses, network byte order
 * @saddr, @daddr: inner addresses, 16 bytes each
 */
struct net6_tunnel_inner {
	__be32		osaddr;
	__be32		odaddr;
	const u8	*saddr;
	const u8	*daddr;
};

bool net6_tunnel_v4_unicast(__be32 addr);	/* may be one host's address on the wire */
bool net6_tunnel_v4_compatible(const u8 addr[16], __be32 *v4);	/* RFC 4291 2.5.5.1 */

enum net6_tunnel_verdict net6_tunnel_check(enum net6_tunnel_kind kind,
					   const struct net6_tunnel_inner *in);

/* RFC 6040. Both take and return traffic class octets; the second -1 to drop. */
u8 net6_tunnel_ecn_out(u8 tos, u8 inner);
int net6_tunnel_ecn_in(u8 outer, u8 inner);

/**
 * struct net6_tunnel_fit - what fits through a tunnel, RFC 4213 3.2.2
 * @mtu: octets of IPv6 packet that may be sent
 * @df: Don't Fragment bit of the outer header
 */
struct net6_tunnel_fit {
	u32	mtu;
	bool	df;
};

struct net6_tunnel_fit net6_tunnel_fit(u32 path_mtu, bool pmtu, u32 dev_mtu);

/* RFC 2529 */
void net6_6over4_iid(__be32 addr, u8 iid[8]);
__be32 net6_6over4_group(const u8 group[16]);
unsigned int net6_6over4_write_option(u8 type, __be32 addr, u8 *buf);
int net6_6over4_read_option(const u8 *body, unsigned int len, __be32 *addr);

/* An ICMPv4 error about an outer packet, as ICMPv6 tells it. */
enum net6_tunnel_error {
	NET6_TUNNEL_ERR_IGNORE,
	NET6_TUNNEL_ERR_TOO_BIG,
	NET6_TUNNEL_ERR_UNREACHABLE,
	NET6_TUNNEL_ERR_REDIRECT,	/* IPv4's own business */
};

enum net6_tunnel_error net6_tunnel_error(u8 type, u8 code);

#endif /* _NET6_TUNNEL_RULES_H */
