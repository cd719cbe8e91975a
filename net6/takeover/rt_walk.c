// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: what net6 decides by, as routes. That is addresses, on-link prefixes and default
 * routers. They are shown as the routes that native would have made of them, the routing table's
 * as they are.
 */
#include <net/ip6_route.h>

#include "../core/l3mdev.h"
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
		.table		= net6_iface_table(from->iface)->id,
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
		.table		= net6_iface_table(iface)->id,
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

/**
 * net6_rt_of_own() - an address of ours as a route
 * @to: filled in
 * @addr: the address
 * @dev: device that it is shown on
 * @table: number of the table that it is in
 *
 * Context: RCU read lock held.
 */
void net6_rt_of_own(struct net6_rt_route *to, const struct in6_addr *addr,
		    const struct net_device *dev, u32 table)
{
	*to = (struct net6_rt_route) {
		.dst		= *addr,
		.plen		= 128,
		.dev		= dev,
		.expires	= NET6_LIFETIME_INFINITE,
		.rtf_flags	= RTF_UP | RTF_LOCAL | RTF_NONEXTHOP,
		.table		= table,
		.type		= RTN_LOCAL,
		.attrs.protocol	= RTPROT_KERNEL,
	};
}

/* An address without a prefix is a route of main's, too. net6 has no use for it. */
static bool net6_rt_of_single(struct net6_rt_route *to, const struct net6_addr *from)
{
	if (from->origin != NET6_ADDR_MANUAL || from->plen < 128 ||
	    (from->flags & IFA_F_NOPREFIXROUTE))
		return false;
	net6_rt_of_own(to, &from->addr, from->iface->dev, net6_iface_table(from->iface)->id);
	to->rtf_flags = RTF_UP;
	to->type = RTN_UNICAST;
	to->attrs.metric = from->metric ?: IP6_RT_PRIO_ADDRCONF;
	return true;
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
		.table		= group ? net6_l3mdev_local_id(from) : net6_iface_table(from)->id,
		.type		= group ? RTN_MULTICAST : RTN_UNICAST,
	};
}

/* What is called for each, and how far it has come. */
struct net6_rt_walk {
	net6_rt_fn	fn;
	void		*arg;
	struct net6_rt_pos *pos;
	u32		n;
};

/* One that was not there yet. */
static int net6_rt_walk_one(struct net6_rt_walk *w, const struct net6_rt_route *route)
{
	int err;

	if (w->n++ < w->pos->n)
		return 0;
	err = w->fn(route, w->arg);
	if (err >= 0)
		w->pos->n++;
	return err;
}

/* All but entries of the routing tables. */
static int net6_rt_walk_iface(struct net6_rt_walk *w, struct net6_iface *iface)
{
	bool usable = net6_iface_usable(iface) && !net6_iface_is_loopback(iface);
	const struct net6_router *router;
	const struct net6_prefix *prefix;
	const struct net6_addr *addr;
	struct net6_rt_route route;
	int err = 0;

	list_for_each_entry_rcu(prefix, &iface->prefixes, life.list) {
		if (!netif_running(iface->dev))		/* kept for when it is set up again */
			break;
		net6_rt_of_prefix(&route, prefix);
		err = err ?: net6_rt_walk_one(w, &route);
	}
	if (usable) {
		net6_rt_of_iface(&route, iface, false);
		err = err ?: net6_rt_walk_one(w, &route);
	}
	list_for_each_entry_rcu(router, &iface->routers, life.list) {
		net6_rt_of_router(&route, router);
		err = err ?: net6_rt_walk_one(w, &route);
	}
	list_for_each_entry_rcu(addr, &iface->addrs, iface_list) {
		if (!net6_addr_is_assigned(addr))
			continue;
		net6_rt_of_own(&route, &addr->addr, iface->dev, net6_l3mdev_local_id(iface));
		err = err ?: net6_rt_walk_one(w, &route);
		if (net6_rt_of_single(&route, addr))
			err = err ?: net6_rt_walk_one(w, &route);
	}
	if (usable) {
		net6_rt_of_iface(&route, iface, true);
		err = err ?: net6_rt_walk_one(w, &route);
	}
	return err;
}

/* Is it the table of an interface: its VRF's, or main and local? 0: of any. */
static bool net6_rt_walk_wants(const struct net6_iface *iface, u32 only)
{
	return !only || only == net6_iface_table(iface)->id || only == net6_l3mdev_local_id(iface);
}

static int net6_rt_walk_ifaces(struct net6_rt_walk *w, struct net6_net *nn, u32 only)
{
	struct net6_iface *iface;
	u32 done = 0;
	int err;

	if (w->pos->ifaces == U32_MAX)
		return 0;
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (done++ < w->pos->ifaces)
			continue;
		w->n = 0;
		err = net6_rt_walk_wants(iface, only) ? net6_rt_walk_iface(w, iface) : 0;
		if (err)
			return err;
		w->pos->ifaces++;
		w->pos->n = 0;
	}
	w->pos->ifaces = U32_MAX;
	return 0;
}

static int net6_rt_walk_entry(const struct net6_fib_route *entry, void *arg)
{
	const struct net6_rt_walk *w = arg;
	struct net6_rt_route route;

	net6_rt_of_fib(&route, entry);
	return w->fn(&route, w->arg);
}

