// SPDX-License-Identifier: GPL-2.0
/* The user's close() and shutdown() (RFC 9293 3.10.4), aborts, and orphans: connections
 * that go on closing after their process has left. Orphans are bounded per namespace
 * (as many as TIME-WAIT entries).
 */
#include "../engine/entry.h"
#include "conn.h"

/* The state after our FIN, and whether one is to be sent. */
static bool net6_tcp_close_state(struct sock *sk)
{
	switch (sk->sk_state) {
	case TCP_SYN_SENT:
		net6_tcp_set_state(sk, TCP_CLOSE);
		return false;
	case TCP_SYN_RECV:
	case TCP_ESTABLISHED:
		net6_tcp_set_state(sk, TCP_FIN_WAIT1);
		return true;
	case TCP_CLOSE_WAIT:
		net6_tcp_set_state(sk, TCP_LAST_ACK);
		return true;
	default:
		return false;
	}
}

/**
 * net6_tcp_shutdown() - shutdown(2); proto->shutdown
 * @sk: owned by the caller
 * @how: SEND_SHUTDOWN and RCV_SHUTDOWN bits, already in sk_shutdown
 *
 * Context: process.
 */
void net6_tcp_shutdown(struct sock *sk, int how)
{
	if (!(how & SEND_SHUTDOWN))
		return;
	if ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_SYN_RECV | TCPF_CLOSE_WAIT)) {
		if (net6_tcp_close_state(sk))
			net6_tcp_send_fin(sk);
	}
}

/**
 * net6_tcp_too_many_orphans() - is this orphan one too many?
 * @sk: orphan
 *
 * Context: any.
 * Return: true if it is to be reset rather than kept.
 */
bool net6_tcp_too_many_orphans(struct sock *sk)
{
	struct net6_net *nn = net6_tcp_nn_locked(sk);

	if ((u32)atomic_read(&nn->tcp->orphans) > net6_tcp_max_orphans(nn) ||
	    (sk->sk_wmem_queued > SOCK_MIN_SNDBUF &&
	     sk_memory_allocated(sk) > sk_prot_mem_limits(sk, 2))) {
		NET6_INC(nn, TcpOrphanDrops);
		return true;
	}
	return false;
}

/**
 * net6_tcp_prepare_orphan() - a socket has no process any more
 * @sk: locked; net6_tcp_destroy() may be called afterwards
 *
 * Context: any.
 */
void net6_tcp_prepare_orphan(struct sock *sk)
{
	sock_orphan(sk);
	atomic_inc(&net6_tcp_nn_locked(sk)->tcp->orphans);
}

/**
 * net6_tcp_destroy() - the last of a closed orphan
 * @sk: locked; gives up the reference that its process had
 *
 * Context: any.
 */
void net6_tcp_destroy(struct sock *sk)
{
	WARN_ON_ONCE(sk->sk_state != TCP_CLOSE);
	WARN_ON_ONCE(!sock_flag(sk, SOCK_DEAD));
	WARN_ON_ONCE(!sk_unhashed(sk));
	sk->sk_prot->destroy(sk);
	sk_stream_kill_queues(sk);
	atomic_dec(&net6_tcp_nn_locked(sk)->tcp->orphans);
	sock_put(sk);
}

/* Drop what was received; true if the program has not seen all of it. */
static bool net6_tcp_drop_unread(struct sock *sk)
{
	bool unread = false;
	struct sk_buff *skb;
	u32 end_seq;

	while ((skb = __skb_dequeue(&sk->sk_receive_queue))) {
		end_seq = TCP_SKB_CB(skb)->end_seq;
		if (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN)
			end_seq--;
		if (after(end_seq, tcp_sk(sk)->copied_seq))
			unread = true;
		__kfree_skb(skb);
	}
	return unread;
}

/* The process's part of close(): what the peer is told. */
static void net6_tcp_close_begin(struct sock *sk)
{
	bool unread = net6_tcp_drop_unread(sk);

	if (sk->sk_state == TCP_CLOSE)
		return;
	if (unread) {
		/* RFC 9293 3.6.1, SHLD-3 and RFC 2525 2.17: data were lost, say so. */
		NET6_INC(net6_tcp_nn_locked(sk), TcpAbortOnClose);
		net6_tcp_set_state(sk, TCP_CLOSE);
		net6_tcp_send_active_reset(sk, sk->sk_allocation);
	} else if (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime) {
		net6_tcp_disconnect(sk, 0);
		NET6_INC(net6_tcp_nn_locked(sk), TcpAbortOnData);
	} else if (net6_tcp_close_state(sk)) {
		net6_tcp_send_fin(sk);
	}
}

/* FIN-WAIT-2 without a process must end some time. Returns true if sk was replaced. */
static bool net6_tcp_close_fin_wait2(struct sock *sk)
{
	const int timeo = tcp_fin_time(sk);

	if (tcp_sk(sk)->linger2 < 0) {
		net6_tcp_set_state(sk, TCP_CLOSE);
		net6_tcp_send_active_reset(sk, GFP_ATOMIC);
		NET6_INC(net6_tcp_nn_locked(sk), TcpAbortOnLinger);
		return false;
	}
	if (timeo > TCP_TIMEWAIT_LEN) {
		net6_tcp_reset_sk_timer(sk, timeo - TCP_TIMEWAIT_LEN);
		return false;
	}
	net6_tcp_time_wait(sk, TCP_FIN_WAIT2, timeo);
	return true;
}

