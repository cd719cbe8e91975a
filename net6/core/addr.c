// SPDX-License-Identifier: GPL-2.0
/* Unicast addresses of ours [NTE]: their table. Their lives are in addr_life.c and dad.c; who makes
 * them in addr_set.c, addr_form.c and tempaddr.c.
 */
#include <linux/rculist.h>
#include <linux/rhashtable.h>
#include <net/ipv6.h>

#include "../observe/note.h"
#include "addr.h"
#include "addr_chain.h"
#include "l3mdev.h"
#include "source.h"

static int net6_addr_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct net6_addr_key *key = arg->key;
	const struct net6_addr *addr = obj;

	return addr->iface != key->iface || !ipv6_addr_equal(&addr->addr, &key->addr);
}

static const struct rhashtable_params net6_addr_params = {
	.key_len		= sizeof(struct net6_addr_key),
	.key_offset		= offsetof(struct net6_addr, addr),
	.head_offset		= offsetof(struct net6_addr, node),
	.obj_cmpfn		= net6_addr_cmp,
	.automatic_shrinking	= true,
};

/**
 * net6_addr_find() - an address of an interface, in whatever state
 * @iface: interface
 * @addr: address
 *
 * Context: RCU read lock or nn->lock held. Return: borrowed entry or NULL.
 */
struct net6_addr *net6_addr_find(const struct net6_iface *iface, const struct in6_addr *addr)
{
	const struct net6_addr_key key = { .addr = *addr, .iface = iface };

	return rhashtable_lookup_fast(&iface->nn->addrs, &key, net6_addr_params);
}

struct net6_addr *net6_addr_find_locked(struct net6_iface *iface, const struct in6_addr *addr)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	return net6_addr_find(iface, addr);
}

/**
 * net6_addr_usable() - may a socket have this source address?
 * @nn: namespace
 * @addr: address
 * @ifindex: interface it is to be used on, 0 for any; matters for link-local ones and ::1, and
 *	says which VRF's it is to be
 *
 * Context: RCU read lock held. Return: true if it is assigned; optimistic ones are, too.
 */
bool net6_addr_usable(struct net6_net *nn, const struct in6_addr *addr, int ifindex)
{
	bool scoped = ipv6_addr_type(addr) & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_LOOPBACK);
	const struct net6_iface *iface;
	const struct net6_addr *a;

	if (!scoped || !ifindex)
		return net6_accept_assigned(nn, addr, net6_l3mdev_scope(nn, &ifindex)->id);
	iface = net6_iface_find(nn, ifindex);
	a = iface ? net6_addr_find(iface, addr) : NULL;
	return a && net6_addr_is_assigned(a);
}

/* Is it in iface->formed? It never changes. */
static bool net6_addr_is_formed(const struct net6_addr *addr)
{
	return addr->origin != NET6_ADDR_MANUAL ||
	       ipv6_addr_type(&addr->addr) & IPV6_ADDR_LINKLOCAL;
}

/**
 * net6_addr_linklocal() - the link-local address of an interface
 * @iface: interface
 * @addr: filled in
 *
 * Context: RCU read lock held. Return: false if none is assigned, or only an optimistic one.
 */
bool net6_addr_linklocal(const struct net6_iface *iface, struct in6_addr *addr)
{
	const struct net6_addr *a;

	list_for_each_entry_rcu(a, &iface->formed, formed_list) {
		if (net6_addr_in_dad(a) || !net6_addr_is_assigned(a) ||
		    !(ipv6_addr_type(&a->addr) & IPV6_ADDR_LINKLOCAL))
			continue;
		*addr = a->addr;
		return true;
	}
	return false;
}

/**
 * net6_addr_put() - give a reference back
 * @addr: address
 *
 * Context: any.
 */
void net6_addr_put(struct net6_addr *addr)
{
	if (!refcount_dec_and_test(&addr->ref))
		return;
	net6_iface_put(addr->iface);
	kfree_rcu(addr, rcu);
}

/**
 * net6_addr_take() - an address is as is wished from now on
 * @a: address
 * @wish: how it is to be; its prefix length is not taken
 *
 * Context: the caller keeps other writers away.
 */
void net6_addr_take(struct net6_addr *a, const struct net6_addr_wish *wish)
{
	WRITE_ONCE(a->flags, wish->flags);
	WRITE_ONCE(a->proto, wish->proto);
	a->metric = wish->metric;
	a->peer = wish->peer;
	a->valid_lft = wish->valid_lft;
	a->preferred_lft = wish->preferred_lft;
}

/**
 * net6_addr_new() - put an address on an interface; DAD is for the caller to start
 * @iface: interface
 * @addr: unicast address
 * @origin: where it comes from
 * @wish: how it is to be
 *
 * Context: nn->lock held. Return: the address, or an error as of net6_addr_insert().
 */
