// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: the labels of the policy table (ip addrlabel). They hold for all interfaces. */
#include <linux/if_addrlabel.h>
#include <net/ipv6.h>

#include "../core/policy.h"
#include "rt.h"

static const struct nla_policy net6_rt_label_policy[IFAL_MAX + 1] = {
	[IFAL_ADDRESS]	= { .len = sizeof(struct in6_addr) },
	[IFAL_LABEL]	= { .len = sizeof(u32) },
};

static int net6_rt_label_fill(struct sk_buff *skb, const struct in6_addr *prefix, u8 plen,
			      u32 label, u32 portid, u32 seq, unsigned int nl_flags)
{
	struct ifaddrlblmsg *msg;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(skb, portid, seq, RTM_NEWADDRLABEL, sizeof(*msg), nl_flags);
	if (!nlh)
		return -EMSGSIZE;
	msg = nlmsg_data(nlh);
	memset(msg, 0, sizeof(*msg));
	msg->ifal_family = AF_INET6;
	msg->ifal_prefixlen = plen;
	if (nla_put_in6_addr(skb, IFAL_ADDRESS, prefix) || nla_put_u32(skb, IFAL_LABEL, label)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

int net6_rt_label_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct net6_policy *policy;
	struct in6_addr prefix;

	rcu_read_lock();
	policy = net6_policy(net6_pernet(sock_net(skb->sk)));
	for (; cb->args[0] < policy->n; cb->args[0]++) {
		const struct net6_policy_entry *entry = &policy->entries[cb->args[0]];

		memcpy(&prefix, entry->prefix, sizeof(prefix));
		if (net6_rt_label_fill(skb, &prefix, entry->plen, entry->label,
				       NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				       NLM_F_MULTI))
			break;
	}
	rcu_read_unlock();
	return skb->len;
}

static int net6_rt_label_parse(struct nlmsghdr *nlh, struct nlattr **tb, struct in6_addr *prefix,
			       struct netlink_ext_ack *extack)
{
	const struct ifaddrlblmsg *msg = nlmsg_data(nlh);
	int err;

	err = nlmsg_parse_deprecated(nlh, sizeof(*msg), tb, IFAL_MAX, net6_rt_label_policy,
				     extack);
	if (err)
		return err;
	if (msg->ifal_family != AF_INET6 || msg->ifal_prefixlen > 128 || !tb[IFAL_ADDRESS])
		return -EINVAL;
	if (msg->ifal_index) {
		NL_SET_ERR_MSG(extack, "labels of net6 hold for all interfaces");
		return -EOPNOTSUPP;
	}
	*prefix = nla_get_in6_addr(tb[IFAL_ADDRESS]);
	return 0;
}

/* What native refuses because it would mean other addresses than it says. */
static bool net6_rt_label_allowed(const struct in6_addr *prefix, u8 plen, u32 label)
{
	int type = ipv6_addr_type(prefix);

	if (label == NET6_POLICY_NO_LABEL)
		return false;
	if (type & IPV6_ADDR_MAPPED)
		return plen <= 96;
	if (type & IPV6_ADDR_COMPATv4)
		return plen == 96;
	return !(type & IPV6_ADDR_LOOPBACK) || plen == 128;
}

int net6_rt_label_new(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct ifaddrlblmsg *msg = nlmsg_data(nlh);
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	struct in6_addr addr, prefix;
	struct nlattr *tb[IFAL_MAX + 1];
	u32 label;
	int err;

	err = net6_rt_label_parse(nlh, tb, &addr, extack);
	if (err)
		return err;
	if (!tb[IFAL_LABEL])
		return -EINVAL;
	label = nla_get_u32(tb[IFAL_LABEL]);
	if (!net6_rt_label_allowed(&addr, msg->ifal_prefixlen, label))
		return -EINVAL;
	ipv6_addr_prefix(&prefix, &addr, msg->ifal_prefixlen);
	return net6_policy_set(nn, &prefix, msg->ifal_prefixlen, &label, NULL,
			       nlh->nlmsg_flags & NLM_F_REPLACE);
}

int net6_rt_label_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct ifaddrlblmsg *msg = nlmsg_data(nlh);
	struct in6_addr addr, prefix;
	struct nlattr *tb[IFAL_MAX + 1];
	int err;

	err = net6_rt_label_parse(nlh, tb, &addr, extack);
	if (err)
		return err;
	ipv6_addr_prefix(&prefix, &addr, msg->ifal_prefixlen);
	return net6_policy_del(net6_pernet(sock_net(skb->sk)), &prefix, msg->ifal_prefixlen);
}

/* The label of one address. */
int net6_rt_label_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct net *net = sock_net(skb->sk);
	struct nlattr *tb[IFAL_MAX + 1];
	struct in6_addr addr;
	struct sk_buff *msg;
	u32 label;
	int err;

	err = net6_rt_label_parse(nlh, tb, &addr, extack);
	if (err)
		return err;
	if (((struct ifaddrlblmsg *)nlmsg_data(nlh))->ifal_prefixlen != 128)
		return -EINVAL;
	label = net6_policy_label(net6_policy(net6_pernet(net)), &addr);
	if (label == NET6_POLICY_NO_LABEL)
		return -ESRCH;
	msg = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return -ENOBUFS;
	err = net6_rt_label_fill(msg, &addr, 128, label, NETLINK_CB(skb).portid, nlh->nlmsg_seq,
				 0);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return rtnl_unicast(msg, net, NETLINK_CB(skb).portid);
}
