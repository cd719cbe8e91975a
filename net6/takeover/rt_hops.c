// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: routes with several next hops, which core/spread.c chooses from. Each of them is a
 * route of its own to net6; a program sees one with all of them (RTA_MULTIPATH).
 */
#include <linux/slab.h>
#include <net/rtnh.h>

#include "../core/dest.h"
#include "rt.h"

/* What is asked of each next hop of a route; non-zero stops. */
typedef int (*net6_rt_hop_fn)(const struct net6_rt_hop *hop, const void *self, void *arg);

static int net6_rt_hops_of_prefix(const struct net6_fib_route *entry, net6_rt_hop_fn fn,
				  void *arg)
{
	struct net6_trie_node *node = net6_trie_find(&entry->table->fib, &entry->prefix,
						     entry->plen);
	const struct net6_fib_route *r;
	int err = 0;

	if (!node)
		return 0;
	list_for_each_entry_rcu(r, &node->items, item,
				lockdep_is_held(&entry->iface->nn->lock)) {
		const struct net6_rt_hop hop = {
			.gateway	= r->gateway,
			.iface		= r->iface,
			.hops		= r->attrs.hops,
		};

		if (net6_fib_shares(r) && net6_route_alike(&r->attrs, &entry->attrs))
			err = fn(&hop, r, arg);
		if (err)
			break;
	}
	return err;
}

/* The one that was made next. */
static const struct net6_router *net6_rt_hops_next(const struct net6_router *of, u32 id)
{
	const struct net6_router *router, *next = NULL;
	struct net6_net *nn = of->iface->nn;
	struct net6_iface *iface;

	list_for_each_entry_rcu(iface, &nn->ifaces, list, lockdep_is_held(&nn->lock))
		list_for_each_entry_rcu(router, &iface->routers, life.list,
					lockdep_is_held(&nn->lock))
			if (router->attrs.manual && router->id > id &&
			    (!next || router->id < next->id) &&
			    net6_route_alike(&router->attrs, &of->attrs))
				next = router;
	return next;
}

static int net6_rt_hops_of_default(const struct net6_router *of, net6_rt_hop_fn fn, void *arg)
{
	const struct net6_router *router = net6_rt_hops_next(of, 0);
	int err = 0;

	for (; !err && router; router = net6_rt_hops_next(of, router->id)) {
		const struct net6_rt_hop hop = {
			.gateway	= router->addr,
			.iface		= router->iface,
			.hops		= router->attrs.hops,
		};

		err = fn(&hop, router, arg);
	}
	return err;
}

static int net6_rt_hops_walk(const struct net6_rt_route *route, net6_rt_hop_fn fn, void *arg)
{
	if (route->kind == NET6_RT_ROUTER)
		return net6_rt_hops_of_default(route->self, fn, arg);
	return net6_rt_hops_of_prefix(route->self, fn, arg);
}

static int net6_rt_hops_count_one(const struct net6_rt_hop *hop, const void *self, void *arg)
{
	++*(u32 *)arg;
	return 0;
}

/**
 * net6_rt_hops_count() - how many next hops a route has
 * @route: as it was made of what net6 decides by
 *
 * Context: RCU read lock or nn->lock held.
 */
u32 net6_rt_hops_count(const struct net6_rt_route *route)
{
	u32 n = 0;

	if (!route->self)
		return 1;
	net6_rt_hops_walk(route, net6_rt_hops_count_one, &n);
	return n;
}

static int net6_rt_hops_is(const struct net6_rt_hop *hop, const void *self, void *arg)
{
	return self == arg ? 1 : -1;
}

/**
 * net6_rt_hops_lead() - is it the first of them, for which all are told?
 * @route: as it was made of what net6 decides by
 *
 * Context: RCU read lock held.
 */
bool net6_rt_hops_lead(const struct net6_rt_route *route)
{
	return !route->self || net6_rt_hops_walk(route, net6_rt_hops_is, (void *)route->self) >= 0;
}

static int net6_rt_hops_on_one(const struct net6_rt_hop *hop, const void *self, void *arg)
{
	return hop->iface->ifindex == *(u32 *)arg;
}

/**
 * net6_rt_hops_on() - has a route a next hop on this interface?
 * @route: as it was made of what net6 decides by
 * @ifindex: interface index
 *
 * Context: RCU read lock held.
 */
bool net6_rt_hops_on(const struct net6_rt_route *route, u32 ifindex)
{
	if (!route->self)
		return route->dev->ifindex == ifindex;
	return net6_rt_hops_walk(route, net6_rt_hops_on_one, &ifindex);
}

