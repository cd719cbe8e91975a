// SPDX-License-Identifier: GPL-2.0
/* Routing tables: what the administrator has set, and Route Information options of
 * routers (RFC 4191 section 2.3), found by longest prefix.
 */
#include <linux/rculist.h>
#include <net/ipv6.h>

#include "../observe/note.h"
#include "dest.h"
#include "fib.h"
#include "nd.h"
#include "spread.h"

/* nn->lock held. */
static void net6_fib_free(struct net6_fib_route *r)
	__must_hold(&r->iface->nn->lock)
{
	struct net6_net *nn = r->iface->nn;

	lockdep_assert_held(&nn->lock);
	list_del_rcu(&r->life.list);
	net6_life_forget(&r->iface->ends, &r->life);
	list_del_rcu(&r->item);
	net6_trie_prune(&r->table->fib, &r->prefix, r->plen);
	if (!r->attrs.manual)
		r->iface->n_routes--;
	nn->fib_count--;
	net6_note_route(r, NET6_NOTE_DEL);
	net6_table_put(nn, r->table);
	net6_dest_flush(nn);
	net6_metrics_put(r->attrs.metrics);
	net6_source_put(r->attrs.source);
	kfree_rcu(r, rcu);
}

/* As somebody asks for. */
static void net6_fib_remove(struct net6_fib_route *r, const struct net6_route_attrs *attrs)
	__must_hold(&r->iface->nn->lock)
{
	r->attrs.untold = attrs->untold;
	net6_fib_free(r);
}

/* Its lifetime is over. */
void net6_fib_end(struct net6_life *life)
{
	net6_fib_free(container_of(life, struct net6_fib_route, life));
}

/* Of the table of @attrs, and of their metric: the first of any if that is 0. nn->lock held. */
static struct net6_fib_route *net6_fib_find(struct net6_iface *iface,
					    const struct in6_addr *prefix, u8 plen,
					    const struct in6_addr *gateway,
					    const struct net6_route_attrs *attrs)
	__must_hold(&iface->nn->lock)
{
	struct net6_table *table = net6_table_find(iface->nn, attrs->table);
	struct net6_trie_node *node;
	struct net6_fib_route *r;

	node = table ? net6_trie_find(&table->fib, prefix, plen) : NULL;
	if (!node)
		return NULL;
	list_for_each_entry(r, &node->items, item)
		if (r->iface == iface && ipv6_addr_equal(&r->gateway, gateway) &&
		    (!attrs->metric || r->attrs.metric == attrs->metric))
			return r;
	return NULL;
}

/* Is it taken before another one, if the routers of both are reachable? */
static bool net6_fib_before(const struct net6_route_attrs *a, const struct net6_route_attrs *b)
{
	return a->metric != b->metric ? a->metric < b->metric : a->preference > b->preference;
}

/* Behind those that are as good or better. */
static void net6_fib_link(struct net6_trie_node *node, struct net6_fib_route *new)
{
	struct net6_fib_route *r;

	list_for_each_entry(r, &node->items, item)
		if (net6_fib_before(&new->attrs, &r->attrs))
			break;
	list_add_tail_rcu(&new->item, &r->item);
}

static bool net6_fib_full(struct net6_iface *iface, bool manual)
{
	struct net6_net *nn = iface->nn;

	if (nn->fib_count < READ_ONCE(nn->limits.max_routes) &&
	    (manual || iface->n_routes < READ_ONCE(nn->limits.max_ra_routes)))
		return false;
	NET6_INC(nn, NdRouteLimit);
	return true;
}

/* Its table, which it counts in from now on, and the node for its prefix. */
static int net6_fib_place(struct net6_net *nn, struct net6_fib_route *r,
			  const struct in6_addr *prefix, u8 plen, u32 id,
			  struct net6_trie_node **node)
	__must_hold(&nn->lock)
{
	struct net6_table *table = net6_table_get(nn, id);

	if (IS_ERR(table))
		return PTR_ERR(table);
	*node = net6_trie_insert(&table->fib, prefix, plen);
	if (!*node) {
		net6_table_put(nn, table);
		return -ENOMEM;
	}
	r->table = table;
	r->prefix = *prefix;
	r->plen = plen;
	return 0;
}

/**
 * net6_fib_next_id() - the number of a new route or default router
 * @nn: namespace
 *
 * Context: nn->lock held. Return: not 0, and below what else is in a destination's key, when all
 * numbers have been used once, too.
 */
u32 net6_fib_next_id(struct net6_net *nn)
	__must_hold(&nn->lock)
{
	lockdep_assert_held(&nn->lock);
	if (++nn->route_id == NET6_DEST_WAY)
		nn->route_id = 1;
	return nn->route_id;
}

