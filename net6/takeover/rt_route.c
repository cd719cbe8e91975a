// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: routes (ip -6 route, ip route get, ip monitor). net6 decides by addresses, on-link
 * prefixes and default routers. They are shown as the routes that native would have made of them,
 * the routing table's as they are. What can be added: prefixes with and without a gateway, those
 * that refuse, and default routes.
 */
#include <linux/tcp.h>
#include <net/ip6_route.h>
#include <net/tcp.h>

#include "../core/dest.h"
#include "rt.h"

static const struct in6_addr net6_rt_linklocal = { { .u6_addr8 = { 0xfe, 0x80 } } };
static const struct in6_addr net6_rt_multicast = { { .u6_addr8 = { 0xff } } };

/* Has somebody added it as a prefix (net6ctl), or did it come with an address or a router? */
static bool net6_rt_prefix_added(const struct net6_prefix *prefix)
{
	return READ_ONCE(prefix->claims[NET6_PREFIX_BY_HAND].lifetime) &&
	       !READ_ONCE(prefix->claims[NET6_PREFIX_OF_ADDR].lifetime);
}

static void net6_rt_of_prefix(struct net6_rt_route *to, const struct net6_prefix *from)
{
	bool added = net6_rt_prefix_added(from);

	*to = (struct net6_rt_route) {
		.dst		= from->prefix,
		.plen		= from->plen,
		.dev		= from->iface->dev,
		.attrs.metric	= added ? IP6_RT_PRIO_USER : READ_ONCE(from->metric),
		.attrs.protocol	= added ? RTPROT_BOOT : RTPROT_KERNEL,
		.expires	= net6_life_left(&from->life),
		.rtf_flags	= RTF_UP,
		.table		= RT_TABLE_MAIN,
		.type		= RTN_UNICAST,
		.kind		= NET6_RT_PREFIX,
	};
}

/* A default router and a route to a prefix have this in common. */
static void net6_rt_via(struct net6_rt_route *to, const struct net6_iface *iface,
			const struct in6_addr *gateway, const struct net6_life *life,
			const struct net6_route_attrs *attrs)
{
	*to = (struct net6_rt_route) {
		.gateway	= *gateway,
		.dev		= iface->dev,
		.attrs		= *attrs,
		.expires	= net6_life_left(life),
		.rtf_flags	= RTF_UP,
		.table		= RT_TABLE_MAIN,
		.type		= attrs->refuses ?: RTN_UNICAST,
		.kind		= NET6_RT_ENTRY,
	};
	if (attrs->refuses)
		to->rtf_flags |= RTF_REJECT | RTF_NONEXTHOP;
	if (to->expires != NET6_LIFETIME_INFINITE)
		to->rtf_flags |= RTF_EXPIRES;
}

static void net6_rt_of_router(struct net6_rt_route *to, const struct net6_router *from)
{
	net6_rt_via(to, from->iface, &from->addr, &from->life, &from->attrs);
	to->kind = NET6_RT_ROUTER;
	if (!from->attrs.manual)
		to->rtf_flags |= RTF_DEFAULT | RTF_ADDRCONF;
}

static void net6_rt_of_fib(struct net6_rt_route *to, const struct net6_fib_route *from)
{
	net6_rt_via(to, from->iface, &from->gateway, &from->life, &from->attrs);
	to->dst = from->prefix;
	to->plen = from->plen;
	if (!from->attrs.manual)
		to->rtf_flags |= RTF_ROUTEINFO;
}

static void net6_rt_of_addr(struct net6_rt_route *to, const struct net6_addr *from)
{
	*to = (struct net6_rt_route) {
		.dst		= from->addr,
		.plen		= 128,
		.dev		= from->iface->dev,
		.expires	= NET6_LIFETIME_INFINITE,
		.rtf_flags	= RTF_UP | RTF_LOCAL | RTF_NONEXTHOP,
		.table		= RT_TABLE_LOCAL,
		.type		= RTN_LOCAL,
		.attrs.protocol	= RTPROT_KERNEL,
	};
}

