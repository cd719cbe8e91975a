// SPDX-License-Identifier: GPL-2.0
/* Neighbors over netlink. */
#include <linux/rhashtable.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "../core/nd.h"
#include "nl.h"

/**
 * net6_nl_neigh_fill() - a neighbor as it is told
 * @to: result
 * @neigh: neighbor
 *
 * Context: neigh->lock held.
 */
void net6_nl_neigh_fill(struct net6_nl_neigh *to, const struct net6_neigh *neigh)
	__must_hold(&neigh->lock)
{
	BUILD_BUG_ON(NET6_NEIGH_NONE != (int)NET6_NEIGH_STATE_NONE);
	BUILD_BUG_ON(NET6_NEIGH_PERMANENT != (int)NET6_NEIGH_STATE_PERMANENT);
	BUILD_BUG_ON(NET6_NEIGH_F_MANUAL != (int)NET6_NEIGH_FLAGS_MANUAL);
	BUILD_BUG_ON(NET6_NEIGH_F_ROUTER != (int)NET6_NEIGH_FLAGS_DEFAULT_ROUTER);
	BUILD_BUG_ON(NET6_NEIGH_F_NEXTHOP != (int)NET6_NEIGH_FLAGS_NEXT_HOP);

	lockdep_assert_held(&neigh->lock);
	to->addr = neigh->addr;
	to->ifindex = neigh->iface->ifindex;
	to->state = neigh->state;
	to->flags = neigh->flags | (neigh->is_router ? NET6_NEIGH_FLAGS_IS_ROUTER : 0);
	to->probes = neigh->probes;
	to->queued = skb_queue_len(&neigh->queue);
	to->was_confirmed = neigh->confirmed;
	to->confirmed = net6_nl_ms_since(READ_ONCE(neigh->confirmed));
	to->used = net6_nl_ms_since(READ_ONCE(neigh->used));
	if (neigh->state != NET6_NEIGH_NONE && neigh->state != NET6_NEIGH_INCOMPLETE)
		to->lladdr_len = neigh->iface->ops->addr_len;
	memcpy(to->lladdr, neigh->lladdr, to->lladdr_len);
}

static void net6_nl_neigh_copy(struct net6_nl_list *list, struct net6_neigh *neigh)
{
	struct net6_nl_neigh *to = net6_nl_next(list);

	if (!to)
		return;
	spin_lock_bh(&neigh->lock);
	net6_nl_neigh_fill(to, neigh);
	spin_unlock_bh(&neigh->lock);
}

/* Without the lock of the cache, which packets need. False: the table gets another size, and
 * neither the old one nor the new one has all.
 */
static bool net6_nl_neigh_walk(struct net6_iface *iface, struct net6_nl_list *list)
{
	struct rhashtable_iter iter;
	struct net6_neigh *neigh;

	rhashtable_walk_enter(&iface->neighs, &iter);
	rhashtable_walk_start(&iter);
	while (!IS_ERR_OR_NULL(neigh = rhashtable_walk_next(&iter)))
		net6_nl_neigh_copy(list, neigh);
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	return !neigh;
}

static void net6_nl_neigh_collect_iface(struct net6_iface *iface, struct net6_nl_list *list)
{
	struct net6_neigh *neigh;
	u32 before = list->n;

	if (likely(net6_nl_neigh_walk(iface, list)))
		return;
	net6_nl_rewind(list, before);
	spin_lock_bh(&iface->neigh_lock);
	list_for_each_entry(neigh, net6_neigh_list(iface), lru)
		net6_nl_neigh_copy(list, neigh);
	spin_unlock_bh(&iface->neigh_lock);
}

static void net6_nl_neigh_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	struct net6_iface *iface;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list)
		if (!list->filter || list->filter == iface->ifindex)
			net6_nl_neigh_collect_iface(iface, list);
	rcu_read_unlock();
}

/**
 * net6_nl_neigh_put() - write a neighbor's attributes
 * @skb: message
 * @item: struct net6_nl_neigh
 *
 * Context: any. Return: 0 or -EMSGSIZE.
 */
