// SPDX-License-Identifier: GPL-2.0
/* Links: which one a device has, and the doors of include/net6/link.h for those that other modules
 * bring.
 */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "../link/ethernet.h"
#include "../link/rawip.h"
#include "ip.h"
#include "loopback.h"
#include "vrf.h"

/* Links that others bring, the tunnels among them. Under RTNL. */
static LIST_HEAD(net6_link_types);

static bool net6_link_match_loopback(const struct net_device *dev)
{
	return dev->flags & IFF_LOOPBACK;
}

static bool net6_link_match_vrf(const struct net_device *dev)
{
	return netif_is_l3_master(dev);
}

/* Links that are built in. The first one that matches is a device's. */
static const struct net6_link_type net6_link_built_in[] = {
	{ .ops = &net6_loopback_ops,		.match = net6_link_match_loopback },
	{ .ops = &net6_vrf_ops,			.match = net6_link_match_vrf },
	{ .ops = &net6_ethernet_ops,		.match = net6_ethernet_match },
	{ .ops = &net6_rawip_ppp_ops,		.match = net6_rawip_match_ppp },
	{ .ops = &net6_rawip_wireguard_ops,	.match = net6_rawip_match_wireguard },
	{ .ops = &net6_rawip_peer_ops,		.match = net6_rawip_match_peer },
	{ .ops = &net6_rawip_ops,		.match = net6_rawip_match },
};

/**
 * net6_link_of() - the link that a device has
 * @dev: device
 *
 * Context: RTNL held. Return: NULL if there is none for it.
 */
const struct net6_link_ops *net6_link_of(const struct net_device *dev)
{
	const struct net6_link_type *type;
	size_t i;

	list_for_each_entry(type, &net6_link_types, list)
		if (type->match(dev))
			return type->ops;
	for (i = 0; i < ARRAY_SIZE(net6_link_built_in); i++)
		if (net6_link_built_in[i].match(dev))
			return net6_link_built_in[i].ops;
	return NULL;
}

/**
 * net6_link_is_ipvlan() - is it a device of ipvlan's, or ipvtap's?
 * @dev: device
 *
 * Context: any.
 */
bool net6_link_is_ipvlan(const struct net_device *dev)
{
	return dev->rtnl_link_ops && (!strcmp(dev->rtnl_link_ops->kind, "ipvlan") ||
				      !strcmp(dev->rtnl_link_ops->kind, "ipvtap"));
}

/* The mode of a device of ipvlan's: it tells programs only. */
static int net6_link_ipvlan_mode(const struct net_device *dev)
{
	struct sk_buff *skb = alloc_skb(NLMSG_GOODSIZE, GFP_KERNEL);
	const struct nlattr *mode;
	int ret = -ENOMEM;

	if (!skb)
		return ret;
	ret = dev->rtnl_link_ops->fill_info(skb, dev);
	if (!ret) {
		mode = nla_find((struct nlattr *)skb->data, skb->len, IFLA_IPVLAN_MODE);
		ret = mode ? nla_get_u16(mode) : -EOPNOTSUPP;
	}
	kfree_skb(skb);
	return ret;
}

/**
 * net6_link_asks_native() - does a device ask native's routing table where there is none?
 * @dev: device that net6_link_of() has a link for
 *
 * ipvlan does in modes l3 and l3s, and the kernel would not survive it. When it is about to change
 * its mode it has told so by IFF_NOARP only.
 * Context: process, RTNL held; sleeps.
 */
bool net6_link_asks_native(const struct net_device *dev)
{
	ASSERT_RTNL();
	return !ipv6_mod_enabled() && net6_link_is_ipvlan(dev) &&
	       ((dev->flags & IFF_NOARP) || net6_link_ipvlan_mode(dev) != IPVLAN_MODE_L2);
}

static bool net6_link_valid(const struct net6_link_type *type)
{
	const struct net6_link_ops *ops = type->ops;

	if (!type->match || !ops || !ops->name || !ops->send || !ops->set_multicast ||
	    !ops->make_iid || !ops->map_multicast || !ops->read_lladdr_option ||
	    !ops->write_lladdr_option)
		return false;
	if (ops->addr_len > MAX_ADDR_LEN || ops->header_len > NET6_LINK_HEADER_MAX)
		return false;
	if (ops->fill_header && !ops->header_len)
		return false;
	/* Resolution needs groups to ask in and addresses to answer with. */
	return !(ops->flags & NET6_LINK_ND) ||
	       ((ops->flags & NET6_LINK_MULTICAST) && ops->addr_len);
}

int net6_link_register(struct net6_link_type *type)
{
	struct net_device *dev;
	struct net *net;

	if (!net6_link_valid(type))
		return -EINVAL;
	rtnl_lock();
	list_add_tail(&type->list, &net6_link_types);
	down_read(&net_rwsem);
	for_each_net(net)
		for_each_netdev(net, dev)
			if (!READ_ONCE(net6_pernet(net)->exiting) && type->match(dev))
				net6_iface_consider(dev);
	up_read(&net_rwsem);
	rtnl_unlock();
	return 0;
}
EXPORT_SYMBOL_GPL(net6_link_register);

static void net6_link_unregister_still(void *arg)
{
	struct net6_link_type *type = arg;
	struct net6_iface *iface;
	struct net_device *dev;
	struct net *net;

	rtnl_lock();
	list_del(&type->list);
	for_each_net(net) {
		for_each_netdev(net, dev) {
			iface = net6_iface_find(net6_pernet(net), dev->ifindex);
			if (iface && iface->ops == type->ops)
				net6_iface_detach(dev);
		}
	}
	rtnl_unlock();
}

void net6_link_unregister(struct net6_link_type *type)
{
	net6_iface_still(net6_link_unregister_still, type);
}
EXPORT_SYMBOL_GPL(net6_link_unregister);

struct net6_iface *net6_link_iface(const struct net_device *dev)
{
	return net6_iface_find(net6_pernet(dev_net(dev)), dev->ifindex);
}
EXPORT_SYMBOL_GPL(net6_link_iface);

struct net_device *net6_link_dev(const struct net6_iface *iface)
{
	return iface->dev;
}
EXPORT_SYMBOL_GPL(net6_link_dev);

const u8 *net6_link_addr(const struct net6_iface *iface)
{
	return iface->lladdr;
}
EXPORT_SYMBOL_GPL(net6_link_addr);

void net6_link_no_memory(struct net6_iface *iface, struct sk_buff *skb)
{
	net6_drop(iface->nn, skb, NET6_DROP_NO_MEMORY);
}
EXPORT_SYMBOL_GPL(net6_link_no_memory);
