// SPDX-License-Identifier: GPL-2.0
/* Addresses: RFC 6052's algorithm, RFC 7757's table, and RFC 6791's pool for routers. The longest
 * prefix is found by bisection: what it costs hardly depends on the number of mappings.
 */
#include <asm/byteorder.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "map.h"

/* RFC 6052 2.1: the Well-Known Prefix 64:ff9b::/96 */
static const struct in6_addr net6_xlat_well_known = { .s6_addr = { 0, 0x64, 0xff, 0x9b } };

#define NET6_XLAT_U	8	/* RFC 6052 2.2: this octet, bits 64 to 71, is zero */

struct net6_xlat_range {
	u32	addr;
	u8	len;
};

static bool net6_xlat_in(u32 addr, const struct net6_xlat_range *range, unsigned int n)
{
	for (; n; n--, range++)
		if (!((addr ^ range->addr) >> (32 - range->len)))
			return true;
	return false;
}

/* RFC 6890: no router forwards these, whatever the prefix. */
static bool net6_xlat_forwardable(__be32 addr)
{
	static const struct net6_xlat_range never[] = {
		{ 0x00000000, 8 },	/* this network */
		{ 0x7f000000, 8 },	/* loopback */
		{ 0xa9fe0000, 16 },	/* link-local */
		{ 0xe0000000, 3 },	/* groups, reserved, broadcast */
	};

	return !net6_xlat_in(ntohl(addr), never, ARRAY_SIZE(never));
}

/* RFC 6052 3.1: "The Well-Known Prefix MUST NOT be used to represent non-global IPv4 addresses". */
static bool net6_xlat_global(__be32 addr)
{
	static const struct net6_xlat_range private[] = {
		{ 0x0a000000, 8 },	/* RFC 1918 */
		{ 0xac100000, 12 },
		{ 0xc0a80000, 16 },
		{ 0x64400000, 10 },	/* RFC 6598: shared by customers of a provider */
		{ 0xc0000000, 24 },	/* RFC 6890: protocol assignments */
		{ 0xc0000200, 24 },	/* RFC 5737: documentation */
		{ 0xc6336400, 24 },
		{ 0xcb007100, 24 },
		{ 0xc6120000, 15 },	/* RFC 2544: benchmarks */
	};

	return !net6_xlat_in(ntohl(addr), private, ARRAY_SIZE(private));
}

/* @n bits, at most 32, of an address from bit @from on, as a number. */
static u32 net6_xlat_bits(const struct in6_addr *addr, unsigned int from, unsigned int n)
{
	unsigned int byte = from / 8, i;
	u64 value = 0;

	for (i = 0; i < 5; i++, byte++)
		value = value << 8 | (byte < 16 ? addr->s6_addr[byte] : 0);
	value >>= 40 - from % 8 - n;
	return value & ((1ULL << n) - 1);
}

/* The same bits are set, where there are zeros. */
static void net6_xlat_set_bits(struct in6_addr *addr, unsigned int from, unsigned int n, u32 bits)
{
	unsigned int byte = from / 8;
	u64 value = (u64)bits << (40 - from % 8 - n);
	int shift;

	for (shift = 32; shift >= 0 && byte < 16; shift -= 8, byte++)
		addr->s6_addr[byte] |= value >> shift;
}

static u32 net6_xlat_host_mask(unsigned int len)
{
	return len ? (1ULL << (32 - len)) - 1 : U32_MAX;
}

static bool net6_xlat_match(const struct in6_addr *prefix, unsigned int len,
			    const struct in6_addr *addr)
{
	unsigned int bits = len % 8, bytes = len / 8;

	if (memcmp(prefix, addr, bytes))
		return false;
	return !bits || !((prefix->s6_addr[bytes] ^ addr->s6_addr[bytes]) >> (8 - bits));
}

static bool net6_xlat_ends_in_zeros(const struct in6_addr *addr, unsigned int len)
{
	unsigned int i;

	for (i = len; i < 128; i++)
		if (addr->s6_addr[i / 8] & (0x80 >> i % 8))
			return false;
	return true;
}

/* By prefix, of equal ones the shorter first. */
static int net6_xlat_node_cmp(const void *a, const void *b)
{
	const struct net6_xlat_node *one = a, *other = b;
	int cmp = memcmp(&one->key, &other->key, sizeof(one->key));

	return cmp ?: (int)one->len - (int)other->len;
}

static int net6_xlat_node_link(struct net6_xlat_node *nodes, int n)
{
	int i, up;

	sort(nodes, n, sizeof(*nodes), net6_xlat_node_cmp, NULL);
	for (i = 0; i < n; i++) {
		if (i && !net6_xlat_node_cmp(&nodes[i - 1], &nodes[i]))
			return -EEXIST;
		up = i - 1;
		while (up >= 0 && !net6_xlat_match(&nodes[up].key, nodes[up].len, &nodes[i].key))
			up = nodes[up].up;
		nodes[i].up = up;
	}
	return 0;
}

/* The longest prefix of @addr; its mapping or NULL. The last node that is not behind @addr either
 * contains it or is inside of what does.
 */
