// SPDX-License-Identifier: GPL-2.0
/* Addresses over netlink: those of ours, all that packets are received for, and the secret
 * that interface identifiers are made with.
 */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "../core/addr.h"
#include "../core/addr_chain.h"
#include "nl.h"

struct net6_nl_accept {
	struct in6_addr	addr;
	int		ifindex;
	u32		users;
	u8		type;
};

/**
 * net6_nl_addr_fill() - an address as it is told
 * @to: result
 * @from: address
 *
 * Context: nn->lock held.
 */
void net6_nl_addr_fill(struct net6_nl_addr *to, const struct net6_addr *from)
	__must_hold(&from->iface->nn->lock)
{
	BUILD_BUG_ON(NET6_ADDR_TENTATIVE != (int)NET6_ADDR_STATE_TENTATIVE);
	BUILD_BUG_ON(NET6_ADDR_OPTIMISTIC != (int)NET6_ADDR_STATE_OPTIMISTIC);
	BUILD_BUG_ON(NET6_ADDR_MANUAL != (int)NET6_ADDR_ORIGIN_MANUAL);
	BUILD_BUG_ON(NET6_ADDR_LOOPBACK != (int)NET6_ADDR_ORIGIN_LOOPBACK);

	to->addr = from->addr;
	to->ifindex = from->iface->ifindex;
	to->plen = from->plen;
	to->state = from->state;
	to->origin = from->origin;
	to->valid = net6_lifetime_left(from->valid_lft, from->updated);
	to->preferred = net6_lifetime_left(from->preferred_lft, from->updated);
}

static void net6_nl_addr_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	const struct net6_iface *iface;
	const struct net6_addr *addr;
	struct net6_nl_addr *to;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (list->filter && list->filter != iface->ifindex)
			continue;
		spin_lock_bh(&nn->lock);
		list_for_each_entry(addr, &iface->addrs, iface_list) {
			to = net6_nl_next(list);
			if (to)
				net6_nl_addr_fill(to, addr);
		}
		spin_unlock_bh(&nn->lock);
	}
	rcu_read_unlock();
}

/**
 * net6_nl_addr_put() - write an address' attributes
 * @skb: message
 * @item: struct net6_nl_addr
 *
 * Context: any. Return: 0 or -EMSGSIZE.
 */
int net6_nl_addr_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_addr *i = item;

	if (nla_put_u32(skb, NET6_A_ADDR_IFINDEX, i->ifindex) ||
	    nla_put_in6_addr(skb, NET6_A_ADDR_ADDRESS, &i->addr) ||
	    nla_put_u32(skb, NET6_A_ADDR_PREFIX_LEN, i->plen) ||
	    nla_put_u32(skb, NET6_A_ADDR_STATE, i->state) ||
	    nla_put_u32(skb, NET6_A_ADDR_ORIGIN, i->origin) ||
	    nla_put_u32(skb, NET6_A_ADDR_VALID, i->valid) ||
	    nla_put_u32(skb, NET6_A_ADDR_PREFERRED, i->preferred))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_addr_dump_ops = {
	.cmd		= NET6_CMD_ADDR_GET,
	.size		= sizeof(struct net6_nl_addr),
	.collect	= net6_nl_addr_collect,
	.put		= net6_nl_addr_put,
};

int net6_nl_addr_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_addr_dump_ops, NET6_A_ADDR_IFINDEX);
}

static void net6_nl_accept_take(struct net6_nl_list *list, const struct list_head *accepts)
{
	const struct net6_accept *accept;
	struct net6_nl_accept *to;

	list_for_each_entry(accept, accepts, list) {
		to = net6_nl_next(list);
		if (!to)
			continue;
		to->addr = accept->addr;
		to->ifindex = accept->iface->ifindex;
		to->type = accept->type;
		to->users = accept->users;
	}
}

static void net6_nl_accept_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	const struct net6_iface *iface;

	BUILD_BUG_ON(NET6_ACCEPT_MULTICAST != (int)NET6_ACCEPT_TYPE_MULTICAST);
	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (list->filter && list->filter != iface->ifindex)
			continue;
		spin_lock_bh(&nn->lock);
		net6_nl_accept_take(list, &iface->unicast);
		net6_nl_accept_take(list, &iface->anycast);
		net6_nl_accept_take(list, &iface->groups);
		spin_unlock_bh(&nn->lock);
	}
	rcu_read_unlock();
}

