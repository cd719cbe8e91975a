// SPDX-License-Identifier: GPL-2.0
/* Longest-prefix match of IPv6 addresses: a binary trie with compressed paths. A look-up
 * goes down by single bits and compares only with prefixes that something is known of; it
 * visits at most 129 nodes.
 */
#include <asm/byteorder.h>
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../compat/unaligned.h"
#include "trie.h"

/* How many leading bits two addresses share. */
static unsigned int net6_trie_common(const struct in6_addr *a, const struct in6_addr *b)
{
	u64 differ = get_unaligned_be64(a->s6_addr) ^ get_unaligned_be64(b->s6_addr);

	if (differ)
		return 64 - fls64(differ);
	differ = get_unaligned_be64(a->s6_addr + 8) ^ get_unaligned_be64(b->s6_addr + 8);
	return 128 - fls64(differ);
}

static unsigned int net6_trie_bit(const struct in6_addr *addr, unsigned int n)
{
	return addr->s6_addr[n / 8] >> (7 - n % 8) & 1;
}

static bool net6_trie_matches(const struct net6_trie_node *node, const struct in6_addr *addr)
{
	return net6_trie_common(&node->key, addr) >= node->plen;
}

/* The child on the way to an address; whether its prefix fits is another matter. */
static struct net6_trie_node *net6_trie_down(struct net6_trie_node *node,
					     const struct in6_addr *addr)
{
	if (node->plen == 128)
		return NULL;
	return rcu_dereference_raw(node->child[net6_trie_bit(addr, node->plen)]);
}

/* @node, or the next one below it that has items. A join that does not fit leads to nodes
 * that do not fit either.
 */
static struct net6_trie_node *net6_trie_match(struct net6_trie_node *node,
					      const struct in6_addr *addr)
{
	while (node && list_empty(&node->items))
		node = net6_trie_down(node, addr);
	return node && net6_trie_matches(node, addr) ? node : NULL;
}

/**
 * net6_trie_first() - the shortest prefix of an address that has items
 * @trie: trie
 * @addr: address
 *
 * Context: RCU read lock or the writers' lock held. Return: NULL if there is none.
 */
struct net6_trie_node *net6_trie_first(const struct net6_trie *trie, const struct in6_addr *addr)
{
	return net6_trie_match(rcu_dereference_raw(trie->root), addr);
}

/**
 * net6_trie_next() - the next longer one
 * @node: the one before
 * @addr: address
 *
 * Context: as net6_trie_first(). Return: NULL at the end.
 */
struct net6_trie_node *net6_trie_next(struct net6_trie_node *node, const struct in6_addr *addr)
{
	return net6_trie_match(net6_trie_down(node, addr), addr);
}

/**
 * net6_trie_find() - a prefix' own node
 * @trie: trie
 * @key: prefix, bits beyond @plen zero
 * @plen: its length
 *
 * Context: as net6_trie_first(). Return: NULL if there is none, or nothing in it.
 */
struct net6_trie_node *net6_trie_find(const struct net6_trie *trie, const struct in6_addr *key,
				      u8 plen)
{
	struct net6_trie_node *node;

	net6_trie_for_each_match(node, trie, key)
		if (node->plen >= plen)
			break;
	return node && node->plen == plen ? node : NULL;
}

/* The first node at or behind a prefix, where one comes before those that it has. Bits of @key
 * beyond @plen are not looked at.
 */
static struct net6_trie_node *net6_trie_behind(const struct net6_trie *trie,
					       const struct in6_addr *key, unsigned int plen)
{
	struct net6_trie_node *node = rcu_dereference_raw(trie->root), *later = NULL, *one;
	unsigned int common;

	while (node) {
		common = min(net6_trie_common(&node->key, key), plen);
		if (common == plen && node->plen >= plen)
			return node;
		if (common < node->plen)	/* all of it on one side of @key */
			return net6_trie_bit(key, common) ? later : node;
		one = rcu_dereference_raw(node->child[1]);
		if (net6_trie_bit(key, node->plen)) {
			node = one;
			continue;
		}
		later = one ?: later;
		node = rcu_dereference_raw(node->child[0]);
	}
	return later;
}

/**
 * net6_trie_step() - go on to what may come next behind a prefix
 * @key: prefix; bits beyond its length may become set
 * @plen: its length
 *
 * Return: false if nothing comes behind it.
 */
bool net6_trie_step(struct in6_addr *key, u8 *plen)
{
	if (*plen < 128) {
		key->s6_addr[*plen / 8] &= ~(0x80 >> *plen % 8);
		++*plen;
		return true;
	}
	while (*plen && net6_trie_bit(key, *plen - 1))
		--*plen;
	if (!*plen)
		return false;
	key->s6_addr[(*plen - 1) / 8] |= 0x80 >> (*plen - 1) % 8;
	return true;
}

