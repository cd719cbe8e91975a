// SPDX-License-Identifier: GPL-2.0
/* Is it ours? The addresses that we receive for [ADE] are in two tables. One knows each entry by
 * address and interface. The other has each unicast and anycast address once for each routing
 * table that interfaces are at home in, whatever the number of its interfaces. Groups among them
 * are mcast.c's to join.
 */
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/rhashtable.h>
#include <net/ipv6.h>

#include "addr.h"

/**
 * struct net6_accept_key - what an entry is known by
 * @on: address and interface; must be first, for only this is hashed
 * @type: enum net6_accept_type
 */
struct net6_accept_key {
	struct net6_addr_key	on;
	u8			type;
};

static int net6_accept_own_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct net6_accept_key *key = arg->key;
	const struct net6_accept *accept = obj;

	return accept->iface != key->on.iface || accept->type != key->type ||
	       !ipv6_addr_equal(&accept->addr, &key->on.addr);
}

static const struct rhashtable_params net6_accept_own_params = {
	.key_len		= sizeof(struct net6_addr_key),
	.key_offset		= offsetof(struct net6_accept, addr),
	.head_offset		= offsetof(struct net6_accept, own_node),
	.obj_cmpfn		= net6_accept_own_cmp,
	.automatic_shrinking	= true,
};

/**
 * struct net6_accept_any_key - what an address is found by that any interface may have
 * @addr: address
 * @table: number of the routing table that these interfaces are at home in
 */
struct net6_accept_any_key {
	struct in6_addr	addr;
	u32		table;
};

static u32 net6_accept_any_hash_of(const struct in6_addr *addr, u32 table, u32 seed)
{
	return jhash2((__force const u32 *)addr->s6_addr32, ARRAY_SIZE(addr->s6_addr32),
		      seed ^ table);
}

static u32 net6_accept_any_hash(const void *data, u32 len, u32 seed)
{
	const struct net6_accept_any_key *key = data;

	return net6_accept_any_hash_of(&key->addr, key->table, seed);
}

static u32 net6_accept_any_obj_hash(const void *data, u32 len, u32 seed)
{
	const struct net6_accept *accept = data;

	return net6_accept_any_hash_of(&accept->addr, accept->table, seed);
}

static int net6_accept_any_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct net6_accept_any_key *key = arg->key;
	const struct net6_accept *accept = obj;

	return READ_ONCE(accept->table) != key->table ||
	       !ipv6_addr_equal(&accept->addr, &key->addr);
}

static const struct rhashtable_params net6_accept_any_params = {
	.key_len		= sizeof(struct net6_accept_any_key),
	.head_offset		= offsetof(struct net6_accept, any_node),
	.hashfn			= net6_accept_any_hash,
	.obj_hashfn		= net6_accept_any_obj_hash,
	.obj_cmpfn		= net6_accept_any_cmp,
	.automatic_shrinking	= true,
};

#define NET6_ACCEPT_RECENT	8	/* a power of 2 */

/**
 * struct net6_accept_recent - an answer that a processor had for a packet
 * @table: routing table whose interfaces were asked about
 * @generation: net6_accept_generation before the look-up. The answer holds while it is the same
 * @accept: the entry, NULL if packets to @addr are not for us
 * @addr: address, not a scoped one
 */
struct net6_accept_recent {
	const struct net6_table		*table;
	s64				generation;
	const struct net6_accept	*accept;
	struct in6_addr			addr;
};

/* By address; touched in softirq only. */
static DEFINE_PER_CPU_ALIGNED(struct net6_accept_recent [NET6_ACCEPT_RECENT], accept_recent);

/* Goes on with each change of any namespace's second table: after the change, and before the grace
 * period of what was taken out. Who finds it unchanged may still use what was found then.
 */
static atomic64_t net6_accept_generation __read_mostly = ATOMIC64_INIT(1);

static void net6_accept_changed(void)
{
	/* Pairs with net6_accept_find_rcv(). */
	atomic64_inc_return_release(&net6_accept_generation);
}

/* Flattened, as net6_accept_find(). RCU read lock, BH disabled, or nn->lock held. */
static noinline __flatten struct net6_accept *net6_accept_lookup(const struct net6_iface *iface,
								 const struct in6_addr *addr,
								 enum net6_accept_type type)
{
	const struct net6_accept_key key = {
		.on.addr	= *addr,
		.on.iface	= iface,
		.type		= type,
	};

