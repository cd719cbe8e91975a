// SPDX-License-Identifier: GPL-2.0
/* Interfaces over netlink: what they are, their parameters, and on which devices
 * IPv6 runs.
 */
#include <linux/rtnetlink.h>

#include "../core/nd.h"
#include "../core/param.h"
#include "nl.h"

static const u16 net6_nl_params[NET6_PARAMS] = {
#define X(name, least, largest, initial)	NET6_A_IFACE_##name,
	NET6_PARAM_LIST(X)
#undef X
};

struct net6_nl_ifc {
	int	ifindex;
	u32	flags;
	u32	reachable;
	u32	n_addrs;
	u32	n_prefixes;
	u32	n_routers;
	u32	n_neighs;
	u8	lladdr_len;
	s32	params[NET6_PARAMS];
	char	name[IFNAMSIZ];
	char	link[16];
	u8	lladdr[MAX_ADDR_LEN];
};

static u32 net6_nl_iface_flags(const struct net6_iface *iface)
{
	u32 flags = 0;

	if (test_bit(NET6_IFACE_UP, &iface->flags))
		flags |= NET6_IFACE_FLAGS_UP;
	if (test_bit(NET6_IFACE_HOOKED, &iface->flags))
		flags |= NET6_IFACE_FLAGS_HOOKED;
	if (iface->ops->flags & NET6_LINK_LOOPBACK)
		flags |= NET6_IFACE_FLAGS_LOOPBACK;
	if (iface->ops->flags & NET6_LINK_MULTICAST)
		flags |= NET6_IFACE_FLAGS_MULTICAST;
	if (iface->ops->flags & NET6_LINK_ND)
		flags |= NET6_IFACE_FLAGS_ND;
	return flags;
}

static void net6_nl_iface_fill(struct net6_nl_ifc *to, const struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	const struct list_head *pos;
	unsigned int i;

	lockdep_assert_held(&iface->nn->lock);
	to->ifindex = iface->ifindex;
	to->flags = net6_nl_iface_flags(iface);
	to->reachable = jiffies_to_msecs(iface->reachable);
	for (i = 0; i < NET6_PARAMS; i++)
		to->params[i] = net6_param_get(iface, i);
	to->n_neighs = atomic_read(&iface->n_neighs);
	list_for_each(pos, &iface->addrs)
		to->n_addrs++;
	list_for_each(pos, &iface->prefixes)
		to->n_prefixes++;
	list_for_each(pos, &iface->routers)
		to->n_routers++;
	strscpy(to->name, iface->dev->name, sizeof(to->name));
	strscpy(to->link, iface->ops->name, sizeof(to->link));
	to->lladdr_len = iface->ops->addr_len;
	memcpy(to->lladdr, iface->lladdr, to->lladdr_len);
}

/* RTNL keeps interfaces attached, and their devices' names as they are. */
static void net6_nl_iface_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	struct net6_iface *iface;
	struct net6_nl_ifc *to;

	rtnl_lock();
	list_for_each_entry(iface, &nn->ifaces, list) {
		if (list->filter && list->filter != iface->ifindex)
			continue;
		to = net6_nl_next(list);
		if (!to)
			continue;
		spin_lock_bh(&nn->lock);
		net6_nl_iface_fill(to, iface);
		spin_unlock_bh(&nn->lock);
	}
	rtnl_unlock();
}

