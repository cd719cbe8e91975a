// SPDX-License-Identifier: GPL-2.0
/* Walking over datagram sockets, for those who list them. */
#include "dgram.h"
#include "dgram_hash.h"

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
