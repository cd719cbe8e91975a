// SPDX-License-Identifier: GPL-2.0
/* Addresses that somebody sets, changes and removes, and what they make on-link: their prefix,
 * their peer.
 */
#include <net/ipv6.h>

#include "../observe/note.h"
#include "addr.h"
#include "addr_chain.h"
#include "nd.h"

/* Does it make its prefix on-link? */
static bool net6_addr_makes_prefix(const struct net6_addr *addr)
{
	return addr->origin == NET6_ADDR_MANUAL && addr->plen < 128 &&
	       !(addr->flags & IFA_F_NOPREFIXROUTE) &&
	       !(ipv6_addr_type(&addr->addr) & IPV6_ADDR_LINKLOCAL) &&
	       !net6_iface_is_loopback(addr->iface);
}

/**
 * struct net6_addr_onlink - what an address makes on-link: its prefix, its peer
 * @prefix: bits beyond @plen zero
 * @plen: bits
 * @n: how many of them there are
 * @metric: of all
 */
struct net6_addr_onlink {
	struct in6_addr	prefix[2];
	u8		plen[2];
	u8		n;
	u32		metric;
};

static void net6_addr_onlink(const struct net6_addr *addr, struct net6_addr_onlink *to)
{
	to->n = 0;
	to->metric = addr->metric;
	if (net6_addr_makes_prefix(addr)) {
		ipv6_addr_prefix(&to->prefix[to->n], &addr->addr, addr->plen);
		to->plen[to->n++] = addr->plen;
	}
	if (!ipv6_addr_any(&addr->peer)) {
		to->prefix[to->n] = addr->peer;
		to->plen[to->n++] = 128;
	}
}

/* Is there an address that makes this prefix on-link? */
static bool net6_addr_prefix_used(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen)
{
	struct net6_addr_onlink makes;
	const struct net6_addr *a;
	unsigned int i;

	list_for_each_entry(a, &iface->addrs, iface_list) {
		net6_addr_onlink(a, &makes);
		for (i = 0; i < makes.n; i++)
			if (makes.plen[i] == plen && ipv6_addr_equal(&makes.prefix[i], prefix))
				return true;
	}
	return false;
}

/* What an address made on-link that went, or is another one now. */
static void net6_addr_drop_onlink(struct net6_iface *iface, const struct net6_addr_onlink *made)
	__must_hold(&iface->nn->lock)
{
	unsigned int i;

	for (i = 0; i < made->n; i++)
		if (!net6_addr_prefix_used(iface, &made->prefix[i], made->plen[i]))
			net6_prefix_update_locked(iface, &made->prefix[i], made->plen[i], 0,
						  NET6_PREFIX_OF_ADDR, 0);
}

/**
 * net6_addr_end() - the life of an address is over, or the administrator has said so
 * @addr: address; the tables' reference is given back
 *
 * The on-link prefix of those that were set by hand goes with the last of them.
 * Context: nn->lock held.
 */
void net6_addr_end(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	struct net6_iface *iface = addr->iface;
	struct net6_addr_onlink made;

	net6_addr_onlink(addr, &made);
	net6_addr_remove(addr);
	net6_addr_drop_onlink(iface, &made);
}

/* What an address makes on-link. */
static int net6_addr_add_onlink(struct net6_addr *a)
	__must_hold(&a->iface->nn->lock)
{
	struct net6_addr_onlink makes;
	unsigned int i;
	int err = 0;

	net6_addr_onlink(a, &makes);
	for (i = 0; i < makes.n && !err; i++)
		err = net6_prefix_update_locked(a->iface, &makes.prefix[i], makes.plen[i],
						NET6_LIFETIME_INFINITE, NET6_PREFIX_OF_ADDR,
						makes.metric);
	return err;
}

/**
 * net6_addr_onlink_again() - an interface's prefixes were forgotten, its addresses were not
 * @iface: interface
 *
 * Without memory, or beyond a limit, an address is there without its prefix.
 * Context: nn->lock held.
 */
void net6_addr_onlink_again(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_addr *a;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry(a, &iface->addrs, iface_list)
		if (net6_addr_add_onlink(a))
			net_warn_ratelimited("%s: no on-link prefix for an address\n",
					     iface->dev->name);
}

static int net6_addr_check(const struct net6_iface *iface, const struct in6_addr *addr,
			   const struct net6_addr_wish *wish)
{
	int type = ipv6_addr_type(addr);

	if (wish->plen > 128 || !wish->valid_lft || wish->preferred_lft > wish->valid_lft)
		return -EINVAL;
	if (type == IPV6_ADDR_ANY || (type & (IPV6_ADDR_MULTICAST | IPV6_ADDR_MAPPED)) ||
	    ((type & IPV6_ADDR_LOOPBACK) && !net6_iface_is_loopback(iface)))
		return -EADDRNOTAVAIL;
	return 0;
}

/* As native: nobody is asked for it, so it does not wait for the carrier. */
static void net6_addr_assign_early(struct net6_addr *a)
	__must_hold(&a->iface->nn->lock)
{
	set_bit(NET6_IFACE_KEPT, &a->iface->flags);
	if (net6_addr_assign(a))
		net6_addr_arm(a, HZ);
}

