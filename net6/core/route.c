// SPDX-License-Identifier: GPL-2.0
/* Next-hop determination, RFC 4861 section 5.2: ourselves, then on-link prefixes
 * and routes by the longest prefix, then default routers. A destination without any of
 * them is not taken to be on-link (RFC 5942 section 3). That is the table local, then main.
 * Where there are rules, they say which tables are looked at (rule.c). A VRF's table has what
 * local and main have for the others.
 */
#include <net/ipv6.h>

#include "addr.h"
#include "dest.h"
#include "l3mdev.h"
#include "nd.h"

/* By an entry of its interface's table that is @plen bits long, or of none. */
static int net6_route_direct(struct net6_iface *iface, const struct in6_addr *daddr, u32 flags,
			     int plen, struct net6_nexthop *nh)
{
	if (!iface)
		return -ENODEV;
	if (!net6_iface_usable(iface))
		return -ENETDOWN;
	nh->iface = iface;
	nh->addr = *daddr;
	nh->ifindex = iface->ifindex;
	nh->neigh = NULL;
	nh->flags = flags;
	nh->router = false;
	nh->metrics = NULL;
	nh->source = NULL;
	nh->several = NULL;
	nh->plen = plen;
	nh->table = net6_iface_table(iface)->id;
	nh->route = 0;
	return nh->flags;
}

static int net6_route_multicast(struct net6_net *nn, const struct net6_table *table,
				const struct in6_addr *daddr, struct net6_iface *iface,
				struct net6_nexthop *nh)
{
	struct net6_router *router;
	int flags;

	if (!iface && IPV6_ADDR_MC_SCOPE(daddr) <= IPV6_ADDR_SCOPE_LINKLOCAL)
		return -EINVAL;
	/* A wider scope's packets start where those of the same scope would leave; without that, as
	 * on Linux, at the first interface.
	 */
	if (!iface) {
		router = net6_router_select(nn, table, 0, NULL);
		iface = router ? router->iface : net6_iface_find_multicast(nn, table);
		if (!iface)
			return -ENETUNREACH;
	}
	flags = net6_route_direct(iface, daddr, NET6_DEST_MULTICAST, 8, nh);
	nh->table = net6_l3mdev_local_id(iface);
	return flags;
}

/* An address of ours that is in a table; a link-local one only with the interface that it is on. */
static const struct net6_accept *net6_route_own(struct net6_net *nn, u32 table,
						const struct in6_addr *daddr,
						const struct net6_iface *iface)
{
	const struct net6_accept *accept;

	if (!iface && (ipv6_addr_type(daddr) & IPV6_ADDR_LINKLOCAL))
		return NULL;
	accept = iface ? net6_accept_find(nn, daddr, iface) : net6_accept_in(nn, daddr, table);
	return accept && accept->type != NET6_ACCEPT_MULTICAST ? accept : NULL;
}

/* RFC 4007 section 5: an address belongs to the zone of its interface. A packet to it belongs
 * there, too, wherever it was sent. If several interfaces have it, the one that was asked for.
 */
static int net6_route_local(const struct net6_accept *accept, const struct net6_iface *iface,
			    struct net6_nexthop *nh)
{
	const struct net6_addr *addr = iface ? net6_addr_find(iface, &accept->addr) : NULL;
	int flags = net6_route_direct(net6_l3mdev_loopback(accept->iface), &accept->addr,
				      NET6_DEST_LOCAL, 128, nh);

	nh->table = net6_l3mdev_local_id(accept->iface);
	nh->ifindex = addr && net6_addr_is_assigned(addr) ? iface->ifindex :
							    accept->iface->ifindex;
	return flags;
}

/* As native. RTN_THROW: to go on with the next rule, if there is one. */
static int net6_route_refusal(u8 type)
{
	switch (type) {
	case RTN_BLACKHOLE:
		return -EINVAL;
	case RTN_PROHIBIT:
		return -EACCES;
	case RTN_UNREACHABLE:
		return -EHOSTUNREACH;
	default:
		return -ENETUNREACH;
	}
}

/* Of several routes or routers that are as good, the one at hand is the first that was found. Who
 * insists on an interface keeps it, as on native; so does who insists on one of them.
 */
