// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: what a request to add or remove a route says, and whether net6 can do it. What can be
 * added: prefixes with and without a gateway, those that refuse, and default routes, by one next
 * hop or several.
 */
#include <net/ip6_route.h>

#include "../core/l3mdev.h"
#include "rt_change.h"

/* Does a table's longest route that is longer than another prefix lead to this address directly? */
static struct net6_iface *net6_rt_request_direct(const struct net6_table *table,
						 const struct in6_addr *addr, int oif, int plen)
{
	const struct net6_fib_route *entry;
	struct net6_fib_match match;

	net6_fib_lookup(table, addr, oif, &match);
	entry = match.route;
	if (!entry || entry->plen <= plen || entry->attrs.refuses ||
	    !ipv6_addr_any(&entry->gateway))
		return NULL;
	return entry->iface;
}

/* Without a carrier a prefix leads nowhere now. Who sets routes then means its interface. */
static struct net6_iface *net6_rt_request_waiting(const struct net6_table *table,
						  const struct in6_addr *addr, int oif)
{
	struct net6_trie_node *node;
	const struct net6_prefix *prefix;
	struct net6_iface *iface = NULL;

	net6_trie_for_each_match(node, &table->onlink, addr)
		list_for_each_entry_rcu(prefix, &node->items, item)
			if (net6_iface_set_up(prefix->iface) &&
			    (!oif || prefix->iface->ifindex == oif))
				iface = prefix->iface;
	return iface;
}

static struct net6_iface *net6_rt_request_in(const struct net6_table *table,
					     const struct in6_addr *addr, int oif)
{
	const struct net6_prefix *prefix = net6_prefix_match(table, addr, oif);
	struct net6_iface *iface;

	iface = net6_rt_request_direct(table, addr, oif, prefix ? prefix->plen : -1);
	if (iface)
		return iface;
	return prefix ? prefix->iface : net6_rt_request_waiting(table, addr, oif);
}

/* A gateway tells its interface, if it is on one of ours, or on that of index @oif if it is not 0:
 * by the route's table, else by the interface's, or main.
 */
static struct net6_iface *net6_rt_request_iface(struct net6_net *nn, u32 id,
						const struct in6_addr *addr, int oif)
{
	const struct net6_table *table;
	struct net6_iface *iface;

	rcu_read_lock();
	/* RTNL keeps the interface, not the prefix. */
	table = net6_table_find(nn, id);
	iface = table ? net6_rt_request_in(table, addr, oif) : NULL;
	if (!iface) {
		table = net6_l3mdev_scope(nn, &oif);
		iface = net6_rt_request_in(table, addr, oif);
	}
	rcu_read_unlock();
	return iface;
}

static enum net6_rt_lack net6_rt_request_lacks(struct nlattr **tb)
{
	if (tb[RTA_ENCAP] || (tb[RTA_ENCAP_TYPE] && nla_get_u16(tb[RTA_ENCAP_TYPE])))
		return NET6_RT_LACKS_ENCAP;
	return tb[RTA_VIA] ? NET6_RT_LACKS_VIA : NET6_RT_LACKS_NOTHING;
}

static int net6_rt_request_refuse(enum net6_rt_lack lack, struct netlink_ext_ack *extack)
{
	switch (lack) {
	case NET6_RT_LACKS_NOTHING:
		return 0;
	case NET6_RT_LACKS_ENCAP:
		NL_SET_ERR_MSG(extack, "net6 has no routes with encapsulation");
		break;
	case NET6_RT_LACKS_VIA:
		NL_SET_ERR_MSG(extack, "net6 has IPv6 gateways only");
		break;
	}
	return -EOPNOTSUPP;
}

static bool net6_rt_request_refuses(u8 type)
{
	return type == RTN_BLACKHOLE || type == RTN_UNREACHABLE || type == RTN_PROHIBIT ||
	       type == RTN_THROW;
}

/* Which table it is of, and whether a route can be of that kind. */
static int net6_rt_request_table(const struct rtmsg *rtm, struct nlattr **tb,
				 struct net6_route_attrs *attrs, struct netlink_ext_ack *extack)
{
	u32 table = tb[RTA_TABLE] ? nla_get_u32(tb[RTA_TABLE]) : rtm->rtm_table;