static const struct net6_xlat_eam *net6_xlat_find(const struct net6_xlat_map *map,
						  const struct net6_xlat_node *nodes,
						  const struct in6_addr *addr)
{
	int low = 0, high = map->n, i;

	while (low < high) {
		i = low + (high - low) / 2;
		if (memcmp(&nodes[i].key, addr, sizeof(*addr)) <= 0)
			low = i + 1;
		else
			high = i;
	}
	for (i = low - 1; i >= 0; i = nodes[i].up)
		if (net6_xlat_match(&nodes[i].key, nodes[i].len, addr))
			return &map->eams[nodes[i].eam];
	return NULL;
}

static bool net6_xlat_prefix_valid(const struct net6_xlat_map *map)
{
	switch (map->plen) {
	case 32: case 40: case 48: case 56: case 64: case 96:
		break;
	default:
		return false;
	}
	return !map->prefix.s6_addr[NET6_XLAT_U] && map->prefix.s6_addr[0] != 0xff &&
	       net6_xlat_ends_in_zeros(&map->prefix, map->plen);
}

static bool net6_xlat_inside_valid(const struct net6_xlat_map *map)
{
	if (!map->inside4_len)
		return true;
	return map->inside4_len >= NET6_XLAT_INSIDE_MIN &&
	       map->inside4_len <= NET6_XLAT_INSIDE_MAX && net6_xlat_forwardable(map->inside4) &&
	       !(ntohl(map->inside4) & net6_xlat_host_mask(map->inside4_len));
}

/* RFC 7757 3.2: "An EAM's IPv4 suffix length MUST be less than or equal to its IPv6 suffix
 * length."
 */
static bool net6_xlat_eam_valid(const struct net6_xlat_eam *eam)
{
	if (eam->len4 > 32 || eam->len6 > 128 || 32 - eam->len4 > 128 - eam->len6)
		return false;
	return eam->addr6.s6_addr[0] != 0xff &&
	       !(ntohl(eam->addr4) & net6_xlat_host_mask(eam->len4)) &&
	       net6_xlat_ends_in_zeros(&eam->addr6, eam->len6);
}

/* Is it one of those that are lent? They stand for nothing else. */
static bool net6_xlat_inside(const struct net6_xlat_map *map, __be32 addr4)
{
	return map->inside4_len &&
	       !(ntohl(addr4 ^ map->inside4) & ~net6_xlat_host_mask(map->inside4_len));
}

/**
 * net6_xlat_map_build() - make the tables of a map
 * @map: all but the contents of @by4 and @by6 is there
 *
 * Context: process. Return: 0, -EINVAL (a prefix that none of the RFCs allows), -EEXIST (a prefix
 * twice).
 */
int net6_xlat_map_build(struct net6_xlat_map *map)
{
	const struct net6_xlat_eam *eam;
	unsigned int i;
	int err;

	if ((map->plen && !net6_xlat_prefix_valid(map)) || map->n > NET6_XLAT_EAMS_MAX ||
	    map->pool4_len > 32 || !net6_xlat_inside_valid(map))
		return -EINVAL;
	for (i = 0; i < map->n; i++) {
		eam = &map->eams[i];
		if (!net6_xlat_eam_valid(eam))
			return -EINVAL;
		map->by4[i] = (struct net6_xlat_node){ .len = eam->len4, .eam = i };
		memcpy(&map->by4[i].key, &eam->addr4, sizeof(eam->addr4));
		map->by6[i] = (struct net6_xlat_node){ .len = eam->len6, .eam = i };
		map->by6[i].key = eam->addr6;
	}
	err = net6_xlat_node_link(map->by4, map->n);
	return err ?: net6_xlat_node_link(map->by6, map->n);
}

/* RFC 6052 2.2: around the u octet. */
static void net6_xlat_embed(const struct net6_xlat_map *map, __be32 addr4, struct in6_addr *addr6)
{
	const u8 *bytes = (const u8 *)&addr4;
	unsigned int i, at = map->plen / 8;

	*addr6 = map->prefix;
	for (i = 0; i < 4; i++, at++) {
		if (at == NET6_XLAT_U)
			at++;
		addr6->s6_addr[at] = bytes[i];
	}
}

/* RFC 6052 2.3; what is behind the address is not looked at. */
static __be32 net6_xlat_extract(const struct net6_xlat_map *map, const struct in6_addr *addr6)
{
	unsigned int i, at = map->plen / 8;
	__be32 addr4;

	for (i = 0; i < 4; i++, at++) {
		if (at == NET6_XLAT_U)
			at++;
		((u8 *)&addr4)[i] = addr6->s6_addr[at];
	}
	return addr4;
}

static bool net6_xlat_prefix_takes(const struct net6_xlat_map *map, __be32 addr4)
{
	return net6_xlat_global(addr4) || map->plen != 96 ||
	       memcmp(&map->prefix, &net6_xlat_well_known, sizeof(map->prefix));
}

