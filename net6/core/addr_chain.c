// SPDX-License-Identifier: GPL-2.0
/* Where native IPv6 is off the kernel's inet6addr_chain hears of our addresses: ipvlan takes only
 * packets for addresses that it has heard of, nfsd and RDMA devices hear of them, too.
 *
 * Limits: a listener is shown an address with its prefix length and its device, of which it finds
 * no other addresses. Some sleep, and addresses change under a lock. So they hear a moment later,
 * but before a request of an administrator ends, and before a device is gone. From Linux 7.1 on
 * nobody hears of them (compat/addr_chain.h).
 */
#include <net/addrconf.h>

#include "../compat/addr_chain.h"
#include "addr.h"
#include "addr_chain.h"

/* One that came and went meanwhile is not spoken of. */
static void net6_addr_chain_tell(struct net6_addr_chain *chain, struct net6_addr *a)
{
	bool there;

	spin_lock_bh(&a->iface->nn->lock);
	a->chain_queued = false;
	there = a->state != NET6_ADDR_GONE;
	spin_unlock_bh(&a->iface->nn->lock);
	if (there == a->chain_told)
		return;
	a->chain_told = there;
	chain->idev.dev = a->iface->dev;
	chain->ifa.addr = a->addr;
	chain->ifa.prefix_len = a->plen;
	chain->ifa.scope = ipv6_addr_scope(&a->addr);
	net6_compat_addr_tell(there ? NETDEV_UP : NETDEV_DOWN, &chain->ifa);
}

static void net6_addr_chain_tell_all(struct net6_addr_chain *chain)
{
	struct net6_addr *a, *next;

	mutex_lock(&chain->mutex);
	llist_for_each_entry_safe(a, next, llist_reverse_order(llist_del_all(&chain->queue)),
				  chain_node) {
		net6_addr_chain_tell(chain, a);
		net6_addr_put(a);
	}
	mutex_unlock(&chain->mutex);
}

static void net6_addr_chain_work(struct work_struct *work)
{
	net6_addr_chain_tell_all(container_of(work, struct net6_addr_chain, work));
}

/**
 * net6_addr_chain_run() - all that was queued has been told
 * @nn: namespace
 *
 * Context: process, sleeps.
 */
void net6_addr_chain_run(struct net6_net *nn)
{
	if (nn->addr_chain)
		net6_addr_chain_tell_all(nn->addr_chain);
}

static bool net6_addr_chain_is_new(const struct net6_iface *iface, const struct in6_addr *addr)
{
	bool new;

	rcu_read_lock();
	new = !net6_addr_find(iface, addr);
	rcu_read_unlock();
	return new;
}

/**
 * net6_addr_chain_refuses() - does a listener object to an address that is to be set?
 * @iface: interface; what it has already is not asked about
 * @addr: address
 * @extack: says why, may be NULL
 *
 * Context: process, RTNL held; sleeps. Return: 0 or what the listener says, -EADDRINUSE as a rule.
 */
int net6_addr_chain_refuses(const struct net6_iface *iface, const struct in6_addr *addr,
			    struct netlink_ext_ack *extack)
{
	struct net6_addr_chain *chain = iface->nn->addr_chain;
	struct in6_validator_info info = {
		.i6vi_addr	= *addr,
		.extack		= extack,
	};
	int err;

	ASSERT_RTNL();
	if (!chain || !net6_addr_chain_is_new(iface, addr))
		return 0;
	mutex_lock(&chain->mutex);
	chain->idev.dev = iface->dev;
	info.i6vi_dev = &chain->idev;
	err = notifier_to_errno(net6_compat_addr_ask(NETDEV_UP, &info));
	mutex_unlock(&chain->mutex);
	return err;
}

/**
 * net6_addr_chain_net_init() - a namespace that has told nothing
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_addr_chain_net_init(struct net6_net *nn)
{
	struct net6_addr_chain *chain;

	if (ipv6_mod_enabled() || !NET6_COMPAT_HAS_ADDR_CHAIN)
		return 0;
	chain = kzalloc(sizeof(*chain), GFP_KERNEL_ACCOUNT);
	if (!chain)
		return -ENOMEM;
	mutex_init(&chain->mutex);
	init_llist_head(&chain->queue);
	INIT_WORK(&chain->work, net6_addr_chain_work);
	rwlock_init(&chain->idev.lock);
	INIT_LIST_HEAD(&chain->idev.addr_list);
	chain->ifa.idev = &chain->idev;
	nn->addr_chain = chain;
	return 0;
}

/**
 * net6_addr_chain_net_exit() - the end of a namespace whose interfaces are gone
 * @nn: namespace
 *
 * Context: process, sleeps.
 */
void net6_addr_chain_net_exit(struct net6_net *nn)
{
	if (!nn->addr_chain)
		return;
	cancel_work_sync(&nn->addr_chain->work);
	WARN_ON_ONCE(!llist_empty(&nn->addr_chain->queue));
	kfree(nn->addr_chain);
}
