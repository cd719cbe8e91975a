// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: routes that are added and removed (ip -6 route add, append, change, replace, del).
 * What can be added: prefixes with and without a gateway, those that refuse, and default routes, by
 * one next hop or several.
 */
#include <net/ip6_route.h>

#include "rt.h"

/* What a request may ask for in vain. */
enum net6_rt_lack {
	NET6_RT_LACKS_NOTHING,
	NET6_RT_LACKS_SOURCE,
	NET6_RT_LACKS_ENCAP,
	NET6_RT_LACKS_NEXTHOP,
};

/**
 * struct net6_rt_change - a request to add or remove a route
 * @dst: destination
 * @plen: its length in bits
 * @hop: next hop at hand; gateway :: without one, iface NULL: any, to remove
 * @hops: all of them
 * @n_hops: so many
 * @several: they are from RTA_MULTIPATH, and on the heap
 * @lifetime: seconds until it goes by itself, or NET6_LIFETIME_INFINITE
 * @mx: RTA_METRICS, not read yet
 * @lacks: what net6 has not of what is asked for; nobody minds when a route is removed
 * @attrs: what else is said of it; to remove, a metric and a protocol of 0 stand for any
 * @route: what was found
 * @found: there is such a route
 */
struct net6_rt_change {
	struct in6_addr		dst;
	struct net6_rt_hop	hop;
	struct net6_rt_hop	*hops;
	u32			n_hops;
	bool			several;
	u32			lifetime;
	u8			plen;
	bool			found;
	enum net6_rt_lack	lacks;
	struct nlattr		*mx;
	struct net6_route_attrs	attrs;
	struct net6_rt_route	route;
};

/* A gateway tells its interface, if it is on one of ours. */
static struct net6_iface *net6_rt_gateway_iface(struct net6_net *nn, const struct in6_addr *addr)
{
	const struct net6_fib_route *entry;
	const struct net6_prefix *prefix;
	struct net6_iface *iface = NULL;
	struct net6_fib_match match;

	rcu_read_lock();
	prefix = net6_prefix_match(nn, addr, 0);
	net6_fib_lookup(nn, addr, 0, &match);
	entry = match.route;
	/* RTNL keeps the interface, not the prefix. */
	if (entry && !entry->attrs.refuses && ipv6_addr_any(&entry->gateway) &&
	    (!prefix || entry->plen > prefix->plen))
		iface = entry->iface;
	else if (prefix)
		iface = prefix->iface;
	rcu_read_unlock();
	return iface;
}

static enum net6_rt_lack net6_rt_route_lacks(struct nlattr **tb)
{
	if (tb[RTA_PREFSRC])
		return NET6_RT_LACKS_SOURCE;
	if (tb[RTA_ENCAP] || (tb[RTA_ENCAP_TYPE] && nla_get_u16(tb[RTA_ENCAP_TYPE])))
		return NET6_RT_LACKS_ENCAP;
	return tb[RTA_NH_ID] || tb[RTA_VIA] ? NET6_RT_LACKS_NEXTHOP : NET6_RT_LACKS_NOTHING;
}

static int net6_rt_route_refuse(enum net6_rt_lack lack, struct netlink_ext_ack *extack)
{
	switch (lack) {
	case NET6_RT_LACKS_NOTHING:
		return 0;
	case NET6_RT_LACKS_SOURCE:
		NL_SET_ERR_MSG(extack, "net6 has no routes with a source address");
		break;
	case NET6_RT_LACKS_ENCAP:
		NL_SET_ERR_MSG(extack, "net6 has no routes with encapsulation");
		break;
	case NET6_RT_LACKS_NEXTHOP:
		NL_SET_ERR_MSG(extack, "net6 has no next hop objects, and IPv6 gateways only");
		break;
	}
	return -EOPNOTSUPP;
}

static bool net6_rt_type_refuses(u8 type)
{
	return type == RTN_BLACKHOLE || type == RTN_UNREACHABLE || type == RTN_PROHIBIT ||
	       type == RTN_THROW;
}

static int net6_rt_route_main(const struct rtmsg *rtm, struct nlattr **tb,
			      struct netlink_ext_ack *extack)
{
	u32 table = tb[RTA_TABLE] ? nla_get_u32(tb[RTA_TABLE]) : rtm->rtm_table;

	if ((!table || table == RT_TABLE_MAIN) && !rtm->rtm_src_len &&
	    (!rtm->rtm_type || rtm->rtm_type == RTN_UNICAST || net6_rt_type_refuses(rtm->rtm_type)))
		return 0;
	NL_SET_ERR_MSG(extack, "net6 has unicast and refusing routes of the main table only");
	return -EOPNOTSUPP;
}

/* What says where it leads and how. */
static int net6_rt_route_read(struct net6_net *nn, struct net6_rt_change *c, struct nlattr **tb,
			      struct netlink_ext_ack *extack)
{
	struct in6_addr dst = {};

