// SPDX-License-Identifier: GPL-2.0
/* Prefixes of NAT64 that routers tell, RFC 8781. A list per interface, kept for their lifetime. A
 * router withdraws its own only.
 */
#include <net/ipv6.h>

#include "../observe/note.h"
#include "nd.h"
#include "pref64.h"

static struct net6_pref64 *net6_pref64_find(const struct net6_iface *iface,
					    const struct in6_addr *router,
					    const struct in6_addr *prefix, u8 plen)
	__must_hold(&iface->nn->lock)
{
	struct net6_pref64 *p;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry(p, &iface->pref64s, life.list)
		if (p->plen == plen && ipv6_addr_equal(&p->prefix, prefix) &&
		    ipv6_addr_equal(&p->router, router))
			return p;
	return NULL;
}

static void net6_pref64_free(struct net6_pref64 *p)
	__must_hold(&p->iface->nn->lock)
{
	list_del(&p->life.list);
	net6_life_forget(&p->iface->ends, &p->life);
	p->iface->n_pref64s--;
	net6_note_pref64(p, NET6_NOTE_DEL);
	kfree(p);
}

static void net6_pref64_new(struct net6_iface *iface, const struct in6_addr *router,
			    const struct in6_addr *prefix, u8 plen, u32 lifetime)
	__must_hold(&iface->nn->lock)
{
	struct net6_pref64 *p;

	if (!net6_iface_usable(iface))
		return;
	if (iface->n_pref64s == NET6_PREF64_MAX) {
		NET6_INC(iface->nn, NdPref64Limit);
		return;
	}
	p = kzalloc(sizeof(*p), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!p)
		return;
	p->prefix = *prefix;
	p->router = *router;
	p->iface = iface;
	p->plen = plen;
	net6_life_begin(&iface->ends, &p->life, NET6_LIFE_PREF64, lifetime);
	list_add_tail(&p->life.list, &iface->pref64s);
	iface->n_pref64s++;
	net6_nd_await_end(iface, lifetime);
	net6_note_pref64(p, NET6_NOTE_NEW);
}

/**
 * net6_pref64_told() - a router tells a prefix, renews or withdraws it
 * @iface: interface
 * @router: its link-local address
 * @prefix: bits beyond @plen zero
 * @plen: 32, 40, 48, 56, 64 or 96
 * @lifetime: seconds, 0 to withdraw it; finite
 *
 * A new one is not kept when the interface has NET6_PREF64_MAX, or without memory. It is told
 * again. Context: softirq or process; takes nn->lock.
 */
void net6_pref64_told(struct net6_iface *iface, const struct in6_addr *router,
		      const struct in6_addr *prefix, u8 plen, u32 lifetime)
{
	struct net6_pref64 *p;

	spin_lock_bh(&iface->nn->lock);
	p = net6_pref64_find(iface, router, prefix, plen);
	if (p && lifetime) {
		net6_life_set(&iface->ends, &p->life, lifetime);
		net6_nd_await_end(iface, lifetime);
	} else if (p) {
		net6_pref64_free(p);
	} else if (lifetime) {
		net6_pref64_new(iface, router, prefix, plen, lifetime);
	}
	spin_unlock_bh(&iface->nn->lock);
}

/* Its lifetime is over. */
void net6_pref64_end(struct net6_life *life)
{
	net6_pref64_free(container_of(life, struct net6_pref64, life));
}

void net6_pref64_forget_all(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_pref64 *p, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(p, next, &iface->pref64s, life.list)
		net6_pref64_free(p);
}
