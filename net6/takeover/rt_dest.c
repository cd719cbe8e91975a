// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: what net6 has decided and learned about one destination, as a route. ip route get asks
 * for one; ip -6 route show cache and flush cache are about those of which something was learned,
 * a path MTU or a Redirect.
 *
 * Limits: a dump that the table's growth interrupts may show a destination twice, or not.
 */
#include <linux/rhashtable.h>
#include <net/ip6_route.h>

#include "../core/dest.h"
#include "rt.h"

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

/**
 * net6_rt_route_get() - RTM_GETROUTE of one destination: ip route get
 * @skb: request
 * @nlh: its header
 * @extack: what is wrong with it
 *
 * Context: process, RTNL held. Return: 0, or -errno of net6_dest_lookup_flow().
 */
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

/* Has a router said something of it that is still believed? A path MTU outlives a stale entry. */
static bool net6_rt_dest_is_learned(const struct net6_dest *dest)
{
	unsigned long expires = READ_ONCE(dest->pmtu_expires);

	return (expires && time_before(jiffies, expires)) ||
	       (dest->flags & NET6_DEST_REDIRECTED && net6_dest_valid(dest));
}

/* RCU read lock held. */
static int net6_rt_dest_dump_one(struct net6_rt_dump *d, const struct net6_dest *dest)
{
	struct net6_metrics told;
	struct net6_rt_route route;
	struct nlmsghdr *reply;
	struct rtmsg *rtm;

	if (!net6_rt_dest_is_learned(dest) || (d->table && d->table != dest->table) ||
	    (d->oif && d->oif != dest->iface->ifindex))
		return 0;
	net6_rt_route_of_dest(dest, &route);
	net6_rt_route_learned(dest, &route, &told);
	reply = net6_rt_route_header(d->skb, &route, NETLINK_CB(d->cb->skb).portid,
				     d->cb->nlh->nlmsg_seq, RTM_NEWROUTE, NLM_F_MULTI);
	if (!reply)
		return -EMSGSIZE;
	rtm = nlmsg_data(reply);
	rtm->rtm_flags |= RTM_F_CLONED;
	if (net6_rt_route_attrs(d->skb, &route)) {
		nlmsg_cancel(d->skb, reply);
		return -EMSGSIZE;
	}
	nlmsg_end(d->skb, reply);
	return 0;
}

static int net6_rt_dest_dump_done(struct netlink_callback *cb)
{
	struct rhashtable_iter *iter = (void *)cb->args[0];

	if (iter)
		rhashtable_walk_exit(iter);
	kfree(iter);
	cb->args[0] = 0;
	return 0;
}

/* Where the dump stands, for as long as it goes on. */
static struct rhashtable_iter *net6_rt_dest_iter(struct netlink_callback *cb, struct net6_net *nn)
{
	struct rhashtable_iter *iter = (void *)cb->args[0];

	if (iter)
		return iter;
	iter = kmalloc(sizeof(*iter), GFP_KERNEL);
	if (!iter)
		return NULL;
	rhashtable_walk_enter(&nn->dests, iter);
	cb->args[0] = (long)iter;
	cb->done = net6_rt_dest_dump_done;
	return iter;
}

/**
 * net6_rt_dest_dump() - RTM_GETROUTE with RTM_F_CLONED: destinations of which something was learned
 * @skb: message
 * @cb: the dump, whose request is a whole struct rtmsg
 *
 * Context: process, RTNL held. Return: bytes in @skb; 0 at the end, or -errno.
 */
int net6_rt_dest_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	struct net6_rt_dump d = { .skb = skb, .cb = cb };
	struct rhashtable_iter *iter;
	const struct net6_dest *dest;
	int err = net6_rt_route_filter(&d);

	if (err)
		return err;
	iter = net6_rt_dest_iter(cb, nn);
	if (!iter)
		return -ENOMEM;
	rhashtable_walk_start(iter);
	/* Again the one that had no room. */
	dest = rhashtable_walk_peek(iter);
	for (; dest; dest = rhashtable_walk_next(iter))
		if (!IS_ERR(dest) && net6_rt_dest_dump_one(&d, dest))
			break;
	rhashtable_walk_stop(iter);
	return skb->len;
}

static bool net6_rt_dest_is(const struct net6_dest *dest, struct nlattr **tb)
{
	const struct in6_addr *gateway = tb[RTA_GATEWAY] ? nla_data(tb[RTA_GATEWAY]) : NULL;
	const struct in6_addr *daddr = nla_data(tb[RTA_DST]);

	return ipv6_addr_equal(&dest->key.daddr, daddr) && net6_rt_dest_is_learned(dest) &&
	       (!tb[RTA_OIF] || nla_get_u32(tb[RTA_OIF]) == dest->iface->ifindex) &&
	       (!gateway || (dest->neigh && ipv6_addr_equal(&dest->neigh->addr, gateway)));
}

/**
 * net6_rt_dest_del() - RTM_DELROUTE with RTM_F_CLONED: forget what was learned of a destination
 * @skb: request
 * @nlh: its header
 * @extack: what is wrong with it
 *
 * Its key may have more than the request can say, so all entries are looked at: there is a limit
 * of them. Context: process, RTNL held. Return: 0, -ESRCH, or -errno of a request that cannot be
 * read.
 */
int net6_rt_dest_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	struct nlattr *tb[RTA_MAX + 1];
	struct rhashtable_iter iter;
	struct net6_dest *dest;
	int err = nlmsg_parse_deprecated(nlh, sizeof(struct rtmsg), tb, RTA_MAX,
					 net6_rt_route_policy, extack);

	if (err)
		return err;
	if (!tb[RTA_DST]) {
		NL_SET_ERR_MSG(extack, "what is learned is of one destination");
		return -EINVAL;
	}
	err = -ESRCH;
	rhashtable_walk_enter(&nn->dests, &iter);
	rhashtable_walk_start(&iter);
	while ((dest = rhashtable_walk_next(&iter))) {
		if (IS_ERR(dest) || !net6_rt_dest_is(dest, tb))
			continue;
		net6_dest_forget(dest);
		err = 0;
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	return err;
}
