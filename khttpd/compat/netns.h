/* SPDX-License-Identifier: GPL-2.0 */
/* A kernel socket that takes a reference to its network namespace after all.
 * sk_alloc() registers a tracker for such sockets from 6.2 on. Ends with the
 * last kernel without sk_net_refcnt_upgrade().
 */
#ifndef _KHTTPD_COMPAT_NETNS_H
#define _KHTTPD_COMPAT_NETNS_H

#include <linux/version.h>
#include <net/net_namespace.h>
#include <net/sock.h>

/* @net: the socket's namespace, with a reference that becomes the socket's */
static inline void khttpd_sock_own_net(struct sock *sk, struct net *net)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	__netns_tracker_free(net, &sk->ns_tracker, false);
#endif
	netns_tracker_alloc(net, &sk->ns_tracker, GFP_KERNEL);
	sk->sk_net_refcnt = 1;
	sock_inuse_add(net, 1);
}

#endif /* _KHTTPD_COMPAT_NETNS_H */
