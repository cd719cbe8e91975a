// SPDX-License-Identifier: GPL-2.0
/* The send buffer: how it grows with the congestion window, and who is told that it
 * has room again.
 */
#include "engine.h"

/**
 * net6_tcp_sndbuf_expand() - let the send buffer grow with the congestion window
 * @sk: socket
 *
 * It grows to twice the window, for a whole one may be lost and needs repair while the next is
 * sent. Or it grows to what the congestion control asks for, up to net.ipv4.tcp_wmem[2]. A size
 * that the user has set stays.
 * Context: sk locked.
 */
void net6_tcp_sndbuf_expand(struct sock *sk)
{
	const struct tcp_congestion_ops *ca = net6_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 mss, segs;
	u64 want;

	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK)
		return;
	mss = max_t(u32, tp->rx_opt.mss_clamp, tp->mss_cache) + MAX_TCP_HEADER +
	      SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	mss = roundup_pow_of_two(mss) + SKB_DATA_ALIGN(sizeof(struct sk_buff));
	segs = max3((u32)TCP_INIT_CWND, tcp_snd_cwnd(tp), tp->reordering + 1);
	want = (u64)segs * mss * (ca->sndbuf_expand ? ca->sndbuf_expand(sk) : 2);
	want = min_t(u64, want, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_wmem[2]));
	if (sk->sk_sndbuf < want)
		WRITE_ONCE(sk->sk_sndbuf, want);
}

/* More buffer helps only if memory does not hold the sender up, and its window is not full. Then
 * the buffer is what limits it.
 */
static bool net6_tcp_sndbuf_short(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return !(sk->sk_userlocks & SOCK_SNDBUF_LOCK) && !sk_under_memory_pressure(sk) &&
	       sk_memory_allocated(sk) < sk_prot_mem_limits(sk, 0) &&
	       tcp_packets_in_flight(tp) < tcp_snd_cwnd(tp);
}

/**
 * net6_tcp_snd_space() - ACKs have freed send buffer: a writer may be waiting
 * @sk: socket
 *
 * Context: sk locked.
 */
void net6_tcp_snd_space(struct sock *sk)
{
	/* Pairs with the barrier of sk_stream_wait_memory() and poll. */
	smp_mb();
	if (!(net6_tcp_owner(sk) && net6_tcp_owner(sk)->full) &&
	    (!sk->sk_socket || !test_bit(SOCK_NOSPACE, &sk->sk_socket->flags)))
		return;
	if (net6_tcp_sndbuf_short(sk)) {
		net6_tcp_sndbuf_expand(sk);
		tcp_sk(sk)->snd_cwnd_stamp = tcp_jiffies32;
	}
	sk->sk_write_space(sk);
}

/**
 * net6_tcp_write_space() - wake writers; sk->sk_write_space
 * @sk: socket
 *
 * Context: any.
 */
void net6_tcp_write_space(struct sock *sk)
{
	struct socket *sock = sk->sk_socket;
	struct socket_wq *wq;

	if (!sk_stream_is_writeable(sk))
		return;
	if (unlikely(net6_tcp_owner(sk)))
		net6_tcp_user_writable(sk);
	if (!sock)
		return;
	clear_bit(SOCK_NOSPACE, &sock->flags);
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (wq && wq->fasync_list && !(READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN))
		sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}
