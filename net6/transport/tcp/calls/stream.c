// SPDX-License-Identifier: GPL-2.0
/* The calls of SOCK_STREAM sockets: what TCP does, under the names that the socket
 * layer calls.
 */
#include <net/inet_common.h>

#include "../../../compat/proto.h"
#include "../../../compat/splice.h"
#include "../../../socket/mapped.h"
#include "../conn/conn.h"
#include "calls.h"

static int net6_stream_autobind(struct sock *sk)
{
	if (inet_sk(sk)->inet_num)
		return 0;
	if (net6_bind_port(sk, 0, false))
		return -EADDRINUSE;
	inet_sk(sk)->inet_sport = htons(inet_sk(sk)->inet_num);
	return 0;
}

/* On both, or on none. sk owned. */
static int net6_stream_listen_both(struct sock *sk, int backlog)
{
	struct sock *inner = net6_mapped_inner(sk);
	int err = 0;

	if (unlikely(inner)) {
		net6_mapped_sync(sk, inner);
		err = inet_listen(inner->sk_socket, backlog);
	}
	if (err || sk->sk_state == TCP_LISTEN)
		return err;
	err = net6_tcp_listen(sk, backlog);
	if (unlikely(err && inner))
		inet_shutdown(inner->sk_socket, SHUT_RDWR);
	return err;
}

/* A second listen() changes the backlog only, as on every Unix. */
static int net6_stream_listen(struct socket *sock, int backlog)
{
	struct sock *sk = net6_lock_sock(sock);
	int err = -EINVAL;

	if (net6_sk_is_ipv4(sk)) {
		release_sock(sk);
		return inet_listen(sock, backlog);
	}
	if (sock->state != SS_UNCONNECTED)
		goto out;
	if (!((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN)))
		goto out;
	err = net6_stream_autobind(sk);
	if (err)
		goto out;
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	err = net6_stream_listen_both(sk, backlog);
out:
	release_sock(sk);
	return err;
}

/* Wait for a connection, on the sock that is there now. */
static int net6_stream_connect_wait(struct socket *sock, struct sockaddr_unsized *uaddr, int len,
				    int flags)
{
	int err;

	if (flags & O_NONBLOCK)
		return -EINPROGRESS;
	err = inet_stream_connect(sock, uaddr, len, flags);
	/* To the program this is its first call. */
	return err == -EALREADY ? -EINPROGRESS : err;
}

static int net6_stream_connect(struct socket *sock, struct sockaddr_unsized *uaddr, int len,
			       int flags)
{
	struct sockaddr_in6 *addr = (struct sockaddr_in6 *)uaddr;
	struct sock *sk = net6_lock_sock(sock);
	int err;

	if (net6_sk_is_ipv4(sk)) {
		release_sock(sk);
		err = net6_mapped_connect(sock, uaddr, len, flags);
		return err == -EINPROGRESS ? net6_stream_connect_wait(sock, uaddr, len, flags) :
			err;
	}
	if (unlikely(net6_mapped_addr(sk, addr, len)) && sock->state == SS_UNCONNECTED &&
	    sk->sk_state == TCP_CLOSE) {
		err = net6_mapped_stream_start(sock, sk, addr, len);
		release_sock(sk);
		return err == -EINPROGRESS ? net6_stream_connect_wait(sock, uaddr, len, flags) :
			err;
	}
	err = __inet_stream_connect(sock, uaddr, len, flags, 0);
	/* connect() with AF_UNSPEC ends a listener, too. */
	if (unlikely(net6_mapped_inner(sk)) && len >= sizeof(uaddr->sa_family) &&
	    uaddr->sa_family == AF_UNSPEC)
		inet_shutdown(net6_mapped_inner(sk)->sk_socket, SHUT_RDWR);
	release_sock(sk);
	return err;
}

static int net6_stream_getsockopt(struct socket *sock, int level, int optname,
				  char __user *optval, int __user *optlen)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (net6_sk_is_ipv4(sk))
		return net6_mapped_getsockopt(sock, level, optname, optval, optlen);
	return READ_ONCE(sk->sk_prot)->getsockopt(sk, level, optname, optval, optlen);
}

static __poll_t net6_stream_poll(struct file *file, struct socket *sock,
				 struct poll_table_struct *wait)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (net6_sk_is_ipv4(sk))
		return inet_stream_ops.poll(file, sock, wait);
	return net6_tcp_poll(file, sock, sk, wait);
}

