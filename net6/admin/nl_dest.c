// SPDX-License-Identifier: GPL-2.0
/* The destination cache over netlink, and the request to forget: cached
 * destinations, neighbors that were learned, addresses.
 */
#include <linux/mm.h>
#include <linux/rhashtable.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "../core/dest.h"
#include "../core/policy.h"
#include "nl.h"

struct net6_nl_dest {
	struct in6_addr	addr;
	struct in6_addr	next_hop;
	struct in6_addr	source;
	int		oif;
	int		ifindex;
	u32		flags;
	u32		pmtu;
	u32		pmtu_expires;
	u32		used;
	u8		neigh_state;
	bool		has_neigh;
	bool		has_pmtu;
};

static void net6_nl_dest_fill(struct net6_nl_dest *to, const struct net6_dest *dest)
{
	unsigned long expires = READ_ONCE(dest->pmtu_expires);

	BUILD_BUG_ON(NET6_DEST_LOCAL != (int)NET6_DEST_FLAGS_LOCAL);
	BUILD_BUG_ON(NET6_DEST_MULTICAST != (int)NET6_DEST_FLAGS_MULTICAST);
	BUILD_BUG_ON(NET6_DEST_ONLINK != (int)NET6_DEST_FLAGS_ON_LINK);
	BUILD_BUG_ON(NET6_DEST_REDIRECTED != (int)NET6_DEST_FLAGS_REDIRECTED);

	to->addr = dest->key.daddr;
	to->oif = dest->key.oif;
	to->ifindex = dest->iface->ifindex;
	to->source = net6_dest_has_saddr(dest) ? dest->saddr : in6addr_any;
	to->flags = (dest->flags & NET6_DEST_TOLD) |
		    (net6_dest_valid(dest) ? 0 : NET6_DEST_FLAGS_STALE);
	to->used = net6_nl_ms_since(READ_ONCE(dest->used));
	if (expires && time_after(expires, jiffies)) {
		to->has_pmtu = true;
		to->pmtu = READ_ONCE(dest->pmtu);
		to->pmtu_expires = jiffies_to_msecs(expires - jiffies);
	}
	if (dest->neigh) {
		to->has_neigh = true;
		to->next_hop = ipv6_addr_any(&dest->neigh->addr) ? dest->key.daddr :
								  dest->neigh->addr;
		to->neigh_state = READ_ONCE(dest->neigh->state);
	}
}

static void net6_nl_dest_copy(struct net6_nl_list *list, const struct net6_dest *dest)
{
	struct net6_nl_dest *to;

	if (list->filter && list->filter != dest->iface->ifindex)
		return;
	to = net6_nl_next(list);
	if (to)
		net6_nl_dest_fill(to, dest);
}

/* Without the lock of the cache, which packets need. False: the table gets another size, and
 * neither the old one nor the new one has all.
 */
static bool net6_nl_dest_walk(struct net6_net *nn, struct net6_nl_list *list)
{
	const struct net6_dest *dest;
	struct rhashtable_iter iter;

	rhashtable_walk_enter(&nn->dests, &iter);
	rhashtable_walk_start(&iter);
	while (!IS_ERR_OR_NULL(dest = rhashtable_walk_next(&iter)))
		net6_nl_dest_copy(list, dest);
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	return !dest;
}

static void net6_nl_dest_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	const struct net6_dest *dest;
	u32 before = list->n;

	if (likely(net6_nl_dest_walk(nn, list)))
		return;
	net6_nl_rewind(list, before);
	spin_lock_bh(&nn->dest_lock);
	list_for_each_entry(dest, &nn->dest_lru, lru)
		net6_nl_dest_copy(list, dest);
	spin_unlock_bh(&nn->dest_lock);
}