/* In place of @old if there is one, which stays when there is no memory. */
static int net6_fib_new(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen,
			const struct in6_addr *gateway, const struct net6_route_attrs *attrs,
			u32 lifetime, struct net6_fib_route *old)
	__must_hold(&iface->nn->lock)
{
	struct net6_net *nn = iface->nn;
	int err = net6_iface_refuses_from(iface, attrs->manual);
	struct net6_trie_node *node;
	struct net6_fib_route *r;

	if (err)
		return err;
	if (!old && net6_fib_full(iface, attrs->manual))
		return -ENOSPC;
	r = kzalloc(sizeof(*r), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!r)
		return -ENOMEM;
	err = net6_fib_place(nn, r, prefix, plen, attrs->table, &node);
	if (err) {
		kfree(r);
		return err;
	}
	r->gateway = *gateway;
	r->iface = iface;
	r->id = net6_fib_next_id(nn);
	r->attrs = *attrs;
	net6_metrics_hold(r->attrs.metrics);
	r->attrs.source = net6_source_hold(r->attrs.source);
	net6_life_begin(&iface->ends, &r->life, NET6_LIFE_ROUTE, lifetime);
	net6_fib_link(node, r);
	/* Those of routers in front: who looks for one does not go through the others. */
	if (attrs->manual)
		list_add_tail_rcu(&r->life.list, &iface->routes);
	else
		list_add_rcu(&r->life.list, &iface->routes);
	nn->fib_count++;
	if (!attrs->manual)
		iface->n_routes++;
	if (old)
		net6_fib_remove(old, attrs);
	net6_note_route(r, NET6_NOTE_NEW);
	r->attrs.untold = false;
	net6_dest_flush(nn);
	return 0;
}

/**
 * net6_fib_update() - add, renew or (lifetime 0) remove a route
 * @iface: its interface
 * @prefix: prefix, bits beyond @plen zero
 * @plen: 0..128
 * @gateway: router on @iface, or :: if the prefix is on-link
 * @attrs: what else is said of it; what it refers to is kept by the caller. What routers tell is
 *	of the interface's own table
 * @lifetime: seconds, NET6_LIFETIME_INFINITE
 *
 * Context: process or softirq; takes nn->lock.
 * Return: 0, -ENOENT (nothing to remove), -ENOSPC (limit), -ENODEV, -EACCES (disabled), -ENETDOWN
 * (told only), -ENOMEM.
 */
int net6_fib_update(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen,
		    const struct in6_addr *gateway, const struct net6_route_attrs *attrs,
		    u32 lifetime)
{
	struct net6_route_attrs told;
	struct net6_fib_route *r;
	int err = 0;

	spin_lock_bh(&iface->nn->lock);
	if (!attrs->manual) {
		told = *attrs;
		told.table = net6_iface_table(iface)->id;
		attrs = &told;
	}
	r = net6_fib_find(iface, prefix, plen, gateway, attrs);
	if (r && r->attrs.manual && !attrs->manual)
		goto unlock;
	if (!r && !lifetime)
		err = -ENOENT;
	else if (r && lifetime && net6_route_attrs_equal(&r->attrs, attrs))
		net6_life_set(&iface->ends, &r->life, lifetime);
	else if (lifetime)
		err = net6_fib_new(iface, prefix, plen, gateway, attrs, lifetime, r);
	else
		net6_fib_remove(r, attrs);
	net6_nd_await_end(iface, lifetime);
unlock:
	spin_unlock_bh(&iface->nn->lock);
	return err;
}

/**
 * net6_fib_forget() - a router is none any more
 * @iface: interface
 * @gateway: the router
 *
 * What the administrator has set stays. Context: nn->lock held.
 */
void net6_fib_forget(struct net6_iface *iface, const struct in6_addr *gateway)
	__must_hold(&iface->nn->lock)
{
	struct net6_fib_route *r, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(r, next, &iface->routes, life.list) {
		if (r->attrs.manual)
			break;
		if (ipv6_addr_equal(&r->gateway, gateway))
			net6_fib_free(r);
	}
}

/* Is it a next hop of the same route as @r by another interface, one that is set up or one not? */
static bool net6_fib_is_other_hop(const struct net6_fib_route *other,
				  const struct net6_fib_route *r, bool up)
{
	return other->iface != r->iface && net6_fib_shares(other) &&
	       net6_route_alike(&other->attrs, &r->attrs) && net6_iface_set_up(other->iface) == up;
}