/**
 * net6_trie_from() - the first prefix with items, from one on
 * @trie: trie
 * @key: where to begin: that prefix, or the first behind it. Prefixes are in the order of their
 *	bits, each before those that extend it. Bits beyond @plen are not looked at
 * @plen: its length
 *
 * What comes and goes meanwhile is found or not, all else once. Context: as net6_trie_first().
 * Return: NULL at the end.
 */
struct net6_trie_node *net6_trie_from(const struct net6_trie *trie, const struct in6_addr *key,
				      u8 plen)
{
	struct net6_trie_node *node = net6_trie_behind(trie, key, plen);
	struct in6_addr at;

	while (node && list_empty(&node->items)) {
		at = node->key;
		plen = node->plen;
		node = net6_trie_step(&at, &plen) ? net6_trie_behind(trie, &at, plen) : NULL;
	}
	return node;
}

static struct net6_trie_node *net6_trie_node_new(const struct in6_addr *key, u8 plen)
{
	struct net6_trie_node *node = kzalloc(sizeof(*node), GFP_ATOMIC | __GFP_ACCOUNT);
	unsigned int i;

	if (!node)
		return NULL;
	for (i = 0; i < 16 && i * 8 < plen; i++)
		node->key.s6_addr[i] = key->s6_addr[i] &
				       (plen - i * 8 >= 8 ? 0xff : 0xff00 >> (plen - i * 8));
	node->plen = plen;
	INIT_LIST_HEAD(&node->items);
	return node;
}

/**
 * net6_trie_insert() - a prefix' own node, made if there is none
 * @trie: trie
 * @key: prefix
 * @plen: its length
 *
 * Context: the writers' lock held. Return: NULL without memory.
 */
struct net6_trie_node *net6_trie_insert(struct net6_trie *trie, const struct in6_addr *key,
					u8 plen)
{
	struct net6_trie_node __rcu **slot = &trie->root;
	struct net6_trie_node *node, *new, *join;
	unsigned int common = 0;

	for (;;) {
		node = rcu_dereference_raw(*slot);
		if (!node)
			break;
		common = min3(net6_trie_common(&node->key, key), (unsigned int)plen,
			      (unsigned int)node->plen);
		if (common < node->plen)
			break;
		if (node->plen == plen)
			return node;
		slot = &node->child[net6_trie_bit(key, node->plen)];
	}
	new = net6_trie_node_new(key, plen);
	if (!new)
		return NULL;
	if (!node) {
		rcu_assign_pointer(*slot, new);
		return new;
	}
	if (common == plen) {	/* above @node */
		RCU_INIT_POINTER(new->child[net6_trie_bit(&node->key, plen)], node);
		rcu_assign_pointer(*slot, new);
		return new;
	}
	join = net6_trie_node_new(key, common);
	if (!join) {
		kfree(new);
		return NULL;
	}
	RCU_INIT_POINTER(join->child[net6_trie_bit(key, common)], new);
	RCU_INIT_POINTER(join->child[net6_trie_bit(&node->key, common)], node);
	rcu_assign_pointer(*slot, join);
	return new;
}

/* Take a node without items out of @slot if it has less than two children. */
static bool net6_trie_unlink(struct net6_trie_node __rcu **slot)
{
	struct net6_trie_node *node = rcu_dereference_raw(*slot);
	struct net6_trie_node *zero = rcu_dereference_raw(node->child[0]);
	struct net6_trie_node *one = rcu_dereference_raw(node->child[1]);

	if (!list_empty(&node->items) || (zero && one))
		return false;
	rcu_assign_pointer(*slot, zero ?: one);
	kfree_rcu(node, rcu);
	return true;
}

/**
 * net6_trie_prune() - forget a prefix whose last item is gone
 * @trie: trie
 * @key: prefix, bits beyond @plen zero
 * @plen: its length
 *
 * Context: the writers' lock held.
 */
void net6_trie_prune(struct net6_trie *trie, const struct in6_addr *key, u8 plen)
{
	struct net6_trie_node __rcu **slot = &trie->root, **above = NULL;
	struct net6_trie_node *node;

	while ((node = rcu_dereference_raw(*slot)) && node->plen < plen) {
		above = slot;
		slot = &node->child[net6_trie_bit(key, node->plen)];
	}
	if (!node || node->plen != plen || memcmp(&node->key, key, sizeof(*key)))
		return;
	/* What it joined with another one may be a join of one now. */
	if (net6_trie_unlink(slot) && above)
		net6_trie_unlink(above);
}
