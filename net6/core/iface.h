/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces [IF in MSR IPv6]: a net_device as IPv6 sees it, with the parameters
 * learned from Router Advertisements.
 */
#ifndef _NET6_IFACE_H
#define _NET6_IFACE_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/timer.h>
#include <net6/link.h>

#include "answer.h"
#include "anycast.h"
#include "mld.h"
#include "netns.h"

/* struct net6_iface flags, atomic bit numbers. */
enum {
	NET6_IFACE_UP,			/* device is up and running: packets flow */
	NET6_IFACE_DEAD,		/* being removed: take no new references into tables */
	NET6_IFACE_HOOKED,		/* ingress hook is registered */
	NET6_IFACE_NOT_UNIQUE,		/* RFC 4862 5.4.5: its hardware address is another's, too */
	NET6_IFACE_DISABLED,		/* by the administrator: disable_ipv6 */
	NET6_IFACE_KEPT,		/* no packets flow; addresses may be ours all the same */
	NET6_IFACE_OWNED,		/* its frames belong to another device, a bridge say */
};

/* Of struct net6_iface.ra_flags */
#define NET6_RA_RECEIVED	BIT(0)
#define NET6_RA_MANAGED		BIT(1)	/* RFC 4861 4.2, M: addresses by DHCPv6 */
#define NET6_RA_OTHER		BIT(2)	/* O: other configuration by DHCPv6 */

/**
 * struct net6_iface - one interface
 * @nn: namespace
 * @dev: its device; the namespace's lo for the pseudo-loopback (never transmitted
 *	on, never hooked: only a name, an index and a netns for skb->dev)
 * @dev_tracker: reference on @dev
 * @ops: link layer
 * @ref: references; the tables hold one until NETDEV_UNREGISTER
 * @rcu: freed after a grace period
 * @index_node: in nn->by_index; @list: in nn->ifaces (RTNL to write, RCU to read)
 * @flags: NET6_IFACE_* bits
 * @ifindex: dev->ifindex
 * @l3mdev: index of the VRF's device that it belongs to, 0: of none; net6_l3mdev_index() reads
 * @table: what its addresses and prefixes are in, a reference; written under RTNL and nn->lock,
 *	read under RCU by net6_iface_table()
 * @lladdr: own link-layer address, @ops->addr_len bytes
 * @hook: netdev ingress hook; its priv points to this interface
 * @packet: packet handler, where there is no native stack; one of both is registered
 * @mtu: bytes of IPv6 packet that fit the link, at most dev->mtu, lowered by the
 *	RA's MTU option, never below 1280 (RFC 8200 5)
 * @cur_hop_limit: for unicast we send, RFC 4861 6.3.2 CurHopLimit
 * @base_reachable_ms: BaseReachableTime
 * @reachable: ReachableTime in jiffies, random 0.5..1.5 of the base, renewed at
 *	least every few hours (RFC 4861 6.3.2)
 * @retrans: RetransTimer in jiffies
 * @dad_transmits: DupAddrDetectTransmits (RFC 4862 5.1); 0 switches DAD off
 * @accept_ra: Router Advertisements are processed: 1 by a host, 2 by a router, too
 * @autoconf: prefixes with the A flag make addresses
 * @forwarding: unicast packets for others are forwarded, and we are a router to others
 * @ndisc_notify: new addresses are announced to routers (RFC 9131)
 * @proxy_ndp: a router answers for proxied addresses
 * @optimistic_dad: addresses are used while DAD is running (RFC 4429)
 * @use_tempaddr: 1: temporary addresses too, 2: they are preferred as sources
 * @headroom: bytes of room that the device wants in front of a packet; net6_iface_room()
 * @temp_valid: TEMP_VALID_LIFETIME, seconds; @temp_preferred: TEMP_PREFERRED_LIFETIME
 * @rs_timer: router solicitation; @rs_delay: jiffies to the next one (RFC 7559)
 * @rs_sent: how many were sent
 * @life_timer: the next end of a router's or prefix's lifetime
 * @ra_flags: what the last advertisement said: NET6_RA_*; written under nn->lock
 * @token: identifier of the addresses that are formed from prefixes, 0 for none; same
 * @ra_mtu: value of the last valid MTU option, bytes, 0 for none; under nn->lock
 * @addrs: struct net6_addr.iface_list; written under nn->lock, read under RCU
 * @formed: those of them that are formed or link-local (net6_addr_is_formed()); likewise. What a
 *	packet from the link has looked for is here, however many are set by hand
 * @prefixes: struct net6_prefix.life.list; same
 * @routers: struct net6_router.life.list; same
 * @routes: struct net6_fib_route.life.list; same. Those of routers in front
 * @pref64s: struct net6_pref64.life.list; under nn->lock
 * @ends: struct net6_life.node of routers, prefixes and routes that do not live for ever, and of
 *	what routers have told; the soonest first. Under nn->lock
 * @groups: struct net6_accept.list of joined groups; same
 * @unicast: those of its unicast addresses; same
 * @mld: what routers are told about them
 * @anycast: struct net6_accept.list of its anycast addresses; same
 * @answers: advertisements for them and for proxied addresses that are sent later; nn->lock
 * @n_proxies: proxied addresses (core/proxy.c); written under nn->lock
 * @n_addrs: SLAAC addresses in @addrs; @n_prefixes, @n_routers, @n_routes, @n_pref64s: alike
 * @n_manual: addresses, prefixes and default routers that were set by hand
 * @neighs: struct net6_neigh by address
 * @n_neighs: entries in @neighs
 * @neigh_lru: least recently used first, under @neigh_lock
 * @neigh_kept: those of them that were found to have to stay when others had to go
 * @neigh_unresolved: those that had no link-layer address when eviction last looked, oldest
 *	first; same
 * @n_unresolved: entries in @neigh_unresolved; same
 * @neigh_lock: protects these lists and insertion; below nn->lock, above neigh->lock
 * @sysctl: its files (admin/sysctl.c), under RTNL
 * @dev_snmp6: its file (takeover/proc.c), or NULL; under RTNL
 * @rt: what its packets have for a route in netfilter's hooks (takeover/nfroute.c), or NULL
 * @dsts: routes that the kernel's tunnels have by it (takeover/dst.c)
 * @mib: its counters, or NULL (net6_iface_mib_on)
 * @reachable_renewed: jiffies when @reachable was drawn
 * @conf: parameters that have no field of their own; net6_conf() reads
 */
