/* SPDX-License-Identifier: GPL-2.0 */
/* What tunnels over IPv6 decide by bytes alone, RFC 2473. No kernel: unit-tested and fuzzed in user
 * space.
 */
#ifndef _NET6_IP6TNL_RULES_H
#define _NET6_IP6TNL_RULES_H

#include <linux/types.h>

/* Octets of a Destination Options header with a limit, and the limit's offset in it. */
#define NET6_IP6TNL_LIMIT_HEADER	8
#define NET6_IP6TNL_LIMIT_VALUE		4

/* Octets of a packet that are looked at for a limit. */
#define NET6_IP6TNL_LOOK		256

/* An ICMPv6 error about an outer packet, as the sender of the inner one is told it. */
enum net6_ip6tnl_error {
	NET6_IP6TNL_ERR_IGNORE,
	NET6_IP6TNL_ERR_TOO_BIG,
	NET6_IP6TNL_ERR_UNREACHABLE,
};

unsigned int net6_ip6tnl_find_limit(const u8 *packet, unsigned int len);
void net6_ip6tnl_write_limit(u8 *hdr, u8 nexthdr, u8 limit);
enum net6_ip6tnl_error net6_ip6tnl_error(u8 type, u8 code, u32 pointer, unsigned int limit);
u32 net6_ip6tnl_mtu(u32 path_mtu, bool limited);

#endif /* _NET6_IP6TNL_RULES_H */