/* The process has left: decide what becomes of the socket. Spinlock held. */
static void net6_tcp_close_orphan(struct sock *sk, int state)
	__must_hold(&sk->sk_lock.slock)
{
	/* Destroyed by a segment or timer meanwhile? */
	if (state != TCP_CLOSE && sk->sk_state == TCP_CLOSE)
		return;
	if (sk->sk_state == TCP_FIN_WAIT2 && net6_tcp_close_fin_wait2(sk))
		return;
	if (sk->sk_state != TCP_CLOSE && net6_tcp_too_many_orphans(sk)) {
		net6_tcp_set_state(sk, TCP_CLOSE);
		net6_tcp_send_active_reset(sk, GFP_ATOMIC);
		NET6_INC(net6_tcp_nn_locked(sk), TcpAbortOnMemory);
	} else if (sk->sk_state != TCP_CLOSE && !check_net(sock_net(sk))) {
		net6_tcp_set_state(sk, TCP_CLOSE);
	}
	if (sk->sk_state == TCP_CLOSE)
		net6_tcp_destroy(sk);
}

/**
 * net6_tcp_close_atomic() - close a connection that no process has
 * @sk: locked, without a struct socket; the owner's reference is given up
 * @reset: reset it whatever its state
 *
 * Context: BH disabled. The caller has another reference.
 */
void net6_tcp_close_atomic(struct sock *sk, bool reset)
	__must_hold(&sk->sk_lock.slock)
{
	int state;

	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	sk->sk_allocation = GFP_ATOMIC;
	if (reset && sk->sk_state != TCP_CLOSE)
		net6_tcp_disconnect(sk, 0);
	else
		net6_tcp_close_begin(sk);
	state = sk->sk_state;
	net6_tcp_prepare_orphan(sk);
	net6_tcp_close_orphan(sk, state);
}

/* SO_LINGER: until the peer has acknowledged our FIN, a signal comes, or the time is over. */
static void net6_tcp_linger(struct sock *sk, long timeout)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	const int closing = TCPF_FIN_WAIT1 | TCPF_CLOSING | TCPF_LAST_ACK;

	if (!timeout)
		return;
	add_wait_queue(sk_sleep(sk), &wait);
	do {
		if (sk_wait_event(sk, &timeout, !((1 << sk->sk_state) & closing), &wait))
			break;
	} while (!signal_pending(current) && timeout);
	remove_wait_queue(sk_sleep(sk), &wait);
}

/**
 * net6_tcp_close() - close(2); proto->close
 * @sk: socket; the caller's reference is given up
 * @timeout: how long to wait for the peer (SO_LINGER), jiffies
 *
 * Context: process, may sleep.
 */
void net6_tcp_close(struct sock *sk, long timeout)
{
	int state;

	lock_sock(sk);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	if (sk->sk_state == TCP_LISTEN) {
		net6_tcp_set_state(sk, TCP_CLOSE);
		net6_tcp_listen_stop(sk);
	} else {
		net6_tcp_close_begin(sk);
		net6_tcp_linger(sk, timeout);
	}

	state = sk->sk_state;
	sock_hold(sk);
	net6_tcp_prepare_orphan(sk);
	local_bh_disable();
	bh_lock_sock(sk);
	/* Nothing may wait in the backlog: the CLOSED socket would answer it. */
	while (unlikely(sk->sk_backlog.tail)) {
		bh_unlock_sock(sk);
		local_bh_enable();
		sk_flush_backlog(sk);
		local_bh_disable();
		bh_lock_sock(sk);
	}
	net6_tcp_close_orphan(sk, state);
	bh_unlock_sock(sk);
	local_bh_enable();
	release_sock(sk);
	sock_put(sk);
}

/**
 * net6_tcp_abort() - end a connection from outside (ss -K, netlink); proto->diag_destroy
 * @sk: full socket; the caller's reference stays
 * @err: errno for its owner
 *
 * Context: process, may sleep.
 * Return: 0, or -EOPNOTSUPP for what is no full socket.
 */
int net6_tcp_abort(struct sock *sk, int err)
{
	int state = READ_ONCE(sk->sk_state);

	if (state == TCP_TIME_WAIT) {
		net6_tcp_tw_kill((struct net6_tcp_tw *)sk);
		return 0;
	}
	if (state == TCP_NEW_SYN_RECV) {
		net6_tcp_request_drop((struct net6_tcp_request *)sk);
		return 0;
	}
	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN) {
		net6_tcp_set_state(sk, TCP_CLOSE);
		net6_tcp_listen_stop(sk);
	}
	local_bh_disable();
	bh_lock_sock(sk);
	if (!sock_flag(sk, SOCK_DEAD)) {
		WRITE_ONCE(sk->sk_err, err);
		/* The error is there before the state that makes others look for it. */
		smp_wmb();
		sk_error_report(sk);
	}
	if (sk->sk_state != TCP_CLOSE) {
		if ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT | TCPF_FIN_WAIT1 |
					   TCPF_FIN_WAIT2 | TCPF_SYN_RECV))
			net6_tcp_send_active_reset(sk, GFP_ATOMIC);
		net6_tcp_write_queue_purge(sk);
		net6_tcp_done(sk);
	}
	bh_unlock_sock(sk);
	local_bh_enable();
	release_sock(sk);
	return 0;
}