static int net6_nl_iface_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_ifc *i = item;
	unsigned int n;

	if (nla_put_u32(skb, NET6_A_IFACE_IFINDEX, i->ifindex) ||
	    nla_put_string(skb, NET6_A_IFACE_NAME, i->name) ||
	    nla_put_string(skb, NET6_A_IFACE_LINK, i->link) ||
	    nla_put_u32(skb, NET6_A_IFACE_FLAGS, i->flags) ||
	    nla_put_u32(skb, NET6_A_IFACE_REACHABLE, i->reachable) ||
	    nla_put_u32(skb, NET6_A_IFACE_ADDRESSES, i->n_addrs) ||
	    nla_put_u32(skb, NET6_A_IFACE_PREFIXES, i->n_prefixes) ||
	    nla_put_u32(skb, NET6_A_IFACE_ROUTERS, i->n_routers) ||
	    nla_put_u32(skb, NET6_A_IFACE_NEIGHBORS, i->n_neighs))
		return -EMSGSIZE;
	for (n = 0; n < NET6_PARAMS; n++)
		if (nla_put_u32(skb, net6_nl_params[n], i->params[n]))
			return -EMSGSIZE;
	if (i->lladdr_len && nla_put(skb, NET6_A_IFACE_LLADDR, i->lladdr_len, i->lladdr))
		return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_iface_dump_ops = {
	.cmd		= NET6_CMD_IFACE_GET,
	.size		= sizeof(struct net6_nl_ifc),
	.collect	= net6_nl_iface_collect,
	.put		= net6_nl_iface_put,
};

int net6_nl_iface_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_iface_dump_ops, NET6_A_IFACE_IFINDEX);
}

static int net6_nl_iface_change(struct net6_iface *iface, struct genl_info *info)
	__must_hold(&iface->nn->lock)
{
	unsigned int i;
	int err;

	for (i = 0; i < NET6_PARAMS; i++) {
		const struct nlattr *attr = info->attrs[net6_nl_params[i]];

		if (!attr)
			continue;
		err = net6_param_set(iface, i, (s32)nla_get_u32(attr));
		if (err) {
			/* The policy has the bounds of all others. */
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "at least 1280 bytes (RFC 8200 section 5), at most the device's MTU");
			return err;
		}
	}
	return 0;
}

int net6_nl_iface_set(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_iface *iface;
	int err;

	rtnl_lock();
	iface = net6_nl_iface(info, NET6_A_IFACE_IFINDEX, &err);
	if (iface) {
		spin_lock_bh(&iface->nn->lock);
		err = net6_nl_iface_change(iface, info);
		spin_unlock_bh(&iface->nn->lock);
		net6_iface_settle(iface);
	}
	rtnl_unlock();
	return err;
}

/* RTNL held. */
static struct net_device *net6_nl_dev(struct genl_info *info, int *err)
{
	struct nlattr *attr = info->attrs[NET6_A_IFACE_IFINDEX];
	struct net_device *dev;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "interface index is missing");
		*err = -EINVAL;
		return NULL;
	}
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(attr));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "no such device");
		*err = -ENODEV;
	} else if (dev == genl_info_net(info)->loopback_dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the pseudo-loopback is always there");
		*err = -EINVAL;
		dev = NULL;
	}
	return dev;
}

int net6_nl_iface_attach(struct sk_buff *skb, struct genl_info *info)
{
	struct net_device *dev;
	int err;

	rtnl_lock();
	dev = net6_nl_dev(info, &err);
	if (!dev)
		goto unlock;
	if (net6_iface_find(net6_nl_nn(info), dev->ifindex)) {
		NL_SET_ERR_MSG(info->extack, "net6 runs on this device already");
		err = -EEXIST;
		goto unlock;
	}
	err = net6_iface_attach(dev);
	if (!err && !net6_iface_find(net6_nl_nn(info), dev->ifindex))
		err = -EOPNOTSUPP;
	if (err)
		NL_SET_ERR_MSG(info->extack, "net6 cannot run on this device");
unlock:
	rtnl_unlock();
	return err;
}

int net6_nl_iface_detach(struct sk_buff *skb, struct genl_info *info)
{
	struct net_device *dev;
	int err = 0;

	rtnl_lock();
	dev = net6_nl_dev(info, &err);
	if (!dev)
		goto unlock;
	if (!net6_iface_find(net6_nl_nn(info), dev->ifindex)) {
		NL_SET_ERR_MSG(info->extack, "net6 does not run on this device");
		err = -ENODEV;
		goto unlock;
	}
	net6_iface_detach(dev);
unlock:
	rtnl_unlock();
	return err;
}
