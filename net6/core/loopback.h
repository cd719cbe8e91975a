/* SPDX-License-Identifier: GPL-2.0 */
/* The way back up for what we send to ourselves, and the loopback as a link. */
#ifndef _NET6_LOOPBACK_H
#define _NET6_LOOPBACK_H

#include "iface.h"

extern const struct net6_link_ops net6_loopback_ops;

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

/* Of its link, and of others without link-layer addresses. */
int net6_loopback_set_multicast(struct net6_iface *iface, const u8 *maddr, bool join);
void net6_loopback_make_iid(const struct net6_iface *iface, u8 iid[8]);
void net6_loopback_map_multicast(const struct net6_iface *iface, const struct in6_addr *group,
				 u8 *lladdr);
int net6_loopback_read_option(const u8 *body, unsigned int len, u8 *lladdr);
unsigned int net6_loopback_write_option(u8 type, const u8 *lladdr, u8 *buf);

void net6_loopback_purge(struct net6_iface *iface);	/* forgets packets for it */
int net6_loopback_init(void);
void net6_loopback_exit(void);

#endif /* _NET6_LOOPBACK_H */