struct net6_iface {
	struct net6_net			*nn;
	struct net_device		*dev;
	const struct net6_link_ops	*ops;
	unsigned long			flags;
	int				ifindex;
	int				l3mdev;
	struct net6_table		*table;
	u32				mtu;
	u8				cur_hop_limit;
	u8				dad_transmits;
	bool				autoconf;
	bool				forwarding;
	bool				ndisc_notify;
	bool				proxy_ndp;
	bool				optimistic_dad;
	u8				accept_ra;
	u8				use_tempaddr;
	u16				headroom;
	u32				n_proxies;
	u32				temp_valid;
	u32				temp_preferred;
	u8				lladdr[MAX_ADDR_LEN];
	unsigned long			reachable;
	unsigned long			retrans;
	u32				base_reachable_ms;

	struct rhashtable		neighs;
	atomic_t			n_neighs;
	struct list_head		neigh_lru;
	struct list_head		neigh_kept;
	struct list_head		neigh_unresolved;
	u32				n_unresolved;
	spinlock_t			neigh_lock;

	struct list_head		addrs;
	struct list_head		formed;
	struct list_head		prefixes;
	struct list_head		routers;
	struct list_head		routes;
	struct list_head		pref64s;
	struct rb_root_cached		ends;
	struct list_head		groups;
	struct list_head		unicast;
	u32				n_addrs;
	u32				n_prefixes;
	u32				n_routers;
	u32				n_routes;
	u32				n_pref64s;
	u32				n_manual;

	struct timer_list		rs_timer;
	struct timer_list		life_timer;
	unsigned long			rs_delay;
	u32				rs_sent;
	unsigned long			reachable_renewed;
	u32				ra_mtu;
	u8				ra_flags;
	__be64				token;
	s32				conf[NET6_PARAMS];

