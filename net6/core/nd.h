/* SPDX-License-Identifier: GPL-2.0 */
/* Neighbor Discovery's tables of routers and prefixes, and the messages it sends. */
#ifndef _NET6_ND_H
#define _NET6_ND_H

#include "addr.h"
#include "fib.h"
#include "neigh.h"

#define NET6_ND_HOP_LIMIT	255	/* RFC 4861 section 4 */
#define NET6_ND_OPTION_MAX	(8 + NET6_LINK_HEADER_MAX)	/* bytes, a link-layer address */
#define NET6_ND_RD_HEADER	8	/* bytes of a Redirected Header option before the packet */

/**
 * struct net6_router - a default router [RLE]
 * @addr: its link-local address
 * @iface: borrowed: its routers go with it
 * @attrs: written under nn->lock; its metric is constant
 * @life: in iface->routers
 * @neigh: its neighbor entry, reference held
 * @id: of the namespace's routers, never 0; another one's when it comes back
 * @told: prefixes that it has told (core/first_hop.c); @n_told: how many
 * @by_prefix: the same, each in the node of its prefix
 * @rcu: freed after a grace period
 */
struct net6_router {
	struct in6_addr		addr;
	struct net6_iface	*iface;
	struct net6_neigh	*neigh;
	struct net6_route_attrs	attrs;
	u32			id;
	u32			n_told;
	struct list_head	told;
	struct net6_trie	by_prefix;
	struct net6_life	life;
	struct rcu_head		rcu;
};

#define NET6_METRIC_PREFIX	256	/* as native's, of on-link prefixes */

/* Who says that a prefix is on-link. */
enum net6_prefix_owner {
	NET6_PREFIX_TOLD,	/* a router's advertisement */
	NET6_PREFIX_BY_HAND,	/* the administrator */
	NET6_PREFIX_OF_ADDR,	/* an address that the administrator has set */
	NET6_PREFIX_OWNERS
};

/**
 * struct net6_prefix_claim - for how long one of them says so
 * @lifetime: seconds from @updated, NET6_LIFETIME_INFINITE; 0: not at all
 * @updated: jiffies
 */
struct net6_prefix_claim {
	u32		lifetime;
	unsigned long	updated;
};

/**
 * struct net6_prefix - an on-link prefix [PLE]
 * @prefix: address with bits beyond @plen zero
 * @iface: borrowed: its prefixes go with it
 * @plen: bits
 * @manual: not by a router's word alone
 * @metric: of those of the same length on several interfaces the lower one wins
 * @claims: of each enum net6_prefix_owner; under nn->lock
 * @life: in iface->prefixes: the longest of @claims
 * @item: in @iface's table, by prefix
 * @rcu: freed after a grace period
 */
struct net6_prefix {
	struct in6_addr		prefix;
	struct net6_iface	*iface;
	u8			plen;
	bool			manual;
	u32			metric;
	struct net6_prefix_claim claims[NET6_PREFIX_OWNERS];
	struct net6_life	life;
	struct list_head	item;
	struct rcu_head		rcu;
};

/* Look-ups: RCU read lock held. NULL when there is none. */
struct net6_prefix *net6_prefix_match(const struct net6_table *table, const struct in6_addr *addr,
				      int oif);
struct net6_router *net6_router_select(struct net6_net *nn, const struct net6_table *table,
				       int oif, const struct in6_addr *saddr);
struct net6_router *net6_router_by_id(struct net6_net *nn, u32 id, int oif);
struct net6_router *net6_router_find(struct net6_iface *iface, const struct in6_addr *addr);

/* Writers: take nn->lock. lifetime 0 removes. */
int net6_prefix_update(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen,
		       u32 valid_lft, enum net6_prefix_owner owner);
int net6_prefix_update_locked(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen,
			      u32 valid_lft, enum net6_prefix_owner owner,
			      u32 metric);	/* holds it */
int net6_router_update(struct net6_iface *iface, const struct in6_addr *addr,
		       const struct net6_route_attrs *attrs, u32 lifetime);
