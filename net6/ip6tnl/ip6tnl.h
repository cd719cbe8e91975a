/* SPDX-License-Identifier: GPL-2.0 */
/* Tunnels over IPv6, RFC 2473: devices that carry IPv6 and IPv4 packets in net6's packets. */
#ifndef _NET6_IP6TNL_H
#define _NET6_IP6TNL_H

#include <linux/ip6_tunnel.h>
#include <linux/netdevice.h>
#include <linux/rhashtable-types.h>
#include <net/gro_cells.h>

#include "../core/iface.h"
#include "ip6tnl_rules.h"

/**
 * struct net6_ip6tnl_ends - between which addresses a tunnel is
 * @remote: far end
 * @local: our end; :: for any of ours
 */
struct net6_ip6tnl_ends {
	struct in6_addr	remote;
	struct in6_addr	local;
};

/**
 * struct net6_ip6tnl_parms - how a tunnel is configured. Constant; a change makes new ones
 * @ends: the key in the table
 * @flags: IP6_TNL_F_IGN_ENCAP_LIMIT, _USE_ORIG_TCLASS, _USE_ORIG_FLOWLABEL, _USE_ORIG_FWMARK,
 *	_RCV_DSCP_COPY
 * @mark: of outer packets, for rules
 * @flowinfo: traffic class and flow label of outer packets, network byte order
 * @link: index of the interface that they leave by, 0 for any
 * @gen: number of these parameters, for what is kept of them
 * @proto: what is carried: IPPROTO_IPV6, IPPROTO_IPIP, 0 for both
 * @encap_limit: how many more tunnels a packet may enter
 * @hop_limit: of outer packets; 0: the inner packet's
 * @tunnel: whose they are
 * @node: in nn->ip6tnls, written under RTNL, read under RCU
 * @rcu: freed after a grace period
 */
struct net6_ip6tnl_parms {
	struct net6_ip6tnl_ends	ends;
	u32			flags;
	u32			mark;
	__be32			flowinfo;
	int			link;
	u32			gen;
	u8			proto;
	u8			encap_limit;
	u8			hop_limit;
	struct net6_ip6tnl	*tunnel;
	struct rhash_head	node;
	struct rcu_head		rcu;
};

/**
 * struct net6_ip6tnl_way - where one CPU's outer packets go. BH disabled
 * @dest: reference held, or NULL
 * @gen: of the parameters that it was looked up by
 */
struct net6_ip6tnl_way {
	struct net6_dest	*dest;
	u32			gen;
};

/**
 * struct net6_ip6tnl - private part of a tunnel's device
 * @dev: the device
 * @parms: written under RTNL, read under RCU
 * @ways: per CPU
 * @cells: what has come in, on its way up
 * @gen: last number given to parameters; under RTNL
 * @known: it is in the table; under RTNL
 */
struct net6_ip6tnl {
	struct net_device			*dev;
	struct net6_ip6tnl_parms __rcu		*parms;
	struct net6_ip6tnl_way __percpu		*ways;
	struct gro_cells			cells;
	u32					gen;
	bool					known;
};

static inline bool net6_ip6tnl_limited(const struct net6_ip6tnl_parms *p)
{
	return !(p->flags & IP6_TNL_F_IGN_ENCAP_LIMIT);
}

#define NET6_IP6TNL_MTU		1500	/* octets of the path, when there is none */
#define NET6_IP6TNL_MAX_MTU	(65535 - (int)sizeof(struct ipv6hdr) - NET6_IP6TNL_LIMIT_HEADER)

/* ip6tnl_table.c */
struct net6_ip6tnl_parms *net6_ip6tnl_find(struct net6_net *nn, const struct in6_addr *remote,
					   const struct in6_addr *local);
void net6_ip6tnl_drop(struct net6_ip6tnl *t, struct sk_buff *skb, enum net6_drop_reason reason,
		      bool sent);
int net6_ip6tnl_insert(struct net6_ip6tnl *t);
void net6_ip6tnl_remove(struct net6_ip6tnl *t);
int net6_ip6tnl_change(struct net6_ip6tnl *t, struct net6_ip6tnl_parms *p);
int net6_ip6tnl_net_init(struct net6_net *nn);
void net6_ip6tnl_net_exit(struct net6_net *nn);

/* xmit.c */
netdev_tx_t net6_ip6tnl_xmit(struct sk_buff *skb, struct net_device *dev);
struct net6_dest *net6_ip6tnl_lookup(struct net6_net *nn, const struct net6_ip6tnl_parms *p,
				     __be32 flowinfo, u32 mark);
void net6_ip6tnl_forget(struct net6_ip6tnl *t);

/* rcv.c */
int net6_ip6tnl_rcv_get(void);		/* RTNL held */
void net6_ip6tnl_rcv_exit(void);

/* device.c */
void net6_ip6tnl_setup(struct net_device *dev);
bool net6_ip6tnl_is(const struct net_device *dev);
void net6_ip6tnl_free_parms(struct net6_ip6tnl *t);

/* ip6tnl.c */
int net6_ip6tnl_init(void);
void net6_ip6tnl_exit(void);

#endif /* _NET6_IP6TNL_H */
