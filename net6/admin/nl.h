/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of the netlink family share dumps that are snapshots, and the objects as programs and
 * listeners of the monitor group see them.
 */
#ifndef _NET6_ADMIN_NL_H
#define _NET6_ADMIN_NL_H

#include <net/genetlink.h>

#include "../core/nd.h"
#include "netlink_gen.h"

/* More objects than that are never in one snapshot; the rest is left out and the
 * dump is marked as interrupted.
 */
#define NET6_NL_SNAPSHOT_MAX	524288U

/**
 * struct net6_nl_list - where a snapshot is written to
 * @items: @room objects of @size bytes, zeroed
 * @size: bytes of an object
 * @room: objects that fit
 * @n: objects that there were; more than @room if they did not fit
 * @filter: interface index (sockets: protocol) that is asked for, 0 for all
 * @userns: user namespace that ids are told in
 */
struct net6_nl_list {
	void			*items;
	size_t			size;
	u32			room;
	u32			n;
	u32			filter;
	struct user_namespace	*userns;
};

/**
 * net6_nl_next() - the place of the next object of a snapshot
 * @list: snapshot being taken
 *
 * Context: any. Return: zeroed memory to fill, or NULL if there is no room. Then the object is
 * only counted, and the snapshot is taken again with more room.
 */
static inline void *net6_nl_next(struct net6_nl_list *list)
{
	u32 n = list->n++;

	return n < list->room ? list->items + n * list->size : NULL;
}

/* Back to when there were @n objects: what was written since is not to be told. */
static inline void net6_nl_rewind(struct net6_nl_list *list, u32 n)
{
	if (n < list->room)
		memset(list->items + n * list->size, 0,
		       (min(list->n, list->room) - n) * list->size);
	list->n = n;
}

/* The place that net6_nl_next() gave last; NULL if there was no room. */
static inline void *net6_nl_last(const struct net6_nl_list *list)
{
	return list->n && list->n <= list->room ? list->items + (list->n - 1) * list->size : NULL;
}

/**
 * struct net6_nl_dump_ops - how a table is dumped
 * @cmd: command of the answers
 * @size: bytes of an object in the snapshot, or of the state of @walk
 * @collect: write all objects to @list. Context: process; takes locks, may sleep
 * @walk: instead of it, for tables of which nobody has a snapshot: call net6_nl_dump_item()
 *	for objects until one does not fit, and keep in @state, all 0 at first, how far that was.
 *	@filter is what was asked for, 0 for all. Context: process
 * @put: write the attributes of @item. Return: 0 or -EMSGSIZE
 * @drop: give back what @item refers to; NULL if it refers to nothing
 */
struct net6_nl_dump_ops {
	u8	cmd;
	size_t	size;
	void	(*collect)(struct net6_net *nn, struct net6_nl_list *list);
	void	(*walk)(struct sk_buff *skb, struct netlink_callback *cb, void *state, u32 filter);
	int	(*put)(struct sk_buff *skb, const void *item);
	void	(*drop)(void *item);
};

int net6_nl_dump_item(struct sk_buff *skb, struct netlink_callback *cb,
		      const struct net6_nl_dump_ops *ops, const void *item);

int net6_nl_dump_start(struct netlink_callback *cb, const struct net6_nl_dump_ops *ops,
		       int filter_attr);
void *net6_nl_put_header(struct sk_buff *skb, u32 portid, u32 seq, int flags, u8 cmd);

/* The interface that attribute @attr of a request names. RTNL held. NULL with the
 * reason in the extended acknowledgment and *err.
 */
struct net6_iface *net6_nl_iface(struct genl_info *info, int attr, int *err);

static inline struct net6_net *net6_nl_nn(struct genl_info *info)
{
	return net6_pernet(genl_info_net(info));
}

static inline u32 net6_nl_ms_since(unsigned long stamp)
{
	return jiffies_to_msecs(jiffies - stamp);
}

/* Objects as they are told, in host byte order. Lifetimes are seconds that are left; U32_MAX is
 * for ever.
 */

/**
 * struct net6_nl_addr - an address as it is told
 * @addr: the address
 * @ifindex: of its interface
 * @plen: length of its prefix
 * @state: enum net6_addr_state
 * @origin: enum net6_addr_origin
 * @valid: valid lifetime
 * @preferred: preferred lifetime
 */
struct net6_nl_addr {
	struct in6_addr	addr;
	int		ifindex;
	u8		plen;
	u8		state;
	u8		origin;
	u32		valid;
	u32		preferred;
};

