// SPDX-License-Identifier: GPL-2.0
/* Rules: which routing table a packet's destination is looked for in. Their list, and what programs
 * ask of it, is the kernel's (net/core/fib_rules.c): of AF_INET6 in native's place, else of
 * AF_NET6. Destinations that are remembered do not ask again: their key has a hash of all that
 * rules look at. Local delivery of what is received does not depend on rules: it is by the VRF of
 * the interface, or by none.
 */
#include <linux/bitops.h>
#include <net/inet_dscp.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <uapi/linux/net6.h>

#include "../compat/fib_rules.h"
#include "dest.h"
#include "l3mdev.h"
#include "nd.h"
#include "rule.h"

#if IS_ENABLED(CONFIG_FIB_RULES)

/**
 * struct net6_rule - a rule
 * @common: the kernel's part
 * @src: source
 * @dst: destination
 * @src_plen: how many bits of @src count
 * @dst_plen: alike
 * @dscp: of the traffic class; 0: any
 */
struct net6_rule {
	struct fib_rule	common;
	struct in6_addr	src;
	struct in6_addr	dst;
	u8		src_plen;
	u8		dst_plen;
	dscp_t		dscp;
};

/**
 * struct net6_rule_ask - a question, while rules are gone through
 * @nn: namespace
 * @key: destination
 * @nh: for the answer
 */
struct net6_rule_ask {
	struct net6_net			*nn;
	const struct net6_dest_key	*key;
	struct net6_nexthop		*nh;
};

static struct net6_rule *net6_rule(struct fib_rule *rule)
{
	return container_of(rule, struct net6_rule, common);
}

/* ---- looking ---- */

/* What the kernel has not compared yet. As native: without a source none by source matches. */
static int net6_rule_match(struct fib_rule *rule, struct flowi *fl, int flags)
{
	const struct net6_rule *r = net6_rule(rule);
	const struct flowi6 *fl6 = &fl->u.ip6;

	if (!ipv6_prefix_equal(&fl6->daddr, &r->dst, r->dst_plen))
		return 0;
	if (r->src_plen && (ipv6_addr_any(&fl6->saddr) ||
			    !ipv6_prefix_equal(&fl6->saddr, &r->src, r->src_plen)))
		return 0;
	if (r->dscp && r->dscp != ip6_dscp(fl6->flowlabel))
		return 0;
	if (rule->ip_proto && rule->ip_proto != fl6->flowi6_proto)
		return 0;
	if (fib_rule_port_range_set(&rule->sport_range) &&
	    !fib_rule_port_inrange(&rule->sport_range, fl6->fl6_sport))
		return 0;
	return !fib_rule_port_range_set(&rule->dport_range) ||
	       fib_rule_port_inrange(&rule->dport_range, fl6->fl6_dport);
}

/* Errors as native's. -EAGAIN: the next rule is asked. */
static int net6_rule_action(struct fib_rule *rule, struct flowi *fl, int flags,
			    struct fib_lookup_arg *arg)
{
	struct net6_rule_ask *ask = arg->result;
	int err;

	switch (rule->action) {
	case FR_ACT_TO_TBL:
		err = net6_route_by_table(ask->nn, ask->key, fib_rule_get_table(rule, arg),
					  ask->nh);
		return err == -ENETUNREACH ? -EAGAIN : min(err, 0);
	case FR_ACT_UNREACHABLE:
		return -ENETUNREACH;
	case FR_ACT_PROHIBIT:
		return -EACCES;
	default:
		return -EINVAL;
	}
}

static bool net6_rule_suppress(struct fib_rule *rule, int flags, struct fib_lookup_arg *arg)
{
	const struct net6_rule_ask *ask = arg->result;

	return ask->nh->plen <= rule->suppress_prefixlen ||
	       (rule->suppress_ifgroup != -1 &&
		ask->nh->iface->dev->group == rule->suppress_ifgroup);
}

/**
 * net6_rules_nexthop() - the next hop by the tables that rules lead to
 * @nn: namespace that has rules
 * @key: destination, interface and router
 * @fl6: what else is asked; NULL for nothing
 * @nh: filled
 *
 * Context: RCU read lock held. Return: as net6_route_nexthop().
 */
