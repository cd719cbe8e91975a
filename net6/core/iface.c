// SPDX-License-Identifier: GPL-2.0
/* Interfaces [IF]: made and unmade as devices come and go, change namespace, MTU,
 * address or carrier. One per device that a link is known for and that belongs to no
 * other device, and the pseudo-loopback.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/moduleparam.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "../link/ethernet.h"
#include "../link/rawip.h"
#include "addr.h"
#include "dest.h"
#include "ip.h"
#include "loopback.h"
#include "nd.h"
#include "nfhook.h"
#include "proxy.h"

static char *attach = "auto";
module_param(attach, charp, 0444);
MODULE_PARM_DESC(attach, "auto: every device that can carry IPv6 (default); manual: as net6ctl says");

static bool net6_attach_auto __read_mostly;

/* The module is being unloaded: no device gets an interface any more. Under RTNL. */
static bool net6_iface_stopped;

static struct hlist_head *net6_iface_bucket(struct net6_net *nn, int ifindex)
{
	return &nn->iface_hash[hash_32(ifindex, NET6_IFACE_HASH_BITS)];
}

/**
 * net6_iface_find() - an interface by its index
 * @nn: namespace
 * @ifindex: index
 *
 * Context: RCU read lock or RTNL held. Return: borrowed interface or NULL.
 */
struct net6_iface *net6_iface_find(struct net6_net *nn, int ifindex)
{
	struct net6_iface *iface;

	hlist_for_each_entry_rcu(iface, net6_iface_bucket(nn, ifindex), hash_node,
				 lockdep_rtnl_is_held())
		if (iface->ifindex == ifindex)
			return iface;
	return NULL;
}

/**
 * net6_iface_first_multicast() - the default interface for packets to groups
 * @nn: namespace
 *
 * Context: RCU read lock held. Return: borrowed interface, usable and not the loopback, or NULL.
 */
struct net6_iface *net6_iface_first_multicast(struct net6_net *nn)
{
	struct net6_iface *iface;

	list_for_each_entry_rcu(iface, &nn->ifaces, list)
		if (net6_iface_usable(iface) && (iface->ops->flags & NET6_LINK_MULTICAST) &&
		    !net6_iface_is_loopback(iface))
			return iface;
	return NULL;
}

/**
 * net6_iface_get() - add a reference
 * @iface: found under the RCU read lock that is held, or referenced
 *
 * Context: any. Return: @iface.
 */
struct net6_iface *net6_iface_get(struct net6_iface *iface)
{
	refcount_inc(&iface->ref);
	return iface;
}

static void net6_iface_free(struct net6_iface *iface)
{
	free_percpu(iface->mib);
	kfree(iface);
}

static void net6_iface_free_rcu(struct rcu_head *rcu)
{
	net6_iface_free(container_of(rcu, struct net6_iface, rcu));
}

/**
 * net6_iface_put() - give a reference back
 * @iface: interface
 *
 * Context: any.
 */
void net6_iface_put(struct net6_iface *iface)
{
	if (refcount_dec_and_test(&iface->ref))
		call_rcu(&iface->rcu, net6_iface_free_rcu);
}

/**
 * net6_iface_set_mtu() - the MTU that follows from device and routers
 * @iface: interface
 *
 * Context: nn->lock held.
 */
void net6_iface_set_mtu(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	u32 mtu = iface->dev->mtu;

	lockdep_assert_held(&iface->nn->lock);
	if (iface->ra_mtu && iface->ra_mtu < mtu)
		mtu = iface->ra_mtu;
	mtu = max_t(u32, mtu, NET6_MIN_MTU);
	if (mtu == iface->mtu)
		return;
	WRITE_ONCE(iface->mtu, mtu);
	net6_dest_flush(iface->nn);
}

