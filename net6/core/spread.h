/* SPDX-License-Identifier: GPL-2.0 */
/* Several next hops of a route: which one a flow takes. */
#ifndef _NET6_SPREAD_H
#define _NET6_SPREAD_H

#include <linux/in6.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct net6_fib_match;
struct net6_net;
struct net6_nexthop;
struct sk_buff;

#define NET6_SPREAD_MAX		64	/* next hops of a route that are used */

/* net.ipv6.fib_multipath_hash_policy, as native's. */
enum net6_spread_policy {
	NET6_SPREAD_L3,		/* addresses, flow label, protocol */
	NET6_SPREAD_L4,		/* addresses, protocol, ports */
	NET6_SPREAD_INNER,	/* as L3, of what is in a tunnel's packet */
	NET6_SPREAD_POLICIES
};

/**
 * struct net6_flow - what a flow is known by beside its addresses
 * @protocol: IPPROTO_*
 * @owned: a socket has it, whose owner is @uid; else the namespace's root
 * @sport: port, network byte order, 0 if there is none yet
 * @dport: alike
 * @label: flow label and traffic class, network byte order
 * @mark: of its packets
 * @iif: interface that they came in on, 0: they begin here
 * @uid: see there
 *
 * The next hops of a route are shared by the first of these, rules look at all of them.
 */
struct net6_flow {
	u8	protocol;
	bool	owned;
	__be16	sport;
	__be16	dport;
	__be32	label;
	u32	mark;
	int	iif;
	kuid_t	uid;
};

/**
 * struct net6_spread_hop - a next hop
 * @end: of its share of 2^31
 * @way: what a destination's key has for it
 */
struct net6_spread_hop {
	u32	end;
	u32	way;
};

/**
 * struct net6_spread - next hops of a destination, by RFC 2992's hash threshold
 * @n: of them, 2 at least
 * @hop: each; their shares as their weights
 */
struct net6_spread {
	u32			n;
	struct net6_spread_hop	hop[];
};

/* RCU read lock held. */
struct net6_spread *net6_spread_make(struct net6_net *nn, const struct net6_nexthop *nh);
u32 net6_spread_of_packet(struct net6_net *nn, const struct net6_nexthop *nh,
			  const struct sk_buff *skb);
void net6_spread_take(struct net6_fib_match *match, u32 place);

u32 net6_spread_hash(const struct net6_net *nn, const struct in6_addr *saddr,
		     const struct in6_addr *daddr, const struct net6_flow *flow);
u32 net6_spread_hash_packet(const struct net6_net *nn, const struct sk_buff *skb);
u32 net6_spread_way(const struct net6_spread *spread, u32 hash);

#endif /* _NET6_SPREAD_H */
