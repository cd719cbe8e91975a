// SPDX-License-Identifier: GPL-2.0
/* The calls of SOCK_STREAM sockets: what TCP does, under the names that the socket
 * layer calls.
 */
#include <net/inet_common.h>

#include "../transport/tcp/tcp.h"
#include "sock.h"

static int net6_stream_autobind(struct sock *sk)
{
	if (inet_sk(sk)->inet_num)
		return 0;
	if (sk->sk_prot->get_port(sk, 0))
		return -EADDRINUSE;
	inet_sk(sk)->inet_sport = htons(inet_sk(sk)->inet_num);
	return 0;
}

/* A second listen() changes the backlog only, as on every Unix. */
static int net6_stream_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err = -EINVAL;

	lock_sock(sk);
	if (sock->state != SS_UNCONNECTED)
		goto out;
	if (!((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN)))
		goto out;
	err = net6_stream_autobind(sk);
	if (err)
		goto out;
	err = 0;
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	if (sk->sk_state != TCP_LISTEN)
		err = net6_tcp_listen(sk, backlog);
out:
	release_sock(sk);
	return err;
}

static int net6_stream_sendmsg(struct socket *sock, struct msghdr *msg, size_t size)
{
	struct sock *sk = sock->sk;

	return READ_ONCE(sk->sk_prot)->sendmsg(sk, msg, size);
}

static int net6_stream_recvmsg(struct socket *sock, struct msghdr *msg, size_t size, int flags)
{
	struct sock *sk = sock->sk;
	int addr_len = 0;
	int err;

	if (likely(!(flags & MSG_ERRQUEUE)))
		sock_rps_record_flow(sk);
	err = READ_ONCE(sk->sk_prot)->recvmsg(sk, msg, size, flags, &addr_len);
	if (err >= 0)
		msg->msg_namelen = addr_len;
	return err;
}

static ssize_t net6_stream_sendpage(struct socket *sock, struct page *page, int offset,
				    size_t size, int flags)
{
	struct sock *sk = sock->sk;

	return READ_ONCE(sk->sk_prot)->sendpage(sk, page, offset, size, flags);
}

const struct proto_ops net6_stream_ops = {
	.family		= PF_INET6,
	.owner		= THIS_MODULE,
	.release	= net6_release,
	.bind		= net6_bind,
	.connect	= inet_stream_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= inet_accept,
	.getname	= net6_getname,
	.poll		= net6_tcp_poll,
	.ioctl		= net6_ioctl,
	.gettstamp	= sock_gettstamp,
	.listen		= net6_stream_listen,
	.shutdown	= inet_shutdown,
	.setsockopt	= sock_common_setsockopt,
	.getsockopt	= sock_common_getsockopt,
	.sendmsg	= net6_stream_sendmsg,
	.recvmsg	= net6_stream_recvmsg,
	.mmap		= sock_no_mmap,
	.sendpage	= net6_stream_sendpage,
	.splice_read	= net6_tcp_splice_read,
	.splice_eof	= net6_tcp_splice_eof,
	.sendmsg_locked	= net6_tcp_sendmsg_locked,
	.sendpage_locked = net6_tcp_sendpage_locked,
	.peek_len	= net6_tcp_peek_len,
	.read_sock	= net6_tcp_read_sock,
	.set_rcvlowat	= net6_tcp_set_rcvlowat,
};
