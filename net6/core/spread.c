// SPDX-License-Identifier: GPL-2.0
/* Several next hops of a route: routes by gateways that the administrator has set, of one prefix,
 * metric and preference. A destination of such a route has a table of them, and for each next hop
 * that is used there is one more, whose key says which. Those without have nothing of it.
 */
#include <net/flow_dissector.h>
#include <net/ipv6.h>

#include "dest.h"
#include "nd.h"

/**
 * struct net6_spread_all - next hops while they are collected
 * @n: of them
 * @total: their weights
 * @hop: each; @end is the sum of the weights so far
 */
struct net6_spread_all {
	u32			n;
	u32			total;
	struct net6_spread_hop	hop[NET6_SPREAD_MAX];
};

static void net6_spread_add(struct net6_spread_all *all, const struct net6_route_attrs *attrs,
			    u32 way)
{
	all->total += attrs->hops + 1;
	all->hop[all->n].end = all->total;
	all->hop[all->n++].way = way;
}

/* Those of a prefix. Their ways are their places among those that share. */
static void net6_spread_routes(const struct net6_nexthop *nh, bool lost,
			       struct net6_spread_all *all)
{
	const struct net6_fib_route *r;
	struct net6_neigh *neigh;
	u32 place = 0;

	list_for_each_entry_rcu(r, &nh->node->items, item) {
		if (!net6_fib_shares(r) || !net6_route_alike(&r->attrs, nh->several))
			continue;
		if (place == NET6_SPREAD_MAX)
			break;
		if (net6_iface_usable(r->iface) && (lost || net6_fib_reachable(r, &neigh)))
			net6_spread_add(all, &r->attrs, NET6_DEST_WAY + place);
		place++;
	}
}

/* Default routers. Their ways are their numbers. */
static void net6_spread_routers(struct net6_net *nn, const struct net6_nexthop *nh, bool lost,
				struct net6_spread_all *all)
{
	const struct net6_router *router;
	struct net6_iface *iface;

	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (!net6_iface_usable(iface) ||
		    net6_iface_table(iface) != net6_iface_table(nh->iface))
			continue;
		list_for_each_entry_rcu(router, &iface->routers, life.list) {
			if (!router->attrs.manual ||
			    !net6_route_alike(&router->attrs, nh->several) ||
			    (!lost && net6_neigh_lost(READ_ONCE(router->neigh))))
				continue;
			if (all->n == NET6_SPREAD_MAX)
				return;
			net6_spread_add(all, &router->attrs, router->id);
		}
	}
}

/* From sums of weights to ends of shares. */
static void net6_spread_shares(struct net6_spread_all *all)
{
	u32 i;

	for (i = 0; i < all->n; i++)
		all->hop[i].end = div_u64((u64)all->hop[i].end << 31, all->total);
}

/* Those that are not known to be unreachable. If all are, any. */
static void net6_spread_collect(struct net6_net *nn, const struct net6_nexthop *nh,
				struct net6_spread_all *all)
{
	bool lost = false;

	do {
		all->n = 0;
		all->total = 0;
		if (nh->node)
			net6_spread_routes(nh, lost, all);
		else
			net6_spread_routers(nn, nh, lost, all);
		lost = !lost;
	} while (!all->n && lost);
	net6_spread_shares(all);
}

/**
 * net6_spread_make() - the table of a destination's next hops
 * @nn: namespace
 * @nh: its next hop, which may be one of several
 *
 * Context: RCU read lock held, does not sleep.
 * Return: for kfree(); NULL if there are not several that can be used, or without memory.
 */
noinline struct net6_spread *net6_spread_make(struct net6_net *nn, const struct net6_nexthop *nh)
{
	struct net6_spread_all all;
	struct net6_spread *spread;

	net6_spread_collect(nn, nh, &all);
	if (all.n < 2)
		return NULL;
	spread = kmalloc(struct_size(spread, hop, all.n), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!spread)
		return NULL;
	spread->n = all.n;
	memcpy(spread->hop, all.hop, all.n * sizeof(all.hop[0]));
	return spread;
}

static u32 net6_spread_choose(const struct net6_spread_hop *hop, u32 n, u32 hash)
{
	u32 i;

	for (i = 0; i < n - 1; i++)
		if (hash < hop[i].end)
			break;
	return hop[i].way;
}

/**
 * net6_spread_way() - which next hop it is
 * @spread: table of them
 * @hash: of the flow, below 2^31
 *
 * Context: any. Return: as in a destination's key.
 */
u32 net6_spread_way(const struct net6_spread *spread, u32 hash)
{
	return net6_spread_choose(spread->hop, spread->n, hash);
}

/**
 * net6_spread_of_packet() - the same for a packet to a destination that is not remembered
 * @nn: namespace
 * @nh: its next hop, which may be one of several
 * @skb: data at the IPv6 header
 *
 * Context: RCU read lock held. Return: as in a destination's key, 0 if there are not several.
 */
noinline u32 net6_spread_of_packet(struct net6_net *nn, const struct net6_nexthop *nh,
				   const struct sk_buff *skb)
{
	struct net6_spread_all all;

	net6_spread_collect(nn, nh, &all);
	if (all.n < 2)
		return 0;
	return net6_spread_choose(all.hop, all.n, net6_spread_hash_packet(nn, skb));
}

