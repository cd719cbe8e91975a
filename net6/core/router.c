// SPDX-License-Identifier: GPL-2.0
/* The Default Router List [RLE]: RFC 4861 6.3.4 to 6.3.6, with the preferences of
 * RFC 4191. A short list per interface.
 */
#include <linux/rculist.h>
#include <net/ipv6.h>

#include "../observe/note.h"
#include "dest.h"
#include "nd.h"

/**
 * net6_router_find() - a default router by its address
 * @iface: its interface
 * @addr: its link-local address
 *
 * Context: nn->lock or RCU read lock held. Return: borrowed entry or NULL.
 */
struct net6_router *net6_router_find(struct net6_iface *iface, const struct in6_addr *addr)
{
	struct net6_router *router;

	list_for_each_entry_rcu(router, &iface->routers, life.list,
				lockdep_is_held(&iface->nn->lock))
		if (ipv6_addr_equal(&router->addr, addr))
			return router;
	return NULL;
}

/* The one that an update is about: of any metric if that is 0. nn->lock held. */
static struct net6_router *net6_router_find_metric(struct net6_iface *iface,
						   const struct in6_addr *addr, u32 metric)
	__must_hold(&iface->nn->lock)
{
	struct net6_router *router;

	list_for_each_entry(router, &iface->routers, life.list)
		if (ipv6_addr_equal(&router->addr, addr) &&
		    (!metric || router->attrs.metric == metric))
			return router;
	return NULL;
}

/* nn->lock held. RFC 4861 6.3.5: destinations that used it choose again. */
static void net6_router_free(struct net6_router *router)
	__must_hold(&router->iface->nn->lock)
{
	struct net6_iface *iface = router->iface;

	list_del_rcu(&router->life.list);
	net6_life_forget(&iface->ends, &router->life);
	net6_note_router(router, NET6_NOTE_DEL);
	iface->n_routers -= !router->attrs.manual;
	iface->n_manual -= router->attrs.manual;
	WRITE_ONCE(iface->nn->n_routers, iface->nn->n_routers - 1);
	net6_told_forget(router);
	net6_neigh_set_router(router->neigh, net6_router_find(iface, &router->addr));
	net6_neigh_put(router->neigh);
	net6_dest_flush(iface->nn);
	net6_metrics_put(router->attrs.metrics);
	net6_source_put(router->attrs.source);
	kfree_rcu(router, rcu);
}

/* nn->lock held; takes over the reference on @neigh. */
static int net6_router_new(struct net6_iface *iface, struct net6_neigh *neigh,
			   const struct net6_route_attrs *attrs, u32 lifetime)
	__must_hold(&iface->nn->lock)
{
	bool manual = attrs->manual;
	int err = net6_iface_refuses_from(iface, manual);
	struct net6_router *router;

	if (err)
		return err;
	if (!manual && iface->n_routers >= READ_ONCE(iface->nn->limits.max_routers)) {
		NET6_INC(iface->nn, NdRouterLimit);
		return -ENOSPC;
	}
	if (manual && net6_iface_manual_full(iface))
		return -ENOSPC;
	router = kzalloc(sizeof(*router), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!router)
		return -ENOMEM;
	router->addr = neigh->addr;
	router->iface = iface;
	router->neigh = neigh;
	router->attrs = *attrs;
	net6_metrics_hold(router->attrs.metrics);
	router->attrs.source = net6_source_hold(router->attrs.source);
	router->id = net6_fib_next_id(iface->nn);
	INIT_LIST_HEAD(&router->told);
	net6_life_begin(&iface->ends, &router->life, NET6_LIFE_ROUTER, lifetime);
	net6_neigh_set_router(neigh, true);
	list_add_tail_rcu(&router->life.list, &iface->routers);
	net6_note_router(router, NET6_NOTE_NEW);
	router->attrs.untold = false;
	iface->n_routers += !manual;
	iface->n_manual += manual;
	WRITE_ONCE(iface->nn->n_routers, iface->nn->n_routers + 1);
	net6_dest_flush(iface->nn);
	return 0;
}

