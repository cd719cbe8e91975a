/* SPDX-License-Identifier: GPL-2.0 */
/* Differences of net/sock.h between kernels. Ends when 6.1 is no longer supported. */
#ifndef _NET6_COMPAT_SOCK_H
#define _NET6_COMPAT_SOCK_H

#include <linux/version.h>
#include <net/sock.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#include <net/rps.h>
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#include <net/proto_memory.h>
#endif

/* May the task's page fragment be used? Stable 6.1 got the field late, 6.1.176 lacks it. */
static inline bool net6_compat_task_frag(const struct sock *sk)
{
#ifdef NET6_NO_TASK_FRAG
	return true;
#else
	return sk->sk_use_task_frag;
#endif
}

static inline void net6_compat_set_task_frag(struct sock *sk, bool use)
{
#ifndef NET6_NO_TASK_FRAG
	sk->sk_use_task_frag = use;
#endif
}

/* What release_cb does counts as softirq's: nobody owns the socket any more. Not from 6.10 on,
 * where sk_flush_backlog() calls it, too, for somebody who goes on owning it.
 */
static inline void net6_compat_release_early(struct sock *sk)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
	sock_release_ownership(sk);
#endif
}

/* Transmit time stamps asked for with SO_TIMESTAMPING. */
static inline void net6_compat_tx_timestamp(struct sk_buff *skb,
					    const struct sockcm_cookie *sockc)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	skb_setup_tx_timestamp(skb, sockc->tsflags);
#else
	skb_setup_tx_timestamp(skb, sockc);
#endif
}

/* The same as flags in a buffer of TCP's, which has a key of its own. */
static inline void net6_compat_tx_flags(struct sock *sk, struct sk_buff *skb, u16 tsflags)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	sock_tx_timestamp(sk, tsflags, &skb_shinfo(skb)->tx_flags);
#else
	struct sockcm_cookie sockc = { .tsflags = tsflags };

	sock_tx_timestamp(sk, &sockc, &skb_shinfo(skb)->tx_flags);
#endif
}

/* When a packet is to leave, for one made from it. */
static inline void net6_compat_copy_delivery_time(struct sk_buff *to, const struct sk_buff *from)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
	skb_set_delivery_time(to, from->tstamp, from->mono_delivery_time);
#else
	skb_set_delivery_time(to, from->tstamp, from->tstamp_type);
#endif
}

/* A notification for one MSG_ZEROCOPY send, or @old for one more; NULL without memory for it.
 * Memory of devices came in 6.16.
 */
static inline struct ubuf_info *net6_compat_zerocopy_alloc(struct sock *sk, size_t size,
							   struct ubuf_info *old)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
	return msg_zerocopy_realloc(sk, size, old);
#else
	return msg_zerocopy_realloc(sk, size, old, false);
#endif
}

static inline int net6_compat_zerocopy_stream(struct sock *sk, struct sk_buff *skb,
					      struct msghdr *msg, int len, struct ubuf_info *uarg)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
	return skb_zerocopy_iter_stream(sk, skb, msg, len, uarg);
#else
	return skb_zerocopy_iter_stream(sk, skb, msg, len, uarg, NULL);
#endif
}

/* Times of arrival for a program: struct timespec64 until 7.0. */
static inline ktime_t net6_compat_stamp(const struct scm_timestamping_internal *tss, int which)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
	return timespec64_to_ktime(tss->ts[which]);
#else
	return tss->ts[which];
#endif
}

static inline void net6_compat_stamp_set(struct scm_timestamping_internal *tss, int which,
					 ktime_t stamp)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
	tss->ts[which] = stamp ? ktime_to_timespec64(stamp) : (struct timespec64) {};
#else
	tss->ts[which] = stamp;
#endif
}

static inline void net6_compat_stamp_clear(struct scm_timestamping_internal *tss, int which)
{
	net6_compat_stamp_set(tss, which, 0);
}

static inline kuid_t net6_compat_sock_uid(struct sock *sk)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
	return sock_i_uid(sk);
#else
	return sk_uid(sk);
#endif
}

#endif /* _NET6_COMPAT_SOCK_H */
