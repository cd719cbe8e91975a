// SPDX-License-Identifier: GPL-2.0
/* Default routers and on-link prefixes over netlink. */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "../core/nd.h"
#include "nl.h"

/**
 * net6_nl_router_fill() - a default router as it is told
 * @to: result
 * @from: router
 *
 * Context: nn->lock held.
 */
void net6_nl_router_fill(struct net6_nl_router *to, const struct net6_router *from)
	__must_hold(&from->iface->nn->lock)
{
	to->addr = from->addr;
	to->ifindex = from->iface->ifindex;
	to->preference = from->attrs.preference;
	to->manual = from->attrs.manual;
	to->neigh_state = READ_ONCE(from->neigh->state);
	to->lifetime = net6_life_left(&from->life);
	to->metrics = from->attrs.metrics;
	to->source = net6_nl_source(&from->attrs);
	to->hops = from->attrs.hops;
}

static void net6_nl_router_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	const struct net6_router *router;
	const struct net6_iface *iface;
	struct net6_nl_router *to;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (list->filter && list->filter != iface->ifindex)
			continue;
		spin_lock_bh(&nn->lock);
		list_for_each_entry(router, &iface->routers, life.list) {
			to = net6_nl_next(list);
			if (!to)
				continue;
			net6_nl_router_fill(to, router);
			net6_metrics_hold(to->metrics);
		}
		spin_unlock_bh(&nn->lock);
	}
	rcu_read_unlock();
}

/**
 * net6_nl_router_put() - write a router's attributes
 * @skb: message
 * @item: struct net6_nl_router
 *
 * Context: any. Return: 0 or -EMSGSIZE.
 */
int net6_nl_router_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_router *i = item;

	if (nla_put_u32(skb, NET6_A_ROUTER_IFINDEX, i->ifindex) ||
	    nla_put_in6_addr(skb, NET6_A_ROUTER_ADDRESS, &i->addr) ||
	    nla_put_s32(skb, NET6_A_ROUTER_PREFERENCE, i->preference) ||
	    nla_put_u32(skb, NET6_A_ROUTER_LIFETIME, i->lifetime) ||
	    nla_put_u32(skb, NET6_A_ROUTER_NEIGH_STATE, i->neigh_state))
		return -EMSGSIZE;
	if (i->manual && nla_put_flag(skb, NET6_A_ROUTER_MANUAL))
		return -EMSGSIZE;
	if (i->hops && nla_put_u32(skb, NET6_A_ROUTER_WEIGHT, i->hops + 1))
		return -EMSGSIZE;
	if (!ipv6_addr_any(&i->source) && nla_put_in6_addr(skb, NET6_A_ROUTER_SOURCE, &i->source))
		return -EMSGSIZE;
	return net6_metrics_write(skb, NET6_A_ROUTER_METRICS, i->metrics);
}

static void net6_nl_router_drop(void *item)
{
	const struct net6_nl_router *i = item;

	net6_metrics_put(i->metrics);
}

static const struct net6_nl_dump_ops net6_nl_router_dump_ops = {
	.cmd		= NET6_CMD_ROUTER_GET,
	.size		= sizeof(struct net6_nl_router),
	.collect	= net6_nl_router_collect,
	.put		= net6_nl_router_put,
	.drop		= net6_nl_router_drop,
};

int net6_nl_router_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_router_dump_ops, NET6_A_ROUTER_IFINDEX);
}

/* What is said of it beside; a request to remove has no such attributes, and its table ends before
 * them.
 */
static int net6_nl_router_read_attrs(struct genl_info *info, struct net6_route_attrs *attrs)
{
	struct nlattr **a = info->attrs;

	if (a[NET6_A_ROUTER_PREFERENCE])
		attrs->preference = nla_get_s32(a[NET6_A_ROUTER_PREFERENCE]);
	if (a[NET6_A_ROUTER_WEIGHT])
		attrs->hops = nla_get_u32(a[NET6_A_ROUTER_WEIGHT]) - 1;
	attrs->metrics = net6_metrics_read(a[NET6_A_ROUTER_METRICS], info->extack);
	return PTR_ERR_OR_ZERO(attrs->metrics);
}

/* Adds a router for ever, or removes it with a lifetime of 0. */
static int net6_nl_router_change(struct genl_info *info, u32 lifetime)
{
	struct net6_route_attrs attrs = NET6_ROUTE_BY_HAND(0);
	struct nlattr **a = info->attrs;
	struct net6_iface *iface;
	struct in6_addr addr;
	int err;

	if (!a[NET6_A_ROUTER_ADDRESS]) {
		NL_SET_ERR_MSG(info->extack, "address is missing");
		return -EINVAL;
	}
	addr = nla_get_in6_addr(a[NET6_A_ROUTER_ADDRESS]);
	/* RFC 4861 6.1.2: routers are known by their link-local addresses. */
	if (!(ipv6_addr_type(&addr) & IPV6_ADDR_LINKLOCAL)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_ROUTER_ADDRESS],
				    "a router is named by its link-local address");
		return -EINVAL;
	}
	if (lifetime) {
		err = net6_nl_router_read_attrs(info, &attrs);
		if (err)
			return err;
	}
	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_ROUTER_IFINDEX, &err);
	if (iface && !(iface->ops->flags & NET6_LINK_ND) && !iface->ops->map_unicast) {
		NL_SET_ERR_MSG(info->extack, "this link has no routers");
		err = -EINVAL;
	} else if (iface && lifetime) {
		err = net6_nl_route_source(info, NET6_A_ROUTER_SOURCE, iface, &attrs);
	}
	if (iface && !err) {
		err = net6_router_update(iface, &addr, &attrs, lifetime);
		if (err == -ENOENT)
			NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_ROUTER_ADDRESS],
					    "no such router");
	}
	rtnl_unlock();
	net6_source_put(attrs.source);
	net6_metrics_put(attrs.metrics);
	return err;
}

