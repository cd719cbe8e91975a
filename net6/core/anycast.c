// SPDX-License-Identifier: GPL-2.0
/* Anycast addresses, RFC 4291 2.6: those that sockets join, and the subnet-router anycast
 * addresses of a router (2.6.1). They are received for like unicast addresses, without
 * Duplicate Address Detection (RFC 4862 5.4), and are never a source.
 */
#include <linux/rculist.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "addr.h"
#include "anycast.h"
#include "claim.h"
#include "forward.h"
#include "nd.h"

/* RFC 6164 5.1: on a link of two routers the subnet-router anycast address is the other's. */
#define NET6_ANYCAST_SUBNET_MAX		126	/* bits */

static bool net6_anycast_solicits(const struct net6_iface *iface)
{
	return iface->ops->flags & NET6_LINK_ND;
}

/* Received for from now on, by one more user. nn->lock held. */
static int net6_anycast_inc(struct net6_iface *iface, const struct in6_addr *addr)
	__must_hold(&iface->nn->lock)
{
	struct net6_accept *accept;
	struct in6_addr group;
	int err;

	lockdep_assert_held(&iface->nn->lock);
	if (test_bit(NET6_IFACE_DEAD, &iface->flags))
		return -ENODEV;
	accept = net6_accept_own(iface, addr, NET6_ACCEPT_ANYCAST);
	if (accept) {
		if (accept->users == U32_MAX)
			return -ENOBUFS;
		accept->users++;
		return 0;
	}
	addrconf_addr_solict_mult(addr, &group);
	if (net6_anycast_solicits(iface)) {
		/* RFC 4291 2.8: of each unicast and anycast address */
		err = net6_group_join_locked(iface, &group);
		if (err)
			return err;
	}
	err = net6_accept_add(iface, addr, NET6_ACCEPT_ANYCAST);
	if (err && net6_anycast_solicits(iface))
		net6_group_leave_locked(iface, &group);
	if (!err)
		net6_dest_flush(iface->nn);
	return err;
}

/* Nobody asks for the address any more. nn->lock held. */
static void net6_anycast_free(struct net6_iface *iface, struct net6_accept *accept)
	__must_hold(&iface->nn->lock)
{
	struct in6_addr group;

	addrconf_addr_solict_mult(&accept->addr, &group);
	net6_accept_del(iface, &accept->addr, NET6_ACCEPT_ANYCAST);
	if (net6_anycast_solicits(iface))
		net6_group_leave_locked(iface, &group);
	net6_dest_flush(iface->nn);
}

static void net6_anycast_dec(struct net6_iface *iface, const struct in6_addr *addr)
	__must_hold(&iface->nn->lock)
{
	struct net6_accept *accept;

	lockdep_assert_held(&iface->nn->lock);
	accept = net6_accept_own(iface, addr, NET6_ACCEPT_ANYCAST);
	if (accept && !--accept->users)
		net6_anycast_free(iface, accept);
}

/* Is it in a subnet that the interface has an address in, or that is on-link there? */
static bool net6_anycast_on_subnet(const struct net6_iface *iface, const struct in6_addr *addr)
{
	const struct net6_prefix *prefix;
	const struct net6_addr *a;

	list_for_each_entry(a, &iface->addrs, iface_list)
		if (ipv6_prefix_equal(&a->addr, addr, a->plen))
			return true;
	list_for_each_entry(prefix, &iface->prefixes, life.list)
		if (ipv6_prefix_equal(&prefix->prefix, addr, prefix->plen))
			return true;
	return false;
}

/**
 * net6_anycast_join() - receive for an anycast address, or one socket more
 * @iface: interface
 * @addr: address, neither a group nor an address of ours
 * @uid: the socket's owner
 *
 * A host has only addresses of its links' subnets: routes would have to lead to others.
 * Context: any but hard interrupts; takes nn->lock.
 * Return: 0; -EADDRNOTAVAIL (a host, and not of this link); -ENODEV (the interface is
 * going), -ENOMEM, -ENOBUFS (too many sockets or addresses), or what the link says of the group.
 */
int net6_anycast_join(struct net6_iface *iface, const struct in6_addr *addr, kuid_t uid)
{
	int err;

	spin_lock_bh(&iface->nn->lock);
	err = net6_claim_take(iface, addr, uid);
	if (err)
		goto unlock;
	err = -EADDRNOTAVAIL;
	if (net6_forward_on(iface) || net6_anycast_on_subnet(iface, addr))
		err = net6_anycast_inc(iface, addr);
	if (err)
		net6_claim_give(iface, addr, uid);
unlock:
	spin_unlock_bh(&iface->nn->lock);
	return err;
}

/**
 * net6_anycast_leave() - undo one join
 * @iface: interface; may be gone, and its addresses with it
 * @addr: address
 * @uid: the socket's owner when it joined
 *
 * Context: any but hard interrupts; takes nn->lock.
 */
void net6_anycast_leave(struct net6_iface *iface, const struct in6_addr *addr, kuid_t uid)
{
	spin_lock_bh(&iface->nn->lock);
	net6_claim_give(iface, addr, uid);
	net6_anycast_dec(iface, addr);
	spin_unlock_bh(&iface->nn->lock);
}

/**
 * net6_anycast_find() - is this an anycast address of an interface?
 * @iface: interface
 * @addr: address
 *
 * Context: RCU read lock held.
 */
bool net6_anycast_find(const struct net6_iface *iface, const struct in6_addr *addr)
{
	return net6_accept_on(iface, addr, NET6_ACCEPT_ANYCAST);
}

/**
 * net6_anycast_subnet_router() - the subnet-router anycast address of an address' subnet
 * @addr: address of ours that is assigned, or about to go
 * @on: it is received for if the interface is a router, or no more
 *
 * RFC 4291 2.6.1: the prefix, followed by zeros. Context: nn->lock held.
 */
void net6_anycast_subnet_router(struct net6_addr *addr, bool on)
	__must_hold(&addr->iface->nn->lock)
{
	struct net6_iface *iface = addr->iface;
	struct in6_addr anycast;

	on = on && net6_forward_on(iface) && !net6_iface_is_loopback(iface) &&
	     addr->plen <= NET6_ANYCAST_SUBNET_MAX;
	if (on == addr->subnet_router)
		return;
	ipv6_addr_prefix(&anycast, &addr->addr, addr->plen);
	if (!on)
		net6_anycast_dec(iface, &anycast);
	else if (ipv6_addr_any(&anycast) || net6_anycast_inc(iface, &anycast))
		return;
	addr->subnet_router = on;
}

/**
 * net6_anycast_set_router() - a host has become a router, or a router a host
 * @iface: interface whose forwarding was changed
 *
 * Context: nn->lock held.
 */
void net6_anycast_set_router(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_addr *addr;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry(addr, &iface->addrs, iface_list)
		net6_anycast_subnet_router(addr, net6_addr_is_assigned(addr));
}

/**
 * net6_anycast_leave_all() - end of all anycast addresses
 * @iface: interface that goes
 *
 * Context: nn->lock held, DEAD set.
 */
void net6_anycast_leave_all(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_accept *accept, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(accept, next, &iface->anycast, list)
		net6_anycast_free(iface, accept);
}