struct net6_addr *net6_addr_new(struct net6_iface *iface, const struct in6_addr *addr,
				enum net6_addr_origin origin, const struct net6_addr_wish *wish)
	__must_hold(&iface->nn->lock)
{
	struct net6_net *nn = iface->nn;
	int err = net6_iface_refuses(iface);
	struct net6_addr *a;

	if (err)
		return ERR_PTR(err);
	if (net6_addr_find_locked(iface, addr))
		return ERR_PTR(-EEXIST);
	if (origin == NET6_ADDR_MANUAL && net6_iface_manual_full(iface))
		return ERR_PTR(-ENOSPC);
	a = kzalloc(sizeof(*a), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!a)
		return ERR_PTR(-ENOMEM);

	a->addr = *addr;
	a->iface = net6_iface_get(iface);
	a->plen = wish->plen;
	a->state = NET6_ADDR_TENTATIVE;
	a->origin = origin;
	net6_addr_take(a, wish);
	a->updated = jiffies;
	a->created = jiffies;
	a->temp_preferred = wish->preferred_lft;
	timer_setup(&a->timer, net6_addr_timer_fn, 0);
	refcount_set(&a->ref, 1);
	if (rhashtable_insert_fast(&nn->addrs, &a->node, net6_addr_params)) {
		net6_addr_put(a);
		return ERR_PTR(-ENOMEM);
	}
	list_add_tail_rcu(&a->iface_list, &iface->addrs);
	if (net6_addr_is_formed(a))
		list_add_tail_rcu(&a->formed_list, &iface->formed);
	if (origin == NET6_ADDR_SLAAC || origin == NET6_ADDR_TEMPORARY)
		iface->n_addrs++;
	iface->n_manual += origin == NET6_ADDR_MANUAL;
	net6_addr_chain_queue(a);
	net6_note_addr(a, NET6_NOTE_NEW);
	return a;
}

/**
 * net6_addr_insert() - put an address on an interface and start DAD if it is up
 * @iface: interface
 * @addr: unicast address
 * @plen: prefix length, bits
 * @origin: where it comes from
 * @valid_lft: seconds
 * @preferred_lft: seconds, at most @valid_lft
 * @dad_counter: RFC 7217 DAD_Counter it was made with
 *
 * Context: nn->lock held.
 * Return: 0, -EEXIST, -ENODEV (interface is going), -EACCES (disabled), -ENOSPC (limit of
 * manual ones), -ENOMEM.
 */
int net6_addr_insert(struct net6_iface *iface, const struct in6_addr *addr, u8 plen,
		     enum net6_addr_origin origin, u32 valid_lft, u32 preferred_lft,
		     u8 dad_counter)
	__must_hold(&iface->nn->lock)
{
	const struct net6_addr_wish wish = {
		.plen		= plen,
		.valid_lft	= valid_lft,
		.preferred_lft	= preferred_lft,
	};
	struct net6_addr *a = net6_addr_new(iface, addr, origin, &wish);

	if (IS_ERR(a))
		return PTR_ERR(a);
	a->dad_counter = dad_counter;
	/* RFC 4862 5.4.2: a random delay, except for what a person has set. */
	if (net6_iface_usable(iface))
		net6_dad_start(a, origin != NET6_ADDR_MANUAL);
	return 0;
}

/**
 * net6_addr_remove() - take an address out of the tables
 * @addr: address; the tables' reference is given back
 *
 * Context: nn->lock held.
 */
void net6_addr_remove(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	net6_addr_unassign(addr);
	WRITE_ONCE(addr->state, NET6_ADDR_GONE);
	net6_source_end(addr);
	net6_addr_chain_queue(addr);
	net6_note_addr(addr, NET6_NOTE_DEL);
	rhashtable_remove_fast(&addr->iface->nn->addrs, &addr->node, net6_addr_params);
	list_del_rcu(&addr->iface_list);
	if (net6_addr_is_formed(addr))
		list_del_rcu(&addr->formed_list);
	if (addr->origin == NET6_ADDR_SLAAC || addr->origin == NET6_ADDR_TEMPORARY)
		addr->iface->n_addrs--;
	addr->iface->n_manual -= addr->origin == NET6_ADDR_MANUAL;
	net6_addr_put(addr);
}

/**
 * net6_addr_net_init() - a namespace without addresses
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_addr_net_init(struct net6_net *nn)
{
	static_assert(offsetof(struct net6_addr, iface) - offsetof(struct net6_addr, addr) ==
		      offsetof(struct net6_addr_key, iface));
	return rhashtable_init(&nn->addrs, &net6_addr_params);
}

/**
 * net6_addr_net_exit() - end of the table
 * @nn: namespace; its interfaces are gone, and nobody looks
 *
 * Context: process, sleeps.
 */
void net6_addr_net_exit(struct net6_net *nn)
{
	rhashtable_destroy(&nn->addrs);
}
