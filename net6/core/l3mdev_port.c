// SPDX-License-Identifier: GPL-2.0
/* VRFs: interfaces that come to one or leave it. The device of a VRF has an interface as lo has:
 * packets to addresses of the VRF come up there.
 */
#include <linux/rtnetlink.h>
#include <net/l3mdev.h>

#include "addr.h"
#include "l3mdev.h"

/* RTNL held. In the table of @id from now on, of the VRF whose device has @index, or of none. */
static int net6_l3mdev_port_enter(struct net6_iface *iface, int index, u32 id)
{
	struct net6_table *table, *old = iface->table;
	struct net6_net *nn = iface->nn;

	spin_lock_bh(&nn->lock);
	table = net6_table_get(nn, id);
	if (IS_ERR(table)) {
		spin_unlock_bh(&nn->lock);
		return PTR_ERR(table);
	}
	if (index && !iface->l3mdev)
		nn->rules.l3mdevs++;
	else if (!index && iface->l3mdev)
		nn->rules.l3mdevs--;
	WRITE_ONCE(iface->l3mdev, index);
	/* Readers find it complete. */
	smp_store_release(&iface->table, table);
	net6_accept_move(iface);
	net6_table_put(nn, old);
	spin_unlock_bh(&nn->lock);
	return 0;
}

/* RTNL held. What a change means beyond the interface. Rules are looked at from now on, and as long
 * as they are others than those without VRFs, which the next change of them finds out.
 */
static void net6_l3mdev_port_settle(struct net6_iface *iface, int old)
{
	if (iface->l3mdev)
		WRITE_ONCE(iface->nn->rules.on, true);
	if (iface->l3mdev && !old)
		static_branch_inc(&net6_l3mdev_key);
	else if (!iface->l3mdev && old)
		static_branch_dec(&net6_l3mdev_key);
	net6_dest_flush(iface->nn);
}

/**
 * net6_l3mdev_port_changed() - does an interface's device belong to another VRF than before?
 * @iface: interface
 *
 * Context: RTNL held.
 */
bool net6_l3mdev_port_changed(const struct net6_iface *iface)
{
	return l3mdev_master_ifindex(iface->dev) != iface->l3mdev;
}

/**
 * net6_l3mdev_port_move() - an interface belongs to the VRF that its device does, or to none
 * @iface: interface, on which no packets flow; its routes are gone
 *
 * Context: process, RTNL held; sleeps. Return: 0, -ENOSPC (limit of tables), -ENOMEM: nothing is
 * changed.
 */
int net6_l3mdev_port_move(struct net6_iface *iface)
{
	int index = l3mdev_master_ifindex(iface->dev), old = iface->l3mdev;
	u32 id = index ? l3mdev_fib_table(iface->dev) : 0;
	int err;

	ASSERT_RTNL();
	err = net6_l3mdev_port_enter(iface, index, id ?: RT_TABLE_MAIN);
	if (!err)
		net6_l3mdev_port_settle(iface, old);
	return err;
}

/**
 * net6_l3mdev_port_detach() - an interface goes
 * @iface: interface without addresses, prefixes and routes
 *
 * Who still refers to it finds main. Context: process, RTNL held; sleeps.
 */
void net6_l3mdev_port_detach(struct net6_iface *iface)
{
	struct net6_net *nn = iface->nn;
	int old = iface->l3mdev;

	ASSERT_RTNL();
	if (old) {
		net6_l3mdev_port_enter(iface, 0, RT_TABLE_MAIN);	/* main always is */
		net6_l3mdev_port_settle(iface, old);
	}
	spin_lock_bh(&nn->lock);
	net6_table_put(nn, &nn->main);
	spin_unlock_bh(&nn->lock);
}

/**
 * net6_l3mdev_port_attach() - a new interface belongs to the VRF that its device does
 * @iface: interface, in no table yet
 *
 * Context: process, RTNL held; sleeps. Return: as net6_l3mdev_port_move().
 */
int net6_l3mdev_port_attach(struct net6_iface *iface)
{
	struct net6_net *nn = iface->nn;
	int err = 0;

	iface->table = &nn->main;
	spin_lock_bh(&nn->lock);
	nn->main.count++;
	spin_unlock_bh(&nn->lock);
	if (net6_l3mdev_port_changed(iface))
		err = net6_l3mdev_port_move(iface);
	if (err)
		net6_l3mdev_port_detach(iface);
	return err;
}
