// SPDX-License-Identifier: GPL-2.0
/* The rules of tunnels over IPv4: which packets are believed, ECN, path MTU, and the
 * addresses and options of 6over4. Pure functions of bytes.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "tunnel_rules.h"

#define NET6_ECN_MASK	3	/* RFC 3168 section 5 */
#define NET6_ECN_NOT	0
#define NET6_ECN_ECT1	1
#define NET6_ECN_CE	3

/* Types and codes of ICMPv4, RFC 792, RFC 1812 */
#define NET6_ICMP4_UNREACH	3
#define NET6_ICMP4_FRAG_NEEDED	4
#define NET6_ICMP4_SR_FAILED	5
#define NET6_ICMP4_REDIRECT	5
#define NET6_ICMP4_TIME		11
#define NET6_ICMP4_TTL		0

/* RFC 2529 section 6: OLS, the organisation-local scope of RFC 2365. */
#define NET6_6OVER4_GROUPS	0xefc00000U	/* 239.192.0.0/16 */

/**
 * net6_tunnel_v4_unicast() - may this be one host's address on the wire?
 * @addr: IPv4 address, network byte order
 *
 * RFC 4213 section 4 and RFC 1122 3.2.1.3: not 0/8, 127/8, a group, 240/4 or the
 * broadcast address. Subnet broadcasts are found by the routing table.
 * Return: true if so.
 */
bool net6_tunnel_v4_unicast(__be32 addr)
{
	u8 first = ntohl(addr) >> 24;

	return first && first != 127 && first < 224;
}

/**
 * net6_tunnel_v4_compatible() - is this ::a.b.c.d?
 * @addr: IPv6 address
 * @v4: its IPv4 address, set if it is one
 *
 * RFC 4291 2.5.5.1; :: and ::1, which look like it, are not.
 * Return: true if so.
 */
bool net6_tunnel_v4_compatible(const u8 addr[16], __be32 *v4)
{
	static const u8 zeros[12];

	if (memcmp(addr, zeros, sizeof(zeros)))
		return false;
	memcpy(v4, addr + 12, sizeof(*v4));
	return ntohl(*v4) > 1;
}

static bool net6_tunnel_mapped(const u8 addr[16])
{
	static const u8 prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(addr, prefix, sizeof(prefix));
}

static bool net6_tunnel_any_or_loopback(const u8 addr[16])
{
	static const u8 zeros[15];

	return !memcmp(addr, zeros, sizeof(zeros)) && addr[15] <= 1;
}

static bool net6_tunnel_any(const u8 addr[16])
{
	return net6_tunnel_any_or_loopback(addr) && !addr[15];
}

/* RFC 2893: both addresses name the outer ones. */
static enum net6_tunnel_verdict net6_tunnel_check_automatic(const struct net6_tunnel_inner *in)
{
	__be32 v4;

	if (!net6_tunnel_v4_compatible(in->saddr, &v4) || v4 != in->osaddr)
		return NET6_TUNNEL_INNER_SOURCE;
	if (!net6_tunnel_v4_compatible(in->daddr, &v4) || v4 != in->odaddr)
		return NET6_TUNNEL_INNER_DEST;
	return NET6_TUNNEL_GOOD;
}

/**
 * net6_tunnel_check() - is the packet in the packet to be believed?
 * @kind: tunnel that it came through
 * @in: its addresses
 *
 * RFC 4213 3.6 and section 4. The one who found a configured tunnel has seen that the outer
 * source is its far end.
 * Return: what is wrong with it.
 */
enum net6_tunnel_verdict net6_tunnel_check(enum net6_tunnel_kind kind,
					   const struct net6_tunnel_inner *in)
{
	__be32 v4;

	if (!net6_tunnel_v4_unicast(in->osaddr) || in->osaddr == in->odaddr)
		return NET6_TUNNEL_OUTER;
	/* "all inner source addresses that are [...] multicast, loopback, IPv4-mapped,
	 * or IPv4-compatible of such" are dropped; :: only where DAD is run.
	 */
	if (in->saddr[0] == 0xff || net6_tunnel_mapped(in->saddr))
		return NET6_TUNNEL_INNER_SOURCE;
	if (net6_tunnel_any_or_loopback(in->saddr) &&
	    !(kind == NET6_TUNNEL_6OVER4 && net6_tunnel_any(in->saddr)))
		return NET6_TUNNEL_INNER_SOURCE;
	if (net6_tunnel_v4_compatible(in->saddr, &v4) && !net6_tunnel_v4_unicast(v4))
		return NET6_TUNNEL_INNER_SOURCE;
	if (net6_tunnel_any_or_loopback(in->daddr) || net6_tunnel_mapped(in->daddr))
		return NET6_TUNNEL_INNER_DEST;

	switch (kind) {
	case NET6_TUNNEL_AUTOMATIC:
		return net6_tunnel_check_automatic(in);
	case NET6_TUNNEL_6OVER4:
		/* RFC 2529 section 6: a packet that comes to a group is for a group that maps to
		 * it, or nobody would have sent it there.
		 */
		if (!net6_tunnel_v4_unicast(in->odaddr) &&
		    (in->daddr[0] != 0xff || net6_6over4_group(in->daddr) != in->odaddr))
			return NET6_TUNNEL_INNER_DEST;
		return NET6_TUNNEL_GOOD;
	default:
		return NET6_TUNNEL_GOOD;
	}
}

