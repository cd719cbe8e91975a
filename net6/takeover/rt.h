/* SPDX-License-Identifier: GPL-2.0 */
/* rtnetlink for PF_INET6 in takeover mode: what its parts share, and net6's next-hop
 * decisions as the routes that programs expect to see.
 */
#ifndef _NET6_RT_H
#define _NET6_RT_H

#include <net/rtnetlink.h>

#include "../core/nd.h"
#include "../observe/note.h"

/* Where net6 keeps what is shown as a route. */
enum net6_rt_kind {
	NET6_RT_IMPLIED,	/* nowhere: an address' own, or what each link has */
	NET6_RT_PREFIX,		/* Prefix List */
	NET6_RT_ENTRY,		/* routing table */
	NET6_RT_ROUTER,		/* Default Router List */
};

/**
 * struct net6_rt_route - a route as rtnetlink and /proc/net/ipv6_route show it
 * @dst: destination; @plen: its length in bits
 * @gateway: next hop, :: if the destination is on-link
 * @dev: outgoing device
 * @attrs: what else is said of it; metric as native: 0 for own addresses, 256 for prefixes,
 *	1024 for routers
 * @expires: seconds left, NET6_LIFETIME_INFINITE
 * @rtf_flags: RTF_*, for /proc
 * @table: number of its table
 * @type: RTN_*
 * @kind: enum net6_rt_kind
 * @self: what it was made of if it may be one of several next hops, else NULL. Borrowed: for who
 *	holds the RCU read lock or nn->lock since then
 */
struct net6_rt_route {
	struct in6_addr			dst;
	struct in6_addr			gateway;
	const struct net_device		*dev;
	struct net6_route_attrs		attrs;
	u32				expires;
	u32				rtf_flags;
	u32				table;
	u8				plen;
	u8				type;
	u8				kind;
	const void			*self;
};

/**
 * struct net6_rt_hop - a next hop
 * @gateway: its address
 * @iface: by which interface; NULL: by the one that the address is on
 * @source: the source that packets by it are to have, NULL if nothing is said
 * @hops: its weight, less 1
 * @onlink: whoever asks for it says that the gateway is on the link
 */
struct net6_rt_hop {
	struct in6_addr		gateway;
	struct net6_iface	*iface;
	struct net6_source	*source;
	u8			hops;
	bool			onlink;
};

/* What is called for each route of several. */
typedef int (*net6_rt_fn)(const struct net6_rt_route *route, void *arg);

/**
 * struct net6_rt_pos - how far a walk has come
 * @fib: in the routing tables, which come last
 * @ifaces: so many interfaces have been shown; U32_MAX: all
 * @n: so many routes of the next one
 */
struct net6_rt_pos {
	struct net6_fib_pos	fib;
	u32			ifaces;
	u32			n;
};

int net6_rt_routes_walk(struct net6_net *nn, u32 only, struct net6_rt_pos *pos, net6_rt_fn fn,
			void *arg);
int net6_rt_routes_at(struct net6_net *nn, u32 id, const struct in6_addr *dst, u8 plen,
		      net6_rt_fn fn, void *arg);
int net6_rt_routes_over(const struct net6_iface *iface, u32 id, const struct in6_addr *addr,
			net6_rt_fn fn, void *arg);
void net6_rt_of_own(struct net6_rt_route *to, const struct in6_addr *addr,
		    const struct net_device *dev, u32 table);
void net6_rt_of_prefix(struct net6_rt_route *to, const struct net6_prefix *from);
void net6_rt_of_router(struct net6_rt_route *to, const struct net6_router *from);
void net6_rt_of_fib(struct net6_rt_route *to, const struct net6_fib_route *from);

void net6_rt_route_tell(struct net *net, const struct net6_rt_route *route, int type,
			unsigned int nl_flags);

/* RTNH_F_* of a next hop by this device: why no packets go there now. */
static inline unsigned int net6_rt_dev_flags(const struct net_device *dev)
{
	return (netif_running(dev) ? 0 : RTNH_F_DEAD) |
	       (netif_running(dev) && netif_carrier_ok(dev) ? 0 : RTNH_F_LINKDOWN);
}

