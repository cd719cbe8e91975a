// SPDX-License-Identifier: GPL-2.0
/* The life of an address of ours: assigned when it is known to be unique, deprecated, invalid
 * (RFC 4862 5.5.4). DAD is in dad.c.
 */
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "../compat/timer.h"
#include "../observe/note.h"
#include "addr.h"
#include "anycast.h"
#include "nd.h"

/* Timers run at most that long; a later end is looked at again. */
#define NET6_ADDR_TIMER_MAX	(24 * 3600UL)	/* seconds */

/* nn->lock held. A pending timer holds a reference. */
void net6_addr_arm(struct net6_addr *addr, unsigned long delay)
	__must_hold(&addr->iface->nn->lock)
{
	lockdep_assert_held(&addr->iface->nn->lock);
	if (!mod_timer(&addr->timer, jiffies + max(delay, 1UL)))
		refcount_inc(&addr->ref);
}

static void net6_addr_disarm(struct net6_addr *addr)
{
	if (timer_delete(&addr->timer))
		net6_addr_put(addr);
}

/**
 * net6_addr_age() - apply what the lifetimes say now, wait for what they say next
 * @addr: address, not in DAD; if it is assigned, its state follows (RFC 4862 5.5.4)
 *
 * Context: nn->lock held. Return: false when the valid lifetime is over.
 */
bool net6_addr_age(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	u32 preferred = net6_lifetime_left(addr->preferred_lft, addr->updated);
	u32 valid = net6_lifetime_left(addr->valid_lft, addr->updated);
	u8 state = preferred ? NET6_ADDR_PREFERRED : NET6_ADDR_DEPRECATED;
	u32 next = preferred ?: valid;
	unsigned long delay;

	if (!valid)
		return false;
	if (net6_addr_is_assigned(addr) && addr->state != state) {
		WRITE_ONCE(addr->state, state);
		net6_note_addr(addr, NET6_NOTE_CHANGE);
		net6_dest_flush(addr->iface->nn);
	}
	if (addr->origin == NET6_ADDR_TEMPORARY && net6_addr_is_assigned(addr) && preferred)
		next = net6_temp_age(addr, preferred);
	delay = net6_life_delay(min_t(unsigned long, next, NET6_ADDR_TIMER_MAX) * HZ + 1);
	if (addr->announce_left == NET6_MAX_NEIGHBOR_ADVERTISEMENT)
		net6_addr_arm(addr, 1);
	else if (addr->announce_left)
		net6_addr_arm(addr, min(delay, READ_ONCE(addr->iface->retrans)));
	else if (valid == NET6_LIFETIME_INFINITE && (!preferred || preferred == valid))
		net6_addr_disarm(addr);
	else
		net6_addr_arm(addr, delay);
	return true;
}

/**
 * net6_addr_join_solicited() - take part in the solicited-node group
 * @addr: address, tentative or assigned
 *
 * RFC 4861 7.2.1. Context: nn->lock held. Return: 0 or -errno.
 */
int net6_addr_join_solicited(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	struct in6_addr group;
	int err;

	if (addr->joined || !(addr->iface->ops->flags & NET6_LINK_ND))
		return 0;
	addrconf_addr_solict_mult(&addr->addr, &group);
	err = net6_group_join_locked(addr->iface, &group);
	addr->joined = !err;
	return err;
}

static void net6_addr_leave_solicited(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	struct in6_addr group;

	if (!addr->joined)
		return;
	addrconf_addr_solict_mult(&addr->addr, &group);
	net6_group_leave_locked(addr->iface, &group);
	addr->joined = false;
}

static bool net6_addr_has_linklocal(const struct net6_iface *iface)
{
	const struct net6_addr *a;

	list_for_each_entry(a, &iface->formed, formed_list)
		if (net6_addr_is_assigned(a) && !net6_addr_in_dad(a) &&
		    (ipv6_addr_type(&a->addr) & IPV6_ADDR_LINKLOCAL))
			return true;
	return false;
}

