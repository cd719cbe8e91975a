// SPDX-License-Identifier: GPL-2.0
/* The tables of datagram sockets. One goes by local port. When a chain of it has become long, its
 * sockets are filed in a second one as well, until it is empty: connected ones by both addresses
 * and ports, others by their own address and port.
 */
#include <linux/siphash.h>
#include <net/netns/hash.h>

#include "dgram.h"
#include "dgram_hash.h"

#define NET6_DGRAM_ADDR_CHAINS	4096	/* a power of two */
/* Of so many sockets a chain of ports is looked through: two hashes cost as much. */
#define NET6_DGRAM_SHORT	10

struct net6_dgram_bucket *net6_dgram_table;
static struct net6_dgram_addr_chain *net6_dgram_addr_table;
static siphash_key_t net6_dgram_secret __read_mostly;

/* A hash whose top bit tells flows from addresses. */
#define NET6_DGRAM_FLOW	BIT(31)

/**
 * net6_dgram_addr_hash() - where a socket that is not connected is filed
 * @net: namespace
 * @protocol: IPPROTO_UDP or IPPROTO_ICMPV6
 * @addr: local address, :: for none
 * @port: host byte order
 *
 * Context: any. Return: without NET6_DGRAM_FLOW.
 */
u32 net6_dgram_addr_hash(const struct net *net, u8 protocol, const struct in6_addr *addr,
			 u16 port)
{
	return siphash_3u64(get_unaligned((const u64 *)&addr->s6_addr32[0]),
			    get_unaligned((const u64 *)&addr->s6_addr32[2]),
			    (u64)net_hash_mix(net) << 32 | protocol << 16 | port,
			    &net6_dgram_secret) & ~NET6_DGRAM_FLOW;
}

/**
 * net6_dgram_tuple_hash() - of a datagram's or a connection's addresses and ports
 * @net: namespace
 * @key: both ends
 *
 * All of it is hashed with the key: nobody outside can direct what he sends at a chain, or at a
 * socket of a SO_REUSEPORT group. The lower half chooses the chain, the upper one the socket.
 * Context: any.
 */
u64 net6_dgram_tuple_hash(const struct net *net, const struct net6_dgram_key *key)
{
	const struct {
		struct in6_addr	laddr;
		struct in6_addr	faddr;
		u32		net;
		u16		lport;
		__be16		fport;
	} __aligned(SIPHASH_ALIGNMENT) tuple = {
		.laddr	= *key->laddr,
		.faddr	= *key->faddr,
		.net	= net_hash_mix(net) + key->protocol,
		.lport	= key->lport,
		/* An echo has none. */
		.fport	= key->protocol == IPPROTO_UDP ? key->fport : 0,
	};

	BUILD_BUG_ON(sizeof(tuple) != 40);	/* no padding, which would be hashed, too */
	return siphash(&tuple, sizeof(tuple), &net6_dgram_secret);
}

static u32 net6_dgram_flow_hash(const struct net *net, const struct net6_dgram_key *key)
{
	return (u32)net6_dgram_tuple_hash(net, key) | NET6_DGRAM_FLOW;
}

/* Where a socket of @port is to be found. */
static u32 net6_dgram_sk_hash(const struct sock *sk, u16 port)
{
	const struct net6_dgram_key key = {
		.laddr		= &sk->sk_v6_rcv_saddr,
		.faddr		= &sk->sk_v6_daddr,
		.lport		= port,
		.fport		= inet_sk(sk)->inet_dport,
		.protocol	= sk->sk_protocol,
	};

	if (sk->sk_state == TCP_ESTABLISHED && !ipv6_addr_any(&sk->sk_v6_rcv_saddr))
		return net6_dgram_flow_hash(sock_net(sk), &key);
	return net6_dgram_addr_hash(sock_net(sk), sk->sk_protocol, &sk->sk_v6_rcv_saddr, port);
}

