// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: routes that are shown (ip -6 route, ip monitor). rt_walk.c makes them of what net6
 * decides by.
 */
#include <net/ip6_route.h>

#include "../core/dest.h"
#include "rt.h"

/**
 * net6_rt_route_header() - begin a message about a route
 * @skb: message
 * @route: the route
 * @portid: who is told, 0 for listeners
 * @seq: number of the request
 * @type: RTM_NEWROUTE or RTM_DELROUTE
 * @nl_flags: NLM_F_*
 *
 * Context: any. Return: the header, for nlmsg_end() or nlmsg_cancel(); NULL if it is full.
 */
struct nlmsghdr *net6_rt_route_header(struct sk_buff *skb, const struct net6_rt_route *route,
				      u32 portid, u32 seq, int type, unsigned int nl_flags)
{
	struct nlmsghdr *nlh;
	struct rtmsg *rtm;

	nlh = nlmsg_put(skb, portid, seq, type, sizeof(*rtm), nl_flags);
	if (!nlh)
		return NULL;
	rtm = nlmsg_data(nlh);
	memset(rtm, 0, sizeof(*rtm));
	rtm->rtm_family = AF_INET6;
	rtm->rtm_dst_len = route->plen;
	rtm->rtm_table = route->table < 256 ? route->table : RT_TABLE_COMPAT;
	rtm->rtm_protocol = route->attrs.protocol;
	rtm->rtm_scope = RT_SCOPE_UNIVERSE;
	rtm->rtm_type = route->type;
	if (route->type == RTN_UNICAST && net6_rt_hops_count(route) == 1)
		rtm->rtm_flags = net6_rt_dev_flags(route->dev);
	return nlh;
}

/* Where it leads. By an object, who knows of those need not be told. */
static int net6_rt_route_way(struct sk_buff *skb, const struct net6_rt_route *route)
{
	struct net *net = dev_net(route->dev);
	u32 nexthop = net6_rt_nexthop_id(net, route->attrs.nexthop);

	if (nexthop && nla_put_u32(skb, RTA_NH_ID, nexthop))
		return -EMSGSIZE;
	if (nexthop && !READ_ONCE(net->ipv4.sysctl_nexthop_compat_mode))
		return 0;
	if (net6_rt_hops_count(route) > 1)
		return net6_rt_hops_write(skb, route);
	if ((!ipv6_addr_any(&route->gateway) &&
	     nla_put_in6_addr(skb, RTA_GATEWAY, &route->gateway)) ||
	    nla_put_u32(skb, RTA_OIF, route->dev->ifindex))
		return -EMSGSIZE;
	return 0;
}

/**
 * net6_rt_route_attrs() - the attributes of a route
 * @skb: message
 * @route: the route
 *
 * Context: RTNL or RCU read lock held. Return: 0 or -EMSGSIZE.
 */
int net6_rt_route_attrs(struct sk_buff *skb, const struct net6_rt_route *route)
{
	const struct in6_addr *source = net6_source_addr(route->attrs.source);
	struct rta_cacheinfo ci = {};

	if (route->expires != NET6_LIFETIME_INFINITE)
		ci.rta_expires = jiffies_to_clock_t(min_t(u64, (u64)route->expires * HZ,
							  INT_MAX));
	if (nla_put_u32(skb, RTA_TABLE, route->table) ||
	    (route->plen && nla_put_in6_addr(skb, RTA_DST, &route->dst)) ||
	    nla_put_u32(skb, RTA_PRIORITY, route->attrs.metric) ||
	    net6_metrics_write(skb, RTA_METRICS, route->attrs.metrics) ||
	    (source && nla_put_in6_addr(skb, RTA_PREFSRC, source)) ||
	    net6_rt_route_way(skb, route) ||
	    nla_put(skb, RTA_CACHEINFO, sizeof(ci), &ci) ||
	    nla_put_u8(skb, RTA_PREF, route->attrs.preference & 3))
		return -EMSGSIZE;
	return 0;
}

/**
 * net6_rt_route_fill() - a whole message about a route
 * @skb: message
 * @route: the route
 * @portid: who is told, 0 for listeners
 * @seq: number of the request
 * @type: RTM_NEWROUTE or RTM_DELROUTE
 * @nl_flags: NLM_F_*
 *
 * Context: RTNL or RCU read lock held. Return: 0, or -EMSGSIZE and nothing is written.
 */