int net6_nl_router_add(struct sk_buff *skb, struct genl_info *info)
{
	return net6_nl_router_change(info, NET6_LIFETIME_INFINITE);
}

int net6_nl_router_del(struct sk_buff *skb, struct genl_info *info)
{
	return net6_nl_router_change(info, 0);
}

/**
 * net6_nl_prefix_fill() - an on-link prefix as it is told
 * @to: result
 * @from: prefix
 *
 * Context: nn->lock held.
 */
void net6_nl_prefix_fill(struct net6_nl_prefix *to, const struct net6_prefix *from)
	__must_hold(&from->iface->nn->lock)
{
	to->prefix = from->prefix;
	to->ifindex = from->iface->ifindex;
	to->plen = from->plen;
	to->manual = from->manual;
	to->valid = net6_life_left(&from->life);
}

static void net6_nl_prefix_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	const struct net6_iface *iface;
	const struct net6_prefix *p;
	struct net6_nl_prefix *to;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (list->filter && list->filter != iface->ifindex)
			continue;
		spin_lock_bh(&nn->lock);
		list_for_each_entry(p, &iface->prefixes, life.list) {
			to = net6_nl_next(list);
			if (to)
				net6_nl_prefix_fill(to, p);
		}
		spin_unlock_bh(&nn->lock);
	}
	rcu_read_unlock();
}

/**
 * net6_nl_prefix_put() - write a prefix' attributes
 * @skb: message
 * @item: struct net6_nl_prefix
 *
 * Context: any. Return: 0 or -EMSGSIZE.
 */
int net6_nl_prefix_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_prefix *i = item;

	if (nla_put_u32(skb, NET6_A_PREFIX_IFINDEX, i->ifindex) ||
	    nla_put_in6_addr(skb, NET6_A_PREFIX_ADDRESS, &i->prefix) ||
	    nla_put_u32(skb, NET6_A_PREFIX_PREFIX_LEN, i->plen) ||
	    nla_put_u32(skb, NET6_A_PREFIX_VALID, i->valid))
		return -EMSGSIZE;
	if (i->manual && nla_put_flag(skb, NET6_A_PREFIX_MANUAL))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_prefix_dump_ops = {
	.cmd		= NET6_CMD_PREFIX_GET,
	.size		= sizeof(struct net6_nl_prefix),
	.collect	= net6_nl_prefix_collect,
	.put		= net6_nl_prefix_put,
};

int net6_nl_prefix_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_prefix_dump_ops, NET6_A_PREFIX_IFINDEX);
}

/* Adds a prefix for ever, or removes it with a lifetime of 0. */
static int net6_nl_prefix_change(struct genl_info *info, u32 lifetime)
{
	struct nlattr **a = info->attrs;
	struct in6_addr addr, prefix;
	struct net6_iface *iface;
	int err;
	u8 plen;

	if (!a[NET6_A_PREFIX_ADDRESS] || !a[NET6_A_PREFIX_PREFIX_LEN]) {
		NL_SET_ERR_MSG(info->extack, "prefix or its length is missing");
		return -EINVAL;
	}
	addr = nla_get_in6_addr(a[NET6_A_PREFIX_ADDRESS]);
	plen = nla_get_u32(a[NET6_A_PREFIX_PREFIX_LEN]);
	ipv6_addr_prefix(&prefix, &addr, plen);
	if (!ipv6_addr_equal(&addr, &prefix)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_PREFIX_ADDRESS],
				    "bits beyond the prefix length are set");
		return -EINVAL;
	}
	/* RFC 4861 5.1: the link-local prefix is on-link without an entry. */
	if (ipv6_addr_type(&addr) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_PREFIX_ADDRESS],
				    "link-local and multicast prefixes need no entry");
		return -EINVAL;
	}
	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_PREFIX_IFINDEX, &err);
	if (iface) {
		err = net6_prefix_update(iface, &prefix, plen, lifetime, NET6_PREFIX_BY_HAND);
		if (err == -ENOENT)
			NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_PREFIX_ADDRESS],
					    "no such prefix");
	}
	rtnl_unlock();
	return err;
}

int net6_nl_prefix_add(struct sk_buff *skb, struct genl_info *info)
{
	return net6_nl_prefix_change(info, NET6_LIFETIME_INFINITE);
}

int net6_nl_prefix_del(struct sk_buff *skb, struct genl_info *info)
{
	return net6_nl_prefix_change(info, 0);
}