/* rt_hops.c */
u32 net6_rt_hops_count(const struct net6_rt_route *route);
bool net6_rt_hops_lead(const struct net6_rt_route *route);
bool net6_rt_hops_on(const struct net6_rt_route *route, u32 ifindex);
int net6_rt_hops_write(struct sk_buff *skb, const struct net6_rt_route *route);
int net6_rt_hops_read(struct net6_net *nn, const struct nlattr *attr, struct net6_rt_hop **hops,
		      struct netlink_ext_ack *extack);

/* rt_nexthop.c, rt_follow.c */
u32 net6_rt_nexthop_id(struct net *net, u32 handle);
int net6_rt_follow_init(void);
void net6_rt_follow_exit(void);

/* rt_route.c, for rt_dest.c */
struct nlmsghdr *net6_rt_route_header(struct sk_buff *skb, const struct net6_rt_route *route,
				      u32 portid, u32 seq, int type, unsigned int nl_flags);
int net6_rt_route_attrs(struct sk_buff *skb, const struct net6_rt_route *route);
int net6_rt_route_fill(struct sk_buff *skb, const struct net6_rt_route *route, u32 portid, u32 seq,
		       int type, unsigned int nl_flags);

/* RTA_* of a request. */
extern const struct nla_policy net6_rt_route_policy[RTA_MAX + 1];

/* IFA_F_* of an address. */
u32 net6_rt_addr_flags(const struct net6_addr *addr);

/**
 * struct net6_rt_dump - a dump that goes on from where the last message was full
 * @skb: message
 * @cb: the dump; args[0] counts the objects that were sent
 * @idx: of the object at hand
 * @oif: interface that is asked for, 0 for all
 * @table: alike
 */
struct net6_rt_dump {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	long			idx;
	u32			oif;
	u32			table;
};

/* Is the object at hand still to be sent? */
static inline bool net6_rt_dump_wants(struct net6_rt_dump *d)
{
	return d->idx++ >= d->cb->args[0];
}

int net6_rt_route_filter(struct net6_rt_dump *d);

/* All RTM_* of addresses, routes, neighbors, labels. RTNL held. */
int net6_rt_addr_new(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_addr_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_addr_dump(struct sk_buff *skb, struct netlink_callback *cb);
int net6_rt_group_dump(struct sk_buff *skb, struct netlink_callback *cb);
int net6_rt_anycast_dump(struct sk_buff *skb, struct netlink_callback *cb);
int net6_rt_route_new(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_route_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_route_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_route_dump(struct sk_buff *skb, struct netlink_callback *cb);
int net6_rt_dest_dump(struct sk_buff *skb, struct netlink_callback *cb);
int net6_rt_dest_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_neigh_new(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_neigh_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_neigh_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_neigh_dump(struct sk_buff *skb, struct netlink_callback *cb);
int net6_rt_label_new(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_label_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_label_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int net6_rt_label_dump(struct sk_buff *skb, struct netlink_callback *cb);
int net6_rt_link_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* The AF_INET6 part of links (takeover/rt_link.c). */
extern struct rtnl_af_ops net6_rt_af_ops;

/* As struct net6_note_ops. */
void net6_rt_note_addr(const struct net6_addr *addr, enum net6_note_event event);
void net6_rt_note_neigh(const struct net6_neigh *neigh, enum net6_note_event event);
void net6_rt_note_fib(const struct net6_fib_route *entry, enum net6_note_event event);
void net6_rt_note_router(const struct net6_router *router, enum net6_note_event event);
void net6_rt_note_ra_flags(const struct net6_iface *iface);
void net6_rt_note_ra_option(const struct net6_iface *iface, const struct in6_addr *router,
			    const struct net6_nd_opt *opt);
void net6_rt_note_prefix(const struct net6_prefix *prefix, enum net6_note_event event);

#endif /* _NET6_RT_H */
