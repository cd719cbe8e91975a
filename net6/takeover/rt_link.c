// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: the AF_INET6 part of links, and what routers say that is for others to act on. That is
 * the flags about DHCPv6, and the options about resolvers and the like.
 */
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "../compat/netdevice.h"
#include "../core/nd_opts.h"
#include "rt.h"

static size_t net6_rt_link_size(const struct net_device *dev, u32 ext_filter_mask)
{
	return nla_total_size(sizeof(u32)) + nla_total_size(sizeof(struct ifla_cacheinfo)) +
	       nla_total_size(DEVCONF_MAX * sizeof(s32)) +
	       nla_total_size(sizeof(struct in6_addr)) + nla_total_size(sizeof(u8)) +
	       nla_total_size(sizeof(u32));
}

static void net6_rt_link_conf(const struct net6_iface *iface, s32 *conf)
{
	conf[DEVCONF_HOPLIMIT] = iface->cur_hop_limit;
	conf[DEVCONF_MTU6] = iface->mtu;
	conf[DEVCONF_ACCEPT_RA] = iface->accept_ra;
	conf[DEVCONF_FORWARDING] = iface->forwarding;
	conf[DEVCONF_ACCEPT_REDIRECTS] = net6_conf(iface, NET6_PARAM_ACCEPT_REDIRECTS);
	conf[DEVCONF_AUTOCONF] = iface->autoconf;
	conf[DEVCONF_DAD_TRANSMITS] = iface->dad_transmits;
	conf[DEVCONF_ACCEPT_RA_DEFRTR] = net6_conf(iface, NET6_PARAM_ACCEPT_RA_DEFRTR);
	conf[DEVCONF_ACCEPT_RA_PINFO] = net6_conf(iface, NET6_PARAM_ACCEPT_RA_PINFO);
	conf[DEVCONF_RTR_SOLICITS] = net6_conf(iface, NET6_PARAM_ROUTER_SOLICITATIONS);
	conf[DEVCONF_MAX_ADDRESSES] = iface->nn->limits.max_addrs;
	conf[DEVCONF_ACCEPT_DAD] = net6_conf(iface, NET6_PARAM_ACCEPT_DAD);
}

static u32 net6_rt_link_flags(const struct net6_iface *iface)
{
	u8 ra = READ_ONCE(iface->ra_flags);

	return (net6_iface_usable(iface) ? IF_READY : 0) |
	       (READ_ONCE(iface->rs_sent) ? IF_RS_SENT : 0) |
	       (ra & NET6_RA_RECEIVED ? IF_RA_RCVD : 0) |
	       (ra & NET6_RA_MANAGED ? IF_RA_MANAGED : 0) |
	       (ra & NET6_RA_OTHER ? IF_RA_OTHERCONF : 0);
}

static int net6_rt_link_put(struct sk_buff *skb, const struct net6_iface *iface)
{
	struct in6_addr token = {};
	s32 conf[DEVCONF_MAX] = {};
	struct ifla_cacheinfo ci = {
		.max_reasm_len	= IPV6_MAXPLEN,
	};
	__be64 iid = READ_ONCE(iface->token);

	ci.reachable_time = jiffies_to_msecs(iface->reachable);
	ci.retrans_time = jiffies_to_msecs(iface->retrans);
	net6_rt_link_conf(iface, conf);
	memcpy(&token.s6_addr[8], &iid, sizeof(iid));
	if (nla_put_u32(skb, IFLA_INET6_FLAGS, net6_rt_link_flags(iface)) ||
	    nla_put(skb, IFLA_INET6_CACHEINFO, sizeof(ci), &ci) ||
	    nla_put(skb, IFLA_INET6_CONF, sizeof(conf), conf) ||
	    nla_put_in6_addr(skb, IFLA_INET6_TOKEN, &token) ||
	    nla_put_u8(skb, IFLA_INET6_ADDR_GEN_MODE,
		       net6_conf(iface, NET6_PARAM_ADDR_GEN_MODE)) ||
	    (iface->ra_mtu && nla_put_u32(skb, IFLA_INET6_RA_MTU, iface->ra_mtu)))
		return -EMSGSIZE;
	return 0;
}

/* RCU read lock or RTNL held. */
static int net6_rt_link_fill(struct sk_buff *skb, const struct net_device *dev,
			     u32 ext_filter_mask)
{
	struct net6_iface *iface = net6_iface_find(net6_pernet(dev_net(dev)), dev->ifindex);

	return iface ? net6_rt_link_put(skb, iface) : -ENODATA;
}

static const struct nla_policy net6_rt_link_policy[IFLA_INET6_MAX + 1] = {
	[IFLA_INET6_ADDR_GEN_MODE]	= { .type = NLA_U8 },
	[IFLA_INET6_TOKEN]		= { .len = sizeof(struct in6_addr) },
	[IFLA_INET6_RA_MTU]		= { .type = NLA_REJECT,
					    .reject_message = "IFLA_INET6_RA_MTU can not be set" },
};

