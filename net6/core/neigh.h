/* SPDX-License-Identifier: GPL-2.0 */
/* Neighbors [NCE]: IPv6 address to link-layer address, with the reachability state
 * machine of RFC 4861 section 7.3 and appendix C.
 */
#ifndef _NET6_NEIGH_H
#define _NET6_NEIGH_H

#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/seqlock.h>
#include <linux/skbuff.h>
#include <linux/timer.h>

#include "iface.h"
#include "neigh_fsm.h"

#define NET6_NEIGH_F_MANUAL	BIT(0)	/* set by the administrator: never evicted */
#define NET6_NEIGH_F_ROUTER	BIT(1)	/* in the default router list: never evicted */
#define NET6_NEIGH_F_NEXTHOP	BIT(2)	/* others are reached through it: when it
					 * fails, next hops are chosen again
					 */
#define NET6_NEIGH_F_LOST	BIT(3)	/* its probes ran out, and nothing was heard since */
#define NET6_NEIGH_F_PROBE	BIT(4)	/* asked once only, for those that went another way */

/* States in which packets go out at once with the address we have. */
#define NET6_NEIGH_SENDABLE	(BIT(NET6_NEIGH_REACHABLE) | BIT(NET6_NEIGH_DELAY) | \
				 BIT(NET6_NEIGH_PROBE) | BIT(NET6_NEIGH_PERMANENT))

/**
 * struct net6_neigh - one neighbor on one interface
 * @node: in iface->neighs
 * @iface: interface; reference held
 * @addr: its address; constant
 * @state: enum net6_neigh_state; written under @lock, read lockless on output
 * @is_router: IsRouter flag
 * @lladdr: its link-layer address, valid unless INCOMPLETE; under @lock
 * @header_len: bytes of @header that are valid, 0 if none: read lockless
 * @header: link header ready to copy, right-aligned; changed under @header_seq
 * @header_seq: written under @lock
 * @confirmed: jiffies of the last reachability confirmation
 * @used: jiffies of the last packet sent through it
 * @probed: jiffies when probes ran out, or net6_neigh_probe() last had one sent
 * @probes: solicitations sent in this state
 * @flags: NET6_NEIGH_F_*, under @lock
 * @dead: removed from the table, under @lock
 * @lock: protects the state and what belongs to it; below nn->lock and iface->neigh_lock
 * @timer: of the state; holds a reference
 * @lru: place in iface->neigh_lru or neigh_kept, under iface->neigh_lock
 * @lru_stamp: jiffies when it was put at its place in the LRU list
 * @unresolved: place in iface->neigh_unresolved, empty when it has left it
 * @queued: octets of memory of the packets in @queue, under @lock
 * @queue: packets waiting for resolution, bounded by limits.neigh_queue
 * @ref: references; the table holds one
 * @rcu: freed after a grace period
 */
struct net6_neigh {
	struct rhash_head	node;
	struct in6_addr		addr;
	struct net6_iface	*iface;
	u8			state;
	u8			is_router;
	u8			header_len;
	u8			probes;
	u8			flags;
	bool			dead;
	seqcount_spinlock_t	header_seq;
	u8			header[NET6_LINK_HEADER_MAX] __aligned(8);
	unsigned long		confirmed;
	unsigned long		used;
	unsigned long		probed;
	spinlock_t		lock;
	u8			lladdr[MAX_ADDR_LEN];
	u32			queued;
	struct sk_buff_head	queue;
	struct timer_list	timer;
	struct list_head	lru;
	unsigned long		lru_stamp;
	struct list_head	unresolved;
	refcount_t		ref;
	struct rcu_head		rcu;
};

/* All: RCU read lock held, BH disabled, any context; none sleeps. find() and find_or_create()
 * borrow, get_or_create() returns a reference or NULL.
 */
struct net6_neigh *net6_neigh_find(struct net6_iface *iface, const struct in6_addr *addr);
struct net6_neigh *net6_neigh_get_or_create(struct net6_iface *iface,
					    const struct in6_addr *addr);
struct net6_neigh *net6_neigh_find_or_create(struct net6_iface *iface,
					     const struct in6_addr *addr);
void net6_neigh_put(struct net6_neigh *neigh);
int net6_neigh_output(struct net6_neigh *neigh, struct sk_buff *skb);
void net6_neigh_confirm(struct net6_neigh *neigh);
void net6_neigh_probe(struct net6_neigh *neigh);
void net6_neigh_remove(struct net6_neigh *neigh);
struct list_head *net6_neigh_list(struct net6_iface *iface);	/* its neigh_lock held */
void net6_neigh_flush(struct net6_iface *iface);	/* all but MANUAL; routers start over */
void net6_neigh_purge(struct net6_iface *iface);	/* really all */
void net6_neigh_set_nexthop(struct net6_neigh *neigh);	/* others are reached through it */
int net6_neigh_set(struct net6_iface *iface, const struct in6_addr *addr, const u8 *lladdr,
		   enum net6_neigh_state state);

/**
 * struct net6_neigh_news - what an ND message says about a neighbor
 * @event: NET6_NEIGH_EV_LLADDR or NET6_NEIGH_EV_NA
 * @lladdr: its link-layer address, NULL if the message has none
 * @solicited, @override, @router: flags of a Neighbor Advertisement
 * @is_router: set the IsRouter flag (Router Advertisement, Redirect to a router)
 * @host: clear the IsRouter flag (Router Solicitation)
 * @nexthop: others will be reached through it (Redirect)
 * @create: make an entry if there is none
 */
struct net6_neigh_news {
	enum net6_neigh_event	event;
	const u8		*lladdr;
	bool			solicited;
	bool			override;
	bool			router;
	bool			is_router;
	bool			host;
	bool			nexthop;
	bool			create;
};

bool net6_neigh_learn(struct net6_iface *iface, const struct in6_addr *addr,
		      const struct net6_neigh_news *news);	/* false: no entry */
void net6_neigh_set_router(struct net6_neigh *neigh, bool router);	/* the list's mark */

int net6_neigh_iface_init(struct net6_iface *iface);
void net6_neigh_iface_exit(struct net6_iface *iface);	/* process context, sleeps */

/**
 * net6_neigh_reachable() - is forward progress on this path to be expected?
 * @neigh: neighbor
 *
 * Used for next-hop choice among routers (RFC 4861 6.3.6): true unless the entry
 * is INCOMPLETE or its probes failed.
 */
bool net6_neigh_reachable(const struct net6_neigh *neigh);

/**
 * net6_neigh_lost() - is it known not to answer?
 * @neigh: neighbor
 *
 * RFC 4191 3.2 lets routes give way to others then, and not before: while an address is being
 * resolved, nothing is known. Context: any.
 */
static inline bool net6_neigh_lost(const struct net6_neigh *neigh)
{
	return READ_ONCE(neigh->flags) & NET6_NEIGH_F_LOST;
}

bool net6_neigh_lladdr(struct net6_neigh *neigh, u8 *lladdr);

#endif /* _NET6_NEIGH_H */