/* They are next to each other. It looks as far as a route can have next hops. */
static struct net6_fib_route *net6_fib_other_hop(struct net6_fib_route *r, bool up)
	__must_hold(&r->iface->nn->lock)
{
	struct net6_fib_route *other = r;
	struct net6_trie_node *node;
	int left = NET6_SPREAD_MAX;

	if (likely(r->item.next == r->item.prev))
		return NULL;			/* it is alone */
	node = net6_trie_find(&r->table->fib, &r->prefix, r->plen);
	list_for_each_entry_continue(other, &node->items, item)
		if (!left-- || net6_fib_is_other_hop(other, r, up))
			break;
	if (left >= 0 && !list_entry_is_head(other, &node->items, item))
		return other;
	other = r;
	left = NET6_SPREAD_MAX;
	list_for_each_entry_continue_reverse(other, &node->items, item)
		if (!left-- || net6_fib_is_other_hop(other, r, up))
			break;
	return left >= 0 && !list_entry_is_head(other, &node->items, item) ? other : NULL;
}

/* A device goes down. As native: a route with another next hop keeps this one, for when the device
 * is set up again. With its last next hop go those that have waited.
 */
static void net6_fib_forget_hop(struct net6_fib_route *r)
	__must_hold(&r->iface->nn->lock)
{
	bool others = net6_fib_other_hop(r, true);
	struct net6_fib_route *waits;

	if (others && !net6_iface_refuses(r->iface))
		return;
	while (!others) {
		waits = net6_fib_other_hop(r, false);
		if (!waits)
			break;
		net6_fib_free(waits);
	}
	net6_fib_free(r);
}

void net6_fib_forget_all(struct net6_iface *iface, bool manual)
	__must_hold(&iface->nn->lock)
{
	struct net6_fib_route *r, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(r, next, &iface->routes, life.list) {
		if (!manual && r->attrs.manual)
			continue;
		if (net6_fib_shares(r))
			net6_fib_forget_hop(r);
		else
			net6_fib_free(r);
	}
}

/**
 * net6_fib_reachable() - may its router be reachable?
 * @r: route
 * @neigh: its router, if that is in the neighbor cache; borrowed
 *
 * RFC 4191 3.2: a router of which nothing is known is taken to be reachable. Otherwise the first
 * packets to a prefix would leave by the default router, while its own is being resolved. One that
 * is not is asked. Context: RCU read lock held.
 */
bool net6_fib_reachable(const struct net6_fib_route *r, struct net6_neigh **neigh)
{
	*neigh = NULL;
	if (ipv6_addr_any(&r->gateway))
		return true;
	*neigh = net6_neigh_find(r->iface, &r->gateway);
	if (!*neigh || !net6_neigh_lost(*neigh))
		return true;
	/* When it is back, destinations choose anew. */
	net6_neigh_set_nexthop(*neigh);
	net6_neigh_probe(*neigh);
	return false;
}

/* The best route of one prefix: the first whose router is reachable, else the first. One that
 * refuses does not go before a router that is only lost: packets to it find out when it is back.
 */
static struct net6_fib_match net6_fib_best(struct net6_trie_node *node, int oif)
{
	struct net6_fib_match first = {}, match;
	struct net6_fib_route *r;

	list_for_each_entry_rcu(r, &node->items, item) {
		if (!net6_iface_usable(r->iface) || (oif && r->iface->ifindex != oif))
			continue;
		match.route = r;
		match.node = node;
		match.reachable = net6_fib_reachable(r, &match.neigh);
		if (match.reachable && (!first.route || !r->attrs.refuses))
			return match;
		if (!first.route)
			first = match;
		first.reachable = match.reachable;
		if (first.reachable)
			break;
	}
	return first;
}

/**
 * net6_fib_lookup() - the route to a destination
 * @table: where to look
 * @addr: destination
 * @oif: interface it must be on, 0 for any
 * @match: filled
 *
 * RFC 4191 3.2: by length of the prefix, then by metric and preference; routes through routers
 * that are not reachable only if there is no other. Context: RCU read lock held.
 */
void net6_fib_lookup(const struct net6_table *table, const struct in6_addr *addr, int oif,
		     struct net6_fib_match *match)
{
	struct net6_fib_match best = {}, next;
	struct net6_trie_node *node;
	bool lost = false;

	net6_trie_for_each_match(node, &table->fib, addr) {
		next = net6_fib_best(node, oif);
		if (!next.route ||
		    (best.reachable && !next.reachable && !best.route->attrs.refuses))
			continue;
		/* Behind a shorter prefix that refuses, a lost router is as good as another. */
		lost = !next.reachable && (lost || (best.route && best.route->attrs.refuses));
		best = next;
	}
	best.reachable |= lost;
	*match = best;
}
