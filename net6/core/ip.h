/* SPDX-License-Identifier: GPL-2.0 */
/* IPv6 packets on their way up and down: the control block, headroom, and the
 * verbs that transports use.
 */
#ifndef _NET6_IP_H
#define _NET6_IP_H

#include <linux/bpf-cgroup.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <net/ip6_checksum.h>
#include <net/route.h>

#include "dest.h"

/* Room in front of a transport header for everything that may be put there: link
 * header, IPv6 header, extension headers of ours (a fragment header).
 */
#define NET6_HEADROOM	(LL_MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct frag_hdr))

#define NET6_MIN_MTU	1280	/* bytes, RFC 8200 section 5 */
#define NET6_DEFAULT_HOP_LIMIT	64

#define NET6_RX_MULTICAST	BIT(0)	/* destination is a group */
#define NET6_RX_LOOPBACK	BIT(1)	/* sent by ourselves */
#define NET6_RX_FRAGMENTED	BIT(2)	/* had a fragment header (RFC 6980) */
#define NET6_RX_HOPBYHOP	BIT(3)
#define NET6_RX_LL_MULTICAST	BIT(4)	/* came in a link-layer group or broadcast frame */
#define NET6_RX_ROUTER_ALERT	BIT(5)	/* with the option of RFC 2711 */
#define NET6_RX_ANYCAST		BIT(6)	/* destination is an anycast address */

/**
 * struct net6_rx_cb - what was parsed once, in skb->cb until the transport takes it
 * @iface: interface received on; RCU only, so valid until the transport queues
 * @ifindex: net6_rcv_ifindex(), which survives queueing
 * @flags: NET6_RX_*
 * @nhoff: offset from the network header of the next-header byte that named the
 *	protocol now at skb->data (for Parameter Problem pointers)
 * @nexthdr: that byte
 */
struct net6_rx_cb {
	struct net6_iface	*iface;
	int			ifindex;
	u16			flags;
	u16			nhoff;
	u8			nexthdr;
};

static inline struct net6_rx_cb *net6_rx_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct net6_rx_cb) > sizeof(skb->cb));
	return (struct net6_rx_cb *)skb->cb;
}

/**
 * net6_rcv_ifindex() - the interface that sockets are told a packet came in on
 * @iface: where it did
 * @skb: packet
 *
 * A packet to an address of ours comes up on the loopback. It counts as received on the interface
 * that has the address (RFC 4007 section 5), as on Linux. Context: any.
 */
static inline int net6_rcv_ifindex(const struct net6_iface *iface, const struct sk_buff *skb)
{
	return skb->pkt_type == PACKET_LOOPBACK ? skb->skb_iif : iface->ifindex;
}

/**
 * net6_push_header() - put the IPv6 header in front of a transport header
 * @skb: data at the transport header, with room in front
 * @saddr: source
 * @daddr: destination
 * @proto: next header
 * @hop_limit: 0..255
 * @flowinfo: traffic class and flow label, network byte order, low 28 bits
 *
 * Sets network header, payload length and protocol. The length is 65,535 bytes at most, for
 * GSO packets too. Context: any.
 */
static inline void net6_push_header(struct sk_buff *skb, const struct in6_addr *saddr,
				    const struct in6_addr *daddr, u8 proto, u8 hop_limit,
				    __be32 flowinfo)
{
	unsigned int len = skb->len;
	struct ipv6hdr *h;

	DEBUG_NET_WARN_ON_ONCE(skb_headroom(skb) < sizeof(*h));
	h = __skb_push(skb, sizeof(*h));
	skb_reset_network_header(skb);
	*(__be32 *)h = htonl(6 << 28) | (flowinfo & htonl(0x0fffffff));
	h->payload_len = htons(len);
	h->nexthdr = proto;
	h->hop_limit = hop_limit;
	h->saddr = *saddr;
	h->daddr = *daddr;
	skb->protocol = htons(ETH_P_IPV6);
}

/**
 * net6_output() - send a packet whose IPv6 header is complete
 * @skb: data at the IPv6 header; consumed
 * @dest: where to; the caller's reference is only borrowed
 *
 * Sends GSO packets as they are. A packet without GSO that exceeds the link's MTU
 * is fragmented when skb->ignore_df allows it, else dropped (OUT_TOO_BIG). Multicast
 * that we belong to is looped back when skb->sk's (or no sk's) multicast loop says so.
 * Context: any; takes rcu_read_lock_bh itself; does not sleep, and does not call
 * back into the sender's receive path: looped packets go through a per-CPU queue.
 * Return: 0, NET_XMIT_CN (the queue below is congested), or -ENOBUFS and other negative
 * errnos.
 */
int net6_output(struct sk_buff *skb, struct net6_dest *dest);
int net6_output_finish(struct sk_buff *skb, struct net6_dest *dest);
int net6_output_routed(struct sk_buff *skb, struct net6_dest *dest);
int net6_output_outer(struct sk_buff *skb, struct net6_dest *dest);
int net6_output_ask(struct net6_net *nn, struct sk_buff *skb);

/* For who goes past net6_output_finish(); nothing while no control group has programs. */
static inline int net6_output_egress(struct net6_net *nn, struct sk_buff *skb)
{
	return cgroup_bpf_enabled(CGROUP_INET_EGRESS) ? net6_output_ask(nn, skb) : 0;
}

static inline __wsum net6_checksum_pseudo(struct sk_buff *skb, int proto)
{
	return ~csum_unfold(csum_ipv6_magic(&ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr,
					    skb->len, proto, 0));
}

/**
 * net6_checksum_init() - verify a transport checksum, or prepare to do so on copy
 * @skb: data at the transport header, network header set
 * @proto: protocol number in the pseudo-header
 *
 * As skb_checksum_init() with the IPv6 pseudo-header. Return: 0 if good or not yet
 * known (skb_checksum_complete() tells), else non-zero.
 */
#define net6_checksum_init(skb, proto) \
	skb_checksum_init(skb, proto, net6_checksum_pseudo)

/* Traffic class and flow label of a received packet, network byte order. */
static inline __be32 net6_flowinfo(const struct ipv6hdr *h)
{
	return *(const __be32 *)h & htonl(0x0fffffff);
}

struct net6_accept;
int net6_rcv_check(struct sk_buff *skb, bool looped);
void net6_rcv_accepted(struct net6_iface *iface, struct sk_buff *skb,
		       const struct net6_accept *accept);
void net6_rcv_deliver(struct net6_iface *iface, struct sk_buff *skb,
		      const struct net6_accept *accept, bool reassembled);
void net6_rcv_route(struct net6_iface *iface, struct sk_buff *skb, bool reassembled);

/* core/frag.c: send @skb in pieces of at most @mtu bytes. BH disabled, RCU held. */
int net6_frag_output(struct sk_buff *skb, struct net6_neigh *neigh, unsigned int mtu);
int net6_frag_split(struct sk_buff *skb, unsigned int mtu);
void net6_frag_init(void);

int net6_output_init(void);
void net6_output_exit(void);
int net6_input_init(void);
void net6_input_exit(void);

/**
 * net6_priority() - a packet's priority in queueing disciplines
 * @asked: SO_PRIORITY of its socket, 0 if nothing was asked for
 * @tclass: its traffic class, which counts then
 *
 * As IPv4 takes it from the type of service. Context: any. Return: for skb->priority.
 */
static inline u32 net6_priority(u32 asked, u8 tclass)
{
	return asked ?: rt_tos2priority(tclass);
}

#endif /* _NET6_IP_H */
