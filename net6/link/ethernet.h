/* SPDX-License-Identifier: GPL-2.0 */
/* The link layers that are built in. */
#ifndef _NET6_LINK_LINK_H
#define _NET6_LINK_LINK_H

#include "../core/iface.h"

extern const struct net6_link_ops net6_ethernet_ops;
extern const struct net6_link_ops net6_loopback_ops;

/**
 * net6_link_xmit() - give a packet with its link header to the device
 * @skb: data at the link header; consumed
 *
 * Context: BH disabled, RCU read lock held.
 * Return: 0, NET_XMIT_CN (the device's queue is congested: this packet or another has been
 * dropped), or -ENOBUFS (this one has).
 */
static inline int net6_link_xmit(struct sk_buff *skb)
{
	int err = dev_queue_xmit(skb);

	return likely(!err) || err == NET_XMIT_CN ? err : -ENOBUFS;
}

/**
 * net6_loopback_queue() - bring a packet of ours back up, in a softirq of its own
 * @iface: interface it shall be received on: the loopback, or the one that a looped
 *	back multicast packet goes out on
 * @ifindex: interface it counts as received on (net6_rcv_ifindex()): the one that has the
 *	destination
 * @skb: data at the IPv6 header, not shared; consumed. It is orphaned, and arrives
 *	with pkt_type PACKET_LOOPBACK, by which net6_rcv() knows it; GSO packets and
 *	CHECKSUM_PARTIAL stay as they are.
 *
 * Context: BH disabled or softirq, RCU read lock held.
 * Return: 0 or -ENOBUFS when this CPU's queue is full.
 */
int net6_loopback_queue(struct net6_iface *iface, int ifindex, struct sk_buff *skb);

void net6_loopback_purge(struct net6_iface *iface);	/* forgets packets for it */
int net6_loopback_init(void);
void net6_loopback_exit(void);

#endif /* _NET6_LINK_LINK_H */
