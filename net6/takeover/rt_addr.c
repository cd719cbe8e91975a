// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: addresses and groups (ip -6 address, ip monitor). As on native an address that
 * exists is changed in place, but for its prefix length.
 */
#include <linux/if_addr.h>
#include <net/addrconf.h>

#include "../core/addr_chain.h"
#include "rt.h"

/* RFC 7217: how the interface forms addresses now. */
static u32 net6_rt_stable_privacy(const struct net6_addr *addr)
{
	s32 mode = net6_conf(addr->iface, NET6_PARAM_ADDR_GEN_MODE);

	return mode == IN6_ADDR_GEN_MODE_STABLE_PRIVACY || mode == IN6_ADDR_GEN_MODE_RANDOM ?
	       IFA_F_STABLE_PRIVACY : 0;
}

/**
 * net6_rt_addr_flags() - an address' state as native's flags
 * @addr: address
 *
 * Context: any. Return: IFA_F_*.
 */
u32 net6_rt_addr_flags(const struct net6_addr *addr)
{
	u32 flags = READ_ONCE(addr->flags) & NET6_ADDR_WISHES;

	if (addr->valid_lft == NET6_LIFETIME_INFINITE)
		flags |= IFA_F_PERMANENT;
	if (addr->origin == NET6_ADDR_TEMPORARY)
		flags |= IFA_F_TEMPORARY;
	if (addr->origin == NET6_ADDR_SLAAC)
		flags |= IFA_F_MANAGETEMPADDR;
	if (addr->origin == NET6_ADDR_LINKLOCAL || addr->origin == NET6_ADDR_SLAAC)
		flags |= net6_rt_stable_privacy(addr);
	switch (READ_ONCE(addr->state)) {
	case NET6_ADDR_TENTATIVE:
		return flags | IFA_F_TENTATIVE;
	case NET6_ADDR_OPTIMISTIC:
		return flags | IFA_F_TENTATIVE | IFA_F_OPTIMISTIC;
	case NET6_ADDR_DUPLICATE:
		return flags | IFA_F_TENTATIVE | IFA_F_DADFAILED;
	case NET6_ADDR_DEPRECATED:
		return flags | IFA_F_DEPRECATED;
	default:
		return flags;
	}
}

static u8 net6_rt_scope(const struct in6_addr *addr)
{
	switch (ipv6_addr_type(addr) & IPV6_ADDR_SCOPE_MASK) {
	case IPV6_ADDR_LOOPBACK:
		return RT_SCOPE_HOST;
	case IPV6_ADDR_LINKLOCAL:
		return RT_SCOPE_LINK;
	case IPV6_ADDR_SITELOCAL:
		return RT_SCOPE_SITE;
	default:
		return RT_SCOPE_UNIVERSE;
	}
}

static u8 net6_rt_addr_proto(const struct net6_addr *addr)
{
	if (READ_ONCE(addr->proto))
		return addr->proto;
	switch (addr->origin) {
	case NET6_ADDR_LOOPBACK:
		return IFAPROT_KERNEL_LO;
	case NET6_ADDR_SLAAC:
		return IFAPROT_KERNEL_RA;
	case NET6_ADDR_LINKLOCAL:
		return IFAPROT_KERNEL_LL;
	default:
		return IFAPROT_UNSPEC;
	}
}

static struct nlmsghdr *net6_rt_addr_header(struct sk_buff *skb, u32 portid, u32 seq, int type,
					    unsigned int nl_flags, const struct ifaddrmsg *msg)
{
	struct nlmsghdr *nlh = nlmsg_put(skb, portid, seq, type, sizeof(*msg), nl_flags);

	if (nlh)
		memcpy(nlmsg_data(nlh), msg, sizeof(*msg));
	return nlh;
}

static u32 net6_rt_centisec(unsigned long stamp)
{
	return (stamp - INITIAL_JIFFIES) * 100UL / HZ;
}

