/* SPDX-License-Identifier: GPL-2.0 */
/* Routing tables by their numbers. A table is there as long as it has routes, or is the one that
 * interfaces have their addresses and prefixes in: main, or a VRF's (l3mdev.h).
 */
#ifndef _NET6_TABLE_H
#define _NET6_TABLE_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/rtnetlink.h>

#include "trie.h"

struct net6_net;

/**
 * struct net6_table - a routing table
 * @id: its number; RT_TABLE_MAIN of the one that there always is
 * @fib: struct net6_fib_route in its nodes; written under nn->lock
 * @onlink: prefixes that are on-link, struct net6_prefix in its nodes; written under nn->lock
 * @count: its routes, and the interfaces that are at home there; under nn->lock
 * @node: in nn->tables, but for main; under nn->lock
 * @rcu: freed after a grace period
 */
struct net6_table {
	u32			id;
	struct net6_trie	fib;
	struct net6_trie	onlink;
	u32			count;
	struct hlist_node	node;
	struct rcu_head		rcu;
};

void net6_table_net_init(struct net6_net *nn);

/* RCU read lock or nn->lock held. */
struct net6_table *net6_table_find(struct net6_net *nn, u32 id);
struct net6_table *net6_table_from(struct net6_net *nn, u32 id);

/* nn->lock held. */
struct net6_table *net6_table_get(struct net6_net *nn, u32 id);
void net6_table_put(struct net6_net *nn, struct net6_table *table);

#endif /* _NET6_TABLE_H */
