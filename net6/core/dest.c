// SPDX-License-Identifier: GPL-2.0
/* The destination cache [RCE]: a hash table per namespace, bounded. The makings of an entry are
 * in route.c and srcaddr.c. Entries do not age: they are replaced when stale, and evicted by
 * second chance when the table is full. A few in a tick come into it by being forwarded to, for
 * strangers name what they like. The others are looked up for each packet.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "proto.h"
#include "addr.h"
#include "dest.h"
#include "forward.h"
#include "ip.h"
#include "l3mdev.h"
#include "nd.h"

/* How many entries eviction looks at before it takes the oldest, used or not. */
#define NET6_DEST_EVICT_SCAN	8

/* How many come into the table in a tick by being forwarded to: while there is room, and when each
 * drives out another one. A destination of many packets is soon among them.
 */
#define NET6_DEST_ADMIT		16
#define NET6_DEST_ADMIT_FULL	1

static int net6_dest_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct net6_dest_key *key = arg->key;
	const struct net6_dest *dest = obj;

	return !ipv6_addr_equal(&dest->key.daddr, &key->daddr) || dest->key.oif != key->oif ||
	       dest->key.first_hop != key->first_hop || dest->key.rule != key->rule;
}

/* What rules look at is a hash already. */
static u32 net6_dest_hash(const void *data, u32 len, u32 seed)
{
	const struct net6_dest_key *key = data;

	return jhash2(data, offsetof(struct net6_dest_key, rule) / sizeof(u32), seed) ^
	       (u32)key->rule;
}

static const struct rhashtable_params net6_dest_params = {
	.key_len		= sizeof(struct net6_dest_key),
	.key_offset		= offsetof(struct net6_dest, key),
	.head_offset		= offsetof(struct net6_dest, node),
	.hashfn			= net6_dest_hash,
	.obj_cmpfn		= net6_dest_cmp,
	.automatic_shrinking	= true,
};

static struct kmem_cache *net6_dest_cache __read_mostly;

/* Datagram senders use an entry that they read from a socket within an RCU section, without a
 * reference. All that it refers to is kept as long.
 */
static void net6_dest_free_rcu(struct rcu_head *rcu)
{
	struct net6_dest *dest = container_of(rcu, struct net6_dest, rcu);

	if (dest->neigh)
		net6_neigh_put(dest->neigh);
	if (dest->iface)
		net6_iface_put(dest->iface);
	net6_metrics_put(dest->metrics);
	kfree(dest->spread);
	kmem_cache_free(net6_dest_cache, dest);
}

/**
 * net6_dest_put() - give a reference back
 * @dest: entry
 *
 * Context: any.
 */
void net6_dest_put(struct net6_dest *dest)
{
	if (refcount_dec_and_test(&dest->ref))
		call_rcu(&dest->rcu, net6_dest_free_rcu);
}

/* Flattened, so that the hash is computed here, for keys of one length. */
static __flatten struct net6_dest *net6_dest_find(struct net6_net *nn,
						  const struct net6_dest_key *key)
{
	return rhashtable_lookup_fast(&nn->dests, key, net6_dest_params);
}

/* Take an entry out of the table, with the table's reference. Who still holds it looks
 * again, and does not miss what the next entry learns.
 */
static void net6_dest_unlink(struct net6_net *nn, struct net6_dest *dest)
	__must_hold(&nn->dest_lock)
{
	lockdep_assert_held(&nn->dest_lock);
	WRITE_ONCE(dest->gen, atomic_read(&nn->dest_gen) - 1);
	rhashtable_remove_fast(&nn->dests, &dest->node, net6_dest_params);
	list_del_init(&dest->lru);
	atomic_dec(&nn->dest_count);
	net6_dest_put(dest);
}

/**
 * net6_dest_forget() - do not believe any more what was learned of a destination
 * @dest: entry; a path MTU and a Redirect go with it
 *
 * Context: any.
 */
