// SPDX-License-Identifier: GPL-2.0
/* Anycast addresses, RFC 4291 2.6: those that sockets join, and the subnet-router anycast
 * addresses of a router (2.6.1). They are received for like unicast addresses, without
 * Duplicate Address Detection (RFC 4862 5.4), and are never a source.
 */
#include <linux/random.h>
#include <linux/rculist.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "addr.h"
#include "anycast.h"
#include "forward.h"
#include "nd.h"

#define NET6_MAX_ANYCAST_DELAY_TIME	1	/* second, RFC 4861 section 10 */

/* RFC 6164 5.1: on a link of two routers the subnet-router anycast address is the other's. */
#define NET6_ANYCAST_SUBNET_MAX		126	/* bits */

static bool net6_anycast_solicits(const struct net6_iface *iface)
{
	return iface->ops->flags & NET6_LINK_ND;
}

/* Received for from now on, by one more user. nn->lock held. */
static int net6_anycast_inc(struct net6_iface *iface, const struct in6_addr *addr)
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
{
	struct in6_addr group;

	addrconf_addr_solict_mult(&accept->addr, &group);
	net6_accept_del(iface, &accept->addr, NET6_ACCEPT_ANYCAST);
	if (net6_anycast_solicits(iface))
		net6_group_leave_locked(iface, &group);
	net6_dest_flush(iface->nn);
}

static void net6_anycast_dec(struct net6_iface *iface, const struct in6_addr *addr)
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
 * net6_anycast_join() - receive for an anycast address, or one user more
 * @iface: interface
 * @addr: address, neither a group nor an address of ours
 *
 * A host has only addresses of its links' subnets: routes would have to lead to others.
 * Context: any but hard interrupts; takes nn->lock.
 * Return: 0; -EADDRNOTAVAIL (a host, and not of this link); -ENODEV (the interface is
 * going), -ENOMEM, -ENOBUFS (too many users), or what the link says of the group.
 */
int net6_anycast_join(struct net6_iface *iface, const struct in6_addr *addr)
{
	int err = -EADDRNOTAVAIL;

	spin_lock_bh(&iface->nn->lock);
	if (net6_forward_on(iface) || net6_anycast_on_subnet(iface, addr))
		err = net6_anycast_inc(iface, addr);
	spin_unlock_bh(&iface->nn->lock);
	return err;
}

/**
 * net6_anycast_leave() - undo one join
 * @iface: interface; may be gone, and its addresses with it
 * @addr: address
 *
 * Context: any but hard interrupts; takes nn->lock.
 */
void net6_anycast_leave(struct net6_iface *iface, const struct in6_addr *addr)
{
	spin_lock_bh(&iface->nn->lock);
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
	const struct net6_accept *accept;

	list_for_each_entry_rcu(accept, &iface->anycast.list, list)
		if (ipv6_addr_equal(&accept->addr, addr))
			return true;
	return false;
}

/**
 * net6_anycast_subnet_router() - the subnet-router anycast address of an address' subnet
 * @addr: address of ours that is assigned, or about to go
 * @on: it is received for if the interface is a router, or no more
 *
 * RFC 4291 2.6.1: the prefix, followed by zeros. Context: nn->lock held.
 */
void net6_anycast_subnet_router(struct net6_addr *addr, bool on)
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
{
	struct net6_accept *accept, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(accept, next, &iface->anycast.list, list)
		net6_anycast_free(iface, accept);
}

/* RFC 4861 7.2.4 and 7.2.7: from a unicast address, with the Override flag clear, so that
 * the first answer is taken of several.
 */
static void net6_anycast_send(struct net6_iface *iface, const struct in6_addr *target,
			      const struct in6_addr *daddr)
{
	struct in6_addr saddr;

	if (!net6_iface_usable(iface) || !net6_anycast_find(iface, target) ||
	    net6_srcaddr_select(iface->nn, iface, daddr, 0, &saddr))
		return;
	net6_nd_send_na(iface, target, &saddr, daddr, !ipv6_addr_is_multicast(daddr), false);
}