static int net6_rt_addr_fill(struct sk_buff *skb, const struct net6_addr *addr, u32 portid,
			     u32 seq, int type, unsigned int nl_flags)
{
	u32 flags = net6_rt_addr_flags(addr);
	struct ifaddrmsg msg = {
		.ifa_family	= AF_INET6,
		.ifa_prefixlen	= addr->plen,
		.ifa_flags	= flags,
		.ifa_scope	= net6_rt_scope(&addr->addr),
		.ifa_index	= addr->iface->ifindex,
	};
	struct ifa_cacheinfo ci = {
		.cstamp		= net6_rt_centisec(addr->created),
		.tstamp		= net6_rt_centisec(addr->updated),
		.ifa_prefered	= net6_lifetime_left(addr->preferred_lft, addr->updated),
		.ifa_valid	= net6_lifetime_left(addr->valid_lft, addr->updated),
	};
	u8 proto = net6_rt_addr_proto(addr);
	bool peer = !ipv6_addr_any(&addr->peer);
	struct nlmsghdr *nlh;

	nlh = net6_rt_addr_header(skb, portid, seq, type, nl_flags, &msg);
	if (!nlh)
		return -EMSGSIZE;
	if ((peer && nla_put_in6_addr(skb, IFA_LOCAL, &addr->addr)) ||
	    nla_put_in6_addr(skb, IFA_ADDRESS, peer ? &addr->peer : &addr->addr) ||
	    (addr->metric && nla_put_u32(skb, IFA_RT_PRIORITY, addr->metric)) ||
	    nla_put(skb, IFA_CACHEINFO, sizeof(ci), &ci) ||
	    nla_put_u32(skb, IFA_FLAGS, flags) ||
	    (proto && nla_put_u8(skb, IFA_PROTO, proto))) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

/* A group or an anycast address. */
static int net6_rt_accept_fill(struct sk_buff *skb, const struct net6_iface *iface,
			       const struct net6_accept *accept, u32 portid, u32 seq)
{
	bool group = accept->type == NET6_ACCEPT_MULTICAST;
	int type = group ? RTM_GETMULTICAST : RTM_GETANYCAST;
	struct ifaddrmsg msg = {
		.ifa_family	= AF_INET6,
		.ifa_prefixlen	= 128,
		.ifa_flags	= IFA_F_PERMANENT,
		.ifa_scope	= RT_SCOPE_UNIVERSE,
		.ifa_index	= iface->ifindex,
	};
	struct ifa_cacheinfo ci = {
		.ifa_prefered	= NET6_LIFETIME_INFINITE,
		.ifa_valid	= NET6_LIFETIME_INFINITE,
	};
	struct nlmsghdr *nlh;

	nlh = net6_rt_addr_header(skb, portid, seq, type, NLM_F_MULTI, &msg);
	if (!nlh)
		return -EMSGSIZE;
	if (nla_put_in6_addr(skb, group ? IFA_MULTICAST : IFA_ANYCAST, &accept->addr) ||
	    nla_put(skb, IFA_CACHEINFO, sizeof(ci), &ci)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

static int net6_rt_addr_dump_iface(struct net6_rt_dump *d, const struct net6_iface *iface)
{
	const struct net6_addr *addr;

	list_for_each_entry_rcu(addr, &iface->addrs, iface_list)
		if (net6_rt_dump_wants(d) &&
		    net6_rt_addr_fill(d->skb, addr, NETLINK_CB(d->cb->skb).portid,
				      d->cb->nlh->nlmsg_seq, RTM_NEWADDR, NLM_F_MULTI))
			return -EMSGSIZE;
	return 0;
}

static int net6_rt_group_dump_iface(struct net6_rt_dump *d, const struct net6_iface *iface)
{
	const struct net6_accept *group;

	list_for_each_entry_rcu(group, &iface->groups, list)
		if (net6_rt_dump_wants(d) &&
		    net6_rt_accept_fill(d->skb, iface, group, NETLINK_CB(d->cb->skb).portid,
					d->cb->nlh->nlmsg_seq))
			return -EMSGSIZE;
	return 0;
}

static int net6_rt_anycast_dump_iface(struct net6_rt_dump *d, const struct net6_iface *iface)
{
	const struct net6_accept *accept;

	list_for_each_entry_rcu(accept, &iface->anycast, list)
		if (net6_rt_dump_wants(d) &&
		    net6_rt_accept_fill(d->skb, iface, accept, NETLINK_CB(d->cb->skb).portid,
					d->cb->nlh->nlmsg_seq))
			return -EMSGSIZE;
	return 0;
}

/* Interface after interface; the request may name one. */
static int net6_rt_iface_dump(struct sk_buff *skb, struct netlink_callback *cb,
			      int (*one)(struct net6_rt_dump *d, const struct net6_iface *iface))
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	const struct ifaddrmsg *msg = nlmsg_data(cb->nlh);
	struct net6_rt_dump d = { .skb = skb, .cb = cb };
	const struct net6_iface *iface;
	int only = 0;

	if (cb->strict_check && nlmsg_len(cb->nlh) >= sizeof(*msg))
		only = msg->ifa_index;
	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (only && iface->ifindex != only)
			continue;
		if (one(&d, iface)) {
			d.idx--;
			break;
		}
	}
	rcu_read_unlock();
	cb->args[0] = d.idx;
	return skb->len;
}

int net6_rt_addr_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return net6_rt_iface_dump(skb, cb, net6_rt_addr_dump_iface);
}

