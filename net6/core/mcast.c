// SPDX-License-Identifier: GPL-2.0
/* The addresses that we receive for [ADE], and the groups among them: counted joins
 * that carry the link-layer group with them.
 */
#include <linux/etherdevice.h>
#include <linux/rculist.h>
#include <net/addrconf.h>
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

static struct net6_accept *net6_accept_new(struct net6_iface *iface, const struct in6_addr *addr,
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

static void net6_accept_free(struct net6_accept *accept)
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

static int net6_group_link(struct net6_iface *iface, const struct in6_addr *group, bool join)
{
	u8 lladdr[MAX_ADDR_LEN] = {};

	/* Interface-local groups are never on the wire (RFC 4291 2.7). */
	if (IPV6_ADDR_MC_SCOPE(group) <= IPV6_ADDR_SCOPE_NODELOCAL)
		return 0;
	iface->ops->map_multicast(iface, group, lladdr);
	return iface->ops->set_multicast(iface, lladdr, join);
}

static int net6_group_first(struct net6_iface *iface, const struct in6_addr *group,
			    const struct net6_mld_filter *filter)
{
	struct net6_accept *accept;
	int err;

	err = net6_group_link(iface, group, true);
	if (err)
		return err;
	err = net6_mld_change(iface, group, NULL, filter);
	if (err)
		goto err_link;
	accept = net6_accept_new(iface, group, NET6_ACCEPT_MULTICAST);
	if (accept) {
		list_add_tail_rcu(&accept->list, &iface->groups);
		return 0;
	}
	err = -ENOMEM;
	net6_mld_change(iface, group, filter, NULL);
err_link:
	net6_group_link(iface, group, false);
	return err;
}

static void net6_group_last(struct net6_iface *iface, struct net6_accept *accept)
{
	net6_group_link(iface, &accept->addr, false);
	net6_accept_free(accept);
}

/**
 * net6_group_change_locked() - a member comes to a group, goes, or changes its filter
 * @iface: interface
 * @group: multicast address
 * @old: what it wanted till now, NULL if it joins
 * @new: what it wants, NULL if it leaves
 *
 * Context: nn->lock held.
 * Return: 0, -EINVAL (no group), -ENODEV (interface is going), -EADDRNOTAVAIL (no
 * member, or not any more), -ENOMEM, -ENOBUFS (too many members or sources), or what
 * the link says.
 */
int net6_group_change_locked(struct net6_iface *iface, const struct in6_addr *group,
			     const struct net6_mld_filter *old,
			     const struct net6_mld_filter *new)
{
	struct net6_accept *accept = net6_accept_own(iface, group, NET6_ACCEPT_MULTICAST);
	int err;

	if (!ipv6_addr_is_multicast(group))
		return -EINVAL;
	if (new && test_bit(NET6_IFACE_DEAD, &iface->flags))
		return -ENODEV;
	if (old && !accept)
		return -EADDRNOTAVAIL;
	if (!accept)
		return net6_group_first(iface, group, new);
	if (!old && accept->users == U32_MAX)
		return -ENOBUFS;
	err = net6_mld_change(iface, group, old, new);
	if (err)
		return err;
	accept->users += !!new - !!old;
	if (!accept->users)
		net6_group_last(iface, accept);
	return 0;
}

/**
 * net6_group_join_locked() - become a member of a group, or one more time
 * @iface: interface
 * @group: multicast address
 *
 * Context: nn->lock held. Return: as net6_group_change_locked().
 */
int net6_group_join_locked(struct net6_iface *iface, const struct in6_addr *group)
{
	return net6_group_change_locked(iface, group, NULL, &net6_mld_any);
}

/**
 * net6_group_leave_locked() - undo one join
 * @iface: interface
 * @group: multicast address
 *
 * Context: nn->lock held. Return: 0 or -EADDRNOTAVAIL (no member, or not any more).
 */
int net6_group_leave_locked(struct net6_iface *iface, const struct in6_addr *group)
{
	return net6_group_change_locked(iface, group, &net6_mld_any, NULL);
}

/**
 * net6_group_leave_all() - end of all memberships
 * @iface: interface that goes
 *
 * Context: nn->lock held, DEAD set.
 */
void net6_group_leave_all(struct net6_iface *iface)
{
	struct net6_accept *accept, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(accept, next, &iface->groups, list)
		net6_group_last(iface, accept);
}

/**
 * net6_accept_full() - one more group or anycast address of a socket is too many
 * @iface: interface
 * @addr: it; may be joined already
 * @type: NET6_ACCEPT_MULTICAST or NET6_ACCEPT_ANYCAST
 *
 * Our own (solicited-node groups, ...) are as few as what they belong to, and not asked for.
 * Context: nn->lock held. Return: true after it was counted.
 */
bool net6_accept_full(struct net6_iface *iface, const struct in6_addr *addr,
		      enum net6_accept_type type)
{
	if (iface->n_groups < READ_ONCE(iface->nn->limits.max_groups) ||
	    net6_accept_own(iface, addr, type))
		return false;
	NET6_INC(iface->nn, MldGroupLimit);
	return true;
}

/**
 * net6_group_change() - as net6_group_change_locked(), for sockets
 * @iface: interface
 * @group: multicast address
 * @old: what the socket wanted till now, NULL if it joins
 * @new: what it wants, NULL if it leaves
 *
 * Context: any but hard interrupts; takes nn->lock.
 * Return: as there; -ENOBUFS also beyond limits.max_groups.
 */
int net6_group_change(struct net6_iface *iface, const struct in6_addr *group,
		      const struct net6_mld_filter *old, const struct net6_mld_filter *new)
{
	int err;

	spin_lock_bh(&iface->nn->lock);
	if (!old && net6_accept_full(iface, group, NET6_ACCEPT_MULTICAST))
		err = -ENOBUFS;
	else
		err = net6_group_change_locked(iface, group, old, new);
	spin_unlock_bh(&iface->nn->lock);
	return err;
}

/**
 * net6_group_join() - a socket that names no sources joins
 * @iface: interface
 * @group: multicast address
 *
 * Context: any but hard interrupts; takes nn->lock. Return: as net6_group_change().
 */
int net6_group_join(struct net6_iface *iface, const struct in6_addr *group)
{
	return net6_group_change(iface, group, NULL, &net6_mld_any);
}
