/* SPDX-License-Identifier: GPL-2.0 */
/* Between neigh_table.c, which keeps the entries, and neigh.c, which drives them;
 * nobody else includes it.
 */
#ifndef _NET6_NEIGH_TABLE_H
#define _NET6_NEIGH_TABLE_H

#include <net/ipv6.h>

#include "../observe/drop.h"
#include "neigh.h"

/* Whether a neighbor's link-layer address has to be asked for. */
static inline bool net6_neigh_resolves(const struct net6_iface *iface,
				       const struct in6_addr *addr)
{
	return (iface->ops->flags & NET6_LINK_ND) && !ipv6_addr_is_multicast(addr);
}

/* neigh_table.c */
void net6_neigh_drop_queue(struct net6_iface *iface, struct sk_buff_head *queue,
			   enum net6_drop_reason reason);

/* neigh->lock held: packets that wait for an entry go to @queue. */
static inline void net6_neigh_take_queue(struct net6_neigh *neigh, struct sk_buff_head *queue)
	__must_hold(&neigh->lock)
{
	skb_queue_splice_tail_init(&neigh->queue, queue);
	neigh->queued = 0;
}

void net6_neigh_write_header(struct net6_neigh *neigh);		/* neigh->lock held */
void net6_neigh_let_go(struct net6_neigh *neigh);

/* neigh.c */
void net6_neigh_timer_fn(struct timer_list *t);
void net6_neigh_disarm(struct net6_neigh *neigh);		/* neigh->lock held */

#endif /* _NET6_NEIGH_TABLE_H */
