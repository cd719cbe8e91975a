// SPDX-License-Identifier: GPL-2.0
/* rtnetlink for PF_INET6 in takeover mode: its table of requests, and the two rules that
 * there always are. Never registered beside native IPv6, whose handlers it would replace.
 */
#include <linux/fib_rules.h>
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
	{ THIS_MODULE, PF_INET6, RTM_GETLINK, NULL, net6_rt_link_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETRULE, NULL, net6_rt_rule_dump, 0 },
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