void net6_dest_forget(struct net6_dest *dest)
{
	struct net6_net *nn = dest->nn;

	spin_lock_bh(&nn->dest_lock);
	if (!list_empty(&dest->lru))
		net6_dest_unlink(nn, dest);
	spin_unlock_bh(&nn->dest_lock);
}

/* Second chance: an entry that was used since it was put at its place moves to the end. */
static void net6_dest_evict(struct net6_net *nn)
	__must_hold(&nn->dest_lock)
{
	int scan = NET6_DEST_EVICT_SCAN;
	struct net6_dest *dest, *next;

	lockdep_assert_held(&nn->dest_lock);
	list_for_each_entry_safe(dest, next, &nn->dest_lru, lru) {
		if (--scan > 0 && net6_dest_valid(dest) &&
		    time_after(READ_ONCE(dest->used), dest->lru_stamp)) {
			dest->lru_stamp = jiffies;
			list_move_tail(&dest->lru, &nn->dest_lru);
			continue;
		}
		net6_dest_unlink(nn, dest);
		NET6_INC(nn, Ip6DestEvicted);
		return;
	}
}

/* By the same route to the same next hop: another one's path is another one. */
static bool net6_dest_goes_on(const struct net6_dest *dest, const struct net6_dest *old)
{
	const struct net6_neigh *to = dest->neigh, *was = old->neigh;

	if (dest->route != old->route || dest->iface != old->iface)
		return false;
	return to == was || (to && was && ipv6_addr_equal(&to->addr, &was->addr));
}

/* Once the own link is the narrowest of the path, the path MTU grows with it, as on the native
 * stack: nobody knows whether what a router had said before is still true.
 */
static void net6_dest_inherit_pmtu(struct net6_dest *dest, const struct net6_dest *old)
{
	u32 learned = READ_ONCE(old->pmtu);

	if (learned < old->own_mtu)
		dest->pmtu = min(dest->pmtu, learned);
}

/* What an entry knows beyond next hop and source outlives it. */
static void net6_dest_inherit(struct net6_dest *dest, const struct net6_dest *old)
{
	unsigned long expires = READ_ONCE(old->pmtu_expires);

	if (expires && time_before(jiffies, expires) && net6_dest_goes_on(dest, old)) {
		net6_dest_inherit_pmtu(dest, old);
		dest->pmtu_expires = expires;
	}
	dest->icmp_tokens = old->icmp_tokens;
	dest->icmp_stamp = old->icmp_stamp;
}

/* Put @dest into the table in place of an entry of the same key, if there is one.
 * An entry made meanwhile by somebody else, and still good, wins unless @replace.
 * Returns the entry that is in the table, or NULL; @dest is not put.
 */
static struct net6_dest *net6_dest_insert(struct net6_net *nn, struct net6_dest *dest,
					  bool replace)
{
	struct net6_dest *old, *now = NULL;

	spin_lock_bh(&nn->dest_lock);
	if (READ_ONCE(nn->exiting) || test_bit(NET6_IFACE_DEAD, &dest->iface->flags))
		goto unlock;
	old = net6_dest_find(nn, &dest->key);
	if (old && !replace && net6_dest_valid(old)) {
		now = net6_dest_hold(old);
		goto unlock;
	}
	if (old) {
		net6_dest_inherit(dest, old);
		net6_dest_unlink(nn, old);
	} else if (atomic_read(&nn->dest_count) >= READ_ONCE(nn->limits.max_dests)) {
		net6_dest_evict(nn);
	}
	if (rhashtable_insert_fast(&nn->dests, &dest->node, net6_dest_params))
		goto unlock;
	dest->lru_stamp = jiffies;
	list_add_tail(&dest->lru, &nn->dest_lru);
	atomic_inc(&nn->dest_count);
	NET6_INC(nn, Ip6DestCreated);
	now = net6_dest_hold(dest);		/* the caller's beside the table's */
unlock:
	spin_unlock_bh(&nn->dest_lock);
	return now;
}

