// SPDX-License-Identifier: GPL-2.0
/* Extension headers that programs send with datagrams, RFC 3542 sections 6 to 9. There are sticky
 * options of the socket, and ancillary data of one call. The latter take the place of all sticky
 * ones, as on Linux. TCP has none.
 */
#include <net/ipv6.h>

#include "../core/exthdr.h"
#include "../core/exthdr_chain.h"
#include "sock.h"

/* As Linux: Hdr Ext Len 255 would fit the wire but not a sticky option. */
#define NET6_STICKY_MAX		(8 * 255)

/* RFC 3542 has no such rule; Linux lets others send routing headers only. */
static bool net6_exthdr_may(const struct sock *sk, int type)
{
	return type == IPV6_RTHDR || type == IPV6_2292RTHDR ||
	       ns_capable(sock_net(sk)->user_ns, CAP_NET_RAW);
}

/* The place of a header; an option's number says which. */
static void *net6_sticky_header(const struct ipv6_txoptions *opt, int optname)
{
	if (!opt)
		return NULL;
	switch (optname) {
	case IPV6_HOPOPTS:
		return opt->hopopt;
	case IPV6_RTHDRDSTOPTS:
		return opt->dst0opt;
	case IPV6_RTHDR:
		return opt->srcrt;
	default:
		return opt->dst1opt;
	}
}

static const int net6_sticky_options[] = {
	IPV6_HOPOPTS, IPV6_RTHDRDSTOPTS, IPV6_RTHDR, IPV6_DSTOPTS
};

/* The headers of @old with @hdr (NULL for none) in the place of @optname's. Returns NULL
 * if there are none then, or ERR_PTR.
 */
static struct ipv6_txoptions *net6_sticky_renew(struct sock *sk, struct ipv6_txoptions *old,
						int optname, struct ipv6_opt_hdr *hdr)
{
	struct ipv6_opt_hdr *from[ARRAY_SIZE(net6_sticky_options)], *to[ARRAY_SIZE(from)] = {};
	struct ipv6_txoptions *opt;
	unsigned int len = 0;
	void *at;
	int i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		from[i] = net6_sticky_options[i] == optname ? hdr :
			  net6_sticky_header(old, net6_sticky_options[i]);
		len += from[i] ? ipv6_optlen(from[i]) : 0;
	}
	if (!len)
		return NULL;
	opt = sock_kmalloc(sk, sizeof(*opt) + len, GFP_KERNEL);
	if (!opt)
		return ERR_PTR(-ENOBUFS);
	at = opt + 1;
	for (i = 0; i < ARRAY_SIZE(from); i++) {
		if (!from[i])
			continue;
		to[i] = at;
		memcpy(at, from[i], ipv6_optlen(from[i]));
		at += ipv6_optlen(from[i]);
	}
	memset(opt, 0, sizeof(*opt));
	refcount_set(&opt->refcnt, 1);
	opt->tot_len = sizeof(*opt) + len;
	opt->hopopt = to[0];
	opt->dst0opt = to[1];
	opt->srcrt = (struct ipv6_rt_hdr *)to[2];
	opt->dst1opt = to[3];
	net6_exthdr_measure(opt);
	return opt;
}

static void net6_sticky_put(struct sock *sk, struct ipv6_txoptions *opt)
{
	if (!opt)
		return;
	atomic_sub(opt->tot_len, &sk->sk_omem_alloc);
	txopt_put(opt);
}

/* Copies and checks what a program gives; NULL for no header, or ERR_PTR. */
static struct ipv6_opt_hdr *net6_sticky_read(int optname, sockptr_t optval, unsigned int optlen)
{
	struct ipv6_opt_hdr *hdr;

	/* RFC 3542 section 4.1: a length of 0 removes the option */
	if (!optlen)
		return NULL;
	if (sockptr_is_null(optval) || optlen % 8 || optlen > NET6_STICKY_MAX)
		return ERR_PTR(-EINVAL);
	hdr = memdup_sockptr(optval, optlen);
	if (IS_ERR(hdr))
		return hdr;
	if (ipv6_optlen(hdr) > optlen ||
	    (optname == IPV6_RTHDR && !net6_chain_route_valid((u8 *)hdr, optlen))) {
		kfree(hdr);
		return ERR_PTR(-EINVAL);
	}
	return hdr;
}

/**
 * net6_sticky_set() - setsockopt() of a header that goes with every datagram
 * @sk: datagram socket, owned
 * @optname: IPV6_HOPOPTS, IPV6_RTHDRDSTOPTS, IPV6_RTHDR or IPV6_DSTOPTS
 * @optval: the header, its Next Header field ignored
 * @optlen: its length
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_sticky_set(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen)
{
	struct ipv6_txoptions *old, *opt;
	struct ipv6_opt_hdr *hdr;

	if (sk->sk_type == SOCK_STREAM)
		return -ENOPROTOOPT;
	if (!net6_exthdr_may(sk, optname))
		return -EPERM;
	hdr = net6_sticky_read(optname, optval, optlen);
	if (IS_ERR(hdr))
		return PTR_ERR(hdr);
	old = rcu_dereference_protected(net6_np(sk)->opt, lockdep_sock_is_held(sk));
	opt = net6_sticky_renew(sk, old, optname, hdr);
	kfree(hdr);
	if (IS_ERR(opt))
		return PTR_ERR(opt);
	rcu_assign_pointer(net6_np(sk)->opt, opt);
	net6_sticky_put(sk, old);
	return 0;
}

/**
 * net6_sticky_get() - getsockopt() of such a header
 * @sk: any socket of ours
 * @optname: as for net6_sticky_set()
 * @optval: where it goes, user memory
 * @optlen: its room, then its length (0 if there is none); user memory
 * @len: what @optlen said
 *
 * Context: process; takes the socket lock. Return: 0 or -errno.
 */
