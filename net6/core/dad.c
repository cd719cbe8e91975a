// SPDX-License-Identifier: GPL-2.0
/* Duplicate address detection, RFC 4862 section 5.4. It has nonces (RFC 7527) against links that
 * bring our own probes back, and new identifiers by RFC 7217 section 6. Addresses may be used
 * meanwhile (RFC 4429).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "../compat/in6.h"
#include "../observe/note.h"
#include "addr.h"
#include "anycast.h"
#include "forward.h"
#include "iid.h"
#include "nd.h"

#define NET6_MAX_RTR_SOLICITATION_DELAY	1	/* second, RFC 4861 section 10 */

/* RFC 4429 3.1: for addresses that a person has typed only if he has asked for it. It is never used
 * by routers (section 2.1), nor again after a conflict.
 */
static bool net6_dad_optimistic(const struct net6_addr *addr)
{
	return READ_ONCE(addr->iface->optimistic_dad) && !net6_forward_on(addr->iface) &&
	       (addr->origin != NET6_ADDR_MANUAL || (addr->flags & IFA_F_OPTIMISTIC)) &&
	       !addr->dad_counter;
}

/* RFC 4862 5.4: not performed when DupAddrDetectTransmits is 0. */
static u8 net6_dad_transmits(const struct net6_addr *addr)
{
	const struct net6_iface *iface = addr->iface;

	if (addr->flags & IFA_F_NODAD)
		return 0;
	if (!net6_conf(iface, NET6_PARAM_ACCEPT_DAD) || net6_iface_asks_nobody(iface))
		return 0;
	return iface->dad_transmits;
}

/**
 * net6_dad_start() - make an address tentative and probe for it
 * @addr: address on an interface that is up
 * @delay: wait a random time first, so that neighbors started together do not
 *	speak together
 *
 * Context: nn->lock held.
 */
void net6_dad_start(struct net6_addr *addr, bool delay)
	__must_hold(&addr->iface->nn->lock)
{
	struct net6_iface *iface = addr->iface;

	lockdep_assert_held(&iface->nn->lock);
	/* A duplicate stays one until the interface is started anew. */
	net6_addr_unassign(addr);
	addr->dad_left = net6_dad_transmits(addr);
	addr->dad_looped = false;
	get_random_bytes(addr->nonce, sizeof(addr->nonce));

	if (!addr->dad_left) {
		if (net6_addr_assign(addr))
			net6_addr_arm(addr, HZ);
		return;
	}
	if (net6_dad_optimistic(addr))
		net6_addr_enter(addr, NET6_ADDR_OPTIMISTIC);
	net6_addr_arm(addr, delay ? get_random_u32_below(NET6_MAX_RTR_SOLICITATION_DELAY * HZ) : 1);
}

/**
 * net6_dad_set_router() - a host has become a router
 * @iface: interface
 *
 * RFC 4429 is for hosts. An address that is not known to be unique yet is not used any more,
 * until it is. The probes go on. Context: nn->lock held.
 */
void net6_dad_set_router(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_addr *addr;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry(addr, &iface->addrs, iface_list) {
		if (addr->state != NET6_ADDR_OPTIMISTIC)
			continue;
		net6_anycast_subnet_router(addr, false);
		net6_accept_del(iface, &addr->addr, NET6_ACCEPT_UNICAST);
		WRITE_ONCE(addr->state, NET6_ADDR_TENTATIVE);
		net6_note_addr(addr, NET6_NOTE_CHANGE);
	}
	net6_dest_flush(iface->nn);
}

/**
 * net6_dad_timer() - the next step for a tentative or optimistic address
 * @addr: address
 * @probe: filled in; to be given to net6_dad_send() when the lock is released
 *
 * Context: nn->lock held.
 */
