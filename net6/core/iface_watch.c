// SPDX-License-Identifier: GPL-2.0
/* Interfaces [IF]: who is told that one has come or goes. */
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "iface.h"

/* struct net6_iface_watcher.list, under RTNL. */
static LIST_HEAD(net6_iface_watchers);

/**
 * net6_iface_tell_attached() - there is a new interface, or it has a new name
 * @iface: interface
 *
 * Context: process, RTNL held; sleeps.
 */
void net6_iface_tell_attached(struct net6_iface *iface)
{
	struct net6_iface_watcher *watcher;

	ASSERT_RTNL();
	list_for_each_entry(watcher, &net6_iface_watchers, list)
		watcher->attached(iface);
}

/**
 * net6_iface_tell_detached() - an interface goes, or its name does
 * @iface: interface
 *
 * Context: process, RTNL held; sleeps.
 */
void net6_iface_tell_detached(struct net6_iface *iface)
{
	struct net6_iface_watcher *watcher;

	ASSERT_RTNL();
	list_for_each_entry(watcher, &net6_iface_watchers, list)
		watcher->detached(iface);
}

static void net6_iface_for_all(void (*fn)(struct net6_iface *iface))
{
	struct net6_iface *iface;
	struct net *net;

	for_each_net(net)
		list_for_each_entry(iface, &net6_pernet(net)->ifaces, list)
			fn(iface);
}

/**
 * net6_iface_watch() - be told of interfaces
 * @watcher: told of all that there are as if they came
 *
 * Context: process, sleeps.
 */
void net6_iface_watch(struct net6_iface_watcher *watcher)
{
	/* Namespaces that are being removed are in no list, see net6_link_unregister(). */
	down_write(&pernet_ops_rwsem);
	rtnl_lock();
	list_add_tail(&watcher->list, &net6_iface_watchers);
	net6_iface_for_all(watcher->attached);
	rtnl_unlock();
	up_write(&pernet_ops_rwsem);
}

/**
 * net6_iface_unwatch() - be told no more
 * @watcher: told of all that there are as if they went
 *
 * Context: process, sleeps.
 */
void net6_iface_unwatch(struct net6_iface_watcher *watcher)
{
	down_write(&pernet_ops_rwsem);
	rtnl_lock();
	list_del(&watcher->list);
	net6_iface_for_all(watcher->detached);
	rtnl_unlock();
	up_write(&pernet_ops_rwsem);
}
