/* SPDX-License-Identifier: GPL-2.0 */
/* The routing table: what the administrator has set, and Route Information options of
 * routers (RFC 4191 section 2.3). On-link prefixes and default routers of Router
 * Advertisements have lists of their own, nd.h.
 */
#ifndef _NET6_FIB_H
#define _NET6_FIB_H

#include "iface.h"
#include "life.h"
#include "trie.h"

/**
 * struct net6_fib_route - a route
 * @life: in iface->routes
 * @item: in its prefix' node of nn->fib, best preference first
 * @prefix: bits beyond @plen zero
 * @gateway: router on @iface, link-local or not; :: if the prefix is on-link
 * @iface: borrowed: its routes go with it
 * @plen: 1..128; the default route is in the Default Router List
 * @preference: RFC 4191: 1 high, 0 medium, -1 low
 * @manual: set by the administrator: no advertisement changes it
 * @rcu: freed after a grace period
 */
struct net6_fib_route {
	struct net6_life	life;
	struct list_head	item;
	struct in6_addr		prefix;
	struct in6_addr		gateway;
	struct net6_iface	*iface;
	u8			plen;
	s8			preference;
	bool			manual;
	struct rcu_head		rcu;
};

/* RCU read lock held. *@reachable: the route's router is not known to be unreachable. */
struct net6_fib_route *net6_fib_lookup(struct net6_net *nn, const struct in6_addr *addr, int oif,
				       bool *reachable);

/* Takes nn->lock. A lifetime of 0 removes. */
int net6_fib_update(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen,
		    const struct in6_addr *gateway, s8 preference, u32 lifetime, bool manual);

/* nn->lock held. */
unsigned long net6_fib_expire(struct net6_iface *iface);
void net6_fib_forget(struct net6_iface *iface, const struct in6_addr *gateway);
void net6_fib_forget_all(struct net6_iface *iface, bool manual);

#endif /* _NET6_FIB_H */