static u32 net6_dest_route_mtu(const struct net6_metrics *metrics)
{
	u32 mtu = net6_metric(metrics, RTAX_MTU);

	return mtu ? max_t(u32, mtu, NET6_MIN_MTU) : U32_MAX;
}

/* What the core obeys is copied: who sends looks at the destination alone. */
static void net6_dest_obey(struct net6_dest *dest, const struct net6_metrics *m)
{
	u32 advmss = net6_metric(m, RTAX_ADVMSS);

	dest->own_hops = net6_metric(m, RTAX_HOPLIMIT);
	dest->hops = dest->own_hops ? &dest->own_hops : &dest->iface->cur_hop_limit;
	dest->advmss = advmss ? max_t(u32, advmss, TCP_MIN_MSS) : 0;
	dest->route_mtu = net6_dest_route_mtu(m);
}

/* A link without addresses brings all to its other end, and so does a tunnel with one far end. What
 * is reached directly has one neighbor there, ::. Else each destination that a stranger names would
 * make one.
 */
static const struct in6_addr *net6_dest_neigh_addr(const struct net6_nexthop *nh)
{
	u32 flags = nh->iface->ops->flags;

	if ((nh->flags & (NET6_DEST_ONLINK | NET6_DEST_MULTICAST)) && (flags & NET6_LINK_RAW))
		return &in6addr_any;
	if ((nh->flags & NET6_DEST_ONLINK) && (flags & NET6_LINK_POINTOPOINT) &&
	    !(flags & NET6_LINK_ND))
		return &in6addr_any;
	return &nh->addr;
}

/* A new entry that nobody else knows. Its one reference is the one that the table will hold. */
static struct net6_dest *net6_dest_alloc(struct net6_net *nn, const struct net6_dest_key *key,
					 const struct net6_nexthop *nh)
{
	struct net6_dest *dest = kmem_cache_zalloc(net6_dest_cache, GFP_ATOMIC);

	if (!dest)
		return NULL;
	dest->key = *key;
	dest->nn = nn;
	dest->flags = nh->flags | (key->rule ? NET6_DEST_RULED : 0) |
		      (net6_iface_keeps_dst(nh->iface) ? NET6_DEST_TUNNEL : 0);
	dest->table = nh->table;
	dest->route = nh->route;
	dest->iface = net6_iface_get(nh->iface);
	dest->ifindex = nh->ifindex;
	/* One that is just going was changed: this entry is stale, too. */
	dest->metrics = net6_metrics_hold(nh->metrics);
	net6_dest_obey(dest, dest->metrics);
	if (unlikely(nh->several))
		dest->spread = net6_spread_make(nn, nh);
	if (unlikely(dest->spread))
		dest->flags |= NET6_DEST_SEVERAL;
	dest->own_mtu = min(dest->route_mtu, max_t(u32, READ_ONCE(nh->iface->mtu), NET6_MIN_MTU));
	dest->pmtu = dest->own_mtu;
	dest->used = jiffies;
	dest->asked = jiffies - NET6_DEST_ASK;
	/* A full bucket, whatever its size: the first error must not be lost. */
	dest->icmp_tokens = U32_MAX;
	dest->icmp_stamp = jiffies;
	INIT_LIST_HEAD(&dest->lru);
	refcount_set(&dest->ref, 1);
	if (nh->flags & NET6_DEST_LOCAL)
		return dest;
	dest->neigh = net6_neigh_get_or_create(nh->iface, net6_dest_neigh_addr(nh));
	if (!dest->neigh) {
		net6_dest_put(dest);
		return NULL;
	}
	if (!(nh->flags & (NET6_DEST_ONLINK | NET6_DEST_MULTICAST)))
		net6_neigh_set_nexthop(dest->neigh);
	return dest;
}

/* Would packets still go to the router whose Redirect was taken, or to another default router? Not
 * after the route was removed, though it may have been set again.
 */