/**
 * net6_xlat_map_in_prefix() - does an IPv6 address begin as those do that stand for IPv4's?
 * @map: mappings
 * @addr6: IPv6 address
 *
 * Context: any. Return: true if it does.
 */
bool net6_xlat_map_in_prefix(const struct net6_xlat_map *map, const struct in6_addr *addr6)
{
	return map->plen && net6_xlat_match(&map->prefix, map->plen, addr6);
}

/**
 * net6_xlat_map_to6() - the IPv6 address that stands for an IPv4 address
 * @map: mappings
 * @addr4: IPv4 address
 * @addr6: set to it
 *
 * Context: any. Return: false if there is none.
 */
bool net6_xlat_map_to6(const struct net6_xlat_map *map, __be32 addr4, struct in6_addr *addr6)
{
	const struct net6_xlat_eam *eam = NULL;
	struct in6_addr key = {};
	unsigned int suffix;

	if (!net6_xlat_forwardable(addr4) || net6_xlat_inside(map, addr4))
		return false;
	if (map->n) {
		memcpy(&key, &addr4, sizeof(addr4));
		eam = net6_xlat_find(map, map->by4, &key);
	}
	if (eam) {
		*addr6 = eam->addr6;
		suffix = 32 - eam->len4;
		net6_xlat_set_bits(addr6, eam->len6, suffix,
				   ntohl(addr4) & net6_xlat_host_mask(eam->len4));
		return true;
	}
	if (!map->plen || !net6_xlat_prefix_takes(map, addr4))
		return false;
	net6_xlat_embed(map, addr4, addr6);
	return true;
}

/**
 * net6_xlat_map_illegal() - an IPv6 address for a source that cannot be one
 * @map: mappings
 * @addr4: IPv4 address that net6_xlat_map_to6() refuses
 * @addr6: set to it
 *
 * RFC 7915 section 4.1, of ICMPv4 errors: "illegal source addresses will be translated for the
 * purpose of troubleshooting".
 * Context: any. Return: false if there is none.
 */
bool net6_xlat_map_illegal(const struct net6_xlat_map *map, __be32 addr4, struct in6_addr *addr6)
{
	if (!map->plen || !net6_xlat_prefix_takes(map, addr4) || net6_xlat_inside(map, addr4))
		return false;
	net6_xlat_embed(map, addr4, addr6);
	return true;
}

/**
 * net6_xlat_map_to4() - the IPv4 address that an IPv6 address stands for
 * @map: mappings
 * @addr6: IPv6 address
 * @addr4: set to it
 *
 * Context: any. Return: false if there is none.
 */
bool net6_xlat_map_to4(const struct net6_xlat_map *map, const struct in6_addr *addr6,
		       __be32 *addr4)
{
	const struct net6_xlat_eam *eam = NULL;

	if (map->n)
		eam = net6_xlat_find(map, map->by6, addr6);
	if (eam) {
		*addr4 = eam->addr4 |
			 htonl(net6_xlat_bits(addr6, eam->len6, 32 - eam->len4));
		return net6_xlat_forwardable(*addr4) && !net6_xlat_inside(map, *addr4);
	}
	if (!net6_xlat_map_in_prefix(map, addr6))
		return false;
	*addr4 = net6_xlat_extract(map, addr6);
	return net6_xlat_forwardable(*addr4) && net6_xlat_prefix_takes(map, *addr4) &&
	       !net6_xlat_inside(map, *addr4);
}

/**
 * net6_xlat_map_host4() - the IPv4 address that is lent to an IPv6 host
 * @map: mappings
 * @addr6: the host's, which has no other IPv4 address
 * @make: lend it one if it has none
 *
 * Context: any. Return: it; 0 if there is none.
 */
__be32 net6_xlat_map_host4(const struct net6_xlat_map *map, const struct in6_addr *addr6,
			   bool make)
{
	return map->hosts ? map->hosts->to4(map->hosts, addr6, make) : 0;
}

/**
 * net6_xlat_map_host6() - whose an IPv4 address is that is lent
 * @map: mappings
 * @addr4: IPv4 address
 * @addr6: set to the host's address
 *
 * Context: any. Return: false if it is none, or nobody has it.
 */
bool net6_xlat_map_host6(const struct net6_xlat_map *map, __be32 addr4, struct in6_addr *addr6)
{
	return map->hosts && net6_xlat_inside(map, addr4) &&
	       map->hosts->to6(map->hosts, addr4, addr6);
}

/**
 * net6_xlat_map_router() - an IPv4 address for a router that has none, RFC 6791
 * @map: mappings
 * @addr6: the router's
 *
 * One router has one address of the pool, so that traceroute(8) shows it as one.
 * Context: any. Return: it, or 0 if there is no pool.
 */
__be32 net6_xlat_map_router(const struct net6_xlat_map *map, const struct in6_addr *addr6)
{
	u32 hash = 0;
	int i;

	if (!map->pool4_len)
		return 0;
	for (i = 0; i < 16; i++)
		hash = hash * 31 + addr6->s6_addr[i];
	return map->pool4 | htonl((hash ^ hash >> 16) & net6_xlat_host_mask(map->pool4_len));
}
