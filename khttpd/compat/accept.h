/* SPDX-License-Identifier: GPL-2.0 */
/* proto_ops.accept: flags and kern became a structure in 6.10. Ends with the
 * last kernel below 6.10.
 */
#ifndef _KHTTPD_COMPAT_ACCEPT_H
#define _KHTTPD_COMPAT_ACCEPT_H

#include <linux/net.h>
#include <linux/version.h>
#include <net/sock.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
/* The last parameters of an accept operation, and its file flags. */
#define KHTTPD_ACCEPT_PARAMS	int khttpd_flags, bool khttpd_kern
#define KHTTPD_ACCEPT_FLAGS	khttpd_flags
/* Call @ops's accept with just these parameters. */
#define KHTTPD_ACCEPT_PASS(ops, sock, newsock) \
	((ops)->accept(sock, newsock, khttpd_flags, khttpd_kern))

static inline int khttpd_ops_accept(const struct proto_ops *ops,
				    struct socket *sock,
				    struct socket *newsock, int flags,
				    bool kern)
{
	return ops->accept(sock, newsock, flags, kern);
}
#else
#define KHTTPD_ACCEPT_PARAMS	struct proto_accept_arg *khttpd_arg
#define KHTTPD_ACCEPT_FLAGS	(khttpd_arg->flags)
#define KHTTPD_ACCEPT_PASS(ops, sock, newsock) \
	((ops)->accept(sock, newsock, khttpd_arg))

static inline int khttpd_ops_accept(const struct proto_ops *ops,
				    struct socket *sock,
				    struct socket *newsock, int flags,
				    bool kern)
{
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };

	return ops->accept(sock, newsock, &arg);
}
#endif

#endif /* _KHTTPD_COMPAT_ACCEPT_H */
