// SPDX-License-Identifier: GPL-2.0
/* VRFs: what an interface's index means where there are some. Which table is looked in is for rules
 * to say (rule.c).
 */
#include <net/inet_sock.h>

#include "l3mdev.h"

DEFINE_STATIC_KEY_FALSE(net6_l3mdev_key);

/**
 * net6_l3mdev_scope() - the routing table that a sender's interface stands for
 * @nn: namespace
 * @oif: index of the interface that it insists on, 0: none; 0 afterwards if it is a VRF's device,
 *	which stands for all of the VRF
 *
 * Context: RCU read lock held. Return: main or a VRF's.
 */
struct net6_table *net6_l3mdev_scope(struct net6_net *nn, int *oif)
{
	const struct net6_iface *iface;

	if (!static_branch_unlikely(&net6_l3mdev_key) || !*oif)
		return &nn->main;
	iface = net6_iface_find(nn, *oif);
	if (!iface)
		return &nn->main;
	if (net6_l3mdev_is_master(iface))
		*oif = 0;
	return net6_iface_table(iface);
}

/**
 * net6_l3mdev_loopback() - where packets to an interface's own addresses come up
 * @iface: interface
 *
 * Context: RCU read lock held. Return: the loopback of the namespace or the VRF; NULL when it goes.
 */
struct net6_iface *net6_l3mdev_loopback(const struct net6_iface *iface)
{
	int index = net6_l3mdev_index(iface);

	return unlikely(index) ? net6_iface_find(iface->nn, index) :
				 READ_ONCE(iface->nn->loopback);
}

/* As net6_l3mdev_of_ifindex(), where there are VRFs. */
int net6_l3mdev_find(struct net6_net *nn, int ifindex)
{
	const struct net6_iface *iface = ifindex ? net6_iface_find(nn, ifindex) : NULL;

	return iface ? net6_l3mdev_index(iface) : 0;
}

/* As net6_l3mdev_ports(), where there are VRFs. */
int net6_l3mdev_ports_of(const struct sock *sk)
{
	if (net6_l3mdev_accepts(sock_net(sk), IPPROTO_TCP))
		return 0;
	return net6_l3mdev_find(net6_pernet(sock_net(sk)), sk->sk_bound_dev_if);
}

/**
 * net6_l3mdev_reaches() - may a socket that is bound to a device name an interface?
 * @nn: namespace
 * @bound: index of its device, 0: none
 * @ifindex: the interface, 0: none
 *
 * Context: RCU read lock held. Return: true unless it is another one, and no port of a VRF whose
 * device @bound is.
 */
bool net6_l3mdev_reaches(struct net6_net *nn, int bound, int ifindex)
{
	return !bound || !ifindex || bound == ifindex ||
	       net6_l3mdev_of_ifindex(nn, ifindex) == bound;
}