/* RFC 8200 section 5: a link that cannot carry 1280 bytes carries no IPv6. */
static bool net6_iface_may_run(const struct net6_iface *iface)
{
	if (test_bit(NET6_IFACE_DISABLED, &iface->flags))
		return false;
	if (net6_iface_is_loopback(iface))
		return true;
	return netif_running(iface->dev) && netif_carrier_ok(iface->dev) &&
	       iface->dev->mtu >= NET6_MIN_MTU &&
	       !test_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags);
}

static void net6_iface_join_allnodes(struct net6_iface *iface)
{
	/* RFC 4291 2.8: what a host is required to recognise */
	if (net6_group_join(iface, &in6addr_interfacelocal_allnodes) ||
	    net6_group_join(iface, &in6addr_linklocal_allnodes))
		netdev_warn(iface->dev, "net6: cannot join the all-nodes groups\n");
}

static void net6_iface_start(struct net6_iface *iface)
{
	net6_iface_room(iface);
	set_bit(NET6_IFACE_UP, &iface->flags);
	clear_bit(NET6_IFACE_KEPT, &iface->flags);
	spin_lock_bh(&iface->nn->lock);
	net6_iface_set_mtu(iface);	/* tunnels change it without a word while they are down */
	net6_mld_announce(iface);
	spin_unlock_bh(&iface->nn->lock);
	net6_addr_iface_up(iface);
	net6_nd_iface_up(iface);
	if (iface->ops->started)
		iface->ops->started(iface);
	net6_dest_flush(iface->nn);
}

/* Does what was set by hand go as well? Not when only the carrier is lost. */
static bool net6_iface_forgets_all(const struct net6_iface *iface)
{
	return net6_iface_refuses(iface) ||
	       (!net6_iface_is_loopback(iface) && !netif_running(iface->dev) &&
		net6_conf(iface, NET6_PARAM_KEEP_ADDR_ON_DOWN) <= 0);
}

/**
 * net6_iface_keeps() - can addresses be ours though no packets flow?
 * @iface: interface
 *
 * Without a carrier alone those that were set by hand are as before, as on native. Programs go on
 * to talk to their own host by them. Context: RTNL held. Return: true if they can.
 */
bool net6_iface_keeps(const struct net6_iface *iface)
{
	return !net6_iface_refuses(iface) && netif_running(iface->dev) &&
	       iface->dev->mtu >= NET6_MIN_MTU &&
	       !test_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags);
}

static void net6_iface_stop(struct net6_iface *iface)
{
	bool all = net6_iface_forgets_all(iface);
	bool keep = net6_iface_keeps(iface);

	clear_bit(NET6_IFACE_UP, &iface->flags);
	assign_bit(NET6_IFACE_KEPT, &iface->flags, keep);
	net6_addr_iface_down(iface, all, keep);
	net6_nd_iface_down(iface, all);
	spin_lock_bh(&iface->nn->lock);
	net6_mld_iface_down(iface);
	spin_unlock_bh(&iface->nn->lock);
	net6_neigh_purge(iface);
	net6_dest_flush(iface->nn);
}

/* Bring the interface to the state that its device is in. */
static void net6_iface_follow(struct net6_iface *iface)
{
	bool run;

	ASSERT_RTNL();
	if (!netif_running(iface->dev))
		clear_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags);
	run = net6_iface_may_run(iface);
	if (run && !net6_iface_usable(iface))
		net6_iface_start(iface);
	else if (!run && net6_iface_usable(iface))
		net6_iface_stop(iface);
	else if (!run && net6_iface_keeps(iface))
		set_bit(NET6_IFACE_KEPT, &iface->flags);
	else if (test_bit(NET6_IFACE_KEPT, &iface->flags))
		net6_iface_stop(iface);
}

/**
 * net6_iface_set_disabled() - the administrator switches IPv6 off, or on again
 * @iface: interface
 * @disabled: off: nothing new is taken; what there is goes with net6_iface_settle()
 *
 * On is also the end of what net6_iface_not_unique() has done. Context: nn->lock held.
 */
