// SPDX-License-Identifier: GPL-2.0
/* Neighbor Discovery for others, RFC 4861 7.2.8. A router answers on an interface for addresses
 * of other nodes, so that their packets come to it, to be forwarded. Whether it may is for the
 * operator to know: no Duplicate Address Detection, no unsolicited advertisements (which 7.2.8
 * allows), no prefixes (RFC 4389).
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "forward.h"
#include "proxy.h"

/* By what a Neighbor Solicitation for a proxied address is delivered; in no table. */
static const struct net6_accept net6_proxy_unicast = { .type = NET6_ACCEPT_UNICAST };

/* Users choose the bits. So the secret goes in with them, not on top of the result. No word is
 * folded into another before, as ipv6_addr_hash() and __ipv6_addr_jhash() do.
 */
static struct hlist_head *net6_proxy_bucket(const struct net6_iface *iface,
					    const struct in6_addr *addr)
{
	const struct net6_addr_key key = { .addr = *addr, .iface = iface };
	struct net6_net *nn = iface->nn;
	u32 hash = jhash2((const u32 *)&key, sizeof(key) / sizeof(u32), (u32)nn->secret.key[0]);

	return &nn->proxy_hash[hash_32(hash, NET6_PROXY_HASH_BITS)];
}

/**
 * net6_proxy_lookup() - is this address in the list, whether it is answered for or not?
 * @iface: interface
 * @addr: address
 *
 * Context: RCU read lock or nn->lock held. Return: the entry or NULL.
 */
struct net6_proxy *net6_proxy_lookup(const struct net6_iface *iface, const struct in6_addr *addr)
{
	struct net6_proxy *proxy;

	hlist_for_each_entry_rcu(proxy, net6_proxy_bucket(iface, addr), hash_node,
				 lockdep_is_held(&iface->nn->lock))
		if (proxy->iface == iface && ipv6_addr_equal(&proxy->addr, addr))
			return proxy;
	return NULL;
}

/**
 * net6_proxy_find_on() - as net6_proxy_find(), where there are some
 * @iface: interface
 * @addr: address
 *
 * Context: RCU read lock held. Return: the entry or NULL.
 */
const struct net6_proxy *net6_proxy_find_on(const struct net6_iface *iface,
					    const struct in6_addr *addr)
{
	if (!net6_forward_on(iface) || !READ_ONCE(iface->proxy_ndp))
		return NULL;
	return net6_proxy_lookup(iface, addr);
}

/**
 * net6_proxy_accept_ns() - as net6_proxy_accept(), where there are some
 * @iface: interface
 * @skb: packet
 *
 * Nodes probe their neighbors by unicast (RFC 4861 7.3.3): forwarded these would end unanswered.
 * Context: RCU read lock held. Return: an entry or NULL.
 */
const struct net6_accept *net6_proxy_accept_ns(const struct net6_iface *iface,
					       const struct sk_buff *skb)
{
	int at = skb_network_offset(skb) + sizeof(struct ipv6hdr);
	u8 nexthdr = ipv6_hdr(skb)->nexthdr;
	__be16 frag_off;
	const u8 *type;
	u8 buf;

	if (skb->pkt_type != PACKET_HOST || !net6_proxy_find_on(iface, &ipv6_hdr(skb)->daddr))
		return NULL;
	at = ipv6_skip_exthdr(skb, at, &nexthdr, &frag_off);
	if (at < 0 || frag_off || nexthdr != IPPROTO_ICMPV6)
		return NULL;
	type = skb_header_pointer(skb, at, sizeof(buf), &buf);
	return type && *type == NDISC_NEIGHBOUR_SOLICITATION ? &net6_proxy_unicast : NULL;
}

