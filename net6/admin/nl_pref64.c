// SPDX-License-Identifier: GPL-2.0
/* Prefixes of NAT64 that routers tell, over netlink. */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "../core/pref64.h"
#include "nl.h"

/**
 * net6_nl_pref64_fill() - a prefix of NAT64 as it is told
 * @to: result
 * @from: it
 *
 * Context: nn->lock held.
 */
void net6_nl_pref64_fill(struct net6_nl_pref64 *to, const struct net6_pref64 *from)
	__must_hold(&from->iface->nn->lock)
{
	to->prefix = from->prefix;
	to->router = from->router;
	to->ifindex = from->iface->ifindex;
	to->plen = from->plen;
	to->lifetime = net6_life_left(&from->life);
}

static void net6_nl_pref64_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	const struct net6_iface *iface;
	const struct net6_pref64 *p;
	struct net6_nl_pref64 *to;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (list->filter && list->filter != iface->ifindex)
			continue;
		spin_lock_bh(&nn->lock);
		list_for_each_entry(p, &iface->pref64s, life.list) {
			to = net6_nl_next(list);
			if (to)
				net6_nl_pref64_fill(to, p);
		}
		spin_unlock_bh(&nn->lock);
	}
	rcu_read_unlock();
}

/**
 * net6_nl_pref64_put() - write its attributes
 * @skb: message
 * @item: struct net6_nl_pref64
 *
 * Context: any. Return: 0 or -EMSGSIZE.
 */
int net6_nl_pref64_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_pref64 *i = item;

	if (nla_put_u32(skb, NET6_A_PREF64_IFINDEX, i->ifindex) ||
	    nla_put_in6_addr(skb, NET6_A_PREF64_ADDRESS, &i->prefix) ||
	    nla_put_u32(skb, NET6_A_PREF64_PREFIX_LEN, i->plen) ||
	    nla_put_in6_addr(skb, NET6_A_PREF64_ROUTER, &i->router) ||
	    nla_put_u32(skb, NET6_A_PREF64_LIFETIME, i->lifetime))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_pref64_dump_ops = {
	.cmd		= NET6_CMD_PREF64_GET,
	.size		= sizeof(struct net6_nl_pref64),
	.collect	= net6_nl_pref64_collect,
	.put		= net6_nl_pref64_put,
};

int net6_nl_pref64_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_pref64_dump_ops, NET6_A_PREF64_IFINDEX);
}
