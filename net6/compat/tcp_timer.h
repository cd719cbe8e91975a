/* SPDX-License-Identifier: GPL-2.0 */
/* TCP's timers. The engine arms them lazily: it keeps the time that counts beside the timer. Until
 * 6.14 the kernel has fields for that, which are gone in 7.2; there the timer for retransmissions
 * is the sock's, too. Tried on 6.1, 6.12 and 7.2. Ends with the last kernel below 6.19.
 */
#ifndef _NET6_COMPAT_TCP_TIMER_H
#define _NET6_COMPAT_TCP_TIMER_H

#include <linux/version.h>
#include <net/inet_connection_sock.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
struct net6_compat_tcp_times {};

#define net6_compat_timeout(sk)		(inet_csk(sk)->icsk_timeout)
#define net6_compat_ack_timeout(sk)	(inet_csk(sk)->icsk_ack.timeout)
#else
/**
 * struct net6_compat_tcp_times - when timers are due, in jiffies, under the sock's lock
 * @write: retransmissions, probes and what else waits for the peer
 * @ack: the delayed acknowledgment
 */
struct net6_compat_tcp_times {
	unsigned long write;
	unsigned long ack;
};

#define net6_compat_timeout(sk)		(net6_tcp_sk(sk)->times.write)
#define net6_compat_ack_timeout(sk)	(net6_tcp_sk(sk)->times.ack)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define net6_compat_write_timer(sk)	(&inet_csk(sk)->icsk_retransmit_timer)
#else
#define net6_compat_write_timer(sk)	(&(sk)->tcp_retransmit_timer)
#endif

static inline struct sock *net6_compat_write_timer_sk(struct timer_list *timer)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
	return &container_of(timer, struct inet_connection_sock,
			     icsk_retransmit_timer)->icsk_inet.sk;
#else
	return container_of(timer, struct sock, tcp_retransmit_timer);
#endif
}

#endif /* _NET6_COMPAT_TCP_TIMER_H */
