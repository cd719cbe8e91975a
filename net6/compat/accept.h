/* SPDX-License-Identifier: GPL-2.0 */
/* struct proto's accept: flags, error and kern became a structure in 6.10. Ends with the last
 * kernel below 6.10.
 */
#ifndef _NET6_COMPAT_ACCEPT_H
#define _NET6_COMPAT_ACCEPT_H

#include <linux/version.h>
#include <net/sock.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
/**
 * struct proto_accept_arg - as in later kernels
 * @flags: of accept4()
 * @err: why there is none
 * @is_empty: nobody asks for it here
 * @kern: the new socket is the kernel's
 */
struct proto_accept_arg {
	int	flags;
	int	err;
	int	is_empty;
	bool	kern;
};

/* The last parameters of an accept operation. */
#define NET6_COMPAT_ACCEPT_PARAMS	int net6_flags, int *net6_err, bool net6_kern
/* Such an operation by means of @accept, which has the structure. */
#define NET6_COMPAT_ACCEPT_PASS(accept, sk) \
	net6_compat_accept(accept, sk, net6_flags, net6_err, net6_kern)

static inline struct sock *
net6_compat_accept(struct sock *(*accept)(struct sock *, struct proto_accept_arg *),
		   struct sock *sk, int flags, int *err, bool kern)
{
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };
	struct sock *child = accept(sk, &arg);

	if (!child)
		*err = arg.err;
	return child;
}

/* A native sock's accept; NULL without a connection. */
static inline struct sock *net6_compat_sk_accept(struct sock *sk, int flags, bool kern)
{
	int err;

	return sk->sk_prot->accept(sk, flags, &err, kern);
}
#else
#define NET6_COMPAT_ACCEPT_PARAMS	struct proto_accept_arg *net6_arg
#define NET6_COMPAT_ACCEPT_PASS(accept, sk) ((accept)(sk, net6_arg))

static inline struct sock *net6_compat_sk_accept(struct sock *sk, int flags, bool kern)
{
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };

	return sk->sk_prot->accept(sk, &arg);
}
#endif

#endif /* _NET6_COMPAT_ACCEPT_H */