/* What is on the link without an entry. */
static void net6_rt_of_iface(struct net6_rt_route *to, const struct net6_iface *from, bool group)
{
	*to = (struct net6_rt_route) {
		.dst		= group ? net6_rt_multicast : net6_rt_linklocal,
		.plen		= group ? 8 : 64,
		.dev		= from->dev,
		.attrs.metric	= IP6_RT_PRIO_ADDRCONF,
		.attrs.protocol	= RTPROT_KERNEL,
		.expires	= NET6_LIFETIME_INFINITE,
		.rtf_flags	= RTF_UP,
		.table		= group ? RT_TABLE_LOCAL : RT_TABLE_MAIN,
		.type		= group ? RTN_MULTICAST : RTN_UNICAST,
	};
}

static int net6_rt_walk_iface(struct net6_iface *iface,
			      int (*fn)(const struct net6_rt_route *route, void *arg), void *arg)
{
	const struct net6_fib_route *entry;
	const struct net6_router *router;
	const struct net6_prefix *prefix;
	const struct net6_addr *addr;
	struct net6_rt_route route;
	int err = 0;

	list_for_each_entry_rcu(prefix, &iface->prefixes, life.list) {
		net6_rt_of_prefix(&route, prefix);
		err = err ?: fn(&route, arg);
	}
	if (net6_iface_usable(iface) && !net6_iface_is_loopback(iface)) {
		net6_rt_of_iface(&route, iface, false);
		err = err ?: fn(&route, arg);
	}
	list_for_each_entry_rcu(entry, &iface->routes, life.list) {
		net6_rt_of_fib(&route, entry);
		err = err ?: fn(&route, arg);
	}
	list_for_each_entry_rcu(router, &iface->routers, life.list) {
		net6_rt_of_router(&route, router);
		err = err ?: fn(&route, arg);
	}
	list_for_each_entry_rcu(addr, &iface->addrs, iface_list) {
		if (!net6_addr_is_assigned(addr))
			continue;
		net6_rt_of_addr(&route, addr);
		err = err ?: fn(&route, arg);
	}
	if (net6_iface_usable(iface) && !net6_iface_is_loopback(iface)) {
		net6_rt_of_iface(&route, iface, true);
		err = err ?: fn(&route, arg);
	}
	return err;
}

/**
 * net6_rt_routes_walk() - what net6 decides by, as routes
 * @nn: namespace
 * @fn: called for each under the RCU read lock; non-zero stops
 * @arg: for @fn
 *
 * Context: any. Return: 0, or what @fn returned.
 */
int net6_rt_routes_walk(struct net6_net *nn,
			int (*fn)(const struct net6_rt_route *route, void *arg), void *arg)
{
	struct net6_iface *iface;
	int err = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		err = net6_rt_walk_iface(iface, fn, arg);
		if (err)
			break;
	}
	rcu_read_unlock();
	return err;
}

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
	rtm->rtm_table = route->table;
	rtm->rtm_protocol = route->attrs.protocol;
	rtm->rtm_scope = RT_SCOPE_UNIVERSE;
	rtm->rtm_type = route->type;
	return nlh;
}

static int net6_rt_put_metrics(struct sk_buff *skb, const struct net6_route_attrs *attrs)
{
	struct nlattr *nest;

	if (!attrs->mtu && !attrs->advmss && !attrs->hop_limit)
		return 0;
	nest = nla_nest_start_noflag(skb, RTA_METRICS);
	if (!nest || (attrs->mtu && nla_put_u32(skb, RTAX_MTU, attrs->mtu)) ||
	    (attrs->advmss && nla_put_u32(skb, RTAX_ADVMSS, attrs->advmss)) ||
	    (attrs->hop_limit && nla_put_u32(skb, RTAX_HOPLIMIT, attrs->hop_limit)))
		return -EMSGSIZE;	/* the caller cancels the whole message */
	nla_nest_end(skb, nest);
	return 0;
}

