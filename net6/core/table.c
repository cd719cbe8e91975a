// SPDX-License-Identifier: GPL-2.0
/* Routing tables by their numbers. Main is part of its namespace; others come with their first
 * route and go with their last one. There are max-tables at most.
 */
#include <linux/hashtable.h>
#include <linux/slab.h>

#include "netns.h"

/* Who may add routes chooses the numbers, so chains go by the namespace's secret. */
static struct hlist_head *net6_table_chain(struct net6_net *nn, u32 id)
{
	return &nn->tables[hash_min(siphash_1u32(id, &nn->secret), NET6_TABLE_HASH_BITS)];
}

/**
 * net6_table_net_init() - a namespace's tables: main
 * @nn: namespace
 *
 * Context: process.
 */
void net6_table_net_init(struct net6_net *nn)
{
	hash_init(nn->tables);
	nn->main.id = RT_TABLE_MAIN;
}

/**
 * net6_table_find() - a table by its number
 * @nn: namespace
 * @id: its number; main's is RT_TABLE_UNSPEC, too
 *
 * Context: RCU read lock or nn->lock held. Return: borrowed; NULL if it has nothing.
 */
struct net6_table *net6_table_find(struct net6_net *nn, u32 id)
{
	struct net6_table *table;

	if (likely(id == RT_TABLE_MAIN || id == RT_TABLE_UNSPEC))
		return &nn->main;
	hlist_for_each_entry_rcu(table, net6_table_chain(nn, id), node,
				 lockdep_is_held(&nn->lock))
		if (table->id == id)
			return table;
	return NULL;
}

/**
 * net6_table_from() - the table of the lowest number, from one on
 * @nn: namespace
 * @id: number, RT_TABLE_UNSPEC for the first of all
 *
 * Context: RCU read lock held. Return: borrowed; NULL if there is none.
 */
struct net6_table *net6_table_from(struct net6_net *nn, u32 id)
{
	struct net6_table *table, *first = id <= RT_TABLE_MAIN ? &nn->main : NULL;
	int chain;

	hash_for_each_rcu(nn->tables, chain, table, node)
		if (table->id >= id && (!first || table->id < first->id))
			first = table;
	return first;
}

/**
 * net6_table_get() - a table that is to have one more route, or interface
 * @nn: namespace
 * @id: its number, as for net6_table_find()
 *
 * Context: nn->lock held.
 * Return: for net6_table_put(); ERR_PTR: -ENOSPC (limit), -ENOMEM.
 */
struct net6_table *net6_table_get(struct net6_net *nn, u32 id)
	__must_hold(&nn->lock)
{
	struct net6_table *table = net6_table_find(nn, id);

	lockdep_assert_held(&nn->lock);
	if (!table && nn->n_tables >= READ_ONCE(nn->limits.max_tables)) {
		NET6_INC(nn, RouteTableLimit);
		return ERR_PTR(-ENOSPC);
	}
	if (!table) {
		table = kzalloc(sizeof(*table), GFP_ATOMIC | __GFP_ACCOUNT);
		if (!table)
			return ERR_PTR(-ENOMEM);
		table->id = id;
		hlist_add_head_rcu(&table->node, net6_table_chain(nn, id));
		nn->n_tables++;
	}
	table->count++;
	return table;
}

/**
 * net6_table_put() - a table has one route or interface less
 * @nn: namespace
 * @table: the table; its tries do not have it any more
 *
 * Context: nn->lock held.
 */
void net6_table_put(struct net6_net *nn, struct net6_table *table)
	__must_hold(&nn->lock)
{
	lockdep_assert_held(&nn->lock);
	if (--table->count || table == &nn->main)
		return;
	hlist_del_rcu(&table->node);
	nn->n_tables--;
	kfree_rcu(table, rcu);
}
