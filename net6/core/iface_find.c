// SPDX-License-Identifier: GPL-2.0
/* Interfaces [IF]: finding one, by its index or for packets to groups. */
#include <linux/rculist.h>
#include <linux/rhashtable.h>

#include "iface.h"

static const struct rhashtable_params net6_iface_params = {
	.nelem_hint		= 2,
	.key_len		= sizeof_field(struct net6_iface, ifindex),
	.key_offset		= offsetof(struct net6_iface, ifindex),
	.head_offset		= offsetof(struct net6_iface, index_node),
	.automatic_shrinking	= true,
};

/**
 * net6_iface_find() - an interface by its index
 * @nn: namespace
 * @ifindex: index
 *
 * One look-up, however many interfaces there are. Flattened, so that the hash is computed here.
 * Context: RCU read lock or RTNL held. Return: borrowed interface or NULL.
 */
__flatten struct net6_iface *net6_iface_find(struct net6_net *nn, int ifindex)
{
	return rhashtable_lookup_fast(&nn->by_index, &ifindex, net6_iface_params);
}

/**
 * net6_iface_find_multicast() - the default interface for packets to groups
 * @nn: namespace
 * @table: routing table that it is at home in
 *
 * Context: RCU read lock held. Return: borrowed interface, usable and not the loopback, or NULL.
 */
struct net6_iface *net6_iface_find_multicast(struct net6_net *nn, const struct net6_table *table)
{
	struct net6_iface *iface;

	list_for_each_entry_rcu(iface, &nn->ifaces, list)
		if (net6_iface_usable(iface) && (iface->ops->flags & NET6_LINK_MULTICAST) &&
		    !net6_iface_is_loopback(iface) && net6_iface_table(iface) == table)
			return iface;
	return NULL;
}

/**
 * net6_iface_find_add() - an interface can be found by its index
 * @iface: interface being attached
 *
 * Context: process, RTNL held. Return: 0 or -errno.
 */
int net6_iface_find_add(struct net6_iface *iface)
{
	return rhashtable_insert_fast(&iface->nn->by_index, &iface->index_node, net6_iface_params);
}

/**
 * net6_iface_find_del() - an interface is found no more
 * @iface: interface being detached
 *
 * Context: process, RTNL held.
 */
void net6_iface_find_del(struct net6_iface *iface)
{
	rhashtable_remove_fast(&iface->nn->by_index, &iface->index_node, net6_iface_params);
}

/**
 * net6_iface_find_net_init() - a namespace without interfaces
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_iface_find_net_init(struct net6_net *nn)
{
	return rhashtable_init(&nn->by_index, &net6_iface_params);
}

/**
 * net6_iface_find_net_free() - end of the table
 * @nn: namespace; nobody looks any more
 *
 * Context: process, sleeps.
 */
void net6_iface_find_net_free(struct net6_net *nn)
{
	rhashtable_destroy(&nn->by_index);
}
