/* SPDX-License-Identifier: GPL-2.0 */
/* What makes a host a router: forwarding, per interface that packets come in on. */
#ifndef _NET6_FORWARD_H
#define _NET6_FORWARD_H

#include "iface.h"

struct net6_hop;
struct net6_neigh;

/**
 * net6_forward_on() - is this host a router on an interface?
 * @iface: interface
 *
 * IsForwarding of RFC 4861 6.2.1 and "router" wherever the RFC says it. Context: any.
 */
static inline bool net6_forward_on(const struct net6_iface *iface)
{
	return READ_ONCE(iface->forwarding);
}

bool net6_forward_wants(const struct net6_iface *iface, const struct sk_buff *skb);
int net6_forward_by(const struct net6_iface *iface, struct sk_buff *skb, struct net6_hop *hop);
void net6_forward(struct net6_iface *iface, struct sk_buff *skb, bool reassembled);
int net6_forward_finish(struct net6_neigh *neigh, struct sk_buff *skb, bool reassembled);
void net6_forward_set(struct net6_iface *iface, bool on);	/* nn->lock held */

/* core/redirect.c; softirq, RCU read lock held. */
void net6_redirect_rcv(struct net6_iface *iface, struct sk_buff *skb);
void net6_redirect_send(struct net6_iface *iface, const struct sk_buff *skb,
			const struct net6_hop *hop);

#endif /* _NET6_FORWARD_H */
