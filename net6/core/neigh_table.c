// SPDX-License-Identifier: GPL-2.0
/* The neighbor cache's entries: a hash table per interface, bounded; made, found, evicted,
 * removed. neigh.c says what happens to an entry while it is there.
 */
#include <linux/rhashtable.h>

#include "../observe/note.h"
#include "nd.h"
#include "neigh_table.h"

/* How far eviction looks for a victim that nobody has used of late. */
#define NET6_NEIGH_EVICT_SCAN	32

static int net6_neigh_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct net6_neigh *neigh = obj;

	return !ipv6_addr_equal(&neigh->addr, arg->key);
}

static const struct rhashtable_params net6_neigh_params = {
	.key_len		= sizeof(struct in6_addr),
	.key_offset		= offsetof(struct net6_neigh, addr),
	.head_offset		= offsetof(struct net6_neigh, node),
	.obj_cmpfn		= net6_neigh_cmp,
	.automatic_shrinking	= true,
};

/**
 * net6_neigh_find() - look a neighbor up
 * @iface: interface
 * @addr: its address
 *
 * Flattened, so that the hash is computed here, for keys of one length.
 * Context: RCU read lock held. Return: borrowed entry or NULL.
 */
__flatten struct net6_neigh *net6_neigh_find(struct net6_iface *iface,
					     const struct in6_addr *addr)
{
	if (test_bit(NET6_IFACE_DEAD, &iface->flags))
		return NULL;
	return rhashtable_lookup_fast(&iface->neighs, addr, net6_neigh_params);
}

/**
 * net6_neigh_put() - give a reference back
 * @neigh: entry
 *
 * Context: any.
 */
void net6_neigh_put(struct net6_neigh *neigh)
{
	if (!refcount_dec_and_test(&neigh->ref))
		return;
	net6_iface_put(neigh->iface);
	kfree_rcu(neigh, rcu);
}

/**
 * net6_neigh_drop_queue() - drop packets that waited for an entry
 * @iface: the entry's interface
 * @queue: what is left empty
 * @reason: why
 *
 * Context: any; no locks of net6 held.
 */
void net6_neigh_drop_queue(struct net6_iface *iface, struct sk_buff_head *queue,
			   enum net6_drop_reason reason)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue)))
		net6_drop(iface->nn, skb, reason);
}

/* It is among the unresolved no more. */
static void net6_neigh_settle(struct net6_neigh *neigh)
{
	if (list_empty(&neigh->unresolved))
		return;
	list_del_init(&neigh->unresolved);
	neigh->iface->n_unresolved--;
}

/* Take an entry out of the table; its packets go to @queue. The table's reference
 * is given back.
 */
static void net6_neigh_unlink(struct net6_neigh *neigh, struct sk_buff_head *queue)
	__must_hold(&neigh->iface->neigh_lock)
{
	struct net6_iface *iface = neigh->iface;
	u8 was;

	lockdep_assert_held(&iface->neigh_lock);
	rhashtable_remove_fast(&iface->neighs, &neigh->node, net6_neigh_params);
	list_del(&neigh->lru);
	net6_neigh_settle(neigh);
	atomic_dec(&iface->n_neighs);

	spin_lock(&neigh->lock);
	was = neigh->state;
	neigh->dead = true;
	WRITE_ONCE(neigh->state, NET6_NEIGH_NONE);
	net6_note_neigh(neigh, was, NET6_NOTE_DEL);
	net6_neigh_take_queue(neigh, queue);
	net6_neigh_disarm(neigh);
	spin_unlock(&neigh->lock);
	net6_neigh_put(neigh);
}

static bool net6_neigh_must_stay(const struct net6_neigh *neigh)
{
	return READ_ONCE(neigh->flags) & (NET6_NEIGH_F_MANUAL | NET6_NEIGH_F_ROUTER);
}

/* It need not stay any more: it is among those that may go, if it was set aside. */
static void net6_neigh_release(struct net6_neigh *neigh)
	__must_hold(&neigh->iface->neigh_lock)
{
	if (neigh->dead || net6_neigh_must_stay(neigh))
		return;
	neigh->lru_stamp = jiffies;
	list_move_tail(&neigh->lru, &neigh->iface->neigh_lru);
}