	if (tb[RTA_DST])
		nla_memcpy(&dst, tb[RTA_DST], sizeof(dst));
	ipv6_addr_prefix(&c->dst, &dst, c->plen);
	if (tb[RTA_GATEWAY])
		c->hop.gateway = nla_get_in6_addr(tb[RTA_GATEWAY]);
	c->lifetime = NET6_LIFETIME_INFINITE;
	if (tb[RTA_EXPIRES] && nla_get_u32(tb[RTA_EXPIRES]))
		c->lifetime = nla_get_u32(tb[RTA_EXPIRES]);
	if (tb[RTA_PRIORITY])
		c->attrs.metric = nla_get_u32(tb[RTA_PRIORITY]);
	/* RFC 4191 2.1: the reserved value is medium. */
	if (tb[RTA_PREF])
		c->attrs.preference = max((s8)(nla_get_u8(tb[RTA_PREF]) << 6) >> 6, -2);
	if (c->attrs.preference < -1)
		c->attrs.preference = 0;
	if (tb[RTA_OIF])
		c->hop.iface = net6_iface_find(nn, nla_get_u32(tb[RTA_OIF]));
	if (tb[RTA_OIF] && !c->hop.iface) {
		NL_SET_ERR_MSG(extack, "net6 has no such interface");
		return -ENODEV;
	}
	c->mx = tb[RTA_METRICS];
	return 0;
}

/* Next hops beside the one that is in the request itself: those take its place. */
static int net6_rt_route_read_hops(struct net6_net *nn, struct net6_rt_change *c,
				   const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	int n;

	if (!attr || c->attrs.refuses)
		return 0;
	c->hops = NULL;
	c->several = true;
	n = net6_rt_hops_read(nn, attr, &c->hops, extack);
	c->n_hops = max(n, 0);
	return min(n, 0);
}

static void net6_rt_change_free(struct net6_rt_change *c)
{
	if (c->several)
		kfree(c->hops);
}

static int net6_rt_route_parse(struct sk_buff *skb, struct nlmsghdr *nlh,
			       struct net6_rt_change *c, struct netlink_ext_ack *extack)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	const struct rtmsg *rtm = nlmsg_data(nlh);
	struct nlattr *tb[RTA_MAX + 1];
	int err;

	ASSERT_RTNL();
	memset(c, 0, sizeof(*c));
	c->hops = &c->hop;
	c->n_hops = 1;
	err = nlmsg_parse_deprecated(nlh, sizeof(*rtm), tb, RTA_MAX, net6_rt_route_policy,
				     extack);
	if (err)
		return err;
	if (rtm->rtm_dst_len > 128) {
		NL_SET_ERR_MSG(extack, "a prefix length is 128 at most");
		return -EINVAL;
	}
	err = net6_rt_route_main(rtm, tb, extack);
	if (err)
		return err;
	c->plen = rtm->rtm_dst_len;
	c->attrs.protocol = rtm->rtm_protocol;
	c->attrs.manual = true;
	if (net6_rt_type_refuses(rtm->rtm_type))
		c->attrs.refuses = rtm->rtm_type;
	c->lacks = net6_rt_route_lacks(tb);
	return net6_rt_route_read(nn, c, tb, extack) ?:
	       net6_rt_route_read_hops(nn, c, tb[RTA_MULTIPATH], extack);
}

/* Check what is said of a next hop of a route that is to be added. */
static int net6_rt_route_check_hop(struct net6_net *nn, struct net6_rt_change *c,
				   struct net6_rt_hop *hop, struct netlink_ext_ack *extack)
{
	bool direct = ipv6_addr_any(&hop->gateway);

