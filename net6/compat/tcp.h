/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between kernels around TCP sockets. Oldest first; each test names the
 * release that made it necessary.
 */
#ifndef _NET6_COMPAT_TCP_H
#define _NET6_COMPAT_TCP_H

#include <linux/version.h>
#include <net/ip.h>
#include <net/tcp.h>

/* inet_sk_get_local_port_range() honours IP_LOCAL_PORT_RANGE since 6.3. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void net6_compat_port_range(const struct sock *sk, int *low, int *high)
{
	inet_get_local_port_range(sock_net(sk), low, high);
}
#else
static inline void net6_compat_port_range(const struct sock *sk, int *low, int *high)
{
	inet_sk_get_local_port_range(sk, low, high);
}
#endif

/* ECN as RFC 3168 has it, since there is another one. */
#ifndef TCP_ECN_OK
#define TCP_ECN_OK	TCP_ECN_MODE_RFC3168
#endif

/* A hint of native TCP's engine, which is gone in 7.2. We do not use it: clearing it is for who
 * looks at a socket from outside.
 */
static inline void net6_compat_forget_lost(struct tcp_sock *tp)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	tp->lost_skb_hint = NULL;
#endif
}

/* TCP_WINDOW_CLAMP: what is negative is the most until 6.14, and the least from 6.15 on. */
static inline u32 net6_compat_window_clamp(int val)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	return max_t(u32, SOCK_MIN_RCVBUF / 2, val);
#else
	return max_t(int, SOCK_MIN_RCVBUF / 2, val);
#endif
}

/* A connection's operation of icsk_af_ops that 7.2 does without. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define NET6_COMPAT_SEND_CHECK(function)	.send_check = function,
#else
#define NET6_COMPAT_SEND_CHECK(function)
#endif

/* tcp_clear_sock_ops_cb_flags(), which stable 6.1 got late: 6.1.176 lacks it. */
static inline void net6_compat_clear_cb_flags(struct sock *sk)
{
#ifdef CONFIG_BPF
	tcp_sk(sk)->bpf_sock_ops_cb_flags = 0;
#endif
}

/* The millisecond clock of RFC 7323 timestamps; tcp_time_stamp_raw() left in 6.7. */
static inline u32 net6_compat_tcp_ts(void)
{
	return div_u64(tcp_clock_ns(), NSEC_PER_MSEC);
}

/* struct proto's ioctl got a kernel pointer in 6.5. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define net6_compat_ioctl_arg	unsigned long
static inline int net6_compat_ioctl_answer(net6_compat_ioctl_arg arg, int answer)
{
	return put_user(answer, (int __user *)arg);
}

/* Call it for a program. */
static inline int net6_compat_ioctl(struct sock *sk, int cmd, unsigned long arg)
{
	return sk->sk_prot->ioctl(sk, cmd, arg);
}
#else
#define net6_compat_ioctl_arg	int *
static inline int net6_compat_ioctl_answer(net6_compat_ioctl_arg arg, int answer)
{
	*arg = answer;
	return 0;
}

static inline int net6_compat_ioctl(struct sock *sk, int cmd, unsigned long arg)
{
	int answer = 0;
	int err;

	err = READ_ONCE(sk->sk_prot)->ioctl(sk, cmd, &answer);
	return err ? : put_user(answer, (int __user *)arg);
}
#endif

/* The copy of a listener: inet_csk_clone_lock() lets the security module label it, too, and
 * sets what a copy must not share. Nothing else that is exported does. sk_clone_lock() below it
 * became sk_clone() in 7.0.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define net6_compat_sk_clone(sk, req, gfp)	inet_csk_clone_lock(sk, req, gfp)
#else
#define net6_compat_sk_clone(sk, req, gfp)	sk_clone(sk, gfp, true)
#endif

/* What makes a child (icsk_af_ops): one parameter more in later kernels and in what took that over
 * (6.1.192 and 6.12.117 did). A function of ours has both forms.
 */
typedef struct sock *(*net6_compat_child)(const struct sock *sk, struct sk_buff *skb,
					  struct request_sock *req, struct dst_entry *dst,
					  struct request_sock *req_unhash, bool *own_req,
					  void (*opt_child_init)(struct sock *newsk,
								 const struct sock *sk));
typedef struct sock *(*net6_compat_child_old)(const struct sock *sk, struct sk_buff *skb,
					      struct request_sock *req, struct dst_entry *dst,
					      struct request_sock *req_unhash, bool *own_req);

#define NET6_COMPAT_CHILD_IS(type)	__builtin_types_compatible_p(type,			\
	typeof(((struct inet_connection_sock_af_ops *)NULL)->syn_recv_sock))

/* Defines what NET6_COMPAT_CHILD_OP(@name) is in icsk_af_ops; it returns what @make makes of a
 * listener and a request.
 */
