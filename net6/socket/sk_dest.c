// SPDX-License-Identifier: GPL-2.0
/* The destination that a socket remembers. One entry a socket: enough for connected
 * sockets, and for unconnected ones that talk to one peer at a time.
 */
#include "../core/addr.h"
#include "../core/exthdr.h"
#include "sock.h"

/**
 * net6_sk_oif() - interface that a socket's options insist on for a destination
 * @sk: socket
 * @daddr: destination
 *
 * Context: any. Return: interface index, 0 for any.
 */
int net6_sk_oif(const struct sock *sk, const struct in6_addr *daddr)
{
	return net6_sk_own_oif(sk) ?: net6_sk_option_oif(sk, daddr);
}

/* Put @dest (reference passed in, or NULL) in the place of what was there. */
static void net6_sk_dest_set(struct sock *sk, struct net6_dest *dest)
{
	struct net6_dest *old = xchg(&net6_sk(sk)->dest, dest);

	if (old)
		net6_dest_put(old);
}

/**
 * net6_sk_dest_reset() - forget the cached destination
 * @sk: any socket of ours
 *
 * Context: any.
 */
void net6_sk_dest_reset(struct sock *sk)
{
	net6_sk_dest_set(sk, NULL);
}

/**
 * net6_sk_flow() - what is known of a connected socket's packets beside their addresses
 * @sk: socket
 * @flow: filled
 *
 * Context: any.
 */
void net6_sk_flow(const struct sock *sk, struct net6_flow *flow)
{
	const struct inet_sock *inet = inet_sk(sk);

	*flow = (struct net6_flow) {
		.protocol	= sk->sk_protocol,
		.sport		= inet->inet_sport,
		.dport		= inet->inet_dport,
		.label		= ip6_make_flowinfo(net6_np(sk)->tclass, net6_np(sk)->flow_label),
		.mark		= READ_ONCE(sk->sk_mark),
		.owned		= true,
		.uid		= sock_net_uid(sock_net(sk), sk),
	};
}

/* Would rules that are asked now answer as when the entry was looked for? */
static bool net6_sk_rule_holds(const struct net6_dest *dest, const struct in6_addr *saddr,
			       const struct net6_flow *flow)
{
	struct flowi6 fl6;

	net6_rules_ask(dest->nn, &dest->key, saddr, flow, &fl6);
	return net6_rules_hash(dest->nn, &fl6) == dest->key.rule;
}

/**
 * net6_sk_dest_holds() - is this still the destination of a connected socket, where rules are?
 * @sk: connected socket
 * @dest: what it remembers, not stale
 *
 * It may have another mark, or be bound to another interface. Context: any.
 */
noinline bool net6_sk_dest_holds(const struct sock *sk, const struct net6_dest *dest)
{
	struct net6_flow flow;

	net6_sk_flow(sk, &flow);
	return dest->key.oif == net6_sk_oif(sk, &sk->sk_v6_daddr) &&
	       net6_sk_rule_holds(dest, &sk->sk_v6_rcv_saddr, &flow);
}

/**
 * net6_sk_update_pmtu() - a Packet Too Big message about a datagram of a socket
 * @sk: datagram socket
 * @err: the message
 * @dport: where the datagram went, 0 without ports
 *
 * Context: BH disabled, RCU read lock held.
 */
void net6_sk_update_pmtu(const struct sock *sk, const struct net6_icmp_error *err, __be16 dport)
{
	struct net6_flow flow;

	net6_sk_flow(sk, &flow);
	flow.dport = dport;
	net6_dest_update_pmtu(net6_pernet(sock_net(sk)), err, &flow);
}

/**
 * net6_sk_dest_slow() - look the destination of a connected socket up again
 * @sk: connected socket; locked by the caller or, for datagrams, in an RCU section
 *
 * Context: any, does not sleep.
 * Return: an entry that the socket holds, or ERR_PTR(-errno).
 */
struct net6_dest *net6_sk_dest_slow(struct sock *sk)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));
	struct net6_dest *dest;
	struct net6_flow flow;

	net6_sk_flow(sk, &flow);
	dest = net6_dest_lookup_flow(nn, &sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr,
				     net6_sk_oif(sk, &sk->sk_v6_daddr), &flow);
	if (!IS_ERR(dest))
		net6_sk_dest_set(sk, dest);
	return dest;
}

