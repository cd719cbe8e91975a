// SPDX-License-Identifier: GPL-2.0
/* Routing tables over netlink, and the secret that identifiers are made from. */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "../core/nd.h"
#include "nl.h"

/**
 * net6_nl_route_fill() - a route as it is told
 * @to: result
 * @from: route
 *
 * Context: RCU read lock or nn->lock held.
 */
void net6_nl_route_fill(struct net6_nl_route *to, const struct net6_fib_route *from)
{
	to->prefix = from->prefix;
	to->gateway = from->gateway;
	to->ifindex = from->iface->ifindex;
	to->plen = from->plen;
	to->preference = from->attrs.preference;
	to->manual = from->attrs.manual;
	to->lifetime = net6_life_left(&from->life);
	to->metrics = from->attrs.metrics;
	to->source = net6_nl_source(&from->attrs);
	to->hops = from->attrs.hops;
	to->table = from->table->id == RT_TABLE_MAIN ? 0 : from->table->id;
}

/**
 * net6_nl_route_put() - write a route's attributes
 * @skb: message
 * @item: struct net6_nl_route
 *
 * Context: any. Return: 0 or -EMSGSIZE.
 */
int net6_nl_route_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_route *i = item;

	if (nla_put_u32(skb, NET6_A_ROUTE_IFINDEX, i->ifindex) ||
	    nla_put_in6_addr(skb, NET6_A_ROUTE_ADDRESS, &i->prefix) ||
	    nla_put_u32(skb, NET6_A_ROUTE_PREFIX_LEN, i->plen) ||
	    nla_put_s32(skb, NET6_A_ROUTE_PREFERENCE, i->preference) ||
	    nla_put_u32(skb, NET6_A_ROUTE_LIFETIME, i->lifetime))
		return -EMSGSIZE;
	if (!ipv6_addr_any(&i->gateway) &&
	    nla_put_in6_addr(skb, NET6_A_ROUTE_GATEWAY, &i->gateway))
		return -EMSGSIZE;
	if (i->manual && nla_put_flag(skb, NET6_A_ROUTE_MANUAL))
		return -EMSGSIZE;
	if (i->table && nla_put_u32(skb, NET6_A_ROUTE_TABLE, i->table))
		return -EMSGSIZE;
	if (i->hops && nla_put_u32(skb, NET6_A_ROUTE_WEIGHT, i->hops + 1))
		return -EMSGSIZE;
	if (!ipv6_addr_any(&i->source) && nla_put_in6_addr(skb, NET6_A_ROUTE_SOURCE, &i->source))
		return -EMSGSIZE;
	return net6_metrics_write(skb, NET6_A_ROUTE_METRICS, i->metrics);
}

/* The numbers are rtnetlink's, from the first to the last. */
static_assert((int)NET6_A_METRICS_LOCK == RTAX_LOCK);
static_assert((int)NET6_A_METRICS_FASTOPEN_NO_COOKIE == RTAX_FASTOPEN_NO_COOKIE);

/* A message of a dump that is being written. */
struct net6_nl_route_walk {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	u32			ifindex;	/* that is asked for, 0 for all */
};

static const struct net6_nl_dump_ops net6_nl_route_dump_ops;

static int net6_nl_route_walk_one(const struct net6_fib_route *route, void *arg)
{
	const struct net6_nl_route_walk *w = arg;
	struct net6_nl_route item = {};

	if (w->ifindex && w->ifindex != route->iface->ifindex)
		return 0;
	net6_nl_route_fill(&item, route);
	return net6_nl_dump_item(w->skb, w->cb, &net6_nl_route_dump_ops, &item);
}

static void net6_nl_route_walk(struct sk_buff *skb, struct netlink_callback *cb, void *state,
			       u32 filter)
{
	struct net6_nl_route_walk w = { .skb = skb, .cb = cb, .ifindex = filter };

	rcu_read_lock();
	net6_fib_walk(net6_pernet(sock_net(skb->sk)), RT_TABLE_UNSPEC, state,
		      net6_nl_route_walk_one, &w);
	rcu_read_unlock();
}

static const struct net6_nl_dump_ops net6_nl_route_dump_ops = {
	.cmd	= NET6_CMD_ROUTE_GET,
	.size	= sizeof(struct net6_fib_pos),
	.walk	= net6_nl_route_walk,
	.put	= net6_nl_route_put,
};

int net6_nl_route_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_route_dump_ops, NET6_A_ROUTE_IFINDEX);
}

/* The main table's default routes are in the list of default routers. */
static int net6_nl_route_read_table(struct genl_info *info, struct net6_nl_route *r)
{
	struct nlattr *table = info->attrs[NET6_A_ROUTE_TABLE];

	r->table = table ? nla_get_u32(table) : RT_TABLE_MAIN;
	if (!r->plen && r->table == RT_TABLE_MAIN) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_ROUTE_PREFIX_LEN],
				    "default routes of the main table are default routers");
		return -EINVAL;
	}
	if (r->table != RT_TABLE_LOCAL)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, table,
			    "the local table has the addresses of this host only");
	return -EOPNOTSUPP;
}

