// SPDX-License-Identifier: GPL-2.0
/* Tunnels over IPv6 are made, changed, shown and removed by rtnetlink, as native's of kind ip6tnl.
 * They exist where native IPv6 is off.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_tunnel.h>
#include <net/ip_tunnels.h>
#include <net/ipv6.h>
#include <net/rtnetlink.h>

#include "../compat/netdevice.h"
#include "../core/dest.h"
#include "../core/ip.h"
#include "../link/rawip.h"
#include "ip6tnl.h"

#define NET6_IP6TNL_HOP_LIMIT	64
#define NET6_IP6TNL_FLAGS	(IP6_TNL_F_IGN_ENCAP_LIMIT | IP6_TNL_F_USE_ORIG_TCLASS | \
				 IP6_TNL_F_USE_ORIG_FLOWLABEL | IP6_TNL_F_USE_ORIG_FWMARK | \
				 IP6_TNL_F_RCV_DSCP_COPY | IP6_TNL_F_ALLOW_LOCAL_REMOTE)

/* What fits now into the device that packets leave by, as native. */
static u32 net6_ip6tnl_path_mtu(struct net6_net *nn, const struct net6_ip6tnl_parms *p)
{
	u32 mtu = net6_ip6tnl_mtu(NET6_IP6TNL_MTU, net6_ip6tnl_limited(p));
	struct net6_dest *dest;

	rcu_read_lock_bh();
	dest = net6_ip6tnl_lookup(nn, p, p->flowinfo, p->mark);
	if (!IS_ERR(dest)) {
		mtu = net6_ip6tnl_mtu(READ_ONCE(dest->iface->dev->mtu), net6_ip6tnl_limited(p));
		net6_dest_put(dest);
	}
	rcu_read_unlock_bh();
	return clamp_t(u32, mtu, NET6_MIN_MTU, NET6_IP6TNL_MAX_MTU);
}

static const struct nla_policy net6_ip6tnl_policy[IFLA_IPTUN_MAX + 1] = {
	[IFLA_IPTUN_LINK]		= { .type = NLA_U32 },
	[IFLA_IPTUN_LOCAL]		= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[IFLA_IPTUN_REMOTE]		= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[IFLA_IPTUN_TTL]		= { .type = NLA_U8 },
	[IFLA_IPTUN_ENCAP_LIMIT]	= { .type = NLA_U8 },
	[IFLA_IPTUN_FLOWINFO]		= { .type = NLA_U32 },
	[IFLA_IPTUN_FLAGS]		= { .type = NLA_U32 },
	[IFLA_IPTUN_PROTO]		= { .type = NLA_U8 },
	[IFLA_IPTUN_ENCAP_TYPE]		= { .type = NLA_U16 },
	[IFLA_IPTUN_ENCAP_FLAGS]	= { .type = NLA_U16 },
	[IFLA_IPTUN_ENCAP_SPORT]	= { .type = NLA_U16 },
	[IFLA_IPTUN_ENCAP_DPORT]	= { .type = NLA_U16 },
	[IFLA_IPTUN_COLLECT_METADATA]	= { .type = NLA_FLAG },
	[IFLA_IPTUN_FWMARK]		= { .type = NLA_U32 },
};

static int net6_ip6tnl_validate(struct nlattr *tb[], struct nlattr *data[],
				struct netlink_ext_ack *extack)
{
	u8 proto;

	if (!data)
		return 0;
	if (data[IFLA_IPTUN_COLLECT_METADATA]) {
		NL_SET_ERR_MSG(extack, "net6 has no tunnels whose routes say where to");
		return -EOPNOTSUPP;
	}
	if (data[IFLA_IPTUN_ENCAP_TYPE] &&
	    nla_get_u16(data[IFLA_IPTUN_ENCAP_TYPE]) != TUNNEL_ENCAP_NONE) {
		NL_SET_ERR_MSG(extack, "net6 has no tunnels over IPv6 in UDP");
		return -EOPNOTSUPP;
	}
	if (data[IFLA_IPTUN_FLAGS] && nla_get_u32(data[IFLA_IPTUN_FLAGS]) & ~NET6_IP6TNL_FLAGS) {
		NL_SET_ERR_MSG(extack, "net6's tunnels have no such flag");
		return -EOPNOTSUPP;
	}
	if (!data[IFLA_IPTUN_PROTO])
		return 0;
	proto = nla_get_u8(data[IFLA_IPTUN_PROTO]);
	return !proto || proto == IPPROTO_IPV6 || proto == IPPROTO_IPIP ? 0 : -EINVAL;
}

