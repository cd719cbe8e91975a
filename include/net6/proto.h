/* SPDX-License-Identifier: GPL-2.0 */
/* A protocol above IPv6 that another module brings. It registers a Next Header value, is given
 * the packets and the ICMPv6 errors, and sends packets of its own. Limits: no sockets, no groups
 * joined, no GSO; the module bounds what it keeps. Documentation/extending.rst goes through an
 * example.
 */
#ifndef _NET6_PROTO_API_H
#define _NET6_PROTO_API_H

#include <linux/in6.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

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
 * @rcv: take the packet: data at the transport header, transport and network header set,
 *	skb->dev valid, at least 0 bytes linear (pull what is read). Consumes.
 *	Context: softirq or BH disabled, RCU read lock held.
 * @error: an ICMPv6 error about a packet of ours; @skb is only borrowed, and at
 *	least 8 bytes at err->offset are linear. Anybody can forge one: look whether such a
 *	packet was sent. NULL if errors do not matter. Same context.
 */
struct net6_proto {
	void (*rcv)(struct sk_buff *skb);
	void (*error)(struct sk_buff *skb, const struct net6_icmp_error *err);
};

/**
 * net6_proto_register() - take packets of a protocol
 * @protocol: Next Header value
 * @proto: its entry points; stays valid until unregistered
 *
 * Holds for all namespaces. Context: any.
 * Return: 0, -EEXIST (it is taken), or -EINVAL (an extension header's value).
 */
int net6_proto_register(u8 protocol, const struct net6_proto *proto);

/**
 * net6_proto_unregister() - take no more packets of a protocol
 * @protocol: Next Header value
 * @proto: what was registered for it
 *
 * Context: process, sleeps until no CPU is in one of the entry points.
 */
void net6_proto_unregister(u8 protocol, const struct net6_proto *proto);

/**
 * net6_proto_ifindex() - the interface that a packet came in on
 * @skb: what rcv() was given
 *
 * For a packet to ourselves it is the interface that has the address (RFC 4007 section 5).
 * Context: in rcv(), before the packet is queued or consumed. Return: its index.
 */
int net6_proto_ifindex(const struct sk_buff *skb);

/**
 * net6_proto_too_big() - a router says that a packet of ours was too big
 * @skb: as error() was given it
 * @err: a Packet Too Big message about a packet that the module knows it has sent
 *
 * The path's MTU is lowered (RFC 8201 section 4). Context: in error().
 */
void net6_proto_too_big(struct sk_buff *skb, const struct net6_icmp_error *err);

/**
 * struct net6_proto_path - how a packet of another module goes
 * @daddr: destination
 * @saddr: source; :: to have one chosen (RFC 6724)
 * @oif: index of the interface it must leave by, 0 for any. Link-local destinations and
 *	groups want one
 * @hop_limit: 1 to 255; 0 for the interface's, and for 1 if @daddr is a group
 * @tclass: traffic class
 * @mtu: filled in by net6_proto_route(): bytes of IPv6 packet that fit the path
 */
struct net6_proto_path {
	struct in6_addr	daddr;
	struct in6_addr	saddr;
	int		oif;
	u8		hop_limit;
	u8		tclass;
	u32		mtu;
};

/**
 * net6_proto_route() - fill in what the sender left open
 * @net: namespace; the caller keeps it alive
 * @path: destination and wishes; gets @saddr, @hop_limit and @mtu
 *
 * A checksum wants the source address, so it is known before the packet is sent.
 * Context: any; does not sleep.
 * Return: 0, -ENETUNREACH (no route), -EINVAL (no interface given where one is wanted),
 * -ENODEV, -EADDRNOTAVAIL (no source, or one that is not ours), or -ENOMEM.
 */
int net6_proto_route(struct net *net, struct net6_proto_path *path);

/**
 * net6_proto_alloc() - a packet to write into
 * @len: bytes that will be written, transport header included
 * @gfp: GFP_ATOMIC in softirq
 *
 * Context: as @gfp says. Return: empty, with room for all headers in front; NULL without
 * memory.
 */
struct sk_buff *net6_proto_alloc(unsigned int len, gfp_t gfp);

/**
 * net6_proto_send() - send a packet
 * @net: namespace; the caller keeps it alive
 * @skb: of net6_proto_alloc(), data at the transport header, checksum written; consumed
 * @protocol: Next Header value
 * @path: as net6_proto_route() has left it
 *
 * What does not fit the path is fragmented. Netfilter and queueing disciplines see the
 * packet as any other one.
 * Context: any, also in rcv() and error(); does not sleep.
 * Return: 0, NET_XMIT_CN (a queue is congested), -EMSGSIZE (over 65,535 bytes), or as
 * net6_proto_route().
 */
int net6_proto_send(struct net *net, struct sk_buff *skb, u8 protocol,
		    const struct net6_proto_path *path);

#endif /* _NET6_PROTO_API_H */
