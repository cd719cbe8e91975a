// SPDX-License-Identifier: GPL-2.0
/* rtnetlink for PF_INET6 in takeover mode: its table of requests, the AF_INET6 part of
 * links, and the two rules that there always are. Never registered beside native IPv6,
 * whose handlers it would replace.
 */
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>

#include "rt.h"
#include "takeover.h"

/* One of the two rules that native starts with; there cannot be others. */
static int net6_rt_rule_fill(struct sk_buff *skb, struct netlink_callback *cb, u8 table,
			     u32 priority)
{
	struct fib_rule_hdr *frh;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, RTM_NEWRULE,
			sizeof(*frh), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	frh = nlmsg_data(nlh);
	memset(frh, 0, sizeof(*frh));
	frh->family = AF_INET6;
	frh->table = table;
	frh->action = FR_ACT_TO_TBL;
	if (nla_put_u32(skb, FRA_TABLE, table) ||
	    nla_put_u32(skb, FRA_SUPPRESS_PREFIXLEN, ~0U) ||
	    nla_put_u8(skb, FRA_PROTOCOL, RTPROT_KERNEL) ||
	    (priority && nla_put_u32(skb, FRA_PRIORITY, priority))) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

static int net6_rt_rule_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	if (!cb->args[0] && !net6_rt_rule_fill(skb, cb, RT_TABLE_LOCAL, 0))
		cb->args[0]++;
	if (cb->args[0] == 1 && !net6_rt_rule_fill(skb, cb, RT_TABLE_MAIN, 0x7ffe))
		cb->args[0]++;
	return skb->len;
}

static const struct rtnl_msg_handler net6_rt_handlers[] = {
	{ THIS_MODULE, PF_INET6, RTM_NEWADDR, net6_rt_addr_new, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_DELADDR, net6_rt_addr_del, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETADDR, NULL, net6_rt_addr_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETMULTICAST, NULL, net6_rt_group_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETANYCAST, NULL, net6_rt_anycast_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_NEWROUTE, net6_rt_route_new, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_DELROUTE, net6_rt_route_del, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETROUTE, net6_rt_route_get, net6_rt_route_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_NEWNEIGH, net6_rt_neigh_new, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_DELNEIGH, net6_rt_neigh_del, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETNEIGH, NULL, net6_rt_neigh_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_NEWADDRLABEL, net6_rt_label_new, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_DELADDRLABEL, net6_rt_label_del, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETADDRLABEL, net6_rt_label_get, net6_rt_label_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETRULE, NULL, net6_rt_rule_dump, 0 },
};

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

/* RCU read lock or RTNL held. */
static int net6_rt_link_fill(struct sk_buff *skb, const struct net_device *dev,
			     u32 ext_filter_mask)
{
	struct net6_iface *iface = net6_iface_find(net6_pernet(dev_net(dev)), dev->ifindex);
	s32 conf[DEVCONF_MAX] = {};
	struct ifla_cacheinfo ci = {
		.max_reasm_len	= IPV6_MAXPLEN,
	};

	if (!iface)
		return -ENODATA;
	ci.reachable_time = jiffies_to_msecs(iface->reachable);
	ci.retrans_time = jiffies_to_msecs(iface->retrans);
	net6_rt_link_conf(iface, conf);
	if (nla_put_u32(skb, IFLA_INET6_FLAGS, net6_iface_usable(iface) ? IF_READY : 0) ||
	    nla_put(skb, IFLA_INET6_CACHEINFO, sizeof(ci), &ci) ||
	    nla_put(skb, IFLA_INET6_CONF, sizeof(conf), conf) ||
	    nla_put_in6_addr(skb, IFLA_INET6_TOKEN, &in6addr_any) ||
	    nla_put_u8(skb, IFLA_INET6_ADDR_GEN_MODE,
		       net6_conf(iface, NET6_PARAM_ADDR_GEN_MODE)) ||
	    (iface->ra_mtu && nla_put_u32(skb, IFLA_INET6_RA_MTU, iface->ra_mtu)))
		return -EMSGSIZE;
	return 0;
}

static struct rtnl_af_ops net6_rt_af_ops = {
	.family			= AF_INET6,
	.fill_link_af		= net6_rt_link_fill,
	.get_link_af_size	= net6_rt_link_size,
};

/**
 * net6_rtnetlink_init() - answer for PF_INET6, if native IPv6 does not
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_rtnetlink_init(void)
{
	int err;

	if (ipv6_mod_enabled())
		return 0;
	err = rtnl_register_many(net6_rt_handlers);
	if (!err)
		rtnl_af_register(&net6_rt_af_ops);
	return err;
}

/**
 * net6_rtnetlink_exit() - answer no more; waits for requests that are going on
 *
 * Context: process, sleeps.
 */
void net6_rtnetlink_exit(void)
{
	if (ipv6_mod_enabled())
		return;
	rtnl_af_unregister(&net6_rt_af_ops);
	rtnl_unregister_many(net6_rt_handlers);
}
