// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: routes that are shown (ip -6 route, ip route get, ip monitor). rt_walk.c makes them of
 * what net6 decides by.
 */
#include <net/ip6_route.h>

#include "../core/dest.h"
#include "rt.h"

static struct nlmsghdr *net6_rt_route_header(struct sk_buff *skb,
					     const struct net6_rt_route *route, u32 portid,
					     u32 seq, int type, unsigned int nl_flags)
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

static int net6_rt_route_attrs(struct sk_buff *skb, const struct net6_rt_route *route)
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

static int net6_rt_route_fill(struct sk_buff *skb, const struct net6_rt_route *route, u32 portid,
			      u32 seq, int type, unsigned int nl_flags)
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

/* A strict request may also name an interface, or a table by its full number. */
static int net6_rt_route_filter(struct net6_rt_dump *d)
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
		if (rtm->rtm_flags & RTM_F_CLONED)
			return skb->len;	/* there are none */
		err = net6_rt_route_filter(&d);
		if (err)
			return err;
	}
	net6_rt_routes_walk(net6_pernet(sock_net(skb->sk)), d.table, pos, net6_rt_route_dump_one,
			    &d);
	return skb->len;
}

/**
 * struct net6_rt_best - looking for the route that was decided by
 * @gateway: next hop, :: for on-link
 * @dev: outgoing device
 * @route: the best so far
 */
struct net6_rt_best {
	struct in6_addr			gateway;
	const struct net_device		*dev;
	struct net6_rt_route		route;
};

/* Those of longer prefixes come later. */
static int net6_rt_route_better(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_best *best = arg;

	if (!ipv6_addr_equal(&route->gateway, &best->gateway) || route->dev != best->dev ||
	    (best->route.dev && (route->plen < best->route.plen ||
				 (route->plen == best->route.plen &&
				  route->attrs.metric >= best->route.attrs.metric))))
		return 0;
	best->route = *route;
	return 0;
}

/* The route by which a destination was decided; RCU read lock held. */
static void net6_rt_route_matched(const struct net6_dest *dest, struct net6_rt_route *route)
{
	struct net6_rt_best best = { .dev = dest->iface->dev };

	if (dest->neigh && !(dest->flags & (NET6_DEST_ONLINK | NET6_DEST_MULTICAST)))
		best.gateway = dest->neigh->addr;
	if (dest->flags & NET6_DEST_LOCAL)
		net6_rt_of_own(&best.route, &dest->key.daddr, best.dev, dest->table);
	else
		net6_rt_routes_over(dest->iface, dest->table, &dest->key.daddr,
				    net6_rt_route_better, &best);
	if (!best.route.dev)	/* a Redirect's, or gone meanwhile */
		best.route = (struct net6_rt_route) {
			.gateway	= best.gateway,
			.attrs.metric	= IP6_RT_PRIO_ADDRCONF,
			.attrs.protocol	= RTPROT_REDIRECT,
			.expires	= NET6_LIFETIME_INFINITE,
			.dst		= dest->key.daddr,
			.plen		= 128,
			.table		= dest->table,
			.type		= RTN_UNICAST,
		};
	*route = best.route;
	route->dev = dest->iface->dev;
}

/* The decision about a destination as a route; RCU read lock held. */
static void net6_rt_route_of_dest(const struct net6_dest *dest, struct net6_rt_route *route)
{
	net6_rt_route_matched(dest, route);
	route->self = NULL;			/* the one that was chosen */
	route->attrs.nexthop = 0;		/* and no object */
	route->attrs.metrics = dest->metrics;	/* which has a reference, the other has none */
	route->attrs.source = NULL;		/* told as the source that was chosen */
	route->dst = dest->key.daddr;
	route->plen = 128;
}

/* RTM_F_FIB_MATCH asks for the whole route. RTNL keeps the device. */
static int net6_rt_route_write_match(struct sk_buff *msg, const struct net6_dest *dest, u32 portid,
				     u32 seq)
{
	struct net6_rt_route route;
	int err;

	rcu_read_lock();
	net6_rt_route_matched(dest, &route);
	err = net6_rt_route_fill(msg, &route, portid, seq, RTM_NEWROUTE, 0);
	rcu_read_unlock();
	return err;
}

/* Who asks as for a packet that comes in is told by which interface, others by which source. */
static int net6_rt_route_asked(struct sk_buff *msg, const struct in6_addr *from,
			       const struct net6_flow *flow, const struct in6_addr *saddr)
{
	if (nla_put_in6_addr(msg, RTA_SRC, from))
		return -EMSGSIZE;
	if (flow->iif)
		return nla_put_u32(msg, RTA_IIF, flow->iif);
	return nla_put_in6_addr(msg, RTA_PREFSRC, saddr);
}

