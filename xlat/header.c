// SPDX-License-Identifier: GPL-2.0
/* Headers of IP and of transports. What the RFC says of the hop limit is left to the two routers
 * that a translator stands between: each counts its hop.
 */
#include <asm/byteorder.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "../net6/compat/unaligned.h"
#include "header.h"
#include "icmp.h"

#define NET6_XLAT_OPT_END	0	/* RFC 791 section 3.1 */
#define NET6_XLAT_OPT_NOP	1
#define NET6_XLAT_OPT_LSRR	131
#define NET6_XLAT_OPT_SSRR	137

#define NET6_XLAT_IP_DF		0x4000
#define NET6_XLAT_IP_MF		0x2000
#define NET6_XLAT_IP_OFFSET	0x1fff

#define NET6_XLAT_EXTHDRS_MAX	8

/* Protocol numbers; those of IPv6's extension headers are RFC 8200's. */
enum {
	NET6_XLAT_HOP		= 0,
	NET6_XLAT_ICMP		= 1,
	NET6_XLAT_TCP		= 6,
	NET6_XLAT_UDP		= 17,
	NET6_XLAT_DCCP		= 33,
	NET6_XLAT_ROUTING	= 43,
	NET6_XLAT_FRAGMENT_HDR	= 44,
	NET6_XLAT_ICMPV6	= 58,
	NET6_XLAT_DEST_OPTS	= 60,
	NET6_XLAT_MOBILITY	= 135,
	NET6_XLAT_HIP		= 139,
	NET6_XLAT_SHIM6		= 140,
	NET6_XLAT_UDPLITE	= 136,
};

/**
 * net6_xlat_sum() - add bytes to a checksum
 * @data: as they are on the wire
 * @len: even, but for the last bytes
 * @sum: to add to, not folded
 *
 * Context: any. Return: the sum, not folded; of less than 64 KB it does not overflow.
 */
u32 net6_xlat_sum(const void *data, unsigned int len, u32 sum)
{
	const u8 *byte = data;

	for (; len > 1; len -= 2, byte += 2)
		sum += get_unaligned_be16(byte);
	return len ? sum + (*byte << 8) : sum;
}

/**
 * net6_xlat_fold() - a checksum's 16 bits
 * @sum: not folded
 *
 * Context: any. Return: them, in this machine's order, not inverted.
 */
