// SPDX-License-Identifier: GPL-2.0
/* Multicast groups that a datagram socket has joined. Memory is charged to the socket's option
 * memory, which bounds their number. For all sockets of a user on an interface together
 * limits.max_groups is the bound. Their sources are filter.c's.
 */
#include <linux/rculist.h>

#include "../compat/inet_sock.h"
#include "../core/addr.h"
#include "sock.h"

/* The interface that a join without index means: where packets to the group go. */
static int net6_group_ifindex(struct net6_net *nn, const struct in6_addr *addr)
{
	const struct net6_dest_key key = { .daddr = *addr };
	struct net6_nexthop nh;
	struct net6_iface *iface;

	if (net6_route_nexthop(nn, &key, NULL, &nh) >= 0)
		return nh.iface->ifindex;
	iface = net6_iface_find_multicast(nn, &nn->main);
	return iface ? iface->ifindex : 0;
}

/**
 * net6_sk_group_find() - a membership of a socket
 * @sk: datagram socket, owned
 * @ifindex: interface, 0 for the first that matches
 * @addr: group
 *
 * Context: process. Return: membership or NULL.
 */
struct net6_sk_group *net6_sk_group_find(struct sock *sk, int ifindex,
					 const struct in6_addr *addr)
{
	struct net6_sk_group *g;

	hlist_for_each_entry(g, &net6_dgram_sk(sk)->groups, node)
		if ((!ifindex || g->ifindex == ifindex) && ipv6_addr_equal(&g->addr, addr))
			return g;
	return NULL;
}

/**
 * net6_sk_group_join() - IPV6_ADD_MEMBERSHIP
 * @sk: datagram socket, owned
 * @ifindex: interface, 0 to choose one
 * @addr: group
 * @filter: sources, NULL for any; taken over if this returns 0
 *
 * Context: process.
 * Return: 0; -EINVAL (no multicast address); -ENODEV; -EADDRINUSE (joined already);
 * -ENOMEM (option memory used up); or what the interface says.
 */
int net6_sk_group_join(struct sock *sk, int ifindex, const struct in6_addr *addr,
		       struct net6_sk_filter *filter)
{
	struct net6_mld_filter wanted = net6_sk_filter_wish(filter);
	struct net6_net *nn = net6_pernet(sock_net(sk));
	struct net6_iface *iface;
	struct net6_sk_group *g;
	int err;

	sock_owned_by_me(sk);
	if (!ipv6_addr_is_multicast(addr))
		return -EINVAL;
	if (net6_sk_group_find(sk, ifindex, addr))
		return -EADDRINUSE;
	g = sock_kmalloc(sk, sizeof(*g), GFP_KERNEL);
	if (!g)
		return -ENOMEM;
	g->uid = sk->sk_uid;

	rcu_read_lock_bh();
	if (!ifindex)
		ifindex = net6_group_ifindex(nn, addr);
	iface = ifindex ? net6_iface_find(nn, ifindex) : NULL;
	err = iface ? net6_group_change(iface, addr, g->uid, NULL, &wanted) : -ENODEV;
	if (!err)
		g->iface = net6_iface_get(iface);
	rcu_read_unlock_bh();
	if (err) {
		sock_kfree_s(sk, g, sizeof(*g));
		return err;
	}
	g->addr = *addr;
	g->ifindex = ifindex;
	RCU_INIT_POINTER(g->filter, filter);
	hlist_add_head_rcu(&g->node, &net6_dgram_sk(sk)->groups);
	return 0;
}

/**
 * net6_sk_group_drop() - end of a membership
 * @sk: datagram socket, owned
 * @g: its membership; freed after a grace period
 *
 * Context: process.
 */
void net6_sk_group_drop(struct sock *sk, struct net6_sk_group *g)
{
	struct net6_sk_filter *filter = rcu_dereference_protected(g->filter,
								  lockdep_sock_is_held(sk));
	struct net6_mld_filter wanted = net6_sk_filter_wish(filter);

	hlist_del_rcu(&g->node);
	/* The interface may have gone, and its memberships with it. */
	rcu_read_lock_bh();
	net6_group_change(g->iface, &g->addr, g->uid, &wanted, NULL);
	rcu_read_unlock_bh();
	net6_iface_put(g->iface);
	net6_sk_filter_free(sk, filter);
	atomic_sub(sizeof(*g), &sk->sk_omem_alloc);
	kfree_rcu(g, rcu);
}

/**
 * net6_sk_group_leave() - IPV6_DROP_MEMBERSHIP
 * @sk: datagram socket, owned
 * @ifindex: interface, 0 for the first that matches
 * @addr: group
 *
 * Context: process. Return: 0; -EINVAL; -EADDRNOTAVAIL (not joined).
 */
int net6_sk_group_leave(struct sock *sk, int ifindex, const struct in6_addr *addr)
{
	struct net6_sk_group *g;

	sock_owned_by_me(sk);
	if (!ipv6_addr_is_multicast(addr))
		return -EINVAL;
	g = net6_sk_group_find(sk, ifindex, addr);
	if (!g)
		return -EADDRNOTAVAIL;
	net6_sk_group_drop(sk, g);
	return 0;
}

/**
 * net6_sk_group_leave_all() - the socket is being closed
 * @sk: datagram socket, owned
 *
 * Context: process.
 */
void net6_sk_group_leave_all(struct sock *sk)
{
	struct net6_sk_group *g;
	struct hlist_node *next;

	sock_owned_by_me(sk);
	hlist_for_each_entry_safe(g, next, &net6_dgram_sk(sk)->groups, node)
		net6_sk_group_drop(sk, g);
}

/**
 * net6_sk_group_match() - does a socket want packets to a group?
 * @sk: datagram socket bound to the port
 * @addr: group the packet is for
 * @source: where it comes from
 * @ifindex: where it came in
 *
 * As Linux: a socket that joined nothing takes what its host takes (IPV6_MULTICAST_ALL).
 * Context: RCU read lock held.
 */
bool net6_sk_group_match(const struct sock *sk, const struct in6_addr *addr,
			 const struct in6_addr *source, int ifindex)
{
	struct net6_sk_group *g;

	hlist_for_each_entry_rcu(g, &net6_dgram_sk(sk)->groups, node)
		if (g->ifindex == ifindex && ipv6_addr_equal(&g->addr, addr))
			return net6_sk_filter_match(rcu_dereference(g->filter), source);
	return net6_opt(sk, MC6_ALL);
}
