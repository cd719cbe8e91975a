/* SPDX-License-Identifier: GPL-2.0 */
/* Fragment queues: inet_frag_find() takes a reference until 6.14 and none from 6.15 on, where
 * inet_frag_kill() tells how many to give back. Stable 6.12.106 has it as well. Ends with the
 * last kernel without inet_frag_putn().
 */
#ifndef _NET6_COMPAT_INET_FRAG_H
#define _NET6_COMPAT_INET_FRAG_H

#include <linux/version.h>
#include <net/inet_frag.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 106) || \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0))
/* References that come with what inet_frag_find() has found. */
#define NET6_COMPAT_FRAG_FOUND	1

/* Take a queue out of the table and stop its timer; q->lock held. Their references are given
 * back here, or added to those that the caller has to give back.
 */
static inline void net6_compat_frag_kill(struct inet_frag_queue *q, int *refs)
	__must_hold(&q->lock)
{
	inet_frag_kill(q);
}

/* Give references back. */
static inline void net6_compat_frag_putn(struct inet_frag_queue *q, int refs)
{
	while (refs--)
		inet_frag_put(q);
}
#else
/* The RCU read lock keeps it. */
#define NET6_COMPAT_FRAG_FOUND	0
#define net6_compat_frag_kill	inet_frag_kill
#define net6_compat_frag_putn	inet_frag_putn
#endif

#endif /* _NET6_COMPAT_INET_FRAG_H */
