// SPDX-License-Identifier: GPL-2.0
/* rtnetlink for PF_INET6 in takeover mode: its table of requests. Never registered beside native
 * IPv6, whose handlers it would replace. About rules the kernel's own code is asked (core/rule.c).
 */
#include <net/ipv6.h>

#include "rt.h"
#include "takeover.h"

/* Routes, or what was learned of destinations: ip -6 route show cache. */
static int net6_rtnetlink_dump_routes(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct rtmsg *rtm = nlmsg_data(cb->nlh);

	if (nlmsg_len(cb->nlh) >= sizeof(*rtm) && rtm->rtm_flags & RTM_F_CLONED)
		return net6_rt_dest_dump(skb, cb);
	return net6_rt_route_dump(skb, cb);
}

static const struct rtnl_msg_handler net6_rt_handlers[] = {
	{ THIS_MODULE, PF_INET6, RTM_NEWADDR, net6_rt_addr_new, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_DELADDR, net6_rt_addr_del, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETADDR, NULL, net6_rt_addr_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETMULTICAST, NULL, net6_rt_group_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETANYCAST, NULL, net6_rt_anycast_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_NEWROUTE, net6_rt_route_new, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_DELROUTE, net6_rt_route_del, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETROUTE, net6_rt_route_get, net6_rtnetlink_dump_routes, 0 },
	{ THIS_MODULE, PF_INET6, RTM_NEWNEIGH, net6_rt_neigh_new, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_DELNEIGH, net6_rt_neigh_del, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETNEIGH, net6_rt_neigh_get, net6_rt_neigh_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_NEWADDRLABEL, net6_rt_label_new, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_DELADDRLABEL, net6_rt_label_del, NULL, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETADDRLABEL, net6_rt_label_get, net6_rt_label_dump, 0 },
	{ THIS_MODULE, PF_INET6, RTM_GETLINK, NULL, net6_rt_link_dump, 0 },
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
	err = net6_rt_follow_init();
	if (err)
		return err;
	err = rtnl_register_many(net6_rt_handlers);
	if (err)
		net6_rt_follow_exit();
	else
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
	net6_rt_follow_exit();
}
