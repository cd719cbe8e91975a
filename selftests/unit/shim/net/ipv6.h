/* SPDX-License-Identifier: GPL-2.0 */
/* Address tests that pure code uses. */
#pragma once

#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/string.h>

#define NEXTHDR_HOP		0
#define NEXTHDR_TCP		6
#define NEXTHDR_UDP		17
#define NEXTHDR_ROUTING		43
#define NEXTHDR_FRAGMENT	44
#define NEXTHDR_ESP		50
#define NEXTHDR_AUTH		51
#define NEXTHDR_ICMP		58
#define NEXTHDR_NONE		59
#define NEXTHDR_DEST		60
#define IPV6_MIN_MTU		1280

static inline bool ipv6_addr_equal(const struct in6_addr *a,
				   const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static inline int ipv6_addr_cmp(const struct in6_addr *a,
				const struct in6_addr *b)
{
	return memcmp(a, b, sizeof(*a));
}

static inline bool ipv6_addr_any(const struct in6_addr *a)
{
	return !memchr_inv(a, 0, sizeof(*a));
}

static inline bool ipv6_addr_loopback(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LOOPBACK(a);
}

static inline bool ipv6_addr_is_multicast(const struct in6_addr *a)
{
	return a->s6_addr[0] == 0xff;
}

static inline bool ipv6_addr_v4mapped(const struct in6_addr *a)
{
	return IN6_IS_ADDR_V4MAPPED(a);
}

static inline bool ipv6_prefix_equal(const struct in6_addr *a,
				     const struct in6_addr *b,
				     unsigned int prefixlen)
{
	unsigned int bytes = prefixlen / 8, bits = prefixlen % 8;

	if (memcmp(a, b, bytes))
		return false;
	return !bits || !((a->s6_addr[bytes] ^ b->s6_addr[bytes]) >> (8 - bits));
}

static inline int ipv6_addr_diff(const struct in6_addr *a, const struct in6_addr *b)
{
	int bit = 0;

	while (bit < 128 && !((a->s6_addr[bit / 8] ^ b->s6_addr[bit / 8]) & 0x80 >> bit % 8))
		bit++;
	return bit;
}

static inline void ipv6_addr_prefix(struct in6_addr *pfx,
				    const struct in6_addr *addr, int plen)
{
	int bytes = plen / 8, bits = plen % 8;

	memset(pfx, 0, sizeof(*pfx));
	memcpy(pfx, addr, bytes);
	if (bits)
		pfx->s6_addr[bytes] = addr->s6_addr[bytes] & (0xff00 >> bits);
}
