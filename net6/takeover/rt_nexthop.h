/* SPDX-License-Identifier: GPL-2.0 */
/* Next hop objects as they are now: found by routes (rt_nexthop.c), kept by rt_follow.c. */
#ifndef _NET6_RT_NEXTHOP_H
#define _NET6_RT_NEXTHOP_H

#include <linux/notifier.h>
#include <linux/xarray.h>

#include "rt_change.h"

/**
 * struct net6_rt_nexthop - an object as it is now. When it changes, there is another one
 * @id: its number
 * @handle: what routes have of it, so that they tell it from the one before
 * @used: a route was added by it
 * @lacks: net6 cannot have routes by it
 * @refuses: it is a black hole
 * @n: next hops
 * @rcu: freed after a grace period
 * @hop: each
 */
struct net6_rt_nexthop {
	u32		id;
	u32		handle;
	bool		used;
	bool		lacks;
	bool		refuses;
	u32		n;
	struct rcu_head	rcu;
	struct net6_rt_nexthop_hop {
		struct in6_addr	gateway;	/* :: if it has none */
		int		ifindex;
		u8		hops;		/* its weight, less 1 */
	} hop[];
};

/**
 * struct net6_rt_nexthop_net - a namespace's objects, of both families
 * @net: the namespace
 * @nb: hears of changes
 * @by_id: as they are now; written under RTNL
 * @by_handle: those, and one that is being replaced; alike
 * @last: handle that was given last
 */
struct net6_rt_nexthop_net {
	struct net		*net;
	struct notifier_block	nb;
	struct xarray		by_id;
	struct xarray		by_handle;
	u32			last;
};

extern unsigned int net6_rt_nexthop_net_id;

struct net6_rt_nexthop_net *net6_rt_nexthop_pernet(struct net *net);
int net6_rt_nexthop_copy(struct net6_net *nn, const struct net6_rt_nexthop *nh,
			 struct net6_rt_change *c);

#endif /* _NET6_RT_NEXTHOP_H */