static bool net6_dest_redirect_holds(const struct net6_dest *old, const struct net6_nexthop *nh)
{
	const struct net6_router *router;

	if (nh->iface != old->iface || net6_forward_on(nh->iface))
		return false;
	if (nh->route == old->route)
		return ipv6_addr_equal(&nh->addr, &old->via);
	router = nh->router ? net6_router_find(nh->iface, &old->via) : NULL;
	return router && router->id == old->route;
}

/* RFC 4861 8.3: a Redirect's next hop is kept while it works, but not against what routes say now,
 * and not by a router (8.2).
 */
static void net6_dest_keep_redirect(const struct net6_dest *old, struct net6_nexthop *nh)
{
	if (!(old->flags & NET6_DEST_REDIRECTED) || !net6_dest_redirect_holds(old, nh) ||
	    READ_ONCE(old->neigh->dead) || !net6_neigh_reachable(old->neigh))
		return;
	nh->addr = old->neigh->addr;
	nh->route = old->route;
	nh->flags = old->flags & ~NET6_DEST_SOURCED;
	nh->several = NULL;
}

static int net6_dest_source(struct net6_net *nn, const struct in6_addr *daddr,
			    const struct net6_nexthop *nh, struct in6_addr *saddr)
{
	bool direct = nh->flags & (NET6_DEST_ONLINK | NET6_DEST_MULTICAST | NET6_DEST_LOCAL);

	if (nh->source && net6_source_usable(nh->source, nh->iface)) {
		*saddr = nh->source->addr;
		return 0;
	}
	/* An anycast address of ours is no source, whoever the sender is. */
	if ((nh->flags & NET6_DEST_LOCAL) && net6_addr_usable(nn, daddr, nh->ifindex)) {
		*saddr = *daddr;
		return 0;
	}
	return net6_srcaddr_select(nn, nh->iface, direct ? NULL : &nh->addr, daddr, 0, saddr);
}

/**
 * net6_dest_choose_saddr() - see to it that an entry has a source address
 * @dest: entry that the caller holds
 *
 * Context: any, does not sleep. Return: 0 or -EADDRNOTAVAIL.
 */
int net6_dest_choose_saddr(struct net6_dest *dest)
{
	struct net6_nexthop nh = {
		.iface		= dest->iface,
		.ifindex	= dest->ifindex,
		.flags		= dest->flags,
	};
	struct net6_net *nn = dest->nn;
	struct in6_addr saddr;
	int err;

	if (likely(net6_dest_has_saddr(dest)))
		return 0;
	/* A Redirect changes the next hop, not which router has told the prefix. */
	if (dest->neigh)
		nh.addr = dest->flags & NET6_DEST_REDIRECTED ? dest->via : dest->neigh->addr;
	rcu_read_lock();
	err = net6_dest_source(nn, &dest->key.daddr, &nh, &saddr);
	rcu_read_unlock();
	if (err < 0)
		return err;
	spin_lock_bh(&nn->dest_lock);
	if (!dest->has_saddr) {
		dest->saddr = saddr;
		smp_store_release(&dest->has_saddr, true);	/* net6_dest_has_saddr() */
	}
	spin_unlock_bh(&nn->dest_lock);
	return 0;
}

/* The route's word goes before all others. */
static noinline void net6_dest_take_source(struct net6_nexthop *nh, struct in6_addr *saddr)
{
	if (!net6_source_usable(nh->source, nh->iface))
		return;
	*saddr = nh->source->addr;
	nh->flags |= NET6_DEST_SOURCED;
}

/* Next hop. Source address, too, if the route asks for it, or if it is to say which default router:
 * RFC 8028.
 * Returns the flags of the next hop, or -errno.
 */
static int net6_dest_decide(struct net6_net *nn, const struct net6_dest_key *key,
			    const struct flowi6 *fl6, const struct net6_dest *old,
			    struct net6_nexthop *nh, struct in6_addr *saddr)
{
	struct net6_dest_key from = *key;
	const struct net6_table *table;
	int oif = key->oif;
	int err = net6_route_nexthop(nn, key, fl6, nh);

