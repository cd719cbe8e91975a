// SPDX-License-Identifier: GPL-2.0
/* The Prefix List [PLE]: what is on-link, RFC 4861 6.3.4 and RFC 5942. A list per interface, and
 * all of a routing table by longest prefix. The link-local prefix is not in it.
 */
#include <linux/rculist.h>
#include <net/ipv6.h>

#include "../observe/note.h"
#include "nd.h"

static struct net6_prefix *net6_prefix_find(struct net6_iface *iface,
					    const struct in6_addr *prefix, u8 plen)
	__must_hold(&iface->nn->lock)
{
	struct net6_trie *onlink = &net6_iface_table(iface)->onlink;
	struct net6_trie_node *node = net6_trie_find(onlink, prefix, plen);
	struct net6_prefix *p;

	lockdep_assert_held(&iface->nn->lock);
	if (!node)
		return NULL;
	list_for_each_entry(p, &node->items, item)
		if (p->iface == iface)
			return p;
	return NULL;
}

/* nn->lock held. */
static void net6_prefix_free(struct net6_prefix *p)
	__must_hold(&p->iface->nn->lock)
{
	list_del_rcu(&p->life.list);
	net6_life_forget(&p->iface->ends, &p->life);
	list_del_rcu(&p->item);
	net6_trie_prune(&net6_iface_table(p->iface)->onlink, &p->prefix, p->plen);
	net6_note_prefix(p, NET6_NOTE_DEL);
	p->iface->n_prefixes -= !p->manual;
	p->iface->n_manual -= p->manual;
	net6_dest_flush(p->iface->nn);
	kfree_rcu(p, rcu);
}

/* A route has another metric by being another one. nn->lock held. */
static void net6_prefix_set_metric(struct net6_prefix *p, u32 metric)
	__must_hold(&p->iface->nn->lock)
{
	if (metric == p->metric)
		return;
	net6_note_prefix(p, NET6_NOTE_DEL);
	WRITE_ONCE(p->metric, metric);
	net6_note_prefix(p, NET6_NOTE_NEW);
	net6_dest_flush(p->iface->nn);
}

/* It lives as long as somebody says. nn->lock held; frees it when nobody does any more. */
static void net6_prefix_settle(struct net6_prefix *p)
	__must_hold(&p->iface->nn->lock)
{
	struct net6_iface *iface = p->iface;
	u32 left, most = 0;
	bool manual = false;
	unsigned int i;

	for (i = 0; i < NET6_PREFIX_OWNERS; i++) {
		left = net6_lifetime_left(p->claims[i].lifetime, p->claims[i].updated);
		most = max(most, left);
		manual |= left && i != NET6_PREFIX_TOLD;
	}
	if (!most) {
		net6_prefix_free(p);
		return;
	}
	if (!p->claims[NET6_PREFIX_OF_ADDR].lifetime)
		net6_prefix_set_metric(p, NET6_METRIC_PREFIX);
	iface->n_prefixes += p->manual - manual;
	iface->n_manual += manual - p->manual;
	p->manual = manual;
	net6_life_set(&iface->ends, &p->life, most);
	net6_nd_await_end(iface, most);
}

static void net6_prefix_claim(struct net6_prefix *p, u32 valid_lft, enum net6_prefix_owner owner)
{
	p->claims[owner].lifetime = valid_lft;
	p->claims[owner].updated = jiffies;
}

/* nn->lock held. */
static int net6_prefix_new(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen,
			   u32 valid_lft, enum net6_prefix_owner owner, u32 metric)
	__must_hold(&iface->nn->lock)
{
	bool manual = owner != NET6_PREFIX_TOLD;
	int err = net6_iface_refuses_from(iface, manual);
	struct net6_trie_node *node;
	struct net6_prefix *p;

	if (err)
		return err;
	if (!manual && iface->n_prefixes >= READ_ONCE(iface->nn->limits.max_prefixes)) {
		NET6_INC(iface->nn, NdPrefixLimit);
		return -ENOSPC;
	}
	if (manual && net6_iface_manual_full(iface))
		return -ENOSPC;
	p = kzalloc(sizeof(*p), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!p)
		return -ENOMEM;
	node = net6_trie_insert(&net6_iface_table(iface)->onlink, prefix, plen);
	if (!node) {
		kfree(p);
		return -ENOMEM;
	}
	p->prefix = *prefix;
	p->iface = iface;
	p->plen = plen;
	p->manual = manual;
	p->metric = metric ?: NET6_METRIC_PREFIX;
	net6_prefix_claim(p, valid_lft, owner);
	net6_life_begin(&iface->ends, &p->life, NET6_LIFE_PREFIX, valid_lft);
	net6_nd_await_end(iface, valid_lft);
	list_add_tail_rcu(&p->life.list, &iface->prefixes);
	list_add_tail_rcu(&p->item, &node->items);
	net6_note_prefix(p, NET6_NOTE_NEW);
	iface->n_prefixes += !manual;
	iface->n_manual += manual;
	net6_dest_flush(iface->nn);
	return 0;
}