	return rhashtable_lookup_fast(&iface->nn->accept_own, &key, net6_accept_own_params);
}

/* Does the answer depend on the interface? Groups and link-local addresses are accepted on their
 * own only; a link-local one also where our own packets to it come back up.
 */
static bool net6_accept_is_scoped(const struct in6_addr *addr, const struct net6_iface *iface)
{
	if (likely(addr->s6_addr[0] < 0xfe))
		return false;
	if (addr->s6_addr[0] == 0xff)
		return true;
	/* fe80::/10; fec0::/10 is like any other */
	return !(addr->s6_addr[1] & 0x40) && addr->s6_addr[1] & 0x80 &&
	       !net6_iface_is_loopback(iface);
}

static const struct net6_accept *net6_accept_scoped(const struct in6_addr *addr,
						    const struct net6_iface *iface)
{
	if (!iface)
		return NULL;
	if (ipv6_addr_is_multicast(addr))
		return net6_accept_lookup(iface, addr, NET6_ACCEPT_MULTICAST);
	return net6_accept_lookup(iface, addr, NET6_ACCEPT_UNICAST) ?:
	       net6_accept_lookup(iface, addr, NET6_ACCEPT_ANYCAST);
}

/* The entry that stands for an address in the second table. It is on each packet's way, so the hash
 * is computed here, for keys of one length. RCU read lock, BH disabled, or nn->lock held.
 */
static noinline __flatten struct net6_accept *net6_accept_lead(struct net6_net *nn,
							       const struct in6_addr *addr,
							       u32 table)
{
	const struct net6_accept_any_key key = { .addr = *addr, .table = table };

	return rhashtable_lookup_fast(&nn->accept_any, &key, net6_accept_any_params);
}

/**
 * net6_accept_in() - do we receive packets to an address that no interface has for itself?
 * @nn: namespace
 * @addr: address
 * @table: number of the routing table that has it
 *
 * Context: RCU read lock held. Return: as net6_accept_find().
 */
const struct net6_accept *net6_accept_in(struct net6_net *nn, const struct in6_addr *addr,
					 u32 table)
{
	return net6_accept_lead(nn, addr, table);
}

/**
 * net6_accept_find() - do we receive packets to this address?
 * @nn: namespace
 * @addr: destination address
 * @iface: interface the packet came in on; NULL is for addresses that no interface has for itself,
 *	and none of a VRF's
 *
 * One look-up, whatever the number of interfaces and groups.
 * Context: RCU read lock held. Return: the entry or NULL; a unicast one before an anycast one.
 */
const struct net6_accept *net6_accept_find(struct net6_net *nn, const struct in6_addr *addr,
					   const struct net6_iface *iface)
{
	if (unlikely(net6_accept_is_scoped(addr, iface)))
		return net6_accept_scoped(addr, iface);
	return net6_accept_lead(nn, addr, iface ? net6_iface_table(iface)->id : RT_TABLE_MAIN);
}

/**
 * net6_accept_find_rcv() - the same for a packet that has come in
 * @nn: namespace
 * @addr: destination address
 * @iface: interface it came in on
 *
 * Most packets are to the addresses of those before them.
 * Context: softirq or BH disabled, RCU read lock held. Return: as net6_accept_find().
 */
const struct net6_accept *net6_accept_find_rcv(struct net6_net *nn, const struct in6_addr *addr,
					       const struct net6_iface *iface)
{
	const struct net6_table *table = net6_iface_table(iface);
	struct net6_accept_recent *recent;
	s64 generation;

	if (unlikely(net6_accept_is_scoped(addr, iface)))
		return net6_accept_scoped(addr, iface);
	recent = this_cpu_ptr(&accept_recent[addr->s6_addr[15] % NET6_ACCEPT_RECENT]);
	/* Pairs with net6_accept_changed(). */
	generation = atomic64_read_acquire(&net6_accept_generation);
	if (unlikely(recent->generation != generation || recent->table != table ||
		     !ipv6_addr_equal(&recent->addr, addr))) {
		recent->accept = net6_accept_lead(nn, addr, table->id);
		recent->generation = generation;
		recent->table = table;
		recent->addr = *addr;
	}
	return recent->accept;
}

/**
 * net6_accept_assigned() - is it a unicast address of any interface?
 * @nn: namespace
 * @addr: address
 * @table: number of the routing table that these interfaces are at home in
 *
 * Context: RCU read lock held. Return: true if one has it assigned, also as an optimistic one.
 */