noinline int net6_rules_nexthop(struct net6_net *nn, const struct net6_dest_key *key,
				const struct flowi6 *fl6, struct net6_nexthop *nh)
{
	struct net6_dest_key scope = *key;
	struct net6_rule_ask ask = { .nn = nn, .key = &scope, .nh = nh };
	struct fib_lookup_arg arg = { .result = &ask, .flags = FIB_LOOKUP_NOREF };
	struct fib_rules_ops *ops = READ_ONCE(nn->rules.ops);
	struct flowi6 fl;
	int err;

	if (!ops)
		return -ENETUNREACH;
	if (fl6)
		fl = *fl6;
	else
		net6_rules_ask(nn, key, &in6addr_any, NULL, &fl);
	/* Who insists on a VRF's device insists on no interface. */
	net6_l3mdev_scope(nn, &scope.oif);
	err = fib_rules_lookup(ops, flowi6_to_flowi(&fl), 0, &arg);
	if (err)
		return err == -ESRCH ? -ENETUNREACH : err;
	return nh->flags;
}

/* ---- changing ---- */

/* What has come to rules since 6.1, and what net6 has nothing to do with. */
static int net6_rule_refuses(const struct fib_rule *rule, struct nlattr **tb,
			     struct netlink_ext_ack *extack)
{
	int i;