/* Before anything of a request is done. */
static int net6_rt_link_validate(const struct net_device *dev, const struct nlattr *attr,
				 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[IFLA_INET6_MAX + 1];
	int err;

	if (dev && !net6_iface_find(net6_pernet(dev_net(dev)), dev->ifindex)) {
		NL_SET_ERR_MSG(extack, "net6 does not run on this device");
		return -EAFNOSUPPORT;
	}
	err = nla_parse_nested_deprecated(tb, IFLA_INET6_MAX, attr, net6_rt_link_policy, extack);
	if (err)
		return err;
	if (!tb[IFLA_INET6_TOKEN] && !tb[IFLA_INET6_ADDR_GEN_MODE]) {
		NL_SET_ERR_MSG(extack, "of AF_INET6 the token and addr_gen_mode can be set");
		return -EINVAL;
	}
	if (tb[IFLA_INET6_ADDR_GEN_MODE] &&
	    nla_get_u8(tb[IFLA_INET6_ADDR_GEN_MODE]) > IN6_ADDR_GEN_MODE_RANDOM) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_INET6_ADDR_GEN_MODE],
				    "addr_gen_mode is 0 to 3");
		return -EINVAL;
	}
	return 0;
}

/* As native: where no addresses would be formed from prefixes a token is refused. */
static int net6_rt_token_check(const struct net6_iface *iface, struct netlink_ext_ack *extack)
{
	if (net6_iface_is_loopback(iface)) {
		NL_SET_ERR_MSG(extack, "Device is loopback");
		return -EINVAL;
	}
	if (!(iface->ops->flags & NET6_LINK_ND) || (iface->dev->flags & IFF_NOARP)) {
		NL_SET_ERR_MSG(extack, "Device does not do neighbour discovery");
		return -EINVAL;
	}
	if (!net6_nd_wants_ra(iface)) {
		NL_SET_ERR_MSG(extack, "Router advertisement is disabled on device");
		return -EINVAL;
	}
	if (!net6_conf(iface, NET6_PARAM_ROUTER_SOLICITATIONS)) {
		NL_SET_ERR_MSG(extack, "Router solicitation is disabled on device");
		return -EINVAL;
	}
	return 0;
}

static int net6_rt_token_set(struct net6_iface *iface, const struct nlattr *attr,
			     struct netlink_ext_ack *extack)
{
	int err = net6_rt_token_check(iface, extack);
	struct in6_addr token;
	__be64 iid;

	if (err)
		return err;
	token = nla_get_in6_addr(attr);
	memcpy(&iid, &token.s6_addr[8], sizeof(iid));
	spin_lock_bh(&iface->nn->lock);
	net6_addr_set_token(iface, iid);
	spin_unlock_bh(&iface->nn->lock);
	/* Routers are asked for their prefixes again. */
	if (iid && net6_iface_usable(iface))
		net6_nd_iface_up(iface);
	return 0;
}

/* RTNL held. */
static int net6_rt_link_set(struct net_device *dev, const struct nlattr *attr,
			    struct netlink_ext_ack *extack)
{
	struct net6_iface *iface = net6_iface_find(net6_pernet(dev_net(dev)), dev->ifindex);
	struct nlattr *tb[IFLA_INET6_MAX + 1];
	int err = 0;

	if (!iface)
		return -EAFNOSUPPORT;
	if (nla_parse_nested_deprecated(tb, IFLA_INET6_MAX, attr, net6_rt_link_policy, extack))
		return -EINVAL;
	if (tb[IFLA_INET6_TOKEN])
		err = net6_rt_token_set(iface, tb[IFLA_INET6_TOKEN], extack);
	if (err || !tb[IFLA_INET6_ADDR_GEN_MODE])
		return err;
	spin_lock_bh(&iface->nn->lock);
	err = net6_param_set(iface, NET6_PARAM_ADDR_GEN_MODE,
			     nla_get_u8(tb[IFLA_INET6_ADDR_GEN_MODE]));
	spin_unlock_bh(&iface->nn->lock);
	return err;
}

struct rtnl_af_ops net6_rt_af_ops = {
	.family			= AF_INET6,
	.fill_link_af		= net6_rt_link_fill,
	.get_link_af_size	= net6_rt_link_size,
	.validate_link_af	= net6_rt_link_validate,
	.set_link_af		= net6_rt_link_set,
};

