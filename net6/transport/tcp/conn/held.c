// SPDX-License-Identifier: GPL-2.0
/* The third segment of a handshake waits for the program that called connect(). The program's
 * first segment, data or a FIN, carries the ACK. RFC 9293 3.10.7.3: "Data or controls that were
 * queued for transmission MAY be included". It waits no longer than to the end of the tick, or
 * until the program reads from the connection or waits for it.
 *
 * Until then the peer's listener keeps a request, so at most one connection of a namespace waits.
 * It goes on when the next one begins. It also goes on when a listener of the same namespace is
 * asked for a connection and has none.
 */
#include "../engine/engine.h"
#include "conn.h"

/**
 * net6_tcp_hold_ack() - let the ACK of a SYN-ACK wait
 * @sk: socket that became ESTABLISHED just now
 *
 * Context: sk locked.
 * Return: false if it is to be sent now: nobody waits for the connection, or another one's
 * waits already.
 */
bool net6_tcp_hold_ack(struct sock *sk)
{
	struct net6_tcp_net *tn = net6_tcp_nn_locked(sk)->tcp;

	if (READ_ONCE(tn->held) || !net6_tcp_awaited(sk) || cmpxchg(&tn->held, NULL, sk))
		return false;
	inet_csk(sk)->icsk_ack.pending |= NET6_TCP_ACK_HELD;
	net6_tcp_ack_program(sk);
	return true;
}

/**
 * net6_tcp_held_forget() - the ACK was sent, or is not needed any more
 * @sk: socket
 *
 * Context: sk locked. To be called before a socket is destroyed.
 */
void net6_tcp_held_forget(struct sock *sk)
{
	struct net6_tcp_net *tn = net6_tcp_nn_locked(sk)->tcp;

	if (READ_ONCE(tn->held) == sk)
		cmpxchg(&tn->held, sk, NULL);
}

/**
 * net6_tcp_held_flush() - send the ACK that waits in a namespace
 * @nn: namespace, in which one waited a moment ago
 *
 * That of a socket which a program uses just now is left to what it does, or to the tick.
 * Context: process, BH enabled; other sockets may be owned.
 */
void net6_tcp_held_flush(struct net6_net *nn)
{
	struct sock *sk;

	local_bh_disable();
	rcu_read_lock();
	/* It stands here only as long as it lives, and its slab is SLAB_TYPESAFE_BY_RCU. If it is
	 * another socket by now, that one has no such ACK, or sends it.
	 */
	sk = xchg(&nn->tcp->held, NULL);
	if (sk && refcount_inc_not_zero(&sk->sk_refcnt)) {
		bh_lock_sock_nested(sk);
		if (!sock_owned_by_user(sk) && inet_csk(sk)->icsk_ack.pending & NET6_TCP_ACK_HELD)
			net6_tcp_ack_idle(sk);
		bh_unlock_sock(sk);
		sock_put(sk);
	}
	rcu_read_unlock();
	/* The segment is received here, if its peer is on this host. */
	local_bh_enable();
}
