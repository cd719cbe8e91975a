/* SPDX-License-Identifier: GPL-2.0 */
/* The destination cache [RCE]: destination to next hop, source address and path
 * MTU. Transports hold a reference and check it with one compare per packet.
 */
#ifndef _NET6_DEST_H
#define _NET6_DEST_H

#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>

#include "metrics.h"
#include "neigh.h"
#include "source.h"
#include "spread.h"

#define NET6_DEST_LOCAL		BIT(0)	/* one of our own addresses: goes to loopback */
#define NET6_DEST_MULTICAST	BIT(1)
#define NET6_DEST_ONLINK	BIT(2)	/* next hop is the destination itself */
#define NET6_DEST_REDIRECTED	BIT(3)	/* next hop learned from a Redirect */
#define NET6_DEST_TOLD		GENMASK(3, 0)	/* these are told; the others are below */
#define NET6_DEST_SEVERAL	BIT(8)	/* there are several next hops: a flow has another entry */
#define NET6_DEST_ONE_WAY	BIT(9)	/* it is such a one: for one flow, not for others */
#define NET6_DEST_SOURCED	BIT(10)	/* the route asks for the source address */
#define NET6_DEST_RULED		BIT(11)	/* rules were asked: the key says what */
#define NET6_DEST_TUNNEL	BIT(12)	/* its device tells a packet's route how much it carries */

struct flowi6;
struct net6_icmp_error;

/* In place of a router's number, of which none is so large. Where there are several default
 * routers, it is for packets whose source is settled and asks for none of them.
 */
#define NET6_DEST_SETTLED	U32_MAX

/* The first of as many as there may be next hops of a route: its place among them. */
#define NET6_DEST_WAY		BIT(31)

/* How often packets to a destination by a tunnel have a route, in jiffies: TCP's shortest time-out,
 * so that what it sends again has one.
 */
#define NET6_DEST_ASK	(HZ / 5)

/**
 * struct net6_dest_key - what a destination is found by
 * @daddr: where packets go
 * @oif: interface, 0: any; a VRF's device: any of the VRF
 * @first_hop: net6_router.id that the source wants, or that a flow has of several. 0: there is no
 *	source yet, or one router. Or NET6_DEST_SETTLED. Or NET6_DEST_WAY and so on: of several
 *	routes the one that a flow has
 * @rule: net6_rules_hash() of what rules look at beside, 0 while there are none
 */
struct net6_dest_key {
	struct in6_addr	daddr;
	int		oif;
	u32		first_hop;
	u64		rule;
} __packed __aligned(4);

/**
 * struct net6_dest - what is known about a destination
 * @node: in nn->dests
 * @key: destination address, the interface the user insists on, the default router that
 *	the source address does, and what rules look at
 * @gen: nn->dest_gen at creation: the entry is stale when they differ
 * @flags: NET6_DEST_*
 * @pmtu: path MTU in bytes, 1280 at least; @pmtu_expires: jiffies, 0 for never
 * @iface: outgoing interface, reference held (the loopback for own addresses)
 * @ifindex: of that interface; if LOCAL of the one that has the address, where a packet is
 *	received
 * @neigh: next hop, reference held; NULL if LOCAL
 * @hops: hop limit of unicast packets that we send: @iface's, or @own_hops
 * @saddr: source address by RFC 6724, or the route's, if there is one
 * @has_saddr: @saddr has been chosen, and does not change any more; written under nn->dest_lock.
 *	It is chosen when a sender first wants it. What that costs grows with the addresses of
 *	the interface, and strangers choose who is answered and forwarded to.
 * @via: if REDIRECTED the router that packets went to before any Redirect
 * @route_mtu: most bytes by the route, U32_MAX if it does not say; 1280 at least
 * @advmss: what TCP announces by the route, 0 if it does not say
 * @own_hops: the route's hop limit, 0 if it does not say
 * @metrics: all that the route says, reference held; NULL for nothing
 * @table: number of the table that it was found in
 * @route: number of the route or default router, 0: none. If REDIRECTED of the one before
 * @own_mtu: what link and route allowed when the entry was made, bytes
 * @spread: if SEVERAL its next hops
 * @used: jiffies of the last look-up, for eviction
 * @asked: if TUNNEL when the device was last given a route, in jiffies
 * @nn: namespace
 * @icmp_tokens, @icmp_stamp: token bucket of errors sent to it
 * @lru: in nn->dest_lru, under nn->dest_lock; empty when out of the table
 * @lru_stamp: jiffies when it was put at its place there
 * @ref: references; the table holds one
 * @rcu: freed after a grace period
 */
struct net6_dest {
	struct rhash_head	node;
	struct net6_dest_key	key;
	int			gen;
	u32			flags;
	u32			pmtu;
	int			ifindex;
	struct net6_iface	*iface;
	struct net6_neigh	*neigh;
	const u8		*hops;
	struct in6_addr		saddr;
	struct in6_addr		via;
	bool			has_saddr;
	u8			own_hops;
	u16			advmss;
	u32			route_mtu;
	u32			table;
	u32			route;
	u32			own_mtu;
	struct net6_net		*nn;
	struct net6_metrics	*metrics;
	struct net6_spread	*spread;
	unsigned long		pmtu_expires;
	unsigned long		used;
	unsigned long		asked;
	u32			icmp_tokens;
	unsigned long		icmp_stamp;
	struct list_head	lru;
	unsigned long		lru_stamp;
	refcount_t		ref;
	struct rcu_head		rcu;
};