void net6_iface_set_disabled(struct net6_iface *iface, bool disabled)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	assign_bit(NET6_IFACE_DISABLED, &iface->flags, disabled);
	if (!disabled)
		clear_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags);
}

/**
 * net6_iface_settle() - what a change of parameters asks for, beyond nn->lock
 * @iface: interface, attached
 *
 * Context: process, RTNL held; sleeps.
 */
void net6_iface_settle(struct net6_iface *iface)
{
	/* Also of a device that is down: its addresses go. */
	if (test_bit(NET6_IFACE_DISABLED, &iface->flags))
		net6_iface_stop(iface);
	else
		net6_iface_follow(iface);
}

/* Links that others bring, the tunnels among them. Under RTNL. */
static LIST_HEAD(net6_link_types);

static bool net6_link_match_loopback(const struct net_device *dev)
{
	return dev->flags & IFF_LOOPBACK;
}

/* Links that are built in. The first one that matches is a device's. */
static const struct net6_link_type net6_link_built_in[] = {
	{ .ops = &net6_loopback_ops,		.match = net6_link_match_loopback },
	{ .ops = &net6_ethernet_ops,		.match = net6_ethernet_match },
	{ .ops = &net6_rawip_ppp_ops,		.match = net6_rawip_match_ppp },
	{ .ops = &net6_rawip_wireguard_ops,	.match = net6_rawip_match_wireguard },
	{ .ops = &net6_rawip_peer_ops,		.match = net6_rawip_match_peer },
	{ .ops = &net6_rawip_ops,		.match = net6_rawip_match },
};

static const struct net6_link_ops *net6_iface_link(const struct net_device *dev)
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

static struct net6_iface *net6_iface_alloc(struct net6_net *nn, struct net_device *dev,
					   const struct net6_link_ops *ops)
{
	struct net6_iface *iface = kzalloc(sizeof(*iface), GFP_KERNEL_ACCOUNT);

	if (!iface)
		return NULL;
	if (static_branch_unlikely(&net6_iface_mib_on)) {
		iface->mib = alloc_percpu_gfp(struct net6_iface_mib, GFP_KERNEL_ACCOUNT);
		if (!iface->mib) {
			kfree(iface);
			return NULL;
		}
	}
	iface->nn = nn;
	iface->dev = dev;
	iface->ops = ops;
	iface->ifindex = dev->ifindex;
	iface->mtu = max_t(u32, dev->mtu, NET6_MIN_MTU);
	net6_iface_room(iface);
	memcpy(iface->lladdr, dev->dev_addr, ops->addr_len);
	INIT_LIST_HEAD(&iface->addrs);
	INIT_LIST_HEAD(&iface->formed);
	INIT_LIST_HEAD(&iface->prefixes);
	INIT_LIST_HEAD(&iface->routers);
	INIT_LIST_HEAD(&iface->routes);
	INIT_LIST_HEAD(&iface->groups);
	INIT_LIST_HEAD(&iface->unicast);
	INIT_LIST_HEAD(&iface->anycast);
	refcount_set(&iface->ref, 1);
	net6_nd_timers_init(iface);
	net6_mld_iface_init(iface);
	net6_answer_iface_init(iface);
	net6_param_iface_init(iface);
	return iface;
}

/* Such a device is net6's alone. */
static bool net6_iface_private(const struct net6_link_ops *ops)
{
	return ops->flags & (NET6_LINK_OWN | NET6_LINK_DIRECT);
}

static void net6_iface_keep_native_off(struct net_device *dev)
{
	struct inet6_dev *native = __in6_dev_get(dev);

	if (native)
		WRITE_ONCE(native->cnf.disable_ipv6, 1);
}