/* nn->lock held. An entry that was thrown out before the list could mark it. */
static struct net6_neigh *net6_router_swap_neigh(struct net6_router *router,
						 struct net6_neigh *neigh)
	__must_hold(&router->iface->nn->lock)
{
	struct net6_neigh *old = router->neigh;

	if (!neigh || neigh == old)
		return neigh;
	net6_neigh_set_router(neigh, true);
	WRITE_ONCE(router->neigh, neigh);
	return old;
}

/* nn->lock held. An advertisement does not change what the administrator has set. */
static int net6_router_renew(struct net6_router *router, const struct net6_route_attrs *attrs,
			     u32 lifetime)
	__must_hold(&router->iface->nn->lock)
{
	bool became = attrs->manual && !router->attrs.manual;
	struct net6_metrics *metrics = router->attrs.metrics;
	struct net6_source *source = router->attrs.source;
	bool changed;

	if (router->attrs.manual && !attrs->manual)
		return 0;
	if (!lifetime) {
		router->attrs.untold = attrs->untold;
		net6_router_free(router);
		return 0;
	}
	changed = !net6_route_attrs_equal(&router->attrs, attrs);
	WRITE_ONCE(router->attrs.hops, attrs->hops);
	WRITE_ONCE(router->attrs.preference, attrs->preference);
	WRITE_ONCE(router->attrs.nexthop, attrs->nexthop);
	/* Who reads them under RCU sees what is in them. */
	smp_store_release(&router->attrs.metrics, net6_metrics_hold(attrs->metrics));
	/* alike */
	smp_store_release(&router->attrs.source, net6_source_hold(attrs->source));
	router->iface->n_routers -= became;
	router->iface->n_manual += became;
	router->attrs.protocol = attrs->protocol;
	router->attrs.manual = attrs->manual;
	net6_life_set(&router->iface->ends, &router->life, lifetime);
	if (changed) {
		net6_dest_flush(router->iface->nn);
		router->attrs.untold = attrs->untold;
		net6_note_router(router, NET6_NOTE_CHANGE);
		router->attrs.untold = false;
	}
	net6_metrics_put(metrics);
	net6_source_put(source);
	return 0;
}

/* What a router has told of itself goes, but for what has this metric; 0: all of it. */
static void net6_router_forget_told(struct net6_iface *iface, const struct in6_addr *addr,
				    u32 metric)
	__must_hold(&iface->nn->lock)
{
	struct net6_router *router, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(router, next, &iface->routers, life.list)
		if (!router->attrs.manual && router->attrs.metric != metric &&
		    ipv6_addr_equal(&router->addr, addr))
			net6_router_free(router);
}

/**
 * net6_router_update() - add, renew or (lifetime 0) remove a default router
 * @iface: its interface
 * @addr: its address; link-local if it is told
 * @attrs: what else is said of it; manual ones are counted against the limit of such. What it
 *	refers to is kept by the caller
 * @lifetime: seconds; NET6_LIFETIME_INFINITE only for manual ones
 *
 * Context: process or softirq, no locks of net6 held; takes nn->lock.
 * Return: 0, -ENOENT (nothing to remove), -ENOSPC (limit), -ENODEV, -EACCES (disabled), -ENETDOWN
 * (told only), -ENOMEM.
 */
int net6_router_update(struct net6_iface *iface, const struct in6_addr *addr,
		       const struct net6_route_attrs *attrs, u32 lifetime)
{
	struct net6_neigh *neigh = NULL;
	struct net6_router *router;
	int err;

	rcu_read_lock_bh();
	if (lifetime)
		neigh = net6_neigh_get_or_create(iface, addr);
	rcu_read_unlock_bh();

	spin_lock_bh(&iface->nn->lock);
	/* A router is a default router once, with the metric that is told ones' now. */
	if (!attrs->manual)
		net6_router_forget_told(iface, addr, attrs->metric);
	router = net6_router_find_metric(iface, addr, attrs->metric);
	if (router) {
		neigh = net6_router_swap_neigh(router, neigh);
		err = net6_router_renew(router, attrs, lifetime);
	} else if (!lifetime) {
		err = -ENOENT;
	} else {
		err = neigh ? net6_router_new(iface, neigh, attrs, lifetime) : -ENOMEM;
		if (!err)
			neigh = NULL;
	}
	net6_nd_await_end(iface, lifetime);
	spin_unlock_bh(&iface->nn->lock);
	if (neigh)
		net6_neigh_put(neigh);
	return err;
}

