// SPDX-License-Identifier: GPL-2.0
/* All routes of all tables, in pieces: there may be a million, and who shows them has no room for
 * all at once.
 */
#include "fib.h"
#include "netns.h"

static int net6_fib_walk_node(const struct net6_trie_node *node, struct net6_fib_pos *pos,
			      net6_fib_fn fn, void *arg)
{
	const struct net6_fib_route *r;
	u32 n = 0;
	int err;

	list_for_each_entry_rcu(r, &node->items, item) {
		if (n++ < pos->n)
			continue;
		err = fn(r, arg);
		if (err >= 0)
			pos->n++;
		if (err)
			return err;
	}
	return 0;
}

static int net6_fib_walk_table(const struct net6_table *table, struct net6_fib_pos *pos,
			       net6_fib_fn fn, void *arg)
{
	struct net6_trie_node *node;
	int err;

	while ((node = net6_trie_from(&table->fib, &pos->prefix, pos->plen))) {
		if (node->plen != pos->plen || !ipv6_addr_equal(&node->key, &pos->prefix))
			pos->n = 0;
		pos->prefix = node->key;
		pos->plen = node->plen;
		err = net6_fib_walk_node(node, pos, fn, arg);
		if (err)
			return err;
		pos->n = 0;
		if (!net6_trie_step(&pos->prefix, &pos->plen))
			break;
	}
	return 0;
}

/**
 * net6_fib_walk() - call a function for all routes, by tables and prefixes
 * @nn: namespace
 * @only: number of the table that is asked for, RT_TABLE_UNSPEC for all
 * @pos: how far an earlier call came; all 0 to begin
 * @fn: less than 0 stops, and the next call begins with this route; more than 0 stops, and the next
 *	call begins with another one
 * @arg: for @fn
 *
 * Routes that come or go between calls are shown or not. One more or less of the same prefix may
 * show another one of it twice or not at all. Context: RCU read lock held.
 * Return: 0 at the end, or what @fn returned.
 */
int net6_fib_walk(struct net6_net *nn, u32 only, struct net6_fib_pos *pos, net6_fib_fn fn,
		  void *arg)
{
	const struct net6_table *table;
	int err;

	while (!pos->end && (table = net6_table_from(nn, max(pos->table, only)))) {
		if (only && table->id != only)
			break;
		if (table->id != pos->table)
			*pos = (struct net6_fib_pos) { .table = table->id };
		err = net6_fib_walk_table(table, pos, fn, arg);
		if (err)
			return err;
		*pos = (struct net6_fib_pos) {
			.table	= table->id + 1,
			.end	= table->id == U32_MAX,
		};
	}
	pos->end = true;
	return 0;
}
