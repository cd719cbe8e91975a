// SPDX-License-Identifier: GPL-2.0
/* Groups that an interface is a member of: counted joins that carry the link-layer group
 * with them. What we receive for is in accept.c.
 */
#include <linux/etherdevice.h>
#include <linux/rculist.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "addr.h"
#include "claim.h"

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
	__must_hold(&iface->nn->lock)
{
	struct net6_accept *accept;
	int err;

	err = net6_group_link(iface, group, true);
	if (err)
		return err;
	err = -ENOMEM;
	accept = net6_accept_new(iface, group, NET6_ACCEPT_MULTICAST);
	if (!accept)
		goto err_link;
	err = net6_mld_change(iface, accept, NULL, filter);
	if (!err)
		return 0;
	net6_accept_free(accept);
err_link:
	net6_group_link(iface, group, false);
	return err;
}

static void net6_group_last(struct net6_iface *iface, struct net6_accept *accept)
	__must_hold(&iface->nn->lock)
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
	__must_hold(&iface->nn->lock)
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
	err = net6_mld_change(iface, accept, old, new);
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
	__must_hold(&iface->nn->lock)
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
	__must_hold(&iface->nn->lock)
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
	__must_hold(&iface->nn->lock)
{
	struct net6_accept *accept, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(accept, next, &iface->groups, list)
		net6_group_last(iface, accept);
}

/**
 * net6_group_change() - as net6_group_change_locked(), for sockets
 * @iface: interface
 * @group: multicast address
 * @uid: the socket's owner when it joined
 * @old: what the socket wanted till now, NULL if it joins
 * @new: what it wants, NULL if it leaves
 *
 * Context: any but hard interrupts; takes nn->lock.
 * Return: as there; -ENOBUFS also beyond limits.max_groups.
 */
int net6_group_change(struct net6_iface *iface, const struct in6_addr *group, kuid_t uid,
		      const struct net6_mld_filter *old, const struct net6_mld_filter *new)
{
	int err = 0;

	spin_lock_bh(&iface->nn->lock);
	if (!old)
		err = net6_claim_take(iface, group, uid);
	if (err)
		goto unlock;
	err = net6_group_change_locked(iface, group, old, new);
	/* A group that is left is given back even if the interface has forgotten it. */
	if (!new || (!old && err))
		net6_claim_give(iface, group, uid);
unlock:
	spin_unlock_bh(&iface->nn->lock);
	return err;
}

/**
 * net6_group_join() - as net6_group_join_locked(), for net6 itself
 * @iface: interface
 * @group: multicast address
 *
 * No limit applies. Context: any but hard interrupts; takes nn->lock. Return: as there.
 */
int net6_group_join(struct net6_iface *iface, const struct in6_addr *group)
{
	int err;

	spin_lock_bh(&iface->nn->lock);
	err = net6_group_join_locked(iface, group);
	spin_unlock_bh(&iface->nn->lock);
	return err;
}