static ssize_t net6_stream_splice_read(struct socket *sock, loff_t *ppos,
				       struct pipe_inode_info *pipe, size_t len,
				       unsigned int flags)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (net6_sk_is_ipv4(sk))
		return inet_stream_ops.splice_read(sock, ppos, pipe, len, flags);
	return net6_tcp_splice_read(sock, sk, ppos, pipe, len, flags);
}

static void net6_stream_splice_eof(struct socket *sock)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (net6_sk_is_ipv4(sk))
		inet_stream_ops.splice_eof(sock);
	else
		net6_tcp_splice_eof(sk);
}

static int net6_stream_sendmsg_locked(struct sock *sk, struct msghdr *msg, size_t size)
{
	if (net6_sk_is_ipv4(sk))
		return inet_stream_ops.sendmsg_locked(sk, msg, size);
	return net6_tcp_sendmsg_locked(sk, msg, size);
}

#ifdef NET6_COMPAT_SENDPAGE
static int net6_stream_sendpage_locked(struct sock *sk, struct page *page, int offset,
				       size_t size, int flags)
{
	if (net6_sk_is_ipv4(sk))
		return inet_stream_ops.sendpage_locked(sk, page, offset, size, flags);
	return net6_tcp_sendpage_locked(sk, page, offset, size, flags);
}

static ssize_t net6_stream_sendpage(struct socket *sock, struct page *page, int offset,
				    size_t size, int flags)
{
	struct sock *sk = READ_ONCE(sock->sk);

	return READ_ONCE(sk->sk_prot)->sendpage(sk, page, offset, size, flags);
}
#endif

static int net6_stream_peek_len(struct socket *sock)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (net6_sk_is_ipv4(sk))
		return inet_stream_ops.peek_len(sock);
	return net6_tcp_peek_len(sk);
}

static int net6_stream_read_sock(struct sock *sk, read_descriptor_t *desc,
				 sk_read_actor_t recv_actor)
{
	if (net6_sk_is_ipv4(sk))
		return inet_stream_ops.read_sock(sk, desc, recv_actor);
	return net6_tcp_read_sock(sk, desc, recv_actor);
}

/* A socket with IPv4 inside can be in a map of BPF's, and a verdict reads it so. */
static int net6_stream_read_skb(struct sock *sk, skb_read_actor_t recv_actor)
{
	if (net6_sk_is_ipv4(sk))
		return inet_stream_ops.read_skb(sk, recv_actor);
	return -EOPNOTSUPP;
}

static int net6_stream_set_rcvlowat(struct sock *sk, int val)
{
	if (net6_sk_is_ipv4(sk))
		return inet_stream_ops.set_rcvlowat(sk, val);
	return net6_tcp_set_rcvlowat(sk, val);
}

static int net6_stream_sendmsg(struct socket *sock, struct msghdr *msg, size_t size)
{
	struct sock *sk = READ_ONCE(sock->sk);

	return READ_ONCE(sk->sk_prot)->sendmsg(sk, msg, size);
}

static int net6_stream_recvmsg(struct socket *sock, struct msghdr *msg, size_t size, int flags)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (likely(!(flags & MSG_ERRQUEUE)))
		sock_rps_record_flow(sk);
	return net6_compat_prot_recvmsg(sk, msg, size, flags);
}

const struct proto_ops net6_stream_ops = {
	.family		= PF_INET6,
	.owner		= THIS_MODULE,
	.release	= net6_release,
	.bind		= net6_bind,
	.connect	= net6_stream_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= inet_accept,
	.getname	= net6_getname,
	.poll		= net6_stream_poll,
	.ioctl		= net6_ioctl,
	.gettstamp	= sock_gettstamp,
	.listen		= net6_stream_listen,
	.shutdown	= net6_mapped_shutdown,
	.setsockopt	= net6_sock_setsockopt,
	.getsockopt	= net6_stream_getsockopt,
	.sendmsg	= net6_stream_sendmsg,
	.recvmsg	= net6_stream_recvmsg,
	.mmap		= sock_no_mmap,
#ifdef NET6_COMPAT_SENDPAGE
	.sendpage	= net6_stream_sendpage,
	.sendpage_locked = net6_stream_sendpage_locked,
#endif
	.splice_read	= net6_stream_splice_read,
	.splice_eof	= net6_stream_splice_eof,
	.sendmsg_locked	= net6_stream_sendmsg_locked,
	.peek_len	= net6_stream_peek_len,
	.read_sock	= net6_stream_read_sock,
	.read_skb	= net6_stream_read_skb,
	.set_rcvlowat	= net6_stream_set_rcvlowat,
};