/**
 * struct net6_nl_neigh - a neighbor as it is told
 * @addr: its address
 * @ifindex: of the interface
 * @state: enum net6_neigh_state
 * @flags: NET6_NEIGH_FLAGS_*
 * @probes: solicitations that were sent and not answered
 * @lladdr_len: octets in @lladdr, 0 if it is not known
 * @queued: packets that wait for it
 * @confirmed: milliseconds since its last confirmation, if @was_confirmed
 * @used: milliseconds since its last use
 * @was_confirmed: it was confirmed once
 * @lladdr: its link-layer address
 */
struct net6_nl_neigh {
	struct in6_addr	addr;
	int		ifindex;
	u8		state;
	u8		flags;
	u8		probes;
	u8		lladdr_len;
	u32		queued;
	u32		confirmed;
	u32		used;
	bool		was_confirmed;
	u8		lladdr[MAX_ADDR_LEN];
};

/**
 * struct net6_nl_router - a default router as it is told
 * @addr: its link-local address
 * @ifindex: of the interface
 * @preference: RFC 4191 section 2.1: -1, 0 or 1
 * @manual: set by hand
 * @neigh_state: enum net6_neigh_state
 * @lifetime: router lifetime
 * @metrics: NULL for none; a snapshot has a reference
 * @source: that it asks for, or ::
 * @hops: weight less 1
 */
struct net6_nl_router {
	struct in6_addr	addr;
	int		ifindex;
	s8		preference;
	bool		manual;
	u8		neigh_state;
	u32		lifetime;
	struct net6_metrics *metrics;
	struct in6_addr	source;
	u8		hops;
};

/**
 * struct net6_nl_prefix - an on-link prefix as it is told
 * @prefix: bits beyond @plen are zero
 * @ifindex: of the interface
 * @plen: 0..128
 * @manual: set by hand
 * @valid: valid lifetime
 */
struct net6_nl_prefix {
	struct in6_addr	prefix;
	int		ifindex;
	u8		plen;
	bool		manual;
	u32		valid;
};

struct net6_pref64;

/**
 * struct net6_nl_pref64 - a prefix of NAT64 as it is told
 * @prefix: bits beyond @plen are zero
 * @router: who tells it
 * @ifindex: of the interface
 * @plen: 32 to 96
 * @lifetime: what is left of it
 */
struct net6_nl_pref64 {
	struct in6_addr	prefix;
	struct in6_addr	router;
	int		ifindex;
	u8		plen;
	u32		lifetime;
};

/**
 * struct net6_nl_route - a route as it is told
 * @prefix: bits beyond @plen are zero
 * @gateway: next hop, or :: for on-link
 * @ifindex: of the interface
 * @plen: 0..128
 * @preference: RFC 4191 section 2.1: -1, 0 or 1
 * @manual: set by hand
 * @lifetime: route lifetime
 * @metrics: NULL for none; a snapshot has a reference
 * @source: that it asks for, or ::
 * @table: number of its table, 0 for main
 * @hops: weight less 1
 */
struct net6_nl_route {
	struct in6_addr	prefix;
	struct in6_addr	gateway;
	int		ifindex;
	u8		plen;
	s8		preference;
	bool		manual;
	u32		lifetime;
	struct net6_metrics *metrics;
	struct in6_addr	source;
	u32		table;
	u8		hops;
};

/* The source that a route asks for, :: for none. The caller keeps the route. */
static inline struct in6_addr net6_nl_source(const struct net6_route_attrs *attrs)
{
	const struct in6_addr *source = net6_source_addr(attrs->source);

	return source ? *source : in6addr_any;
}

int net6_nl_route_source(struct genl_info *info, int attr, const struct net6_iface *iface,
			 struct net6_route_attrs *attrs);

/* Under the lock that protects the object. */
void net6_nl_addr_fill(struct net6_nl_addr *to, const struct net6_addr *from);
void net6_nl_neigh_fill(struct net6_nl_neigh *to, const struct net6_neigh *from);
void net6_nl_router_fill(struct net6_nl_router *to, const struct net6_router *from);
void net6_nl_prefix_fill(struct net6_nl_prefix *to, const struct net6_prefix *from);
void net6_nl_pref64_fill(struct net6_nl_pref64 *to, const struct net6_pref64 *from);

int net6_nl_addr_put(struct sk_buff *skb, const void *item);
int net6_nl_neigh_put(struct sk_buff *skb, const void *item);
int net6_nl_router_put(struct sk_buff *skb, const void *item);
int net6_nl_prefix_put(struct sk_buff *skb, const void *item);
int net6_nl_pref64_put(struct sk_buff *skb, const void *item);
void net6_nl_route_fill(struct net6_nl_route *to, const struct net6_fib_route *from);
int net6_nl_route_put(struct sk_buff *skb, const void *item);

extern struct genl_family net6_nl_family;

#endif /* _NET6_ADMIN_NL_H */