/* What the request says beside what @p has. */
static void net6_ip6tnl_read_parms(struct nlattr *data[], struct net6_ip6tnl_parms *p)
{
	if (!data)
		return;
	if (data[IFLA_IPTUN_LINK])
		p->link = nla_get_u32(data[IFLA_IPTUN_LINK]);
	if (data[IFLA_IPTUN_LOCAL])
		p->ends.local = nla_get_in6_addr(data[IFLA_IPTUN_LOCAL]);
	if (data[IFLA_IPTUN_REMOTE])
		p->ends.remote = nla_get_in6_addr(data[IFLA_IPTUN_REMOTE]);
	if (data[IFLA_IPTUN_TTL])
		p->hop_limit = nla_get_u8(data[IFLA_IPTUN_TTL]);
	if (data[IFLA_IPTUN_ENCAP_LIMIT])
		p->encap_limit = nla_get_u8(data[IFLA_IPTUN_ENCAP_LIMIT]);
	if (data[IFLA_IPTUN_FLOWINFO])
		p->flowinfo = nla_get_be32(data[IFLA_IPTUN_FLOWINFO]) & IPV6_FLOWINFO_MASK;
	if (data[IFLA_IPTUN_FLAGS])
		p->flags = nla_get_u32(data[IFLA_IPTUN_FLAGS]);
	if (data[IFLA_IPTUN_PROTO])
		p->proto = nla_get_u8(data[IFLA_IPTUN_PROTO]);
	if (data[IFLA_IPTUN_FWMARK])
		p->mark = nla_get_u32(data[IFLA_IPTUN_FWMARK]);
}

static bool net6_ip6tnl_unicast(const struct in6_addr *addr)
{
	return !(ipv6_addr_type(addr) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LOOPBACK |
					 IPV6_ADDR_MAPPED)) && !ipv6_addr_any(addr);
}

static int net6_ip6tnl_check(struct net6_net *nn, const struct net6_ip6tnl_parms *p,
			     struct netlink_ext_ack *extack)
{
	const struct net6_ip6tnl_parms *other = net6_ip6tnl_find(nn, &p->ends.remote,
								 &p->ends.local);

	if (!net6_ip6tnl_unicast(&p->ends.remote)) {
		NL_SET_ERR_MSG(extack, "the far end must be one host");
		return -EINVAL;
	}
	if (!ipv6_addr_any(&p->ends.local) && !net6_ip6tnl_unicast(&p->ends.local)) {
		NL_SET_ERR_MSG(extack, "the local address must be one host's");
		return -EINVAL;
	}
	if (other && other->tunnel != p->tunnel) {
		NL_SET_ERR_MSG(extack, "there is a tunnel between these ends");
		return -EEXIST;
	}
	return 0;
}

static void net6_ip6tnl_set_addrs(struct net_device *dev, const struct net6_ip6tnl_parms *p)
{
	__dev_addr_set(dev, &p->ends.local, sizeof(p->ends.local));
	memcpy(dev->broadcast, &p->ends.remote, sizeof(p->ends.remote));
}

/* It has its parameters from its registration on, and receives when it is in the table. */
static int net6_ip6tnl_register(struct net_device *dev, struct net6_ip6tnl_parms *p)
{
	struct net6_ip6tnl *t = netdev_priv(dev);
	int err;

	p->gen = ++t->gen;
	rcu_assign_pointer(t->parms, p);
	err = register_netdevice(dev);
	if (err) {
		net6_ip6tnl_free_parms(t);
		return err;
	}
	err = net6_ip6tnl_insert(t);
	if (err)
		unregister_netdevice(dev);
	return err;
}

static int net6_ip6tnl_newlink(NET6_COMPAT_NEWLINK_PARAMS)
{
	struct net6_net *nn = net6_pernet(dev_net(dev));
	struct net6_ip6tnl *t = netdev_priv(dev);
	struct net6_ip6tnl_parms *p;
	int err;

	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	t->dev = dev;
	p->tunnel = t;
	p->hop_limit = NET6_IP6TNL_HOP_LIMIT;
	p->encap_limit = IPV6_DEFAULT_TNL_ENCAP_LIMIT;
	net6_ip6tnl_read_parms(net6_compat_newlink_data, p);
	err = net6_ip6tnl_check(nn, p, extack) ?: net6_ip6tnl_rcv_get();
	if (err) {
		kfree(p);
		return err;
	}
	net6_ip6tnl_set_addrs(dev, p);
	if (!net6_compat_newlink_tb[IFLA_MTU])
		dev->mtu = net6_ip6tnl_path_mtu(nn, p);
	return net6_ip6tnl_register(dev, p);
}

