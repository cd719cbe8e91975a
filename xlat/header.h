/* SPDX-License-Identifier: GPL-2.0 */
/* Headers of IP and of transports, RFC 7915 4.1, 4.4, 4.5, 5.1, 5.4 and 5.5. First a plan is made
 * of what is in front of the transport; then the transport's own bytes are changed in place. No
 * kernel: unit-tested and fuzzed in user space.
 */
#ifndef _NET6_XLAT_HEADER_H
#define _NET6_XLAT_HEADER_H

#include <linux/types.h>

#include "map.h"
#include "verdict.h"

#define NET6_XLAT_IPV4		20	/* bytes of an IPv4 header without options */
#define NET6_XLAT_IPV6		40	/* bytes of an IPv6 header */
#define NET6_XLAT_FRAG		8	/* bytes of a Fragment header */
#define NET6_XLAT_MIN_MTU	1280	/* RFC 7915 section 4: lowest-ipv6-mtu */
#define NET6_XLAT_DF_ABOVE	1260	/* RFC 7915 5.1: larger packets are not to be fragmented */

/**
 * struct net6_xlat_ctx - what a translation depends on
 * @map: addresses
 * @self4: source of ICMP errors of IPv6 routers if there is no pool, 0 for none
 * @mtu: the largest packet of either IP that the translator takes, bytes
 */
struct net6_xlat_ctx {
	const struct net6_xlat_map	*map;
	__be32				self4;
	u32				mtu;
};

/**
 * struct net6_xlat_plan - what becomes of a packet's headers
 * @header: those that come in front of the transport
 * @new_len: bytes of them; @old_len: bytes that they replace
 * @payload: bytes behind them; of a quoted packet, as many as it had
 * @proto: of the transport, as the packet has it
 * @quoted: it is in an ICMP error, perhaps not to its end
 * @fragment: it is one of several; @first: it has the transport's header
 * @df: IPv4 said or says Don't Fragment
 * @id: IPv4's Identification; @frag: offset and flag, as a Fragment header has them. To IPv6
 * @wants_id: the IPv4 header needs an Identification of its own
 * @no_checksum: set by net6_xlat_transport(): UDP's is missing, and IPv6 must have one
 * @delta: what the new addresses add to a checksum
 * @pseudo6: IPv6's pseudo-header, for ICMPv6's checksum: all but the length
 */
struct net6_xlat_plan {
	u8	header[NET6_XLAT_IPV6 + NET6_XLAT_FRAG];
	u8	new_len;
	u8	proto;
	u16	old_len;
	u16	id;
	u16	frag;
	u32	payload;
	bool	quoted;
	bool	fragment;
	bool	first;
	bool	df;
	bool	wants_id;
	bool	no_checksum;
	u32	delta;
	u32	pseudo6;
};

u32 net6_xlat_sum(const void *data, unsigned int len, u32 sum);
u16 net6_xlat_fold(u32 sum);
unsigned int net6_xlat_checksum_at(u8 proto);

enum net6_xlat_verdict net6_xlat_plan46(const struct net6_xlat_ctx *ctx, const u8 *data,
					unsigned int linear, struct net6_xlat_plan *plan);
enum net6_xlat_verdict net6_xlat_plan64(const struct net6_xlat_ctx *ctx, const u8 *data,
					unsigned int linear, unsigned int largest,
					struct net6_xlat_plan *plan);
enum net6_xlat_verdict net6_xlat_transport(struct net6_xlat_plan *plan, bool to6, u8 *data,
					   unsigned int linear, bool partial);
void net6_xlat_plan_resize(struct net6_xlat_plan *plan, bool to6, unsigned int payload);
unsigned int net6_xlat_piece_room(const struct net6_xlat_plan *plan);
void net6_xlat_piece(const struct net6_xlat_plan *plan, unsigned int offset, unsigned int len,
		     u8 *header);
bool net6_xlat_is_error(const struct net6_xlat_plan *plan, bool to6, const u8 *data,
			unsigned int linear);

#endif /* _NET6_XLAT_HEADER_H */