#define NET6_COMPAT_CHILD(name, make)							\
static struct sock *name##_new(const struct sock *sk, struct sk_buff *skb,		\
			       struct request_sock *req, struct dst_entry *dst,		\
			       struct request_sock *req_unhash, bool *own_req,		\
			       void (*opt_child_init)(struct sock *newsk,		\
						      const struct sock *sk))		\
{											\
	return make(sk, req);								\
}											\
static struct sock *name##_old(const struct sock *sk, struct sk_buff *skb,		\
			       struct request_sock *req, struct dst_entry *dst,		\
			       struct request_sock *req_unhash, bool *own_req)		\
{											\
	return make(sk, req);								\
}

#define NET6_COMPAT_CHILD_OP(name)							\
	__builtin_choose_expr(NET6_COMPAT_CHILD_IS(net6_compat_child), name##_new, name##_old)

/* Calls one that may not be ours. */
static inline struct sock *
net6_compat_syn_recv(const struct inet_connection_sock_af_ops *ops, const struct sock *sk,
		     struct sk_buff *skb, struct request_sock *req)
{
	void *make = READ_ONCE(ops->syn_recv_sock);
	bool own;

	if (NET6_COMPAT_CHILD_IS(net6_compat_child))
		return ((net6_compat_child)make)(sk, skb, req, NULL, NULL, &own, NULL);
	return ((net6_compat_child_old)make)(sk, skb, req, NULL, NULL, &own);
}

/* Milliseconds, of a connection's clock and of when a packet was sent. Since 6.7 there may be
 * microseconds in their place, which we do not offer.
 */
static inline u32 net6_compat_tcp_time_stamp(const struct tcp_sock *tp)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	return tcp_time_stamp(tp);
#else
	return tcp_time_stamp_ms(tp);
#endif
}

static inline u32 net6_compat_tcp_skb_timestamp(const struct sk_buff *skb)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	return tcp_skb_timestamp(skb);
#else
	return tcp_skb_timestamp_ts(false, skb);
#endif
}

/* How long an ACK may wait, in jiffies, has few bits from 6.9 on. */
static inline void net6_compat_set_ato(struct inet_connection_sock *icsk, u32 ato)
{
#ifdef ATO_BITS
	ato = min_t(u32, ato, BIT(ATO_BITS) - 1);
#endif
	icsk->icsk_ack.ato = ato;
}

/* The sequence number that a SYN got from a TIME-WAIT entry. From 6.10 on not all kernels have it
 * in the control block (6.12.107 lacks it, 6.12.117 does not). It shares its place with members
 * for packets that are sent.
 */
static inline void net6_compat_set_tw_isn(struct sk_buff *skb, u32 isn)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
	TCP_SKB_CB(skb)->tcp_tw_isn = isn;
#else
	TCP_SKB_CB(skb)->tcp_gso_segs = isn >> 16;
	TCP_SKB_CB(skb)->tcp_gso_size = isn;
#endif
}

static inline u32 net6_compat_tw_isn(const struct sk_buff *skb)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
	return TCP_SKB_CB(skb)->tcp_tw_isn;
#else
	return (u32)TCP_SKB_CB(skb)->tcp_gso_segs << 16 | TCP_SKB_CB(skb)->tcp_gso_size;
#endif
}

/* Keepalive's timer, which tcp_sock_set_keepidle() arms. In 6.19 it got a field of its own behind
 * the one for delayed ACKs, and so it did in what took that over (6.1.192). No number tells
 * which kernels did.
 */
static inline size_t net6_compat_keepalive_offset(void)
{
	const size_t behind = offsetof(struct inet_connection_sock, icsk_delack_timer) +
			      sizeof(struct timer_list);

	return offsetof(struct inet_connection_sock, icsk_rto) <
	       behind + sizeof(struct timer_list) ? offsetof(struct sock, sk_timer) : behind;
}

static inline struct timer_list *net6_compat_keepalive_timer(const struct sock *sk)
{
	return (struct timer_list *)((char *)sk + net6_compat_keepalive_offset());
}

static inline struct sock *net6_compat_keepalive_sk(struct timer_list *timer)
{
	return (struct sock *)((char *)timer - net6_compat_keepalive_offset());
}

/* What later kernels expect of a new socket's fields. From 6.6 on the share of the receive buffer
 * that is window, half of it, is the socket's. From 6.12 on there are pages of devices, of which
 * we have none.
 */
static inline void net6_compat_tcp_init(struct sock *sk)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	tcp_scaling_ratio_init(sk);
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	xa_init_flags(&sk->sk_user_frags, XA_FLAGS_ALLOC1);
#endif
}

#endif /* _NET6_COMPAT_TCP_H */