/**
 * net6_neigh_let_go() - an entry that the administrator had set may be evicted
 * @neigh: entry, its flags changed already
 *
 * Context: BH disabled; takes neigh_lock.
 */
void net6_neigh_let_go(struct net6_neigh *neigh)
{
	spin_lock_bh(&neigh->iface->neigh_lock);
	net6_neigh_release(neigh);
	spin_unlock_bh(&neigh->iface->neigh_lock);
}

/**
 * net6_neigh_list() - all entries of an interface
 * @iface: interface, its neigh_lock held
 *
 * Context: any.
 * Return: a list of them by @lru; those that were set aside are back in it.
 */
struct list_head *net6_neigh_list(struct net6_iface *iface)
	__must_hold(&iface->neigh_lock)
{
	lockdep_assert_held(&iface->neigh_lock);
	list_splice_init(&iface->neigh_kept, &iface->neigh_lru);
	return &iface->neigh_lru;
}

static bool net6_neigh_unresolved(const struct net6_neigh *neigh)
{
	return BIT(READ_ONCE(neigh->state)) & (BIT(NET6_NEIGH_NONE) | BIT(NET6_NEIGH_INCOMPLETE) |
					       BIT(NET6_NEIGH_FAILED));
}

/* The oldest that has no link-layer address, if these are more than half of all; else NULL.
 * Entries that are being resolved are evicted before resolved ones (RFC 6583 7.1). A scan of the
 * prefix, whose addresses do not answer, takes half of the table. Solicitations that strangers
 * send bring an address each, and leave the neighbors that are being asked in peace.
 */
static struct net6_neigh *net6_neigh_victim_unresolved(struct net6_iface *iface)
{
	int scan = NET6_NEIGH_EVICT_SCAN;
	struct net6_neigh *neigh, *next;

	list_for_each_entry_safe(neigh, next, &iface->neigh_unresolved, unresolved) {
		if (iface->n_unresolved <= atomic_read(&iface->n_neighs) / 2 || !scan--)
			break;
		if (net6_neigh_unresolved(neigh) && !net6_neigh_must_stay(neigh))
			return neigh;
		net6_neigh_settle(neigh);
	}
	return NULL;
}

/* May it go, although there are others? Not if it was used of late, or is being resolved. */
static bool net6_neigh_idle(const struct net6_neigh *neigh)
{
	return READ_ONCE(neigh->state) != NET6_NEIGH_INCOMPLETE &&
	       !time_after(READ_ONCE(neigh->used), neigh->lru_stamp);
}

/* The entry to go when there is no room: the least recently used that is neither a router's nor
 * the administrator's. Those are set aside when they are met, until they need not stay any more.
 * Of the first others only an idle one is taken. Each that is passed goes behind all others, so
 * that the next search does not begin with it.
 */
static struct net6_neigh *net6_neigh_victim(struct net6_iface *iface)
	__must_hold(&iface->neigh_lock)
{
	int most = NET6_NEIGH_EVICT_SCAN + atomic_read(&iface->n_neighs), n = 0;
	struct net6_neigh *neigh = net6_neigh_victim_unresolved(iface), *next;

	lockdep_assert_held(&iface->neigh_lock);
	if (neigh)
		return neigh;
	list_for_each_entry_safe(neigh, next, &iface->neigh_lru, lru) {
		if (net6_neigh_must_stay(neigh)) {
			list_move_tail(&neigh->lru, &iface->neigh_kept);
			continue;
		}
		if (n++ == most)
			break;
		if (n > NET6_NEIGH_EVICT_SCAN || net6_neigh_idle(neigh))
			return neigh;
		neigh->lru_stamp = jiffies;
		list_move_tail(&neigh->lru, &iface->neigh_lru);
	}
	return NULL;
}

static bool net6_neigh_evict(struct net6_iface *iface, struct sk_buff_head *queue)
	__must_hold(&iface->neigh_lock)
{
	struct net6_neigh *neigh = net6_neigh_victim(iface);

	if (!neigh)
		return false;
	net6_neigh_unlink(neigh, queue);
	NET6_INC(iface->nn, NdNeighEvicted);
	return true;
}