/**
 * net6_rt_routes_walk() - what net6 decides by, as routes
 * @nn: namespace
 * @only: number of the table that is asked for, 0 for all
 * @pos: how far an earlier call came; all 0 to begin
 * @fn: called for each under the RCU read lock; less than 0 stops, and the next call begins with
 *	this one; more stops, and the next call begins with another one
 * @arg: for @fn
 *
 * What comes and goes between calls may be shown twice or not at all, but for entries of tables
 * (net6_fib_walk()). Context: any. Return: 0 at the end, or what @fn returned.
 */
int net6_rt_routes_walk(struct net6_net *nn, u32 only, struct net6_rt_pos *pos, net6_rt_fn fn,
			void *arg)
{
	struct net6_rt_walk w = { .fn = fn, .arg = arg, .pos = pos };
	int err;

	rcu_read_lock();
	err = net6_rt_walk_ifaces(&w, nn, only);
	err = err ?: net6_fib_walk(nn, only, &pos->fib, net6_rt_walk_entry, &w);
	rcu_read_unlock();
	return err;
}

/* ---- of one destination ---- */

/* Entries of the tables' prefixes. */
static int net6_rt_of_node(const struct net6_trie_node *node, net6_rt_fn fn, void *arg)
{
	const struct net6_fib_route *entry;
	struct net6_rt_route route;
	int err = 0;

	if (!node)
		return 0;
	list_for_each_entry_rcu(entry, &node->items, item) {
		net6_rt_of_fib(&route, entry);
		err = fn(&route, arg);
		if (err)
			break;
	}
	return err;
}

static int net6_rt_of_onlink(const struct net6_trie_node *node, net6_rt_fn fn, void *arg)
{
	const struct net6_prefix *prefix;
	struct net6_rt_route route;
	int err = 0;

	if (!node)
		return 0;
	list_for_each_entry_rcu(prefix, &node->items, item) {
		net6_rt_of_prefix(&route, prefix);
		err = fn(&route, arg);
		if (err)
			break;
	}
	return err;
}

static int net6_rt_of_routers(const struct net6_iface *iface, net6_rt_fn fn, void *arg)
{
	const struct net6_router *router;
	struct net6_rt_route route;
	int err = 0;

	list_for_each_entry_rcu(router, &iface->routers, life.list) {
		net6_rt_of_router(&route, router);
		err = fn(&route, arg);
		if (err)
			break;
	}
	return err;
}

/* What each interface has in its table: the prefix of link-local addresses, and default routers. */
static int net6_rt_of_ifaces(struct net6_net *nn, const struct net6_table *table, bool linklocal,
			     net6_rt_fn fn, void *arg)
{
	struct net6_rt_route route;
	struct net6_iface *iface;
	int err = 0;

	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (net6_iface_table(iface) != table)
			continue;
		if (!linklocal) {
			err = net6_rt_of_routers(iface, fn, arg);
		} else if (net6_iface_usable(iface) && !net6_iface_is_loopback(iface)) {
			net6_rt_of_iface(&route, iface, false);
			err = fn(&route, arg);
		}
		if (err)
			break;
	}
	return err;
}

/**
 * net6_rt_routes_at() - the routes to one destination
 * @nn: namespace
 * @id: number of their table, not RT_TABLE_LOCAL
 * @dst: destination, bits beyond @plen zero
 * @plen: its length
 * @fn: called for each under the RCU read lock; not 0 stops
 * @arg: for @fn
 *
 * Context: any. Return: 0, or what @fn returned.
 */
int net6_rt_routes_at(struct net6_net *nn, u32 id, const struct in6_addr *dst, u8 plen,
		      net6_rt_fn fn, void *arg)
{
	bool linklocal = plen == 64 && ipv6_addr_equal(dst, &net6_rt_linklocal);
	const struct net6_table *table;
	int err = 0;

	rcu_read_lock();
	table = net6_table_find(nn, id);
	if (table)
		err = net6_rt_of_onlink(net6_trie_find(&table->onlink, dst, plen), fn, arg);
	if (!err && table && (!plen || linklocal))
		err = net6_rt_of_ifaces(nn, table, linklocal, fn, arg);
	if (!err && table)
		err = net6_rt_of_node(net6_trie_find(&table->fib, dst, plen), fn, arg);
	rcu_read_unlock();
	return err;
}

/**
 * net6_rt_routes_over() - the routes by which an address can be sent to on an interface
 * @iface: interface
 * @id: number of the table that was chosen
 * @addr: address
 * @fn: called for each, shorter prefixes first, whatever interface it is on; not 0 stops
 * @arg: for @fn
 *
 * Context: RCU read lock held. Return: 0, or what @fn returned.
 */
int net6_rt_routes_over(const struct net6_iface *iface, u32 id, const struct in6_addr *addr,
			net6_rt_fn fn, void *arg)
{
	const struct net6_table *table = net6_table_find(iface->nn, id);
	bool group = ipv6_addr_is_multicast(addr);
	struct net6_trie_node *node;
	struct net6_rt_route route;
	int err = 0;

	if (table && table == net6_iface_table(iface)) {
		err = net6_rt_of_routers(iface, fn, arg);
		net6_trie_for_each_match(node, &table->onlink, addr)
			err = err ?: net6_rt_of_onlink(node, fn, arg);
	}
	if (!err && (group || ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)) {
		net6_rt_of_iface(&route, iface, group);
		err = fn(&route, arg);
	}
	if (table)
		net6_trie_for_each_match(node, &table->fib, addr)
			err = err ?: net6_rt_of_node(node, fn, arg);
	return err;
}