static int net6_nl_dest_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_dest *i = item;

	if (nla_put_in6_addr(skb, NET6_A_DEST_ADDRESS, &i->addr) ||
	    nla_put_u32(skb, NET6_A_DEST_IFINDEX, i->ifindex) ||
	    nla_put_u32(skb, NET6_A_DEST_FLAGS, i->flags) ||
	    nla_put_u32(skb, NET6_A_DEST_USED, i->used))
		return -EMSGSIZE;
	if (i->oif && nla_put_u32(skb, NET6_A_DEST_OIF, i->oif))
		return -EMSGSIZE;
	if (!ipv6_addr_any(&i->source) &&
	    nla_put_in6_addr(skb, NET6_A_DEST_SOURCE, &i->source))
		return -EMSGSIZE;
	if (i->has_pmtu && (nla_put_u32(skb, NET6_A_DEST_PMTU, i->pmtu) ||
			    nla_put_u32(skb, NET6_A_DEST_PMTU_EXPIRES, i->pmtu_expires)))
		return -EMSGSIZE;
	if (i->has_neigh && (nla_put_in6_addr(skb, NET6_A_DEST_NEXT_HOP, &i->next_hop) ||
			     nla_put_u32(skb, NET6_A_DEST_NEIGH_STATE, i->neigh_state)))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_dest_dump_ops = {
	.cmd		= NET6_CMD_DEST_GET,
	.size		= sizeof(struct net6_nl_dest),
	.collect	= net6_nl_dest_collect,
	.put		= net6_nl_dest_put,
};

int net6_nl_dest_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_dest_dump_ops, NET6_A_DEST_IFINDEX);
}

static bool net6_nl_addr_flushed(const struct net6_addr *addr)
{
	return addr->origin != NET6_ADDR_LINKLOCAL && addr->origin != NET6_ADDR_LOOPBACK;
}

/* Some address that is to go; false when there is none. */
static bool net6_nl_flush_next(struct net6_iface *iface, struct in6_addr *found)
{
	const struct net6_addr *addr;
	bool any = false;

	spin_lock_bh(&iface->nn->lock);
	list_for_each_entry(addr, &iface->addrs, iface_list) {
		any = net6_nl_addr_flushed(addr);
		if (any) {
			*found = addr->addr;
			break;
		}
	}
	spin_unlock_bh(&iface->nn->lock);
	return any;
}

/* RTNL keeps other administrators out; routers cannot add for ever. */
static void net6_nl_flush_addrs(struct net6_iface *iface)
{
	struct in6_addr addr;

	while (net6_nl_flush_next(iface, &addr)) {
		net6_addr_del(iface, &addr, NET6_ADDR_ANY_PLEN);
		cond_resched();
	}
}

static int net6_nl_flush_ifaces(struct net6_net *nn, struct genl_info *info, u32 object)
{
	struct net6_iface *iface, *only = NULL;
	int err = 0;

	if (info->attrs[NET6_A_FLUSH_IFINDEX]) {
		only = net6_nl_iface(info, NET6_A_FLUSH_IFINDEX, &err);
		if (!only)
			return err;
	}
	list_for_each_entry(iface, &nn->ifaces, list) {
		if (only && iface != only)
			continue;
		if (object == NET6_FLUSH_OBJECT_NEIGHBORS)
			net6_neigh_flush(iface);
		else
			net6_nl_flush_addrs(iface);
	}
	return 0;
}

int net6_nl_flush(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_net *nn = net6_nl_nn(info);
	u32 object;
	int err = 0;

	if (!info->attrs[NET6_A_FLUSH_OBJECT]) {
		NL_SET_ERR_MSG(info->extack, "what to flush is missing");
		return -EINVAL;
	}
	object = nla_get_u32(info->attrs[NET6_A_FLUSH_OBJECT]);
	if (info->attrs[NET6_A_FLUSH_IFINDEX] &&
	    (object == NET6_FLUSH_OBJECT_DESTINATIONS || object == NET6_FLUSH_OBJECT_POLICY)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_FLUSH_IFINDEX],
				    "destinations and the policy are flushed all at once");
		return -EINVAL;
	}
	if (object == NET6_FLUSH_OBJECT_DESTINATIONS) {
		net6_dest_purge(nn);
		return 0;
	}
	rtnl_lock();
	if (object == NET6_FLUSH_OBJECT_POLICY)
		net6_policy_reset(nn);
	else
		err = net6_nl_flush_ifaces(nn, info, object);
	rtnl_unlock();
	return err;
}
