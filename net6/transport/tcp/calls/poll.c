// SPDX-License-Identifier: GPL-2.0
/* Readiness: poll(), and the questions of ioctl() about the queues. */
#include <linux/poll.h>
#include <linux/sockios.h>
#include <asm/ioctls.h>

#include "../../../compat/tcp.h"
#include "../../../socket/mapped.h"
#include "../conn/conn.h"
#include "../conn/fastopen.h"
#include "../engine/entry.h"
#include "calls.h"

static __poll_t net6_tcp_poll_out(struct sock *sk)
{
	if (__sk_stream_is_writeable(sk, 1))
		return EPOLLOUT | EPOLLWRNORM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* An ACK between the test and the bits would wake nobody: look again. */
	smp_mb__after_atomic();
	return __sk_stream_is_writeable(sk, 1) ? EPOLLOUT | EPOLLWRNORM : 0;
}

static __poll_t net6_tcp_poll_data(struct sock *sk, u8 shutdown)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u16 urg = READ_ONCE(tp->urg_data);
	int target = sock_rcvlowat(sk, 0, INT_MAX);
	__poll_t mask = 0;

	/* An urgent byte that is out of line does not count. */
	if (unlikely(urg) && READ_ONCE(tp->urg_seq) == READ_ONCE(tp->copied_seq) &&
	    !sock_flag(sk, SOCK_URGINLINE))
		target++;
	if (net6_tcp_read_ready(sk, target))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (shutdown & SEND_SHUTDOWN)
		mask |= EPOLLOUT | EPOLLWRNORM;
	else
		mask |= net6_tcp_poll_out(sk);
	if (urg & TCP_URG_VALID)
		mask |= EPOLLPRI;
	return mask;
}

/* The program finds nothing that it wants, so it will sleep. An ACK that waits for what it does
 * must not wait on. The tick sends it if somebody else uses the socket now.
 */
static void net6_tcp_poll_idle(struct sock *sk)
{
	local_bh_disable();
	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk))
		net6_tcp_ack_idle(sk);
	bh_unlock_sock(sk);
	local_bh_enable();
}

static __poll_t net6_tcp_poll_listener(struct sock *sk)
{
	do {
		if (READ_ONCE(net6_tcp_sk(sk)->accept_first) || net6_mapped_accept_ready(sk))
			return EPOLLIN | EPOLLRDNORM;
	} while (net6_tcp_held_send(net6_tcp_nn(sk)));
	return 0;
}

/**
 * net6_tcp_poll() - poll(2); proto_ops->poll
 * @file: file of the socket
 * @sock: socket
 * @sk: its sock, as the caller has found it
 * @wait: table to be woken through
 *
 * Context: process; the socket is not locked.
 * Return: EPOLL* bits.
 */
__poll_t net6_tcp_poll(struct file *file, struct socket *sock, struct sock *sk,
		       struct poll_table_struct *wait)
{
	__poll_t mask = 0;
	u8 shutdown;
	int state;

	sock_poll_wait(file, sock, wait);
	/* Pairs with net6_tcp_set_state(). */
	state = smp_load_acquire(&sk->sk_state);
	if (state == TCP_LISTEN)
		return net6_tcp_poll_listener(sk);

	shutdown = READ_ONCE(sk->sk_shutdown);
	if (shutdown == SHUTDOWN_MASK || state == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (state != TCP_SYN_SENT && (state != TCP_SYN_RECV || tcp_passive_fastopen(sk)))
		mask |= net6_tcp_poll_data(sk, shutdown);
	else if (unlikely(state == TCP_SYN_SENT && net6_tcp_deferred(sk)))
		mask |= EPOLLOUT | EPOLLWRNORM;
	/* The error is set before the state and the wake-up. */
	smp_rmb();
	if (READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	if (unlikely(READ_ONCE(inet_csk(sk)->icsk_ack.pending) & NET6_TCP_ACK_PROGRAM) &&
	    !(mask & poll_requested_events(wait)))
		net6_tcp_poll_idle(sk);
	return mask;
}

/* Bytes that a reader would get, up to the urgent mark. */
static int net6_tcp_inq(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	int inq;

	if ((1 << sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV))
		return 0;
	if (sock_flag(sk, SOCK_URGINLINE) || !tp->urg_data ||
	    before(tp->urg_seq, tp->copied_seq) || !before(tp->urg_seq, tp->rcv_nxt)) {
		inq = tp->rcv_nxt - tp->copied_seq;
		/* The FIN has a number, but is no byte. */
		if (inq && sock_flag(sk, SOCK_DONE))
			inq--;
		return inq;
	}
	return tp->urg_seq - tp->copied_seq;
}

/**
 * net6_tcp_ioctl() - SIOCINQ, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK; proto->ioctl
 * @sk: socket
 * @cmd: question
 * @arg: where the answer goes
 *
 * Context: process.
 * Return: 0, -EINVAL for listeners, -ENOIOCTLCMD for other questions.
 */
int net6_tcp_ioctl(struct sock *sk, int cmd, net6_compat_ioctl_arg arg)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	bool unsent = (1 << sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV);
	bool slow;
	int answer;

	switch (cmd) {
	case SIOCINQ:
		if (sk->sk_state == TCP_LISTEN)
			return -EINVAL;
		slow = lock_sock_fast(sk);
		answer = net6_tcp_inq(sk);
		unlock_sock_fast(sk, slow);
		break;
	case SIOCATMARK:
		answer = READ_ONCE(tp->urg_data) &&
			 READ_ONCE(tp->urg_seq) == READ_ONCE(tp->copied_seq);
		break;
	case SIOCOUTQ:
		if (sk->sk_state == TCP_LISTEN)
			return -EINVAL;
		answer = unsent ? 0 : READ_ONCE(tp->write_seq) - tp->snd_una;
		break;
	case SIOCOUTQNSD:
		if (sk->sk_state == TCP_LISTEN)
			return -EINVAL;
		answer = unsent ? 0 : READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_nxt);
		break;
	default:
		return -ENOIOCTLCMD;
	}
	return net6_compat_ioctl_answer(arg, answer);
}
