/* SPDX-License-Identifier: GPL-2.0 */
/* The source address that a route asks for (RTA_PREFSRC): an address of ours, as long as it is
 * there.
 */
#ifndef _NET6_SOURCE_H
#define _NET6_SOURCE_H

#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct net6_addr;
struct net6_iface;
struct net6_net;

/**
 * struct net6_source - an address that routes ask for; one that nobody asks for has none of these
 * @addr: the address
 * @gone: it has been removed. If it comes back it is another one, as on native
 * @ref: references: of the address, as long as it is there, and of routes
 * @rcu: freed after a grace period
 */
struct net6_source {
	struct in6_addr		addr;
	bool			gone;
	refcount_t		ref;
	struct rcu_head		rcu;
};

struct net6_source *net6_source_get(const struct net6_iface *iface, const struct in6_addr *addr,
				    bool early);
void net6_source_end(struct net6_addr *addr);
bool net6_source_usable(const struct net6_source *source, const struct net6_iface *iface);
void net6_source_free(struct net6_source *source);

/* NULL if the last reference is just being given back. RCU read lock or a reference held. */
static inline struct net6_source *net6_source_hold(struct net6_source *source)
{
	return unlikely(source) && refcount_inc_not_zero(&source->ref) ? source : NULL;
}

/* NULL is allowed. Who found it under RCU may go on reading it there. */
static inline void net6_source_put(struct net6_source *source)
{
	if (unlikely(source) && refcount_dec_and_test(&source->ref))
		net6_source_free(source);
}

/* What is told of a route: NULL for nothing. */
static inline const struct in6_addr *net6_source_addr(const struct net6_source *source)
{
	return unlikely(source) && !READ_ONCE(source->gone) ? &source->addr : NULL;
}

#endif /* _NET6_SOURCE_H */
