/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's inet6addr_chain has to be told of our addresses. */
#ifndef _NET6_ADDR_CHAIN_H
#define _NET6_ADDR_CHAIN_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <net/if_inet6.h>

#include "addr.h"

/**
 * struct net6_addr_chain - what a namespace has to tell
 * @mutex: one tells at a time
 * @queue: struct net6_addr by chain_node, a reference each
 * @work: tells all
 * @idev: what listeners are shown as the device, under @mutex
 * @ifa: alike, as the address
 */
struct net6_addr_chain {
	struct mutex		mutex;
	struct llist_head	queue;
	struct work_struct	work;
	struct inet6_dev	idev;
	struct inet6_ifaddr	ifa;
};

int net6_addr_chain_net_init(struct net6_net *nn);
void net6_addr_chain_net_exit(struct net6_net *nn);
void net6_addr_chain_run(struct net6_net *nn);		/* sleeps */
int net6_addr_chain_refuses(const struct net6_iface *iface, const struct in6_addr *addr,
			    struct netlink_ext_ack *extack);	/* RTNL held */

/* An address has come or is gone. */
static inline void net6_addr_chain_queue(struct net6_addr *a)
	__must_hold(&a->iface->nn->lock)
{
	struct net6_addr_chain *chain = a->iface->nn->addr_chain;

	if (!chain || a->chain_queued)
		return;
	a->chain_queued = true;
	refcount_inc(&a->ref);
	llist_add(&a->chain_node, &chain->queue);
	schedule_work(&chain->work);
}

#endif /* _NET6_ADDR_CHAIN_H */