	struct net6_mld			mld;
	struct list_head		anycast;
	struct net6_answers		answers;
	struct net6_sysctl		*sysctl;
	struct proc_dir_entry		*dev_snmp6;
	struct rt6_info			*rt;
	struct hlist_head		dsts;
	struct net6_iface_mib __percpu	*mib;

	struct nf_hook_ops		hook;
	struct packet_type		packet;
	netdevice_tracker		dev_tracker;
	struct rhash_head		index_node;
	struct list_head		list;
	refcount_t			ref;
	struct rcu_head			rcu;
};

/* RCU read lock or RTNL held; borrowed. */
struct net6_iface *net6_iface_find(struct net6_net *nn, int ifindex);
/* RCU read lock held. */
struct net6_iface *net6_iface_find_multicast(struct net6_net *nn,
					     const struct net6_table *table);

/* An interface found under RCU always has a reference left to add to. */
struct net6_iface *net6_iface_get(struct net6_iface *iface);
void net6_iface_put(struct net6_iface *iface);

/* RTNL held; both sleep. */
int net6_iface_attach(struct net_device *dev);
void net6_iface_detach(struct net_device *dev);
void net6_iface_consider(struct net_device *dev);
void net6_iface_join_allnodes(struct net6_iface *iface);
void net6_iface_follow(struct net6_iface *iface);
void net6_iface_stop(struct net6_iface *iface);
void net6_iface_leave(struct net6_iface *iface);
const struct net6_link_ops *net6_link_of(const struct net_device *dev);
bool net6_link_is_ipvlan(const struct net_device *dev);
bool net6_link_asks_native(const struct net_device *dev);	/* RTNL held, sleeps */
void net6_iface_set_mtu(struct net6_iface *iface);	/* nn->lock held */
void net6_iface_not_unique(struct net6_iface *iface);
void net6_iface_set_disabled(struct net6_iface *iface, bool disabled);	/* nn->lock held */
void net6_iface_settle(struct net6_iface *iface);	/* RTNL held; sleeps */
bool net6_iface_keeps(const struct net6_iface *iface);	/* without a carrier */

/**
 * net6_iface_room() - notice when the device wants more room in front of packets
 * @iface: interface
 *
 * The kernel's tunnels learn it when they are bound to a device, or with a packet. Context: any.
 */
static inline void net6_iface_room(struct net6_iface *iface)
{
	unsigned int room = min_t(unsigned int, LL_RESERVED_SPACE(iface->dev), U16_MAX);

	if (unlikely(room > READ_ONCE(iface->headroom)))
		WRITE_ONCE(iface->headroom, room);
}

/**
 * struct net6_iface_watcher - who wants to know of interfaces that come and go
 * @attached: there is a new one, or it has a new name
 * @detached: it goes, or its name does
 * @list: of all that watch, under RTNL
 *
 * Both are called with RTNL held and may sleep.
 */
struct net6_iface_watcher {
	struct list_head list;
	void (*attached)(struct net6_iface *iface);
	void (*detached)(struct net6_iface *iface);
};

/* core/iface_find.c */
int net6_iface_find_add(struct net6_iface *iface);
void net6_iface_find_del(struct net6_iface *iface);
int net6_iface_find_net_init(struct net6_net *nn);
void net6_iface_find_net_free(struct net6_net *nn);

/* core/iface_watch.c */
void net6_iface_still(void (*fn)(void *arg), void *arg);
void net6_iface_watch(struct net6_iface_watcher *watcher);
void net6_iface_unwatch(struct net6_iface_watcher *watcher);
void net6_iface_tell_attached(struct net6_iface *iface);
void net6_iface_tell_detached(struct net6_iface *iface);

/* core/hook.c: the ways into net6_rcv(). RTNL held. */
int net6_hook_register(struct net6_iface *iface);
void net6_hook_unregister(struct net6_iface *iface);