/**
 * net6_neigh_write_header() - make the link header that packets are given
 * @neigh: entry; its lock held
 */
void net6_neigh_write_header(struct net6_neigh *neigh)
	__must_hold(&neigh->lock)
{
	const struct net6_link_ops *ops = neigh->iface->ops;
	u8 header[NET6_LINK_HEADER_MAX] = {};

	if (!ops->fill_header)
		return;
	ops->fill_header(neigh->iface, neigh->lladdr,
			 header + NET6_LINK_HEADER_MAX - ops->header_len);
	write_seqcount_begin(&neigh->header_seq);
	memcpy(neigh->header, header, sizeof(header));
	WRITE_ONCE(neigh->header_len, ops->header_len);
	write_seqcount_end(&neigh->header_seq);
}

/* The link-layer address that follows from the address itself. */
static void net6_neigh_map(struct net6_neigh *neigh)
{
	const struct net6_iface *iface = neigh->iface;

	if (!iface->ops->addr_len)
		return;
	if (ipv6_addr_is_multicast(&neigh->addr))
		iface->ops->map_multicast(iface, &neigh->addr, neigh->lladdr);
	else if (iface->ops->map_unicast)
		iface->ops->map_unicast(iface, &neigh->addr, neigh->lladdr);
}

/* Its state before anything is known of it. neigh->lock held. */
static void net6_neigh_begin(struct net6_neigh *neigh)
	__must_hold(&neigh->lock)
{
	const struct net6_iface *iface = neigh->iface;

	WRITE_ONCE(neigh->state, NET6_NEIGH_NONE);
	if (!net6_neigh_resolves(iface, &neigh->addr))
		net6_neigh_map(neigh);
	else if (net6_iface_asks_nobody(iface))
		memcpy(neigh->lladdr, iface->lladdr, iface->ops->addr_len);
	else
		return;
	WRITE_ONCE(neigh->state, NET6_NEIGH_PERMANENT);
	net6_neigh_write_header(neigh);
}

static struct net6_neigh *net6_neigh_alloc(struct net6_iface *iface, const struct in6_addr *addr)
{
	struct net6_neigh *neigh = kzalloc(sizeof(*neigh), GFP_ATOMIC | __GFP_ACCOUNT);

	if (!neigh)
		return NULL;
	neigh->addr = *addr;
	neigh->iface = net6_iface_get(iface);
	neigh->used = jiffies;
	neigh->lru_stamp = jiffies;
	INIT_LIST_HEAD(&neigh->unresolved);
	spin_lock_init(&neigh->lock);
	seqcount_spinlock_init(&neigh->header_seq, &neigh->lock);
	__skb_queue_head_init(&neigh->queue);
	timer_setup(&neigh->timer, net6_neigh_timer_fn, 0);
	refcount_set(&neigh->ref, 2);		/* the table's and the caller's */

	spin_lock_bh(&neigh->lock);
	net6_neigh_begin(neigh);
	spin_unlock_bh(&neigh->lock);
	return neigh;
}

/* One more to be resolved. An entry that was made before it, by a message with an address in it,
 * is resolved by now. It does not wait here for the oldest to leave.
 */
static void net6_neigh_await(struct net6_neigh *neigh)
{
	struct net6_iface *iface = neigh->iface;
	struct net6_neigh *last;

	if (!net6_neigh_unresolved(neigh))
		return;
	if (!list_empty(&iface->neigh_unresolved)) {
		last = list_last_entry(&iface->neigh_unresolved, struct net6_neigh, unresolved);
		if (!net6_neigh_unresolved(last))
			net6_neigh_settle(last);
	}
	list_add_tail(&neigh->unresolved, &iface->neigh_unresolved);
	iface->n_unresolved++;
}