static void net6_route_share(const struct net6_route_attrs *attrs, const struct net6_dest_key *key,
			     const struct net6_trie_node *node, struct net6_nexthop *nh)
{
	if (key->first_hop && key->first_hop != NET6_DEST_SETTLED) {
		nh->flags |= NET6_DEST_ONE_WAY;
	} else if (!key->oif) {
		nh->several = attrs;
		nh->node = node;
	}
}

static int net6_route_via(const struct net6_fib_match *match, const struct net6_dest_key *key,
			  struct net6_nexthop *nh)
{
	const struct net6_fib_route *route = match->route;
	bool direct = ipv6_addr_any(&route->gateway);
	const struct in6_addr *daddr = &key->daddr;
	int err;

	if (route->attrs.refuses)
		return net6_route_refusal(route->attrs.refuses);
	err = net6_route_direct(route->iface, direct ? daddr : &route->gateway,
				direct ? NET6_DEST_ONLINK : 0, route->plen, nh);
	nh->table = route->table->id;
	nh->route = route->id;
	nh->neigh = match->neigh;
	nh->metrics = route->attrs.metrics;
	nh->source = route->attrs.source;
	if (unlikely(!list_is_singular(&match->node->items)) && net6_fib_shares(route))
		net6_route_share(&route->attrs, key, match->node, nh);
	return err;
}

static int net6_route_default(const struct net6_router *router, const struct net6_dest_key *key,
			      struct net6_nexthop *nh)
{
	int err = net6_route_direct(router->iface, &router->addr, 0, 0, nh);

	nh->router = true;
	nh->route = router->id;
	nh->metrics = READ_ONCE(router->attrs.metrics);
	nh->source = READ_ONCE(router->attrs.source);
	if (router->attrs.manual && unlikely(READ_ONCE(router->iface->nn->n_routers) > 1))
		net6_route_share(&router->attrs, key, NULL, nh);
	return err;
}

/* Does an on-link prefix go before a route? */
static bool net6_route_prefix_wins(const struct net6_prefix *prefix,
				   const struct net6_fib_route *route)
{
	return prefix->plen > route->plen ||
	       (prefix->plen == route->plen && READ_ONCE(prefix->metric) <= route->attrs.metric);
}

/* Does a default router go before a route: one that does not answer, or has no length either? */
static bool net6_route_router_wins(const struct net6_router *router,
				   const struct net6_fib_route *route)
{
	if (!route->plen)
		return router->attrs.metric <= route->attrs.metric;
	return net6_neigh_reachable(READ_ONCE(router->neigh));
}

/* The longest route of a table, or the one of as good ones that the key insists on. */
static void net6_route_match(const struct net6_table *table, const struct net6_dest_key *key,
			     struct net6_fib_match *match)
{
	net6_fib_lookup(table, &key->daddr, key->oif, match);
	if (unlikely(key->first_hop - NET6_DEST_WAY < NET6_SPREAD_MAX))
		net6_spread_take(match, key->first_hop - NET6_DEST_WAY);
}

/* By main, or by a VRF's table. The longest of on-link prefix and route wins, the lower metric at
 * the same length. A router that is not known to be unreachable is preferred to one that is (RFC
 * 4191 3.2).
 */
static int net6_route_in(struct net6_net *nn, const struct net6_table *table,
			 const struct net6_dest_key *key, struct net6_nexthop *nh)
{
	struct net6_prefix *prefix = net6_prefix_match(table, &key->daddr, key->oif);
	const struct in6_addr *daddr = &key->daddr;
	int oif = key->oif;
	struct net6_fib_match match;
	struct net6_fib_route *route;
	struct net6_router *router;

	net6_route_match(table, key, &match);
	route = match.route;
	if (prefix && (!route || !match.reachable || net6_route_prefix_wins(prefix, route)))
		return net6_route_direct(prefix->iface, daddr, NET6_DEST_ONLINK, prefix->plen, nh);
	if (route && match.reachable && route->plen)
		return net6_route_via(&match, key, nh);
	router = net6_router_by_id(nn, key->first_hop, oif) ?:
		 net6_router_select(nn, table, oif, NULL);
	if (router && (!route || net6_route_router_wins(router, route)))
		return net6_route_default(router, key, nh);
	return route ? net6_route_via(&match, key, nh) : -ENETUNREACH;
}

