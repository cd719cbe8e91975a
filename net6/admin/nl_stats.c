// SPDX-License-Identifier: GPL-2.0
/* Counters, drops and limits over netlink. */
#include "../core/exthdr.h"
#include "limits.h"
#include "nl.h"

struct net6_nl_counter {
	const char	*name;
	const char	*text;
	u64		value;
};

static void net6_nl_counter_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	struct net6_nl_counter *to;
	int i;

	for (i = 0; i < NET6_MIB_MAX; i++) {
		to = net6_nl_next(list);
		if (!to)
			continue;
		to->name = net6_mib_name(i);
		to->value = net6_mib_read(nn, i);
	}
}

static void net6_nl_drop_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	struct net6_nl_counter *to;
	int i;

	for (i = 0; i < NET6_DROP_MAX; i++) {
		to = net6_nl_next(list);
		if (!to)
			continue;
		to->name = net6_drop_name(i);
		to->text = net6_drop_text(i);
		to->value = net6_mib_read_drop(nn, i);
	}
}

static int net6_nl_counter_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_counter *i = item;

	if (nla_put_string(skb, NET6_A_COUNTER_NAME, i->name) ||
	    nla_put_u64_64bit(skb, NET6_A_COUNTER_VALUE, i->value, NET6_A_COUNTER_PAD))
		return -EMSGSIZE;
	if (i->text && nla_put_string(skb, NET6_A_COUNTER_TEXT, i->text))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_counter_dump_ops = {
	.cmd		= NET6_CMD_COUNTER_GET,
	.size		= sizeof(struct net6_nl_counter),
	.collect	= net6_nl_counter_collect,
	.put		= net6_nl_counter_put,
};

static const struct net6_nl_dump_ops net6_nl_drop_dump_ops = {
	.cmd		= NET6_CMD_DROP_GET,
	.size		= sizeof(struct net6_nl_counter),
	.collect	= net6_nl_drop_collect,
	.put		= net6_nl_counter_put,
};

int net6_nl_counter_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_counter_dump_ops, 0);
}

int net6_nl_drop_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_drop_dump_ops, 0);
}

const struct net6_limit_bounds net6_limit_bounds[NET6_LIMITS] = {
#define X(field, attr, least, largest, initial) \
	{ #field, NET6_A_LIMITS_##attr, least, largest, offsetof(struct net6_limits, field) },
	NET6_LIMIT_LIST(X)
#undef X
};

/**
 * net6_limit_is_raise() - may only the host's root set this?
 * @nn: namespace
 * @bounds: of the limit
 * @value: new value, within its bounds
 *
 * Limits bound the host's memory and time. A user namespace's root may have what each
 * namespace begins with, and keep what the host's root gave it.
 * Context: nn->lock held.
 */
bool net6_limit_is_raise(struct net6_net *nn, const struct net6_limit_bounds *bounds, u32 value)
	__must_hold(&nn->lock)
{
	const u32 *initial = (const void *)&net6_limits_default + bounds->offset;

	lockdep_assert_held(&nn->lock);
	return value > *initial && value > *net6_limit(nn, bounds);
}

/**
 * net6_limit_set() - give a limit another value
 * @nn: namespace
 * @bounds: of the limit
 * @value: new value, within its bounds
 * @host: CAP_NET_ADMIN in the initial user namespace
 *
 * Context: process; takes nn->lock. Return: 0, or -EPERM if it is the host's root's to set.
 */
int net6_limit_set(struct net6_net *nn, const struct net6_limit_bounds *bounds, u32 value,
		   bool host)
{
	int err = 0;

	spin_lock_bh(&nn->lock);
	if (!host && net6_limit_is_raise(nn, bounds, value))
		err = -EPERM;
	else
		WRITE_ONCE(*net6_limit(nn, bounds), value);
	spin_unlock_bh(&nn->lock);
	return err;
}

static int net6_nl_limits_put(struct sk_buff *skb, struct net6_net *nn)
{
	int i;

	for (i = 0; i < NET6_LIMITS; i++)
		if (nla_put_u32(skb, net6_limit_bounds[i].attr,
				READ_ONCE(*net6_limit(nn, &net6_limit_bounds[i]))))
			return -EMSGSIZE;
	return 0;
}

int net6_nl_limits_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *hdr;

	if (!msg)
		return -ENOMEM;
	hdr = net6_nl_put_header(msg, info->snd_portid, info->snd_seq, 0, NET6_CMD_LIMITS_GET);
	if (!hdr || net6_nl_limits_put(msg, net6_nl_nn(info))) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static int net6_nl_limits_check(struct net6_net *nn, struct genl_info *info)
	__must_hold(&nn->lock)
{
	int i;

	for (i = 0; i < NET6_LIMITS; i++) {
		const struct nlattr *attr = info->attrs[net6_limit_bounds[i].attr];

		if (attr && net6_limit_is_raise(nn, &net6_limit_bounds[i], nla_get_u32(attr))) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "only the host's root raises a limit above its default");
			return -EPERM;
		}
	}
	return 0;
}

/* All of them or none. */
int net6_nl_limits_set(struct sk_buff *skb, struct genl_info *info)
{
	bool host = netlink_capable(skb, CAP_NET_ADMIN);
	struct net6_net *nn = net6_nl_nn(info);
	int i, err;

	spin_lock_bh(&nn->lock);
	err = host ? 0 : net6_nl_limits_check(nn, info);
	for (i = 0; !err && i < NET6_LIMITS; i++) {
		const struct nlattr *attr = info->attrs[net6_limit_bounds[i].attr];

		if (attr)
			WRITE_ONCE(*net6_limit(nn, &net6_limit_bounds[i]), nla_get_u32(attr));
	}
	spin_unlock_bh(&nn->lock);
	if (!err)
		net6_reasm_set_limits(nn);
	return err;
}
