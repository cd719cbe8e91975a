// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: what net6 decides by, as routes. That is addresses, on-link prefixes and default
 * routers. They are shown as the routes that native would have made of them, the routing table's
 * as they are.
 */
#include <net/ip6_route.h>

#include "rt.h"

static const struct in6_addr net6_rt_linklocal = { { .u6_addr8 = { 0xfe, 0x80 } } };
static const struct in6_addr net6_rt_multicast = { { .u6_addr8 = { 0xff } } };

/* Has somebody added it as a prefix (net6ctl), or did it come with an address or a router? */
static bool net6_rt_prefix_added(const struct net6_prefix *prefix)
{
	return READ_ONCE(prefix->claims[NET6_PREFIX_BY_HAND].lifetime) &&
	       !READ_ONCE(prefix->claims[NET6_PREFIX_OF_ADDR].lifetime);
}

/**
 * net6_rt_of_prefix() - an on-link prefix as a route
 * @to: filled in
 * @from: prefix
 *
 * Context: RCU read lock or nn->lock held.
 */
void net6_rt_of_prefix(struct net6_rt_route *to, const struct net6_prefix *from)
{
	bool added = net6_rt_prefix_added(from);

	*to = (struct net6_rt_route) {
		.dst		= from->prefix,
		.plen		= from->plen,
		.dev		= from->iface->dev,
		.attrs.metric	= added ? IP6_RT_PRIO_USER : READ_ONCE(from->metric),
		.attrs.protocol	= added ? RTPROT_BOOT : RTPROT_KERNEL,
		.expires	= net6_life_left(&from->life),
		.rtf_flags	= RTF_UP,
		.table		= RT_TABLE_MAIN,
		.type		= RTN_UNICAST,
		.kind		= NET6_RT_PREFIX,
	};
}

/* A default router and a route to a prefix have this in common. */
static void net6_rt_via(struct net6_rt_route *to, const struct net6_iface *iface,
			const struct in6_addr *gateway, const struct net6_life *life,
			const struct net6_route_attrs *attrs)
{
	*to = (struct net6_rt_route) {
		.gateway	= *gateway,
		.dev		= iface->dev,
		.attrs		= *attrs,
		.expires	= net6_life_left(life),
		.rtf_flags	= RTF_UP,
		.table		= RT_TABLE_MAIN,
		.type		= attrs->refuses ?: RTN_UNICAST,
		.kind		= NET6_RT_ENTRY,
	};
	if (attrs->refuses)
		to->rtf_flags |= RTF_REJECT | RTF_NONEXTHOP;
	if (to->expires != NET6_LIFETIME_INFINITE)
		to->rtf_flags |= RTF_EXPIRES;
}

/**
 * net6_rt_of_router() - a default router as a route
 * @to: filled in
 * @from: router
 *
 * Context: RCU read lock or nn->lock held.
 */
void net6_rt_of_router(struct net6_rt_route *to, const struct net6_router *from)
{
	net6_rt_via(to, from->iface, &from->addr, &from->life, &from->attrs);
	to->kind = NET6_RT_ROUTER;
	if (from->attrs.manual && READ_ONCE(from->iface->nn->n_routers) > 1)
		to->self = from;
	if (!from->attrs.manual)
		to->rtf_flags |= RTF_DEFAULT | RTF_ADDRCONF;
}

/**
 * net6_rt_of_fib() - an entry of the routing table as a route
 * @to: filled in
 * @from: entry
 *
 * Context: RCU read lock or nn->lock held.
 */
void net6_rt_of_fib(struct net6_rt_route *to, const struct net6_fib_route *from)
{
	net6_rt_via(to, from->iface, &from->gateway, &from->life, &from->attrs);
	to->dst = from->prefix;
	to->plen = from->plen;
	to->table = from->table->id;
	/* It is not alone in its list. */
	if (net6_fib_shares(from) && READ_ONCE(from->item.next) != READ_ONCE(from->item.prev))
		to->self = from;
	if (!from->attrs.manual)
		to->rtf_flags |= RTF_ROUTEINFO;
}

static void net6_rt_of_addr(struct net6_rt_route *to, const struct net6_addr *from)
{
	*to = (struct net6_rt_route) {
		.dst		= from->addr,
		.plen		= 128,
		.dev		= from->iface->dev,
		.expires	= NET6_LIFETIME_INFINITE,
		.rtf_flags	= RTF_UP | RTF_LOCAL | RTF_NONEXTHOP,
		.table		= RT_TABLE_LOCAL,
		.type		= RTN_LOCAL,
		.attrs.protocol	= RTPROT_KERNEL,
	};
}

/* What is on the link without an entry. */
static void net6_rt_of_iface(struct net6_rt_route *to, const struct net6_iface *from, bool group)
{
	*to = (struct net6_rt_route) {
		.dst		= group ? net6_rt_multicast : net6_rt_linklocal,
		.plen		= group ? 8 : 64,
		.dev		= from->dev,
		.attrs.metric	= IP6_RT_PRIO_ADDRCONF,
		.attrs.protocol	= RTPROT_KERNEL,
		.expires	= NET6_LIFETIME_INFINITE,
		.rtf_flags	= RTF_UP,
		.table		= group ? RT_TABLE_LOCAL : RT_TABLE_MAIN,
		.type		= group ? RTN_MULTICAST : RTN_UNICAST,
	};
}

static int net6_rt_walk_iface(struct net6_iface *iface,
			      int (*fn)(const struct net6_rt_route *route, void *arg), void *arg)
{
	const struct net6_fib_route *entry;
	const struct net6_router *router;
	const struct net6_prefix *prefix;
	const struct net6_addr *addr;
	struct net6_rt_route route;
	int err = 0;

	list_for_each_entry_rcu(prefix, &iface->prefixes, life.list) {
		net6_rt_of_prefix(&route, prefix);
		err = err ?: fn(&route, arg);
	}
	if (net6_iface_usable(iface) && !net6_iface_is_loopback(iface)) {
		net6_rt_of_iface(&route, iface, false);
		err = err ?: fn(&route, arg);
	}
	list_for_each_entry_rcu(entry, &iface->routes, life.list) {
		net6_rt_of_fib(&route, entry);
		err = err ?: fn(&route, arg);
	}
	list_for_each_entry_rcu(router, &iface->routers, life.list) {
		net6_rt_of_router(&route, router);
		err = err ?: fn(&route, arg);
	}
	list_for_each_entry_rcu(addr, &iface->addrs, iface_list) {
		if (!net6_addr_is_assigned(addr))
			continue;
		net6_rt_of_addr(&route, addr);
		err = err ?: fn(&route, arg);
	}
	if (net6_iface_usable(iface) && !net6_iface_is_loopback(iface)) {
		net6_rt_of_iface(&route, iface, true);
		err = err ?: fn(&route, arg);
	}
	return err;
}

/**
 * net6_rt_routes_walk() - what net6 decides by, as routes
 * @nn: namespace
 * @fn: called for each under the RCU read lock; non-zero stops
 * @arg: for @fn
 *
 * Context: any. Return: 0, or what @fn returned.
 */
int net6_rt_routes_walk(struct net6_net *nn,
			int (*fn)(const struct net6_rt_route *route, void *arg), void *arg)
{
	struct net6_iface *iface;
	int err = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		err = net6_rt_walk_iface(iface, fn, arg);
		if (err)
			break;
	}
	rcu_read_unlock();
	return err;
}