static int net6_rt_route_attrs(struct sk_buff *skb, const struct net6_rt_route *route)
{
	struct rta_cacheinfo ci = {};

	if (route->expires != NET6_LIFETIME_INFINITE)
		ci.rta_expires = jiffies_to_clock_t(min_t(u64, (u64)route->expires * HZ,
							  INT_MAX));
	if (nla_put_u32(skb, RTA_TABLE, route->table) ||
	    (route->plen && nla_put_in6_addr(skb, RTA_DST, &route->dst)) ||
	    nla_put_u32(skb, RTA_PRIORITY, route->attrs.metric) ||
	    net6_rt_put_metrics(skb, &route->attrs) ||
	    (!ipv6_addr_any(&route->gateway) &&
	     nla_put_in6_addr(skb, RTA_GATEWAY, &route->gateway)) ||
	    nla_put_u32(skb, RTA_OIF, route->dev->ifindex) ||
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

	if (!net6_rt_dump_wants(d))
		return 0;
	/* Only a strict request means what its header says. */
	if (d->cb->strict_check &&
	    ((d->table && d->table != route->table) ||
	     (d->oif && d->oif != route->dev->ifindex) ||
	     (rtm->rtm_protocol && rtm->rtm_protocol != route->attrs.protocol) ||
	     (rtm->rtm_type && rtm->rtm_type != route->type)))
		return 0;
	if (net6_rt_route_fill(d->skb, route, NETLINK_CB(d->cb->skb).portid,
			       d->cb->nlh->nlmsg_seq, RTM_NEWROUTE, NLM_F_MULTI)) {
		d->idx--;
		return -EMSGSIZE;
	}
	return 0;
}

static const struct nla_policy net6_rt_route_policy[RTA_MAX + 1] = {
	[RTA_DST]	= { .len = sizeof(struct in6_addr) },
	[RTA_SRC]	= { .len = sizeof(struct in6_addr) },
	[RTA_GATEWAY]	= { .len = sizeof(struct in6_addr) },
	[RTA_OIF]	= { .type = NLA_U32 },
	[RTA_PRIORITY]	= { .type = NLA_U32 },
	[RTA_METRICS]	= { .type = NLA_NESTED },
	[RTA_ENCAP_TYPE] = { .type = NLA_U16 },
	[RTA_TABLE]	= { .type = NLA_U32 },
	[RTA_PREF]	= { .type = NLA_U8 },
	[RTA_EXPIRES]	= { .type = NLA_U32 },
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
	struct net6_rt_dump d = { .skb = skb, .cb = cb };
	int err;

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
	net6_rt_routes_walk(net6_pernet(sock_net(skb->sk)), net6_rt_route_dump_one, &d);
	cb->args[0] = d.idx;
	return skb->len;
}

/**
 * struct net6_rt_best - looking for the route that was decided by
 * @daddr: destination
 * @gateway: next hop, :: for on-link
 * @dev: outgoing device; NULL for an address of ours
 * @route: the best so far
 * @found: there is one
 */
struct net6_rt_best {
	const struct in6_addr		*daddr;
	struct in6_addr			gateway;
	const struct net_device		*dev;
	struct net6_rt_route		route;
	bool				found;
};

static int net6_rt_route_better(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_best *best = arg;

	if (!ipv6_prefix_equal(&route->dst, best->daddr, route->plen) ||
	    !ipv6_addr_equal(&route->gateway, &best->gateway) ||
	    (best->dev ? route->dev != best->dev : route->type != RTN_LOCAL) ||
	    (best->found && (route->plen < best->route.plen ||
			     (route->plen == best->route.plen &&
			      route->attrs.metric >= best->route.attrs.metric))))
		return 0;
	best->route = *route;
	best->found = true;
	return 0;
}

/* The decision about a destination as a route; RCU read lock held. */
static void net6_rt_route_of_dest(struct net6_net *nn, const struct net6_dest *dest,
				  struct net6_rt_route *route)
{
	struct net6_rt_best best = { .daddr = &dest->key.daddr };

	if (!(dest->flags & NET6_DEST_LOCAL))
		best.dev = dest->iface->dev;
	if (dest->neigh && !(dest->flags & (NET6_DEST_ONLINK | NET6_DEST_MULTICAST)))
		best.gateway = dest->neigh->addr;
	net6_rt_routes_walk(nn, net6_rt_route_better, &best);
	if (!best.found)	/* a Redirect's, or gone meanwhile */
		best.route = (struct net6_rt_route) {
			.gateway	= best.gateway,
			.attrs.metric	= IP6_RT_PRIO_ADDRCONF,
			.attrs.protocol	= RTPROT_REDIRECT,
			.expires	= NET6_LIFETIME_INFINITE,
			.table		= RT_TABLE_MAIN,
			.type		= RTN_UNICAST,
		};
	*route = best.route;
	route->dev = dest->iface->dev;
	route->dst = dest->key.daddr;
	route->plen = 128;
}

static int net6_rt_route_reply(struct sk_buff *request, const struct nlmsghdr *nlh,
			       const struct net6_rt_route *route, const struct in6_addr *from,
			       const struct in6_addr *saddr)
{
	u32 portid = NETLINK_CB(request).portid;
	struct net *net = sock_net(request->sk);
	struct nlmsghdr *reply;
	struct sk_buff *msg;
	struct rtmsg *rtm;

	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOBUFS;
	reply = net6_rt_route_header(msg, route, portid, nlh->nlmsg_seq, RTM_NEWROUTE, 0);
	if (!reply || net6_rt_route_attrs(msg, route) ||
	    nla_put_in6_addr(msg, RTA_SRC, from) ||
	    nla_put_in6_addr(msg, RTA_PREFSRC, saddr)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	rtm = nlmsg_data(reply);
	rtm->rtm_src_len = 128;
	nlmsg_end(msg, reply);
	return rtnl_unicast(msg, net, portid);
}

int net6_rt_route_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	struct nlattr *tb[RTA_MAX + 1];
	struct in6_addr daddr, from, saddr;
	struct net6_rt_route route;
	struct net6_dest *dest;
	int err;

	err = nlmsg_parse_deprecated(nlh, sizeof(struct rtmsg), tb, RTA_MAX,
				     net6_rt_route_policy, extack);
	if (err)
		return err;
	daddr = tb[RTA_DST] ? nla_get_in6_addr(tb[RTA_DST]) : in6addr_any;
	from = tb[RTA_SRC] ? nla_get_in6_addr(tb[RTA_SRC]) : in6addr_any;
	dest = net6_dest_lookup_from(nn, &from, &daddr,
				     tb[RTA_OIF] ? nla_get_u32(tb[RTA_OIF]) : 0);
	if (IS_ERR(dest))
		return PTR_ERR(dest);
	rcu_read_lock();
	net6_rt_route_of_dest(nn, dest, &route);
	rcu_read_unlock();
	saddr = net6_dest_choose_saddr(dest) ? from : dest->saddr;
	/* RTNL keeps the device. */
	err = net6_rt_route_reply(skb, nlh, &route, &from, &saddr);
	net6_dest_put(dest);
	return err;
}

/* What a request may ask for in vain. */
enum net6_rt_lack {
	NET6_RT_LACKS_NOTHING,
	NET6_RT_LACKS_METRIC,
	NET6_RT_LACKS_SOURCE,
	NET6_RT_LACKS_ENCAP,
	NET6_RT_LACKS_NEXTHOP,
};

/**
 * struct net6_rt_change - a request to add or remove a route
 * @dst: destination
 * @plen: its length in bits
 * @gateway: next hop, :: without
 * @iface: outgoing interface; NULL: any, to remove
 * @lifetime: seconds until it goes by itself, or NET6_LIFETIME_INFINITE
 * @lacks: what net6 has not of what is asked for; nobody minds when a route is removed
 * @attrs: what else is said of it; to remove, a metric and a protocol of 0 stand for any
 * @route: what was found
 * @found: there is such a route
 */
struct net6_rt_change {
	struct in6_addr		dst;
	struct in6_addr		gateway;
	struct net6_iface	*iface;
	u32			lifetime;
	u8			plen;
	bool			found;
	enum net6_rt_lack	lacks;
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

/* One of RTA_METRICS; as native, what is too large is cut. */
static void net6_rt_metric(struct net6_rt_change *c, int type, u32 value)
{
	if (!value)
		return;
	if (type == RTAX_MTU)
		c->attrs.mtu = min(value, 65535U - 15);
	else if (type == RTAX_ADVMSS)
		c->attrs.advmss = clamp_t(u32, value, TCP_MIN_MSS, 65535 - 40);
	else if (type == RTAX_HOPLIMIT)
		c->attrs.hop_limit = min(value, 255U);
	else
		c->lacks = NET6_RT_LACKS_METRIC;
}

static int net6_rt_metrics(struct net6_rt_change *c, const struct nlattr *metrics,
			   struct netlink_ext_ack *extack)
{
	struct nlattr *nla;
	int rem;

	if (!metrics)
		return 0;
	nla_for_each_nested(nla, metrics, rem) {
		int type = nla_type(nla);

		if (type > RTAX_MAX || (type && type != RTAX_CC_ALGO && nla_len(nla) != 4)) {
			NL_SET_ERR_MSG_ATTR(extack, nla, "not a metric of a route");
			return -EINVAL;
		}
		if (type)
			net6_rt_metric(c, type, type == RTAX_CC_ALGO ? 1 : nla_get_u32(nla));
	}
	return 0;
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
	case NET6_RT_LACKS_METRIC:
		NL_SET_ERR_MSG(extack, "net6: of a route's metrics mtu, advmss and hoplimit only");
		break;
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

	if ((!table || table == RT_TABLE_MAIN) && !rtm->rtm_src_len && !tb[RTA_MULTIPATH] &&
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
		c->gateway = nla_get_in6_addr(tb[RTA_GATEWAY]);
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
		c->iface = net6_iface_find(nn, nla_get_u32(tb[RTA_OIF]));
	if (tb[RTA_OIF] && !c->iface) {
		NL_SET_ERR_MSG(extack, "net6 has no such interface");
		return -ENODEV;
	}
	return net6_rt_metrics(c, tb[RTA_METRICS], extack);
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
	return net6_rt_route_read(nn, c, tb, extack);
}

/* Check what is said of a route that is to be added. */
static int net6_rt_route_check(struct net6_net *nn, struct net6_rt_change *c,
			       struct netlink_ext_ack *extack)
{
	bool direct = ipv6_addr_any(&c->gateway);
	int err = net6_rt_route_refuse(c->lacks, extack);

	if (err)
		return err;
	/* As native: whatever it was to lead by. */
	if (c->attrs.refuses) {
		c->gateway = in6addr_any;
		c->iface = READ_ONCE(nn->loopback);
	}
	if (!c->iface && !direct)
		c->iface = net6_rt_gateway_iface(nn, &c->gateway);
	if (!c->iface) {
		NL_SET_ERR_MSG(extack, "no interface is named, and the gateway is on none");
		return -EHOSTUNREACH;
	}
	if (ipv6_addr_is_multicast(&c->gateway)) {
		NL_SET_ERR_MSG(extack, "Invalid gateway address");
		return -EINVAL;
	}
	if ((!direct || c->attrs.refuses) && c->plen &&
	    (ipv6_addr_type(&c->dst) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL))) {
		NL_SET_ERR_MSG(extack, "net6 has no routes to link-local and multicast prefixes");
		return -EOPNOTSUPP;
	}
	if (!c->attrs.metric)
		c->attrs.metric = IP6_RT_PRIO_USER;
	return 0;
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
	    (!ipv6_addr_any(&c->gateway) && !ipv6_addr_equal(&route->gateway, &c->gateway)) ||
	    (c->iface && route->dev != c->iface->dev) ||
	    (c->attrs.metric && route->attrs.metric != c->attrs.metric) ||
	    (c->attrs.protocol && route->attrs.protocol != c->attrs.protocol) ||
	    (c->found && route->attrs.metric >= c->route.attrs.metric))
		return 0;
	net6_rt_route_took(c, route);
	return 0;
}

/* An entry that leads the same way. What the Prefix List has is not one that a request made. */
static bool net6_rt_route_is(const struct net6_rt_route *route, const struct net6_rt_change *c)
{
	return route->kind > NET6_RT_PREFIX && route->attrs.metric == c->attrs.metric &&
	       route->dev == c->iface->dev && ipv6_addr_equal(&route->gateway, &c->gateway);
}

static int net6_rt_route_same(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_change *c = arg;

	return net6_rt_route_to(route, c) && net6_rt_route_is(route, c) ?
	       net6_rt_route_took(c, route) : 0;
}

/* As native: one of the same metric is in its place. */
static int net6_rt_route_other(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_change *c = arg;

	return net6_rt_route_to(route, c) && route->attrs.metric == c->attrs.metric &&
	       !net6_rt_route_is(route, c) ? net6_rt_route_took(c, route) : 0;
}

static bool net6_rt_route_find(struct net6_net *nn, struct net6_rt_change *c,
			       int (*fn)(const struct net6_rt_route *route, void *arg))
{
	c->found = false;
	net6_rt_routes_walk(nn, fn, c);
	return c->found;
}

static int net6_rt_route_set(struct net6_iface *iface, const struct net6_rt_change *c,
			     const struct net6_route_attrs *attrs, u32 lifetime)
{
	if (!c->plen && !ipv6_addr_any(&c->gateway))
		return net6_router_update(iface, &c->gateway, attrs, lifetime);
	return net6_fib_update(iface, &c->dst, c->plen, &c->gateway, attrs, lifetime);
}

static int net6_rt_route_remove_found(struct net6_net *nn, const struct net6_rt_change *c)
{
	const struct net6_rt_route *r = &c->route;
	struct net6_iface *iface = net6_iface_find(nn, r->dev->ifindex);
	struct net6_route_attrs attrs = r->attrs;

	attrs.manual = true;	/* who says so */
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

/* Without a word of replacing, one that is there lives on, for as long as is asked for. */
static int net6_rt_route_prolong(const struct net6_rt_change *c)
{
	if (c->route.expires != NET6_LIFETIME_INFINITE)
		net6_rt_route_set(c->iface, c, &c->route.attrs, c->lifetime);
	return -EEXIST;
}

int net6_rt_route_new(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	bool replace = nlh->nlmsg_flags & NLM_F_REPLACE;
	struct net6_rt_change c;
	bool other;
	int err;

	err = net6_rt_route_parse(skb, nlh, &c, extack);
	if (!err)
		err = net6_rt_route_check(nn, &c, extack);
	if (err)
		return err;
	other = net6_rt_route_find(nn, &c, net6_rt_route_other);
	net6_rt_route_find(nn, &c, net6_rt_route_same);
	if ((other || c.found) && (nlh->nlmsg_flags & NLM_F_EXCL))
		return -EEXIST;
	if (!other && !c.found && replace && !(nlh->nlmsg_flags & NLM_F_CREATE))
		return -ENOENT;
	if (c.found && !replace)
		return net6_rt_route_prolong(&c);
	err = net6_rt_route_set(c.iface, &c, &c.attrs, c.lifetime);
	if (err || !replace)
		return err;
	/* RTNL: nobody adds others meanwhile. */
	while (net6_rt_route_find(nn, &c, net6_rt_route_other) &&
	       !net6_rt_route_remove_found(nn, &c))
		;
	return 0;
}

int net6_rt_route_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	struct net6_rt_change c;
	int err;

	err = net6_rt_route_parse(skb, nlh, &c, extack);
	if (err)
		return err;
	if (!net6_rt_route_find(nn, &c, net6_rt_route_meant))
		return -ESRCH;
	err = net6_rt_route_remove_found(nn, &c);
	return err == -ENOENT ? -ESRCH : err;
}

static void net6_rt_note_route(struct net *net, const struct net6_rt_route *route,
			       enum net6_note_event event)
{
	struct sk_buff *msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);

	if (!msg) {
		rtnl_set_sk_err(net, RTNLGRP_IPV6_ROUTE, -ENOBUFS);
		return;
	}
	if (net6_rt_route_fill(msg, route, 0, 0,
			       event == NET6_NOTE_DEL ? RTM_DELROUTE : RTM_NEWROUTE, 0)) {
		nlmsg_free(msg);
		return;
	}
	rtnl_notify(msg, net, 0, RTNLGRP_IPV6_ROUTE, NULL, GFP_ATOMIC);
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

	if (!rtnl_has_listeners(net, RTNLGRP_IPV6_ROUTE))
		return;
	net6_rt_of_router(&route, router);
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

	if (!rtnl_has_listeners(net, RTNLGRP_IPV6_ROUTE))
		return;
	net6_rt_of_fib(&route, entry);
	net6_rt_note_route(net, &route, event);
}

/* RTNLGRP_IPV6_PREFIX hears of what routers advertise. */
static void net6_rt_note_advertised(struct net *net, const struct net6_prefix *prefix)
{
	struct prefix_cacheinfo ci = {
		.preferred_time	= prefix->life.lifetime,
		.valid_time	= prefix->life.lifetime,
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