/**
 * net6_iface_attach() - give a device an IPv6 interface
 * @dev: device
 *
 * Context: process, RTNL held; sleeps.
 * Return: 0, -EEXIST, -EOPNOTSUPP (no link layer for it), -EBUSY (it belongs to
 * another device: attach that), -ENODEV (the link layer's module is going), -ENOMEM,
 * or why the hook could not be set.
 */
int net6_iface_attach(struct net_device *dev)
{
	const struct net6_link_ops *ops = net6_iface_link(dev);
	struct net6_net *nn = net6_pernet(dev_net(dev));
	struct net6_iface *iface;
	int err;

	ASSERT_RTNL();
	if (net6_iface_find(nn, dev->ifindex))
		return -EEXIST;
	if (!ops)
		return -EOPNOTSUPP;
	/* What a kernel's tunnel answers goes to native's icmp6_send(), unless it is diverted. */
	if ((ops->flags & NET6_LINK_RAW) && !ipv6_mod_enabled() &&
	    !static_key_enabled(&net6_nf_key))
		return -EOPNOTSUPP;
	if (netdev_master_upper_dev_get(dev) || rtnl_dereference(dev->rx_handler))
		return -EBUSY;
	if (!try_module_get(ops->owner))
		return -ENODEV;
	err = -ENOMEM;
	iface = net6_iface_alloc(nn, dev, ops);
	if (!iface)
		goto err_module;
	err = net6_neigh_iface_init(iface);
	if (err)
		goto err_free;
	err = net6_nf_iface_init(iface);
	if (err)
		goto err_neigh;
	if (!net6_iface_is_loopback(iface)) {
		err = net6_hook_register(iface);
		if (err)
			goto err_nf;
	}

	if (net6_iface_private(ops))
		net6_iface_keep_native_off(dev);
	netdev_hold(dev, &iface->dev_tracker, GFP_KERNEL);
	hlist_add_head_rcu(&iface->hash_node, net6_iface_bucket(nn, iface->ifindex));
	list_add_tail_rcu(&iface->list, &nn->ifaces);
	if (net6_iface_is_loopback(iface))
		WRITE_ONCE(nn->loopback, iface);
	net6_iface_join_allnodes(iface);
	net6_param_iface_attached(iface);
	net6_iface_follow(iface);
	net6_iface_tell_attached(iface);
	return 0;

err_nf:
	net6_nf_iface_exit(iface);
err_neigh:
	net6_neigh_iface_exit(iface);
err_free:
	net6_iface_free(iface);
err_module:
	module_put(ops->owner);
	return err;
}

/**
 * net6_iface_detach() - take a device's interface away
 * @dev: device; nothing happens if it has none
 *
 * When this returns no code of net6 uses the device; entries that others still hold
 * keep the interface's memory, nothing else.
 * Context: process, RTNL held; sleeps.
 */
void net6_iface_detach(struct net_device *dev)
{
	struct net6_net *nn = net6_pernet(dev_net(dev));
	struct net6_iface *iface = net6_iface_find(nn, dev->ifindex);

	ASSERT_RTNL();
	if (!iface)
		return;
	/* Under the lock, so that who has seen the interface alive under it is done. */
	spin_lock_bh(&nn->lock);
	set_bit(NET6_IFACE_DEAD, &iface->flags);
	spin_unlock_bh(&nn->lock);
	net6_iface_tell_detached(iface);
	net6_hook_unregister(iface);
	hlist_del_rcu(&iface->hash_node);
	list_del_rcu(&iface->list);
	if (nn->loopback == iface)
		WRITE_ONCE(nn->loopback, NULL);

	net6_iface_stop(iface);
	spin_lock_bh(&nn->lock);
	net6_proxy_leave_all(iface);
	net6_anycast_leave_all(iface);
	net6_group_leave_all(iface);
	spin_unlock_bh(&nn->lock);
	net6_nd_timers_stop(iface);
	net6_answer_iface_exit(iface);
	net6_mld_iface_exit(iface);
	net6_dest_iface_gone(iface);
	net6_loopback_purge(iface);	/* who queues looks under the queue's lock */
	synchronize_net();

	net6_neigh_iface_exit(iface);
	net6_nf_iface_exit(iface);
	netdev_put(dev, &iface->dev_tracker);
	module_put(iface->ops->owner);
	net6_iface_put(iface);
}

