// SPDX-License-Identifier: GPL-2.0
/* Proxied addresses over netlink. */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "../core/proxy.h"
#include "nl.h"

struct net6_nl_proxy {
	struct in6_addr	addr;
	int		ifindex;
	bool		router;
};

static void net6_nl_proxy_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	const struct net6_proxy *proxy;
	struct net6_nl_proxy *to;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(nn->proxy_hash, bucket, proxy, hash_node) {
		if (list->filter && list->filter != proxy->iface->ifindex)
			continue;
		to = net6_nl_next(list);
		if (!to)
			continue;
		to->addr = proxy->addr;
		to->ifindex = proxy->iface->ifindex;
		to->router = READ_ONCE(proxy->router);
	}
	rcu_read_unlock();
}

static int net6_nl_proxy_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_proxy *i = item;

	if (nla_put_u32(skb, NET6_A_PROXY_IFINDEX, i->ifindex) ||
	    nla_put_in6_addr(skb, NET6_A_PROXY_ADDRESS, &i->addr) ||
	    (i->router && nla_put_flag(skb, NET6_A_PROXY_ROUTER)))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_proxy_dump_ops = {
	.cmd		= NET6_CMD_PROXY_GET,
	.size		= sizeof(struct net6_nl_proxy),
	.collect	= net6_nl_proxy_collect,
	.put		= net6_nl_proxy_put,
};

int net6_nl_proxy_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_proxy_dump_ops, NET6_A_PROXY_IFINDEX);
}

static int net6_nl_proxy_add_to(struct net6_iface *iface, struct genl_info *info)
{
	struct in6_addr addr = nla_get_in6_addr(info->attrs[NET6_A_PROXY_ADDRESS]);
	int err = net6_proxy_add(iface, &addr, info->attrs[NET6_A_PROXY_ROUTER]);

	if (err == -EINVAL)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_PROXY_ADDRESS],
				    "not a unicast address");
	else if (err == -EOPNOTSUPP)
		NL_SET_ERR_MSG(info->extack, "this link has no Neighbor Discovery");
	else if (err == -ENOSPC)
		NL_SET_ERR_MSG(info->extack, "too many proxied addresses (max-proxies)");
	return err;
}

int net6_nl_proxy_add(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_iface *iface;
	int err;

	if (!info->attrs[NET6_A_PROXY_ADDRESS]) {
		NL_SET_ERR_MSG(info->extack, "address is missing");
		return -EINVAL;
	}
	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_PROXY_IFINDEX, &err);
	if (iface)
		err = net6_nl_proxy_add_to(iface, info);
	rtnl_unlock();
	return err;
}

int net6_nl_proxy_del(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_iface *iface;
	struct in6_addr addr;
	int err;

	if (!info->attrs[NET6_A_PROXY_ADDRESS]) {
		NL_SET_ERR_MSG(info->extack, "address is missing");
		return -EINVAL;
	}
	addr = nla_get_in6_addr(info->attrs[NET6_A_PROXY_ADDRESS]);
	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_PROXY_IFINDEX, &err);
	if (iface) {
		err = net6_proxy_del(iface, &addr);
		if (err)
			NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_PROXY_ADDRESS],
					    "it is not proxied there");
	}
	rtnl_unlock();
	return err;
}
