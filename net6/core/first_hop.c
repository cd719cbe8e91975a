// SPDX-License-Identifier: GPL-2.0
/* First-hop router selection by source address, RFC 8028. Default routers remember the prefixes
 * that they have told, and a packet goes to one that has told its source's. The network behind
 * another one may filter it (BCP 38). Nothing of this is looked at while a namespace has one
 * default router only. With more of them each look-up for a source that is settled asks each.
 */
#include <linux/rculist.h>
#include <net/ipv6.h>

#include "nd.h"

/**
 * struct net6_told - a prefix in a router's advertisements
 * @life: in router->told: its valid lifetime
 * @item: alone in a node of router->by_prefix
 * @router: who has told it
 * @prefix: bits beyond @plen zero
 * @plen: 0..128
 * @rcu: freed after a grace period
 */
struct net6_told {
	struct net6_life	life;
	struct list_head	item;
	struct net6_router	*router;
	struct in6_addr		prefix;
	u8			plen;
	struct rcu_head		rcu;
};

/* nn->lock held. */
static void net6_told_free(struct net6_told *told)
	__must_hold(&told->router->iface->nn->lock)
{
	list_del_rcu(&told->item);
	net6_trie_prune(&told->router->by_prefix, &told->prefix, told->plen);
	list_del(&told->life.list);
	net6_life_forget(&told->router->iface->ends, &told->life);
	told->router->n_told--;
	net6_dest_flush(told->router->iface->nn);
	kfree_rcu(told, rcu);
}

/* A router has not told it again in time. */
void net6_told_end(struct net6_life *life)
{
	net6_told_free(container_of(life, struct net6_told, life));
}

/* nn->lock held. */
static struct net6_told *net6_told_find(struct net6_router *router, const struct in6_addr *prefix,
					u8 plen)
	__must_hold(&router->iface->nn->lock)
{
	struct net6_trie_node *node = net6_trie_find(&router->by_prefix, prefix, plen);

	return node ? list_first_entry_or_null(&node->items, struct net6_told, item) : NULL;
}

/* nn->lock held. */
static void net6_told_new(struct net6_router *router, const struct in6_addr *prefix, u8 plen,
			  u32 valid_lft)
	__must_hold(&router->iface->nn->lock)
{
	struct net6_net *nn = router->iface->nn;
	struct net6_trie_node *node;
	struct net6_told *told;

	if (router->n_told >= READ_ONCE(nn->limits.max_prefixes)) {
		NET6_INC(nn, NdPrefixLimit);
		return;
	}
	told = kzalloc(sizeof(*told), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!told)
		return;
	node = net6_trie_insert(&router->by_prefix, prefix, plen);
	if (!node) {
		kfree(told);
		return;
	}
	told->router = router;
	told->prefix = *prefix;
	told->plen = plen;
	net6_life_begin(&router->iface->ends, &told->life, NET6_LIFE_TOLD, valid_lft);
	list_add_tail(&told->life.list, &router->told);
	list_add_rcu(&told->item, &node->items);
	router->n_told++;
	net6_dest_flush(nn);
}

/**
 * net6_router_tells() - a Prefix Information option in a router's advertisement
 * @iface: interface it came in on
 * @addr: the router's address; nothing happens if it is no default router
 * @prefix: prefix, bits beyond @plen zero, whatever its flags (RFC 8028 3.1)
 * @plen: 0..128
 * @valid_lft: seconds, NET6_LIFETIME_INFINITE; 0: it is told no more
 *
 * Context: softirq or BH disabled; takes nn->lock.
 */
void net6_router_tells(struct net6_iface *iface, const struct in6_addr *addr,
		       const struct in6_addr *prefix, u8 plen, u32 valid_lft)
{
	struct net6_router *router;
	struct net6_told *told;

	spin_lock_bh(&iface->nn->lock);
	router = net6_router_find(iface, addr);
	if (!router)
		goto unlock;
	told = net6_told_find(router, prefix, plen);
	if (told && !valid_lft)
		net6_told_free(told);
	else if (told)
		net6_life_set(&iface->ends, &told->life, valid_lft);
	else if (valid_lft)
		net6_told_new(router, prefix, plen, valid_lft);
	net6_nd_await_end(iface, valid_lft);
unlock:
	spin_unlock_bh(&iface->nn->lock);
}

/**
 * net6_told_forget() - a router goes
 * @router: router, in the list no more
 *
 * Context: nn->lock held.
 */
void net6_told_forget(struct net6_router *router)
	__must_hold(&router->iface->nn->lock)
{
	struct net6_told *told, *next;

	list_for_each_entry_safe(told, next, &router->told, life.list)
		net6_told_free(told);
}

/**
 * net6_router_told() - has a router told the prefix of an address?
 * @router: router
 * @addr: address of ours
 *
 * Context: RCU read lock held.
 */
bool net6_router_told(const struct net6_router *router, const struct in6_addr *addr)
{
	return net6_trie_first(&router->by_prefix, addr);
}

/**
 * net6_first_hop() - the default router for a source address
 * @nn: namespace
 * @table: routing table that its interface is at home in
 * @saddr: source, :: if it is not known yet
 * @oif: interface the router must be on, 0 for any
 *
 * RFC 8028 3.2: "one of the routers advertising the prefix".
 * Context: RCU read lock held. Return: net6_router.id; 0 if it does not matter.
 */
u32 net6_first_hop(struct net6_net *nn, const struct net6_table *table,
		   const struct in6_addr *saddr, int oif)
{
	const struct net6_router *router;

	if (likely(READ_ONCE(nn->n_routers) < 2) || ipv6_addr_any(saddr))
		return 0;
	router = net6_router_select(nn, table, oif, saddr);
	return router && net6_router_told(router, saddr) ? router->id : 0;
}

/**
 * net6_first_hop_of() - who has told the prefix of a candidate for a source address?
 * @out: interface the packet leaves by
 * @hop: address of the next hop
 * @addr: the candidate
 *
 * RFC 6724 section 5, rule 5.5. Context: RCU read lock held.
 * Return: 1: the next hop, -1: other default routers only, 0: none of them.
 */
int net6_first_hop_of(const struct net6_iface *out, const struct in6_addr *hop,
		      const struct in6_addr *addr)
{
	const struct net6_router *router;
	const struct net6_iface *iface;
	int found = 0;

	list_for_each_entry_rcu(iface, &out->nn->ifaces, list)
		list_for_each_entry_rcu(router, &iface->routers, life.list) {
			if (!net6_router_told(router, addr))
				continue;
			if (iface == out && ipv6_addr_equal(&router->addr, hop))
				return 1;
			found = -1;
		}
	return found;
}
