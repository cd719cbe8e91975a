// SPDX-License-Identifier: GPL-2.0
/* The source address that a route asks for (RTA_PREFSRC). Routes refer to the address by a small
 * object. So one that goes does not look for its routes, and they do not keep its interface.
 */
#include <net/ipv6.h>

#include "addr.h"
#include "source.h"

/* An address that no interface has assigned yet. */
static struct net6_addr *net6_source_probed(const struct net6_iface *iface,
					    const struct in6_addr *addr, bool scoped)
{
	const struct net6_iface *other;
	struct net6_addr *a = net6_addr_find(iface, addr);

	if (scoped || (a && net6_addr_in_dad(a)))
		return a && net6_addr_in_dad(a) ? a : NULL;
	list_for_each_entry_rcu(other, &iface->nn->ifaces, list) {
		if (net6_iface_table(other) != net6_iface_table(iface))
			continue;
		a = net6_addr_find(other, addr);
		if (a && net6_addr_in_dad(a))
			return a;
	}
	return NULL;
}

/* As native checks it: on any interface, but link-local addresses and ::1 on the route's. */
static struct net6_addr *net6_source_find(const struct net6_iface *iface,
					  const struct in6_addr *addr, bool early)
{
	bool scoped = ipv6_addr_type(addr) & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_LOOPBACK);
	struct net6_addr *a = net6_addr_find(iface, addr);
	const struct net6_accept *accept;

	if ((!a || !net6_addr_is_assigned(a)) && !scoped) {
		accept = net6_accept_in(iface->nn, addr, net6_iface_table(iface)->id);
		a = accept && accept->type == NET6_ACCEPT_UNICAST ?
		    net6_addr_find(accept->iface, addr) : NULL;
	}
	if (a && net6_addr_is_assigned(a))
		return a;
	return early ? net6_source_probed(iface, addr, scoped) : NULL;
}

/**
 * net6_source_get() - an address of ours as the source that a route asks for
 * @iface: the route's interface
 * @addr: the address
 * @early: it may still be probed for, and is used when that is over
 *
 * Context: process, RTNL held; takes nn->lock.
 * Return: a reference; ERR_PTR: -EINVAL (not an address of ours), -ENOMEM.
 */
struct net6_source *net6_source_get(const struct net6_iface *iface, const struct in6_addr *addr,
				    bool early)
{
	struct net6_net *nn = iface->nn;
	struct net6_source *new, *source = ERR_PTR(-EINVAL);
	struct net6_addr *a;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return ERR_PTR(-ENOMEM);
	rcu_read_lock();
	/* Before the lock, which must not be held for as long as there are interfaces. */
	a = net6_source_find(iface, addr, early);
	spin_lock_bh(&nn->lock);
	if (a && READ_ONCE(a->state) == NET6_ADDR_GONE)
		a = NULL;
	if (a && !a->source) {
		new->addr = *addr;
		refcount_set(&new->ref, 1);
		a->source = new;
		new = NULL;
	}
	if (a) {
		refcount_inc(&a->source->ref);
		source = a->source;
	}
	spin_unlock_bh(&nn->lock);
	rcu_read_unlock();
	kfree(new);
	return source;
}

/**
 * net6_source_end() - an address goes
 * @addr: the address
 *
 * Context: nn->lock held.
 */
void net6_source_end(struct net6_addr *addr)
	__must_hold(&addr->iface->nn->lock)
{
	struct net6_source *source = addr->source;

	lockdep_assert_held(&addr->iface->nn->lock);
	if (likely(!source))
		return;
	addr->source = NULL;
	WRITE_ONCE(source->gone, true);
	net6_source_put(source);
}

/**
 * net6_source_usable() - can packets have the source that a route asks for?
 * @source: of the route
 * @iface: interface that they leave by
 *
 * An address that is found to be somebody else's is there, but not to be used. Context: RCU read
 * lock held.
 */
bool net6_source_usable(const struct net6_source *source, const struct net6_iface *iface)
{
	return !READ_ONCE(source->gone) &&
	       net6_addr_usable(iface->nn, &source->addr, iface->ifindex);
}

/* The last reference is given back. */
void net6_source_free(struct net6_source *source)
{
	kfree_rcu(source, rcu);
}