static void net6_dgram_flow(const struct sock *sk, const struct net6_tx *tx,
			    struct net6_flow *flow)
{
	*flow = (struct net6_flow) {
		.protocol	= sk->sk_protocol,
		.sport		= inet_sk(sk)->inet_sport,
		.dport		= tx->dport,
		.label		= tx->flowinfo | htonl((u32)net6_tx_tclass(sk, tx) << 20),
		.mark		= tx->sockc.mark,
		.owned		= true,
		.uid		= sock_net_uid(sock_net(sk), sk),
	};
}

/* Of one way among several, or by rules: are they asked the same? */
static noinline bool net6_dgram_dest_holds(const struct sock *sk, const struct net6_dest *dest,
					   const struct net6_tx *tx)
{
	struct net6_flow flow;

	if (dest->flags & NET6_DEST_ONE_WAY)
		return false;
	net6_dgram_flow(sk, tx, &flow);
	return net6_sk_rule_holds(dest, &tx->saddr, &flow);
}

/* May an entry be used for any flow, and with a source address? If there is none yet, the entry has
 * to have one. An entry for all routers has chosen one for the source that is in it: RFC 8028.
 */
static bool net6_dgram_dest_fits(const struct sock *sk, const struct net6_dest *dest,
				 const struct net6_tx *tx)
{
	bool has_saddr = net6_dest_has_saddr(dest);
	const struct in6_addr *saddr = &tx->saddr;

	if (unlikely(dest->flags & (NET6_DEST_ONE_WAY | NET6_DEST_RULED)) &&
	    !net6_dgram_dest_holds(sk, dest, tx))
		return false;
	if (likely(READ_ONCE(dest->nn->n_routers) < 2))
		return has_saddr || !ipv6_addr_any(saddr);
	return !dest->key.first_hop && has_saddr &&
	       (ipv6_addr_any(saddr) || ipv6_addr_equal(saddr, &dest->saddr));
}

static struct net6_dest *net6_dgram_dest_slow(struct sock *sk, const struct net6_tx *tx,
					      const struct in6_addr *hop)
{
	struct net6_dest *dest;
	struct net6_flow flow;

	net6_dgram_flow(sk, tx, &flow);
	dest = net6_dest_lookup_flow(net6_pernet(sock_net(sk)), &tx->saddr, hop, tx->oif, &flow);
	if (!IS_ERR(dest))
		net6_sk_dest_set(sk, dest);
	return dest;
}

/**
 * net6_dgram_dest() - the destination of one datagram
 * @sk: datagram socket
 * @tx: where it goes; a routing header of its headers says by way of whom
 *
 * Usually two compares: the last datagram went there too.
 * Context: RCU read lock held, which also keeps the result; does not sleep.
 * Return: an entry without a reference of its own, or ERR_PTR(-errno).
 */
struct net6_dest *net6_dgram_dest(struct sock *sk, const struct net6_tx *tx)
{
	struct net6_dest *dest = READ_ONCE(net6_sk(sk)->dest);
	const struct in6_addr *hop = &tx->daddr;

	if (unlikely(tx->opt))
		hop = net6_exthdr_first_hop(tx->opt, hop);
	if (likely(dest && net6_dest_valid(dest) && dest->key.oif == tx->oif &&
		   ipv6_addr_equal(&dest->key.daddr, hop) &&
		   net6_dgram_dest_fits(sk, dest, tx)))
		return dest;
	return net6_dgram_dest_slow(sk, tx, hop);
}

/**
 * net6_sk_source() - the source address that a socket which has none takes for a destination
 * @sk: any socket of ours
 * @dest: where to, an entry that has a source address
 * @buf: for the result
 *
 * As the destination has it, unless IPV6_ADDR_PREFERENCES (RFC 5014) says something else and the
 * route nothing.
 * Context: RCU read lock held. Return: the address, in @dest or @buf.
 */
const struct in6_addr *net6_sk_source(const struct sock *sk, const struct net6_dest *dest,
				      struct in6_addr *buf)
{
	bool direct = dest->flags & (NET6_DEST_ONLINK | NET6_DEST_MULTICAST);
	unsigned int prefs = net6_np(sk)->srcprefs & (IPV6_PREFER_SRC_TMP |
						       IPV6_PREFER_SRC_PUBLIC);

	if (likely(!prefs) || (dest->flags & (NET6_DEST_LOCAL | NET6_DEST_SOURCED)) ||
	    net6_srcaddr_select(net6_pernet(sock_net(sk)), dest->iface,
				direct ? NULL : &dest->neigh->addr, &dest->key.daddr, prefs, buf))
		return &dest->saddr;
	return buf;
}
