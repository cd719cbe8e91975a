// SPDX-License-Identifier: GPL-2.0
/* Interfaces [IF]: who is told that one has come or goes. */
#include <linux/mutex.h>
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
	net6_dest_flush(iface->nn);		/* rules go by names */
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

/* What is to be done while namespaces are still, under net6_iface_still_mutex. */
static DEFINE_MUTEX(net6_iface_still_mutex);
static void (*net6_iface_still_fn)(void *arg);
static void *net6_iface_still_arg;

static int net6_iface_still_init(struct net *net)
{
	if (net_eq(net, &init_net))
		net6_iface_still_fn(net6_iface_still_arg);
	return 0;
}

static struct pernet_operations net6_iface_still_ops = {
	.init = net6_iface_still_init,
};

/**
 * net6_iface_still() - do something while no namespace comes or goes
 * @fn: what to do; it may take RTNL
 * @arg: its argument
 *
 * A namespace that is being removed is in no list any more but may still have interfaces. The core
 * registers operations of namespaces when there is none such, and calls them in that state; it has
 * not exported the lock since 7.1. Context: process, sleeps, RTNL not held.
 */
void net6_iface_still(void (*fn)(void *arg), void *arg)
{
	mutex_lock(&net6_iface_still_mutex);
	net6_iface_still_fn = fn;
	net6_iface_still_arg = arg;
	/* It needs no memory and fails if an init does, which ours does not. */
	if (!WARN_ON(register_pernet_subsys(&net6_iface_still_ops)))
		unregister_pernet_subsys(&net6_iface_still_ops);
	mutex_unlock(&net6_iface_still_mutex);
}

static void net6_iface_for_all(void (*fn)(struct net6_iface *iface))
{
	struct net6_iface *iface;
	struct net *net;

	for_each_net(net)
		list_for_each_entry(iface, &net6_pernet(net)->ifaces, list)
			fn(iface);
}

static void net6_iface_watch_still(void *arg)
{
	struct net6_iface_watcher *watcher = arg;

	rtnl_lock();
	list_add_tail(&watcher->list, &net6_iface_watchers);
	net6_iface_for_all(watcher->attached);
	rtnl_unlock();
}

static void net6_iface_unwatch_still(void *arg)
{
	struct net6_iface_watcher *watcher = arg;

	rtnl_lock();
	list_del(&watcher->list);
	net6_iface_for_all(watcher->detached);
	rtnl_unlock();
}

/**
 * net6_iface_watch() - be told of interfaces
 * @watcher: told of all that there are as if they came
 *
 * Context: process, sleeps.
 */
void net6_iface_watch(struct net6_iface_watcher *watcher)
{
	net6_iface_still(net6_iface_watch_still, watcher);
}

/**
 * net6_iface_unwatch() - be told no more
 * @watcher: told of all that there are as if they went
 *
 * Context: process, sleeps.
 */
void net6_iface_unwatch(struct net6_iface_watcher *watcher)
{
	net6_iface_still(net6_iface_unwatch_still, watcher);
}
