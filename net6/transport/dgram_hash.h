/* SPDX-License-Identifier: GPL-2.0 */
/* The tables of datagram sockets, for those who bind to a port, look up and walk. */
#ifndef _NET6_DGRAM_HASH_H
#define _NET6_DGRAM_HASH_H

#include <linux/seqlock.h>
#include <net/netns/hash.h>

#include "dgram.h"

#define NET6_DGRAM_BUCKETS	1024	/* a power of two */

/**
 * struct net6_dgram_bucket - sockets whose local ports share a hash value
 * @head: sockets by sk_node; RCU to read
 * @lock: to write; taken with BH disabled, below the socket lock
 * @count: of them, under @lock
 * @filed: all of them are also in the chains by address and port, or by flow. Set by many sockets,
 *	cleared by none. Written under @lock, read by net6_dgram_filed()
 * @device: of one of them at least, bound to a device; cleared with the last socket
 * @flows: how many are in the chains by flow; written under @lock
 * @moves: written, under @lock, where one leaves such a chain: a reader may have followed it into
 *	another one, and reads again
 */
struct net6_dgram_bucket {
	struct hlist_head	head;
	spinlock_t		lock;	/* see above */
	u32			count;
	bool			filed;
	bool			device;
	u32			flows;
	seqcount_spinlock_t	moves;
};

static inline bool net6_dgram_filed(const struct net6_dgram_bucket *b)
{
	/* Pairs with net6_dgram_add(): then all are where it says. */
	return smp_load_acquire(&b->filed);
}

/**
 * struct net6_dgram_addr_chain - sockets whose local addresses and ports share a hash value
 * @head: by skc_portaddr_node; RCU to read. A reader may be carried to another chain by a socket
 *	that moves, and looks at its bucket's @moves
 * @lock: to write, and to find all; inside the lock of a bucket
 */
struct net6_dgram_addr_chain {
	struct hlist_head	head;
	spinlock_t		lock;	/* see above */
};

extern struct net6_dgram_bucket *net6_dgram_table;

/**
 * net6_dgram_bucket() - the chain of a port
 * @net: namespace
 * @protocol: IPPROTO_UDP or IPPROTO_ICMPV6
 * @port: host byte order
 *
 * Context: any. Return: never NULL.
 */
static inline struct net6_dgram_bucket *net6_dgram_bucket(const struct net *net, u8 protocol,
							  u16 port)
{
	u32 hash = port + net_hash_mix(net) + protocol;

	return &net6_dgram_table[hash & (NET6_DGRAM_BUCKETS - 1)];
}

/* dgram_hash.c */
u32 net6_dgram_addr_hash(const struct net *net, u8 protocol, const struct in6_addr *addr,
			 u16 port);
u64 net6_dgram_tuple_hash(const struct net *net, const struct net6_dgram_key *key);
struct net6_dgram_addr_chain *net6_dgram_addr_chain(u32 hash);
struct hlist_head *net6_dgram_addr_head(const struct net *net, u8 protocol,
					const struct in6_addr *addr, u16 port);
struct hlist_head *net6_dgram_flow_head(const struct net *net, const struct net6_dgram_key *key);
void net6_dgram_add(struct sock *sk, struct net6_dgram_bucket *b);
void net6_dgram_del(struct sock *sk, struct net6_dgram_bucket *b);

#endif /* _NET6_DGRAM_HASH_H */
