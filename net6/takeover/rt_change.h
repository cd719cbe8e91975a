/* SPDX-License-Identifier: GPL-2.0 */
/* rtnetlink: a request to add or remove a route, from its reading (rt_request.c) to what is made of
 * it (rt_change.c).
 */
#ifndef _NET6_RT_CHANGE_H
#define _NET6_RT_CHANGE_H

#include "rt.h"

/* What a request may ask for in vain. */
enum net6_rt_lack {
	NET6_RT_LACKS_NOTHING,
	NET6_RT_LACKS_ENCAP,
	NET6_RT_LACKS_VIA,
};

/**
 * struct net6_rt_change - a request to add or remove a route
 * @dst: destination
 * @plen: its length in bits
 * @src: source that is asked for, :: if none is
 * @hop: next hop at hand; gateway :: without one, iface NULL: any, to remove
 * @hops: all of them
 * @n_hops: so many
 * @several: they are from RTA_MULTIPATH or a next hop object, and on the heap
 * @nexthop: number of the next hop object that it is to go by, 0 for none
 * @former: what routes have of the object that they went by; when that changes
 * @lifetime: seconds until it goes by itself, or NET6_LIFETIME_INFINITE
 * @mx: RTA_METRICS, not read yet
 * @lacks: what net6 has not of what is asked for; nobody minds when a route is removed
 * @attrs: what else is said of it; to remove, a metric and a protocol of 0 stand for any
 * @route: what was found
 * @found: there is such a route
 */
struct net6_rt_change {
	struct in6_addr		dst;
	struct in6_addr		src;
	struct net6_rt_hop	hop;
	struct net6_rt_hop	*hops;
	u32			n_hops;
	bool			several;
	u32			nexthop;
	u32			former;
	u32			lifetime;
	u8			plen;
	bool			found;
	enum net6_rt_lack	lacks;
	struct nlattr		*mx;
	struct net6_route_attrs	attrs;
	struct net6_rt_route	route;
};

/* rt_request.c; RTNL held. net6_rt_request_free() ends it whatever was returned. */
int net6_rt_request_parse(struct sk_buff *skb, struct nlmsghdr *nlh, struct net6_rt_change *c,
			  struct netlink_ext_ack *extack);
int net6_rt_request_check(struct net6_net *nn, struct net6_rt_change *c,
			  struct netlink_ext_ack *extack);
void net6_rt_request_free(struct net6_rt_change *c);
int net6_rt_request_gateway(struct net6_iface *iface, u32 table, const struct in6_addr *gateway,
			    bool onlink, struct netlink_ext_ack *extack);

/* rt_change.c; RTNL held. */
int net6_rt_route_remake(struct net6_net *nn, struct net6_rt_change *c);

/* rt_nexthop.c; RTNL held. */
int net6_rt_nexthop_take(struct net6_net *nn, struct net6_rt_change *c,
			 struct netlink_ext_ack *extack);

#endif /* _NET6_RT_CHANGE_H */