/**
 * net6_dest_lookup_key() - find or make the cache entry for a destination
 * @nn: namespace
 * @key: destination (link-local and multicast ones want an interface), interface and router
 *
 * It may be without a source address. Context: any, takes rcu_read_lock_bh itself; does not
 * sleep (GFP_ATOMIC).
 * Return: a referenced entry, or ERR_PTR: -ENETUNREACH (no route), -EINVAL
 * (link-local without interface, a route that swallows), -EHOSTUNREACH, -EACCES (routes that
 * refuse), -ENODEV, -ENETDOWN, -EADDRNOTAVAIL (no source), -ENOMEM.
 */
struct net6_dest *net6_dest_lookup_key(struct net6_net *nn, const struct net6_dest_key *key);
struct net6_dest *net6_dest_cached(struct net6_net *nn, const struct net6_dest_key *key);
void net6_dest_forget(struct net6_dest *dest);

/**
 * net6_dest_lookup_flow() - the same by the source address, and of several next hops by the flow
 * @nn: namespace
 * @saddr: source if it is settled; with :: the entry has one
 * @daddr: destination
 * @oif: interface index, 0 for any
 * @flow: what is known of it beside; NULL for nothing
 *
 * Context and Return: as net6_dest_lookup_key().
 */
struct net6_dest *net6_dest_lookup_flow(struct net6_net *nn, const struct in6_addr *saddr,
					const struct in6_addr *daddr, int oif,
					const struct net6_flow *flow);

static inline struct net6_dest *net6_dest_lookup_from(struct net6_net *nn,
						      const struct in6_addr *saddr,
						      const struct in6_addr *daddr, int oif)
{
	return net6_dest_lookup_flow(nn, saddr, daddr, oif, NULL);
}

u32 net6_dest_router(struct net6_net *nn, const struct in6_addr *saddr, int oif);
int net6_dest_choose_saddr(struct net6_dest *dest);
void net6_dest_put(struct net6_dest *dest);

/**
 * struct net6_hop - where a packet of somebody else goes
 * @neigh: next hop, and by its interface; borrowed; NULL if LOCAL
 * @flags: NET6_DEST_*
 * @mtu: most bytes by the route, U32_MAX if it does not say; 1280 at least
 */
struct net6_hop {
	struct net6_neigh	*neigh;
	u32			flags;
	u32			mtu;
};

int net6_dest_forward(struct net6_net *nn, const struct net6_dest_key *key,
		      const struct flowi6 *fl6, const struct sk_buff *skb, struct net6_hop *hop);

/* Has the source address been chosen? */
static inline bool net6_dest_has_saddr(const struct net6_dest *dest)
{
	return smp_load_acquire(&dest->has_saddr);	/* @saddr was written before */
}

static inline struct net6_dest *net6_dest_hold(struct net6_dest *dest)
{
	refcount_inc(&dest->ref);
	return dest;
}

/**
 * net6_dest_valid() - may this reference still be used for the next packet?
 * @dest: entry held by the caller
 *
 * One compare. Context: any.
 */
static inline bool net6_dest_valid(const struct net6_dest *dest)
{
	return likely(dest->gen == atomic_read(&dest->nn->dest_gen));
}

static inline u8 net6_dest_hop_limit(const struct net6_dest *dest)
{
	return READ_ONCE(*dest->hops);
}

u32 net6_dest_mtu(struct net6_dest *dest);
u32 net6_dest_advmss(const struct net6_dest *dest);
void net6_dest_set_pmtu(struct net6_dest *dest, u32 mtu);
void net6_dest_update_pmtu(struct net6_net *nn, const struct net6_icmp_error *err,
			   const struct net6_flow *flow);
void net6_dest_redirect(const struct net6_dest *old, const struct in6_addr *target);

/* A transport has seen forward progress: RFC 4861 7.3.1. Any context, BH disabled. */
static inline void net6_dest_confirm(struct net6_dest *dest)
{
	struct net6_neigh *neigh = dest->neigh;

	if (neigh && READ_ONCE(neigh->confirmed) != jiffies)
		net6_neigh_confirm(neigh);
}

int net6_dest_net_init(struct net6_net *nn);
void net6_dest_net_exit(struct net6_net *nn);
void net6_dest_iface_gone(struct net6_iface *iface);	/* drops entries that hold it */
void net6_dest_purge(struct net6_net *nn);
int net6_dest_init(void);
void net6_dest_exit(void);

/**
 * struct net6_nexthop - the next hop for a destination, RFC 4861 5.2
 * @iface: by which interface; no reference
 * @addr: its address
 * @neigh: its neighbor if that was looked for and is there, or NULL; no reference
 * @ifindex: as in struct net6_dest
 * @flags: NET6_DEST_*
 * @router: it is a default router
 * @metrics: of the route, NULL: none; no reference
 * @source: alike
 * @several: it may be one of several: those of @node, or default routers if that is NULL, that are
 *	as good; NULL: it is not
 * @node: see there
 * @plen: length of what was found for it, in bits
 * @table: in which table
 * @route: as in struct net6_dest
 */
struct net6_nexthop {
	struct net6_iface	*iface;
	struct in6_addr		addr;
	struct net6_neigh	*neigh;
	int			ifindex;
	u32			flags;
	bool			router;
	struct net6_metrics	*metrics;
	const struct net6_source	*source;
	const struct net6_route_attrs	*several;
	const struct net6_trie_node	*node;
	int			plen;
	u32			table;
	u32			route;
};

/* core/route.c. RCU read lock held. They fill what they are given; flags or -errno. */
int net6_route_nexthop(struct net6_net *nn, const struct net6_dest_key *key,
		       const struct flowi6 *fl6, struct net6_nexthop *nh);
int net6_route_unicast(struct net6_net *nn, const struct net6_dest_key *key,
		       const struct flowi6 *fl6, struct net6_nexthop *nh);
int net6_route_by_table(struct net6_net *nn, const struct net6_dest_key *key, u32 table,
			struct net6_nexthop *nh);

#endif /* _NET6_DEST_H */