	*saddr = in6addr_any;
	if (err < 0)
		return err;
	if (nh->router && !key->first_hop && READ_ONCE(nn->n_routers) > 1) {
		err = net6_dest_source(nn, &key->daddr, nh, saddr);
		if (err < 0)
			return err;
		table = net6_l3mdev_scope(nn, &oif);
		from.first_hop = net6_first_hop(nn, table, saddr, oif);
		if (from.first_hop)
			err = net6_route_nexthop(nn, &from, fl6, nh);
	}
	if (err < 0)
		return err;
	if (old)
		net6_dest_keep_redirect(old, nh);
	if (unlikely(nh->source))
		net6_dest_take_source(nh, saddr);
	return err;
}

/* Decisions are made on what the generation counts: it is read before them, and what has been
 * changed before net6_dest_flush() has counted it is seen.
 */
static int net6_dest_gen(struct net6_net *nn)
{
	return atomic_read_acquire(&nn->dest_gen);
}

static struct net6_dest *net6_dest_make(struct net6_net *nn, const struct net6_dest_key *key,
					const struct flowi6 *fl6, const struct net6_dest *old)
{
	int gen = net6_dest_gen(nn);
	struct net6_dest *dest, *now;
	struct net6_nexthop nh;
	struct in6_addr saddr;
	int err;

	err = net6_dest_decide(nn, key, fl6, old, &nh, &saddr);
	if (err < 0)
		return ERR_PTR(err);
	dest = net6_dest_alloc(nn, key, &nh);
	if (!dest)
		return ERR_PTR(-ENOMEM);
	dest->gen = gen;
	dest->saddr = saddr;
	dest->has_saddr = !ipv6_addr_any(&saddr);
	if (nh.flags & NET6_DEST_REDIRECTED)
		dest->via = old->via;
	now = net6_dest_insert(nn, dest, false);
	if (now != dest)
		net6_dest_put(dest);
	return now ?: ERR_PTR(-ENOMEM);
}

/* It stays while it is used. */
static void net6_dest_use(struct net6_dest *dest)
{
	if (READ_ONCE(dest->used) != jiffies)
		WRITE_ONCE(dest->used, jiffies);
}

/* As net6_dest_lookup_key(), for who has asked rules for the key. */
static struct net6_dest *net6_dest_get(struct net6_net *nn, const struct net6_dest_key *key,
				       const struct flowi6 *fl6)
{
	struct net6_dest *dest;

	rcu_read_lock_bh();
	dest = net6_dest_find(nn, key);
	if (likely(dest && net6_dest_valid(dest) && refcount_inc_not_zero(&dest->ref))) {
		net6_dest_use(dest);
	} else {
		dest = net6_dest_make(nn, key, fl6, dest);
		if (IS_ERR(dest) && PTR_ERR(dest) == -ENETUNREACH)
			NET6_INC(nn, Ip6OutNoRoutes);
	}
	rcu_read_unlock_bh();
	return dest;
}

struct net6_dest *net6_dest_lookup_key(struct net6_net *nn, const struct net6_dest_key *key)
{
	return net6_dest_get(nn, key, NULL);
}

/**
 * net6_dest_cached() - what is remembered of a destination
 * @nn: namespace
 * @key: all that tells entries apart
 *
 * Context: RCU read lock held. Return: borrowed, perhaps stale; NULL if it is not remembered.
 */
struct net6_dest *net6_dest_cached(struct net6_net *nn, const struct net6_dest_key *key)
{
	return net6_dest_find(nn, key);
}

/* May one more come into the table by being forwarded to? Processors that ask at the same time may
 * count as one.
 */
