// SPDX-License-Identifier: GPL-2.0
/* Tunnels over IPv4 over netlink. */
#include <linux/rtnetlink.h>
#include <net/ip_tunnels.h>

#include "../tunnel/tunnel.h"
#include "nl.h"

#define NET6_NL_TUNNEL_TTL	64	/* of the outer header, unless said otherwise */
#define NET6_NL_ECN_MASK	3

struct net6_nl_tunnel {
	int				ifindex;
	u8				kind;
	struct net6_tunnel_parms	parms;
	char				name[IFNAMSIZ];
	struct rtnl_link_stats64	stats;
	u64				counters[NET6_TUNNEL_COUNTERS];
};

static void net6_nl_tunnel_fill(struct net6_nl_tunnel *to, struct net6_tunnel *t)
{
	int i;

	to->ifindex = t->dev->ifindex;
	to->kind = t->kind;
	to->parms = t->parms;
	strscpy(to->name, t->dev->name, sizeof(to->name));
	dev_get_stats(t->dev, &to->stats);
	for (i = 0; i < NET6_TUNNEL_COUNTERS; i++)
		to->counters[i] = net6_tunnel_read(t, i);
}

static void net6_nl_tunnel_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	struct net6_nl_tunnel *to;
	struct net_device *dev;
	struct net6_tunnel *t;

	rtnl_lock();
	for_each_netdev(nn->net, dev) {
		t = net6_tunnel_of(dev);
		if (!t || (list->filter && list->filter != dev->ifindex))
			continue;
		to = net6_nl_next(list);
		if (to)
			net6_nl_tunnel_fill(to, t);
	}
	rtnl_unlock();
}

static int net6_nl_tunnel_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, NET6_A_TUNNEL_PAD);
}

static int net6_nl_tunnel_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_tunnel *t = item;
	const struct net6_tunnel_parms *p = &t->parms;
	int i;

	BUILD_BUG_ON(NET6_A_TUNNEL_RX_SHORT + NET6_TUNNEL_COUNTERS != NET6_A_TUNNEL_MAX + 1);
	BUILD_BUG_ON((int)NET6_TUNNEL_6OVER4 != (int)NET6_TUNNEL_KIND_6OVER4);
	if (nla_put_u32(skb, NET6_A_TUNNEL_IFINDEX, t->ifindex) ||
	    nla_put_string(skb, NET6_A_TUNNEL_NAME, t->name) ||
	    nla_put_u32(skb, NET6_A_TUNNEL_KIND, t->kind) ||
	    nla_put_u32(skb, NET6_A_TUNNEL_TTL, p->ttl) ||
	    nla_put_u32(skb, NET6_A_TUNNEL_TOS, p->tos) ||
	    nla_put_u32(skb, NET6_A_TUNNEL_PMTU, p->pmtu) ||
	    nla_put_u32(skb, NET6_A_TUNNEL_ROUTER, p->router) ||
	    net6_nl_tunnel_put_u64(skb, NET6_A_TUNNEL_RX_PACKETS, t->stats.rx_packets) ||
	    net6_nl_tunnel_put_u64(skb, NET6_A_TUNNEL_RX_BYTES, t->stats.rx_bytes) ||
	    net6_nl_tunnel_put_u64(skb, NET6_A_TUNNEL_TX_PACKETS, t->stats.tx_packets) ||
	    net6_nl_tunnel_put_u64(skb, NET6_A_TUNNEL_TX_BYTES, t->stats.tx_bytes))
		return -EMSGSIZE;
	if (p->remote && nla_put_in_addr(skb, NET6_A_TUNNEL_REMOTE, p->remote))
		return -EMSGSIZE;
	if (p->local && nla_put_in_addr(skb, NET6_A_TUNNEL_LOCAL, p->local))
		return -EMSGSIZE;
	if (p->link && nla_put_u32(skb, NET6_A_TUNNEL_LINK, p->link))
		return -EMSGSIZE;
	for (i = 0; i < NET6_TUNNEL_COUNTERS; i++)
		if (net6_nl_tunnel_put_u64(skb, NET6_A_TUNNEL_RX_SHORT + i, t->counters[i]))
			return -EMSGSIZE;
	return 0;
}

