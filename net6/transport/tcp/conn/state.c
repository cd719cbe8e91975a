// SPDX-License-Identifier: GPL-2.0
/* The one place where a connection changes its state, and what each change means to the
 * program that owns the socket.
 */
#include "../../../observe/note.h"
#include "../calls/calls.h"
#include "../engine/entry.h"
#include "conn.h"
#include "fastopen.h"
#include "../lsm_ops.h"

/**
 * net6_tcp_set_state() - change the state
 * @sk: socket, locked
 * @state: TCP_ESTABLISHED, ...; CLOSE takes it out of its table and gives up a port
 *	that the user did not choose
 *
 * Context: any.
 */
void net6_tcp_set_state(struct sock *sk, int state)
{
	int old = sk->sk_state;

	if (net6_tcp_ops_want(sk, BPF_SOCK_OPS_STATE_CB_FLAG))
		net6_tcp_ops_call(sk, BPF_SOCK_OPS_STATE_CB, old, state, 0);
	net6_note_tcp_state(sk, old, state);
	if (state == TCP_CLOSE) {
		if (old == TCP_CLOSE_WAIT || old == TCP_ESTABLISHED)
			NET6_INC(net6_tcp_nn(sk), TcpEstabResets);
		if (unlikely(net6_tcp_fastopen_pending(sk)))
			net6_tcp_fastopen_gone(sk, false);
		net6_tcp_unhash(sk);
		if (net6_tcp_sk(sk)->port && !(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
			net6_tcp_put_port(sk);
	}
	/* Lockless readers (poll, lookup) see all that was done before. */
	smp_store_release(&sk->sk_state, state);
}

/**
 * net6_tcp_done() - the connection is over
 * @sk: socket, locked; destroyed if no process has it
 *
 * Context: any.
 */
void net6_tcp_done(struct sock *sk)
{
	if (sk->sk_state == TCP_SYN_SENT || sk->sk_state == TCP_SYN_RECV)
		NET6_INC(net6_tcp_nn(sk), TcpAttemptFails);
	net6_tcp_set_state(sk, TCP_CLOSE);
	net6_tcp_timers_clear(sk);
	if (net6_tcp_has_pages(sk))
		net6_tcp_pages_drop(sk);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	if (sock_flag(sk, SOCK_DEAD)) {
		net6_tcp_destroy(sk);
	} else {
		sk->sk_state_change(sk);
		net6_tcp_owner_event(sk);
		net6_tcp_user_receive(sk);
	}
}

static void net6_tcp_done_with_error(struct sock *sk, int err)
{
	WRITE_ONCE(sk->sk_err, err);
	/* The error is there before the state that makes others look for it. */
	smp_wmb();
	net6_tcp_write_queue_purge(sk);
	net6_tcp_done(sk);
	if (!sock_flag(sk, SOCK_DEAD))
		sk_error_report(sk);
}

/**
 * net6_tcp_reset() - the peer has reset the connection
 * @sk: socket, locked
 * @skb: the acceptable RST; borrowed; NULL if the reset is our own decision
 *
 * RFC 9293 3.10.7.3 and 3.10.7.4, second check.
 * Context: any.
 */
void net6_tcp_reset(struct sock *sk, struct sk_buff *skb)
{
	bool passive = net6_tcp_fastopen_pending(sk);

	if (unlikely(passive))
		net6_tcp_fastopen_gone(sk, true);
	switch (sk->sk_state) {
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:	/* it came from SYN-SENT (MUST-11), or of Fast Open */
		net6_tcp_done_with_error(sk, passive ? ECONNRESET : ECONNREFUSED);
		break;
	case TCP_CLOSE_WAIT:
		net6_tcp_done_with_error(sk, EPIPE);
		break;
	case TCP_CLOSE:
		break;
	default:
		net6_tcp_done_with_error(sk, ECONNRESET);
	}
}

/**
 * net6_tcp_write_err() - the peer does not answer any more
 * @sk: socket, locked
 *
 * RFC 9293 3.8.3 R2, RFC 5482. An ICMPv6 error noted on the way names the cause.
 * Context: any.
 */
void net6_tcp_write_err(struct sock *sk)
{
	NET6_INC(net6_tcp_nn(sk), TcpAbortOnTimeout);
	net6_tcp_done_with_error(sk, READ_ONCE(sk->sk_err_soft) ? : ETIMEDOUT);
}

static void net6_tcp_fin_wake(struct sock *sk)
{
	if (sock_flag(sk, SOCK_DEAD))
		return;
	net6_tcp_owner_event(sk);
	sk->sk_state_change(sk);
	/* The peer sends nothing more; in these states we do not either. */
	if (sk->sk_shutdown == SHUTDOWN_MASK || sk->sk_state == TCP_CLOSE)
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_HUP);
	else
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
}

/**
 * net6_tcp_fin() - the peer's FIN has been reached in sequence
 * @sk: socket, locked
 *
 * RFC 9293 3.10.7.4, eighth check.
 * Context: any. The socket may be closed afterwards, an orphan destroyed: the caller
 * has a reference.
 */
void net6_tcp_fin(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	inet_csk_schedule_ack(sk);
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
	sock_set_flag(sk, SOCK_DONE);

	switch (sk->sk_state) {
	case TCP_SYN_RECV:
	case TCP_ESTABLISHED:
		net6_tcp_set_state(sk, TCP_CLOSE_WAIT);
		inet_csk_enter_pingpong_mode(sk);
		break;
	case TCP_FIN_WAIT1:
		/* Both ends close at once. */
		net6_tcp_send_ack(sk);
		net6_tcp_set_state(sk, TCP_CLOSING);
		break;
	case TCP_FIN_WAIT2:
		net6_tcp_send_ack(sk);
		net6_tcp_time_wait(sk, TCP_TIME_WAIT, 0);
		break;
	default:
		/* A FIN again: the state remains, the ACK was scheduled. */
		break;
	}
	/* Nothing lies behind a FIN. */
	net6_tcp_rbtree_purge(&tp->out_of_order_queue);
	if (tcp_is_sack(tp))
		tcp_sack_reset(&tp->rx_opt);
	net6_tcp_fin_wake(sk);
}
