// SPDX-License-Identifier: GPL-2.0
/* Anycast addresses that a socket has joined. Memory is charged to the socket's option
 * memory, which bounds their number, as limits.max_groups does those of a user's sockets.
 */
#include <net/if_inet6.h>
#include <net/ipv6.h>

#include "../compat/inet_sock.h"
#include "../core/addr.h"
#include "../core/anycast.h"
#include "../core/forward.h"
#include "sock.h"

/**
 * struct net6_sk_anycast - an anycast address that a socket has joined
 * @acl: in ipv6_pinfo.ipv6_ac_list, under the socket's lock
 * @iface: interface; reference held
 * @uid: the socket's owner when it was joined
 */
struct net6_sk_anycast {
	struct ipv6_ac_socklist	acl;
	struct net6_iface	*iface;
	kuid_t			uid;
};

/* The interface that a join without index means. That is where the address is joined already,
 * where packets to it go, or any where this is a router. RCU read lock held.
 */
static struct net6_iface *net6_sk_anycast_iface(struct net6_net *nn, const struct in6_addr *addr)
{
	const struct net6_dest_key key = { .daddr = *addr };
	struct net6_iface *iface;
	struct net6_nexthop nh;

	list_for_each_entry_rcu(iface, &nn->ifaces, list)
		if (net6_anycast_find(iface, addr))
			return iface;
	if (net6_route_nexthop(nn, &key, NULL, &nh) >= 0)
		return nh.iface;
	list_for_each_entry_rcu(iface, &nn->ifaces, list)
		if (net6_iface_usable(iface) && net6_forward_on(iface) &&
		    !net6_iface_is_loopback(iface))
			return iface;
	return NULL;
}

static int net6_sk_anycast_add(struct net6_net *nn, struct net6_sk_anycast *any, int ifindex)
{
	const struct in6_addr *addr = &any->acl.acl_addr;
	struct net6_iface *iface;
	int err;

	rcu_read_lock_bh();
	iface = ifindex ? net6_iface_find(nn, ifindex) : net6_sk_anycast_iface(nn, addr);
	if (iface)
		err = net6_anycast_join(iface, addr, any->uid);
	else
		err = ifindex ? -ENODEV : -EADDRNOTAVAIL;
	if (!err) {
		any->iface = net6_iface_get(iface);
		any->acl.acl_ifindex = iface->ifindex;
	}
	rcu_read_unlock_bh();
	return err;
}

/* Has any interface this unicast address, in whatever state? */
static bool net6_sk_anycast_is_own(struct net6_net *nn, const struct in6_addr *addr)
{
	const struct net6_iface *iface;
	bool own = false;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list)
		own = own || net6_addr_find(iface, addr);
	rcu_read_unlock();
	return own;
}

/**
 * net6_sk_anycast_join() - IPV6_JOIN_ANYCAST
 * @sk: any socket, owned
 * @ifindex: interface, 0 to choose one
 * @addr: anycast address
 *
 * May be joined several times, as on Linux. Context: process.
 * Return: 0; -EPERM (no CAP_NET_ADMIN); -EINVAL (no address to have, or one of ours);
 * -EADDRNOTAVAIL (a host that has no address in the subnet, or no route); -ENODEV; -ENOMEM
 * (option memory used up); or what the interface says.
 */
int net6_sk_anycast_join(struct sock *sk, int ifindex, const struct in6_addr *addr)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));
	struct ipv6_pinfo *np = net6_np(sk);
	int type = ipv6_addr_type(addr);
	struct net6_sk_anycast *any;
	int err;

	sock_owned_by_me(sk);
	if (!ns_capable(sock_net(sk)->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (type == IPV6_ADDR_ANY || (type & (IPV6_ADDR_MULTICAST | IPV6_ADDR_MAPPED)) ||
	    net6_sk_anycast_is_own(nn, addr))
		return -EINVAL;
	any = sock_kmalloc(sk, sizeof(*any), GFP_KERNEL);
	if (!any)
		return -ENOMEM;
	any->acl.acl_addr = *addr;
	any->uid = sk->sk_uid;
	err = net6_sk_anycast_add(nn, any, ifindex);
	if (err) {
		sock_kfree_s(sk, any, sizeof(*any));
		return err;
	}
	any->acl.acl_next = np->ipv6_ac_list;
	np->ipv6_ac_list = &any->acl;
	return 0;
}

/* End of the membership that @link leads to. */
static void net6_sk_anycast_drop(struct sock *sk, struct ipv6_ac_socklist **link)
{
	struct net6_sk_anycast *any = container_of(*link, struct net6_sk_anycast, acl);

	*link = any->acl.acl_next;
	/* The interface may have gone, and its addresses with it. */
	net6_anycast_leave(any->iface, &any->acl.acl_addr, any->uid);
	net6_iface_put(any->iface);
	sock_kfree_s(sk, any, sizeof(*any));
}

/**
 * net6_sk_anycast_leave() - IPV6_LEAVE_ANYCAST
 * @sk: any socket, owned
 * @ifindex: interface, 0 for the last one that was joined
 * @addr: anycast address
 *
 * Context: process. Return: 0 or -ENOENT (not joined).
 */
int net6_sk_anycast_leave(struct sock *sk, int ifindex, const struct in6_addr *addr)
{
	struct ipv6_ac_socklist **link;

	sock_owned_by_me(sk);
	for (link = &net6_np(sk)->ipv6_ac_list; *link; link = &(*link)->acl_next) {
		if ((!ifindex || (*link)->acl_ifindex == ifindex) &&
		    ipv6_addr_equal(&(*link)->acl_addr, addr)) {
			net6_sk_anycast_drop(sk, link);
			return 0;
		}
	}
	return -ENOENT;
}

/**
 * net6_sk_anycast_leave_all() - the socket is being closed
 * @sk: any socket, owned
 *
 * Context: process.
 */
void net6_sk_anycast_leave_all(struct sock *sk)
{
	sock_owned_by_me(sk);
	while (net6_np(sk)->ipv6_ac_list)
		net6_sk_anycast_drop(sk, &net6_np(sk)->ipv6_ac_list);
}
