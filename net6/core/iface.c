// SPDX-License-Identifier: GPL-2.0
/* Interfaces [IF]: made and unmade as devices come and go, change namespace, MTU,
 * address or carrier. One per device that a link is known for (link.c), and the pseudo-loopback.
 * That of a device whose frames belong to another one does not run. When one runs: iface_run.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/moduleparam.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "addr.h"
#include "addr_chain.h"
#include "dest.h"
#include "ip.h"
#include "l3mdev.h"
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
	INIT_LIST_HEAD(&iface->pref64s);
	INIT_LIST_HEAD(&iface->routers);
	INIT_LIST_HEAD(&iface->routes);
	iface->ends = RB_ROOT_CACHED;
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

/* Do its frames belong to another device? Those of a bridge's or a bond's port do, those of a VRF's
 * not. On a device that macvlan, ipvlan or macsec uses a packet handler sees what they leave, but
 * an ingress hook sees what is for them.
 */
static bool net6_iface_is_owned(struct net_device *dev)
{
	return (netdev_master_upper_dev_get(dev) && !netif_is_l3_slave(dev)) ||
	       (ipv6_mod_enabled() && rtnl_dereference(dev->rx_handler));
}

/**
 * net6_iface_attach() - give a device an IPv6 interface
 * @dev: device
 *
 * Context: process, RTNL held; sleeps.
 * Return: 0, -EEXIST, -EOPNOTSUPP (no link layer for it), -ENODEV (the link layer's module is
 * going), -ENOMEM, or why the hook could not be set.
 */
int net6_iface_attach(struct net_device *dev)
{
	const struct net6_link_ops *ops = net6_link_of(dev);
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
	err = net6_l3mdev_port_attach(iface);
	if (err)
		goto err_nf;
	if (net6_iface_is_owned(dev)) {
		set_bit(NET6_IFACE_OWNED, &iface->flags);
	} else if (!net6_iface_is_loopback(iface)) {
		err = net6_hook_register(iface);
		if (err)
			goto err_l3mdev;
	}
	err = net6_iface_find_add(iface);
	if (err)
		goto err_hook;

	if (net6_iface_private(ops))
		net6_iface_keep_native_off(dev);
	netdev_hold(dev, &iface->dev_tracker, GFP_KERNEL);
	list_add_tail_rcu(&iface->list, &nn->ifaces);
	if (dev->flags & IFF_LOOPBACK)
		WRITE_ONCE(nn->loopback, iface);
	net6_iface_join_allnodes(iface);
	net6_param_iface_attached(iface);
	net6_iface_follow(iface);
	net6_iface_tell_attached(iface);
	return 0;

err_hook:
	net6_hook_unregister(iface);
	synchronize_net();
err_l3mdev:
	net6_l3mdev_port_detach(iface);
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
	net6_iface_find_del(iface);
	list_del_rcu(&iface->list);
	if (nn->loopback == iface)
		WRITE_ONCE(nn->loopback, NULL);

	net6_iface_stop(iface);
	net6_addr_chain_run(nn);
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

	net6_l3mdev_port_detach(iface);
	net6_neigh_iface_exit(iface);
	net6_nf_iface_exit(iface);
	netdev_put(dev, &iface->dev_tracker);
	module_put(iface->ops->owner);
	net6_iface_put(iface);
}

/* A bridge takes or leaves the device. The interface keeps parameters and what was set by hand. */
static int net6_iface_set_owned(struct net6_iface *iface, bool owned)
{
	int err;

	if (owned == test_bit(NET6_IFACE_OWNED, &iface->flags) || net6_iface_is_loopback(iface))
		return 0;
	if (owned) {
		net6_hook_unregister(iface);
		set_bit(NET6_IFACE_OWNED, &iface->flags);
		net6_iface_follow(iface);
		synchronize_net();		/* the hook may be registered again */
		return 0;
	}
	err = net6_hook_register(iface);
	if (err)
		return err;
	clear_bit(NET6_IFACE_OWNED, &iface->flags);
	net6_iface_follow(iface);
	return 0;
}

/* A VRF takes or leaves the device. As on native its routes go, and addresses stay if
 * keep_addr_on_down says so.
 */
static int net6_iface_set_l3mdev(struct net6_iface *iface)
{
	int err;

	net6_iface_leave(iface);
	err = net6_l3mdev_port_move(iface);
	if (err) {
		net6_iface_set_owned(iface, true);
		return err;
	}
	spin_lock_bh(&iface->nn->lock);
	net6_addr_onlink_again(iface);
	spin_unlock_bh(&iface->nn->lock);
	net6_addr_chain_run(iface->nn);
	net6_dest_flush(iface->nn);
	net6_iface_follow(iface);
	return 0;
}

/* Another device has taken its device, or has let it go. */
static int net6_iface_follow_upper(struct net6_iface *iface)
{
	int err = net6_l3mdev_port_changed(iface) ? net6_iface_set_l3mdev(iface) : 0;

	return err ?: net6_iface_set_owned(iface, net6_iface_is_owned(iface->dev));
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

/**
 * net6_iface_consider() - a device is new, or its frames may belong to another one than before
 * @dev: device
 *
 * Context: process, RTNL held; sleeps.
 */
void net6_iface_consider(struct net_device *dev)
{
	struct net6_net *nn = net6_pernet(dev_net(dev));
	struct net6_iface *iface = net6_iface_find(nn, dev->ifindex);
	const struct net6_link_ops *ops = net6_link_of(dev);
	int err;

	if (iface)
		err = net6_iface_follow_upper(iface);
	else if (ops && dev->reg_state == NETREG_REGISTERED && net6_iface_unasked(dev, ops))
		err = net6_iface_attach(dev);
	else
		return;
	/* Whoever has a user namespace makes as many devices as he likes. */
	if (err && net_ratelimit())
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
	const struct netdev_notifier_change_info *change;
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
		net6_iface_follow(iface);
		break;
	case NETDEV_CHANGE:
		net6_iface_follow(iface);
		change = ptr;
		if (change->flags_changed & IFF_NOARP)
			net6_neigh_flush(iface);
		/* It says so before its mode is another one. */
		if (net6_link_is_ipvlan(dev))
			queue_work(nn->wq, &nn->rescan);
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
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_iface_net_init(struct net6_net *nn)
{
	net6_param_net_init(nn);
	INIT_WORK(&nn->rescan, net6_iface_rescan);
	return net6_iface_find_net_init(nn);
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