int net6_iface_net_init(struct net6_net *nn);
void net6_iface_net_exit(struct net6_net *nn);
int net6_iface_init(void);
void net6_iface_exit(void);

static inline bool net6_iface_usable(const struct net6_iface *iface)
{
	return test_bit(NET6_IFACE_UP, &iface->flags);
}

/**
 * net6_iface_table() - the routing table that has an interface's addresses and prefixes
 * @iface: interface
 *
 * Context: RCU read lock or RTNL held, or no writer. Return: main or a VRF's.
 */
static inline struct net6_table *net6_iface_table(const struct net6_iface *iface)
{
	return READ_ONCE(iface->table);
}

/**
 * net6_conf() - the value of a parameter that has no field of its own
 * @iface: interface
 * @param: which
 *
 * Context: any. Return: value in the unit that its specification gives.
 */
static inline s32 net6_conf(const struct net6_iface *iface, enum net6_param param)
{
	return READ_ONCE(iface->conf[param]);
}

/**
 * net6_iface_refuses() - may addresses, prefixes and routes be added?
 * @iface: interface
 *
 * Context: nn->lock or RTNL held. Return: 0, -ENODEV (it is going), -EACCES (disable_ipv6).
 */
static inline int net6_iface_refuses(const struct net6_iface *iface)
{
	if (test_bit(NET6_IFACE_DEAD, &iface->flags))
		return -ENODEV;
	return test_bit(NET6_IFACE_DISABLED, &iface->flags) ? -EACCES : 0;
}

/**
 * net6_iface_set_up() - is the device set up, with a carrier or without?
 * @iface: interface
 *
 * Context: RTNL held. Return: true if it is, and IPv6 is not off there.
 */
static inline bool net6_iface_set_up(const struct net6_iface *iface)
{
	return netif_running(iface->dev) && !net6_iface_refuses(iface);
}

/**
 * net6_iface_refuses_from() - as net6_iface_refuses(), or is it only a router that says so?
 * @iface: interface
 * @manual: the administrator says it
 *
 * An advertisement that came in while packets flowed may be worked on when what routers have said
 * was forgotten already (net6_nd_iface_down()).
 * Context: nn->lock held. Return: as there, or -ENETDOWN.
 */
static inline int net6_iface_refuses_from(const struct net6_iface *iface, bool manual)
	__must_hold(&iface->nn->lock)
{
	int err = net6_iface_refuses(iface);

	if (!err && !manual && !net6_iface_usable(iface))
		err = -ENETDOWN;
	return err;
}

/**
 * net6_iface_manual_full() - one more that is set by hand is too many
 * @iface: interface
 *
 * Context: nn->lock held. Return: true after it was counted.
 */
static inline bool net6_iface_manual_full(const struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	if (iface->n_manual < READ_ONCE(iface->nn->limits.max_manual))
		return false;
	NET6_INC(iface->nn, NdManualLimit);
	return true;
}

/**
 * net6_iface_asks_nobody() - has nobody there an address that is to be asked for?
 * @iface: interface
 *
 * As native: where a device has IFF_NOARP, a dummy one say, neighbors have its own link-layer
 * address, and no address is another node's. On devices that carry IPv6 for net6 only that is about
 * IPv4. Context: any.
 */
static inline bool net6_iface_asks_nobody(const struct net6_iface *iface)
{
	u32 flags = iface->ops->flags;

	if (!(flags & NET6_LINK_ND))
		return true;
	return !(flags & (NET6_LINK_OWN | NET6_LINK_DIRECT)) &&
	       (READ_ONCE(iface->dev->flags) & IFF_NOARP);
}

/* Does its device look at a packet's route? A tunnel does not send what its own path does not
 * carry, and tells nobody else. In takeover mode only.
 */
static inline bool net6_iface_keeps_dst(const struct net6_iface *iface)
{
	return iface->rt && !(iface->dev->priv_flags & IFF_XMIT_DST_RELEASE);
}

static inline bool net6_iface_is_loopback(const struct net6_iface *iface)
{
	return iface->ops->flags & NET6_LINK_LOOPBACK;
}

#endif /* _NET6_IFACE_H */