/**
 * net6_route_unicast() - the next hop for an address that is neither ours nor link-local
 * @nn: namespace
 * @key: destination, interface and router
 * @fl6: what rules are asked beside; NULL for nothing
 * @nh: filled
 *
 * Context: RCU read lock held. Return: as net6_route_nexthop().
 */
int net6_route_unicast(struct net6_net *nn, const struct net6_dest_key *key,
		       const struct flowi6 *fl6, struct net6_nexthop *nh)
{
	return net6_rules_on(nn) ? net6_rules_nexthop(nn, key, fl6, nh) :
				   net6_route_in(nn, &nn->main, key, nh);
}

/* Addresses and groups of ours: of interfaces that are at home in @table. */
static int net6_route_ours(struct net6_net *nn, const struct net6_table *table,
			   const struct in6_addr *daddr, struct net6_iface *iface,
			   struct net6_nexthop *nh)
{
	const struct net6_accept *own;

	if (iface && net6_iface_table(iface) != table)
		return -ENETUNREACH;
	if (ipv6_addr_is_multicast(daddr))
		return net6_route_multicast(nn, table, daddr, iface, nh);
	own = net6_route_own(nn, table->id, daddr, iface);
	return own ? net6_route_local(own, iface, nh) : -ENETUNREACH;
}

/* May it be a VRF's table? */
static bool net6_route_of_vrf(const struct net6_table *table)
{
	return static_branch_unlikely(&net6_l3mdev_key) && table->id != RT_TABLE_MAIN;
}

/**
 * net6_route_by_table() - the next hop by one table, that a rule leads to
 * @nn: namespace
 * @key: destination, interface and router
 * @id: number of the table
 * @nh: filled
 *
 * Local has our addresses and groups, but for those of VRFs, which are in the VRF's own table. What
 * is link-local is on its link, whatever rules say.
 * Context: RCU read lock held. Return: as net6_route_nexthop(); -ENETUNREACH: the next rule is
 * asked.
 */
int net6_route_by_table(struct net6_net *nn, const struct net6_dest_key *key, u32 id,
			struct net6_nexthop *nh)
{
	struct net6_iface *iface = key->oif ? net6_iface_find(nn, key->oif) : NULL;
	const struct in6_addr *daddr = &key->daddr;
	const struct net6_table *table;
	int flags;

	if (id == RT_TABLE_LOCAL)
		return net6_route_ours(nn, &nn->main, daddr, iface, nh);
	table = net6_table_find(nn, id);
	if (!table)
		return -ENETUNREACH;
	if (net6_route_of_vrf(table)) {
		flags = net6_route_ours(nn, table, daddr, iface, nh);
		if (flags != -ENETUNREACH)
			return flags;
	}
	if (ipv6_addr_type(daddr) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LOOPBACK))
		return -ENETUNREACH;
	return net6_route_in(nn, table, key, nh);
}

int net6_route_nexthop(struct net6_net *nn, const struct net6_dest_key *key,
		       const struct flowi6 *fl6, struct net6_nexthop *nh)
{
	const struct in6_addr *daddr = &key->daddr;
	int oif = key->oif;
	struct net6_iface *iface = oif ? net6_iface_find(nn, oif) : NULL;
	int type = ipv6_addr_type(daddr);
	const struct net6_accept *own;

	if (oif && !iface)
		return -ENODEV;
	if (type == IPV6_ADDR_ANY || (type & IPV6_ADDR_MAPPED))
		return -ENETUNREACH;
	/* A VRF's device is no link, as on native. */
	if ((type & IPV6_ADDR_LINKLOCAL) && iface && net6_l3mdev_is_master(iface))
		return -ENETUNREACH;
	if (net6_rules_on(nn) && !(type & IPV6_ADDR_LINKLOCAL))
		return net6_rules_nexthop(nn, key, fl6, nh);
	if (type & IPV6_ADDR_MULTICAST)
		return net6_route_multicast(nn, &nn->main, daddr, iface, nh);
	own = net6_route_own(nn, RT_TABLE_MAIN, daddr, iface);
	if (own)
		return net6_route_local(own, iface, nh);
	if (type & IPV6_ADDR_LOOPBACK)
		return -EADDRNOTAVAIL;
	if (type & IPV6_ADDR_LINKLOCAL)
		return iface ? net6_route_direct(iface, daddr, NET6_DEST_ONLINK, 64, nh) : -EINVAL;

	return net6_route_in(nn, &nn->main, key, nh);
}
