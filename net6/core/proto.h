/* SPDX-License-Identifier: GPL-2.0 */
/* The switch between IPv6 and what it carries: upper protocols and extension
 * headers register here; core knows none of them by name. The part that other modules
 * may use is in include/net6/proto.h.
 */
#ifndef _NET6_PROTO_H
#define _NET6_PROTO_H

#include <linux/jump_label.h>
#include <net6/proto.h>

#include "../core/ip.h"

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
