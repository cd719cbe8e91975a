// SPDX-License-Identifier: GPL-2.0
/* Addresses that we form ourselves: the link-local one (RFC 4862 5.3), and those of prefixes that
 * routers advertise (RFC 4862 5.5.3). Temporary ones are in tempaddr.c.
 */
#include <net/ipv6.h>

#include "../observe/note.h"
#include "addr.h"
#include "iid.h"
#include "nd.h"

/* Is an identifier the link's own? Where there is none one that both ends would have is no use. */
static bool net6_addr_shows_iid(const struct net6_iface *iface)
{
	return net6_conf(iface, NET6_PARAM_ADDR_GEN_MODE) < NET6_ADDR_GEN_SECRET &&
	       !(iface->ops->flags & NET6_LINK_RAW);
}

/**
 * net6_addr_form() - an address of ours in a prefix, by addr_gen_mode
 * @iface: interface
 * @prefix: upper half, the rest is not looked at
 * @dad_counter: RFC 7217 DAD_Counter
 * @addr: result
 *
 * Context: any.
 */
void net6_addr_form(const struct net6_iface *iface, const struct in6_addr *prefix,
		    u8 dad_counter, struct in6_addr *addr)
{
	__be64 token = READ_ONCE(iface->token);
	u8 net_iface[8], iid[8];

	iface->ops->make_iid(iface, net_iface);
	if (token && !dad_counter && !(ipv6_addr_type(prefix) & IPV6_ADDR_LINKLOCAL))
		memcpy(iid, &token, sizeof(iid));
	else if (((iface->ops->flags & NET6_LINK_FIXED_IID) && !dad_counter) ||
		 net6_addr_shows_iid(iface))
		memcpy(iid, net_iface, sizeof(iid));
	else
		net6_iid_make(&iface->nn->iid_secret, prefix->s6_addr, net_iface, dad_counter,
			      iid);
	memcpy(addr->s6_addr, prefix->s6_addr, 8);
	memcpy(addr->s6_addr + 8, iid, 8);
}

/**
 * net6_addr_of_prefix() - the address that an interface has formed from a prefix
 * @iface: interface
 * @prefix: prefix of 64 bits
 *
 * Context: nn->lock held. Return: not the temporary ones; NULL if there is none.
 */
struct net6_addr *net6_addr_of_prefix(struct net6_iface *iface, const struct in6_addr *prefix)
	__must_hold(&iface->nn->lock)
{
	struct net6_addr *a;

	lockdep_assert_held(&iface->nn->lock);

	list_for_each_entry(a, &iface->formed, formed_list)
		if (a->origin == NET6_ADDR_SLAAC && ipv6_prefix_equal(&a->addr, prefix, 64))
			return a;
	return NULL;
}

/* RFC 4862 5.5.3 (e): new lifetimes for an address that is there; false if it went. */
static bool net6_addr_relife(struct net6_addr *addr, u32 valid_lft, u32 preferred_lft)
	__must_hold(&addr->iface->nn->lock)
{
	u32 left = net6_lifetime_left(addr->valid_lft, addr->updated);

	valid_lft = net6_lifetime_renewed(left, valid_lft);
	addr->valid_lft = valid_lft;
	addr->preferred_lft = min(preferred_lft, valid_lft);
	addr->updated = jiffies;
	if (net6_addr_in_dad(addr) || net6_addr_age(addr))
		return true;
	net6_addr_remove(addr);
	return false;
}

/* The address that an advertised prefix renews: as native not one that was formed before there was
 * a token, which ends in its time.
 */
static struct net6_addr *net6_addr_slaac_find(struct net6_iface *iface,
					      const struct in6_addr *prefix,
					      const struct in6_addr *formed)
	__must_hold(&iface->nn->lock)
{
	struct net6_addr *a = net6_addr_of_prefix(iface, prefix);

	if (!a || !iface->token || a->dad_counter)
		return a;
	a = net6_addr_find_locked(iface, formed);
	return a && a->origin == NET6_ADDR_SLAAC ? a : NULL;
}

/**
 * net6_addr_slaac() - a prefix option with the A flag
 * @iface: interface it came in on
 * @prefix: prefix of 64 bits, not link-local
 * @valid_lft: seconds
 * @preferred_lft: seconds, at most @valid_lft
 *
 * RFC 4862 5.5.3 (d) and (e); (a) to (c) are the caller's.
 * Context: softirq or BH disabled; takes nn->lock.
 */
void net6_addr_slaac(struct net6_iface *iface, const struct in6_addr *prefix,
		     u32 valid_lft, u32 preferred_lft)
{
	struct net6_net *nn = iface->nn;
	struct net6_addr *a;
	struct in6_addr addr;

	net6_addr_form(iface, prefix, 0, &addr);
	spin_lock_bh(&nn->lock);
	a = net6_addr_slaac_find(iface, prefix, &addr);
	if (!a && net6_iface_refuses_from(iface, false))
		goto unlock;
	if (a) {
		if (net6_addr_relife(a, valid_lft, preferred_lft))
			net6_temp_update(a);
	} else if (valid_lft && iface->n_addrs >= READ_ONCE(nn->limits.max_addrs)) {
		NET6_INC(nn, NdAddrLimit);
	} else if (valid_lft) {
		net6_addr_insert(iface, &addr, 64, NET6_ADDR_SLAAC, valid_lft, preferred_lft, 0);
		a = net6_addr_slaac_find(iface, prefix, &addr);
		if (a)
			net6_temp_update(a);
	}
unlock:
	spin_unlock_bh(&nn->lock);
}