	attrs->table = table ?: RT_TABLE_MAIN;
	if (table == RT_TABLE_LOCAL) {
		NL_SET_ERR_MSG(extack, "net6's local table has the addresses of this host only");
		return -EOPNOTSUPP;
	}
	if (rtm->rtm_tos) {
		NL_SET_ERR_MSG(extack, "Invalid dsfield (tos); option not available for IPv6");
		return -EINVAL;
	}
	if (!rtm->rtm_src_len && (!rtm->rtm_type || rtm->rtm_type == RTN_UNICAST ||
				  net6_rt_request_refuses(rtm->rtm_type)))
		return 0;
	NL_SET_ERR_MSG(extack, "net6 has unicast and refusing routes only, for any source");
	return -EOPNOTSUPP;
}

/* What says where it leads and how. */
static int net6_rt_request_read(struct net6_net *nn, struct net6_rt_change *c, struct nlattr **tb,
				struct netlink_ext_ack *extack)
{
	struct in6_addr dst = {};

	if (tb[RTA_DST])
		nla_memcpy(&dst, tb[RTA_DST], sizeof(dst));
	ipv6_addr_prefix(&c->dst, &dst, c->plen);
	if (tb[RTA_PREFSRC])
		nla_memcpy(&c->src, tb[RTA_PREFSRC], sizeof(c->src));
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
static int net6_rt_request_read_hops(struct net6_net *nn, struct net6_rt_change *c,
				     const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	int n, i;

	if (!attr || c->attrs.refuses)
		return 0;
	c->hops = NULL;
	c->several = true;
	n = net6_rt_hops_read(nn, attr, &c->hops, extack);
	for (i = 0; i < n; i++)
		c->hops[i].onlink |= c->hop.onlink;
	c->n_hops = max(n, 0);
	return min(n, 0);
}

/* The number of an object says all about where it leads. */
static int net6_rt_request_read_nexthop(struct net6_rt_change *c, struct nlattr **tb,
					struct netlink_ext_ack *extack)
{
	c->nexthop = tb[RTA_NH_ID] ? nla_get_u32(tb[RTA_NH_ID]) : 0;
	if (!c->nexthop ||
	    !(tb[RTA_GATEWAY] || tb[RTA_OIF] || tb[RTA_MULTIPATH] || tb[RTA_ENCAP]))
		return 0;
	NL_SET_ERR_MSG(extack, "Nexthop specification and nexthop id are mutually exclusive");
	return -EINVAL;
}

void net6_rt_request_free(struct net6_rt_change *c)
{
	u32 i;

	for (i = 0; i < c->n_hops; i++)
		net6_source_put(c->hops[i].source);
	if (c->several)
		kfree(c->hops);
}

int net6_rt_request_parse(struct sk_buff *skb, struct nlmsghdr *nlh,
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
	err = net6_rt_request_table(rtm, tb, &c->attrs, extack);
	if (err)
		return err;
	c->plen = rtm->rtm_dst_len;
	c->attrs.protocol = rtm->rtm_protocol;
	c->hop.onlink = rtm->rtm_flags & RTNH_F_ONLINK;
	c->attrs.manual = true;
	if (net6_rt_request_refuses(rtm->rtm_type))
		c->attrs.refuses = rtm->rtm_type;
	c->lacks = net6_rt_request_lacks(tb);
	err = net6_rt_request_read_nexthop(c, tb, extack);
	if (err)
		return err;
	return net6_rt_request_read(nn, c, tb, extack) ?:
	       net6_rt_request_read_hops(nn, c, tb[RTA_MULTIPATH], extack);
}

/* The source that is asked for is to be an address of ours. */
static int net6_rt_request_source(struct net6_rt_change *c, struct net6_rt_hop *hop,
				  struct netlink_ext_ack *extack)
{
	struct net6_source *source;

