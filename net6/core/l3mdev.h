/* SPDX-License-Identifier: GPL-2.0 */
/* VRFs: devices whose ports have a routing table of their own (Linux's layer 3 master devices). An
 * interface has its addresses and on-link prefixes in one table: main, or its VRF's.
 */
#ifndef _NET6_L3MDEV_H
#define _NET6_L3MDEV_H

#include <linux/jump_label.h>
#include <net/inet_sock.h>

#include "iface.h"

/* There is a VRF somewhere. Others do not pay for them. */
DECLARE_STATIC_KEY_FALSE(net6_l3mdev_key);

/**
 * net6_l3mdev_index() - whose VRF an interface belongs to
 * @iface: interface
 *
 * Context: any. Return: index of the VRF's device, which is its own for that one; 0: of none.
 */
static inline int net6_l3mdev_index(const struct net6_iface *iface)
{
	return static_branch_unlikely(&net6_l3mdev_key) ? READ_ONCE(iface->l3mdev) : 0;
}

/* Is it the interface of a VRF's device itself? */
static inline bool net6_l3mdev_is_master(const struct net6_iface *iface)
{
	return net6_l3mdev_index(iface) == iface->ifindex;
}

/* Number of the table that has its addresses and groups: local, or its VRF's. */
static inline u32 net6_l3mdev_local_id(const struct net6_iface *iface)
{
	return net6_l3mdev_index(iface) ? net6_iface_table(iface)->id : RT_TABLE_LOCAL;
}

int net6_l3mdev_find(struct net6_net *nn, int ifindex);
int net6_l3mdev_ports_of(const struct sock *sk);

/* May a socket without a device have what is of a VRF? These are native's names for what both
 * families do.
 */
static inline bool net6_l3mdev_accepts(const struct net *net, int protocol)
{
#ifdef CONFIG_NET_L3_MASTER_DEV
	switch (protocol) {
	case IPPROTO_TCP:
		return READ_ONCE(net->ipv4.sysctl_tcp_l3mdev_accept);
	case IPPROTO_UDP:
		return READ_ONCE(net->ipv4.sysctl_udp_l3mdev_accept);
	case IPPROTO_RAW:
		return READ_ONCE(net->ipv4.sysctl_raw_l3mdev_accept);
	}
#endif
	return true;
}

/**
 * net6_l3mdev_bound_eq() - does a socket's device fit a packet?
 * @net: namespace
 * @protocol: whose net.ipv4.*_l3mdev_accept says what a socket without a device may have of VRFs:
 *	IPPROTO_TCP, IPPROTO_UDP, IPPROTO_RAW; any other: all
 * @bound: index of its device, 0: none
 * @dif: index of the interface that the packet came in on
 * @sdif: index of that one's VRF, 0: none
 *
 * It is asked of every socket of a chain, and calls nothing: a call saves registers.
 * Context: any.
 */
static inline bool net6_l3mdev_bound_eq(const struct net *net, int protocol, int bound, int dif,
					int sdif)
{
	if (static_branch_unlikely(&net6_l3mdev_key))
		return inet_bound_dev_eq(net6_l3mdev_accepts(net, protocol), bound, dif, sdif);
	return likely(!bound) || bound == dif;
}

/**
 * net6_l3mdev_ports() - whose port numbers a TCP socket shares
 * @sk: socket
 *
 * As native: those of its VRF are not the others', unless sockets without a device are for all.
 * Context: RCU read lock held, or BH disabled. Return: index of the VRF's device; 0: of none.
 */
static inline int net6_l3mdev_ports(const struct sock *sk)
{
	return static_branch_unlikely(&net6_l3mdev_key) ? net6_l3mdev_ports_of(sk) : 0;
}

/**
 * net6_l3mdev_of_ifindex() - net6_l3mdev_index() by an interface's index
 * @nn: namespace
 * @ifindex: index, also of none
 *
 * Context: RCU read lock held, or BH disabled. Return: as there.
 */
static inline int net6_l3mdev_of_ifindex(struct net6_net *nn, int ifindex)
{
	return static_branch_unlikely(&net6_l3mdev_key) ? net6_l3mdev_find(nn, ifindex) : 0;
}

/* RCU read lock held. */
struct net6_table *net6_l3mdev_scope(struct net6_net *nn, int *oif);
struct net6_iface *net6_l3mdev_loopback(const struct net6_iface *iface);
bool net6_l3mdev_reaches(struct net6_net *nn, int bound, int ifindex);

/* core/l3mdev_port.c. RTNL held. */
int net6_l3mdev_port_attach(struct net6_iface *iface);
void net6_l3mdev_port_detach(struct net6_iface *iface);
bool net6_l3mdev_port_changed(const struct net6_iface *iface);
int net6_l3mdev_port_move(struct net6_iface *iface);

#endif /* _NET6_L3MDEV_H */
