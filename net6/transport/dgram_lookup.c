// SPDX-License-Identifier: GPL-2.0
/* Finding the socket that a datagram is for. */
#include <net/sock_reuseport.h>

#include "../core/l3mdev.h"
#include "dgram.h"
#include "dgram_hash.h"
#include "sk_lookup.h"

/* Look-ups by address in a row that sockets may spoil which change theirs. */
#define NET6_DGRAM_TRIES	8

/* What a match is worth. All that is worth less than an address does not add up to one. */
#define NET6_DGRAM_CONNECTED	16
#define NET6_DGRAM_ADDRESS	8
#define NET6_DGRAM_DEVICE	4

#define net6_dgram_for_each_filed_rcu(sk, head)	\
	hlist_for_each_entry_rcu(sk, head, __sk_common.skc_portaddr_node)

static __always_inline bool net6_dgram_lookup_match(const struct sock *sk, const struct net *net,
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
	if (!net6_l3mdev_bound_eq(net, key->protocol, bound, key->dif, key->sdif))
		return false;
	if (bound)
		s += NET6_DGRAM_DEVICE;
	if (READ_ONCE(sk->sk_incoming_cpu) == raw_smp_processor_id())
		s++;
	*score = s;
	return true;
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
	return net6_dgram_lookup_match(sk, net, key, score);
}

static struct sock *net6_dgram_search_port(const struct net6_dgram_bucket *b,
					   const struct net *net, const struct net6_dgram_key *key)
{
	struct sock *best = NULL, *sk;
	int best_score = 0, score;

	hlist_for_each_entry_rcu(sk, &b->head, sk_node) {
		if (!net6_dgram_lookup_match(sk, net, key, &score) || score <= best_score)
			continue;
		best = sk;
		best_score = score;
	}
	return best;
}

/* Of a SO_REUSEPORT group any will do, if none with a device is worth more: the group chooses. */
static bool net6_dgram_any_will_do(const struct net6_dgram_bucket *b, const struct sock *sk)
{
	return sk->sk_reuseport && sk->sk_state != TCP_ESTABLISHED &&
	       (!READ_ONCE(b->device) || READ_ONCE(sk->sk_bound_dev_if));
}

static void net6_dgram_search_chain(const struct net6_dgram_bucket *b,
				    const struct hlist_head *head, const struct net *net,
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
		if (net6_dgram_any_will_do(b, sk))
			break;
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
		net6_dgram_search_chain(b, net6_dgram_flow_head(net, key), net, key, &best,
					&score);
	if (score >= NET6_DGRAM_CONNECTED)
		return best;
	head = net6_dgram_addr_head(net, key->protocol, key->laddr, key->lport);
	net6_dgram_search_chain(b, head, net, key, &best, &score);
	if (score >= NET6_DGRAM_ADDRESS)
		return best;
	head = net6_dgram_addr_head(net, key->protocol, &in6addr_any, key->lport);
	net6_dgram_search_chain(b, head, net, key, &best, &score);
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
		sk = reuseport_select_sock(best, net6_dgram_tuple_hash(net, key) >> 32, skb,
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
		.sdif		= net6_l3mdev_of_ifindex(net6_pernet(dev_net(skb->dev)),
							 icmp->ifindex),
		.protocol	= protocol,
	};

	return net6_dgram_lookup(dev_net(skb->dev), &key, NULL);
}
