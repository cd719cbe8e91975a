// SPDX-License-Identifier: GPL-2.0
/* The table of local ports of datagram sockets: binding, ephemeral ports (RFC 6056),
 * and finding the socket that a datagram is for. Sockets of one port share a chain:
 * thousands of connected sockets on one port are looked through one by one.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <net/ip.h>
#include <net/netns/hash.h>
#include <net/sock_reuseport.h>

#include "dgram.h"
#include "sk_lookup.h"

#define NET6_DGRAM_BUCKETS	1024	/* a power of two */

static struct net6_dgram_bucket *net6_dgram_table;

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
		s += 4;
	}
	if (sk->sk_state == TCP_ESTABLISHED) {
		if (!ipv6_addr_equal(&sk->sk_v6_daddr, key->faddr))
			return false;
		if (key->protocol == IPPROTO_UDP && inet->inet_dport != key->fport)
			return false;
		s += 8;
	}
	bound = READ_ONCE(sk->sk_bound_dev_if);
	if (bound) {
		if (bound != key->dif)
			return false;
		s += 4;
	}
	if (READ_ONCE(sk->sk_incoming_cpu) == raw_smp_processor_id())
		s++;
	*score = s;
	return true;
}

static u32 net6_dgram_flow_hash(const struct net *net, const struct net6_dgram_key *key)
{
	return jhash_3words(__ipv6_addr_jhash(key->faddr, (__force u32)key->fport),
			    __ipv6_addr_jhash(key->laddr, key->lport),
			    net_hash_mix(net), key->protocol);
}

static u32 net6_dgram_group_hash(const struct net *net, const struct net6_dgram_key *key)
{
	const siphash_key_t *secret = &net6_pernet(net)->secret;

	return siphash_1u32(net6_dgram_flow_hash(net, key), secret);
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
	struct sock *best = NULL, *sk;
	int best_score = 0, score;

	hlist_for_each_entry_rcu(sk, &b->head, sk_node) {
		if (!net6_dgram_match(sk, net, key, &score) || score <= best_score)
			continue;
		best = sk;
		best_score = score;
	}
	if (net6_lookup_asks() && key->protocol == IPPROTO_UDP &&
	    !(best && best->sk_state == TCP_ESTABLISHED) &&
	    net6_lookup_refused(net, IPPROTO_UDP, key->faddr, key->fport, key->laddr, key->lport,
				key->dif))
		return NULL;
	if (best && best->sk_reuseport && best->sk_state != TCP_ESTABLISHED) {
		sk = reuseport_select_sock(best, net6_dgram_group_hash(net, key), skb,
					   sizeof(struct udphdr));
		if (!IS_ERR_OR_NULL(sk))
			best = sk;
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

/* Does another socket stand in the way of binding @sk to @port? Bucket locked. An echo socket
 * that has @chosen no identifier shares none: replies are for one.
 */
static bool net6_dgram_conflict(struct sock *sk, struct net6_dgram_bucket *b, u16 port,
				bool chosen)
	__must_hold(&b->lock)
{
	struct sock *other;

	lockdep_assert_held(&b->lock);
	hlist_for_each_entry(other, &b->head, sk_node) {
		if (!net6_dgram_same_port(sk, other, port))
			continue;
		if (!chosen && sk->sk_protocol == IPPROTO_ICMPV6)
			return true;
		if (sk->sk_reuse && other->sk_reuse)
			continue;
		if (sk->sk_bound_dev_if && other->sk_bound_dev_if &&
		    sk->sk_bound_dev_if != other->sk_bound_dev_if)
			continue;
		if (!net6_dgram_addr_overlap(sk, other, true))
			continue;
		if (net6_dgram_reuseport_pair(sk, other) &&
		    !rcu_access_pointer(sk->sk_reuseport_cb))
			continue;
		return true;
	}
	return false;
}

/* Put a SO_REUSEPORT socket in the group of its port, or make one. Bucket locked. */
static int net6_dgram_join_reuseport(struct sock *sk, struct net6_dgram_bucket *b, u16 port)
	__must_hold(&b->lock)
{
	bool any = ipv6_addr_any(&sk->sk_v6_rcv_saddr);
	struct sock *other;

	lockdep_assert_held(&b->lock);
	hlist_for_each_entry(other, &b->head, sk_node)
		if (net6_dgram_same_port(sk, other, port) &&
		    sk->sk_bound_dev_if == other->sk_bound_dev_if &&
		    net6_dgram_reuseport_pair(sk, other) &&
		    net6_dgram_addr_overlap(sk, other, false))
			return reuseport_add_sock(sk, other, any);
	return reuseport_alloc(sk, any);
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
		hlist_add_head_rcu(&sk->sk_node, &b->head);
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
		hlist_del_init_rcu(&sk->sk_node);
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
 * net6_dgram_hash_init() - make the table
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_dgram_hash_init(void)
{
	unsigned int i;

	net6_dgram_table = kvmalloc_array(NET6_DGRAM_BUCKETS, sizeof(*net6_dgram_table),
					  GFP_KERNEL);
	if (!net6_dgram_table)
		return -ENOMEM;
	for (i = 0; i < NET6_DGRAM_BUCKETS; i++) {
		INIT_HLIST_HEAD(&net6_dgram_table[i].head);
		spin_lock_init(&net6_dgram_table[i].lock);
	}
	return 0;
}

/**
 * net6_dgram_hash_exit() - free the table; no socket is left
 */
void net6_dgram_hash_exit(void)
{
	kvfree(net6_dgram_table);
}