u16 net6_xlat_fold(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* What takes @sum away. */
static u32 net6_xlat_minus(u32 sum)
{
	return 0xffff - net6_xlat_fold(sum);
}

/* The other IP would see an extension header, or the ICMP that is not its own. */
static bool net6_xlat_carries(u8 proto)
{
	switch (proto) {
	case NET6_XLAT_HOP:
	case NET6_XLAT_ROUTING:
	case NET6_XLAT_FRAGMENT_HDR:
	case NET6_XLAT_DEST_OPTS:
	case NET6_XLAT_MOBILITY:
	case NET6_XLAT_HIP:
	case NET6_XLAT_SHIM6:
		return false;
	}
	return true;
}

/* RFC 7915 section 4.1: "If there is an unexpired source route option, then the packet MUST be
 * discarded". Other options are left out.
 */
static enum net6_xlat_verdict net6_xlat_options(const u8 *opt, unsigned int len)
{
	unsigned int size;

	while (len && *opt != NET6_XLAT_OPT_END) {
		if (*opt == NET6_XLAT_OPT_NOP) {
			opt++;
			len--;
			continue;
		}
		if (len < 2)
			return NET6_XLAT_HEADER;
		size = opt[1];
		if (size < 2 || size > len)
			return NET6_XLAT_HEADER;
		/* RFC 791: it is at its end when the pointer is behind it. */
		if ((*opt == NET6_XLAT_OPT_LSRR || *opt == NET6_XLAT_OPT_SSRR) &&
		    (size < 3 || opt[2] <= size))
			return NET6_XLAT_SOURCE_ROUTE;
		opt += size;
		len -= size;
	}
	return NET6_XLAT_GOOD;
}

static enum net6_xlat_verdict net6_xlat_fragment_check(const struct net6_xlat_plan *plan,
						       unsigned int offset, bool more)
{
	if (plan->quoted)
		return NET6_XLAT_GOOD;
	if ((more && plan->payload % 8) || offset + plan->payload > 65535)
		return NET6_XLAT_FRAGMENT;
	return NET6_XLAT_GOOD;
}

/* Addresses of @v6 and of IPv4's header @v4, for checksums. */
static void net6_xlat_sums(struct net6_xlat_plan *plan, const u8 *v6, const u8 *v4, bool to6)
{
	u32 sum6 = net6_xlat_sum(v6 + 8, 32, 0);
	u32 sum4 = net6_xlat_sum(v4 + 12, 8, 0);

	plan->delta = to6 ? sum6 + net6_xlat_minus(sum4) : sum4 + net6_xlat_minus(sum6);
	plan->pseudo6 = sum6 + NET6_XLAT_ICMPV6;
}

/* RFC 7915 4.1: the Identification's upper half is zero. */
static void net6_xlat_write_fragment(const struct net6_xlat_plan *plan, u8 next, u16 frag, u8 *h)
{
	h[0] = next;
	h[1] = 0;
	put_unaligned_be16(frag, h + 2);
	put_unaligned_be32(plan->id, h + 4);
}

/**
 * net6_xlat_plan46() - what becomes of an IPv4 packet's headers
 * @ctx: mappings
 * @data: at the IPv4 header
 * @linear: bytes that can be read there. An ICMP error's type is looked at for the sake of its
 *	source
 * @plan: filled in; @plan->quoted is the caller's, as is @plan->payload, which is cut to the
 *	packet's length: bytes that there are behind @data
 *
 * Context: any. Return: NET6_XLAT_GOOD, or why not.
 */
enum net6_xlat_verdict net6_xlat_plan46(const struct net6_xlat_ctx *ctx, const u8 *data,
					unsigned int linear, struct net6_xlat_plan *plan)
{
	unsigned int ihl, total, there = plan->payload, frag;
	struct in6_addr saddr, daddr;
	enum net6_xlat_verdict verdict;
	u8 *h = plan->header;
	__be32 addr;
	u8 next;

	if (linear < NET6_XLAT_IPV4)
		return NET6_XLAT_SHORT;
	ihl = (data[0] & 15) * 4;
	total = get_unaligned_be16(data + 2);
	if (data[0] >> 4 != 4 || ihl < NET6_XLAT_IPV4 || total < ihl ||
	    (total > there && !plan->quoted))
		return NET6_XLAT_HEADER;
	if (linear < ihl)
		return NET6_XLAT_SHORT;
	verdict = net6_xlat_options(data + NET6_XLAT_IPV4, ihl - NET6_XLAT_IPV4);
	if (verdict != NET6_XLAT_GOOD && !plan->quoted)
		return verdict;

	frag = get_unaligned_be16(data + 6);
	plan->old_len = ihl;
	plan->payload = total - ihl;
	plan->proto = data[9];
	plan->df = frag & NET6_XLAT_IP_DF;
	plan->first = !(frag & NET6_XLAT_IP_OFFSET);
	plan->fragment = !plan->first || (frag & NET6_XLAT_IP_MF);
	plan->id = get_unaligned_be16(data + 4);
	plan->frag = (frag & NET6_XLAT_IP_OFFSET) << 3 | (frag & NET6_XLAT_IP_MF ? 1 : 0);
	if (!net6_xlat_carries(plan->proto) || plan->proto == NET6_XLAT_ICMPV6)
		return NET6_XLAT_PROTOCOL;
	if (plan->fragment && plan->proto == NET6_XLAT_ICMP && !plan->quoted)
		return NET6_XLAT_ICMP_FRAGMENT;
	verdict = net6_xlat_fragment_check(plan, (frag & NET6_XLAT_IP_OFFSET) * 8,
					   frag & NET6_XLAT_IP_MF);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;

	memcpy(&addr, data + 12, sizeof(addr));
	if (!net6_xlat_map_to6(ctx->map, addr, &saddr) &&
	    !(plan->quoted && net6_xlat_map_host6(ctx->map, addr, &saddr)) &&
	    !(net6_xlat_is_error(plan, true, data + ihl, linear - ihl) &&
	      net6_xlat_map_illegal(ctx->map, addr, &saddr)))
		return NET6_XLAT_SOURCE;
	memcpy(&addr, data + 16, sizeof(addr));
	if (!net6_xlat_map_to6(ctx->map, addr, &daddr) &&
	    (plan->quoted || !net6_xlat_map_host6(ctx->map, addr, &daddr)))
		return NET6_XLAT_DEST;

	next = plan->proto == NET6_XLAT_ICMP ? NET6_XLAT_ICMPV6 : plan->proto;
	plan->new_len = NET6_XLAT_IPV6 + (plan->fragment ? NET6_XLAT_FRAG : 0);
	put_unaligned_be32(6U << 28 | data[1] << 20, h);
	put_unaligned_be16(plan->payload + plan->new_len - NET6_XLAT_IPV6, h + 4);
	h[6] = plan->fragment ? NET6_XLAT_FRAGMENT_HDR : next;
	h[7] = data[8];
	memcpy(h + 8, &saddr, sizeof(saddr));
	memcpy(h + 24, &daddr, sizeof(daddr));
	if (plan->fragment)
		net6_xlat_write_fragment(plan, next, plan->frag, h + NET6_XLAT_IPV6);
	net6_xlat_sums(plan, h, data, true);
	return NET6_XLAT_GOOD;
}

/**
 * struct net6_xlat_walk - what is behind an IPv6 header
 * @len: bytes of headers, IPv6's included
 * @proto: what follows
 * @fragment: a Fragment header was there
 * @frag: its offset and flag
 * @id: its Identification
 */
struct net6_xlat_walk {
	unsigned int	len;
	u8		proto;
	bool		fragment;
	u16		frag;
	u32		id;
};

/* RFC 7915 5.1: extension headers are left out, but for one that says where the packet is to go. */
static enum net6_xlat_verdict net6_xlat_walk(const u8 *data, unsigned int linear, bool quoted,
					     struct net6_xlat_walk *walk)
{
	unsigned int n, size;
	const u8 *h;

	walk->len = NET6_XLAT_IPV6;
	walk->proto = data[6];
	for (n = 0; ; n++) {
		if (walk->proto != NET6_XLAT_HOP && walk->proto != NET6_XLAT_ROUTING &&
		    walk->proto != NET6_XLAT_DEST_OPTS && walk->proto != NET6_XLAT_FRAGMENT_HDR)
			return NET6_XLAT_GOOD;
		/* RFC 8200 4.1: Hop-by-Hop Options are the first; one Fragment header. */
		if (n >= NET6_XLAT_EXTHDRS_MAX || (walk->proto == NET6_XLAT_HOP && n) ||
		    (walk->proto == NET6_XLAT_FRAGMENT_HDR && walk->fragment))
			return NET6_XLAT_EXTHDR;
		if (linear < walk->len + 8)
			return NET6_XLAT_SHORT;
		h = data + walk->len;
		size = walk->proto == NET6_XLAT_FRAGMENT_HDR ? NET6_XLAT_FRAG : (h[1] + 1) * 8;
		if (linear < walk->len + size)
			return NET6_XLAT_SHORT;
		if (walk->proto == NET6_XLAT_ROUTING && h[3] && !quoted)
			return NET6_XLAT_SOURCE_ROUTE;
		if (walk->proto == NET6_XLAT_FRAGMENT_HDR) {
			walk->fragment = true;
			walk->frag = get_unaligned_be16(h + 2);
			walk->id = get_unaligned_be32(h + 4);
		}
		walk->proto = h[0];
		walk->len += size;
		/* Behind a later fragment's header there is no header. */
		if (walk->fragment && walk->frag & ~7)
			return NET6_XLAT_GOOD;
	}
}

static void net6_xlat_seal4(u8 *h)
{
	put_unaligned_be16(0, h + 10);
	put_unaligned_be16(~net6_xlat_fold(net6_xlat_sum(h, NET6_XLAT_IPV4, 0)), h + 10);
}

/* The source of an error of a router that has no IPv4 address, RFC 6791. */
static __be32 net6_xlat_router4(const struct net6_xlat_ctx *ctx, const struct in6_addr *addr6)
{
	return net6_xlat_map_router(ctx->map, addr6) ?: ctx->self4;
}

/* The source of an IPv6 packet. A quoted one's was IPv4's. */
static enum net6_xlat_verdict net6_xlat_source4(const struct net6_xlat_ctx *ctx,
						const struct in6_addr *saddr, bool error,
						bool quoted, __be32 *src)
{
	/* RFC 6146 3.5: "the NAT64 MUST silently discard" what has a source in the prefix. */
	if (ctx->map->hosts && !quoted && net6_xlat_map_in_prefix(ctx->map, saddr))
		return NET6_XLAT_SOURCE;
	if (net6_xlat_map_to4(ctx->map, saddr, src))
		return NET6_XLAT_GOOD;
	*src = quoted ? 0 : net6_xlat_map_host4(ctx->map, saddr, !error);
	if (!*src && error)
		*src = net6_xlat_router4(ctx, saddr);
	if (*src)
		return NET6_XLAT_GOOD;
	return ctx->map->hosts && !error && !quoted ? NET6_XLAT_HOSTS : NET6_XLAT_SOURCE;
}

static void net6_xlat_write4(struct net6_xlat_plan *plan, const u8 *v6,
			     const struct net6_xlat_walk *walk, unsigned int largest)
{
	u8 *h = plan->header;
	u16 frag = 0;

	if (walk->fragment) {
		frag = (walk->frag & ~7) >> 3 | (walk->frag & 1 ? NET6_XLAT_IP_MF : 0);
	} else {
		plan->df = largest - walk->len + NET6_XLAT_IPV4 > NET6_XLAT_DF_ABOVE;
		plan->wants_id = !plan->df;
		frag = plan->df ? NET6_XLAT_IP_DF : 0;
	}
	h[0] = 0x45;
	h[1] = get_unaligned_be16(v6) >> 4;
	put_unaligned_be16(NET6_XLAT_IPV4 + plan->payload, h + 2);
	put_unaligned_be16(walk->fragment ? walk->id : 0, h + 4);
	put_unaligned_be16(frag, h + 6);
	h[8] = v6[7];
	h[9] = plan->proto == NET6_XLAT_ICMPV6 ? NET6_XLAT_ICMP : plan->proto;
	net6_xlat_seal4(h);
}

/**
 * net6_xlat_plan64() - what becomes of an IPv6 packet's headers
 * @ctx: mappings
 * @data: at the IPv6 header
 * @linear: bytes that can be read there. An ICMPv6 error's type is looked at for the sake of
 *	its source
 * @largest: bytes of the largest packet that it will be sent as; 0 for all of it
 * @plan: filled in, as for net6_xlat_plan46()
 *
 * Context: any. Return: NET6_XLAT_GOOD, or why not; NET6_XLAT_SHORT if @linear is too few.
 */
enum net6_xlat_verdict net6_xlat_plan64(const struct net6_xlat_ctx *ctx, const u8 *data,
					unsigned int linear, unsigned int largest,
					struct net6_xlat_plan *plan)
{
	struct net6_xlat_walk walk = {};
	unsigned int total, there = plan->payload;
	struct in6_addr saddr, daddr;
	enum net6_xlat_verdict verdict;
	__be32 src, dst;

	if (linear < NET6_XLAT_IPV6)
		return NET6_XLAT_SHORT;
	total = get_unaligned_be16(data + 4) + NET6_XLAT_IPV6;
	if (data[0] >> 4 != 6 || (total > there && !plan->quoted))
		return NET6_XLAT_HEADER;
	verdict = net6_xlat_walk(data, min(linear, total), plan->quoted, &walk);
	if (verdict != NET6_XLAT_GOOD)
		return verdict == NET6_XLAT_SHORT && total <= linear ? NET6_XLAT_EXTHDR : verdict;

	plan->old_len = walk.len;
	plan->payload = total - walk.len;
	plan->proto = walk.proto;
	plan->df = false;
	plan->wants_id = false;
	plan->first = !(walk.frag & ~7);
	plan->fragment = walk.fragment && (walk.frag & ~6);
	plan->new_len = NET6_XLAT_IPV4;
	if (!net6_xlat_carries(plan->proto) || plan->proto == NET6_XLAT_ICMP)
		return NET6_XLAT_PROTOCOL;
	if (plan->fragment && plan->proto == NET6_XLAT_ICMPV6 && !plan->quoted)
		return NET6_XLAT_ICMP_FRAGMENT;
	verdict = net6_xlat_fragment_check(plan, walk.frag & ~7, walk.frag & 1);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	if (NET6_XLAT_IPV4 + plan->payload > 65535)
		return NET6_XLAT_TOO_BIG;

	memcpy(&saddr, data + 8, sizeof(saddr));
	memcpy(&daddr, data + 24, sizeof(daddr));
	if (!net6_xlat_map_to4(ctx->map, &daddr, &dst)) {
		dst = plan->quoted ? net6_xlat_map_host4(ctx->map, &daddr, false) : 0;
		if (!dst)
			return NET6_XLAT_DEST;
	}
	verdict = net6_xlat_source4(ctx, &saddr,
				    net6_xlat_is_error(plan, false, data + walk.len,
						       min(linear, total) - walk.len),
				    plan->quoted, &src);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	memcpy(plan->header + 12, &src, sizeof(src));
	memcpy(plan->header + 16, &dst, sizeof(dst));
	net6_xlat_write4(plan, data, &walk, largest ?: total);
	net6_xlat_sums(plan, data, plan->header, false);
	return NET6_XLAT_GOOD;
}

/**
 * net6_xlat_plan_resize() - the transport has another length now
 * @plan: changed
 * @to6: to IPv6
 * @payload: bytes behind the new headers, at most 65,000
 *
 * Context: any.
 */
void net6_xlat_plan_resize(struct net6_xlat_plan *plan, bool to6, unsigned int payload)
{
	plan->payload = payload;
	if (to6) {
		put_unaligned_be16(payload + plan->new_len - NET6_XLAT_IPV6, plan->header + 4);
		return;
	}
	put_unaligned_be16(payload + NET6_XLAT_IPV4, plan->header + 2);
	/* It is no fragment. */
	plan->df = payload + NET6_XLAT_IPV4 > NET6_XLAT_DF_ABOVE;
	plan->wants_id = !plan->df;
	put_unaligned_be16(plan->df ? NET6_XLAT_IP_DF : 0, plan->header + 6);
	net6_xlat_seal4(plan->header);
}

/**
 * net6_xlat_piece_room() - what a piece of a packet can carry that IPv4 routers might cut
 * @plan: of a packet to IPv6
 *
 * RFC 7915 section 4: "such that it fits into the lowest-ipv6-mtu".
 * Context: any. Return: bytes, a multiple of 8; 0 if it goes in one piece.
 */
unsigned int net6_xlat_piece_room(const struct net6_xlat_plan *plan)
{
	if (plan->df || plan->new_len + plan->payload <= NET6_XLAT_MIN_MTU)
		return 0;
	return (NET6_XLAT_MIN_MTU - NET6_XLAT_IPV6 - NET6_XLAT_FRAG) / 8 * 8;
}

/**
 * net6_xlat_piece() - the headers of a piece
 * @plan: of all of it
 * @offset: of the piece, a multiple of 8
 * @len: bytes of it
 * @header: written: NET6_XLAT_IPV6 + NET6_XLAT_FRAG bytes
 *
 * Context: any.
 */
void net6_xlat_piece(const struct net6_xlat_plan *plan, unsigned int offset, unsigned int len,
		     u8 *header)
{
	u8 next = plan->header[plan->fragment ? NET6_XLAT_IPV6 : 6];
	u16 frag = plan->frag + offset;

	if (offset + len < plan->payload)
		frag |= 1;
	memcpy(header, plan->header, NET6_XLAT_IPV6);
	put_unaligned_be16(len + NET6_XLAT_FRAG, header + 4);
	header[6] = NET6_XLAT_FRAGMENT_HDR;
	net6_xlat_write_fragment(plan, next, frag, header + NET6_XLAT_IPV6);
}

/**
 * net6_xlat_is_error() - is it an ICMP error, which quotes a packet?
 * @plan: of its headers
 * @to6: it is IPv4
 * @data: behind them
 * @linear: bytes that can be read there
 *
 * Context: any. Return: true if so.
 */
bool net6_xlat_is_error(const struct net6_xlat_plan *plan, bool to6, const u8 *data,
			unsigned int linear)
{
	if (plan->proto != (to6 ? NET6_XLAT_ICMP : NET6_XLAT_ICMPV6) || !plan->first || !linear)
		return false;
	return to6 ? net6_xlat_icmp_is_error4(data[0]) : data[0] < 128;
}

/**
 * net6_xlat_checksum_at() - where a transport's checksum is that covers addresses
 * @proto: transport
 *
 * Context: any. Return: offset in its header, 0 if there is none.
 */
unsigned int net6_xlat_checksum_at(u8 proto)
{
	switch (proto) {
	case NET6_XLAT_TCP:
		return 16;
	case NET6_XLAT_UDP:
	case NET6_XLAT_UDPLITE:
	case NET6_XLAT_DCCP:
		return 6;
	}
	return 0;
}

/* RFC 1624. A checksum that will be completed has the sum of the pseudo-header, not inverted. */
static void net6_xlat_adjust(u8 *field, u32 delta, bool partial, bool udp)
{
	u16 old = get_unaligned_be16(field), sum;

	sum = net6_xlat_fold((partial ? old : (u16)~old) + (u32)net6_xlat_fold(delta));
	if (!partial)
		sum = ~sum;
	/* RFC 768: zero is for none. */
	if (udp && !partial && !sum)
		sum = 0xffff;
	put_unaligned_be16(sum, field);
}

/* Echo, the one kind of informational message that both have. */
static enum net6_xlat_verdict net6_xlat_echo(struct net6_xlat_plan *plan, bool to6, u8 *data)
{
	u32 pseudo = plan->pseudo6 + (plan->payload & 0xffff) + (plan->payload >> 16);
	u8 type;
	u32 delta;

	if (!net6_xlat_icmp_echo(to6, data[0], &type))
		return plan->quoted ? NET6_XLAT_ICMP_QUOTE : NET6_XLAT_ICMP_TYPE;
	delta = (type << 8) + net6_xlat_minus(data[0] << 8);
	delta += to6 ? pseudo : net6_xlat_minus(pseudo);
	data[0] = type;
	net6_xlat_adjust(data + 2, delta, false, false);
	return NET6_XLAT_GOOD;
}

/**
 * net6_xlat_transport() - change a transport's header
 * @plan: of the headers in front; no ICMP error
 * @to6: to IPv6
 * @data: the transport's header
 * @linear: bytes of it that can be read and written
 * @partial: its checksum is that of the pseudo-header; not ICMP's
 *
 * Context: any. Return: NET6_XLAT_GOOD, or why not.
 */
enum net6_xlat_verdict net6_xlat_transport(struct net6_xlat_plan *plan, bool to6, u8 *data,
					   unsigned int linear, bool partial)
{
	unsigned int at = net6_xlat_checksum_at(plan->proto);
	bool udp = plan->proto == NET6_XLAT_UDP;

	plan->no_checksum = false;
	if (!plan->first)
		return NET6_XLAT_GOOD;
	if (plan->proto == (to6 ? NET6_XLAT_ICMP : NET6_XLAT_ICMPV6))
		return linear < 8 ? NET6_XLAT_SHORT : net6_xlat_echo(plan, to6, data);
	if (!at)
		return NET6_XLAT_GOOD;
	/* A quoted packet may end before it. */
	if (linear < at + 2)
		return plan->quoted ? NET6_XLAT_GOOD : NET6_XLAT_SHORT;
	if (!udp || partial || get_unaligned_be16(data + at)) {
		net6_xlat_adjust(data + at, plan->delta, partial, udp);
		return NET6_XLAT_GOOD;
	}
	if (!to6 || plan->quoted)
		return NET6_XLAT_GOOD;
	/* RFC 7915 4.5: it is to be computed, for which the whole datagram is needed. */
	if (plan->fragment)
		return NET6_XLAT_UDP_FRAGMENT;
	plan->no_checksum = true;
	return NET6_XLAT_GOOD;
}
