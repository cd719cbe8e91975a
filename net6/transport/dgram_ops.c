// SPDX-License-Identifier: GPL-2.0
/* The calls of SOCK_DGRAM sockets, and the beginning and end of such a socket. */
#include <asm/ioctls.h>
#include <net/inet_common.h>

#include "../compat/bpf_cgroup.h"
#include "../compat/sock.h"
#include "../compat/splice.h"
#include "../socket/mapped.h"
#include "dgram.h"

/**
 * net6_dgram_init_sock() - struct proto's init
 * @sk: new socket
 *
 * Context: process. Return: 0.
 */
int net6_dgram_init_sock(struct sock *sk)
{
	INIT_HLIST_HEAD(&net6_dgram_sk(sk)->groups);
	sk->sk_destruct = net6_dgram_destruct;
	return 0;
}

/**
 * net6_dgram_close() - struct proto's close
 * @sk: socket without a process from now on
 * @timeout: not used: nothing waits for a datagram
 *
 * Context: process.
 */
void net6_dgram_close(struct sock *sk, long timeout)
{
	if (unlikely(net6_dgram_sk(sk)->corked)) {
		lock_sock(sk);
		net6_udp_flush_pending(sk);
		release_sock(sk);
	}
	if (net6_sk_is_udp(sk) && unlikely(net6_udp_encaps(sk)))
		net6_udp_encap_close(sk);
	net6_dgram_pages_free(sk);
	sk_common_release(sk);
}

/**
 * net6_dgram_pre_connect() - struct proto's pre_connect: cgroup BPF has its say
 * @sk: socket
 * @uaddr: peer, may be changed
 * @addr_len: its length
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_dgram_pre_connect(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len)
{
	if (addr_len < offsetofend(struct sockaddr, sa_family))
		return -EINVAL;
	/* The inner socket asks IPv4's programs. */
	if (uaddr->sa_family == AF_INET)
		return 0;
	if (addr_len < SIN6_LEN_RFC2133)
		return -EINVAL;
	return net6_bpf_connect(sk, uaddr, &addr_len);
}

/**
 * net6_dgram_autobind() - take an ephemeral port if there is none yet
 * @sk: socket
 *
 * Context: process. Return: 0 or -EAGAIN when all ports are taken.
 */
int net6_dgram_autobind(struct sock *sk)
{
	struct inet_sock *inet = inet_sk(sk);
	int err = 0;

	if (likely(inet->inet_num))
		return 0;
	lock_sock(sk);
	if (!inet->inet_num) {
		if (sk->sk_prot->get_port(sk, 0))
			err = -EAGAIN;
		else
			inet->inet_sport = htons(inet->inet_num);
	}
	release_sock(sk);
	return err;
}

/**
 * net6_dgram_ioctl() - struct proto's ioctl
 * @sk: socket
 * @cmd: SIOCINQ, SIOCOUTQ
 * @arg: where the answer goes
 *
 * Context: process. Return: 0, -EFAULT, -ENOIOCTLCMD.
 */
int net6_dgram_ioctl(struct sock *sk, int cmd, net6_compat_ioctl_arg arg)
{
	int amount;

	switch (cmd) {
	case SIOCOUTQ:
		amount = sk_wmem_alloc_get(sk);
		break;
	case SIOCINQ:
		amount = max(0, net6_dgram_first_len(sk));
		break;
	default:
		return -ENOIOCTLCMD;
	}
	return net6_compat_ioctl_answer(arg, amount);
}

/* A blocking reader must not be told of a datagram that its read would drop. */
static __poll_t net6_dgram_poll(struct file *file, struct socket *sock,
				struct poll_table_struct *wait)
{
	__poll_t mask = datagram_poll(file, sock, wait);
	struct sock *sk = sock->sk;

	if ((mask & EPOLLRDNORM) && !(file->f_flags & O_NONBLOCK) &&
	    !(sk->sk_shutdown & RCV_SHUTDOWN) && net6_dgram_first_len(sk) < 0)
		mask &= ~(EPOLLIN | EPOLLRDNORM);
	if (unlikely(net6_mapped_inner(sk)) && (mask & EPOLLOUT))
		mask = net6_mapped_dgram_poll(net6_mapped_inner(sk), mask);
	if (net6_np(sk)->rxopt.bits.rxpmtu && READ_ONCE(net6_np(sk)->rxpmtu))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

static int net6_dgram_sendmsg(struct socket *sock, struct msghdr *msg, size_t size)
{
	struct sock *sk = sock->sk;
	int err;

	sock_rps_record_flow(sk);
	err = net6_dgram_autobind(sk);
	if (unlikely(err))
		return err;
	if (likely(net6_sk_is_udp(sk)))
		return net6_udp_sendmsg(sk, msg, size);
	return sk->sk_prot->sendmsg(sk, msg, size);
}

static int net6_dgram_sock_recvmsg(struct socket *sock, struct msghdr *msg, size_t size,
				   int flags)
{
	struct sock *sk = sock->sk;
	int addr_len = 0;
	int err;

	if (likely(!(flags & MSG_ERRQUEUE)))
		sock_rps_record_flow(sk);
	err = net6_dgram_recvmsg(sk, msg, size, flags, &addr_len);
	if (err >= 0)
		msg->msg_namelen = addr_len;
	return err;
}

#define NET6_DGRAM_CALLS				\
	.family		= PF_INET6,			\
	.owner		= THIS_MODULE,			\
	.release	= net6_release,			\
	.bind		= net6_bind,			\
	.connect	= inet_dgram_connect,		\
	.socketpair	= sock_no_socketpair,		\
	.accept		= sock_no_accept,		\
	.getname	= net6_getname,			\
	.poll		= net6_dgram_poll,		\
	.ioctl		= net6_ioctl,			\
	.gettstamp	= sock_gettstamp,		\
	.listen		= sock_no_listen,		\
	.shutdown	= net6_mapped_shutdown,		\
	.setsockopt	= net6_sock_setsockopt,		\
	.getsockopt	= sock_common_getsockopt,	\
	.sendmsg	= net6_dgram_sendmsg,		\
	.recvmsg	= net6_dgram_sock_recvmsg,	\
	.mmap		= sock_no_mmap,			\
	NET6_COMPAT_NO_SENDPAGE

const struct proto_ops net6_dgram_ops = {
	NET6_DGRAM_CALLS
	.set_peek_off	= sk_set_peek_off,
};

/* As on Linux: only UDP can be peeked at from an offset. */
const struct proto_ops net6_raw_ops = {
	NET6_DGRAM_CALLS
};
