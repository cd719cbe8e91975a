// SPDX-License-Identifier: GPL-2.0
/* The tables of datagram sockets: binding, ephemeral ports (RFC 6056), and finding the socket
 * that a datagram is for. One table goes by local port. When a chain of it has become long, its
 * sockets are filed in a second one as well, until it is empty: connected ones by both addresses
 * and ports, others by their own address and port.
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <net/ip.h>
#include <net/netns/hash.h>
#include <net/sock_reuseport.h>

#include "dgram.h"
#include "sk_lookup.h"

#define NET6_DGRAM_BUCKETS	1024	/* a power of two */
#define NET6_DGRAM_ADDR_CHAINS	4096	/* likewise */
/* Of so many sockets a chain of ports is looked through: two hashes cost as much. */
#define NET6_DGRAM_SHORT	10
/* Look-ups by address in a row that sockets may spoil which change theirs. */
#define NET6_DGRAM_TRIES	8

/* What a match is worth. All that is worth less than an address does not add up to one. */
#define NET6_DGRAM_CONNECTED	16
#define NET6_DGRAM_ADDRESS	8
#define NET6_DGRAM_DEVICE	4

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

static struct net6_dgram_bucket *net6_dgram_table;
static struct net6_dgram_addr_chain *net6_dgram_addr_table;
static siphash_key_t net6_dgram_addr_key __read_mostly;

#define net6_dgram_for_each_filed_rcu(sk, head)	\
	hlist_for_each_entry_rcu(sk, head, __sk_common.skc_portaddr_node)

/**
 * net6_dgram_bucket() - the chain of a port
 * @net: namespace
 * @protocol: IPPROTO_UDP or IPPROTO_ICMPV6
 * @port: host byte order
 *
 * Context: any. Return: never NULL.
 */
struct net6_dgram_bucket *net6_dgram_bucket(const struct net *net, u8 protocol, u16 port)
{
	u32 hash = port + net_hash_mix(net) + protocol;

	return &net6_dgram_table[hash & (NET6_DGRAM_BUCKETS - 1)];
}

/* A hash whose top bit tells flows from addresses. */
#define NET6_DGRAM_FLOW	BIT(31)

static u32 net6_dgram_addr_hash(const struct net *net, u8 protocol, const struct in6_addr *addr,
				u16 port)
{
	return siphash_3u64(get_unaligned((const u64 *)&addr->s6_addr32[0]),
			    get_unaligned((const u64 *)&addr->s6_addr32[2]),
			    (u64)net_hash_mix(net) << 32 | protocol << 16 | port,
			    &net6_dgram_addr_key) & ~NET6_DGRAM_FLOW;
}