static bool net6_dest_admits(struct net6_net *nn)
{
	bool full = atomic_read(&nn->dest_count) >= READ_ONCE(nn->limits.max_dests);
	unsigned int admitted = READ_ONCE(nn->dest_admitted);

	if (READ_ONCE(nn->dest_tick) != jiffies) {
		WRITE_ONCE(nn->dest_tick, jiffies);
		admitted = 0;
	} else if (admitted >= (full ? NET6_DEST_ADMIT_FULL : NET6_DEST_ADMIT)) {
		return false;
	}
	WRITE_ONCE(nn->dest_admitted, admitted + 1);
	return true;
}

/* The next hop of one packet, without an entry and without a source. */
static int net6_dest_pass(struct net6_net *nn, const struct net6_dest_key *key,
			  const struct flowi6 *fl6, const struct sk_buff *skb,
			  struct net6_hop *hop)
{
	struct net6_dest_key way = *key;
	struct net6_nexthop nh;
	int err = net6_route_unicast(nn, key, fl6, &nh);

	if (unlikely(err >= 0 && nh.several)) {
		way.first_hop = net6_spread_of_packet(nn, &nh, skb);
		if (way.first_hop)
			err = net6_route_unicast(nn, &way, fl6, &nh);
	}
	if (err < 0)
		return err;
	hop->flags = nh.flags;
	hop->mtu = net6_dest_route_mtu(nh.metrics);
	hop->neigh = NULL;
	if (nh.flags & NET6_DEST_LOCAL)
		return 0;
	hop->neigh = nh.neigh ?: net6_neigh_find_or_create(nh.iface, net6_dest_neigh_addr(&nh));
	return hop->neigh ? 0 : -ENOMEM;
}

static void net6_dest_pass_by(const struct net6_dest *dest, struct net6_hop *hop)
{
	hop->neigh = dest->neigh;
	hop->flags = dest->flags;
	hop->mtu = dest->route_mtu;
}

static int net6_dest_forward_way(struct net6_net *nn, const struct net6_dest *dest,
				 const struct flowi6 *fl6, const struct sk_buff *skb,
				 struct net6_hop *hop);

/* There is no entry, or one that is to be made anew in its place. */
static int net6_dest_forward_new(struct net6_net *nn, const struct net6_dest_key *key,
				 const struct flowi6 *fl6, struct net6_dest *old,
				 const struct sk_buff *skb, struct net6_hop *hop)
{
	struct net6_dest *dest;
	int err = 0;

	if (!old && !net6_dest_admits(nn))
		return net6_dest_pass(nn, key, fl6, skb, hop);
	dest = net6_dest_make(nn, key, fl6, old);
	if (IS_ERR(dest))
		return PTR_ERR(dest);
	if (unlikely(dest->flags & NET6_DEST_SEVERAL))
		err = net6_dest_forward_way(nn, dest, fl6, skb, hop);
	else
		net6_dest_pass_by(dest, hop);
	net6_dest_put(dest);
	return err;
}

/* By one of several next hops, the flow's. */
static noinline int net6_dest_forward_way(struct net6_net *nn, const struct net6_dest *dest,
					  const struct flowi6 *fl6, const struct sk_buff *skb,
					  struct net6_hop *hop)
{
	struct net6_dest_key way = dest->key;
	struct net6_dest *found;

	way.first_hop = net6_spread_way(dest->spread, net6_spread_hash_packet(nn, skb));
	found = net6_dest_find(nn, &way);
	if (unlikely(!found || !net6_dest_valid(found)))
		return net6_dest_forward_new(nn, &way, fl6, found, skb, hop);
	net6_dest_use(found);
	net6_dest_pass_by(found, hop);
	return 0;
}

/**
 * net6_dest_forward() - where a packet of somebody else goes
 * @nn: namespace
 * @key: destination: not ours when it was last asked, unicast and not link-local; any interface
 * @fl6: what rules are asked for it, by whose hash the key is; NULL without rules
 * @skb: the packet, data at the IPv6 header
 * @hop: filled; good within the RCU section
 *
 * What is known of the destination is looked for first. No reference is taken: what an entry holds
 * is there for the RCU section, be the entry gone or not. Context: BH disabled, RCU read lock held;
 * does not sleep. Return: 0 or -errno, as net6_dest_lookup_key().
 */