/* Under iface->neigh_lock: the entry that is there, or @new after it went in. */
static struct net6_neigh *net6_neigh_insert(struct net6_iface *iface, struct net6_neigh *new,
					    struct sk_buff_head *queue)
	__must_hold(&iface->neigh_lock)
{
	struct net6_neigh *old;

	if (test_bit(NET6_IFACE_DEAD, &iface->flags))
		return NULL;
	old = rhashtable_lookup_fast(&iface->neighs, &new->addr, net6_neigh_params);
	if (old) {
		refcount_inc(&old->ref);
		return old;
	}
	if (atomic_read(&iface->n_neighs) >= READ_ONCE(iface->nn->limits.max_neighs) &&
	    !net6_neigh_evict(iface, queue)) {
		NET6_INC(iface->nn, NdNeighTableFull);
		return NULL;
	}
	if (rhashtable_insert_fast(&iface->neighs, &new->node, net6_neigh_params))
		return NULL;
	list_add_tail(&new->lru, &iface->neigh_lru);
	net6_neigh_await(new);
	atomic_inc(&iface->n_neighs);
	NET6_INC(iface->nn, NdNeighCreated);
	return new;
}

/**
 * net6_neigh_get_or_create() - a neighbor's entry, made if there is none
 * @iface: interface
 * @addr: unicast address or group on that link
 *
 * Context: RCU read lock held, BH disabled.
 * Return: a reference; NULL when the interface is going, memory is short or the
 * table is full of entries that must stay.
 */
struct net6_neigh *net6_neigh_get_or_create(struct net6_iface *iface,
					    const struct in6_addr *addr)
{
	struct net6_neigh *neigh = net6_neigh_find(iface, addr);
	struct sk_buff_head queue;
	struct net6_neigh *new;

	if (neigh && refcount_inc_not_zero(&neigh->ref))
		return neigh;
	new = net6_neigh_alloc(iface, addr);
	if (!new)
		return NULL;

	__skb_queue_head_init(&queue);
	spin_lock_bh(&iface->neigh_lock);
	neigh = net6_neigh_insert(iface, new, &queue);
	spin_unlock_bh(&iface->neigh_lock);
	net6_neigh_drop_queue(iface, &queue, NET6_DROP_NEIGH_DEAD);

	if (neigh != new) {
		net6_iface_put(iface);
		kfree(new);
	}
	return neigh;
}

/**
 * net6_neigh_find_or_create() - the same for a packet that goes out at once
 * @iface: interface
 * @addr: unicast address on that link
 *
 * Context: RCU read lock held, BH disabled. Return: borrowed, for the RCU section; else NULL.
 */
struct net6_neigh *net6_neigh_find_or_create(struct net6_iface *iface,
					     const struct in6_addr *addr)
{
	struct net6_neigh *neigh = net6_neigh_find(iface, addr);

	if (likely(neigh))
		return neigh;
	neigh = net6_neigh_get_or_create(iface, addr);
	if (neigh)
		net6_neigh_put(neigh);
	return neigh;
}

/**
 * net6_neigh_set_router() - mark an entry that the Default Router List refers to
 * @neigh: entry
 * @router: it is in the list from now on, or no more
 *
 * Context: any; nn->lock may be held.
 */
void net6_neigh_set_router(struct net6_neigh *neigh, bool router)
{
	struct net6_iface *iface = neigh->iface;

	spin_lock_bh(&iface->neigh_lock);
	spin_lock(&neigh->lock);
	if (router) {
		neigh->flags |= NET6_NEIGH_F_ROUTER;
		neigh->is_router = true;
	} else {
		neigh->flags &= ~NET6_NEIGH_F_ROUTER;
	}
	spin_unlock(&neigh->lock);
	net6_neigh_release(neigh);
	spin_unlock_bh(&iface->neigh_lock);
}

/**
 * net6_neigh_set_nexthop() - others are reached through this entry
 * @neigh: entry
 *
 * When it fails their next hops are chosen again. Context: any.
 */
void net6_neigh_set_nexthop(struct net6_neigh *neigh)
{
	if (READ_ONCE(neigh->flags) & NET6_NEIGH_F_NEXTHOP)
		return;
	spin_lock_bh(&neigh->lock);
	neigh->flags |= NET6_NEIGH_F_NEXTHOP;
	spin_unlock_bh(&neigh->lock);
}

/* A router's entry stays, for the list refers to it, and starts over. An address that it learns
 * from now on is not the administrator's.
 */