/* Reads what names a route; the reason is told if it names none. */
static int net6_nl_route_read(struct genl_info *info, struct net6_nl_route *r)
{
	struct nlattr **a = info->attrs;
	struct in6_addr prefix;
	int err;

	if (!a[NET6_A_ROUTE_ADDRESS] || !a[NET6_A_ROUTE_PREFIX_LEN]) {
		NL_SET_ERR_MSG(info->extack, "prefix or its length is missing");
		return -EINVAL;
	}
	r->prefix = nla_get_in6_addr(a[NET6_A_ROUTE_ADDRESS]);
	r->plen = nla_get_u32(a[NET6_A_ROUTE_PREFIX_LEN]);
	ipv6_addr_prefix(&prefix, &r->prefix, r->plen);
	if (!ipv6_addr_equal(&r->prefix, &prefix)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_ROUTE_ADDRESS],
				    "bits beyond the prefix length are set");
		return -EINVAL;
	}
	err = net6_nl_route_read_table(info, r);
	if (err)
		return err;
	if (ipv6_addr_type(&prefix) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_ROUTE_ADDRESS],
				    "link-local and multicast prefixes have no route");
		return -EINVAL;
	}
	if (a[NET6_A_ROUTE_GATEWAY])
		r->gateway = nla_get_in6_addr(a[NET6_A_ROUTE_GATEWAY]);
	if (ipv6_addr_is_multicast(&r->gateway)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_ROUTE_GATEWAY],
				    "a router has a unicast address");
		return -EINVAL;
	}
	return 0;
}

/* What is said of it beside; a request to remove has no such attributes, and its table ends before
 * them.
 */
static int net6_nl_route_read_attrs(struct genl_info *info, struct net6_route_attrs *attrs)
{
	struct nlattr **a = info->attrs;

	if (a[NET6_A_ROUTE_PREFERENCE])
		attrs->preference = nla_get_s32(a[NET6_A_ROUTE_PREFERENCE]);
	if (a[NET6_A_ROUTE_WEIGHT])
		attrs->hops = nla_get_u32(a[NET6_A_ROUTE_WEIGHT]) - 1;
	attrs->metrics = net6_metrics_read(a[NET6_A_ROUTE_METRICS], info->extack);
	return PTR_ERR_OR_ZERO(attrs->metrics);
}

/**
 * net6_nl_route_source() - read the source that a route asks for
 * @info: request
 * @attr: the attribute that it is in
 * @iface: the route's interface
 * @attrs: gets a reference
 *
 * Context: process, RTNL held. Return: 0 or -errno, with the reason told.
 */
int net6_nl_route_source(struct genl_info *info, int attr, const struct net6_iface *iface,
			 struct net6_route_attrs *attrs)
{
	struct net6_source *source;
	struct in6_addr addr;

	if (!info->attrs[attr])
		return 0;
	addr = nla_get_in6_addr(info->attrs[attr]);
	/* Who loads a file has made the address a moment ago. */
	source = net6_source_get(iface, &addr, true);
	if (!IS_ERR(source)) {
		attrs->source = source;
		return 0;
	}
	if (PTR_ERR(source) == -EINVAL)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
				    "the source is not an address of this host's");
	return PTR_ERR(source);
}

static int net6_nl_route_change(struct genl_info *info, u32 lifetime)
{
	struct net6_route_attrs attrs = NET6_ROUTE_BY_HAND(0);
	struct net6_nl_route r = {};
	struct net6_iface *iface;
	int err;

	err = net6_nl_route_read(info, &r);
	if (!err && lifetime)
		err = net6_nl_route_read_attrs(info, &attrs);
	if (err)
		return err;
	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_ROUTE_IFINDEX, &err);
	if (iface && lifetime)
		err = net6_nl_route_source(info, NET6_A_ROUTE_SOURCE, iface, &attrs);
	if (iface && !err) {
		attrs.table = r.table;
		err = net6_fib_update(iface, &r.prefix, r.plen, &r.gateway, &attrs, lifetime);
		if (err == -ENOENT)
			NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_ROUTE_ADDRESS],
					    "no such route");
	}
	rtnl_unlock();
	net6_source_put(attrs.source);
	net6_metrics_put(attrs.metrics);
	return err;
}

int net6_nl_route_add(struct sk_buff *skb, struct genl_info *info)
{
	return net6_nl_route_change(info, NET6_LIFETIME_INFINITE);
}

int net6_nl_route_del(struct sk_buff *skb, struct genl_info *info)
{
	return net6_nl_route_change(info, 0);
}