/* Does such a device get an interface unasked? Beside native IPv6 a raw one does not: what talks
 * there is native's affair until somebody says otherwise.
 */
static bool net6_iface_unasked(const struct net_device *dev, const struct net6_link_ops *ops)
{
	if ((dev->flags & IFF_LOOPBACK) || net6_iface_private(ops))
		return true;
	return net6_attach_auto && !((ops->flags & NET6_LINK_RAW) && ipv6_mod_enabled());
}

/* Attach what is to have an interface and has none, detach what may not. */
static void net6_iface_consider(struct net_device *dev)
{
	struct net6_net *nn = net6_pernet(dev_net(dev));
	struct net6_iface *iface = net6_iface_find(nn, dev->ifindex);
	const struct net6_link_ops *ops = net6_iface_link(dev);
	bool owned = netdev_master_upper_dev_get(dev) || rtnl_dereference(dev->rx_handler);
	int err;

	if (iface && owned) {
		net6_iface_detach(dev);
		return;
	}
	if (iface || owned || !ops || dev->reg_state != NETREG_REGISTERED)
		return;
	if (!net6_iface_unasked(dev, ops))
		return;
	err = net6_iface_attach(dev);
	if (err)
		netdev_warn(dev, "net6: no interface for this device: error %d\n", err);
}

/* A device that stops to belong to another one says so before it is free of it. macvlan and
 * others take their receive handler back later. It is looked at again when RTNL is released. News
 * about interfaces from softirqs wait for RTNL, too.
 */
static void net6_iface_rescan(struct work_struct *work)
{
	struct net6_net *nn = container_of(work, struct net6_net, rescan);
	struct net6_iface *iface;
	struct net_device *dev;

	rtnl_lock();
	if (!READ_ONCE(nn->exiting) && !net6_iface_stopped) {
		for_each_netdev(nn->net, dev)
			net6_iface_consider(dev);
		list_for_each_entry(iface, &nn->ifaces, list)
			net6_iface_follow(iface);
	}
	rtnl_unlock();
}

/**
 * net6_iface_not_unique() - the hardware address is another node's, too
 * @iface: interface
 *
 * RFC 4862 5.4.5: "IP operation on the interface SHOULD be disabled": until the device has been
 * down, or has another address.
 * Context: any, nn->lock held, which keeps the interface from going.
 */
void net6_iface_not_unique(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_net *nn = iface->nn;

	lockdep_assert_held(&nn->lock);
	if (test_bit(NET6_IFACE_DEAD, &iface->flags) ||
	    test_and_set_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags))
		return;
	net_warn_ratelimited("%s: the hardware address is in use by another node: IPv6 is off\n",
			     iface->dev->name);
	queue_work(nn->wq, &nn->rescan);
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

void net6_link_unregister(struct net6_link_type *type)
{
	struct net6_iface *iface;
	struct net_device *dev;
	struct net *net;

	/* A namespace that is being removed is in no list any more but may still have
	 * interfaces: the lock is had when it is gone.
	 */
	down_write(&pernet_ops_rwsem);
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
	up_write(&pernet_ops_rwsem);
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

/* RFC 4861 7.2.6: neighbors learn the new address when they probe the old one, or are told. */
static void net6_iface_new_lladdr(struct net6_iface *iface)
{
	memcpy(iface->lladdr, iface->dev->dev_addr, iface->ops->addr_len);
	net6_neigh_flush(iface);
	clear_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags);
	net6_iface_follow(iface);
	if (READ_ONCE(iface->ndisc_notify))
		net6_nd_announce(iface);
}

