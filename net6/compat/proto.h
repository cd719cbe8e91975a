/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of struct proto: until 7.0 recvmsg() tells the length of an address through a pointer,
 * and later in the message. Ends with the last kernel below 7.1.
 */
#ifndef _NET6_COMPAT_PROTO_H
#define _NET6_COMPAT_PROTO_H

#include <linux/version.h>
#include <net/sock.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define NET6_COMPAT_RECVMSG(name)
#define net6_compat_recvmsg(name)	name

static inline int net6_compat_prot_recvmsg(struct sock *sk, struct msghdr *msg, size_t size,
					   int flags)
{
	int addr_len = 0;
	int err = READ_ONCE(sk->sk_prot)->recvmsg(sk, msg, size, flags, &addr_len);

	if (err >= 0)
		msg->msg_namelen = addr_len;
	return err;
}
#else
/* Defines NAME_msg(), which is NAME() as struct proto wants it. */
#define NET6_COMPAT_RECVMSG(name)							\
static int name##_msg(struct sock *sk, struct msghdr *msg, size_t len, int flags)	\
{											\
	int addr_len = 0;								\
	int err = name(sk, msg, len, flags, &addr_len);					\
											\
	if (err >= 0)									\
		msg->msg_namelen = addr_len;						\
	return err;									\
}

#define net6_compat_recvmsg(name)	name##_msg

static inline int net6_compat_prot_recvmsg(struct sock *sk, struct msghdr *msg, size_t size,
					   int flags)
{
	return READ_ONCE(sk->sk_prot)->recvmsg(sk, msg, size, flags);
}
#endif

#endif /* _NET6_COMPAT_PROTO_H */
