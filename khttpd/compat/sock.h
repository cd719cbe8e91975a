/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets: a socket's user is told by sk_uid() from 6.17 on, and addresses whose length is told
 * beside them have a type of their own from 6.19 on. Ends with the last kernel below 6.19.
 */
#ifndef _KHTTPD_COMPAT_SOCK_H
#define _KHTTPD_COMPAT_SOCK_H

#include <linux/version.h>
#include <net/sock.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define sockaddr_unsized	sockaddr
#endif

static inline kuid_t khttpd_sock_uid(struct sock *sk)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
	return sock_i_uid(sk);
#else
	return sk_uid(sk);
#endif
}

#endif /* _KHTTPD_COMPAT_SOCK_H */