/**
 * net6_spread_take() - the route that a key insists on, in place of the first
 * @match: what routes say of the destination
 * @place: of it among those that share
 *
 * Context: RCU read lock held.
 */
void net6_spread_take(struct net6_fib_match *match, u32 place)
{
	struct net6_fib_route *r, *first = match->route;
	struct net6_neigh *neigh;

	if (!first || !net6_fib_shares(first))
		return;
	list_for_each_entry_rcu(r, &match->node->items, item) {
		if (!net6_fib_shares(r) || !net6_route_alike(&r->attrs, &first->attrs) || place--)
			continue;
		if (!net6_iface_usable(r->iface) ||
		    (!net6_fib_reachable(r, &neigh) && match->reachable))
			return;
		match->route = r;
		match->neigh = neigh;
		return;
	}
}

/* ---- what is hashed, as native does ---- */

static u32 net6_spread_hash_keys(struct flow_keys *keys)
{
	return flow_hash_from_keys(keys) >> 1;
}

/**
 * net6_spread_hash() - hash of a flow that begins here
 * @nn: namespace
 * @saddr: source, :: if there is none yet
 * @daddr: destination
 * @flow: what else is known of it, NULL for nothing
 *
 * Context: any. Return: below 2^31.
 */
u32 net6_spread_hash(const struct net6_net *nn, const struct in6_addr *saddr,
		     const struct in6_addr *daddr, const struct net6_flow *flow)
{
	struct flow_keys keys = {};

	keys.control.addr_type = FLOW_DISSECTOR_KEY_IPV6_ADDRS;
	keys.addrs.v6addrs.src = *saddr;
	keys.addrs.v6addrs.dst = *daddr;
	if (!flow)
		return net6_spread_hash_keys(&keys);
	keys.basic.ip_proto = flow->protocol;
	if (READ_ONCE(nn->settings.fib_multipath_hash_policy) == NET6_SPREAD_L4) {
		keys.ports.src = flow->sport;
		keys.ports.dst = flow->dport;
	} else {
		keys.tags.flow_label = (__force u32)(flow->label & IPV6_FLOWLABEL_MASK);
	}
	return net6_spread_hash_keys(&keys);
}

/* An ICMPv6 error goes where the packets go that it is about: those of its receiver. */
static const struct ipv6hdr *net6_spread_header(const struct sk_buff *skb, struct ipv6hdr *buf)
{
	const struct ipv6hdr *h = ipv6_hdr(skb), *inner;
	unsigned int at = skb_network_offset(skb) + sizeof(*h);
	const struct icmp6hdr *icmp;
	struct icmp6hdr icmp_buf;

	if (likely(h->nexthdr != IPPROTO_ICMPV6))
		return h;
	icmp = skb_header_pointer(skb, at, sizeof(icmp_buf), &icmp_buf);
	if (!icmp || icmp->icmp6_type & ICMPV6_INFOMSG_MASK)
		return h;
	inner = skb_header_pointer(skb, at + sizeof(*icmp), sizeof(*buf), buf);
	return inner ?: h;
}

static void net6_spread_l3(const struct sk_buff *skb, struct flow_keys *keys)
{
	const struct ipv6hdr *h;
	struct ipv6hdr buf;

	memset(keys, 0, sizeof(*keys));
	h = net6_spread_header(skb, &buf);
	keys->control.addr_type = FLOW_DISSECTOR_KEY_IPV6_ADDRS;
	keys->addrs.v6addrs.src = h->saddr;
	keys->addrs.v6addrs.dst = h->daddr;
	keys->tags.flow_label = (__force u32)ip6_flowlabel(h);
	keys->basic.ip_proto = h->nexthdr;
}

/* What the policy takes of what the packet has. */
static void net6_spread_dissected(const struct flow_keys *seen, struct flow_keys *keys, bool l4)
{
	memset(keys, 0, sizeof(*keys));
	keys->control.addr_type = seen->control.addr_type;
	keys->addrs = seen->addrs;
	if (l4)
		keys->ports = seen->ports;
	else if (seen->control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS)
		keys->tags.flow_label = seen->tags.flow_label;
	if (l4 || seen->control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS)
		keys->basic.ip_proto = seen->basic.ip_proto;
}

/**
 * net6_spread_hash_packet() - hash of a packet of somebody else
 * @nn: namespace
 * @skb: data at the IPv6 header
 *
 * Context: any. Return: below 2^31.
 */
u32 net6_spread_hash_packet(const struct net6_net *nn, const struct sk_buff *skb)
{
	u32 policy = READ_ONCE(nn->settings.fib_multipath_hash_policy);
	struct flow_keys seen, keys;

	if (policy == NET6_SPREAD_L3) {
		net6_spread_l3(skb, &keys);
		return net6_spread_hash_keys(&keys);
	}
	skb_flow_dissect_flow_keys(skb, &seen, policy == NET6_SPREAD_L4 ?
				   FLOW_DISSECTOR_F_STOP_AT_ENCAP : 0);
	if (seen.control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS ||
	    seen.control.addr_type == FLOW_DISSECTOR_KEY_IPV4_ADDRS)
		net6_spread_dissected(&seen, &keys, policy == NET6_SPREAD_L4);
	else
		net6_spread_l3(skb, &keys);
	return net6_spread_hash_keys(&keys);
}