/**
 * net6_addr_enter() - receive for an address
 * @addr: address
 * @state: NET6_ADDR_PREFERRED or NET6_ADDR_OPTIMISTIC
 *
 * Context: nn->lock held. Return: 0 or -ENOMEM (then it stays as it was).
 */
int net6_addr_enter(struct net6_addr *addr, enum net6_addr_state state)
	__must_hold(&addr->iface->nn->lock)
{
	int err = net6_addr_join_solicited(addr);

	if (!err && !net6_addr_is_assigned(addr))
		err = net6_accept_add(addr->iface, &addr->addr, NET6_ACCEPT_UNICAST);
	if (err)
		return err;
	WRITE_ONCE(addr->state, state);
	net6_anycast_subnet_router(addr, true);
	net6_note_addr(addr, NET6_NOTE_CHANGE);
	net6_dest_flush(addr->iface->nn);
	return 0;
}

/**
 * net6_addr_assign() - the address is unique, from now on it is ours
 * @addr: address
 *
 * Context: nn->lock held. Return: 0 or -ENOMEM (then it stays as it was).
 */
int net6_addr_assign(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	struct net6_iface *iface = addr->iface;
	bool first;
	int err;

	if (!net6_lifetime_left(addr->valid_lft, addr->updated)) {
		net6_addr_end(addr);
		return 0;
	}
	first = (ipv6_addr_type(&addr->addr) & IPV6_ADDR_LINKLOCAL) &&
		!net6_addr_has_linklocal(iface);
	err = net6_addr_enter(addr, NET6_ADDR_PREFERRED);
	if (err)
		return err;
	if (READ_ONCE(iface->ndisc_notify) && (iface->ops->flags & NET6_LINK_ND) &&
	    !(ipv6_addr_type(&addr->addr) & IPV6_ADDR_LINKLOCAL))
		addr->announce_left = NET6_MAX_NEIGHBOR_ADVERTISEMENT;
	net6_addr_age(addr);
	if (first) {
		net6_mld_announce(iface);
		net6_nd_linklocal(iface);
	}
	return 0;
}

/**
 * net6_addr_unassign() - tentative again, or about to go
 * @addr: address
 *
 * Context: nn->lock held.
 */
void net6_addr_unassign(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	bool assigned = net6_addr_is_assigned(addr);

	net6_addr_disarm(addr);
	if (assigned) {
		net6_anycast_subnet_router(addr, false);
		net6_accept_del(addr->iface, &addr->addr, NET6_ACCEPT_UNICAST);
	}
	net6_addr_leave_solicited(addr);
	addr->announce_left = 0;
	WRITE_ONCE(addr->state, NET6_ADDR_TENTATIVE);
	if (assigned)
		net6_dest_flush(addr->iface->nn);
}

/* RFC 9131: routers make entries for new global addresses before the first
 * packets to them come.
 */
static void net6_addr_announce(struct net6_addr *addr, struct net6_dad_probe *probe)
{
	if (!addr->announce_left)
		return;
	addr->announce_left--;
	probe->announce = true;
	probe->target = addr->addr;
}

/**
 * net6_addr_timer_fn() - DAD goes on, or a lifetime has an event
 * @t: timer of an address, whose reference it has
 *
 * Context: softirq.
 */
void net6_addr_timer_fn(struct timer_list *t)
{
	struct net6_addr *addr = timer_container_of(addr, t, timer);
	struct net6_iface *iface = addr->iface;
	struct net6_dad_probe probe = {};

	rcu_read_lock();
	spin_lock(&iface->nn->lock);
	if (!timer_pending(&addr->timer)) {
		net6_addr_announce(addr, &probe);
		if (net6_addr_in_dad(addr))
			net6_dad_timer(addr, &probe);
		else if (addr->state != NET6_ADDR_GONE && !net6_addr_age(addr))
			net6_addr_end(addr);	/* RFC 4862 5.5.4: invalid */
	}
	spin_unlock(&iface->nn->lock);
	net6_dad_send(iface, &probe);
	rcu_read_unlock();
	net6_addr_put(addr);
}
