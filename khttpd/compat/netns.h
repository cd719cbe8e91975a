/* SPDX-License-Identifier: GPL-2.0 */
/* A kernel socket that takes a reference to its network namespace after all. The
 * core does it from 6.14 on, and in stable 6.12.43: there such a socket has a
 * reference to struct net itself. sk_alloc() registers a tracker for it from 6.2
 * on. Ends with the last kernel without sk_net_refcnt_upgrade().
 */
#ifndef _KHTTPD_COMPAT_NETNS_H
#define _KHTTPD_COMPAT_NETNS_H

#include <linux/version.h>
#include <net/net_namespace.h>
#include <net/sock.h>

/* @net: the socket's namespace, with a reference that becomes the socket's */
static inline void khttpd_sock_own_net(struct sock *sk, struct net *net)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0) || \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 43) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0))
	/* Takes a reference of its own. */
	sk_net_refcnt_upgrade(sk);
	put_net(net);
#else
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	__netns_tracker_free(net, &sk->ns_tracker, false);
#endif
	netns_tracker_alloc(net, &sk->ns_tracker, GFP_KERNEL);
	sk->sk_net_refcnt = 1;
	sock_inuse_add(net, 1);
#endif
}

/* The opposite: the socket's reference is given back, and it has none from now on. */
static inline void khttpd_sock_disown_net(struct sock *sk)
{
	struct net *net = sock_net(sk);

	sock_inuse_add(net, -1);
	sk->sk_net_refcnt = 0;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0) || \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 43) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0))
	net_passive_inc(net);
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	__netns_tracker_free(net, &sk->ns_tracker, true);
	__netns_tracker_alloc(net, &sk->ns_tracker, false, GFP_KERNEL);
#else
	netns_tracker_free(net, &sk->ns_tracker);
#endif
	put_net(net);
}

#endif /* _KHTTPD_COMPAT_NETNS_H */