int net6_nl_neigh_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_neigh *i = item;

	if (nla_put_u32(skb, NET6_A_NEIGH_IFINDEX, i->ifindex) ||
	    nla_put_in6_addr(skb, NET6_A_NEIGH_ADDRESS, &i->addr) ||
	    nla_put_u32(skb, NET6_A_NEIGH_STATE, i->state) ||
	    nla_put_u32(skb, NET6_A_NEIGH_FLAGS, i->flags) ||
	    nla_put_u32(skb, NET6_A_NEIGH_USED, i->used) ||
	    nla_put_u32(skb, NET6_A_NEIGH_PROBES, i->probes) ||
	    nla_put_u32(skb, NET6_A_NEIGH_QUEUED, i->queued))
		return -EMSGSIZE;
	if (i->was_confirmed && nla_put_u32(skb, NET6_A_NEIGH_CONFIRMED, i->confirmed))
		return -EMSGSIZE;
	if (i->lladdr_len && nla_put(skb, NET6_A_NEIGH_LLADDR, i->lladdr_len, i->lladdr))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_neigh_dump_ops = {
	.cmd		= NET6_CMD_NEIGH_GET,
	.size		= sizeof(struct net6_nl_neigh),
	.collect	= net6_nl_neigh_collect,
	.put		= net6_nl_neigh_put,
};

int net6_nl_neigh_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_neigh_dump_ops, NET6_A_NEIGH_IFINDEX);
}

static int net6_nl_neigh_add_to(struct net6_iface *iface, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[NET6_A_NEIGH_LLADDR];
	struct in6_addr addr;
	int err;

	addr = nla_get_in6_addr(info->attrs[NET6_A_NEIGH_ADDRESS]);
	if (nla_len(attr) != iface->ops->addr_len) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "not as long as the link's addresses are");
		return -EINVAL;
	}
	if (ipv6_addr_any(&addr) || ipv6_addr_is_multicast(&addr)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_NEIGH_ADDRESS],
				    "not a unicast address");
		return -EINVAL;
	}
	rcu_read_lock_bh();
	err = net6_neigh_set(iface, &addr, nla_data(attr), NET6_NEIGH_PERMANENT);
	rcu_read_unlock_bh();
	if (err == -EINVAL)
		NL_SET_ERR_MSG(info->extack, "this link has no neighbors to resolve");
	else if (err)
		NL_SET_ERR_MSG(info->extack, "the neighbor cache is full");
	return err;
}

int net6_nl_neigh_add(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_iface *iface;
	int err;

	if (!info->attrs[NET6_A_NEIGH_ADDRESS] || !info->attrs[NET6_A_NEIGH_LLADDR]) {
		NL_SET_ERR_MSG(info->extack, "address or link-layer address is missing");
		return -EINVAL;
	}
	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_NEIGH_IFINDEX, &err);
	if (iface)
		err = net6_nl_neigh_add_to(iface, info);
	rtnl_unlock();
	return err;
}

static int net6_nl_neigh_del_from(struct net6_iface *iface, struct genl_info *info)
{
	struct net6_neigh *neigh;
	struct in6_addr addr;
	int err = 0;

	addr = nla_get_in6_addr(info->attrs[NET6_A_NEIGH_ADDRESS]);
	rcu_read_lock_bh();
	neigh = net6_neigh_find(iface, &addr);
	if (!neigh) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_NEIGH_ADDRESS],
				    "no such neighbor");
		err = -ENOENT;
	} else if (READ_ONCE(neigh->flags) & NET6_NEIGH_F_ROUTER) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_NEIGH_ADDRESS],
				    "it is a default router: remove that first");
		err = -EBUSY;
	} else {
		net6_neigh_remove(neigh);
	}
	rcu_read_unlock_bh();
	return err;
}

int net6_nl_neigh_del(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_iface *iface;
	int err;

	if (!info->attrs[NET6_A_NEIGH_ADDRESS]) {
		NL_SET_ERR_MSG(info->extack, "address is missing");
		return -EINVAL;
	}
	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_NEIGH_IFINDEX, &err);
	if (iface)
		err = net6_nl_neigh_del_from(iface, info);
	rtnl_unlock();
	return err;
}