/**
 * net6_router_forget() - it says that it is no router any more
 * @iface: interface
 * @addr: its address
 *
 * RFC 4861 7.2.5. Context: softirq or BH disabled; takes nn->lock.
 */
void net6_router_forget(struct net6_iface *iface, const struct in6_addr *addr)
{
	spin_lock_bh(&iface->nn->lock);
	net6_router_forget_told(iface, addr, 0);
	net6_fib_forget(iface, addr);
	spin_unlock_bh(&iface->nn->lock);
}

/* A next hop of the same route by another interface, one that is set up or one not. It looks as far
 * as a route can have next hops.
 */
static struct net6_router *net6_router_other_hop(const struct net6_router *router, bool up)
	__must_hold(&router->iface->nn->lock)
{
	struct net6_net *nn = router->iface->nn;
	struct net6_router *other;
	struct net6_iface *iface;
	int left = NET6_SPREAD_MAX;

	lockdep_assert_held(&nn->lock);
	list_for_each_entry_rcu(iface, &nn->ifaces, list, lockdep_is_held(&nn->lock)) {
		if (iface == router->iface || net6_iface_set_up(iface) != up)
			continue;
		list_for_each_entry(other, &iface->routers, life.list) {
			if (!left--)
				return NULL;
			if (other->attrs.manual && net6_route_alike(&other->attrs, &router->attrs))
				return other;
		}
	}
	return NULL;
}

/* As net6_fib_forget_hop(). */
static void net6_router_forget_hop(struct net6_router *router)
	__must_hold(&router->iface->nn->lock)
{
	bool others = net6_router_other_hop(router, true);
	struct net6_router *waits;

	if (others && !net6_iface_refuses(router->iface))
		return;
	while (!others) {
		waits = net6_router_other_hop(router, false);
		if (!waits)
			break;
		net6_router_free(waits);
	}
	net6_router_free(router);
}

void net6_router_forget_all(struct net6_iface *iface, bool manual)
	__must_hold(&iface->nn->lock)
{
	struct net6_router *router, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(router, next, &iface->routers, life.list) {
		if (!router->attrs.manual)
			net6_router_free(router);
		else if (manual)
			net6_router_forget_hop(router);
	}
}

/* Its lifetime is over. */
void net6_router_end(struct net6_life *life)
{
	net6_router_free(container_of(life, struct net6_router, life));
}

/* Routers that do not answer come last (RFC 4861 6.3.6), also for the sources of their prefixes.
 * RFC 8028 3 prefers a router, it does not insist on it. Then the metric decides, which is the
 * administrator's word: advertised routers have all the same one. Then those that have told the
 * source's prefix (3.2), then reachable ones, then by preference (RFC 4191 3.2).
 */
#define NET6_ROUTER_REACHABLE	4
#define NET6_ROUTER_TOLD	8
#define NET6_ROUTER_METRIC	4	/* bits from here on: what is not of the metric */
#define NET6_ROUTER_ALIVE	BIT_ULL(NET6_ROUTER_METRIC + 32)

static s64 net6_router_score(const struct net6_router *router, const struct in6_addr *saddr)
{
	const struct net6_neigh *neigh = READ_ONCE(router->neigh);
	s64 score = (u64)(U32_MAX - router->attrs.metric) << NET6_ROUTER_METRIC;

	score += READ_ONCE(router->attrs.preference) + 1;

	if (!net6_neigh_lost(neigh))
		score += NET6_ROUTER_ALIVE;
	if (net6_neigh_reachable(neigh))
		score += NET6_ROUTER_REACHABLE;
	if (saddr && net6_router_told(router, saddr))
		score += NET6_ROUTER_TOLD;
	return score;
}

