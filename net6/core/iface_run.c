// SPDX-License-Identifier: GPL-2.0
/* Interfaces [IF]: when one runs, and what starts and stops with it. */
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "../compat/in6.h"
#include "addr.h"
#include "dest.h"
#include "ip.h"
#include "nd.h"

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
	if (iface->dev->flags & IFF_LOOPBACK)
		return true;
	return netif_running(iface->dev) && netif_carrier_ok(iface->dev) &&
	       !test_bit(NET6_IFACE_OWNED, &iface->flags) &&
	       iface->dev->mtu >= NET6_MIN_MTU &&
	       !test_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags) &&
	       !net6_link_asks_native(iface->dev);
}

/**
 * net6_iface_join_allnodes() - be in the groups that each node is in
 * @iface: interface being attached
 *
 * Context: process.
 */
void net6_iface_join_allnodes(struct net6_iface *iface)
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
 * Those that were set by hand are as before without a carrier and on a bridge's port, as on
 * native. Programs go on to talk to their own host by them.
 * Context: RTNL held. Return: true if they can.
 */
bool net6_iface_keeps(const struct net6_iface *iface)
{
	return !net6_iface_refuses(iface) && netif_running(iface->dev) &&
	       iface->dev->mtu >= NET6_MIN_MTU &&
	       !test_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags);
}

/* @addrs, @routes: those that were set by hand go, too. @keep: net6_iface_keeps() */
static void net6_iface_end(struct net6_iface *iface, bool addrs, bool routes, bool keep)
{
	clear_bit(NET6_IFACE_UP, &iface->flags);
	assign_bit(NET6_IFACE_KEPT, &iface->flags, keep);
	net6_addr_iface_down(iface, addrs, keep);
	net6_nd_iface_down(iface, routes);
	spin_lock_bh(&iface->nn->lock);
	net6_mld_iface_down(iface);
	spin_unlock_bh(&iface->nn->lock);
	if (!keep || net6_conf(iface, NET6_PARAM_NDISC_EVICT_NOCARRIER))
		net6_neigh_purge(iface);
	net6_dest_flush(iface->nn);
}

/**
 * net6_iface_stop() - no packets flow any more
 * @iface: interface
 *
 * Context: process, RTNL held; sleeps.
 */
void net6_iface_stop(struct net6_iface *iface)
{
	bool all = net6_iface_forgets_all(iface);

	net6_iface_end(iface, all, all, net6_iface_keeps(iface));
}

/**
 * net6_iface_leave() - no packets flow any more, and what there is of routes is for another table
 * @iface: interface
 *
 * Context: process, RTNL held; sleeps.
 */
void net6_iface_leave(struct net6_iface *iface)
{
	net6_iface_end(iface, net6_conf(iface, NET6_PARAM_KEEP_ADDR_ON_DOWN) <= 0, true, false);
}

/* ipvlan waits for this before it changes its mode: nobody is sending there any more. */
static void net6_iface_stop_sending(struct net6_iface *iface)
{
	net6_iface_stop(iface);
	if (net6_link_is_ipvlan(iface->dev))
		synchronize_net();
}

/**
 * net6_iface_follow() - bring an interface to the state that its device is in
 * @iface: interface, attached
 *
 * Context: process, RTNL held; sleeps.
 */
void net6_iface_follow(struct net6_iface *iface)
{
	bool run;

	ASSERT_RTNL();
	if (!netif_running(iface->dev))
		clear_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags);
	run = net6_iface_may_run(iface);
	if (run && !net6_iface_usable(iface))
		net6_iface_start(iface);
	else if (!run && net6_iface_usable(iface))
		net6_iface_stop_sending(iface);
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
