/* SPDX-License-Identifier: GPL-2.0 */
/* The switch between IPv6 and what it carries: upper protocols and extension
 * headers register here; core knows none of them by name.
 */
#ifndef _NET6_PROTO_H
#define _NET6_PROTO_H

#include <linux/jump_label.h>

#include "../core/ip.h"

/**
 * struct net6_icmp_error - an ICMPv6 error about a packet that we sent
 * @type: ICMPv6 type
 * @code: its code
 * @info: MTU or pointer, host byte order
 * @ifindex: interface the error came in on
 * @saddr: source of the offending packet (ours)
 * @daddr: destination of the offending packet
 * @from: who sent the error
 * @offset: of the offending packet's transport header from skb->data
 */
struct net6_icmp_error {
	u8			type;
	u8			code;
	u32			info;
	int			ifindex;
	const struct in6_addr	*saddr;
	const struct in6_addr	*daddr;
	const struct in6_addr	*from;
	unsigned int		offset;
};

/**
 * struct net6_proto - an upper protocol
 * @rcv: take the packet: data at the transport header, transport header set,
 *	net6_rx_cb() valid, at least 0 bytes linear (pull what is read). Consumes.
 *	Context: softirq or BH disabled, RCU read lock held.
 * @error: an ICMPv6 error about a packet of ours; @skb is only borrowed, and at
 *	least 8 bytes at err->offset are linear. Same context.
 */
struct net6_proto {
	void (*rcv)(struct sk_buff *skb);
	void (*error)(struct sk_buff *skb, const struct net6_icmp_error *err);
};

int net6_proto_register(u8 protocol, const struct net6_proto *proto);
void net6_proto_unregister(u8 protocol, const struct net6_proto *proto);	/* sleeps */
const struct net6_proto *net6_proto_find(u8 protocol);	/* RCU read lock held */

/**
 * struct net6_proto_tap - raw sockets: all packets, beside their protocols
 * @rcv: a packet at the header that @protocol names, extension headers included; @skb
 *	is only borrowed. Returns true if a socket wanted it: nobody is then told that
 *	the protocol is unknown. Context: as struct net6_proto's.
 * @error: an ICMPv6 error about a packet of ours of this protocol, as net6_proto's
 */
struct net6_proto_tap {
	bool (*rcv)(struct sk_buff *skb, u8 protocol);
	void (*error)(struct sk_buff *skb, const struct net6_icmp_error *err, u8 protocol);
};

void net6_proto_tap_register(const struct net6_proto_tap *tap);	/* NULL: sleeps */
void net6_proto_tap_want(bool want);				/* sleeps */
bool net6_proto_tap_rcv(struct sk_buff *skb, u8 protocol);
void net6_proto_tap_error(struct sk_buff *skb, const struct net6_icmp_error *err, u8 protocol);

/* While there is no raw socket the way up does not look for one. */
DECLARE_STATIC_KEY_FALSE(net6_proto_tapped);

/* Linux errno for an ICMPv6 error; returns true when it is fatal (hard). */
bool net6_icmp_errno(u8 type, u8 code, int *err);

#endif /* _NET6_PROTO_H */
