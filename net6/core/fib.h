/* SPDX-License-Identifier: GPL-2.0 */
/* Routing tables: what the administrator has set, and Route Information options of
 * routers (RFC 4191 section 2.3). On-link prefixes and default routers of Router
 * Advertisements have lists of their own, nd.h.
 */
#ifndef _NET6_FIB_H
#define _NET6_FIB_H

#include <linux/rtnetlink.h>

#include "iface.h"
#include "life.h"
#include "metrics.h"
#include "source.h"
#include "table.h"

#define NET6_METRIC_DEFAULT	1024	/* as native's: of routers, and of who asks for none */

/**
 * struct net6_route_attrs - what is said of a route beside where it leads
 * @metrics: RTA_METRICS, NULL for none; the route holds a reference
 * @source: RTA_PREFSRC, alike
 * @metric: of several ways the lower one wins; part of what tells routes apart. To remove, 0: any
 * @table: number of its table; RT_TABLE_UNSPEC is main, too. Where it is kept says more
 * @nexthop: the next hop object that it goes by (takeover/rt_nexthop.c), 0 for none
 * @protocol: RTPROT_* of who has set it; it is told only
 * @refuses: it leads nowhere: RTN_BLACKHOLE, _UNREACHABLE, _PROHIBIT, _THROW; 0: it leads somewhere
 * @preference: RFC 4191: 1 high, 0 medium, -1 low
 * @manual: set by the administrator: no advertisement changes it
 * @hops: its weight among those that share its destinations, less 1
 * @untold: whoever changes it tells rtnetlink's listeners, of several next hops at once
 */
struct net6_route_attrs {
	struct net6_metrics	*metrics;
	struct net6_source	*source;
	u32			metric;
	u32			table;
	u32			nexthop;
	u8			protocol;
	s8			preference;
	u8			refuses : 4;
	bool			manual : 1;
	bool			untold : 1;
	u8			hops;
};

/* What a router has told, and what is set without more words. */
#define NET6_ROUTE_TOLD(pref)	((const struct net6_route_attrs) {		\
	.metric = NET6_METRIC_DEFAULT, .protocol = RTPROT_RA, .preference = (pref) })
#define NET6_ROUTE_BY_HAND(pref)	((const struct net6_route_attrs) {	\
	.metric = NET6_METRIC_DEFAULT, .protocol = RTPROT_BOOT, .preference = (pref),	\
	.manual = true })

static inline bool net6_route_attrs_equal(const struct net6_route_attrs *a,
					  const struct net6_route_attrs *b)
{
	return a->metric == b->metric && a->protocol == b->protocol && a->refuses == b->refuses &&
	       a->nexthop == b->nexthop &&
	       a->preference == b->preference && a->manual == b->manual && a->hops == b->hops &&
	       a->source == b->source && net6_metrics_equal(a->metrics, b->metrics);
}

/* As good as each other, if both can share. */
static inline bool net6_route_alike(const struct net6_route_attrs *a,
				    const struct net6_route_attrs *b)
{
	return a->metric == b->metric && READ_ONCE(a->nexthop) == READ_ONCE(b->nexthop) &&
	       READ_ONCE(a->preference) == READ_ONCE(b->preference);
}

/**
 * struct net6_fib_route - a route
 * @life: in iface->routes
 * @table: its table
 * @item: in its prefix' node of @table, lowest metric first, then best preference
 * @prefix: bits beyond @plen zero
 * @gateway: router on @iface, link-local or not; :: if the prefix is on-link, or refused
 * @iface: borrowed: its routes go with it; the loopback if the prefix is refused
 * @id: its number, which no route and no default router has had before
 * @plen: 0..128; default routes by a router are in the Default Router List if they are main's
 * @attrs: constant
 * @rcu: freed after a grace period
 */
struct net6_fib_route {
	struct net6_life	life;
	struct net6_table	*table;
	struct list_head	item;
	struct in6_addr		prefix;
	struct in6_addr		gateway;
	struct net6_iface	*iface;
	u32			id;
	u8			plen;
	struct net6_route_attrs	attrs;
	struct rcu_head		rcu;
};

/**
 * struct net6_fib_match - what routes say of a destination
 * @route: borrowed; NULL if no prefix matches
 * @node: of its prefix
 * @neigh: its router, if that is in the neighbor cache; borrowed
 * @reachable: the router is not known to be unreachable
 */
struct net6_fib_match {
	struct net6_fib_route	*route;
	struct net6_trie_node	*node;
	struct net6_neigh	*neigh;
	bool			reachable;
};

/**
 * struct net6_fib_pos - how far a walk through all routes has come
 * @prefix: the one at hand; bits beyond @plen may be set
 * @table: number of its table
 * @n: so many routes of the prefix are done
 * @plen: length of @prefix
 * @end: all are done
 */
struct net6_fib_pos {
	struct in6_addr	prefix;
	u32		table;
	u32		n;
	u8		plen;
	bool		end;
};

typedef int (*net6_fib_fn)(const struct net6_fib_route *r, void *arg);

/* Does it share its destinations with others of its prefix, metric and preference? As native: by a
 * gateway that nobody has told.
 */
static inline bool net6_fib_shares(const struct net6_fib_route *r)
{
	return r->attrs.manual && !r->attrs.refuses && !ipv6_addr_any(&r->gateway);
}

/* RCU read lock held. */
bool net6_fib_reachable(const struct net6_fib_route *r, struct net6_neigh **neigh);
void net6_fib_lookup(const struct net6_table *table, const struct in6_addr *addr, int oif,
		     struct net6_fib_match *match);
int net6_fib_walk(struct net6_net *nn, u32 only, struct net6_fib_pos *pos, net6_fib_fn fn,
		  void *arg);

/* Takes nn->lock. A lifetime of 0 removes. */
int net6_fib_update(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen,
		    const struct in6_addr *gateway, const struct net6_route_attrs *attrs,
		    u32 lifetime);

/* nn->lock held. */
u32 net6_fib_next_id(struct net6_net *nn);
void net6_fib_end(struct net6_life *life);
void net6_fib_forget(struct net6_iface *iface, const struct in6_addr *gateway);
void net6_fib_forget_all(struct net6_iface *iface, bool manual);

#endif /* _NET6_FIB_H */