int net6_rt_group_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return net6_rt_iface_dump(skb, cb, net6_rt_group_dump_iface);
}

int net6_rt_anycast_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return net6_rt_iface_dump(skb, cb, net6_rt_anycast_dump_iface);
}

static const struct nla_policy net6_rt_addr_policy[IFA_MAX + 1] = {
	[IFA_ADDRESS]	= { .len = sizeof(struct in6_addr) },
	[IFA_LOCAL]	= { .len = sizeof(struct in6_addr) },
	[IFA_CACHEINFO]	= { .len = sizeof(struct ifa_cacheinfo) },
	[IFA_FLAGS]	= { .type = NLA_U32 },
	[IFA_RT_PRIORITY] = { .type = NLA_U32 },
	[IFA_PROTO]	= { .type = NLA_U8 },
};

/* The interface and address that a request names. */
static struct net6_iface *net6_rt_addr_parse(struct sk_buff *skb, struct nlmsghdr *nlh,
					     struct nlattr **tb, struct in6_addr *addr,
					     struct netlink_ext_ack *extack, int *err)
{
	const struct ifaddrmsg *msg = nlmsg_data(nlh);
	struct net6_iface *iface;

	ASSERT_RTNL();
	*err = nlmsg_parse_deprecated(nlh, sizeof(*msg), tb, IFA_MAX, net6_rt_addr_policy,
				      extack);
	if (*err)
		return NULL;
	*err = -EINVAL;
	if (!tb[IFA_ADDRESS] && !tb[IFA_LOCAL])
		return NULL;
	*addr = nla_get_in6_addr(tb[IFA_LOCAL] ?: tb[IFA_ADDRESS]);
	iface = net6_iface_find(net6_pernet(sock_net(skb->sk)), msg->ifa_index);
	*err = iface ? 0 : -ENODEV;
	if (!iface)
		NL_SET_ERR_MSG(extack, "net6 has no such interface");
	return iface;
}

static int net6_rt_addr_flags_of(const struct net6_iface *iface, const struct ifaddrmsg *msg,
				 struct nlattr **tb, struct net6_addr_wish *wish,
				 struct netlink_ext_ack *extack)
{
	u32 flags = tb[IFA_FLAGS] ? nla_get_u32(tb[IFA_FLAGS]) : msg->ifa_flags;

	if (flags & IFA_F_MCAUTOJOIN) {
		NL_SET_ERR_MSG(extack, "net6 joins no groups for an address (autojoin)");
		return -EOPNOTSUPP;
	}
	if (!READ_ONCE(iface->optimistic_dad))
		flags &= ~IFA_F_OPTIMISTIC;
	if ((flags & IFA_F_NODAD) && (flags & IFA_F_OPTIMISTIC)) {
		NL_SET_ERR_MSG(extack, "IFA_F_NODAD and IFA_F_OPTIMISTIC are mutually exclusive");
		return -EINVAL;
	}
	if ((flags & IFA_F_MANAGETEMPADDR) && wish->plen != 64) {
		NL_SET_ERR_MSG(extack,
			       "address with \"mngtmpaddr\" flag must have a prefix length of 64");
		return -EINVAL;
	}
	wish->flags = flags & (NET6_ADDR_WISHES | IFA_F_OPTIMISTIC);
	return 0;
}

/* How the address of a request is to be. */
static int net6_rt_addr_wish(const struct net6_iface *iface, const struct ifaddrmsg *msg,
			     struct nlattr **tb, struct net6_addr_wish *wish,
			     struct netlink_ext_ack *extack)
{
	const struct ifa_cacheinfo *ci;