static int net6_rt_hops_write_one(const struct net6_rt_hop *hop, const void *self, void *arg)
{
	struct sk_buff *skb = arg;
	struct rtnexthop *rtnh;

	rtnh = nla_reserve_nohdr(skb, sizeof(*rtnh));
	if (!rtnh)
		return -EMSGSIZE;
	rtnh->rtnh_flags = net6_rt_dev_flags(hop->iface->dev);
	rtnh->rtnh_hops = hop->hops;
	rtnh->rtnh_ifindex = hop->iface->ifindex;
	if (nla_put_in6_addr(skb, RTA_GATEWAY, &hop->gateway))
		return -EMSGSIZE;
	rtnh->rtnh_len = nlmsg_get_pos(skb) - (void *)rtnh;
	return 0;
}

/**
 * net6_rt_hops_write() - all next hops of a route as an attribute
 * @skb: message
 * @route: as it was made of what net6 decides by
 *
 * Context: RCU read lock or nn->lock held. Return: 0, -EMSGSIZE: the caller cancels the message.
 */
int net6_rt_hops_write(struct sk_buff *skb, const struct net6_rt_route *route)
{
	struct nlattr *nest = nla_nest_start_noflag(skb, RTA_MULTIPATH);

	if (!nest || net6_rt_hops_walk(route, net6_rt_hops_write_one, skb))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* ---- what is asked for ---- */

static int net6_rt_hops_read_one(struct net6_net *nn, const struct rtnexthop *rtnh,
				 struct net6_rt_hop *hop, struct netlink_ext_ack *extack)
{
	const struct nlattr *first = rtnh_attrs(rtnh);
	int len = rtnh_attrlen(rtnh);
	const struct nlattr *gateway = nla_find(first, len, RTA_GATEWAY);

	if (!gateway || nla_len(gateway) != sizeof(hop->gateway)) {
		NL_SET_ERR_MSG(extack,
			       "Device only routes can not be added for IPv6 using the multipath API.");
		return -EINVAL;
	}
	if (nla_find(first, len, RTA_ENCAP) || nla_find(first, len, RTA_VIA)) {
		NL_SET_ERR_MSG(extack, "net6 has no next hops with encapsulation");
		return -EOPNOTSUPP;
	}
	hop->gateway = nla_get_in6_addr(gateway);
	hop->hops = rtnh->rtnh_hops;
	hop->onlink = rtnh->rtnh_flags & RTNH_F_ONLINK;
	hop->iface = rtnh->rtnh_ifindex ? net6_iface_find(nn, rtnh->rtnh_ifindex) : NULL;
	if (rtnh->rtnh_ifindex && !hop->iface) {
		NL_SET_ERR_MSG(extack, "net6 has no such interface");
		return -ENODEV;
	}
	return 0;
}

/* Returns how many there are, or -EINVAL. Each is looked for among all routes, under RTNL, so there
 * are no more than are used.
 */
static int net6_rt_hops_measure(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	const struct rtnexthop *rtnh = nla_data(attr);
	int left = nla_len(attr), n = 0;

	for (; rtnh_ok(rtnh, left); rtnh = rtnh_next(rtnh, &left))
		n++;
	if (n > NET6_SPREAD_MAX) {
		NL_SET_ERR_MSG(extack, "net6 has 64 next hops of a route at most");
		return -EINVAL;
	}
	if (n && !left)
		return n;
	NL_SET_ERR_MSG(extack, "Invalid nexthop configuration - extra data after nexthops");
	return -EINVAL;
}

/**
 * net6_rt_hops_read() - the next hops of a request
 * @nn: namespace
 * @attr: RTA_MULTIPATH
 * @hops: result; for kfree()
 * @extack: where to say what is wrong
 *
 * Context: process, RTNL held. Return: how many there are, or -errno.
 */
int net6_rt_hops_read(struct net6_net *nn, const struct nlattr *attr, struct net6_rt_hop **hops,
		      struct netlink_ext_ack *extack)
{
	const struct rtnexthop *rtnh = nla_data(attr);
	int n = net6_rt_hops_measure(attr, extack);
	int i, left = nla_len(attr), err;

	if (n < 0)
		return n;
	*hops = kcalloc(n, sizeof(**hops), GFP_KERNEL);
	if (!*hops)
		return -ENOMEM;
	for (i = 0; i < n; i++, rtnh = rtnh_next(rtnh, &left)) {
		err = net6_rt_hops_read_one(nn, rtnh, &(*hops)[i], extack);
		if (err)
			return err;
	}
	return n;
}
