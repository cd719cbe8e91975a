/* SPDX-License-Identifier: GPL-2.0 */
/* IPv4 addresses that IPv6 hosts have for a while: what makes a translator the IPv6 half of a
 * NAT64. The other half, ports and sessions, is the kernel's NAT behind it.
 */
#ifndef _NET6_XLAT_HOSTS_H
#define _NET6_XLAT_HOSTS_H

#include "map.h"

/* RFC 6146 4: a TCP session lives for 2 hours and 4 minutes at least. */
#define NET6_XLAT_IDLE		7500	/* seconds */

/**
 * struct net6_xlat_lease - one, as it is told
 * @addr6: the host's address
 * @addr4: the address that is lent to it
 * @idle: seconds since it last sent
 */
struct net6_xlat_lease {
	struct in6_addr	addr6;
	__be32		addr4;
	u32		idle;
};

/**
 * struct net6_xlat_lent - what has been counted
 * @now: hosts that have an address
 * @made: addresses lent; @taken: of hosts that had to make room; @ended: of those that were idle
 */
struct net6_xlat_lent {
	u32	now;
	u64	made;
	u64	taken;
	u64	ended;
};

/* Process context. */
struct net6_xlat_hosts *net6_xlat_hosts_make(__be32 inside4, u8 len, u32 per64, u32 idle);
void net6_xlat_hosts_free(struct net6_xlat_hosts *hosts);	/* sleeps; or NULL */
u32 net6_xlat_hosts_per64(const struct net6_xlat_hosts *hosts);
u32 net6_xlat_hosts_idle(const struct net6_xlat_hosts *hosts);
void net6_xlat_hosts_count(const struct net6_xlat_hosts *hosts, struct net6_xlat_lent *lent);
bool net6_xlat_hosts_next(const struct net6_xlat_hosts *hosts, u32 *from,
			  struct net6_xlat_lease *lease);

#endif /* _NET6_XLAT_HOSTS_H */