/* An echo has no foreign port. */
static u32 net6_dgram_flow_hash(const struct net *net, const struct net6_dgram_key *key)
{
	const struct {
		struct in6_addr	laddr;
		struct in6_addr	faddr;
		u32		net;
		u16		lport;
		__be16		fport;
		u64		protocol;
	} __aligned(SIPHASH_ALIGNMENT) flow = {
		.laddr		= *key->laddr,
		.faddr		= *key->faddr,
		.net		= net_hash_mix(net),
		.lport		= key->lport,
		.fport		= key->protocol == IPPROTO_UDP ? key->fport : 0,
		.protocol	= key->protocol,
	};

	return siphash(&flow, sizeof(flow), &net6_dgram_addr_key) | NET6_DGRAM_FLOW;
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

static struct net6_dgram_addr_chain *net6_dgram_addr_chain(u32 hash)
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

static void net6_dgram_add(struct sock *sk, struct net6_dgram_bucket *b)
	__must_hold(&b->lock)
{
	lockdep_assert_held(&b->lock);
	hlist_add_head_rcu(&sk->sk_node, &b->head);
	b->count++;
	if (b->filed) {
		net6_dgram_file(sk, b, true);
	} else if (unlikely(b->count > NET6_DGRAM_SHORT)) {
		hlist_for_each_entry(sk, &b->head, sk_node)
			net6_dgram_file(sk, b, false);
		/* Who sees this finds them all there. */
		smp_store_release(&b->filed, true);
	}
}

static void net6_dgram_del(struct sock *sk, struct net6_dgram_bucket *b)
	__must_hold(&b->lock)
{
	lockdep_assert_held(&b->lock);
	hlist_del_init_rcu(&sk->sk_node);
	b->count--;
	if (likely(!b->filed))
		return;
	write_seqcount_begin(&b->moves);
	net6_dgram_unfile(sk, b);
	if (!b->count)
		WRITE_ONCE(b->filed, false);
	write_seqcount_end(&b->moves);
}

/**
 * net6_dgram_rehash() - struct proto's rehash: a socket has another local address or another peer
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
 * net6_dgram_match() - may a socket have this datagram?
 * @sk: socket of the port's chain
 * @net: namespace
 * @key: the datagram
 * @score: set to how specific the match is, 1 for a wildcard
 *
 * Context: RCU read lock held.
 */
bool net6_dgram_match(const struct sock *sk, const struct net *net,
		      const struct net6_dgram_key *key, int *score)
{
	const struct inet_sock *inet = inet_sk(sk);
	int bound, s = 1;

	if (inet->inet_num != key->lport || sk->sk_protocol != key->protocol ||
	    !net_eq(sock_net(sk), net))
		return false;
	if (!ipv6_addr_any(&sk->sk_v6_rcv_saddr)) {
		if (!ipv6_addr_equal(&sk->sk_v6_rcv_saddr, key->laddr))
			return false;
		s += NET6_DGRAM_ADDRESS;
	}
	if (sk->sk_state == TCP_ESTABLISHED) {
		if (!ipv6_addr_equal(&sk->sk_v6_daddr, key->faddr))
			return false;
		if (key->protocol == IPPROTO_UDP && inet->inet_dport != key->fport)
			return false;
		s += NET6_DGRAM_CONNECTED;
	}
	bound = READ_ONCE(sk->sk_bound_dev_if);
	if (bound) {
		if (bound != key->dif)
			return false;
		s += NET6_DGRAM_DEVICE;
	}
	if (READ_ONCE(sk->sk_incoming_cpu) == raw_smp_processor_id())
		s++;
	*score = s;
	return true;
}

/* Which of a SO_REUSEPORT group gets a flow. All of it is hashed with the key: nobody outside can
 * direct what he sends at one of them.
 */
static u32 net6_dgram_group_hash(const struct net *net, const struct net6_dgram_key *key)
{
	const struct {
		struct in6_addr	laddr;
		struct in6_addr	faddr;
		u32		protocol;
		u16		lport;
		__be16		fport;
	} __aligned(SIPHASH_ALIGNMENT) flow = {
		.laddr		= *key->laddr,
		.faddr		= *key->faddr,
		.protocol	= key->protocol,
		.lport		= key->lport,
		.fport		= key->fport,
	};

	return siphash(&flow, sizeof(flow), &net6_pernet(net)->secret);
}

static struct sock *net6_dgram_search_port(const struct net6_dgram_bucket *b,
					   const struct net *net, const struct net6_dgram_key *key)
{
	struct sock *best = NULL, *sk;
	int best_score = 0, score;

	hlist_for_each_entry_rcu(sk, &b->head, sk_node) {
		if (!net6_dgram_match(sk, net, key, &score) || score <= best_score)
			continue;
		best = sk;
		best_score = score;
	}
	return best;
}

static void net6_dgram_search_chain(const struct hlist_head *head, const struct net *net,
				    const struct net6_dgram_key *key, struct sock **best,
				    int *best_score)
{
	struct sock *sk;
	int score;

	net6_dgram_for_each_filed_rcu(sk, head) {
		if (!net6_dgram_match(sk, net, key, &score) || score <= *best_score)
			continue;
		*best = sk;
		*best_score = score;
	}
}

/* A connected socket first. One without address is asked for where none has this one. */
static struct sock *net6_dgram_search_addr(const struct net6_dgram_bucket *b,
					   const struct net *net,
					   const struct net6_dgram_key *key)
{
	struct sock *best = NULL;
	struct hlist_head *head;
	int score = 0;

	if (READ_ONCE(b->flows))
		net6_dgram_search_chain(net6_dgram_flow_head(net, key), net, key, &best, &score);
	if (score >= NET6_DGRAM_CONNECTED)
		return best;
	head = net6_dgram_addr_head(net, key->protocol, key->laddr, key->lport);
	net6_dgram_search_chain(head, net, key, &best, &score);
	if (score >= NET6_DGRAM_ADDRESS)
		return best;
	head = net6_dgram_addr_head(net, key->protocol, &in6addr_any, key->lport);
	net6_dgram_search_chain(head, net, key, &best, &score);
	return best;
}

static noinline struct sock *net6_dgram_search_filed(const struct net6_dgram_bucket *b,
						     const struct net *net,
						     const struct net6_dgram_key *key)
{
	struct sock *best;
	unsigned int seq;
	int i;

	for (i = 0; i < NET6_DGRAM_TRIES; i++) {
		seq = read_seqcount_begin(&b->moves);
		if (!READ_ONCE(b->filed))
			break;
		best = net6_dgram_search_addr(b, net, key);
		if (likely(!read_seqcount_retry(&b->moves, seq)))
			return best;
	}
	/* Nothing moves there but what leaves its port. */
	return net6_dgram_search_port(b, net, key);
}

/**
 * net6_dgram_lookup() - the socket that a unicast datagram is for
 * @net: namespace
 * @key: the datagram
 * @skb: data at the transport header, for SO_ATTACH_REUSEPORT_EBPF; may be NULL
 *
 * The most specific match wins: a connected socket before a bound one. Programs of the
 * namespace are asked about UDP for which there is no connected socket.
 * Context: RCU read lock held, which also keeps the result.
 * Return: a socket without reference, or NULL.
 */
struct sock *net6_dgram_lookup(struct net *net, const struct net6_dgram_key *key,
			       struct sk_buff *skb)
{
	struct net6_dgram_bucket *b = net6_dgram_bucket(net, key->protocol, key->lport);
	struct sock *best, *sk;

	if (likely(!net6_dgram_filed(b)))
		best = net6_dgram_search_port(b, net, key);
	else
		best = net6_dgram_search_filed(b, net, key);
	if (net6_lookup_asks() && key->protocol == IPPROTO_UDP &&
	    !(best && best->sk_state == TCP_ESTABLISHED) &&
	    net6_lookup_refused(net, IPPROTO_UDP, key->faddr, key->fport, key->laddr, key->lport,
				key->dif))
		return NULL;
	if (best && best->sk_reuseport && best->sk_state != TCP_ESTABLISHED) {
		sk = reuseport_select_sock(best, net6_dgram_group_hash(net, key), skb,
					   sizeof(struct udphdr));
		/* The group's program may refuse it. */
		if (IS_ERR(sk))
			return NULL;
		best = sk ?: best;
	}
	return best;
}

/**
 * net6_dgram_lookup_sender() - the socket that sent what an ICMPv6 error is about
 * @skb: error message
 * @icmp: what it says
 * @protocol: IPPROTO_UDP or IPPROTO_ICMPV6
 * @lport: local port, host byte order
 * @fport: foreign port, network byte order; 0 for an echo
 *
 * Context: softirq, RCU read lock held. Return: borrowed socket or NULL.
 */
struct sock *net6_dgram_lookup_sender(struct sk_buff *skb, const struct net6_icmp_error *icmp,
				      u8 protocol, u16 lport, __be16 fport)
{
	const struct net6_dgram_key key = {
		.laddr		= icmp->saddr,
		.faddr		= icmp->daddr,
		.lport		= lport,
		.fport		= fport,
		.dif		= icmp->ifindex,
		.protocol	= protocol,
	};

	return net6_dgram_lookup(dev_net(skb->dev), &key, NULL);
}

static bool net6_dgram_addr_overlap(const struct sock *a, const struct sock *b, bool wildcard)
{
	if (ipv6_addr_equal(&a->sk_v6_rcv_saddr, &b->sk_v6_rcv_saddr))
		return true;
	return wildcard && (ipv6_addr_any(&a->sk_v6_rcv_saddr) ||
			    ipv6_addr_any(&b->sk_v6_rcv_saddr));
}

static bool net6_dgram_same_port(const struct sock *sk, const struct sock *other, u16 port)
{
	return other != sk && inet_sk(other)->inet_num == port &&
	       other->sk_protocol == sk->sk_protocol && net_eq(sock_net(other), sock_net(sk));
}

static bool net6_dgram_reuseport_pair(struct sock *a, struct sock *b)
{
	return a->sk_reuseport && b->sk_reuseport && uid_eq(sock_i_uid(a), sock_i_uid(b));
}

/* Does @other stand in the way of binding @sk to @port? */
static bool net6_dgram_in_way(struct sock *sk, struct sock *other, u16 port, bool chosen)
{
	if (!net6_dgram_same_port(sk, other, port))
		return false;
	if (!chosen && sk->sk_protocol == IPPROTO_ICMPV6)
		return true;
	if (sk->sk_reuse && other->sk_reuse)
		return false;
	if (sk->sk_bound_dev_if && other->sk_bound_dev_if &&
	    sk->sk_bound_dev_if != other->sk_bound_dev_if)
		return false;
	if (!net6_dgram_addr_overlap(sk, other, true))
		return false;
	return !net6_dgram_reuseport_pair(sk, other) || rcu_access_pointer(sk->sk_reuseport_cb);
}

static bool net6_dgram_conflict_filed(struct sock *sk, const struct in6_addr *addr, u16 port)
{
	struct net6_dgram_addr_chain *chain;
	struct sock *other;
	bool found = false;

	chain = net6_dgram_addr_chain(net6_dgram_addr_hash(sock_net(sk), sk->sk_protocol, addr,
							   port));
	spin_lock(&chain->lock);
	hlist_for_each_entry(other, &chain->head, __sk_common.skc_portaddr_node) {
		found = net6_dgram_in_way(sk, other, port, true);
		if (found)
			break;
	}
	spin_unlock(&chain->lock);
	return found;
}

/* Does another socket stand in the way of binding @sk to @port? Bucket locked. An echo socket
 * that has @chosen no identifier shares none: replies are for one.
 */
static bool net6_dgram_conflict(struct sock *sk, struct net6_dgram_bucket *b, u16 port,
				bool chosen)
	__must_hold(&b->lock)
{
	struct sock *other;

	lockdep_assert_held(&b->lock);
	/* An address of its own can overlap with the same one and with none. Connected sockets are
	 * not filed by it.
	 */
	if (b->filed && !b->flows && !ipv6_addr_any(&sk->sk_v6_rcv_saddr) &&
	    (chosen || sk->sk_protocol != IPPROTO_ICMPV6))
		return net6_dgram_conflict_filed(sk, &sk->sk_v6_rcv_saddr, port) ||
		       net6_dgram_conflict_filed(sk, &in6addr_any, port);
	hlist_for_each_entry(other, &b->head, sk_node)
		if (net6_dgram_in_way(sk, other, port, chosen))
			return true;
	return false;
}

/* Is @other of the SO_REUSEPORT group that @sk is to be in? */
static bool net6_dgram_same_group(struct sock *sk, struct sock *other, u16 port)
{
	return net6_dgram_same_port(sk, other, port) &&
	       sk->sk_bound_dev_if == other->sk_bound_dev_if &&
	       net6_dgram_reuseport_pair(sk, other) && net6_dgram_addr_overlap(sk, other, false);
}

/* Bucket locked, so what is found stays. None of its sockets is connected. */
static struct sock *net6_dgram_group_filed(struct sock *sk, u16 port)
{
	struct net6_dgram_addr_chain *chain;
	struct sock *other;

	chain = net6_dgram_addr_chain(net6_dgram_addr_hash(sock_net(sk), sk->sk_protocol,
							   &sk->sk_v6_rcv_saddr, port));
	spin_lock(&chain->lock);
	hlist_for_each_entry(other, &chain->head, __sk_common.skc_portaddr_node)
		if (net6_dgram_same_group(sk, other, port))
			break;
	spin_unlock(&chain->lock);
	return other;
}

/* Put a SO_REUSEPORT socket in the group of its port, or make one. Bucket locked. */
static int net6_dgram_join_reuseport(struct sock *sk, struct net6_dgram_bucket *b, u16 port)
	__must_hold(&b->lock)
{
	bool any = ipv6_addr_any(&sk->sk_v6_rcv_saddr);
	struct sock *other;

	lockdep_assert_held(&b->lock);
	if (b->filed && !b->flows) {
		other = net6_dgram_group_filed(sk, port);
	} else {
		hlist_for_each_entry(other, &b->head, sk_node)
			if (net6_dgram_same_group(sk, other, port))
				break;
	}
	return other ? reuseport_add_sock(sk, other, any) : reuseport_alloc(sk, any);
}

/* Take @port, which the program has @chosen or not, if nobody minds. Return 0, -EADDRINUSE or
 * -errno.
 */
static int net6_dgram_take_port(struct sock *sk, u16 port, bool chosen)
{
	struct net6_dgram_bucket *b;
	int err = 0;

	b = net6_dgram_bucket(sock_net(sk), sk->sk_protocol, port);
	spin_lock_bh(&b->lock);
	if (net6_dgram_conflict(sk, b, port, chosen))
		err = -EADDRINUSE;
	else if (sk->sk_reuseport)
		err = net6_dgram_join_reuseport(sk, b, port);
	if (!err) {
		inet_sk(sk)->inet_num = port;
		net6_dgram_publish(sk);
		net6_dgram_add(sk, b);
		sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	}
	spin_unlock_bh(&b->lock);
	return err;
}

/**
 * net6_dgram_get_port() - struct proto's get_port
 * @sk: socket, owned or not yet known to anyone else
 * @snum: port, 0 to choose one
 *
 * A chosen port is the first free one behind a random start (RFC 6056 3.3.1).
 * Context: process.
 * Return: 0; -EADDRINUSE (also when all ephemeral ports are taken); -ENOMEM.
 */
int net6_dgram_get_port(struct sock *sk, unsigned short snum)
{
	struct net *net = sock_net(sk);
	int low, high, range, i;
	u32 start;
	int err;

	if (sk_hashed(sk))
		return -EADDRINUSE;
	if (snum)
		return net6_dgram_take_port(sk, snum, true);

	inet_get_local_port_range(net, &low, &high);
	range = high - low + 1;
	start = get_random_u32();
	for (i = 0; i < range; i++) {
		u16 port = low + (start + i) % range;

		if (inet_is_local_reserved_port(net, port))
			continue;
		err = net6_dgram_take_port(sk, port, false);
		if (err != -EADDRINUSE)
			return err;
		cond_resched();
	}
	return -EADDRINUSE;
}

/**
 * net6_dgram_unhash() - give the port back
 * @sk: socket; nothing happens if it has none
 *
 * Receivers in an RCU section may still find the socket.
 * Context: process.
 */
void net6_dgram_unhash(struct sock *sk)
{
	struct net6_dgram_bucket *b;

	if (!sk_hashed(sk))
		return;
	b = net6_dgram_bucket(sock_net(sk), sk->sk_protocol, inet_sk(sk)->inet_num);
	spin_lock_bh(&b->lock);
	if (sk_hashed(sk)) {
		if (rcu_access_pointer(sk->sk_reuseport_cb))
			reuseport_detach_sock(sk);
		net6_dgram_del(sk, b);
		inet_sk(sk)->inet_num = 0;
		sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
	}
	spin_unlock_bh(&b->lock);
}

static bool net6_dgram_wanted(const struct sock *sk, const struct net *net, int protocol)
{
	return net_eq(sock_net(sk), net) && (!protocol || sk->sk_protocol == protocol);
}

#define net6_dgram_sk(node) hlist_entry_safe(rcu_dereference_raw(node), struct sock, sk_node)

/* The first socket from @sk on that is wanted, after @skip such; one reference. RCU read lock. */
static struct sock *net6_dgram_from(struct sock *sk, const struct net *net, int protocol, u32 skip)
{
	hlist_for_each_entry_from_rcu(sk, sk_node) {
		if (!net6_dgram_wanted(sk, net, protocol))
			continue;
		if (skip)
			skip--;
		else if (refcount_inc_not_zero(&sk->sk_refcnt))
			return sk;
	}
	return NULL;
}

static struct sock *net6_dgram_nth(struct hlist_head *head, const struct net *net, int protocol,
				   u32 skip)
{
	struct sock *sk;

	rcu_read_lock();
	sk = net6_dgram_from(net6_dgram_sk(hlist_first_rcu(head)), net, protocol, skip);
	rcu_read_unlock();
	return sk;
}

/* The socket behind one that the caller holds; one reference. -ESTALE if that has left the table.
 * Then its place in the chain must be counted again.
 */
static struct sock *net6_dgram_after(struct sock *sk, const struct net *net, int protocol)
{
	rcu_read_lock();
	if (sk_hashed(sk))
		sk = net6_dgram_from(net6_dgram_sk(hlist_next_rcu(&sk->sk_node)), net, protocol,
				     0);
	else
		sk = ERR_PTR(-ESTALE);
	rcu_read_unlock();
	return sk;
}

/**
 * net6_dgram_walk_chain() - call a function for the sockets of a chain
 * @head: chain of sockets by sk_node, freed after a grace period
 * @net: their namespace
 * @protocol: theirs, 0 for any
 * @place: the first one, counted from 0; on return where to go on
 * @fn: called with a reference held and without locks, may sleep; non-zero stops
 * @arg: for @fn
 *
 * Context: process, sleeps. Return: 0, or what @fn returned.
 */
int net6_dgram_walk_chain(struct hlist_head *head, struct net *net, int protocol, u32 *place,
			  int (*fn)(struct sock *sk, void *arg), void *arg)
{
	struct sock *sk = net6_dgram_nth(head, net, protocol, *place), *next;
	int err = 0;

	while (sk) {
		err = fn(sk, arg);
		if (err) {
			sock_put(sk);
			break;
		}
		++*place;
		next = net6_dgram_after(sk, net, protocol);
		if (IS_ERR(next))
			next = net6_dgram_nth(head, net, protocol, *place);
		sock_put(sk);
		sk = next;
		cond_resched();
	}
	return err;
}

/**
 * net6_dgram_walk() - call a function for each socket that has a port
 * @net: namespace
 * @protocol: IPPROTO_UDP or IPPROTO_ICMPV6
 * @pos: 0 to begin with; where to go on afterwards (bucket << 32 | place in it)
 * @fn: called with a reference held and without locks, may sleep; non-zero stops
 * @arg: for @fn
 *
 * Sockets that come or go meanwhile may be missed or seen twice.
 * Context: process, sleeps. Return: 0, or what @fn returned.
 */
int net6_dgram_walk(struct net *net, u8 protocol, u64 *pos,
		    int (*fn)(struct sock *sk, void *arg), void *arg)
{
	u32 bucket = *pos >> 32, place = *pos;
	int err = 0;

	for (; bucket < NET6_DGRAM_BUCKETS; bucket++, place = 0) {
		err = net6_dgram_walk_chain(&net6_dgram_table[bucket].head, net, protocol, &place,
					    fn, arg);
		if (err)
			break;
		cond_resched();
	}
	*pos = (u64)bucket << 32 | place;
	return err;
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
		seqcount_spinlock_init(&net6_dgram_table[i].moves, &net6_dgram_table[i].lock);
	}
	for (i = 0; i < NET6_DGRAM_ADDR_CHAINS; i++) {
		INIT_HLIST_HEAD(&net6_dgram_addr_table[i].head);
		spin_lock_init(&net6_dgram_addr_table[i].lock);
	}
	get_random_bytes(&net6_dgram_addr_key, sizeof(net6_dgram_addr_key));
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