/* With what it makes on-link, or not at all. */
static int net6_addr_add_wish(struct net6_iface *iface, const struct in6_addr *addr,
			      enum net6_addr_origin origin, const struct net6_addr_wish *wish)
	__must_hold(&iface->nn->lock)
{
	struct net6_addr *a = net6_addr_new(iface, addr, origin, wish);
	int err;

	if (IS_ERR(a))
		return PTR_ERR(a);
	err = net6_addr_add_onlink(a);
	if (err) {
		net6_addr_end(a);
		return err;
	}
	/* RFC 4862 5.4.2: a random delay, except for what a person has set. */
	if (net6_iface_usable(iface))
		net6_dad_start(a, origin != NET6_ADDR_MANUAL);
	else if ((a->flags & IFA_F_NODAD) && net6_iface_keeps(iface))
		net6_addr_assign_early(a);
	if (a->flags & IFA_F_MANAGETEMPADDR)
		net6_temp_update(a);
	return 0;
}

/**
 * net6_addr_add() - add an address
 * @iface: interface
 * @addr: unicast address
 * @plen: prefix length, bits; a manual address makes its prefix on-link
 * @origin: where it comes from
 * @valid_lft: seconds, NET6_LIFETIME_INFINITE; not 0
 * @preferred_lft: seconds, at most @valid_lft
 *
 * Context: process, sleeps; takes nn->lock.
 * Return: 0, -EINVAL, -EADDRNOTAVAIL (not a unicast address for interfaces),
 * -EEXIST, -ENODEV, -EACCES, -ENOSPC, -ENOMEM.
 */
int net6_addr_add(struct net6_iface *iface, const struct in6_addr *addr, u8 plen,
		  enum net6_addr_origin origin, u32 valid_lft, u32 preferred_lft)
{
	const struct net6_addr_wish wish = {
		.plen		= plen,
		.valid_lft	= valid_lft,
		.preferred_lft	= preferred_lft,
	};
	int err = net6_addr_check(iface, addr, &wish);

	if (err)
		return err;
	spin_lock_bh(&iface->nn->lock);
	err = net6_addr_add_wish(iface, addr, origin, &wish);
	spin_unlock_bh(&iface->nn->lock);
	net6_addr_chain_run(iface->nn);
	return err;
}

/* An address that is there is as is wished from now on, or as it was. As on native its prefix
 * length stays, and what is not named of metric and peer.
 */
static int net6_addr_modify(struct net6_addr *a, const struct net6_addr_wish *wish)
	__must_hold(&a->iface->nn->lock)
{
	const struct net6_addr_wish was = {
		.peer		= a->peer,
		.flags		= a->flags,
		.metric		= a->metric,
		.valid_lft	= a->valid_lft,
		.preferred_lft	= a->preferred_lft,
		.proto		= a->proto,
	};
	struct net6_addr_wish now = *wish;
	struct net6_addr_onlink made;
	u8 state = a->state;
	int err;

	if ((now.flags & IFA_F_MANAGETEMPADDR) &&
	    (a->origin == NET6_ADDR_TEMPORARY || a->plen != 64))
		return -EINVAL;
	now.metric = now.metric ?: was.metric;
	if (ipv6_addr_any(&now.peer))
		now.peer = was.peer;
	net6_addr_onlink(a, &made);
	net6_addr_take(a, &now);
	err = net6_addr_add_onlink(a);
	if (err) {
		net6_addr_onlink(a, &made);
		net6_addr_take(a, &was);
		net6_addr_add_onlink(a);	/* the metric that it had */
		net6_addr_drop_onlink(a->iface, &made);
		return err;
	}
	net6_addr_drop_onlink(a->iface, &made);
	a->updated = jiffies;
	if (!net6_addr_in_dad(a))
		net6_addr_age(a);
	if (a->state == state)
		net6_note_addr(a, NET6_NOTE_CHANGE);
	if (now.flags & IFA_F_MANAGETEMPADDR)
		net6_temp_update(a);
	else if (was.flags & IFA_F_MANAGETEMPADDR)
		net6_temp_leave(a);
	return 0;
}

/**
 * net6_addr_set() - the administrator adds an address, or changes one
 * @iface: interface
 * @addr: unicast address
 * @wish: how it is to be
 * @replace: one that is there is changed
 *
 * Context: process, sleeps; takes nn->lock.
 * Return: as net6_addr_add().
 */
int net6_addr_set(struct net6_iface *iface, const struct in6_addr *addr,
		  const struct net6_addr_wish *wish, bool replace)
{
	int err = net6_addr_check(iface, addr, wish);
	struct net6_addr *a;

	if (err)
		return err;
	spin_lock_bh(&iface->nn->lock);
	a = net6_addr_find_locked(iface, addr);
	if (a && replace)
		err = net6_addr_modify(a, wish);
	else
		err = net6_addr_add_wish(iface, addr, NET6_ADDR_MANUAL, wish);
	spin_unlock_bh(&iface->nn->lock);
	net6_addr_chain_run(iface->nn);
	return err;
}

/**
 * net6_addr_del() - remove an address
 * @iface: its interface
 * @addr: address
 * @plen: with this prefix length, NET6_ADDR_ANY_PLEN with any
 *
 * Context: process, sleeps; takes nn->lock. Return: 0 or -EADDRNOTAVAIL.
 */
int net6_addr_del(struct net6_iface *iface, const struct in6_addr *addr, int plen)
{
	struct net6_addr *a;
	int err = 0;

	spin_lock_bh(&iface->nn->lock);
	a = net6_addr_find_locked(iface, addr);
	if (a && (plen == NET6_ADDR_ANY_PLEN || plen == a->plen)) {
		if (a->flags & IFA_F_MANAGETEMPADDR)
			net6_temp_leave(a);
		net6_addr_end(a);
	} else {
		err = -EADDRNOTAVAIL;
	}
	spin_unlock_bh(&iface->nn->lock);
	net6_addr_chain_run(iface->nn);
	return err;
}