void net6_nd_iface_up(struct net6_iface *iface);	/* starts router solicitation */
void net6_nd_iface_down(struct net6_iface *iface, bool all);	/* forgets routers and prefixes */

/* RFC 8028 (core/first_hop.c). The first takes nn->lock, the next two want it, the others RCU. */
void net6_router_tells(struct net6_iface *iface, const struct in6_addr *addr,
		       const struct in6_addr *prefix, u8 plen, u32 valid_lft);
void net6_told_end(struct net6_life *life);
void net6_told_forget(struct net6_router *router);
bool net6_router_told(const struct net6_router *router, const struct in6_addr *addr);
u32 net6_first_hop(struct net6_net *nn, const struct net6_table *table,
		   const struct in6_addr *saddr, int oif);
int net6_first_hop_of(const struct net6_iface *out, const struct in6_addr *hop,
		      const struct in6_addr *addr);

/* core/nd_life.c */
void net6_nd_await_end(struct net6_iface *iface, u32 lifetime);	/* nn->lock held */
unsigned long net6_nd_life_at(unsigned long delay);

/* The lists' own verbs (core/router.c, core/prefix.c, core/ra.c). nn->lock held. */
void net6_router_end(struct net6_life *life);	/* its lifetime is over */
void net6_prefix_end(struct net6_life *life);
void net6_router_forget_all(struct net6_iface *iface, bool manual);
void net6_prefix_forget_all(struct net6_iface *iface, bool manual);
void net6_nd_set_router(struct net6_iface *iface);
void net6_nd_set_accept_ra(struct net6_iface *iface, u8 accept_ra);
void net6_nd_linklocal(struct net6_iface *iface);	/* it has one now */

/* Without nn->lock; the first takes it. */
void net6_router_forget(struct net6_iface *iface, const struct in6_addr *addr);
void net6_nd_timers_init(struct net6_iface *iface);
void net6_nd_timers_stop(struct net6_iface *iface);	/* process context, waits */
void net6_nd_draw_reachable(struct net6_iface *iface);

/* Of net6_nd_send_na(). The Router flag is set by a router, except for a host. */
#define NET6_NA_SOLICITED	BIT(0)
#define NET6_NA_OVERRIDE	BIT(1)
#define NET6_NA_HOST		BIT(2)	/* the target is a host, though we are none */
#define NET6_NA_BARE		BIT(3)	/* without our link-layer address */

/* BH disabled, RCU read lock held. A NULL @saddr: the source is chosen by RFC 6724 among those of
 * the interface. A NULL @lladdr: a group is mapped, a unicast @daddr goes through its neighbor.
 */
void net6_nd_send_ns(struct net6_iface *iface, const struct in6_addr *target,
		     const struct in6_addr *daddr, const struct in6_addr *saddr,
		     const u8 *lladdr, const u8 *nonce);
void net6_nd_send_na(struct net6_iface *iface, const struct in6_addr *target,
		     const struct in6_addr *saddr, const struct in6_addr *daddr, u8 flags);
void net6_nd_send_rs(struct net6_iface *iface);
void net6_nd_announce(struct net6_iface *iface);	/* any but hard interrupts */

void net6_ra_rcv(struct net6_iface *iface, struct sk_buff *skb);	/* core/ra.c */
bool net6_nd_wants_ra(const struct net6_iface *iface);	/* are routers believed? */

/* All ND messages have this in common (core/nd.c): RFC 4861 6.1, 7.1, 8.1. */
struct net6_nd_opts;
bool net6_nd_check(struct net6_iface *iface, struct sk_buff *skb, unsigned int len,
		   struct net6_nd_opts *opts);	/* false: dropped */
bool net6_nd_lladdr(const struct net6_iface *iface, const u8 *body, unsigned int len, u8 *buf,
		    const u8 **lladdr);		/* false: not of this link */
void net6_nd_put_lladdr(const struct net6_iface *iface, struct sk_buff *skb, u8 type,
			const u8 *lladdr);

int net6_nd_init(void);
void net6_nd_exit(void);

#endif /* _NET6_ND_H */
