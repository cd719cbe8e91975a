/* SPDX-License-Identifier: GPL-2.0 */
/* Neighbor Discovery for others, RFC 4861 7.2.8: the proxied addresses. */
#ifndef _NET6_PROXY_H
#define _NET6_PROXY_H

#include "addr.h"

/**
 * struct net6_proxy - an address of another node that is answered for on an interface
 * @addr: the address; constant
 * @iface: where; the entry goes before it does
 * @router: the node is a router: advertisements say so. Under nn->lock
 * @hash_node: in nn->proxy_hash; written under nn->lock, read under RCU
 * @rcu: freed after a grace period
 */
struct net6_proxy {
	struct in6_addr		addr;
	struct net6_iface	*iface;
	bool			router;
	struct hlist_node	hash_node;
	struct rcu_head		rcu;
};

/* Process; take nn->lock. */
int net6_proxy_add(struct net6_iface *iface, const struct in6_addr *addr, bool router);
int net6_proxy_del(struct net6_iface *iface, const struct in6_addr *addr);

void net6_proxy_leave_all(struct net6_iface *iface);	/* nn->lock held */

struct net6_proxy *net6_proxy_lookup(const struct net6_iface *iface, const struct in6_addr *addr);

/* RCU read lock held. */
const struct net6_proxy *net6_proxy_find_on(const struct net6_iface *iface,
					    const struct in6_addr *addr);
const struct net6_accept *net6_proxy_accept_ns(const struct net6_iface *iface,
					       const struct sk_buff *skb);

/**
 * net6_proxy_find() - is this address answered for?
 * @iface: interface
 * @addr: address, none of ours there
 *
 * As on Linux: a router that is told so by proxy_ndp. Costs a test where nothing is proxied.
 * Context: RCU read lock held. Return: the entry or NULL.
 */
static inline const struct net6_proxy *net6_proxy_find(const struct net6_iface *iface,
						       const struct in6_addr *addr)
{
	return likely(!READ_ONCE(iface->n_proxies)) ? NULL : net6_proxy_find_on(iface, addr);
}

/**
 * net6_proxy_accept() - is this packet for another node to be received in its place?
 * @iface: usable interface that it came in on
 * @skb: packet, network header linear, destination no address of ours
 *
 * Neighbor Solicitations only: other packets for a proxied address are forwarded.
 * Context: RCU read lock held. Return: an entry to deliver it by, or NULL.
 */
static inline const struct net6_accept *net6_proxy_accept(const struct net6_iface *iface,
							  const struct sk_buff *skb)
{
	return likely(!READ_ONCE(iface->n_proxies)) ? NULL : net6_proxy_accept_ns(iface, skb);
}

#endif /* _NET6_PROXY_H */
