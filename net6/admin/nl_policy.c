// SPDX-License-Identifier: GPL-2.0
/* The policy table of address selection over netlink. */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "../core/policy.h"
#include "nl.h"

static void net6_nl_policy_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	const struct net6_policy *policy;
	struct net6_policy_entry *to;
	u32 i;

	rcu_read_lock();
	policy = net6_policy(nn);
	for (i = 0; i < policy->n; i++) {
		to = net6_nl_next(list);
		if (to)
			*to = policy->entries[i];
	}
	rcu_read_unlock();
}

static int net6_nl_policy_put(struct sk_buff *skb, const void *item)
{
	const struct net6_policy_entry *i = item;

	if (nla_put(skb, NET6_A_POLICY_ADDRESS, sizeof(i->prefix), i->prefix) ||
	    nla_put_u32(skb, NET6_A_POLICY_PREFIX_LEN, i->plen) ||
	    nla_put_u32(skb, NET6_A_POLICY_LABEL, i->label) ||
	    nla_put_u32(skb, NET6_A_POLICY_PRECEDENCE, i->precedence))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_policy_dump_ops = {
	.cmd		= NET6_CMD_POLICY_GET,
	.size		= sizeof(struct net6_policy_entry),
	.collect	= net6_nl_policy_collect,
	.put		= net6_nl_policy_put,
};

int net6_nl_policy_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_policy_dump_ops, 0);
}

/* Reads what names an entry; the reason is told if it names none. */
static int net6_nl_policy_read(struct genl_info *info, struct in6_addr *prefix, u8 *plen)
{
	struct nlattr **a = info->attrs;
	struct in6_addr addr;

	if (!a[NET6_A_POLICY_ADDRESS] || !a[NET6_A_POLICY_PREFIX_LEN]) {
		NL_SET_ERR_MSG(info->extack, "prefix or its length is missing");
		return -EINVAL;
	}
	addr = nla_get_in6_addr(a[NET6_A_POLICY_ADDRESS]);
	*plen = nla_get_u32(a[NET6_A_POLICY_PREFIX_LEN]);
	ipv6_addr_prefix(prefix, &addr, *plen);
	if (!ipv6_addr_equal(prefix, &addr)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_POLICY_ADDRESS],
				    "bits beyond the prefix length are set");
		return -EINVAL;
	}
	return 0;
}

int net6_nl_policy_add(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	u32 label = 0, precedence = 0;
	struct in6_addr prefix;
	int err;
	u8 plen;

	err = net6_nl_policy_read(info, &prefix, &plen);
	if (err)
		return err;
	if (!a[NET6_A_POLICY_LABEL] && !a[NET6_A_POLICY_PRECEDENCE]) {
		NL_SET_ERR_MSG(info->extack, "neither label nor precedence is there");
		return -EINVAL;
	}
	if (a[NET6_A_POLICY_LABEL])
		label = nla_get_u32(a[NET6_A_POLICY_LABEL]);
	if (a[NET6_A_POLICY_PRECEDENCE])
		precedence = nla_get_u32(a[NET6_A_POLICY_PRECEDENCE]);
	rtnl_lock();
	err = net6_policy_set(net6_nl_nn(info), &prefix, plen,
			      a[NET6_A_POLICY_LABEL] ? &label : NULL,
			      a[NET6_A_POLICY_PRECEDENCE] ? &precedence : NULL, true);
	rtnl_unlock();
	if (err == -ENOSPC)
		NL_SET_ERR_MSG(info->extack, "the policy table is full");
	return err;
}

int net6_nl_policy_del(struct sk_buff *skb, struct genl_info *info)
{
	struct in6_addr prefix;
	int err;
	u8 plen;

	err = net6_nl_policy_read(info, &prefix, &plen);
	if (err)
		return err;
	rtnl_lock();
	err = net6_policy_del(net6_nl_nn(info), &prefix, plen);
	rtnl_unlock();
	if (err == -ESRCH) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NET6_A_POLICY_ADDRESS],
				    "no such entry");
		err = -ENOENT;
	}
	return err;
}
