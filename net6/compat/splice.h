/* SPDX-License-Identifier: GPL-2.0 */
/* Pages into a socket: proto_ops.sendpage until 6.4, MSG_SPLICE_PAGES since 6.5. */
#ifndef _NET6_COMPAT_SPLICE_H
#define _NET6_COMPAT_SPLICE_H

#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/version.h>

#define NET6_COMPAT_MAX_FRAGS	MAX_SKB_FRAGS

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define NET6_COMPAT_SENDPAGE	1
/* In proto_ops of sockets that copy pages. */
#define NET6_COMPAT_NO_SENDPAGE	.sendpage = sock_no_sendpage,

static inline bool net6_compat_splices(const struct msghdr *msg)
{
	return false;
}

static inline int net6_compat_splice_from_iter(struct sk_buff *skb, struct iov_iter *iter, int max)
{
	return -EOPNOTSUPP;
}
#else
#define NET6_COMPAT_NO_SENDPAGE

static inline bool net6_compat_splices(const struct msghdr *msg)
{
	return msg->msg_flags & MSG_SPLICE_PAGES;
}

static inline int net6_compat_splice_from_iter(struct sk_buff *skb, struct iov_iter *iter, int max)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
	return skb_splice_from_iter(skb, iter, max, GFP_KERNEL);
#else
	return skb_splice_from_iter(skb, iter, max);
#endif
}
#endif

#endif /* _NET6_COMPAT_SPLICE_H */