/**
 * net6_prefix_update_locked() - as net6_prefix_update()
 * @iface: interface
 * @prefix: prefix, bits beyond @plen zero
 * @plen: 0..128
 * @valid_lft: seconds, NET6_LIFETIME_INFINITE
 * @owner: who says so
 * @metric: of a new one, 0: as native's; or another one from now on, 0: as it was
 *
 * Context: nn->lock held. Return: as there.
 */
int net6_prefix_update_locked(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen,
			      u32 valid_lft, enum net6_prefix_owner owner, u32 metric)
	__must_hold(&iface->nn->lock)
{
	struct net6_prefix *p = net6_prefix_find(iface, prefix, plen);

	if (!p && !valid_lft)
		return -ENOENT;
	if (!p)
		return net6_prefix_new(iface, prefix, plen, valid_lft, owner, metric);
	if (!valid_lft && owner == NET6_PREFIX_BY_HAND) {
		net6_prefix_free(p);
		return 0;
	}
	if (owner == NET6_PREFIX_TOLD && !net6_iface_usable(iface))
		return -ENETDOWN;
	net6_prefix_claim(p, valid_lft, owner);
	if (valid_lft && metric)
		net6_prefix_set_metric(p, metric);
	net6_prefix_settle(p);
	return 0;
}

/**
 * net6_prefix_update() - add, renew or (lifetime 0) remove an on-link prefix
 * @iface: interface
 * @prefix: prefix, bits beyond @plen zero
 * @plen: 0..128
 * @valid_lft: seconds, NET6_LIFETIME_INFINITE
 * @owner: who says so; what is not by a router's word alone counts against max_manual
 *
 * It stays as long as another owner says, except that the administrator removes it for all. RFC
 * 4861 6.3.4: if it is only told, "time out the prefix immediately" with a lifetime of 0.
 * Context: process or softirq; takes nn->lock.
 * Return: 0, -ENOENT (nothing to remove), -ENOSPC (limit), -ENODEV, -EACCES (disabled), -ENETDOWN
 * (told only), -ENOMEM.
 */
int net6_prefix_update(struct net6_iface *iface, const struct in6_addr *prefix, u8 plen,
		       u32 valid_lft, enum net6_prefix_owner owner)
{
	int err;

	spin_lock_bh(&iface->nn->lock);
	err = net6_prefix_update_locked(iface, prefix, plen, valid_lft, owner, 0);
	spin_unlock_bh(&iface->nn->lock);
	return err;
}

void net6_prefix_forget_all(struct net6_iface *iface, bool manual)
	__must_hold(&iface->nn->lock)
{
	struct net6_prefix *p, *next;

	lockdep_assert_held(&iface->nn->lock);
	list_for_each_entry_safe(p, next, &iface->prefixes, life.list) {
		if (manual) {
			net6_prefix_free(p);
			continue;
		}
		net6_prefix_claim(p, 0, NET6_PREFIX_TOLD);
		net6_prefix_settle(p);
	}
}

/* Its lifetime is over. */
void net6_prefix_end(struct net6_life *life)
{
	net6_prefix_free(container_of(life, struct net6_prefix, life));
}

/* The one of the lowest metric, of those the oldest; NULL if none can be used. */
static struct net6_prefix *net6_prefix_best(const struct net6_trie_node *node, int oif)
{
	struct net6_prefix *p, *best = NULL;

	list_for_each_entry_rcu(p, &node->items, item)
		if (net6_iface_usable(p->iface) && (!oif || p->iface->ifindex == oif) &&
		    (!best || READ_ONCE(p->metric) < READ_ONCE(best->metric)))
			best = p;
	return best;
}

/**
 * net6_prefix_match() - is an address on-link?
 * @table: where to look
 * @addr: unicast address, not link-local
 * @oif: interface it must be on, 0 for any
 *
 * Context: RCU read lock held. Return: the longest match, of those the one of the lowest metric,
 * borrowed; NULL if none.
 */
struct net6_prefix *net6_prefix_match(const struct net6_table *table, const struct in6_addr *addr,
				      int oif)
{
	struct net6_prefix *best = NULL;
	struct net6_trie_node *node;

	net6_trie_for_each_match(node, &table->onlink, addr)
		best = net6_prefix_best(node, oif) ?: best;
	return best;
}
