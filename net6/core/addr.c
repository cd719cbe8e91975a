// SPDX-License-Identifier: GPL-2.0
/* Unicast addresses of ours [NTE]: table, lifetimes, and the rules of RFC 4862
 * section 5.5.3 for addresses made from prefixes. DAD is in dad.c.
 */
#include <linux/rculist.h>
#include <linux/rhashtable.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "../observe/note.h"
#include "addr.h"
#include "anycast.h"
#include "iid.h"
#include "nd.h"

/* Timers run at most that long; a later end is looked at again. */
#define NET6_ADDR_TIMER_MAX	(24 * 3600UL)	/* seconds */

static void net6_addr_timer_fn(struct timer_list *t);

static int net6_addr_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct net6_addr_key *key = arg->key;
	const struct net6_addr *addr = obj;

	return addr->iface != key->iface || !ipv6_addr_equal(&addr->addr, &key->addr);
}

static const struct rhashtable_params net6_addr_params = {
	.key_len		= sizeof(struct net6_addr_key),
	.key_offset		= offsetof(struct net6_addr, addr),
	.head_offset		= offsetof(struct net6_addr, node),
	.obj_cmpfn		= net6_addr_cmp,
	.automatic_shrinking	= true,
};

/**
 * net6_addr_find() - an address of an interface, in whatever state
 * @iface: interface
 * @addr: address
 *
 * Context: RCU read lock or nn->lock held. Return: borrowed entry or NULL.
 */
struct net6_addr *net6_addr_find(const struct net6_iface *iface, const struct in6_addr *addr)
{
	const struct net6_addr_key key = { .addr = *addr, .iface = iface };

	return rhashtable_lookup_fast(&iface->nn->addrs, &key, net6_addr_params);
}

struct net6_addr *net6_addr_find_locked(struct net6_iface *iface, const struct in6_addr *addr)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	return net6_addr_find(iface, addr);
}

/**
 * net6_addr_usable() - may a socket have this source address?
 * @nn: namespace
 * @addr: address
 * @ifindex: interface it is to be used on, 0 for any; matters for link-local ones and ::1
 *
 * Context: RCU read lock held. Return: true if it is assigned; optimistic ones are, too.
 */
bool net6_addr_usable(struct net6_net *nn, const struct in6_addr *addr, int ifindex)
{
	bool scoped = ipv6_addr_type(addr) & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_LOOPBACK);
	const struct net6_iface *iface;
	const struct net6_addr *a;

	if (!scoped || !ifindex)
		return net6_accept_assigned(nn, addr);
	iface = net6_iface_find(nn, ifindex);
	a = iface ? net6_addr_find(iface, addr) : NULL;
	return a && net6_addr_is_assigned(a);
}

/* Is it in iface->formed? It never changes. */
static bool net6_addr_is_formed(const struct net6_addr *addr)
{
	return addr->origin != NET6_ADDR_MANUAL ||
	       ipv6_addr_type(&addr->addr) & IPV6_ADDR_LINKLOCAL;
}

/**
 * net6_addr_linklocal() - the link-local address of an interface
 * @iface: interface
 * @addr: filled in
 *
 * Context: RCU read lock held. Return: false if none is assigned, or only an optimistic one.
 */
bool net6_addr_linklocal(const struct net6_iface *iface, struct in6_addr *addr)
{
	const struct net6_addr *a;

	list_for_each_entry_rcu(a, &iface->formed, formed_list) {
		if (net6_addr_in_dad(a) || !net6_addr_is_assigned(a) ||
		    !(ipv6_addr_type(&a->addr) & IPV6_ADDR_LINKLOCAL))
			continue;
		*addr = a->addr;
		return true;
	}
	return false;
}

/**
 * net6_addr_put() - give a reference back
 * @addr: address
 *
 * Context: any.
 */
void net6_addr_put(struct net6_addr *addr)
{
	if (!refcount_dec_and_test(&addr->ref))
		return;
	net6_iface_put(addr->iface);
	kfree_rcu(addr, rcu);
}

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
	if (del_timer(&addr->timer))
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

/**
 * net6_addr_remove() - take an address out of the tables
 * @addr: address; the tables' reference is given back
 *
 * Context: nn->lock held.
 */