int net6_dest_forward(struct net6_net *nn, const struct net6_dest_key *key,
		      const struct flowi6 *fl6, const struct sk_buff *skb, struct net6_hop *hop)
{
	struct net6_dest *dest = net6_dest_find(nn, key);
	int err;

	if (likely(dest && net6_dest_valid(dest))) {
		net6_dest_use(dest);
		if (unlikely(dest->flags & NET6_DEST_SEVERAL))
			return net6_dest_forward_way(nn, dest, fl6, skb, hop);
		net6_dest_pass_by(dest, hop);
		return 0;
	}
	err = net6_dest_forward_new(nn, key, fl6, dest, skb, hop);
	if (err == -ENETUNREACH)
		NET6_INC(nn, Ip6OutNoRoutes);
	return err;
}

/**
 * net6_dest_router() - which default router a source address asks for
 * @nn: namespace
 * @saddr: source, :: or a group if it is not settled
 * @oif: interface index, 0 for any
 *
 * Context: any. Return: what is in a key for it, see struct net6_dest_key.
 */
u32 net6_dest_router(struct net6_net *nn, const struct in6_addr *saddr, int oif)
{
	const struct net6_table *table;
	u32 id;

	if (likely(READ_ONCE(nn->n_routers) < 2) || ipv6_addr_any(saddr) ||
	    ipv6_addr_is_multicast(saddr))
		return 0;
	rcu_read_lock();
	table = net6_l3mdev_scope(nn, &oif);
	id = net6_first_hop(nn, table, saddr, oif);
	rcu_read_unlock();
	return id ?: NET6_DEST_SETTLED;
}

/* Of several next hops the flow's. Gives the reference on @dest back. */
static noinline struct net6_dest *net6_dest_flow_way(struct net6_dest *dest,
						     const struct flowi6 *fl6,
						     const struct in6_addr *saddr,
						     const struct net6_flow *flow)
{
	struct net6_dest_key way = dest->key;
	struct net6_net *nn = dest->nn;

	way.first_hop = net6_spread_way(dest->spread,
					net6_spread_hash(nn, saddr, &way.daddr, flow));
	net6_dest_put(dest);
	return net6_dest_get(nn, &way, fl6);
}

static struct net6_dest *net6_dest_lookup_sourced(struct net6_net *nn,
						  const struct net6_dest_key *key,
						  const struct flowi6 *fl6,
						  const struct in6_addr *saddr,
						  const struct net6_flow *flow)
{
	struct net6_dest *dest = net6_dest_get(nn, key, fl6);
	int err;

	if (!IS_ERR(dest) && unlikely(dest->flags & NET6_DEST_SEVERAL))
		dest = net6_dest_flow_way(dest, fl6, saddr, flow);
	if (!ipv6_addr_any(saddr) || IS_ERR(dest) || likely(net6_dest_has_saddr(dest)))
		return dest;
	err = net6_dest_choose_saddr(dest);
	if (!err)
		return dest;
	net6_dest_put(dest);
	return ERR_PTR(err);
}

static noinline struct net6_dest *net6_dest_lookup_ruled(struct net6_net *nn,
							 struct net6_dest_key *key,
							 const struct in6_addr *saddr,
							 const struct net6_flow *flow)
{
	struct flowi6 fl6;

	net6_rules_ask(nn, key, saddr, flow, &fl6);
	key->rule = net6_rules_hash(nn, &fl6);
	return net6_dest_lookup_sourced(nn, key, &fl6, saddr, flow);
}

struct net6_dest *net6_dest_lookup_flow(struct net6_net *nn, const struct in6_addr *saddr,
					const struct in6_addr *daddr, int oif,
					const struct net6_flow *flow)
{
	struct net6_dest_key key = {
		.daddr		= *daddr,
		.oif		= oif,
		.first_hop	= net6_dest_router(nn, saddr, oif),
	};

	if (net6_rules_on(nn))
		return net6_dest_lookup_ruled(nn, &key, saddr, flow);
	return net6_dest_lookup_sourced(nn, &key, NULL, saddr, flow);
}