	/* As native: whatever it was to lead by. */
	if (c->attrs.refuses) {
		hop->gateway = in6addr_any;
		hop->iface = READ_ONCE(nn->loopback);
	}
	if (!hop->iface && !direct)
		hop->iface = net6_rt_gateway_iface(nn, &hop->gateway);
	if (!hop->iface) {
		NL_SET_ERR_MSG(extack, "no interface is named, and the gateway is on none");
		return -EHOSTUNREACH;
	}
	if (ipv6_addr_is_multicast(&hop->gateway)) {
		NL_SET_ERR_MSG(extack, "Invalid gateway address");
		return -EINVAL;
	}
	if ((!direct || c->attrs.refuses) && c->plen &&
	    (ipv6_addr_type(&c->dst) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL))) {
		NL_SET_ERR_MSG(extack, "net6 has no routes to link-local and multicast prefixes");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Check what is said of a route that is to be added. */
static int net6_rt_route_check(struct net6_net *nn, struct net6_rt_change *c,
			       struct netlink_ext_ack *extack)
{
	int err = net6_rt_route_refuse(c->lacks, extack);
	u32 i;

	for (i = 0; !err && i < c->n_hops; i++)
		err = net6_rt_route_check_hop(nn, c, &c->hops[i], extack);
	if (!c->attrs.metric)
		c->attrs.metric = IP6_RT_PRIO_USER;
	return err;
}

/* Is it a route to that destination, as far as somebody can set one? */
static bool net6_rt_route_to(const struct net6_rt_route *route, const struct net6_rt_change *c)
{
	return route->table == RT_TABLE_MAIN && route->plen == c->plen &&
	       ipv6_addr_equal(&route->dst, &c->dst);
}

static int net6_rt_route_took(struct net6_rt_change *c, const struct net6_rt_route *route)
{
	c->route = *route;
	c->found = true;
	return 1;
}

/* To remove: of those that the request means the one of the lowest metric, as native. */
static int net6_rt_route_meant(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_change *c = arg;

	if (!net6_rt_route_to(route, c) ||
	    (!ipv6_addr_any(&c->hop.gateway) &&
	     !ipv6_addr_equal(&route->gateway, &c->hop.gateway)) ||
	    (c->hop.iface && route->dev != c->hop.iface->dev) ||
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

	return net6_rt_route_to(route, c) && route->attrs.metric == c->attrs.metric ?
	       net6_rt_route_took(c, route) : 0;
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
	return route->kind > NET6_RT_PREFIX && route->attrs.manual &&
	       !ipv6_addr_any(&route->gateway) ? net6_rt_route_there(route, arg) : 0;
}

static bool net6_rt_route_find(struct net6_net *nn, struct net6_rt_change *c,
			       int (*fn)(const struct net6_rt_route *route, void *arg))
{
	c->found = false;
	net6_rt_routes_walk(nn, fn, c);
	return c->found;
}

/* By the next hop at hand. */
static int net6_rt_route_set(const struct net6_rt_change *c, const struct net6_route_attrs *attrs,
			     u32 lifetime)
{
	const struct net6_rt_hop *hop = &c->hop;

	if (!c->plen && !ipv6_addr_any(&hop->gateway))
		return net6_router_update(hop->iface, &hop->gateway, attrs, lifetime);
	return net6_fib_update(hop->iface, &c->dst, c->plen, &hop->gateway, attrs, lifetime);
}

static int net6_rt_route_remove_found(struct net6_net *nn, const struct net6_rt_change *c)
{
	const struct net6_rt_route *r = &c->route;
	struct net6_iface *iface = net6_iface_find(nn, r->dev->ifindex);
	/* Who says so, and which of several it is. */
	const struct net6_route_attrs attrs = { .metric = r->attrs.metric, .manual = true };

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
				     int (*fn)(const struct net6_rt_route *route, void *arg))
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
		if (!replace && net6_rt_route_find(nn, c, net6_rt_route_same))
			err = net6_rt_route_prolong(nn, c);
		else
			err = net6_rt_route_set(c, &c->attrs, c->lifetime);
		if (err)
			break;
	}
	while (err && i-- > 0) {
		c->hop = c->hops[i];
		net6_rt_route_set(c, &c->attrs, 0);
	}
	return err;
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
	err = net6_rt_route_put_hops(nn, c, replace);
	if (!err && replace)
		net6_rt_route_remove_all(nn, c, net6_rt_route_other);
	return err;
}

static int net6_rt_route_add(struct net6_net *nn, struct net6_rt_change *c, u16 flags,
			     struct netlink_ext_ack *extack)
{
	int err = net6_rt_route_check(nn, c, extack);

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

	err = net6_rt_route_parse(skb, nlh, &c, extack);
	if (!err)
		err = net6_rt_route_add(net6_pernet(sock_net(skb->sk)), &c, nlh->nlmsg_flags,
					extack);
	net6_rt_change_free(&c);
	return err;
}

/* The one that is meant. If no gateway was named, all of its next hops. */
static int net6_rt_route_remove(struct net6_net *nn, struct net6_rt_change *c)
{
	int err;

	if (!net6_rt_route_find(nn, c, net6_rt_route_meant))
		return -ESRCH;
	err = net6_rt_route_remove_found(nn, c);
	if (err || !ipv6_addr_any(&c->hop.gateway) || ipv6_addr_any(&c->route.gateway))
		return err == -ENOENT ? -ESRCH : err;
	c->attrs.metric = c->route.attrs.metric;
	net6_rt_route_remove_all(nn, c, net6_rt_route_sibling);
	return 0;
}

int net6_rt_route_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	struct net6_rt_change c;
	int err;
	u32 i;

	err = net6_rt_route_parse(skb, nlh, &c, extack);
	for (i = 0; !err && i < c.n_hops; i++) {
		c.hop = c.hops[i];
		err = net6_rt_route_remove(nn, &c);
	}
	net6_rt_change_free(&c);
	return err;
}
