// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: routes that are added and removed (ip -6 route add, append, change, replace, del).
 * What a request says has been read by rt_request.c.
 */
#include "rt_change.h"

static int net6_rt_route_took(struct net6_rt_change *c, const struct net6_rt_route *route)
{
	c->route = *route;
	c->found = true;
	return 1;
}

/* Does it lead as the request says? As native: one that goes by an object does if no other object
 * is named.
 */
static bool net6_rt_route_leads(const struct net6_rt_route *route, const struct net6_rt_change *c)
{
	u32 nexthop = net6_rt_nexthop_id(dev_net(route->dev), route->attrs.nexthop);

	if (c->nexthop || nexthop)
		return !c->nexthop || nexthop == c->nexthop;
	return (ipv6_addr_any(&c->hop.gateway) ||
		ipv6_addr_equal(&route->gateway, &c->hop.gateway)) &&
	       (!c->hop.iface || route->dev == c->hop.iface->dev);
}

/* To remove: of those that the request means the one of the lowest metric, as native. */
static int net6_rt_route_meant(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_change *c = arg;

	if (!net6_rt_route_leads(route, c) ||
	    (c->attrs.metric && route->attrs.metric != c->attrs.metric) ||
	    (c->attrs.protocol && route->attrs.protocol != c->attrs.protocol) ||
	    (c->found && route->attrs.metric >= c->route.attrs.metric))
		return 0;
	net6_rt_route_took(c, route);
	return 0;
}

/* Of the metric of the request, whatever it leads by. */
static int net6_rt_route_there(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_change *c = arg;

	return route->attrs.metric == c->attrs.metric ? net6_rt_route_took(c, route) : 0;
}

/* An entry that leads the same way. What the Prefix List has is not one that a request made. */
static bool net6_rt_route_is(const struct net6_rt_route *route, const struct net6_rt_hop *hop)
{
	return route->kind > NET6_RT_PREFIX && route->dev == hop->iface->dev &&
	       ipv6_addr_equal(&route->gateway, &hop->gateway);
}

static int net6_rt_route_same(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_change *c = arg;

	return net6_rt_route_is(route, &c->hop) ? net6_rt_route_there(route, arg) : 0;
}

/* As native: what is asked for is in its place. */
static int net6_rt_route_other(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_change *c = arg;
	u32 i;

	for (i = 0; i < c->n_hops; i++)
		if (net6_rt_route_is(route, &c->hops[i]))
			return 0;
	return net6_rt_route_there(route, arg);
}

/* To remove: one of several next hops, of which the first was found. */
static int net6_rt_route_sibling(const struct net6_rt_route *route, void *arg)
{
	return route->kind > NET6_RT_PREFIX && route->attrs.manual && !route->attrs.nexthop &&
	       !ipv6_addr_any(&route->gateway) ? net6_rt_route_there(route, arg) : 0;
}

/* Those by the object that the one found went by. */
static int net6_rt_route_former(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_change *c = arg;

	return route->attrs.nexthop == c->former ? net6_rt_route_there(route, arg) : 0;
}

/* Of the routes to the request's destination. */
static bool net6_rt_route_find(struct net6_net *nn, struct net6_rt_change *c, net6_rt_fn fn)
{
	c->found = false;
	net6_rt_routes_at(nn, c->attrs.table, &c->dst, c->plen, fn, c);
	return c->found;
}

/* What is found, with all of its next hops. */
static void net6_rt_route_tell_found(struct net6_net *nn, struct net6_rt_change *c, net6_rt_fn fn,
				     int type, unsigned int nl_flags)
{
	rcu_read_lock();
	if (net6_rt_route_find(nn, c, fn))
		net6_rt_route_tell(nn->net, &c->route, type, nl_flags);
	rcu_read_unlock();
}

/* By the next hop at hand. */
static int net6_rt_route_set(const struct net6_rt_change *c, const struct net6_route_attrs *attrs,
			     u32 lifetime)
{
	const struct net6_rt_hop *hop = &c->hop;

	/* A default router is one in its interface's own table. */
	if (!c->plen && !ipv6_addr_any(&hop->gateway) &&
	    attrs->table == net6_iface_table(hop->iface)->id)
		return net6_router_update(hop->iface, &hop->gateway, attrs, lifetime);
	return net6_fib_update(hop->iface, &c->dst, c->plen, &hop->gateway, attrs, lifetime);
}

static int net6_rt_route_remove_found(struct net6_net *nn, const struct net6_rt_change *c)
{
	const struct net6_rt_route *r = &c->route;
	struct net6_iface *iface = net6_iface_find(nn, r->dev->ifindex);
	/* Who says so, and which of several it is. */
	const struct net6_route_attrs attrs = {
		.metric	= r->attrs.metric,
		.table	= r->table,
		.manual	= true,
		.untold	= c->attrs.untold,
	};

	switch (iface ? r->kind : NET6_RT_IMPLIED) {
	case NET6_RT_PREFIX:
		return net6_prefix_update(iface, &r->dst, r->plen, 0, NET6_PREFIX_BY_HAND);
	case NET6_RT_ENTRY:
		return net6_fib_update(iface, &r->dst, r->plen, &r->gateway, &attrs, 0);
	case NET6_RT_ROUTER:
		return net6_router_update(iface, &r->gateway, &attrs, 0);
	default:
		return -ENOENT;
	}
}

/* All that are found, one after the other. RTNL: nobody adds others meanwhile. */
static void net6_rt_route_remove_all(struct net6_net *nn, struct net6_rt_change *c,
				     net6_rt_fn fn)
{
	while (net6_rt_route_find(nn, c, fn) && !net6_rt_route_remove_found(nn, c))
		;
}

