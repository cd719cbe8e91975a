// SPDX-License-Identifier: GPL-2.0
/* Small queue and pacing: when packets of ours leave the host, or their time has
 * come, the socket goes on sending. The work is done in a tasklet per CPU, because a
 * packet may be freed with locks of the device held.
 */
#include <linux/interrupt.h>

#include "engine.h"

/**
 * struct net6_tcp_tsq - sockets of one CPU that may send again
 * @tasklet: drains @head
 * @head: tcp_sock.tsq_node; this CPU with interrupts off
 */
struct net6_tcp_tsq {
	struct tasklet_struct	tasklet;
	struct list_head	head;
};

static DEFINE_PER_CPU(struct net6_tcp_tsq, net6_tcp_tsq);

/* Native's functions decided to send something, which they cannot (engine.c): data that may go,
 * and an ACK if nothing went that carries it.
 */
static void net6_tcp_tsq_for_native(struct sock *sk)
{
	if ((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN | TCPF_SYN_SENT | TCPF_SYN_RECV))
		return;
	net6_tcp_push_ready(sk);
	if (inet_csk(sk)->icsk_ack.pending & ICSK_ACK_NOW)
		net6_tcp_send_ack(sk);
}

/**
 * net6_tcp_tsq_write() - send on
 * @sk: socket, locked
 */
void net6_tcp_tsq_write(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (unlikely(inet_csk(sk)->icsk_ack.pending & ICSK_ACK_NOW)) {
		net6_tcp_clock(tp);
		net6_tcp_tsq_for_native(sk);
	}
	if (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_CLOSING |
				     TCPF_CLOSE_WAIT | TCPF_LAST_ACK)) &&
	    !tcp_passive_fastopen(sk))
		return;
	net6_tcp_clock(tp);
	if (tp->lost_out > tp->retrans_out && tcp_snd_cwnd(tp) > tcp_packets_in_flight(tp))
		net6_tcp_retransmit_queue(sk);
	net6_tcp_write_xmit(sk, net6_tcp_current_mss(sk), tp->nonagle, 0, GFP_ATOMIC);
}

static void net6_tcp_tsq_socket(struct sock *sk)
{
	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk))
		net6_tcp_tsq_write(sk);
	else if (!test_and_set_bit(TCP_TSQ_DEFERRED, &sk->sk_tsq_flags))
		sock_hold(sk);
	bh_unlock_sock(sk);
}

static void net6_tcp_tsq_run(struct tasklet_struct *t)
{
	struct net6_tcp_tsq *tsq = from_tasklet(tsq, t, tasklet);
	struct tcp_sock *tp, *next;
	unsigned long flags;
	LIST_HEAD(list);

	local_irq_save(flags);
	list_splice_init(&tsq->head, &list);
	local_irq_restore(flags);

	list_for_each_entry_safe(tp, next, &list, tsq_node) {
		struct sock *sk = (struct sock *)tp;

		list_del(&tp->tsq_node);
		/* Off the list before somebody may queue it again. */
		smp_mb__before_atomic();
		clear_bit(TSQ_QUEUED, &sk->sk_tsq_flags);
		net6_tcp_tsq_socket(sk);
		sk_free(sk);		/* the write memory kept in net6_tcp_wfree() */
	}
}

/* Hands the socket to this CPU's tasklet, with the reference that one byte of write
 * memory is. Returns false if it is queued already or nothing waits.
 */
static bool net6_tcp_tsq_queue(struct sock *sk)
{
	unsigned long old, new, flags;
	struct net6_tcp_tsq *tsq;
	bool empty;

	old = READ_ONCE(sk->sk_tsq_flags);
	do {
		if (!(old & TSQF_THROTTLED) || old & TSQF_QUEUED)
			return false;
		new = (old & ~TSQF_THROTTLED) | TSQF_QUEUED;
	} while (!try_cmpxchg(&sk->sk_tsq_flags, &old, new));

	local_irq_save(flags);
	tsq = this_cpu_ptr(&net6_tcp_tsq);
	empty = list_empty(&tsq->head);
	list_add(&tcp_sk(sk)->tsq_node, &tsq->head);
	if (empty)
		tasklet_schedule(&tsq->tasklet);
	local_irq_restore(flags);
	return true;
}

/**
 * net6_tcp_wfree() - destructor of packets on their way
 * @skb: packet
 *
 * Context: any, also with interrupts off.
 */
void net6_tcp_wfree(struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	/* One byte stays: the socket must not go while we look at it. */
	WARN_ON_ONCE(refcount_sub_and_test(skb->truesize - 1, &sk->sk_wmem_alloc));
	if (unlikely(READ_ONCE(sk->sk_tsq_flags) & TSQF_THROTTLED) && net6_tcp_tsq_queue(sk))
		return;
	sk_free(sk);
}

/**
 * net6_tcp_pace_kick() - the departure time of the next packet has come
 * @timer: tcp_sock.pacing_timer, which holds a socket reference
 *
 * Context: softirq (HRTIMER_MODE_SOFT).
 */
enum hrtimer_restart net6_tcp_pace_kick(struct hrtimer *timer)
{
	struct tcp_sock *tp = container_of(timer, struct tcp_sock, pacing_timer);
	struct sock *sk = (struct sock *)tp;

	net6_tcp_tsq_socket(sk);
	sock_put(sk);
	return HRTIMER_NORESTART;
}

/**
 * net6_tcp_pacing_check() - must the next packet wait for its time?
 * @sk: socket that paces itself (SK_PACING_NEEDED); tcp_clock_cache up to date
 *
 * Return: true; the timer is armed.
 */
bool net6_tcp_pacing_check(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->tcp_wstamp_ns <= tp->tcp_clock_cache)
		return false;
	if (!hrtimer_is_queued(&tp->pacing_timer)) {
		hrtimer_start(&tp->pacing_timer, ns_to_ktime(tp->tcp_wstamp_ns),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
		sock_hold(sk);
	}
	return true;
}

/**
 * net6_tcp_tsq_init() - set up the tasklets
 */
void net6_tcp_tsq_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct net6_tcp_tsq *tsq = per_cpu_ptr(&net6_tcp_tsq, cpu);

		INIT_LIST_HEAD(&tsq->head);
		tasklet_setup(&tsq->tasklet, net6_tcp_tsq_run);
	}
}

/**
 * net6_tcp_tsq_exit() - no socket is left; wait for tasklets that still run
 */
void net6_tcp_tsq_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(&net6_tcp_tsq, cpu)->tasklet);
}