int net6_rt_route_fill(struct sk_buff *skb, const struct net6_rt_route *route, u32 portid, u32 seq,
		       int type, unsigned int nl_flags)
{
	struct nlmsghdr *nlh = net6_rt_route_header(skb, route, portid, seq, type, nl_flags);

	if (!nlh)
		return -EMSGSIZE;
	if (net6_rt_route_attrs(skb, route)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

static int net6_rt_route_dump_one(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_dump *d = arg;
	const struct rtmsg *rtm = nlmsg_data(d->cb->nlh);

	if (!net6_rt_hops_lead(route))
		return 0;
	/* Only a strict request means what its header says. */
	if (d->cb->strict_check &&
	    ((d->table && d->table != route->table) ||
	     (d->oif && !net6_rt_hops_on(route, d->oif)) ||
	     (rtm->rtm_protocol && rtm->rtm_protocol != route->attrs.protocol) ||
	     (rtm->rtm_type && rtm->rtm_type != route->type)))
		return 0;
	return net6_rt_route_fill(d->skb, route, NETLINK_CB(d->cb->skb).portid,
				  d->cb->nlh->nlmsg_seq, RTM_NEWROUTE, NLM_F_MULTI);
}

const struct nla_policy net6_rt_route_policy[RTA_MAX + 1] = {
	[RTA_DST]	= { .len = sizeof(struct in6_addr) },
	[RTA_SRC]	= { .len = sizeof(struct in6_addr) },
	[RTA_GATEWAY]	= { .len = sizeof(struct in6_addr) },
	[RTA_OIF]	= { .type = NLA_U32 },
	[RTA_PRIORITY]	= { .type = NLA_U32 },
	[RTA_PREFSRC]	= { .len = sizeof(struct in6_addr) },
	[RTA_METRICS]	= { .type = NLA_NESTED },
	[RTA_ENCAP_TYPE] = { .type = NLA_U16 },
	[RTA_TABLE]	= { .type = NLA_U32 },
	[RTA_PREF]	= { .type = NLA_U8 },
	[RTA_NH_ID]	= { .type = NLA_U32 },
	[RTA_EXPIRES]	= { .type = NLA_U32 },
	[RTA_MULTIPATH]	= { .len = sizeof(struct rtnexthop) },
	[RTA_IP_PROTO]	= { .type = NLA_U8 },
	[RTA_SPORT]	= { .type = NLA_U16 },
	[RTA_DPORT]	= { .type = NLA_U16 },
	[RTA_IIF]	= { .type = NLA_U32 },
	[RTA_MARK]	= { .type = NLA_U32 },
	[RTA_UID]	= { .type = NLA_U32 },
};

/**
 * net6_rt_route_filter() - what a dump is asked for
 * @d: the dump; gets table and interface
 *
 * A strict request may also name an interface, or a table by its full number.
 * Context: process. Return: 0 or -errno of a request that cannot be read.
 */
int net6_rt_route_filter(struct net6_rt_dump *d)
{
	const struct rtmsg *rtm = nlmsg_data(d->cb->nlh);
	struct nlattr *tb[RTA_MAX + 1];
	int err;

	if (!d->cb->strict_check)
		return 0;
	err = nlmsg_parse_deprecated(d->cb->nlh, sizeof(*rtm), tb, RTA_MAX,
				     net6_rt_route_policy, d->cb->extack);
	if (err)
		return err;
	d->table = tb[RTA_TABLE] ? nla_get_u32(tb[RTA_TABLE]) : rtm->rtm_table;
	d->oif = tb[RTA_OIF] ? nla_get_u32(tb[RTA_OIF]) : 0;
	return 0;
}

int net6_rt_route_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct rtmsg *rtm = nlmsg_data(cb->nlh);
	struct net6_rt_pos *pos = (void *)cb->ctx;
	struct net6_rt_dump d = { .skb = skb, .cb = cb };
	int err;

	BUILD_BUG_ON(sizeof(*pos) > sizeof(cb->ctx));
	if (nlmsg_len(cb->nlh) < sizeof(*rtm)) {
		if (cb->strict_check)
			return -EINVAL;
	} else {
		err = net6_rt_route_filter(&d);
		if (err)
			return err;
	}
	net6_rt_routes_walk(net6_pernet(sock_net(skb->sk)), d.table, pos, net6_rt_route_dump_one,
			    &d);
	return skb->len;
}

/**
 * net6_rt_route_tell() - tell RTNLGRP_IPV6_ROUTE of a route, with all of its next hops
 * @net: namespace
 * @route: as it was made of what net6 decides by, under the RCU read lock or nn->lock held since
 * @type: RTM_NEWROUTE or RTM_DELROUTE
 * @nl_flags: NLM_F_REPLACE, or 0
 *
 * Context: any, does not sleep.
 */
void net6_rt_route_tell(struct net *net, const struct net6_rt_route *route, int type,
			unsigned int nl_flags)
{
	struct sk_buff *msg;

	if (!rtnl_has_listeners(net, RTNLGRP_IPV6_ROUTE))
		return;
	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!msg) {
		rtnl_set_sk_err(net, RTNLGRP_IPV6_ROUTE, -ENOBUFS);
		return;
	}
	if (net6_rt_route_fill(msg, route, 0, 0, type, nl_flags)) {
		nlmsg_free(msg);
		return;
	}
	rtnl_notify(msg, net, 0, RTNLGRP_IPV6_ROUTE, NULL, GFP_ATOMIC);
}