/**
 * net6_tunnel_ecn_out() - traffic class of the outer header
 * @tos: what the administrator wants for it
 * @inner: traffic class of the inner one
 *
 * RFC 6040 4.1, normal mode: the inner ECN field is copied.
 * Return: the octet.
 */
u8 net6_tunnel_ecn_out(u8 tos, u8 inner)
{
	return (tos & ~NET6_ECN_MASK) | (inner & NET6_ECN_MASK);
}

/**
 * net6_tunnel_ecn_in() - traffic class of the packet that comes out
 * @outer: traffic class of the outer header
 * @inner: of the inner one
 *
 * RFC 6040 4.2, figure 4.
 * Return: the octet, or -1: the packet "MUST" be dropped, because its sender would not
 * understand what it has to say.
 */
int net6_tunnel_ecn_in(u8 outer, u8 inner)
{
	u8 in = inner & NET6_ECN_MASK;

	outer &= NET6_ECN_MASK;
	if (in == NET6_ECN_NOT)
		return outer == NET6_ECN_CE ? -1 : inner;
	if (outer == NET6_ECN_CE)
		return inner | NET6_ECN_CE;
	/* ECT(1) outside ECT(0) is a mark of lower severity: it is passed on. */
	if (outer == NET6_ECN_ECT1 && in != NET6_ECN_CE)
		return (inner & ~NET6_ECN_MASK) | NET6_ECN_ECT1;
	return inner;
}

/**
 * net6_tunnel_fit() - how large a packet may be, and whether IPv4 may cut it
 * @path_mtu: of the IPv4 path, bytes
 * @pmtu: the tunnel follows it (RFC 4213 3.2.2), else its MTU is a fixed one (3.2.1)
 * @dev_mtu: the tunnel's, bytes of IPv6 packet
 *
 * Return: both.
 */
struct net6_tunnel_fit net6_tunnel_fit(u32 path_mtu, bool pmtu, u32 dev_mtu)
{
	struct net6_tunnel_fit fit = { .mtu = dev_mtu };
	u32 inner = path_mtu > NET6_TUNNEL_IPV4 ? path_mtu - NET6_TUNNEL_IPV4 : 0;

	if (!pmtu)
		return fit;
	/* "If the IPv4 path MTU is less than 1280 [...] encapsulate but do not set the
	 * Don't Fragment flag": IPv6 cannot send less.
	 */
	fit.df = inner >= NET6_TUNNEL_MIN_MTU;
	if (inner < NET6_TUNNEL_MIN_MTU)
		inner = NET6_TUNNEL_MIN_MTU;
	if (inner < fit.mtu)
		fit.mtu = inner;
	return fit;
}

/**
 * net6_6over4_iid() - interface identifier of a 6over4 interface
 * @addr: its IPv4 address
 * @iid: filled in: four zeros and @addr
 *
 * RFC 2529 section 5.
 */
void net6_6over4_iid(__be32 addr, u8 iid[8])
{
	memset(iid, 0, 4);
	memcpy(iid + 4, &addr, 4);
}

/**
 * net6_6over4_group() - the IPv4 group that an IPv6 group's packets are sent to
 * @group: IPv6 multicast address
 *
 * RFC 2529 section 6: 239.192 and its last two octets.
 * Return: network byte order.
 */
__be32 net6_6over4_group(const u8 group[16])
{
	return htonl(NET6_6OVER4_GROUPS | group[14] << 8 | group[15]);
}

/**
 * net6_6over4_write_option() - a Source or Target Link-Layer Address option
 * @type: its type
 * @addr: IPv4 address
 * @buf: 8 bytes
 *
 * RFC 2529 section 5: length 1, two octets that must be zero, the address.
 * Return: bytes written.
 */
unsigned int net6_6over4_write_option(u8 type, __be32 addr, u8 *buf)
{
	buf[0] = type;
	buf[1] = 1;
	buf[2] = 0;
	buf[3] = 0;
	memcpy(buf + 4, &addr, 4);
	return 8;
}

/**
 * net6_6over4_read_option() - take the address out of such an option
 * @body: behind type and length
 * @len: bytes
 * @addr: filled in
 *
 * An address that is no host's could only be meant to make us shout.
 * Return: 0 or -EINVAL.
 */
int net6_6over4_read_option(const u8 *body, unsigned int len, __be32 *addr)
{
	if (len != 6)
		return -EINVAL;
	memcpy(addr, body + 2, 4);
	return net6_tunnel_v4_unicast(*addr) ? 0 : -EINVAL;
}

/**
 * net6_tunnel_error() - what an ICMPv4 error about an outer packet means
 * @type: of the ICMPv4 message
 * @code: its code
 *
 * RFC 4213 3.4: of the errors that IPv4 has, IPv6's sender can use two.
 * Return: that.
 */
enum net6_tunnel_error net6_tunnel_error(u8 type, u8 code)
{
	switch (type) {
	case NET6_ICMP4_UNREACH:
		if (code == NET6_ICMP4_FRAG_NEEDED)
			return NET6_TUNNEL_ERR_TOO_BIG;
		return code == NET6_ICMP4_SR_FAILED ? NET6_TUNNEL_ERR_IGNORE :
						      NET6_TUNNEL_ERR_UNREACHABLE;
	case NET6_ICMP4_TIME:
		return code == NET6_ICMP4_TTL ? NET6_TUNNEL_ERR_UNREACHABLE :
						NET6_TUNNEL_ERR_IGNORE;
	case NET6_ICMP4_REDIRECT:
		return NET6_TUNNEL_ERR_REDIRECT;
	default:
		return NET6_TUNNEL_ERR_IGNORE;
	}
}