static void net6_neigh_reset(struct net6_neigh *neigh, struct sk_buff_head *queue)
{
	u8 was;

	spin_lock(&neigh->lock);
	was = neigh->state;
	net6_neigh_begin(neigh);
	neigh->flags &= ~(NET6_NEIGH_F_MANUAL | NET6_NEIGH_F_LOST | NET6_NEIGH_F_PROBE);
	net6_note_neigh(neigh, was, NET6_NOTE_CHANGE);
	net6_neigh_disarm(neigh);
	net6_neigh_take_queue(neigh, queue);
	spin_unlock(&neigh->lock);
}

/**
 * net6_neigh_remove() - take an entry out of the cache, or reset a router's
 * @neigh: entry, referenced or borrowed by the caller; may be gone already
 *
 * Context: RCU read lock held, any; no locks of net6 held.
 */
void net6_neigh_remove(struct net6_neigh *neigh)
{
	struct net6_iface *iface = neigh->iface;
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	spin_lock_bh(&iface->neigh_lock);
	if (neigh->flags & NET6_NEIGH_F_ROUTER)
		net6_neigh_reset(neigh, &queue);
	else if (!neigh->dead)
		net6_neigh_unlink(neigh, &queue);
	spin_unlock_bh(&iface->neigh_lock);
	net6_neigh_drop_queue(iface, &queue, NET6_DROP_NEIGH_DEAD);
	net6_dest_flush(iface->nn);
}

/* The entry stays, but our own link-layer address may be another; and on links without
 * resolution the neighbor's.
 */
static void net6_neigh_refresh(struct net6_neigh *neigh)
{
	spin_lock(&neigh->lock);
	if (!net6_neigh_resolves(neigh->iface, &neigh->addr))
		net6_neigh_map(neigh);
	net6_neigh_write_header(neigh);
	spin_unlock(&neigh->lock);
}

static void net6_neigh_clear(struct net6_iface *iface, bool all)
{
	bool gone = test_bit(NET6_IFACE_DEAD, &iface->flags);
	struct net6_neigh *neigh, *next;
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	spin_lock_bh(&iface->neigh_lock);
	list_for_each_entry_safe(neigh, next, net6_neigh_list(iface), lru) {
		bool listed = (neigh->flags & NET6_NEIGH_F_ROUTER) && !gone;
		bool mapped = !net6_neigh_resolves(iface, &neigh->addr);

		if (mapped ? !all || listed : !all && (neigh->flags & NET6_NEIGH_F_MANUAL))
			net6_neigh_refresh(neigh);
		else if (listed)
			net6_neigh_reset(neigh, &queue);
		else
			net6_neigh_unlink(neigh, &queue);
	}
	spin_unlock_bh(&iface->neigh_lock);
	net6_neigh_drop_queue(iface, &queue, NET6_DROP_NEIGH_DEAD);
	net6_dest_flush(iface->nn);
}

/**
 * net6_neigh_flush() - forget what was learned; the administrator's entries stay
 * @iface: interface
 *
 * Context: any; no locks of net6 held.
 */
void net6_neigh_flush(struct net6_iface *iface)
{
	net6_neigh_clear(iface, false);
}

/**
 * net6_neigh_purge() - forget all neighbors
 * @iface: interface that goes down or away; entries of routers that the administrator has
 *	set start over if it only goes down
 *
 * Context: any; no locks of net6 held.
 */
void net6_neigh_purge(struct net6_iface *iface)
{
	net6_neigh_clear(iface, true);
}

/**
 * net6_neigh_iface_init() - an interface's empty neighbor cache
 * @iface: interface being made
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_neigh_iface_init(struct net6_iface *iface)
{
	spin_lock_init(&iface->neigh_lock);
	INIT_LIST_HEAD(&iface->neigh_lru);
	INIT_LIST_HEAD(&iface->neigh_kept);
	INIT_LIST_HEAD(&iface->neigh_unresolved);
	return rhashtable_init(&iface->neighs, &net6_neigh_params);
}

/**
 * net6_neigh_iface_exit() - end of the cache
 * @iface: interface: DEAD, purged, and a grace period ago
 *
 * Context: process, sleeps.
 */
void net6_neigh_iface_exit(struct net6_iface *iface)
{
	WARN_ON_ONCE(atomic_read(&iface->n_neighs));
	rhashtable_destroy(&iface->neighs);
}