void net6_addr_remove(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	net6_addr_unassign(addr);
	WRITE_ONCE(addr->state, NET6_ADDR_GONE);
	net6_note_addr(addr, NET6_NOTE_DEL);
	rhashtable_remove_fast(&addr->iface->nn->addrs, &addr->node, net6_addr_params);
	list_del_rcu(&addr->iface_list);
	if (net6_addr_is_formed(addr))
		list_del_rcu(&addr->formed_list);
	if (addr->origin == NET6_ADDR_SLAAC || addr->origin == NET6_ADDR_TEMPORARY)
		addr->iface->n_addrs--;
	addr->iface->n_manual -= addr->origin == NET6_ADDR_MANUAL;
	net6_addr_put(addr);
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

static void net6_addr_timer_fn(struct timer_list *t)
{
	struct net6_addr *addr = from_timer(addr, t, timer);
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

/* The caller keeps other writers away. */
static void net6_addr_take(struct net6_addr *a, const struct net6_addr_wish *wish)
{
	WRITE_ONCE(a->flags, wish->flags);
	WRITE_ONCE(a->proto, wish->proto);
	a->metric = wish->metric;
	a->peer = wish->peer;
	a->valid_lft = wish->valid_lft;
	a->preferred_lft = wish->preferred_lft;
}

/* Put an address on an interface; DAD is for the caller to start. */
static struct net6_addr *net6_addr_new(struct net6_iface *iface, const struct in6_addr *addr,
				       enum net6_addr_origin origin,
				       const struct net6_addr_wish *wish)
	__must_hold(&iface->nn->lock)
{
	struct net6_net *nn = iface->nn;
	int err = net6_iface_refuses(iface);
	struct net6_addr *a;

	if (err)
		return ERR_PTR(err);
	if (net6_addr_find_locked(iface, addr))
		return ERR_PTR(-EEXIST);
	if (origin == NET6_ADDR_MANUAL && net6_iface_manual_full(iface))
		return ERR_PTR(-ENOSPC);
	a = kzalloc(sizeof(*a), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!a)
		return ERR_PTR(-ENOMEM);

	a->addr = *addr;
	a->iface = net6_iface_get(iface);
	a->plen = wish->plen;
	a->state = NET6_ADDR_TENTATIVE;
	a->origin = origin;
	net6_addr_take(a, wish);
	a->updated = jiffies;
	a->created = jiffies;
	a->temp_preferred = wish->preferred_lft;
	timer_setup(&a->timer, net6_addr_timer_fn, 0);
	refcount_set(&a->ref, 1);
	if (rhashtable_insert_fast(&nn->addrs, &a->node, net6_addr_params)) {
		net6_addr_put(a);
		return ERR_PTR(-ENOMEM);
	}
	list_add_tail_rcu(&a->iface_list, &iface->addrs);
	if (net6_addr_is_formed(a))
		list_add_tail_rcu(&a->formed_list, &iface->formed);
	if (origin == NET6_ADDR_SLAAC || origin == NET6_ADDR_TEMPORARY)
		iface->n_addrs++;
	iface->n_manual += origin == NET6_ADDR_MANUAL;
	net6_note_addr(a, NET6_NOTE_NEW);
	return a;
}

/**
 * net6_addr_insert() - put an address on an interface and start DAD if it is up
 * @iface: interface
 * @addr: unicast address
 * @plen: prefix length, bits
 * @origin: where it comes from
 * @valid_lft: seconds
 * @preferred_lft: seconds, at most @valid_lft
 * @dad_counter: RFC 7217 DAD_Counter it was made with
 *
 * Context: nn->lock held.
 * Return: 0, -EEXIST, -ENODEV (interface is going), -EACCES (disabled), -ENOSPC (limit of
 * manual ones), -ENOMEM.
 */
int net6_addr_insert(struct net6_iface *iface, const struct in6_addr *addr, u8 plen,
		     enum net6_addr_origin origin, u32 valid_lft, u32 preferred_lft,
		     u8 dad_counter)
	__must_hold(&iface->nn->lock)
{
	const struct net6_addr_wish wish = {
		.plen		= plen,
		.valid_lft	= valid_lft,
		.preferred_lft	= preferred_lft,
	};
	struct net6_addr *a = net6_addr_new(iface, addr, origin, &wish);

	if (IS_ERR(a))
		return PTR_ERR(a);
	a->dad_counter = dad_counter;
	/* RFC 4862 5.4.2: a random delay, except for what a person has set. */
	if (net6_iface_usable(iface))
		net6_dad_start(a, origin != NET6_ADDR_MANUAL);
	return 0;
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
 * Context: process or softirq; takes nn->lock.
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
 * Context: process; takes nn->lock.
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
	return err;
}

/**
 * net6_addr_del() - remove an address
 * @iface: its interface
 * @addr: address
 * @plen: with this prefix length, NET6_ADDR_ANY_PLEN with any
 *
 * Context: process or softirq; takes nn->lock. Return: 0 or -EADDRNOTAVAIL.
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
	return err;
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

	if (net6_iface_is_loopback(iface)) {
		net6_addr_add(iface, &in6addr_loopback, 128, NET6_ADDR_LOOPBACK,
			      NET6_LIFETIME_INFINITE, NET6_LIFETIME_INFINITE);
		return;
	}
	spin_lock_bh(&nn->lock);
	list_for_each_entry_safe(a, next, &iface->addrs, iface_list)
		if (!net6_addr_is_assigned(a))
			net6_dad_start(a, a->origin != NET6_ADDR_MANUAL);
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

/**
 * net6_addr_net_init() - a namespace without addresses
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_addr_net_init(struct net6_net *nn)
{
	static_assert(offsetof(struct net6_addr, iface) - offsetof(struct net6_addr, addr) ==
		      offsetof(struct net6_addr_key, iface));
	return rhashtable_init(&nn->addrs, &net6_addr_params);
}

/**
 * net6_addr_net_exit() - end of the table
 * @nn: namespace; its interfaces are gone, and nobody looks
 *
 * Context: process, sleeps.
 */
void net6_addr_net_exit(struct net6_net *nn)
{
	rhashtable_destroy(&nn->addrs);
}