	if (likely(ipv6_addr_any(&c->src)))
		return 0;
	source = net6_source_get(hop->iface, &c->src, false);
	if (IS_ERR(source)) {
		if (PTR_ERR(source) == -EINVAL)
			NL_SET_ERR_MSG(extack, "Invalid source address");
		return PTR_ERR(source);
	}
	hop->source = source;
	return 0;
}

/* Length of what an address is on the link by, on an interface or on any; 0: nothing, or by a
 * default route.
 */
static int net6_rt_request_plen(const struct net6_table *table, const struct in6_addr *addr,
				int oif)
{
	const struct net6_prefix *prefix = net6_prefix_match(table, addr, oif);
	struct net6_fib_match match;

	net6_fib_lookup(table, addr, oif, &match);
	return max(prefix ? prefix->plen : 0,
		   match.route && !match.route->attrs.refuses ? match.route->plen : 0);
}

/* As native: one that is said to be on-link is not to be on another interface's. */
static bool net6_rt_request_elsewhere(const struct net6_iface *iface,
				      const struct in6_addr *gateway)
{
	bool elsewhere;

	rcu_read_lock();
	elsewhere = net6_rt_request_plen(net6_iface_table(iface), gateway, 0) >
		    net6_rt_request_plen(net6_iface_table(iface), gateway, iface->ifindex);
	rcu_read_unlock();
	return elsewhere;
}

/**
 * net6_rt_request_gateway() - may there be such a gateway?
 * @iface: interface that it is to be on
 * @table: number of the route's table
 * @gateway: unicast address
 * @onlink: it is said to be on the link
 * @extack: why not
 *
 * As native: it is link-local, or on-link where it is said to be.
 * Context: process, RTNL held. Return: 0, -EINVAL or -EHOSTUNREACH.
 */
int net6_rt_request_gateway(struct net6_iface *iface, u32 table, const struct in6_addr *gateway,
			    bool onlink, struct netlink_ext_ack *extack)
{
	if (onlink && net6_rt_request_elsewhere(iface, gateway)) {
		NL_SET_ERR_MSG(extack, "Nexthop has invalid gateway or device mismatch");
		return -EINVAL;
	}
	if (onlink || ipv6_addr_type(gateway) & IPV6_ADDR_LINKLOCAL ||
	    net6_rt_request_iface(iface->nn, table, gateway, iface->ifindex))
		return 0;
	NL_SET_ERR_MSG(extack, "the gateway is not on this interface's link (onlink?)");
	return -EHOSTUNREACH;
}

static bool net6_rt_request_own(const struct net6_rt_hop *hop)
{
	bool own;

	rcu_read_lock();
	own = net6_accept_own_gateway(hop->iface, &hop->gateway);
	rcu_read_unlock();
	return own;
}

/* Check what is said of a next hop of a route that is to be added. */
static int net6_rt_request_check_hop(struct net6_net *nn, struct net6_rt_change *c,
				     struct net6_rt_hop *hop, struct netlink_ext_ack *extack)
{
	bool direct = ipv6_addr_any(&hop->gateway);
	int err = 0;

	/* As native: whatever it was to lead by. */
	if (c->attrs.refuses) {
		hop->gateway = in6addr_any;
		hop->iface = READ_ONCE(nn->loopback);
	}
	if (!hop->iface && !direct)
		hop->iface = net6_rt_request_iface(nn, c->attrs.table, &hop->gateway, 0);
	if (!hop->iface) {
		NL_SET_ERR_MSG(extack, "no interface is named, and the gateway is on none");
		return -EHOSTUNREACH;
	}
	if (ipv6_addr_is_multicast(&hop->gateway)) {
		NL_SET_ERR_MSG(extack, "Invalid gateway address");
		return -EINVAL;
	}
	if (!direct && net6_rt_request_own(hop)) {
		NL_SET_ERR_MSG(extack, "Gateway can not be a local address");
		return -EINVAL;
	}
	if (!direct && !c->nexthop)
		err = net6_rt_request_gateway(hop->iface, c->attrs.table, &hop->gateway,
					      hop->onlink, extack);
	if (err)
		return err;
	if ((!direct || c->attrs.refuses) && c->plen &&
	    (ipv6_addr_type(&c->dst) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL))) {
		NL_SET_ERR_MSG(extack, "net6 has no routes to link-local and multicast prefixes");
		return -EOPNOTSUPP;
	}
	return net6_rt_request_source(c, hop, extack);
}

/* Check what is said of a route that is to be added. */
int net6_rt_request_check(struct net6_net *nn, struct net6_rt_change *c,
			  struct netlink_ext_ack *extack)
{
	int err = net6_rt_request_refuse(c->lacks, extack);
	u32 i;

	if (!err && c->nexthop)
		err = net6_rt_nexthop_take(nn, c, extack);
	for (i = 0; !err && i < c->n_hops; i++)
		err = net6_rt_request_check_hop(nn, c, &c->hops[i], extack);
	if (!c->attrs.metric)
		c->attrs.metric = IP6_RT_PRIO_USER;
	return err;
}