	*wish = (struct net6_addr_wish) {
		.plen		= msg->ifa_prefixlen,
		.valid_lft	= NET6_LIFETIME_INFINITE,
		.preferred_lft	= NET6_LIFETIME_INFINITE,
	};
	if (tb[IFA_CACHEINFO]) {
		ci = nla_data(tb[IFA_CACHEINFO]);
		wish->valid_lft = ci->ifa_valid;
		wish->preferred_lft = ci->ifa_prefered;
		if (!wish->valid_lft || wish->preferred_lft > wish->valid_lft) {
			NL_SET_ERR_MSG(extack, "address lifetime invalid");
			return -EINVAL;
		}
	}
	if (wish->plen > 128) {
		NL_SET_ERR_MSG(extack, "a prefix length is 128 at most");
		return -EINVAL;
	}
	if (tb[IFA_LOCAL] && tb[IFA_ADDRESS] &&
	    memcmp(nla_data(tb[IFA_LOCAL]), nla_data(tb[IFA_ADDRESS]), sizeof(wish->peer)))
		wish->peer = nla_get_in6_addr(tb[IFA_ADDRESS]);
	if (tb[IFA_RT_PRIORITY])
		wish->metric = nla_get_u32(tb[IFA_RT_PRIORITY]);
	if (tb[IFA_PROTO])
		wish->proto = nla_get_u8(tb[IFA_PROTO]);
	return net6_rt_addr_flags_of(iface, msg, tb, wish, extack);
}

int net6_rt_addr_new(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	bool replace = (nlh->nlmsg_flags & (NLM_F_REPLACE | NLM_F_EXCL)) == NLM_F_REPLACE;
	struct nlattr *tb[IFA_MAX + 1];
	struct net6_addr_wish wish;
	struct net6_iface *iface;
	struct in6_addr addr;
	int err;

	iface = net6_rt_addr_parse(skb, nlh, tb, &addr, extack, &err);
	if (!iface)
		return err;
	err = net6_rt_addr_wish(iface, nlmsg_data(nlh), tb, &wish, extack);
	if (!err)
		err = net6_addr_chain_refuses(iface, &addr, extack);
	if (!err)
		err = net6_addr_set(iface, &addr, &wish, replace);
	if (err == -EEXIST)
		NL_SET_ERR_MSG(extack, "address already assigned");
	else if (err == -EADDRNOTAVAIL)
		NL_SET_ERR_MSG(extack, "not an address for an interface");
	else if (err == -EACCES)
		NL_SET_ERR_MSG(extack, "IPv6 is disabled on this device");
	return err;
}

int net6_rt_addr_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct ifaddrmsg *msg = nlmsg_data(nlh);
	struct nlattr *tb[IFA_MAX + 1];
	struct net6_iface *iface;
	struct in6_addr addr;
	int err;

	iface = net6_rt_addr_parse(skb, nlh, tb, &addr, extack, &err);
	if (!iface)
		return err;
	if (msg->ifa_prefixlen > 128) {
		NL_SET_ERR_MSG(extack, "a prefix length is 128 at most");
		return -EINVAL;
	}
	return net6_addr_del(iface, &addr, msg->ifa_prefixlen);
}

/**
 * net6_rt_note_addr() - tell RTNLGRP_IPV6_IFADDR of an address
 * @addr: address
 * @event: what happened to it
 *
 * Context: nn->lock held.
 */
void net6_rt_note_addr(const struct net6_addr *addr, enum net6_note_event event)
	__must_hold(&addr->iface->nn->lock)
{
	struct net *net = addr->iface->nn->net;
	struct sk_buff *msg;

	if (!rtnl_has_listeners(net, RTNLGRP_IPV6_IFADDR))
		return;
	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!msg) {
		rtnl_set_sk_err(net, RTNLGRP_IPV6_IFADDR, -ENOBUFS);
		return;
	}
	if (net6_rt_addr_fill(msg, addr, 0, 0,
			      event == NET6_NOTE_DEL ? RTM_DELADDR : RTM_NEWADDR, 0)) {
		nlmsg_free(msg);
		return;
	}
	rtnl_notify(msg, net, 0, RTNLGRP_IPV6_IFADDR, NULL, GFP_ATOMIC);
}