bool net6_accept_assigned(struct net6_net *nn, const struct in6_addr *addr, u32 table)
{
	const struct net6_accept *accept;

	accept = net6_accept_lead(nn, addr, table);
	return accept && accept->type == NET6_ACCEPT_UNICAST;
}

/**
 * net6_accept_own_gateway() - is what is to be a router on an interface this host itself?
 * @iface: interface
 * @gateway: address of the router
 *
 * As native: a link-local address on that interface, any other one on all that belong to the same
 * VRF or to none. Context: RCU read lock held. Return: true if it is.
 */
bool net6_accept_own_gateway(const struct net6_iface *iface, const struct in6_addr *gateway)
{
	if (ipv6_addr_type(gateway) & IPV6_ADDR_LINKLOCAL)
		return net6_accept_on(iface, gateway, NET6_ACCEPT_UNICAST);
	return net6_accept_assigned(iface->nn, gateway, net6_iface_table(iface)->id);
}

/**
 * net6_accept_on() - as net6_accept_own(), for readers
 * @iface: interface
 * @addr: address
 * @type: one address may be unicast and anycast
 *
 * Context: RCU read lock held. Return: entry or NULL.
 */
const struct net6_accept *net6_accept_on(const struct net6_iface *iface,
					 const struct in6_addr *addr, enum net6_accept_type type)
{
	return net6_accept_lookup(iface, addr, type);
}

/**
 * net6_accept_own() - the entry of an interface itself
 * @iface: interface
 * @addr: address
 * @type: one address may be unicast and anycast
 *
 * Context: nn->lock held. Return: entry or NULL.
 */
struct net6_accept *net6_accept_own(struct net6_iface *iface, const struct in6_addr *addr,
				    enum net6_accept_type type)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	return net6_accept_lookup(iface, addr, type);
}

/* Entries of one address and table are in a ring, of which the first is in the second table.
 * Unicast ones are in front, the newest first, then anycast ones. nn->lock held.
 */
static int net6_accept_enter(struct net6_net *nn, struct net6_accept *accept)
	__must_hold(&nn->lock)
{
	struct net6_accept *lead;
	int err = 0;

	WRITE_ONCE(accept->table, net6_iface_table(accept->iface)->id);
	lead = net6_accept_lead(nn, &accept->addr, accept->table);
	INIT_LIST_HEAD(&accept->same);
	if (!lead)
		err = rhashtable_insert_fast(&nn->accept_any, &accept->any_node,
					     net6_accept_any_params);
	else if (accept->type == NET6_ACCEPT_UNICAST)
		err = rhashtable_replace_fast(&nn->accept_any, &lead->any_node, &accept->any_node,
					      net6_accept_any_params);
	if (!err && lead)
		list_add_tail(&accept->same, &lead->same);
	net6_accept_changed();
	return err;
}

/* nn->lock held. */
static void net6_accept_leave(struct net6_net *nn, struct net6_accept *accept)
	__must_hold(&nn->lock)
{
	struct net6_accept *next;

	if (net6_accept_lead(nn, &accept->addr, accept->table) != accept) {
		list_del(&accept->same);
		return;
	}
	if (list_empty(&accept->same)) {
		rhashtable_remove_fast(&nn->accept_any, &accept->any_node, net6_accept_any_params);
	} else {
		next = list_first_entry(&accept->same, struct net6_accept, same);
		list_del(&accept->same);
		rhashtable_replace_fast(&nn->accept_any, &accept->any_node, &next->any_node,
					net6_accept_any_params);
	}
	net6_accept_changed();
}

/* Of one list: they were entered for a table that is not the interface's any more. Without memory
 * nothing is received for an address until it is set again.
 */
static void net6_accept_move_list(struct net6_net *nn, struct list_head *list)
	__must_hold(&nn->lock)
{
	struct net6_accept *accept;

	list_for_each_entry(accept, list, list) {
		net6_accept_leave(nn, accept);
		if (net6_accept_enter(nn, accept))
			net_warn_ratelimited("net6: no memory to receive for %pI6c\n",
					     &accept->addr);
	}
}

/**
 * net6_accept_move() - an interface is at home in another routing table
 * @iface: interface, on which no packets flow
 *
 * Context: nn->lock held.
 */
void net6_accept_move(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	net6_accept_move_list(iface->nn, &iface->unicast);
	net6_accept_move_list(iface->nn, &iface->anycast);
}

