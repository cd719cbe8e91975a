/* SPDX-License-Identifier: GPL-2.0 */
/* Longest-prefix match of IPv6 addresses: a binary trie with compressed paths. Written
 * by one at a time, read under RCU. Pure.
 */
#ifndef _NET6_TRIE_H
#define _NET6_TRIE_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

/**
 * struct net6_trie_node - a prefix
 * @child: prefixes that extend it with a 0 and with a 1
 * @key: bits beyond @plen are zero
 * @plen: 0..128
 * @items: what is known of this prefix; empty in a node that only joins two
 * @rcu: freed after a grace period
 */
struct net6_trie_node {
	struct net6_trie_node __rcu	*child[2];
	struct in6_addr			key;
	u8				plen;
	struct list_head		items;
	struct rcu_head			rcu;
};

/**
 * struct net6_trie - a trie
 * @root: its shortest prefix, or NULL
 */
struct net6_trie {
	struct net6_trie_node __rcu	*root;
};

struct net6_trie_node *net6_trie_find(const struct net6_trie *trie, const struct in6_addr *key,
				      u8 plen);
struct net6_trie_node *net6_trie_insert(struct net6_trie *trie, const struct in6_addr *key,
					u8 plen);
void net6_trie_prune(struct net6_trie *trie, const struct in6_addr *key, u8 plen);
struct net6_trie_node *net6_trie_next(struct net6_trie_node *node, const struct in6_addr *addr);
struct net6_trie_node *net6_trie_first(const struct net6_trie *trie,
				       const struct in6_addr *addr);
struct net6_trie_node *net6_trie_from(const struct net6_trie *trie, const struct in6_addr *key,
				      u8 plen);
bool net6_trie_step(struct in6_addr *key, u8 *plen);

/* All nodes with items whose prefix @addr has, the shortest first. RCU. */
#define net6_trie_for_each_match(node, trie, addr)			\
	for (node = net6_trie_first(trie, addr); node; node = net6_trie_next(node, addr))

#endif /* _NET6_TRIE_H */