	for (i = FRA_DPORT_RANGE + 1; i <= FRA_MAX; i++)
		if (tb[i]) {
			NL_SET_ERR_MSG_ATTR(extack, tb[i], "net6 has no rules by this");
			return -EOPNOTSUPP;
		}
	if (rule->tun_id) {
		NL_SET_ERR_MSG(extack, "net6 has no rules by tunnel");
		return -EOPNOTSUPP;
	}
	if (rule->flags & FIB_RULE_FIND_SADDR) {
		NL_SET_ERR_MSG(extack, "net6 has no rules that find a source");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* RTNL held. */
static bool net6_rules_full(struct net6_net *nn)
{
	if (nn->rules.count < READ_ONCE(nn->limits.max_rules))
		return false;
	NET6_INC(nn, RouteRuleLimit);
	return true;
}

static int net6_rule_configure(struct fib_rule *rule, struct sk_buff *skb,
			       struct fib_rule_hdr *frh, struct nlattr **tb,
			       struct netlink_ext_ack *extack)
{
	struct net6_rule *r = net6_rule(rule);
	int err = net6_rule_refuses(rule, tb, extack);

	if (err)
		return err;
	if (!inet_validate_dscp(frh->tos)) {
		NL_SET_ERR_MSG(extack, "Invalid dsfield (tos): ECN bits must be 0");
		return -EINVAL;
	}
	if (rule->action == FR_ACT_TO_TBL && !rule->l3mdev && rule->table == RT_TABLE_UNSPEC) {
		NL_SET_ERR_MSG(extack, "Invalid table");
		return -EINVAL;
	}
	if (net6_rules_full(net6_pernet(rule->fr_net))) {
		NL_SET_ERR_MSG(extack, "there are as many rules as max-rules allows");
		return -ENOSPC;
	}
	if (frh->src_len)
		r->src = nla_get_in6_addr(tb[FRA_SRC]);
	if (frh->dst_len)
		r->dst = nla_get_in6_addr(tb[FRA_DST]);
	r->src_plen = frh->src_len;
	r->dst_plen = frh->dst_len;
	r->dscp = inet_dsfield_to_dscp(frh->tos);
	return 0;
}

static int net6_rule_compare(struct fib_rule *rule, struct fib_rule_hdr *frh, struct nlattr **tb)
{
	const struct net6_rule *r = net6_rule(rule);

	if (frh->tos && inet_dscp_to_dsfield(r->dscp) != frh->tos)
		return 0;
	if (frh->src_len && (r->src_plen != frh->src_len ||
			     nla_memcmp(tb[FRA_SRC], &r->src, sizeof(r->src))))
		return 0;
	return !frh->dst_len || (r->dst_plen == frh->dst_len &&
				 !nla_memcmp(tb[FRA_DST], &r->dst, sizeof(r->dst)));
}

static int net6_rule_fill(struct fib_rule *rule, struct sk_buff *skb, struct fib_rule_hdr *frh)
{
	const struct net6_rule *r = net6_rule(rule);

	frh->src_len = r->src_plen;
	frh->dst_len = r->dst_plen;
	frh->tos = inet_dscp_to_dsfield(r->dscp);
	if ((r->src_plen && nla_put_in6_addr(skb, FRA_SRC, &r->src)) ||
	    (r->dst_plen && nla_put_in6_addr(skb, FRA_DST, &r->dst)))
		return -ENOBUFS;
	return 0;
}

static size_t net6_rule_payload(struct fib_rule *rule)
{
	return 2 * nla_total_size(sizeof(struct in6_addr));
}

/* ---- what follows from the list ---- */

static u32 net6_rule_looks(const struct net6_rule *r)
{
	const struct fib_rule *rule = &r->common;
	u32 looks = 0;

	if (!uid_eq(rule->uid_range.start, KUIDT_INIT(0)) ||
	    !uid_eq(rule->uid_range.end, KUIDT_INIT(~0)))
		looks |= NET6_RULES_UID;
	if (rule->iifname[0])
		looks |= NET6_RULES_IIF;
	if (rule->ip_proto)
		looks |= NET6_RULES_PROTOCOL;
	if (fib_rule_port_range_set(&rule->sport_range))
		looks |= NET6_RULES_SPORT;
	if (fib_rule_port_range_set(&rule->dport_range))
		looks |= NET6_RULES_DPORT;
	if (r->dscp)
		looks |= NET6_RULES_DSCP;
	if (rule->l3mdev)
		looks |= NET6_RULES_L3MDEV;
	return looks;
}

/* Is it for all packets, and leads to this table? */
static bool net6_rule_is_plain(const struct net6_rule *r, u32 table)
{
	const struct fib_rule *rule = &r->common;

	return rule->action == FR_ACT_TO_TBL && rule->table == table && fib_rule_matchall(rule) &&
	       !rule->mark_mask && !r->src_plen && !r->dst_plen && !net6_rule_looks(r);
}

/* RTNL held. A rule was added or removed. */
static void net6_rules_changed(struct fib_rules_ops *ops)
{
	static const u32 begin[] = { RT_TABLE_LOCAL, RT_TABLE_MAIN };
	struct net6_net *nn = net6_pernet(ops->fro_net);
	struct net6_rules seen = {};
	struct fib_rule *rule;
	unsigned int n = 0;
	bool plain = true;

	list_for_each_entry(rule, &ops->rules_list, list) {
		const struct net6_rule *r = net6_rule(rule);

		plain = plain && n < ARRAY_SIZE(begin) && net6_rule_is_plain(r, begin[n]);
		n++;
		seen.looks |= net6_rule_looks(r);
		seen.mark |= rule->mark_mask;
		seen.src_plen = max(seen.src_plen, r->src_plen);
	}
	nn->rules.count = n;
	WRITE_ONCE(nn->rules.looks, seen.looks);
	WRITE_ONCE(nn->rules.mark, seen.mark);
	WRITE_ONCE(nn->rules.src_plen, seen.src_plen);
	WRITE_ONCE(nn->rules.on, !plain || n < ARRAY_SIZE(begin) || nn->rules.l3mdevs);
	net6_dest_flush(nn);
}

/* ---- VRFs ---- */

/* Where native's rule for VRFs is in the list. */
#define NET6_RULE_L3MDEV_PREF	1000

static struct sk_buff *net6_rule_l3mdev_request(const struct fib_rules_ops *ops)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	struct fib_rule_hdr *frh;
	struct nlmsghdr *nlh;

	if (!skb)
		return NULL;
	nlh = nlmsg_put(skb, 0, 0, RTM_NEWRULE, sizeof(*frh), NLM_F_EXCL);
	frh = nlmsg_data(nlh);
	memset(frh, 0, sizeof(*frh));
	frh->family = ops->family;
	frh->action = FR_ACT_TO_TBL;
	if (nla_put_u8(skb, FRA_PROTOCOL, RTPROT_KERNEL) || nla_put_u8(skb, FRA_L3MDEV, 1) ||
	    nla_put_u32(skb, FRA_PRIORITY, NET6_RULE_L3MDEV_PREF)) {
		kfree_skb(skb);
		return NULL;
	}
	nlmsg_end(skb, nlh);
	return skb;
}

/* The kernel's VRFs add it for native, if that is on. As there once: who removes it means it. */
static void net6_rule_l3mdev_add(struct net6_net *nn, struct fib_rules_ops *ops)
{
	struct sk_buff *skb = net6_rule_l3mdev_request(ops);
	int err = skb ? net6_compat_newrule(nn->net, skb, nlmsg_hdr(skb)) : -ENOMEM;

	kfree_skb(skb);
	if (err && err != -EEXIST)
		net_warn_ratelimited("net6: no rule for VRFs: error %d\n", err);
	else
		nn->rules.l3mdev_rule = true;
}

static void net6_rules_attached(struct net6_iface *iface)
{
	struct net6_net *nn = iface->nn;
	struct fib_rules_ops *ops = nn->rules.ops;

	if (ops && net6_l3mdev_is_master(iface) && !nn->rules.l3mdev_rule)
		net6_rule_l3mdev_add(nn, ops);
}

static void net6_rules_detached(struct net6_iface *iface)
{
}

static struct net6_iface_watcher net6_rules_watcher = {
	.attached	= net6_rules_attached,
	.detached	= net6_rules_detached,
};

/**
 * net6_rules_init() - the first VRF of a namespace brings its rule
 *
 * Context: process, sleeps. Return: 0.
 */
int net6_rules_init(void)
{
	net6_iface_watch(&net6_rules_watcher);
	return 0;
}

/**
 * net6_rules_exit() - undo net6_rules_init()
 *
 * Context: process, sleeps.
 */
void net6_rules_exit(void)
{
	net6_iface_unwatch(&net6_rules_watcher);
}

/* ---- a namespace ---- */

static const struct fib_rules_ops net6_rules_ops = {
	.rule_size	= sizeof(struct net6_rule),
	.addr_size	= sizeof(struct in6_addr),
	.action		= net6_rule_action,
	.suppress	= net6_rule_suppress,
	.match		= net6_rule_match,
	.configure	= net6_rule_configure,
	.compare	= net6_rule_compare,
	.fill		= net6_rule_fill,
	.nlmsg_payload	= net6_rule_payload,
	.flush_cache	= net6_rules_changed,
	.owner		= THIS_MODULE,
};

/**
 * net6_rules_net_init() - the two rules that a namespace begins with
 * @nn: namespace
 *
 * As native's, both can be removed. Beside native IPv6 who listens to RTNLGRP_IPV6_RULE does not
 * expect net6's; DECnet's group, whose rules are not in Linux any more, stands for none.
 * Context: process. Return: 0 or -errno.
 */
int net6_rules_net_init(struct net6_net *nn)
{
	bool beside = ipv6_mod_enabled();
	struct fib_rules_ops template = net6_rules_ops, *ops;
	int err;

	template.family = beside ? AF_NET6 : AF_INET6;
	template.nlgroup = beside ? RTNLGRP_DECnet_RULE : RTNLGRP_IPV6_RULE;
	ops = fib_rules_register(&template, nn->net);
	if (IS_ERR(ops))
		return PTR_ERR(ops);
	err = net6_compat_default_rule_add(ops, 0, RT_TABLE_LOCAL) ?:
	      net6_compat_default_rule_add(ops, 0x7ffe, RT_TABLE_MAIN);
	nn->rules.ops = ops;
	nn->rules.count = 2;
	if (err)
		net6_rules_net_exit(nn);
	return err;
}

/**
 * net6_rules_net_exit() - a namespace has no rules any more
 * @nn: namespace that neither sends nor receives any more
 *
 * Who still looks for a route finds one as without rules. Context: process, sleeps; takes RTNL.
 */
void net6_rules_net_exit(struct net6_net *nn)
{
	struct fib_rules_ops *ops = nn->rules.ops;

	rtnl_lock();
	WRITE_ONCE(nn->rules.on, false);
	WRITE_ONCE(nn->rules.ops, NULL);
	fib_rules_unregister(ops);	/* both free after a grace period */
	rtnl_unlock();
}

#else

int net6_rules_net_init(struct net6_net *nn)
{
	return 0;
}

int net6_rules_init(void)
{
	return 0;
}

void net6_rules_exit(void)
{
}

void net6_rules_net_exit(struct net6_net *nn)
{
}

int net6_rules_nexthop(struct net6_net *nn, const struct net6_dest_key *key,
		       const struct flowi6 *fl6, struct net6_nexthop *nh)
{
	return -ENETUNREACH;
}

#endif /* CONFIG_FIB_RULES */