/* The path MTU that was learned of it stands among the metrics, as on native. */
static void net6_rt_route_learned(const struct net6_dest *dest, struct net6_rt_route *route,
				  struct net6_metrics *told)
{
	unsigned long expires = READ_ONCE(dest->pmtu_expires), now = jiffies;

	if (!expires || !time_before(now, expires))
		return;
	memset(told, 0, sizeof(*told));
	if (dest->metrics) {
		strscpy(told->congctl_name, dest->metrics->congctl_name,
			sizeof(told->congctl_name));
		memcpy(told->val, dest->metrics->val, sizeof(told->val));
	}
	told->val[RTAX_MTU - 1] = READ_ONCE(dest->pmtu);
	route->attrs.metrics = told;
	route->expires = (expires - now) / HZ;
}

static int net6_rt_route_write_dest(struct sk_buff *msg, struct net6_dest *dest, u32 portid,
				    u32 seq, const struct in6_addr *from,
				    const struct net6_flow *flow)
{
	struct in6_addr saddr = net6_dest_choose_saddr(dest) ? *from : dest->saddr;
	struct net6_metrics told;
	struct net6_rt_route route;
	struct nlmsghdr *reply;
	struct rtmsg *rtm;

	rcu_read_lock();
	net6_rt_route_of_dest(dest, &route);
	rcu_read_unlock();
	net6_rt_route_learned(dest, &route, &told);
	reply = net6_rt_route_header(msg, &route, portid, seq, RTM_NEWROUTE, 0);
	if (!reply || net6_rt_route_attrs(msg, &route) ||
	    net6_rt_route_asked(msg, from, flow, &saddr))
		return -EMSGSIZE;
	rtm = nlmsg_data(reply);
	rtm->rtm_src_len = 128;
	nlmsg_end(msg, reply);
	return 0;
}

/* Whose packet, and which one. RTNL held. */
static int net6_rt_route_flow(struct net *net, const struct rtmsg *rtm, struct nlattr **tb,
			      struct net6_flow *flow)
{
	*flow = (struct net6_flow) {
		.label	= ip6_make_flowinfo(rtm->rtm_tos, 0),
		.owned	= true,
		.uid	= current_uid(),
	};
	if (tb[RTA_IP_PROTO])
		flow->protocol = nla_get_u8(tb[RTA_IP_PROTO]);
	if (tb[RTA_SPORT])
		flow->sport = nla_get_be16(tb[RTA_SPORT]);
	if (tb[RTA_DPORT])
		flow->dport = nla_get_be16(tb[RTA_DPORT]);
	if (tb[RTA_MARK])
		flow->mark = nla_get_u32(tb[RTA_MARK]);
	if (tb[RTA_IIF])
		flow->iif = nla_get_u32(tb[RTA_IIF]);
	if (flow->iif && !__dev_get_by_index(net, flow->iif))
		return -ENODEV;
	if (tb[RTA_UID])
		flow->uid = make_kuid(current_user_ns(), nla_get_u32(tb[RTA_UID]));
	else if (flow->iif)
		flow->uid = INVALID_UID;
	return 0;
}

int net6_rt_route_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	struct nlattr *tb[RTA_MAX + 1];
	const struct rtmsg *rtm = nlmsg_data(nlh);
	u32 portid = NETLINK_CB(skb).portid;
	struct in6_addr daddr, from;
	struct net6_dest *dest;
	struct net6_flow flow;
	struct sk_buff *msg;
	int err;

	err = nlmsg_parse_deprecated(nlh, sizeof(struct rtmsg), tb, RTA_MAX,
				     net6_rt_route_policy, extack) ?:
	      net6_rt_route_flow(nn->net, rtm, tb, &flow);
	if (err)
		return err;
	daddr = tb[RTA_DST] ? nla_get_in6_addr(tb[RTA_DST]) : in6addr_any;
	from = tb[RTA_SRC] ? nla_get_in6_addr(tb[RTA_SRC]) : in6addr_any;
	dest = net6_dest_lookup_flow(nn, &from, &daddr,
				     tb[RTA_OIF] ? nla_get_u32(tb[RTA_OIF]) : 0, &flow);
	if (IS_ERR(dest))
		return PTR_ERR(dest);
	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	err = -ENOBUFS;
	if (msg && (rtm->rtm_flags & RTM_F_FIB_MATCH))
		err = net6_rt_route_write_match(msg, dest, portid, nlh->nlmsg_seq);
	else if (msg)
		err = net6_rt_route_write_dest(msg, dest, portid, nlh->nlmsg_seq, &from, &flow);
	net6_dest_put(dest);
	if (!err)
		return rtnl_unicast(msg, nn->net, portid);
	nlmsg_free(msg);
	return err;
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