/* A bond sends by another port now. Switches that snoop there have not heard of our groups. */
static void net6_iface_tell_groups(struct net6_iface *iface)
{
	if (!net6_iface_usable(iface))
		return;
	spin_lock_bh(&iface->nn->lock);
	net6_mld_announce(iface);
	spin_unlock_bh(&iface->nn->lock);
}

static void net6_iface_new_mtu(struct net6_iface *iface)
{
	spin_lock_bh(&iface->nn->lock);
	net6_iface_set_mtu(iface);
	spin_unlock_bh(&iface->nn->lock);
	net6_iface_follow(iface);
}

static int net6_iface_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct net6_net *nn = net6_pernet(dev_net(dev));
	struct net6_iface *iface;

	switch (event) {
	case NETDEV_REGISTER:
		net6_iface_consider(dev);
		return NOTIFY_DONE;
	case NETDEV_UNREGISTER:
		net6_iface_detach(dev);
		return NOTIFY_DONE;
	case NETDEV_CHANGEUPPER:
		net6_iface_consider(dev);
		queue_work(nn->wq, &nn->rescan);
		return NOTIFY_DONE;
	}

	iface = net6_iface_find(nn, dev->ifindex);
	if (!iface)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		net6_iface_follow(iface);
		break;
	case NETDEV_CHANGEMTU:
		net6_iface_new_mtu(iface);
		break;
	case NETDEV_CHANGEADDR:
		net6_iface_new_lladdr(iface);
		break;
	case NETDEV_NOTIFY_PEERS:
		net6_nd_announce(iface);
		break;
	case NETDEV_RESEND_IGMP:
		net6_iface_tell_groups(iface);
		break;
	case NETDEV_CHANGENAME:
		net6_iface_tell_detached(iface);
		net6_iface_tell_attached(iface);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block net6_iface_notifier = {
	.notifier_call	= net6_iface_event,
};

/**
 * net6_iface_net_init() - a namespace without interfaces
 * @nn: namespace
 *
 * Its devices are reported by the notifier: lo comes later than this.
 * Context: process. Return: 0.
 */
int net6_iface_net_init(struct net6_net *nn)
{
	net6_param_net_init(nn);
	INIT_WORK(&nn->rescan, net6_iface_rescan);
	return 0;
}

/**
 * net6_iface_net_exit() - end of a namespace whose devices are gone
 * @nn: namespace, exiting set
 *
 * Context: process, RTNL not held; sleeps.
 */
void net6_iface_net_exit(struct net6_net *nn)
{
	cancel_work_sync(&nn->rescan);
	WARN_ON_ONCE(!list_empty(&nn->ifaces));
}

/**
 * net6_iface_init() - interfaces for all devices that there are and will be
 *
 * Context: process; sleeps. Return: 0, -EINVAL (parameter attach), or -errno.
 */
int net6_iface_init(void)
{
	int err;

	net6_attach_auto = !strcmp(attach, "auto");
	if (!net6_attach_auto && strcmp(attach, "manual")) {
		pr_err("attach=%s: neither auto nor manual\n", attach);
		return -EINVAL;
	}
	if (!ipv6_mod_enabled())
		static_branch_enable(&net6_iface_mib_on);
	err = net6_loopback_init();
	if (err)
		return err;
	err = register_netdevice_notifier(&net6_iface_notifier);
	if (err)
		net6_loopback_exit();
	return err;
}

/**
 * net6_iface_exit() - all interfaces go
 *
 * Unregistering replays NETDEV_UNREGISTER for every device.
 * Context: process; sleeps.
 */
void net6_iface_exit(void)
{
	/* A rescan that still waits for RTNL finds nothing to do. */
	rtnl_lock();
	net6_iface_stopped = true;
	rtnl_unlock();
	unregister_netdevice_notifier(&net6_iface_notifier);
	net6_loopback_exit();
}
