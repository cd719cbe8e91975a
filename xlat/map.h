/* SPDX-License-Identifier: GPL-2.0 */
/* Which IPv6 address stands for which IPv4 address: a prefix of RFC 6052, and explicit mappings of
 * RFC 7757, which go before it; for hosts without either, one that is lent. No kernel: unit-tested
 * and fuzzed in user space.
 */
#ifndef _NET6_XLAT_MAP_H
#define _NET6_XLAT_MAP_H

#include <linux/in6.h>
#include <linux/types.h>

#define NET6_XLAT_EAMS_MAX	1024
#define NET6_XLAT_INSIDE_MIN	12	/* bits; a million addresses are lent at most */
#define NET6_XLAT_INSIDE_MAX	29

/**
 * struct net6_xlat_eam - an explicit address mapping, RFC 7757 section 3.2
 * @addr6: IPv6 prefix, zeros behind it
 * @addr4: IPv4 prefix, zeros behind it
 * @len6, @len4: their lengths, bits
 */
struct net6_xlat_eam {
	struct in6_addr	addr6;
	__be32		addr4;
	u8		len6;
	u8		len4;
};

/**
 * struct net6_xlat_node - a prefix in a sorted table
 * @key: the prefix; one of IPv4 is in the first four bytes
 * @len: bits
 * @eam: index of the mapping
 * @up: index of the longest prefix in the table that contains this one, -1 for none
 */
struct net6_xlat_node {
	struct in6_addr	key;
	u8		len;
	s16		eam;
	s16		up;
};

/**
 * struct net6_xlat_hosts - who lends IPv4 addresses to IPv6 hosts
 * @to4: the address of a host, 0 if it has none and none is left; @make: lend it one
 * @to6: whose an address is; false if nobody has it
 *
 * Both are called in any context.
 */
struct net6_xlat_hosts {
	__be32	(*to4)(struct net6_xlat_hosts *hosts, const struct in6_addr *addr6, bool make);
	bool	(*to6)(struct net6_xlat_hosts *hosts, __be32 addr4, struct in6_addr *addr6);
};

/**
 * struct net6_xlat_map - all mappings of a translator; constant once it is in use
 * @prefix: prefix of RFC 6052, zeros behind it
 * @plen: its length, bits; 0 if there is none
 * @pool4: IPv4 addresses for routers without one (RFC 6791); @pool4_len: prefix length, 0 for none
 * @inside4: IPv4 addresses that are lent to hosts; @inside4_len: prefix length, 0 for none
 * @hosts: who lends them; NULL: nobody
 * @n: explicit mappings
 * @eams: these
 * @by4, @by6: @n nodes each, sorted by prefix
 */
struct net6_xlat_map {
	struct in6_addr		prefix;
	u8			plen;
	u8			pool4_len;
	u8			inside4_len;
	__be32			pool4;
	__be32			inside4;
	struct net6_xlat_hosts	*hosts;
	unsigned int		n;
	struct net6_xlat_eam	*eams;
	struct net6_xlat_node	*by4;
	struct net6_xlat_node	*by6;
};

int net6_xlat_map_build(struct net6_xlat_map *map);
bool net6_xlat_map_in_prefix(const struct net6_xlat_map *map, const struct in6_addr *addr6);
bool net6_xlat_map_to6(const struct net6_xlat_map *map, __be32 addr4, struct in6_addr *addr6);
bool net6_xlat_map_to4(const struct net6_xlat_map *map, const struct in6_addr *addr6,
		       __be32 *addr4);
__be32 net6_xlat_map_host4(const struct net6_xlat_map *map, const struct in6_addr *addr6,
			   bool make);
bool net6_xlat_map_host6(const struct net6_xlat_map *map, __be32 addr4, struct in6_addr *addr6);
bool net6_xlat_map_illegal(const struct net6_xlat_map *map, __be32 addr4, struct in6_addr *addr6);
__be32 net6_xlat_map_router(const struct net6_xlat_map *map, const struct in6_addr *addr6);

#endif /* _NET6_XLAT_MAP_H */
