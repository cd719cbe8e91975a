/* SPDX-License-Identifier: GPL-2.0 */
/* Tunnels over IPv4: devices that carry net6's packets in IPv4 packets of protocol 41.
 * Their link-layer addresses are IPv4's. Their link-layer header is IPv4's, too.
 */
#ifndef _NET6_TUNNEL_H
#define _NET6_TUNNEL_H

#include <linux/netdevice.h>
#include <linux/rhashtable-types.h>
#include <net/dst_cache.h>

#include "../core/iface.h"
#include "tunnel_rules.h"

#define NET6_TUNNEL_HEADER	4	/* bytes: the IPv4 address that the packet goes to */

/* As in ip(8): the outer traffic class is the inner one. */
#define NET6_TUNNEL_TOS_INHERIT	1

/* What a tunnel counts beside packets and bytes. The order is that of the attributes
 * in the netlink specification.
 */
enum net6_tunnel_counter {
	NET6_TUNNEL_RX_SHORT,		/* no IPv6 packet inside */
	NET6_TUNNEL_RX_OUTER,		/* outer source no host's */
	NET6_TUNNEL_RX_INNER_SOURCE,
	NET6_TUNNEL_RX_INNER_DEST,
	NET6_TUNNEL_RX_ECN,
	NET6_TUNNEL_RX_OWN,		/* 6over4: own multicast, not heard */
	NET6_TUNNEL_TX_NO_ROUTE,
	NET6_TUNNEL_TX_DEST,		/* next hop is no IPv4 host */
	NET6_TUNNEL_TX_LOOP,		/* the IPv4 route leads back into the tunnel */
	NET6_TUNNEL_TX_NESTED,
	NET6_TUNNEL_TX_TOO_BIG,
	NET6_TUNNEL_ICMP_TOO_BIG,	/* ICMPv4 errors taken in */
	NET6_TUNNEL_ICMP_UNREACHABLE,
	NET6_TUNNEL_COUNTERS
};

/**
 * struct net6_tunnel_counters - a tunnel's counters on one CPU
 * @value: of each; the index is the one above
 */
struct net6_tunnel_counters {
	u64	value[NET6_TUNNEL_COUNTERS];
};

/**
 * struct net6_tunnel_parms - how a tunnel is configured
 * @remote: far end; 0 unless configured
 * @local: our end; 0: as the route says
 * @ttl: of the outer header; not 0
 * @tos: of the outer header, ECN bits 0, or NET6_TUNNEL_TOS_INHERIT
 * @pmtu: the path MTU is followed (RFC 4213 3.2.2)
 * @router: a default router stands for the far end
 * @link: 6over4: interface index of the device that has @local
 *
 * Written under RTNL, single fields read without.
 */
struct net6_tunnel_parms {
	__be32	remote;
	__be32	local;
	u8	ttl;
	u8	tos;
	bool	pmtu;
	bool	router;
	int	link;
};

/**
 * struct net6_tunnel_ends - between which addresses a tunnel is
 * @remote: far end, 0 for 6over4; @local: our end, 0 for a tunnel without a fixed one. Both are
 *	the key, constant while it is in the table
 * @tunnel: which
 * @node: in nn->tunnels->by_ends, written under RTNL, read under RCU
 */
struct net6_tunnel_ends {
	__be32			remote;
	__be32			local;
	struct net6_tunnel	*tunnel;
	struct rhash_head	node;
};

/**
 * struct net6_tunnel - private part of a tunnel's device
 * @dev: the device
 * @kind: enum net6_tunnel_kind
 * @parms: see there
 * @wanted: transition: still has its IPv4 address; under RTNL
 * @error_at: jiffies of an ICMPv4 error that named no sender, 0 for none: the next
 *	packet's sender is told
 * @dst_cache: IPv4 route to the far end
 * @counters: per CPU
 * @ends: one is in the table; while they are changed both are
 * @known: which of @ends that is, NULL: none is; under RTNL
 * @sixover4: of a 6over4 tunnel, in nn->tunnels->sixover4; same rules
 * @groups: 6over4, struct net6_6over4_group
 * @group_lock: protects @groups; taken with BH disabled
 */
struct net6_tunnel {
	struct net_device			*dev;
	u8					kind;
	bool					wanted;
	struct net6_tunnel_parms		parms;
	unsigned long				error_at;
	struct dst_cache			dst_cache;
	struct net6_tunnel_counters __percpu	*counters;
	struct net6_tunnel_ends			ends[2];
	struct net6_tunnel_ends			*known;
	struct list_head			sixover4;
	struct list_head			groups;
	spinlock_t				group_lock;
};