static int net6_nl_accept_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_accept *i = item;

	if (nla_put_u32(skb, NET6_A_ACCEPT_IFINDEX, i->ifindex) ||
	    nla_put_in6_addr(skb, NET6_A_ACCEPT_ADDRESS, &i->addr) ||
	    nla_put_u32(skb, NET6_A_ACCEPT_TYPE, i->type) ||
	    nla_put_u32(skb, NET6_A_ACCEPT_USERS, i->users))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_accept_dump_ops = {
	.cmd		= NET6_CMD_ACCEPT_GET,
	.size		= sizeof(struct net6_nl_accept),
	.collect	= net6_nl_accept_collect,
	.put		= net6_nl_accept_put,
};

int net6_nl_accept_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_accept_dump_ops, NET6_A_ACCEPT_IFINDEX);
}

static int net6_nl_addr_add_to(struct net6_iface *iface, struct genl_info *info)
{
	u32 valid = NET6_LIFETIME_INFINITE, preferred = NET6_LIFETIME_INFINITE;
	struct nlattr **a = info->attrs;
	struct in6_addr addr;
	int err;

	if (a[NET6_A_ADDR_VALID])
		valid = nla_get_u32(a[NET6_A_ADDR_VALID]);
	if (a[NET6_A_ADDR_PREFERRED])
		preferred = nla_get_u32(a[NET6_A_ADDR_PREFERRED]);
	else
		preferred = valid;
	if (preferred > valid) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_ADDR_PREFERRED],
				    "preferred lifetime is longer than the valid one");
		return -EINVAL;
	}

	addr = nla_get_in6_addr(a[NET6_A_ADDR_ADDRESS]);
	err = net6_addr_chain_refuses(iface, &addr, info->extack);
	if (err)
		return err;
	err = net6_addr_add(iface, &addr, nla_get_u32(a[NET6_A_ADDR_PREFIX_LEN]),
			    NET6_ADDR_MANUAL, valid, preferred);
	if (err == -EEXIST)
		NL_SET_ERR_MSG(info->extack, "the interface has this address already");
	else if (err == -EADDRNOTAVAIL)
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_ADDR_ADDRESS],
				    "not a unicast address for this interface");
	else if (err == -ENOSPC)
		NL_SET_ERR_MSG(info->extack, "too many are set by hand (max-manual)");
	return err;
}

int net6_nl_addr_add(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_iface *iface;
	int err;

	if (!info->attrs[NET6_A_ADDR_ADDRESS] || !info->attrs[NET6_A_ADDR_PREFIX_LEN]) {
		NL_SET_ERR_MSG(info->extack, "address or prefix length is missing");
		return -EINVAL;
	}
	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_ADDR_IFINDEX, &err);
	if (iface)
		err = net6_nl_addr_add_to(iface, info);
	rtnl_unlock();
	return err;
}

int net6_nl_addr_del(struct sk_buff *skb, struct genl_info *info)
{
	int plen = NET6_ADDR_ANY_PLEN;
	struct net6_iface *iface;
	struct in6_addr addr;
	int err;

	if (!info->attrs[NET6_A_ADDR_ADDRESS]) {
		NL_SET_ERR_MSG(info->extack, "address is missing");
		return -EINVAL;
	}
	if (info->attrs[NET6_A_ADDR_PREFIX_LEN])
		plen = nla_get_u32(info->attrs[NET6_A_ADDR_PREFIX_LEN]);
	addr = nla_get_in6_addr(info->attrs[NET6_A_ADDR_ADDRESS]);
	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_ADDR_IFINDEX, &err);
	if (iface) {
		err = net6_addr_del(iface, &addr, plen);
		if (err)
			NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_ADDR_ADDRESS],
					    "the interface does not have this address");
	}
	rtnl_unlock();
	return err;
}

int net6_nl_secret_set(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_net *nn = net6_nl_nn(info);

	BUILD_BUG_ON(sizeof(nn->iid_secret) != 16);
	if (!info->attrs[NET6_A_SECRET_VALUE]) {
		NL_SET_ERR_MSG(info->extack, "the secret is missing");
		return -EINVAL;
	}
	spin_lock_bh(&nn->lock);
	memcpy(&nn->iid_secret, nla_data(info->attrs[NET6_A_SECRET_VALUE]),
	       sizeof(nn->iid_secret));
	spin_unlock_bh(&nn->lock);
	return 0;
}