/* Wait for the first answer. nn->lock held. */
static void net6_anycast_arm(struct net6_iface *iface)
{
	struct net6_anycast *any = &iface->anycast;
	unsigned long first;
	unsigned int i;

	if (!any->n_answers || test_bit(NET6_IFACE_DEAD, &iface->flags))
		return;
	first = any->answers[0].at;
	for (i = 1; i < any->n_answers; i++)
		if (time_before(any->answers[i].at, first))
			first = any->answers[i].at;
	mod_timer(&any->timer, first);
}

/* Take an answer that is due. nn->lock held. */
static bool net6_anycast_due(struct net6_anycast *any, struct net6_anycast_answer *answer)
{
	unsigned int i;

	for (i = 0; i < any->n_answers; i++) {
		if (time_before(jiffies, any->answers[i].at))
			continue;
		*answer = any->answers[i];
		any->answers[i] = any->answers[--any->n_answers];
		return true;
	}
	return false;
}

static void net6_anycast_fn(struct timer_list *t)
{
	struct net6_iface *iface = from_timer(iface, t, anycast.timer);
	struct net6_anycast_answer answers[NET6_ANYCAST_ANSWERS_MAX];
	unsigned int n = 0, i;

	rcu_read_lock();
	spin_lock(&iface->nn->lock);
	while (n < ARRAY_SIZE(answers) && net6_anycast_due(&iface->anycast, &answers[n]))
		n++;
	net6_anycast_arm(iface);
	spin_unlock(&iface->nn->lock);
	for (i = 0; i < n; i++)
		net6_anycast_send(iface, &answers[i].target, &answers[i].daddr);
	rcu_read_unlock();
}

/* Does it wait, now or already? False if there is no room. nn->lock held. */
static bool net6_anycast_queue(struct net6_iface *iface, const struct in6_addr *target,
			       const struct in6_addr *daddr)
{
	struct net6_anycast *any = &iface->anycast;
	unsigned int i;

	for (i = 0; i < any->n_answers; i++)
		if (ipv6_addr_equal(&any->answers[i].target, target) &&
		    ipv6_addr_equal(&any->answers[i].daddr, daddr))
			return true;
	if (i == NET6_ANYCAST_ANSWERS_MAX)
		return false;
	any->answers[i] = (struct net6_anycast_answer) {
		.target	= *target,
		.daddr	= *daddr,
		.at	= jiffies + get_random_u32_below(NET6_MAX_ANYCAST_DELAY_TIME * HZ),
	};
	any->n_answers++;
	net6_anycast_arm(iface);
	return true;
}

/**
 * net6_anycast_solicited() - answer a Neighbor Solicitation for an anycast address
 * @iface: interface that it came in on
 * @target: anycast address of ours there
 * @saddr: who asks, :: in Duplicate Address Detection
 *
 * RFC 4861 7.2.7: delayed "by a random time between 0 and MAX_ANYCAST_DELAY_TIME", for
 * others may answer at the same moment. Context: softirq, RCU read lock held; takes nn->lock.
 */
void net6_anycast_solicited(struct net6_iface *iface, const struct in6_addr *target,
			    const struct in6_addr *saddr)
{
	const struct in6_addr *daddr = ipv6_addr_any(saddr) ? &in6addr_linklocal_allnodes : saddr;
	bool waits;

	spin_lock_bh(&iface->nn->lock);
	waits = net6_anycast_queue(iface, target, daddr);
	spin_unlock_bh(&iface->nn->lock);
	if (!waits)
		net6_anycast_send(iface, target, daddr);
}

/**
 * net6_anycast_iface_init() - an interface without anycast addresses
 * @iface: interface being made
 *
 * Context: process.
 */
void net6_anycast_iface_init(struct net6_iface *iface)
{
	INIT_LIST_HEAD(&iface->anycast.list);
	timer_setup(&iface->anycast.timer, net6_anycast_fn, 0);
}

/**
 * net6_anycast_iface_exit() - nothing is answered any more
 * @iface: interface, DEAD
 *
 * Context: process, waits.
 */
void net6_anycast_iface_exit(struct net6_iface *iface)
{
	might_sleep();
	del_timer_sync(&iface->anycast.timer);
}