void net6_dad_timer(struct net6_addr *addr, struct net6_dad_probe *probe)
	__must_hold(&addr->iface->nn->lock)
{
	struct net6_iface *iface = addr->iface;
	struct net6_net *nn = iface->nn;

	lockdep_assert_held(&nn->lock);
	if (!net6_iface_usable(iface))
		return;
	if (!addr->dad_left) {
		/* RFC 4862 5.4: RetransTimer after the last probe, nobody objected */
		net6_note_dad(addr, NET6_DAD_DONE);
		if (net6_addr_assign(addr))
			net6_addr_arm(addr, HZ);
		return;
	}
	/* RFC 4862 5.4.2: "an interface MUST join the all-nodes multicast address and
	 * the solicited-node multicast address of the tentative address" first.
	 */
	if (net6_addr_join_solicited(addr)) {
		net6_addr_arm(addr, HZ);
		return;
	}
	addr->dad_left--;
	probe->send = true;
	probe->target = addr->addr;
	memcpy(probe->nonce, addr->nonce, sizeof(probe->nonce));
	NET6_INC(nn, NdDadAttempts);
	net6_note_dad(addr, NET6_DAD_PROBE);
	net6_addr_arm(addr, READ_ONCE(iface->retrans));
}

/**
 * net6_dad_send() - send what net6_dad_timer() wants sent
 * @iface: interface
 * @probe: from there
 *
 * RFC 4862 5.4.2: from the unspecified address to the solicited-node group.
 * Context: softirq, RCU read lock held; no locks of net6 held.
 */
void net6_dad_send(struct net6_iface *iface, const struct net6_dad_probe *probe)
{
	struct in6_addr group;

	if (!net6_iface_usable(iface))
		return;
	if (probe->announce)
		net6_nd_send_na(iface, &probe->target, &probe->target,
				&in6addr_linklocal_allrouters, 0);
	if (!probe->send)
		return;
	/* Switches hear of the group before its members are asked (RFC 4862 5.4.2). */
	net6_mld_run(iface);
	addrconf_addr_solict_mult(&probe->target, &group);
	net6_nd_send_ns(iface, &probe->target, &group, &in6addr_any, NULL,
			net6_conf(iface, NET6_PARAM_ENHANCED_DAD) ? probe->nonce : NULL);
}

/* RFC 7217 section 6: another identifier after IDGEN_DELAY, IDGEN_RETRIES times. */
static void net6_dad_retry(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	struct net6_iface *iface = addr->iface;
	struct net6_addr *retry;
	struct in6_addr next;
	unsigned long delay = READ_ONCE(iface->nn->settings.idgen_delay);
	u8 counter = addr->dad_counter + 1;
	u32 preferred = net6_lifetime_left(addr->preferred_lft, addr->updated);
	u32 valid = net6_lifetime_left(addr->valid_lft, addr->updated);

	if (addr->origin == NET6_ADDR_TEMPORARY)
		net6_temp_form(&addr->addr, &next);
	else
		net6_addr_form(iface, &addr->addr, counter, &next);
	if (!valid || net6_addr_insert(iface, &next, addr->plen, addr->origin, valid,
				       min(preferred, valid), counter))
		return;
	retry = net6_addr_find_locked(iface, &next);
	retry->created = addr->created;
	retry->temp_preferred = addr->temp_preferred;
	if (retry->state == NET6_ADDR_TENTATIVE && net6_iface_usable(iface))
		net6_addr_arm(retry, delay * HZ + get_random_u32_below(HZ));
	net6_addr_remove(addr);
}

/* RFC 4862 5.4.5: is it "a link-local address formed from an interface identifier based on the
 * hardware address"? RFC 7217's are not, and another one is tried.
 */
static bool net6_dad_shows_hardware(const struct net6_addr *addr)
{
	struct net6_iface *iface = addr->iface;
	u8 iid[8];

	if ((addr->origin != NET6_ADDR_MANUAL &&
	     net6_conf(iface, NET6_PARAM_ADDR_GEN_MODE) != NET6_ADDR_GEN_EUI64) ||
	    !(ipv6_addr_type(&addr->addr) & IPV6_ADDR_LINKLOCAL))
		return false;
	iface->ops->make_iid(iface, iid);
	return !memcmp(iid, addr->addr.s6_addr + 8, sizeof(iid));
}

/* How many other identifiers are tried: an EUI-64 has no second one. */
static u8 net6_dad_retries(const struct net6_addr *addr)
{
	if (addr->origin == NET6_ADDR_TEMPORARY)
		return net6_conf(addr->iface, NET6_PARAM_REGEN_MAX_RETRY);
	if (addr->origin == NET6_ADDR_MANUAL ||
	    net6_conf(addr->iface, NET6_PARAM_ADDR_GEN_MODE) < NET6_ADDR_GEN_SECRET)
		return 0;
	return READ_ONCE(addr->iface->nn->settings.idgen_retries);
}

