// SPDX-License-Identifier: GPL-2.0
/* Is it ours? The addresses that we receive for [ADE]. Groups among them are mcast.c's to join. */
#include <linux/rculist.h>
#include <net/ipv6.h>

#include "addr.h"

/* Link-local addresses and groups are accepted on their own interface only; a
 * link-local one also where our own packets to it come back up.
 */
static bool net6_accept_on(const struct net6_accept *accept, const struct net6_iface *iface)
{
	if (accept->iface == iface)
		return true;
	if (accept->type == NET6_ACCEPT_MULTICAST)
		return false;
	return !(ipv6_addr_type(&accept->addr) & IPV6_ADDR_LINKLOCAL) ||
	       net6_iface_is_loopback(iface);
}

/**
 * net6_accept_find() - do we receive packets to this address?
 * @nn: namespace
 * @addr: destination address
 * @iface: interface the packet came in on
 *
 * Context: RCU read lock held. Return: the entry or NULL.
 */
const struct net6_accept *net6_accept_find(struct net6_net *nn, const struct in6_addr *addr,
					   const struct net6_iface *iface)
{
	const struct net6_accept *accept;

	hlist_for_each_entry_rcu(accept, &nn->accept_hash[net6_addr_bucket(nn, addr)], hash_node)
		if (ipv6_addr_equal(&accept->addr, addr) && net6_accept_on(accept, iface))
			return accept;
	return NULL;
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
{
	struct net6_net *nn = iface->nn;
	struct net6_accept *accept;

	lockdep_assert_held(&nn->lock);
	hlist_for_each_entry(accept, &nn->accept_hash[net6_addr_bucket(nn, addr)], hash_node)
		if (accept->iface == iface && accept->type == type &&
		    ipv6_addr_equal(&accept->addr, addr))
			return accept;
	return NULL;
}

/**
 * net6_accept_new() - a new entry, with one user
 * @iface: its interface
 * @addr: address that it has no entry of this type for
 * @type: enum net6_accept_type; a group's entry is put into iface->groups by the caller
 *
 * Context: nn->lock held. Return: entry or NULL (no memory).
 */
struct net6_accept *net6_accept_new(struct net6_iface *iface, const struct in6_addr *addr,
				    enum net6_accept_type type)
{
	struct net6_net *nn = iface->nn;
	struct hlist_head *bucket = &nn->accept_hash[net6_addr_bucket(nn, addr)];
	struct net6_accept *accept = kzalloc(sizeof(*accept), GFP_ATOMIC | __GFP_ACCOUNT);

	if (!accept)
		return NULL;
	accept->addr = *addr;
	accept->iface = iface;
	accept->type = type;
	accept->users = 1;
	iface->n_groups += type != NET6_ACCEPT_UNICAST;
	INIT_LIST_HEAD(&accept->list);
	/* Behind a unicast address of the same bits: that one is found. */
	if (type == NET6_ACCEPT_ANYCAST) {
		list_add_tail_rcu(&accept->list, &iface->anycast);
		hlist_add_tail_rcu(&accept->hash_node, bucket);
	} else {
		hlist_add_head_rcu(&accept->hash_node, bucket);
	}
	return accept;
}

/**
 * net6_accept_free() - end of an entry
 * @accept: entry, freed after a grace period
 *
 * Context: nn->lock held.
 */
void net6_accept_free(struct net6_accept *accept)
{
	hlist_del_rcu(&accept->hash_node);
	if (accept->type != NET6_ACCEPT_UNICAST) {
		list_del_rcu(&accept->list);
		accept->iface->n_groups--;
	}
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
{
	struct net6_accept *accept = net6_accept_own(iface, addr, type);

	if (accept)
		net6_accept_free(accept);
}