static int net6_ip6tnl_changelink(struct net_device *dev, struct nlattr *tb[],
				  struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct net6_net *nn = net6_pernet(dev_net(dev));
	struct net6_ip6tnl *t = netdev_priv(dev);
	struct net6_ip6tnl_parms *p;
	int err;

	p = kmemdup(rtnl_dereference(t->parms), sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	net6_ip6tnl_read_parms(data, p);
	err = net6_ip6tnl_check(nn, p, extack) ?: net6_ip6tnl_change(t, p);
	if (err) {
		kfree(p);
		return err;
	}
	net6_ip6tnl_set_addrs(dev, p);
	if (!tb[IFLA_MTU])
		dev_set_mtu(dev, net6_ip6tnl_path_mtu(nn, p));
	netdev_state_change(dev);
	return 0;
}

static void net6_ip6tnl_dellink(struct net_device *dev, struct list_head *head)
{
	unregister_netdevice_queue(dev, head);
}

static size_t net6_ip6tnl_get_size(const struct net_device *dev)
{
	return 5 * nla_total_size(sizeof(u32)) + 2 * nla_total_size(sizeof(struct in6_addr)) +
	       3 * nla_total_size(sizeof(u8));
}

static int net6_ip6tnl_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct net6_ip6tnl *t = netdev_priv(dev);
	const struct net6_ip6tnl_parms *p;
	int err;

	rcu_read_lock();
	p = rcu_dereference(t->parms);
	err = nla_put_u32(skb, IFLA_IPTUN_LINK, p->link) ?:
	      nla_put_in6_addr(skb, IFLA_IPTUN_LOCAL, &p->ends.local) ?:
	      nla_put_in6_addr(skb, IFLA_IPTUN_REMOTE, &p->ends.remote) ?:
	      nla_put_u8(skb, IFLA_IPTUN_TTL, p->hop_limit) ?:
	      nla_put_u8(skb, IFLA_IPTUN_ENCAP_LIMIT, p->encap_limit) ?:
	      nla_put_be32(skb, IFLA_IPTUN_FLOWINFO, p->flowinfo) ?:
	      nla_put_u32(skb, IFLA_IPTUN_FLAGS, p->flags) ?:
	      nla_put_u8(skb, IFLA_IPTUN_PROTO, p->proto) ?:
	      nla_put_u32(skb, IFLA_IPTUN_FWMARK, p->mark);
	rcu_read_unlock();
	return err;
}

static struct rtnl_link_ops net6_ip6tnl_link_ops __read_mostly = {
	.kind		= "ip6tnl",
	.maxtype	= IFLA_IPTUN_MAX,
	.policy		= net6_ip6tnl_policy,
	.priv_size	= sizeof(struct net6_ip6tnl),
	.setup		= net6_ip6tnl_setup,
	.validate	= net6_ip6tnl_validate,
	.newlink	= net6_ip6tnl_newlink,
	.changelink	= net6_ip6tnl_changelink,
	.dellink	= net6_ip6tnl_dellink,
	.get_size	= net6_ip6tnl_get_size,
	.fill_info	= net6_ip6tnl_fill_info,
};

static struct net6_link_type net6_ip6tnl_type = {
	.ops	= &net6_rawip_peer_ops,
	.match	= net6_ip6tnl_is,
};

/* Under RTNL or while nobody else runs. */
static bool net6_ip6tnl_ours;

/**
 * net6_ip6tnl_init() - get ready for tunnels over IPv6
 *
 * Where the kernel's module ip6_tunnel is loaded the kind is its own: then there are none of ours.
 * Context: process, sleeps. Return: 0 or -errno.
 */
int net6_ip6tnl_init(void)
{
	int err;

	if (ipv6_mod_enabled())
		return 0;
	err = rtnl_link_register(&net6_ip6tnl_link_ops);
	if (err == -EEXIST) {
		pr_notice("ip6_tunnel is loaded, so there are no tunnels over IPv6\n");
		return 0;
	}
	if (err)
		return err;
	WARN_ON(net6_link_register(&net6_ip6tnl_type));
	net6_ip6tnl_ours = true;
	return 0;
}

/**
 * net6_ip6tnl_exit() - remove all tunnels over IPv6
 *
 * Context: process, sleeps.
 */
void net6_ip6tnl_exit(void)
{
	if (!net6_ip6tnl_ours)
		return;
	rtnl_link_unregister(&net6_ip6tnl_link_ops);
	net6_link_unregister(&net6_ip6tnl_type);
	net6_ip6tnl_rcv_exit();
}