int net6_sticky_get(struct sock *sk, int optname, char __user *optval, int __user *optlen,
		    unsigned int len)
{
	const struct ipv6_opt_hdr *hdr;
	int err = 0;

	if (sk->sk_type == SOCK_STREAM)
		return -ENOPROTOOPT;
	lock_sock(sk);
	hdr = net6_sticky_header(rcu_dereference_protected(net6_np(sk)->opt,
							   lockdep_sock_is_held(sk)), optname);
	len = hdr ? min_t(unsigned int, len, ipv6_optlen(hdr)) : 0;
	if (len && copy_to_user(optval, hdr, len))
		err = -EFAULT;
	release_sock(sk);
	return err ?: put_user(len, optlen);
}

/**
 * net6_sticky_free() - a socket with its headers goes
 * @sk: any socket of ours, nobody refers to it
 *
 * Context: any.
 */
void net6_sticky_free(struct sock *sk)
{
	net6_sticky_put(sk, rcu_replace_pointer(net6_np(sk)->opt, NULL, true));
}

/* RFC 2292: Destination Options that come before a routing header are for its stops. */
static void net6_cmsg_route(struct ipv6_txoptions *opt, int type, struct ipv6_opt_hdr *hdr)
{
	opt->srcrt = (struct ipv6_rt_hdr *)hdr;
	if (type == IPV6_2292RTHDR && opt->dst1opt) {
		opt->dst0opt = opt->dst1opt;
		opt->dst1opt = NULL;
	}
}

/**
 * net6_cmsg_exthdr() - a header in the ancillary data of a sendmsg()
 * @sk: datagram socket
 * @cmsg: of a type that names a header; stays where it is until the datagram is sent
 * @tx: gets it
 *
 * Of DSTOPTS and RTHDR the last one counts, others may be there once.
 * Context: process. Return: 0 or -errno.
 */
int net6_cmsg_exthdr(struct sock *sk, const struct cmsghdr *cmsg, struct net6_tx *tx)
{
	struct ipv6_opt_hdr *hdr = (struct ipv6_opt_hdr *)CMSG_DATA(cmsg);
	struct ipv6_txoptions *opt = &tx->headers;
	int type = cmsg->cmsg_type;

	if (cmsg->cmsg_len < CMSG_LEN(sizeof(*hdr)) ||
	    cmsg->cmsg_len < CMSG_LEN(ipv6_optlen(hdr)))
		return -EINVAL;
	if (!tx->opt) {
		memset(opt, 0, sizeof(*opt));
		tx->opt = opt;
	}
	/* As Linux: a second one is told before who may send one at all. */
	if (type == IPV6_HOPOPTS || type == IPV6_2292HOPOPTS) {
		if (opt->hopopt)
			return -EINVAL;
	}
	if (!net6_exthdr_may(sk, type))
		return -EPERM;
	switch (type) {
	case IPV6_HOPOPTS:
	case IPV6_2292HOPOPTS:
		opt->hopopt = hdr;
		break;
	case IPV6_RTHDRDSTOPTS:
		opt->dst0opt = hdr;
		break;
	case IPV6_2292DSTOPTS:
		if (opt->dst1opt)
			return -EINVAL;
		fallthrough;
	case IPV6_DSTOPTS:
		opt->dst1opt = hdr;
		break;
	default:
		if (!net6_chain_route_valid((u8 *)hdr, cmsg->cmsg_len - CMSG_LEN(0)))
			return -EINVAL;
		net6_cmsg_route(opt, type, hdr);
	}
	net6_exthdr_measure(opt);
	return 0;
}

/**
 * net6_tx_keep() - a datagram that is put together by several calls keeps its headers
 * @sk: datagram socket, owned
 * @tx: where it is kept, copied from the first call's
 *
 * Context: process. Return: 0 or -ENOBUFS; net6_tx_forget() ends it.
 */
int net6_tx_keep(struct sock *sk, struct net6_tx *tx)
{
	struct ipv6_txoptions *opt = tx->opt ?:
		rcu_dereference_protected(net6_np(sk)->opt, lockdep_sock_is_held(sk));

	tx->opt = opt ? net6_sticky_renew(sk, opt, 0, NULL) : NULL;
	if (!IS_ERR(tx->opt))
		return 0;
	tx->opt = NULL;
	return -ENOBUFS;
}

/**
 * net6_tx_forget() - that datagram is sent, or never will be
 * @sk: datagram socket, owned
 * @tx: where it was kept
 *
 * Context: process.
 */
void net6_tx_forget(struct sock *sk, struct net6_tx *tx)
{
	net6_sticky_put(sk, tx->opt);
	tx->opt = NULL;
}