/**
 * net6_dest_redirect() - a better next hop for a destination, RFC 4861 8.3
 * @old: the destination, through the router that has sent the Redirect
 * @target: the next hop, or the destination itself if that is on-link
 *
 * The message was found valid by its receiver, by @old. If that is stale by now, the new entry is
 * stale as well. Context: BH disabled, RCU read lock held.
 */
void net6_dest_redirect(const struct net6_dest *old, const struct in6_addr *target)
{
	struct net6_nexthop nh = {
		.iface		= old->iface,
		.addr		= *target,
		.ifindex	= old->ifindex,
		.flags		= NET6_DEST_REDIRECTED |
				  (old->flags & (NET6_DEST_ONE_WAY | NET6_DEST_SOURCED)),
		.metrics	= old->metrics,
		.table		= old->table,
		.route		= old->route,
	};
	struct net6_dest *dest;

	if (ipv6_addr_equal(&old->key.daddr, target))
		nh.flags |= NET6_DEST_ONLINK;
	dest = net6_dest_alloc(old->nn, &old->key, &nh);
	if (!dest)
		return;
	dest->gen = READ_ONCE(old->gen);
	/* RFC 8028 3.4: it is about packets of the source that has led to the router. */
	dest->has_saddr = net6_dest_has_saddr(old);
	if (dest->has_saddr)
		dest->saddr = old->saddr;
	dest->via = old->flags & NET6_DEST_REDIRECTED ? old->via : old->neigh->addr;
	net6_dest_insert(old->nn, dest, true);
	net6_dest_put(dest);
}

static void net6_dest_drop(struct net6_net *nn, const struct net6_iface *iface)
{
	struct net6_dest *dest, *next;

	spin_lock_bh(&nn->dest_lock);
	list_for_each_entry_safe(dest, next, &nn->dest_lru, lru)
		if (!iface || dest->iface == iface)
			net6_dest_unlink(nn, dest);
	spin_unlock_bh(&nn->dest_lock);
}

/**
 * net6_dest_iface_gone() - forget destinations that are reached through an interface
 * @iface: DEAD, so that no new ones come
 *
 * Context: any.
 */
void net6_dest_iface_gone(struct net6_iface *iface)
{
	net6_dest_flush(iface->nn);
	net6_dest_drop(iface->nn, iface);
}

/**
 * net6_dest_purge() - forget all destinations, learned path MTUs and redirects too
 * @nn: namespace
 *
 * Context: any.
 */
void net6_dest_purge(struct net6_net *nn)
{
	net6_dest_flush(nn);
	net6_dest_drop(nn, NULL);
}

/**
 * net6_dest_net_init() - a namespace's empty cache
 * @nn: namespace
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_dest_net_init(struct net6_net *nn)
{
	INIT_LIST_HEAD(&nn->dest_lru);
	spin_lock_init(&nn->dest_lock);
	return rhashtable_init(&nn->dests, &net6_dest_params);
}

/**
 * net6_dest_net_exit() - end of a namespace's cache
 * @nn: namespace that neither sends nor receives any more
 *
 * Context: process, sleeps.
 */
void net6_dest_net_exit(struct net6_net *nn)
{
	net6_dest_drop(nn, NULL);
	WARN_ON_ONCE(atomic_read(&nn->dest_count));
	rhashtable_destroy(&nn->dests);
}

/**
 * net6_dest_init() - set the destination cache up
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_dest_init(void)
{
	net6_dest_cache = kmem_cache_create("net6_dest", sizeof(struct net6_dest), 0,
					    SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL);
	return net6_dest_cache ? 0 : -ENOMEM;
}

/**
 * net6_dest_exit() - end of the destination cache; nobody holds an entry
 *
 * Context: process, sleeps.
 */
void net6_dest_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(net6_dest_cache);
}