#define NET6_TRANSITION_MAX	64	/* IPv4 addresses that are taken notice of */

/**
 * struct net6_transition_addrs - IPv4 addresses that are to have what goes with them
 * @n: entries of @a
 * @a: each an address and the index of its device
 */
struct net6_transition_addrs {
	unsigned int	n;
	struct {
		__be32	addr;
		int	link;
	} a[NET6_TRANSITION_MAX];
};

/**
 * struct net6_tunnel_net - a namespace's tunnels
 * @by_ends: struct net6_tunnel_ends, all but the automatic one's
 * @sixover4: 6over4 tunnels: one for each of @addrs; written under RTNL, RCU
 * @automatic: the device of automatic tunnels or NULL; written under RTNL, RCU
 * @work: what wants RTNL: IPv4 groups, and what follows from IPv4 addresses
 * @nn: namespace
 * @transition: enum net6_transition
 * @addrs: what @work found last; under RTNL. Part of the namespace, so that bringing
 *	things in line with the IPv4 addresses cannot fail before it has begun
 * @sysctl: net.net6.*
 */
struct net6_tunnel_net {
	struct rhashtable	by_ends;
	struct list_head	sixover4;
	struct net6_tunnel	*automatic;
	struct work_struct	work;
	struct net6_net		*nn;
	u8			transition;
	struct net6_transition_addrs addrs;
	struct ctl_table_header	*sysctl;
};

enum net6_transition {
	NET6_TRANSITION_OFF,
	NET6_TRANSITION_AUTO,
};

static inline struct net6_net *net6_tunnel_nn(const struct net6_tunnel *t)
{
	return net6_pernet(dev_net(t->dev));
}

static inline void net6_tunnel_count(struct net6_tunnel *t, enum net6_tunnel_counter counter)
{
	this_cpu_inc(t->counters->value[counter]);
}

extern const struct net6_link_ops net6_configured_ops;
extern const struct net6_link_ops net6_automatic_ops;
extern const struct net6_link_ops net6_6over4_ops;

/* tunnel.c. RTNL held; 0 or -errno. */
struct netlink_ext_ack;
int net6_tunnel_add(struct net *net, const char *name, enum net6_tunnel_kind kind,
		    const struct net6_tunnel_parms *parms, struct netlink_ext_ack *extack,
		    struct net6_tunnel **made);
int net6_tunnel_change(struct net6_tunnel *t, const struct net6_tunnel_parms *parms,
		       struct netlink_ext_ack *extack);
void net6_tunnel_del(struct net6_tunnel *t);
struct net6_tunnel *net6_tunnel_of(struct net_device *dev);	/* NULL if it is none */
/* RCU read lock or RTNL held. */
struct net6_tunnel *net6_tunnel_find(struct net6_net *nn, __be32 remote, __be32 local);
u64 net6_tunnel_read(const struct net6_tunnel *t, enum net6_tunnel_counter counter);
/* Drops a packet of @t, counted there and in the namespace. */
void net6_tunnel_drop(struct net6_tunnel *t, struct sk_buff *skb,
		      enum net6_tunnel_counter counter);

/* What the three kinds share as links. */
int net6_tunnel_send(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr);
void net6_tunnel_fill_header(const struct net6_iface *iface, const u8 *lladdr, u8 *header);

/* tunnel_xmit.c, tunnel_rcv.c */
netdev_tx_t net6_tunnel_xmit(struct sk_buff *skb, struct net_device *dev);
struct rtable *net6_tunnel_route(struct net6_tunnel *t, __be32 daddr, u8 tos, __be32 *saddr);
int net6_tunnel_rcv_get(void);
void net6_tunnel_rcv_exit(void);

/* sixover4.c. RTNL held. */
void net6_6over4_sync_groups(struct net6_tunnel *t);
void net6_6over4_leave_groups(struct net6_tunnel *t);

/* transition.c */
bool net6_transition_valid(void);		/* the module parameter */
void net6_transition_queue(struct net6_net *nn);
int net6_transition_net_init(struct net6_net *nn);
void net6_transition_net_exit(struct net6_net *nn);
int net6_transition_init(void);
void net6_transition_exit(void);

int net6_tunnel_net_init(struct net6_net *nn);
void net6_tunnel_net_exit(struct net6_net *nn);
int net6_tunnel_init(void);
void net6_tunnel_exit(void);

#endif /* _NET6_TUNNEL_H */