/* Without a word of replacing, one that is there lives on, for as long as is asked for. */
static int net6_rt_route_prolong(struct net6_net *nn, struct net6_rt_change *c)
{
	rcu_read_lock();	/* keeps its metrics */
	if (!c->several && net6_rt_route_find(nn, c, net6_rt_route_same) &&
	    c->route.expires != NET6_LIFETIME_INFINITE)
		net6_rt_route_set(c, &c->route.attrs, c->lifetime);
	rcu_read_unlock();
	return -EEXIST;
}

/* By all of its next hops, or by none. */
static int net6_rt_route_put_hops(struct net6_net *nn, struct net6_rt_change *c, bool replace)
{
	int err = 0;
	u32 i;

	for (i = 0; i < c->n_hops; i++) {
		c->hop = c->hops[i];
		c->attrs.hops = c->hop.hops;
		c->attrs.source = c->hop.source;
		if (!replace && net6_rt_route_find(nn, c, net6_rt_route_same))
			err = net6_rt_route_prolong(nn, c);
		else
			err = net6_rt_route_set(c, &c->attrs, c->lifetime);
		if (err)
			break;
	}
	c->attrs.untold &= !err;	/* who listens may know of them */
	while (err && i-- > 0) {
		c->hop = c->hops[i];
		net6_rt_route_set(c, &c->attrs, 0);
	}
	return err;
}

/**
 * net6_rt_route_remake() - a route goes by other next hops
 * @nn: namespace
 * @c: the route, and the next hops; without any it only goes
 *
 * Context: process, RTNL held. Return: 0, or -errno if it is still there as it was.
 */
int net6_rt_route_remake(struct net6_net *nn, struct net6_rt_change *c)
{
	bool tell = READ_ONCE(nn->net->ipv4.sysctl_nexthop_compat_mode);
	bool goes;

	c->attrs.untold = true;
	goes = net6_rt_route_put_hops(nn, c, true) || !c->n_hops;
	c->attrs.untold = true;
	if (tell && goes)
		net6_rt_route_tell_found(nn, c, net6_rt_route_former, RTM_DELROUTE, 0);
	net6_rt_route_remove_all(nn, c, net6_rt_route_former);
	if (c->found)
		return -ENOMEM;
	if (tell && !goes)
		net6_rt_route_tell_found(nn, c, net6_rt_route_same, RTM_NEWROUTE, NLM_F_REPLACE);
	return 0;
}

static int net6_rt_route_put(struct net6_net *nn, struct net6_rt_change *c, u16 flags)
{
	bool there = net6_rt_route_find(nn, c, net6_rt_route_there);
	bool replace = flags & NLM_F_REPLACE;
	int err;

	if (there && (flags & NLM_F_EXCL))
		return -EEXIST;
	if (!there && replace && !(flags & NLM_F_CREATE))
		return -ENOENT;
	/* Told when all is done. */
	c->attrs.untold = c->n_hops > 1 || (there && replace);
	err = net6_rt_route_put_hops(nn, c, replace);
	if (!err && replace)
		net6_rt_route_remove_all(nn, c, net6_rt_route_other);
	if (!err && c->attrs.untold)
		net6_rt_route_tell_found(nn, c, net6_rt_route_same, RTM_NEWROUTE,
					 there && replace ? NLM_F_REPLACE : 0);
	return err;
}

static int net6_rt_route_add(struct net6_net *nn, struct net6_rt_change *c, u16 flags,
			     struct netlink_ext_ack *extack)
{
	int err = net6_rt_request_check(nn, c, extack);

	if (err)
		return err;
	c->attrs.metrics = net6_metrics_read(c->mx, extack);
	if (IS_ERR(c->attrs.metrics))
		return PTR_ERR(c->attrs.metrics);
	err = net6_rt_route_put(nn, c, flags);
	net6_metrics_put(c->attrs.metrics);
	return err;
}

int net6_rt_route_new(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct net6_rt_change c;
	int err;

	err = net6_rt_request_parse(skb, nlh, &c, extack);
	if (!err)
		err = net6_rt_route_add(net6_pernet(sock_net(skb->sk)), &c, nlh->nlmsg_flags,
					extack);
	net6_rt_request_free(&c);
	return err;
}

/* The one that is meant. If no gateway was named, all of its next hops. */
static int net6_rt_route_remove(struct net6_net *nn, struct net6_rt_change *c)
{
	bool all;
	int err;

	if (!net6_rt_route_find(nn, c, net6_rt_route_meant))
		return -ESRCH;
	c->former = c->route.attrs.nexthop;
	all = c->former || (ipv6_addr_any(&c->hop.gateway) && !ipv6_addr_any(&c->route.gateway));
	c->attrs.untold = all;
	if (all)
		net6_rt_route_tell_found(nn, c, net6_rt_route_meant, RTM_DELROUTE, 0);
	err = net6_rt_route_remove_found(nn, c);
	if (err || !all)
		return err == -ENOENT ? -ESRCH : err;
	c->attrs.metric = c->route.attrs.metric;
	net6_rt_route_remove_all(nn, c, c->former ? net6_rt_route_former : net6_rt_route_sibling);
	return 0;
}

int net6_rt_route_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	const struct rtmsg *rtm = nlmsg_data(nlh);
	struct net6_rt_change c;
	int err;
	u32 i;

	if (nlmsg_len(nlh) >= sizeof(*rtm) && rtm->rtm_flags & RTM_F_CLONED)
		return net6_rt_dest_del(skb, nlh, extack);
	err = net6_rt_request_parse(skb, nlh, &c, extack);
	for (i = 0; !err && i < c.n_hops; i++) {
		c.hop = c.hops[i];
		err = net6_rt_route_remove(nn, &c);
	}
	net6_rt_request_free(&c);
	return err;
}