/* RFC 4862 5.3; nn->lock held. */
static void net6_addr_form_linklocal(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	static const struct in6_addr linklocal = { .s6_addr = { 0xfe, 0x80 } };
	struct in6_addr addr;

	if (net6_conf(iface, NET6_PARAM_ADDR_GEN_MODE) == NET6_ADDR_GEN_NONE)
		return;
	net6_addr_form(iface, &linklocal, 0, &addr);
	net6_addr_insert(iface, &addr, 64, NET6_ADDR_LINKLOCAL,
			 NET6_LIFETIME_INFINITE, NET6_LIFETIME_INFINITE, 0);
}

/**
 * net6_addr_set_token() - what addresses that are formed from prefixes end with from now on
 * @iface: interface
 * @token: identifier, 0: as addr_gen_mode says
 *
 * As on native those with the identifier before go. Context: nn->lock held.
 */
void net6_addr_set_token(struct net6_iface *iface, __be64 token)
	__must_hold(&iface->nn->lock)
{
	__be64 before = iface->token;
	struct net6_addr *a, *next;

	lockdep_assert_held(&iface->nn->lock);
	WRITE_ONCE(iface->token, token);
	if (!before || before == token)
		return;
	list_for_each_entry_safe(a, next, &iface->formed, formed_list)
		if (a->origin == NET6_ADDR_SLAAC &&
		    !memcmp(&a->addr.s6_addr[8], &before, sizeof(before)))
			net6_addr_end(a);
}

/**
 * net6_addr_set_gen_mode() - how addresses are formed from now on
 * @iface: interface
 * @mode: enum net6_addr_gen
 *
 * Those that there are stay; a link-local one is formed beside them, as on Linux.
 * Context: nn->lock held.
 */
void net6_addr_set_gen_mode(struct net6_iface *iface, enum net6_addr_gen mode)
	__must_hold(&iface->nn->lock)
{
	bool changed = mode != net6_conf(iface, NET6_PARAM_ADDR_GEN_MODE);

	lockdep_assert_held(&iface->nn->lock);
	WRITE_ONCE(iface->conf[NET6_PARAM_ADDR_GEN_MODE], mode);
	if (changed && net6_iface_usable(iface) && !net6_iface_is_loopback(iface))
		net6_addr_form_linklocal(iface);
}

/**
 * net6_addr_iface_up() - packets flow: form the link-local address, run DAD
 * @iface: interface
 *
 * RFC 4862 5.3. As on native not for what was kept while there was no carrier.
 * Context: process, RTNL held; takes nn->lock.
 */
void net6_addr_iface_up(struct net6_iface *iface)
{
	struct net6_net *nn = iface->nn;
	struct net6_addr *a, *next;

	if (iface->dev->flags & IFF_LOOPBACK) {
		net6_addr_add(iface, &in6addr_loopback, 128, NET6_ADDR_LOOPBACK,
			      NET6_LIFETIME_INFINITE, NET6_LIFETIME_INFINITE);
		return;
	}
	spin_lock_bh(&nn->lock);
	list_for_each_entry_safe(a, next, &iface->addrs, iface_list)
		if (!net6_addr_is_assigned(a))
			net6_dad_start(a, a->origin != NET6_ADDR_MANUAL);
	if (!net6_iface_is_loopback(iface))		/* as native: a VRF's has none */
		net6_addr_form_linklocal(iface);
	spin_unlock_bh(&nn->lock);
}

/**
 * net6_addr_iface_down() - packets flow no more
 * @iface: interface, no longer usable
 * @remove_all: none stays; otherwise manual addresses do, tentative until
 *	it is up again. Those that we have formed are formed anew then, for the
 *	hardware address or the network may be another one.
 * @keep: only the carrier is lost: manual ones that are ours stay so
 *
 * Context: process, RTNL held; takes nn->lock.
 */
void net6_addr_iface_down(struct net6_iface *iface, bool remove_all, bool keep)
{
	struct net6_addr *a, *next;

	spin_lock_bh(&iface->nn->lock);
	list_for_each_entry_safe(a, next, &iface->addrs, iface_list) {
		if (remove_all || a->origin != NET6_ADDR_MANUAL) {
			net6_addr_remove(a);
			continue;
		}
		if (keep && net6_addr_is_assigned(a) && !net6_addr_in_dad(a))
			continue;
		net6_addr_unassign(a);
		net6_note_addr(a, NET6_NOTE_CHANGE);
	}
	spin_unlock_bh(&iface->nn->lock);
}