static void net6_rt_note_route(struct net *net, const struct net6_rt_route *route,
			       enum net6_note_event event)
{
	net6_rt_route_tell(net, route, event == NET6_NOTE_DEL ? RTM_DELROUTE : RTM_NEWROUTE, 0);
}

/**
 * net6_rt_note_router() - tell RTNLGRP_IPV6_ROUTE of a default router
 * @router: router
 * @event: what happened to it
 *
 * Context: nn->lock held.
 */
void net6_rt_note_router(const struct net6_router *router, enum net6_note_event event)
	__must_hold(&router->iface->nn->lock)
{
	struct net *net = router->iface->nn->net;
	struct net6_rt_route route;

	if (router->attrs.untold || !rtnl_has_listeners(net, RTNLGRP_IPV6_ROUTE))
		return;
	net6_rt_of_router(&route, router);
	if (event == NET6_NOTE_DEL)
		route.self = NULL;		/* it is none of them any more */
	net6_rt_note_route(net, &route, event);
}

/**
 * net6_rt_note_fib() - tell RTNLGRP_IPV6_ROUTE of an entry of the routing table
 * @entry: route
 * @event: what happened to it
 *
 * Context: nn->lock held.
 */
void net6_rt_note_fib(const struct net6_fib_route *entry, enum net6_note_event event)
	__must_hold(&entry->iface->nn->lock)
{
	struct net *net = entry->iface->nn->net;
	struct net6_rt_route route;

	if (entry->attrs.untold || !rtnl_has_listeners(net, RTNLGRP_IPV6_ROUTE))
		return;
	net6_rt_of_fib(&route, entry);
	if (event == NET6_NOTE_DEL)
		route.self = NULL;		/* it is none of them any more */
	net6_rt_note_route(net, &route, event);
}

/* RTNLGRP_IPV6_PREFIX hears of what routers advertise. */
static void net6_rt_note_advertised(struct net *net, const struct net6_prefix *prefix)
{
	struct prefix_cacheinfo ci = {
		.preferred_time	= net6_life_left(&prefix->life),
		.valid_time	= net6_life_left(&prefix->life),
	};
	struct prefixmsg *pmsg;
	struct nlmsghdr *nlh;
	struct sk_buff *msg;

	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!msg) {
		rtnl_set_sk_err(net, RTNLGRP_IPV6_PREFIX, -ENOBUFS);
		return;
	}
	nlh = nlmsg_put(msg, 0, 0, RTM_NEWPREFIX, sizeof(*pmsg), 0);
	pmsg = nlmsg_data(nlh);
	memset(pmsg, 0, sizeof(*pmsg));
	pmsg->prefix_family = AF_INET6;
	pmsg->prefix_ifindex = prefix->iface->ifindex;
	pmsg->prefix_type = 3;			/* the option's, RFC 4861 4.6.2 */
	pmsg->prefix_len = prefix->plen;
	pmsg->prefix_flags = 0x01;		/* on-link */
	if (nla_put_in6_addr(msg, PREFIX_ADDRESS, &prefix->prefix) ||
	    nla_put(msg, PREFIX_CACHEINFO, sizeof(ci), &ci)) {
		nlmsg_free(msg);
		return;
	}
	nlmsg_end(msg, nlh);
	rtnl_notify(msg, net, 0, RTNLGRP_IPV6_PREFIX, NULL, GFP_ATOMIC);
}

/**
 * net6_rt_note_prefix() - tell RTNLGRP_IPV6_ROUTE and _PREFIX of an on-link prefix
 * @prefix: prefix
 * @event: what happened to it
 *
 * Context: nn->lock held.
 */
void net6_rt_note_prefix(const struct net6_prefix *prefix, enum net6_note_event event)
	__must_hold(&prefix->iface->nn->lock)
{
	struct net *net = prefix->iface->nn->net;
	struct net6_rt_route route;

	if (event != NET6_NOTE_DEL && !prefix->manual &&
	    rtnl_has_listeners(net, RTNLGRP_IPV6_PREFIX))
		net6_rt_note_advertised(net, prefix);
	if (!rtnl_has_listeners(net, RTNLGRP_IPV6_ROUTE))
		return;
	net6_rt_of_prefix(&route, prefix);
	net6_rt_note_route(net, &route, event);
}