/**
 * net6_dgram_addr_chain() - the chain of a hash value
 * @hash: of an address and port, or of a flow
 *
 * Context: any. Return: never NULL.
 */
struct net6_dgram_addr_chain *net6_dgram_addr_chain(u32 hash)
{
	return &net6_dgram_addr_table[hash & (NET6_DGRAM_ADDR_CHAINS - 1)];
}

/**
 * net6_dgram_addr_head() - the chain of an address and port, for buckets that are filed
 * @net: namespace
 * @protocol: IPPROTO_UDP or IPPROTO_ICMPV6
 * @addr: local address of sockets, :: for those without one
 * @port: host byte order
 *
 * Context: any. Return: never NULL; sockets by skc_portaddr_node, others among them.
 */
struct hlist_head *net6_dgram_addr_head(const struct net *net, u8 protocol,
					const struct in6_addr *addr, u16 port)
{
	return &net6_dgram_addr_chain(net6_dgram_addr_hash(net, protocol, addr, port))->head;
}

/**
 * net6_dgram_flow_head() - the chain of a connection, for buckets that are filed
 * @net: namespace
 * @key: both ends
 *
 * Context: any. Return: never NULL; connected sockets by skc_portaddr_node, others among them.
 */
struct hlist_head *net6_dgram_flow_head(const struct net *net, const struct net6_dgram_key *key)
{
	return &net6_dgram_addr_chain(net6_dgram_flow_hash(net, key))->head;
}

/* The newest of a chain comes first, in both tables. */
static void net6_dgram_file(struct sock *sk, struct net6_dgram_bucket *b, bool newest)
	__must_hold(&b->lock)
{
	struct net6_dgram_addr_chain *chain;

	lockdep_assert_held(&b->lock);
	sk->sk_hash = net6_dgram_sk_hash(sk, inet_sk(sk)->inet_num);
	if (sk->sk_hash & NET6_DGRAM_FLOW)
		WRITE_ONCE(b->flows, b->flows + 1);
	chain = net6_dgram_addr_chain(sk->sk_hash);
	spin_lock(&chain->lock);
	if (newest)
		hlist_add_head_rcu(&sk->__sk_common.skc_portaddr_node, &chain->head);
	else
		hlist_add_tail_rcu(&sk->__sk_common.skc_portaddr_node, &chain->head);
	spin_unlock(&chain->lock);
}

/* The bucket's @moves are being written. */
static void net6_dgram_unfile(struct sock *sk, struct net6_dgram_bucket *b)
	__must_hold(&b->lock)
{
	struct net6_dgram_addr_chain *chain = net6_dgram_addr_chain(sk->sk_hash);

	lockdep_assert_held(&b->lock);
	if (sk->sk_hash & NET6_DGRAM_FLOW)
		WRITE_ONCE(b->flows, b->flows - 1);
	spin_lock(&chain->lock);
	hlist_del_init_rcu(&sk->__sk_common.skc_portaddr_node);
	spin_unlock(&chain->lock);
}

/* From here on a search does not stop before it has come to this one. */
static void net6_dgram_note_device(const struct sock *sk, struct net6_dgram_bucket *b)
	__must_hold(&b->lock)
{
	if (READ_ONCE(sk->sk_bound_dev_if))
		WRITE_ONCE(b->device, true);
}

/**
 * net6_dgram_add() - a socket has a port now
 * @sk: socket, with its addresses and port
 * @b: the port's
 *
 * Context: @b's lock held.
 */
void net6_dgram_add(struct sock *sk, struct net6_dgram_bucket *b)
	__must_hold(&b->lock)
{
	lockdep_assert_held(&b->lock);
	hlist_add_head_rcu(&sk->sk_node, &b->head);
	b->count++;
	net6_dgram_note_device(sk, b);
	if (b->filed) {
		net6_dgram_file(sk, b, true);
	} else if (unlikely(b->count > NET6_DGRAM_SHORT)) {
		hlist_for_each_entry(sk, &b->head, sk_node)
			net6_dgram_file(sk, b, false);
		/* Who sees this finds them all there. */
		smp_store_release(&b->filed, true);
	}
}

