// SPDX-License-Identifier: GPL-2.0
/* Temporary addresses, RFC 8981. An interface has formed an address from a prefix; beside it
 * there is one with a random identifier that is replaced from day to day.
 */
#include <linux/random.h>
#include <net/ipv6.h>

#include "addr.h"
#include "iid.h"

/* RFC 8981 3.8: MAX_DESYNC_FACTOR is 0.4 * TEMP_PREFERRED_LIFETIME, here at most. */
#define NET6_TEMP_DESYNC(preferred)	((preferred) / 5 * 2)

/**
 * net6_temp_form() - an address with a random identifier
 * @prefix: upper half
 * @addr: result
 *
 * RFC 8981 3.3.1. Context: any.
 */
void net6_temp_form(const struct in6_addr *prefix, struct in6_addr *addr)
{
	memcpy(addr->s6_addr, prefix->s6_addr, 8);
	do {
		get_random_bytes(addr->s6_addr + 8, 8);
	} while (net6_iid_reserved(addr->s6_addr + 8));
}

/* RFC 8981 3.8: seconds before the end of a preferred lifetime. */
static u32 net6_temp_advance(const struct net6_iface *iface)
{
	return 2 + net6_conf(iface, NET6_PARAM_REGEN_MAX_RETRY) * iface->dad_transmits *
		   (u32)(READ_ONCE(iface->retrans) / HZ);
}

/* The rest of a bound that counts from the address' creation, and of @lifetime. */
static u32 net6_temp_cap(const struct net6_addr *addr, u32 lifetime, u32 bound)
{
	return min(lifetime, net6_lifetime_left(bound, addr->created));
}

static void net6_temp_create(const struct net6_addr *public)
	__must_hold(&public->iface->nn->lock)
{
	struct net6_iface *iface = public->iface;
	u32 most = READ_ONCE(iface->temp_preferred);
	u32 desync = min_t(u32, net6_conf(iface, NET6_PARAM_MAX_DESYNC_FACTOR),
			   NET6_TEMP_DESYNC(most));
	u32 bound = most - get_random_u32_below(desync + 1);
	u32 valid = min(net6_lifetime_left(public->valid_lft, public->updated),
			READ_ONCE(iface->temp_valid));
	u32 preferred = min3(net6_lifetime_left(public->preferred_lft, public->updated), bound,
			     valid);
	struct net6_addr *addr;
	struct in6_addr next;

	/* RFC 8981 3.4 rule 5: "only if this calculated preferred lifetime is greater
	 * than REGEN_ADVANCE time units"
	 */
	if (preferred <= net6_temp_advance(iface))
		return;
	if (iface->n_addrs >= READ_ONCE(iface->nn->limits.max_addrs)) {
		NET6_INC(iface->nn, NdAddrLimit);
		return;
	}
	net6_temp_form(&public->addr, &next);
	if (net6_addr_insert(iface, &next, 64, NET6_ADDR_TEMPORARY, valid, preferred, 0))
		return;
	addr = net6_addr_find_locked(iface, &next);
	if (addr)
		addr->temp_preferred = bound;
}

/**
 * net6_temp_update() - a prefix was advertised that an address is formed from
 * @public: that address, its lifetimes renewed
 *
 * RFC 8981 3.4: temporary addresses in the prefix live as long, but not beyond their own bounds.
 * If there is none that will be replaced in time, there is one now.
 * Context: nn->lock held.
 */
void net6_temp_update(const struct net6_addr *public)
	__must_hold(&public->iface->nn->lock)
{
	struct net6_iface *iface = public->iface;
	u32 preferred = net6_lifetime_left(public->preferred_lft, public->updated);
	u32 valid = net6_lifetime_left(public->valid_lft, public->updated);
	struct net6_addr *addr, *next;
	bool current_one = false;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(addr, next, &iface->formed, formed_list) {
		if (addr->origin != NET6_ADDR_TEMPORARY ||
		    !ipv6_prefix_equal(&addr->addr, &public->addr, 64))
			continue;
		/* RFC 8981 3.4 rule 7: after the last of TEMP_IDGEN_RETRIES duplicates no
		 * more are made; it stays to be seen.
		 */
		current_one |= !addr->replaced;
		addr->valid_lft = net6_temp_cap(addr, valid, READ_ONCE(iface->temp_valid));
		addr->preferred_lft = min(net6_temp_cap(addr, preferred, addr->temp_preferred),
					  addr->valid_lft);
		addr->updated = jiffies;
		if (!net6_addr_in_dad(addr) && !net6_addr_age(addr))
			net6_addr_remove(addr);
	}
	if (READ_ONCE(iface->use_tempaddr) && !current_one)
		net6_temp_create(public);
}

/* The address that those of a prefix go with, formed from it or set by hand for that; not @but. */
static struct net6_addr *net6_temp_public(const struct net6_addr *of, const struct net6_addr *but)
	__must_hold(&of->iface->nn->lock)
{
	struct net6_addr *a;

	list_for_each_entry(a, &of->iface->addrs, iface_list)
		if ((a->origin == NET6_ADDR_SLAAC || (a->flags & IFA_F_MANAGETEMPADDR)) &&
		    a != but && ipv6_prefix_equal(&a->addr, &of->addr, 64))
			return a;
	return NULL;
}

/**
 * net6_temp_leave() - an address that temporary ones go with goes, or is to have none any more
 * @public: that address
 *
 * They go, unless there is another one in the prefix. Context: nn->lock held.
 */
void net6_temp_leave(const struct net6_addr *public)
	__must_hold(&public->iface->nn->lock)
{
	struct net6_addr *addr, *next;

	lockdep_assert_held(&public->iface->nn->lock);
	if (net6_temp_public(public, public))
		return;
	list_for_each_entry_safe(addr, next, &public->iface->formed, formed_list)
		if (addr->origin == NET6_ADDR_TEMPORARY &&
		    ipv6_prefix_equal(&addr->addr, &public->addr, 64))
			net6_addr_remove(addr);
}

/**
 * net6_temp_age() - make the next address in time
 * @addr: temporary address that is assigned
 * @preferred: seconds left of its preferred lifetime
 *
 * RFC 8981 3.6. Context: nn->lock held.
 * Return: seconds until this is to be called again, @preferred if it need not be.
 */
u32 net6_temp_age(struct net6_addr *addr, u32 preferred)
	__must_hold(&addr->iface->nn->lock)
{
	u32 advance = net6_temp_advance(addr->iface);
	struct net6_addr *public;

	lockdep_assert_held(&addr->iface->nn->lock);
	if (addr->replaced)
		return preferred;
	if (preferred > advance)
		return preferred - advance;
	addr->replaced = true;
	public = net6_temp_public(addr, NULL);
	if (public && READ_ONCE(addr->iface->use_tempaddr))
		net6_temp_create(public);
	return preferred;
}