static bool net6_router_serves(const struct net6_iface *iface, const struct net6_table *table,
			       int oif)
{
	return net6_iface_usable(iface) && net6_iface_table(iface) == table &&
	       (!oif || iface->ifindex == oif);
}

/* When no router is known to be reachable, they are tried in turn (RFC 4861 6.3.6,
 * RFC 4191 3.2 within a preference).
 */
static struct net6_router *net6_router_turn(struct net6_net *nn, const struct net6_table *table,
					    int oif, const struct in6_addr *saddr, s64 score,
					    int n)
{
	unsigned int turn = (unsigned int)atomic_read(&nn->dest_gen) % n;
	struct net6_router *router, *last = NULL;
	struct net6_iface *iface;

	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (!net6_router_serves(iface, table, oif))
			continue;
		list_for_each_entry_rcu(router, &iface->routers, life.list) {
			if (net6_router_score(router, saddr) != score)
				continue;
			last = router;
			if (!turn--)
				return router;
		}
	}
	return last;
}

/* RFC 4191 3.5: each router that would be taken instead of @best if it answered is asked. */
static void net6_router_probe(struct net6_net *nn, const struct net6_table *table, int oif,
			      const struct in6_addr *saddr, const struct net6_router *best,
			      s64 best_score)
{
	const struct net6_router *router;
	struct net6_iface *iface;
	bool before = true;
	s64 score;

	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (!net6_router_serves(iface, table, oif))
			continue;
		list_for_each_entry_rcu(router, &iface->routers, life.list) {
			score = net6_router_score(router, saddr) |
				NET6_ROUTER_REACHABLE | NET6_ROUTER_ALIVE;
			before &= router != best;
			if (score > best_score || (score == best_score && before))
				net6_neigh_probe(READ_ONCE(router->neigh));
		}
	}
}

/**
 * net6_router_select() - a default router for a new destination
 * @nn: namespace
 * @table: routing table that its interface is at home in
 * @oif: interface it must be on, 0 for any
 * @saddr: source that is used there, or NULL
 *
 * Context: RCU read lock held. Return: borrowed entry; NULL when there is none.
 */
struct net6_router *net6_router_select(struct net6_net *nn, const struct net6_table *table,
				       int oif, const struct in6_addr *saddr)
{
	struct net6_router *router, *best = NULL;
	struct net6_iface *iface;
	bool silent = false;
	s64 best_score = -1;
	int n = 0;

	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (!net6_router_serves(iface, table, oif))
			continue;
		list_for_each_entry_rcu(router, &iface->routers, life.list) {
			s64 score = net6_router_score(router, saddr);

			silent |= !(score & NET6_ROUTER_REACHABLE);
			if (score > best_score) {
				best = router;
				best_score = score;
				n = 1;
			} else if (score == best_score) {
				n++;
			}
		}
	}
	if (n > 1 && !(best_score & NET6_ROUTER_REACHABLE))
		return net6_router_turn(nn, table, oif, saddr, best_score, n);
	if (unlikely(silent) && (best_score & NET6_ROUTER_REACHABLE))
		net6_router_probe(nn, table, oif, saddr, best, best_score);
	return best;
}

/**
 * net6_router_by_id() - the default router that was selected for a source
 * @nn: namespace
 * @id: of net6_first_hop()
 * @oif: interface it must be on, 0 for any
 *
 * Context: RCU read lock held. Return: borrowed entry; NULL when it is gone or @id is 0.
 */
struct net6_router *net6_router_by_id(struct net6_net *nn, u32 id, int oif)
{
	struct net6_router *router;
	struct net6_iface *iface;

	if (likely(!id) || id >= NET6_DEST_WAY)
		return NULL;
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (!net6_iface_usable(iface) || (oif && iface->ifindex != oif))
			continue;
		list_for_each_entry_rcu(router, &iface->routers, life.list)
			if (router->id == id)
				return router;
	}
	return NULL;
}