/* RFC 4862 5.4.5: "the address MUST NOT be assigned to the interface". */
static void net6_dad_failed(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	struct net6_iface *iface = addr->iface;

	net6_addr_unassign(addr);
	WRITE_ONCE(addr->state, NET6_ADDR_DUPLICATE);
	net6_note_dad(addr, NET6_DAD_CONFLICT);
	net6_note_addr(addr, NET6_NOTE_CHANGE);
	NET6_INC(iface->nn, NdDadFailures);
	net_warn_ratelimited("%s: address %pI6c is in use by another node\n",
			     iface->dev->name, &addr->addr);
	if (net6_conf(iface, NET6_PARAM_ACCEPT_DAD) > 1 && net6_dad_shows_hardware(addr))
		net6_iface_not_unique(iface);
	if (addr->dad_counter < net6_dad_retries(addr))
		net6_dad_retry(addr);
	if (addr->state == NET6_ADDR_DUPLICATE && !net6_addr_age(addr))
		net6_addr_end(addr);
}

/* RFC 7527 4.2: our own probe came back, so it says nothing. More are sent, once,
 * in case another node's were mistaken for it.
 */
static void net6_dad_looped(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	NET6_INC(addr->iface->nn, NdDadLooped);
	net6_note_dad(addr, NET6_DAD_LOOPED);
	if (addr->dad_looped)
		return;
	addr->dad_looped = true;
	addr->dad_left += NET6_MAX_MULTICAST_SOLICIT;
}

/**
 * net6_dad_ns() - a Neighbor Solicitation whose target may be tentative here
 * @iface: interface it came in on
 * @target: its target
 * @probe: its source is ::, and no program of ours has sent it
 * @nonce: body of its Nonce option, NULL if none
 * @nonce_len: bytes
 *
 * RFC 4862 5.4.3. Context: softirq; takes nn->lock.
 * Return: true if the target is not ours (yet): no answer.
 */
bool net6_dad_ns(struct net6_iface *iface, const struct in6_addr *target, bool probe,
		 const u8 *nonce, unsigned int nonce_len)
{
	struct net6_addr *addr;
	bool tentative;

	spin_lock_bh(&iface->nn->lock);
	addr = net6_addr_find_locked(iface, target);
	/* "If the source address of the NS is a unicast address, the sender is
	 * performing address resolution: silently ignored."
	 */
	if (addr && net6_addr_in_dad(addr) && probe) {
		if (nonce && nonce_len == NET6_NONCE_LEN &&
		    !memcmp(nonce, addr->nonce, NET6_NONCE_LEN))
			net6_dad_looped(addr);
		else
			net6_dad_failed(addr);
		addr = NULL;
	}
	tentative = !addr || !net6_addr_is_assigned(addr);
	spin_unlock_bh(&iface->nn->lock);
	return tentative;
}

/**
 * net6_dad_na() - a Neighbor Advertisement whose target may be tentative here
 * @iface: interface it came in on
 * @target: its target
 * @looped: a program of ours has sent it: no other node's claim
 *
 * RFC 4862 5.4.4. Context: softirq; takes nn->lock.
 * Return: true if the target is an address of ours or was to be one.
 */
bool net6_dad_na(struct net6_iface *iface, const struct in6_addr *target, bool looped)
{
	struct net6_addr *addr;
	bool ours;

	spin_lock_bh(&iface->nn->lock);
	addr = net6_addr_find_locked(iface, target);
	/* A duplicate is a neighbor's. */
	ours = addr && addr->state != NET6_ADDR_DUPLICATE;
	if (!addr || looped)
		goto unlock;
	if (net6_addr_in_dad(addr))
		net6_dad_failed(addr);
	else if (net6_addr_is_assigned(addr))
		net_warn_ratelimited("%s: another node advertises our address %pI6c\n",
				     iface->dev->name, target);
unlock:
	spin_unlock_bh(&iface->nn->lock);
	return ours;
}