static struct list_head *net6_accept_list(struct net6_iface *iface, enum net6_accept_type type)
{
	switch (type) {
	case NET6_ACCEPT_UNICAST:
		return &iface->unicast;
	case NET6_ACCEPT_ANYCAST:
		return &iface->anycast;
	case NET6_ACCEPT_MULTICAST:
		break;
	}
	return &iface->groups;
}

/**
 * net6_accept_new() - a new entry, with one user
 * @iface: its interface
 * @addr: address that it has no entry of this type for
 * @type: enum net6_accept_type
 *
 * Context: nn->lock held. Return: entry or NULL (no memory).
 */
struct net6_accept *net6_accept_new(struct net6_iface *iface, const struct in6_addr *addr,
				    enum net6_accept_type type)
	__must_hold(&iface->nn->lock)
{
	struct net6_accept *accept = kzalloc(sizeof(*accept), GFP_ATOMIC | __GFP_ACCOUNT);
	struct net6_net *nn = iface->nn;

	static_assert(offsetof(struct net6_accept, iface) - offsetof(struct net6_accept, addr) ==
		      offsetof(struct net6_addr_key, iface));
	lockdep_assert_held(&nn->lock);
	if (!accept)
		return NULL;
	accept->addr = *addr;
	accept->iface = iface;
	accept->type = type;
	accept->users = 1;
	if (rhashtable_insert_fast(&nn->accept_own, &accept->own_node, net6_accept_own_params))
		goto err_free;
	if (type != NET6_ACCEPT_MULTICAST && net6_accept_enter(nn, accept))
		goto err_own;
	list_add_tail_rcu(&accept->list, net6_accept_list(iface, type));
	return accept;

err_own:
	rhashtable_remove_fast(&nn->accept_own, &accept->own_node, net6_accept_own_params);
err_free:
	kfree_rcu(accept, rcu);
	return NULL;
}

/**
 * net6_accept_free() - end of an entry
 * @accept: entry, freed after a grace period
 *
 * Context: nn->lock held.
 */
void net6_accept_free(struct net6_accept *accept)
	__must_hold(&accept->iface->nn->lock)
{
	struct net6_net *nn = accept->iface->nn;

	lockdep_assert_held(&nn->lock);
	rhashtable_remove_fast(&nn->accept_own, &accept->own_node, net6_accept_own_params);
	if (accept->type != NET6_ACCEPT_MULTICAST)
		net6_accept_leave(nn, accept);
	list_del_rcu(&accept->list);
	kfree_rcu(accept, rcu);
}

/**
 * net6_accept_add() - receive for a unicast or anycast address
 * @iface: its interface
 * @addr: address
 * @type: not NET6_ACCEPT_MULTICAST, which net6_group_join() makes
 *
 * Context: nn->lock held. Return: 0, -EEXIST or -ENOMEM.
 */
int net6_accept_add(struct net6_iface *iface, const struct in6_addr *addr,
		    enum net6_accept_type type)
	__must_hold(&iface->nn->lock)
{
	if (net6_accept_own(iface, addr, type))
		return -EEXIST;
	return net6_accept_new(iface, addr, type) ? 0 : -ENOMEM;
}

/**
 * net6_accept_del() - no longer receive for an address
 * @iface: its interface
 * @addr: address; may be absent
 * @type: not NET6_ACCEPT_MULTICAST
 *
 * Context: nn->lock held.
 */
void net6_accept_del(struct net6_iface *iface, const struct in6_addr *addr,
		     enum net6_accept_type type)
	__must_hold(&iface->nn->lock)
{
	struct net6_accept *accept = net6_accept_own(iface, addr, type);

	if (accept)
		net6_accept_free(accept);
}

/**
 * net6_accept_net_init() - a namespace that receives for nothing yet
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_accept_net_init(struct net6_net *nn)
{
	int err = rhashtable_init(&nn->accept_own, &net6_accept_own_params);

	if (err)
		return err;
	err = rhashtable_init(&nn->accept_any, &net6_accept_any_params);
	if (err)
		rhashtable_destroy(&nn->accept_own);
	return err;
}

/**
 * net6_accept_net_exit() - end of the tables
 * @nn: namespace; its interfaces are gone, and nobody looks
 *
 * Context: process, sleeps.
 */
void net6_accept_net_exit(struct net6_net *nn)
{
	rhashtable_destroy(&nn->accept_any);
	rhashtable_destroy(&nn->accept_own);
}