/* A new entry. nn->lock held. */
static int net6_proxy_insert(struct net6_iface *iface, const struct in6_addr *addr, bool router)
	__must_hold(&iface->nn->lock)
{
	struct net6_net *nn = iface->nn;
	struct net6_proxy *proxy;
	struct in6_addr group;
	int err;

	if (nn->n_proxies >= READ_ONCE(nn->limits.max_proxies)) {
		NET6_INC(nn, NdProxyLimit);
		return -ENOSPC;
	}
	proxy = kzalloc(sizeof(*proxy), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!proxy)
		return -ENOMEM;
	/* RFC 4861 7.2.8: "A proxy MUST join the solicited-node multicast address(es) that
	 * correspond to the IP address(es) assigned to the node for which it is proxying."
	 */
	addrconf_addr_solict_mult(addr, &group);
	err = net6_group_join_locked(iface, &group);
	if (err) {
		kfree(proxy);
		return err;
	}
	proxy->addr = *addr;
	proxy->iface = iface;
	proxy->router = router;
	hlist_add_head_rcu(&proxy->hash_node, net6_proxy_bucket(iface, addr));
	nn->n_proxies++;
	WRITE_ONCE(iface->n_proxies, iface->n_proxies + 1);
	return 0;
}

/* nn->lock held. */
static void net6_proxy_remove(struct net6_proxy *proxy)
	__must_hold(&proxy->iface->nn->lock)
{
	struct net6_iface *iface = proxy->iface;
	struct in6_addr group;

	addrconf_addr_solict_mult(&proxy->addr, &group);
	net6_group_leave_locked(iface, &group);
	hlist_del_rcu(&proxy->hash_node);
	WRITE_ONCE(iface->n_proxies, iface->n_proxies - 1);
	iface->nn->n_proxies--;
	kfree_rcu(proxy, rcu);
}

/**
 * net6_proxy_add() - answer for an address of another node, or change how
 * @iface: interface that is in the tables
 * @addr: the address; one of ours goes before it
 * @router: the node is a router
 *
 * Context: any but hard interrupts; takes nn->lock.
 * Return: 0, -EINVAL (no unicast address), -EOPNOTSUPP (no Neighbor Discovery there), -ENODEV
 * (the interface is going), -ENOSPC (too many), -ENOMEM, or what the link says of the group.
 */
int net6_proxy_add(struct net6_iface *iface, const struct in6_addr *addr, bool router)
{
	struct net6_proxy *proxy;
	int err = 0;

	if (!(ipv6_addr_type(addr) & IPV6_ADDR_UNICAST) || ipv6_addr_loopback(addr) ||
	    ipv6_addr_v4mapped(addr))
		return -EINVAL;
	if (!(iface->ops->flags & NET6_LINK_ND))
		return -EOPNOTSUPP;
	spin_lock_bh(&iface->nn->lock);
	proxy = net6_proxy_lookup(iface, addr);
	if (proxy)
		WRITE_ONCE(proxy->router, router);
	else if (test_bit(NET6_IFACE_DEAD, &iface->flags))
		err = -ENODEV;
	else
		err = net6_proxy_insert(iface, addr, router);
	spin_unlock_bh(&iface->nn->lock);
	return err;
}

/**
 * net6_proxy_del() - answer for an address no more
 * @iface: interface
 * @addr: address
 *
 * Context: any but hard interrupts; takes nn->lock. Return: 0 or -ENOENT.
 */
int net6_proxy_del(struct net6_iface *iface, const struct in6_addr *addr)
{
	struct net6_proxy *proxy;

	spin_lock_bh(&iface->nn->lock);
	proxy = net6_proxy_lookup(iface, addr);
	if (proxy)
		net6_proxy_remove(proxy);
	spin_unlock_bh(&iface->nn->lock);
	return proxy ? 0 : -ENOENT;
}

/**
 * net6_proxy_leave_all() - end of all proxied addresses
 * @iface: interface that goes
 *
 * Context: nn->lock held, DEAD set.
 */
void net6_proxy_leave_all(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_proxy *proxy;
	struct hlist_node *next;
	int bucket;

	lockdep_assert_held(&iface->nn->lock);
	if (!iface->n_proxies)
		return;
	hash_for_each_safe(iface->nn->proxy_hash, bucket, next, proxy, hash_node)
		if (proxy->iface == iface)
			net6_proxy_remove(proxy);
}