/* A link of AF_INET6 as native tells of it; RCU read lock held. */
static int net6_rt_ifinfo_fill(struct sk_buff *skb, const struct net6_iface *iface, u32 portid,
			       u32 seq, unsigned int nl_flags)
{
	const struct net_device *dev = iface->dev;
	struct ifinfomsg *info;
	struct nlmsghdr *nlh;
	struct nlattr *nest;

	nlh = nlmsg_put(skb, portid, seq, RTM_NEWLINK, sizeof(*info), nl_flags);
	if (!nlh)
		return -EMSGSIZE;
	info = nlmsg_data(nlh);
	memset(info, 0, sizeof(*info));
	info->ifi_family = AF_INET6;
	info->ifi_type = dev->type;
	info->ifi_index = dev->ifindex;
	info->ifi_flags = net6_compat_get_flags(dev);
	if (nla_put_string(skb, IFLA_IFNAME, dev->name) ||
	    (dev->addr_len && nla_put(skb, IFLA_ADDRESS, dev->addr_len, dev->dev_addr)) ||
	    nla_put_u32(skb, IFLA_MTU, dev->mtu) ||
	    (dev->ifindex != dev_get_iflink(dev) &&
	     nla_put_u32(skb, IFLA_LINK, dev_get_iflink(dev))) ||
	    nla_put_u8(skb, IFLA_OPERSTATE,
		       netif_running(dev) ? READ_ONCE(dev->operstate) : IF_OPER_DOWN))
		goto cancel;
	nest = nla_nest_start_noflag(skb, IFLA_PROTINFO);
	if (!nest || net6_rt_link_put(skb, iface))
		goto cancel;
	nla_nest_end(skb, nest);
	nlmsg_end(skb, nlh);
	return 0;

cancel:
	nlmsg_cancel(skb, nlh);
	return -EMSGSIZE;
}

int net6_rt_link_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	struct net6_rt_dump d = { .skb = skb, .cb = cb };
	const struct net6_iface *iface;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (!net6_rt_dump_wants(&d) ||
		    !net6_rt_ifinfo_fill(skb, iface, NETLINK_CB(cb->skb).portid,
					 cb->nlh->nlmsg_seq, NLM_F_MULTI))
			continue;
		d.idx--;
		break;
	}
	rcu_read_unlock();
	cb->args[0] = d.idx;
	return skb->len;
}

/**
 * net6_rt_note_ra_flags() - tell RTNLGRP_IPV6_IFINFO what a router says of DHCPv6
 * @iface: interface
 *
 * Context: softirq, RCU read lock held.
 */
void net6_rt_note_ra_flags(const struct net6_iface *iface)
{
	struct net *net = iface->nn->net;
	struct sk_buff *msg;

	if (!rtnl_has_listeners(net, RTNLGRP_IPV6_IFINFO))
		return;
	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!msg || net6_rt_ifinfo_fill(msg, iface, 0, 0, 0)) {
		nlmsg_free(msg);
		rtnl_set_sk_err(net, RTNLGRP_IPV6_IFINFO, -ENOBUFS);
		return;
	}
	rtnl_notify(msg, net, 0, RTNLGRP_IPV6_IFINFO, NULL, GFP_ATOMIC);
}

/**
 * net6_rt_note_ra_option() - hand an option of an advertisement to RTNLGRP_ND_USEROPT
 * @iface: interface it came in on
 * @router: who sent it
 * @opt: option, well-formed
 *
 * Context: softirq, RCU read lock held.
 */
void net6_rt_note_ra_option(const struct net6_iface *iface, const struct in6_addr *router,
			    const struct net6_nd_opt *opt)
{
	unsigned int len = opt->len + 2;	/* with type and length */
	struct net *net = iface->nn->net;
	struct nduseroptmsg *user;
	struct nlmsghdr *nlh;
	struct sk_buff *msg;

	if (!rtnl_has_listeners(net, RTNLGRP_ND_USEROPT))
		return;
	msg = nlmsg_new(NLMSG_ALIGN(sizeof(*user) + len) + nla_total_size(sizeof(*router)),
			GFP_ATOMIC);
	if (!msg) {
		rtnl_set_sk_err(net, RTNLGRP_ND_USEROPT, -ENOBUFS);
		return;
	}
	nlh = nlmsg_put(msg, 0, 0, RTM_NEWNDUSEROPT, NLMSG_ALIGN(sizeof(*user) + len), 0);
	user = nlmsg_data(nlh);
	memset(user, 0, sizeof(*user));
	user->nduseropt_family = AF_INET6;
	user->nduseropt_ifindex = iface->ifindex;
	user->nduseropt_icmp_type = NDISC_ROUTER_ADVERTISEMENT;
	user->nduseropt_opts_len = len;
	memcpy(user + 1, opt->body - 2, len);
	nla_put_in6_addr(msg, NDUSEROPT_SRCADDR, router);	/* there is room */
	nlmsg_end(msg, nlh);
	rtnl_notify(msg, net, 0, RTNLGRP_ND_USEROPT, NULL, GFP_ATOMIC);
}
