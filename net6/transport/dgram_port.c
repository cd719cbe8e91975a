// SPDX-License-Identifier: GPL-2.0
/* Binding datagram sockets: who stands in whose way, SO_REUSEPORT groups, ephemeral ports
 * (RFC 6056).
 */
#include <linux/random.h>
#include <net/ip.h>
#include <net/sock_reuseport.h>

#include "../compat/sock.h"
#include "dgram.h"
#include "dgram_hash.h"

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
	return a->sk_reuseport && b->sk_reuseport &&
	       uid_eq(net6_compat_sock_uid(a), net6_compat_sock_uid(b));
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