/**
 * net6_dgram_del() - a socket's port is its no more
 * @sk: socket
 * @b: the port's
 *
 * Context: @b's lock held.
 */
void net6_dgram_del(struct sock *sk, struct net6_dgram_bucket *b)
	__must_hold(&b->lock)
{
	lockdep_assert_held(&b->lock);
	hlist_del_init_rcu(&sk->sk_node);
	b->count--;
	if (!b->count)
		WRITE_ONCE(b->device, false);
	if (likely(!b->filed))
		return;
	write_seqcount_begin(&b->moves);
	net6_dgram_unfile(sk, b);
	if (!b->count)
		WRITE_ONCE(b->filed, false);
	write_seqcount_end(&b->moves);
}

/**
 * net6_dgram_rehash() - struct proto's rehash: a socket has another local address, peer or device
 * @sk: socket, owned; nothing happens if it has no port
 *
 * Until then it is found where it was, and matches by its new addresses.
 * Context: process.
 */
void net6_dgram_rehash(struct sock *sk)
{
	u16 port = inet_sk(sk)->inet_num;
	struct net6_dgram_bucket *b;

	if (!sk_hashed(sk))
		return;
	b = net6_dgram_bucket(sock_net(sk), sk->sk_protocol, port);
	spin_lock_bh(&b->lock);
	if (sk_hashed(sk))
		net6_dgram_note_device(sk, b);
	/* Addresses were written before: who files all sockets from now on sees the new ones. */
	if (sk_hashed(sk) && b->filed && sk->sk_hash != net6_dgram_sk_hash(sk, port)) {
		write_seqcount_begin(&b->moves);
		net6_dgram_unfile(sk, b);
		net6_dgram_file(sk, b, true);
		write_seqcount_end(&b->moves);
	}
	spin_unlock_bh(&b->lock);
}

/**
 * net6_dgram_hash_init() - make the tables
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_dgram_hash_init(void)
{
	unsigned int i;

	net6_dgram_table = kvmalloc_array(NET6_DGRAM_BUCKETS, sizeof(*net6_dgram_table),
					  GFP_KERNEL);
	net6_dgram_addr_table = kvmalloc_array(NET6_DGRAM_ADDR_CHAINS,
					       sizeof(*net6_dgram_addr_table), GFP_KERNEL);
	if (!net6_dgram_table || !net6_dgram_addr_table) {
		net6_dgram_hash_exit();
		return -ENOMEM;
	}
	for (i = 0; i < NET6_DGRAM_BUCKETS; i++) {
		INIT_HLIST_HEAD(&net6_dgram_table[i].head);
		spin_lock_init(&net6_dgram_table[i].lock);
		net6_dgram_table[i].count = 0;
		net6_dgram_table[i].flows = 0;
		net6_dgram_table[i].filed = false;
		net6_dgram_table[i].device = false;
		seqcount_spinlock_init(&net6_dgram_table[i].moves, &net6_dgram_table[i].lock);
	}
	for (i = 0; i < NET6_DGRAM_ADDR_CHAINS; i++) {
		INIT_HLIST_HEAD(&net6_dgram_addr_table[i].head);
		spin_lock_init(&net6_dgram_addr_table[i].lock);
	}
	get_random_bytes(&net6_dgram_secret, sizeof(net6_dgram_secret));
	return 0;
}

/**
 * net6_dgram_hash_exit() - free the tables; no socket is left
 */
void net6_dgram_hash_exit(void)
{
	kvfree(net6_dgram_addr_table);
	kvfree(net6_dgram_table);
	net6_dgram_addr_table = NULL;
	net6_dgram_table = NULL;
}