static const struct net6_nl_dump_ops net6_nl_tunnel_dump_ops = {
	.cmd		= NET6_CMD_TUNNEL_GET,
	.size		= sizeof(struct net6_nl_tunnel),
	.collect	= net6_nl_tunnel_collect,
	.put		= net6_nl_tunnel_put,
};

int net6_nl_tunnel_get_start(struct netlink_callback *cb)
{
	return net6_nl_dump_start(cb, &net6_nl_tunnel_dump_ops, NET6_A_TUNNEL_IFINDEX);
}

/* What the request says beside what @p has. */
static void net6_nl_tunnel_parms(struct nlattr **a, struct net6_tunnel_parms *p)
{
	u32 tos;

	if (a[NET6_A_TUNNEL_REMOTE])
		p->remote = nla_get_in_addr(a[NET6_A_TUNNEL_REMOTE]);
	if (a[NET6_A_TUNNEL_LOCAL])
		p->local = nla_get_in_addr(a[NET6_A_TUNNEL_LOCAL]);
	if (a[NET6_A_TUNNEL_TTL])
		p->ttl = nla_get_u32(a[NET6_A_TUNNEL_TTL]);
	if (a[NET6_A_TUNNEL_TOS]) {
		tos = nla_get_u32(a[NET6_A_TUNNEL_TOS]);
		p->tos = tos == NET6_TUNNEL_TOS_INHERIT ? tos : tos & ~NET6_NL_ECN_MASK;
	}
	if (a[NET6_A_TUNNEL_PMTU])
		p->pmtu = nla_get_u32(a[NET6_A_TUNNEL_PMTU]);
	if (a[NET6_A_TUNNEL_ROUTER])
		p->router = nla_get_u32(a[NET6_A_TUNNEL_ROUTER]);
}

int net6_nl_tunnel_add(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_tunnel_parms parms = {
		.ttl	= NET6_NL_TUNNEL_TTL,
		.pmtu	= true,
		.router	= true,
	};
	struct nlattr **a = info->attrs;
	char name[IFNAMSIZ];
	int err;

	if (!a[NET6_A_TUNNEL_NAME] || !a[NET6_A_TUNNEL_REMOTE]) {
		NL_SET_ERR_MSG(info->extack, "a tunnel needs a name and a far end");
		return -EINVAL;
	}
	nla_strscpy(name, a[NET6_A_TUNNEL_NAME], sizeof(name));
	if (!dev_valid_name(name)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_A_TUNNEL_NAME],
				    "that is no name for a device");
		return -EINVAL;
	}
	net6_nl_tunnel_parms(a, &parms);
	err = net6_tunnel_rcv_get();
	if (err) {
		NL_SET_ERR_MSG(info->extack, "tunnels need the module net6_tunnel4");
		return err;
	}
	rtnl_lock();
	err = net6_tunnel_add(genl_info_net(info), name, NET6_TUNNEL_CONFIGURED, &parms,
			      info->extack, NULL);
	rtnl_unlock();
	return err;
}

/* RTNL held. */
static struct net6_tunnel *net6_nl_tunnel_configured(struct genl_info *info, int *err)
{
	struct nlattr *attr = info->attrs[NET6_A_TUNNEL_IFINDEX];
	struct net_device *dev = NULL;
	struct net6_tunnel *t;

	*err = -EINVAL;
	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "interface index is missing");
		return NULL;
	}
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(attr));
	t = dev ? net6_tunnel_of(dev) : NULL;
	if (!t) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "that is no tunnel");
		*err = -ENODEV;
		return NULL;
	}
	if (t->kind != NET6_TUNNEL_CONFIGURED) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "this tunnel follows from an IPv4 address (transition)");
		return NULL;
	}
	*err = 0;
	return t;
}

int net6_nl_tunnel_set(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_tunnel_parms parms;
	struct net6_tunnel *t;
	int err;

	rtnl_lock();
	t = net6_nl_tunnel_configured(info, &err);
	if (t) {
		parms = t->parms;
		net6_nl_tunnel_parms(info->attrs, &parms);
		err = net6_tunnel_change(t, &parms, info->extack);
	}
	rtnl_unlock();
	return err;
}

int net6_nl_tunnel_del(struct sk_buff *skb, struct genl_info *info)
{
	struct net6_tunnel *t;
	int err;

	rtnl_lock();
	t = net6_nl_tunnel_configured(info, &err);
	if (t)
		net6_tunnel_del(t);
	rtnl_unlock();
	return err;
}
