// SPDX-License-Identifier: GPL-2.0
/* The calls on sockets, the same for every family. Of native IPv4, native IPv6 and net6 only
 * struct socket and its operations are used.
 */
#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/in.h>
#include <linux/socket.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "../compat/netns.h"
#include "../compat/splice.h"
#include "conn.h"
#include "taken.h"

/**
 * khttpd_transport_recv() - take or look at received bytes, without waiting
 * @sock: connected socket
 * @buf: where to
 * @len: at most
 * @peek: leave them in the socket
 *
 * Return: bytes, 0 at the end of the stream, or a negative errno; -EAGAIN if
 * there is nothing.
 */
int khttpd_transport_recv(struct socket *sock, void *buf, size_t len,
			  bool peek)
{
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	struct msghdr msg = {};

	return kernel_recvmsg(sock, &msg, &vec, 1, len,
			      MSG_DONTWAIT | (peek ? MSG_PEEK : 0));
}

/* A buffer of the socket's, as much of it as fits. */
static int khttpd_transport_actor(read_descriptor_t *desc, struct sk_buff *skb,
				  unsigned int offset, size_t len)
{
	size_t n = min(len, desc->count);
	int err;

	if (!n)
		return 0;
	err = skb_copy_bits(skb, offset, desc->arg.data + desc->written, n);
	if (err)
		return err;
	desc->written += n;
	desc->count -= n;
	return n;
}

/**
 * khttpd_transport_take() - take received bytes, without waiting
 * @sock: connected socket of TCP
 * @buf: where to
 * @len: at most
 *
 * Like khttpd_transport_recv(), straight from the socket's buffers.
 *
 * Return: as khttpd_transport_recv().
 */
int khttpd_transport_take(struct socket *sock, void *buf, size_t len)
{
	read_descriptor_t desc = { .arg.data = buf, .count = len };
	struct sock *sk = sock->sk;
	int n;

	/* What urgent data means is recvmsg()'s business. */
	if (!sock->ops->read_sock || READ_ONCE(tcp_sk(sk)->urg_data))
		return khttpd_transport_recv(sock, buf, len, false);
	lock_sock(sk);
	n = sock->ops->read_sock(sk, &desc, khttpd_transport_actor);
	if (!n) {
		n = sock_error(sk);
		if (!n && !(sk->sk_shutdown & RCV_SHUTDOWN) && sk->sk_state != TCP_CLOSE)
			n = -EAGAIN;
	}
	release_sock(sk);
	return n;
}

/**
 * khttpd_transport_discard() - drop bytes that were looked at before
 * @sock: connected socket
 * @buf: scratch space
 * @size: its size
 * @len: bytes to drop
 *
 * Return: 0, or -EPIPE if they are not there.
 */
int khttpd_transport_discard(struct socket *sock, void *buf, size_t size,
			     size_t len)
{
	int n;

	while (len) {
		n = khttpd_transport_recv(sock, buf, min(len, size), false);
		if (n <= 0)
			return -EPIPE;
		len -= n;
	}
	return 0;
}

/**
 * khttpd_transport_hold() - have bytes ready that are to be read before those in a socket
 * @sk: a connection
 * @data: the bytes
 * @len: how many
 *
 * They are charged to the connection now, so that nothing fails later.
 *
 * Context: process.
 * Return: a buffer, for khttpd_transport_unread() or khttpd_transport_forget(), or NULL.
 */
struct sk_buff *khttpd_transport_hold(struct sock *sk, const void *data, size_t len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_KERNEL);
	bool charged;

	if (!skb)
		return NULL;
	skb_put_data(skb, data, len);
	lock_sock(sk);
	charged = sk_rmem_schedule(sk, skb, skb->truesize);
	if (charged)
		skb_set_owner_r(skb, sk);
	release_sock(sk);
	if (charged)
		return skb;
	kfree_skb(skb);
	return NULL;
}

/**
 * khttpd_transport_forget() - they are not to be read
 * @sk: the connection
 * @skb: from khttpd_transport_hold()
 *
 * Context: process.
 */
void khttpd_transport_forget(struct sock *sk, struct sk_buff *skb)
{
	lock_sock(sk);
	kfree_skb(skb);
	release_sock(sk);
}

/**
 * khttpd_transport_unread() - put bytes in front of those in a socket
 * @sk: a connection of TCP, native or net6's, which is locked; as many bytes have been read
 * @skb: from khttpd_transport_hold(); the socket's
 *
 * They are in the place of bytes that came before: the sequence number of the next byte to be read
 * goes back by so many. What measures how fast a reader is goes back, too.
 */
void khttpd_transport_unread(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->rcvq_space.seq -= skb->len;
	TCP_SKB_CB(skb)->end_seq = tp->copied_seq;
	TCP_SKB_CB(skb)->seq = tp->copied_seq - skb->len;
	WRITE_ONCE(tp->copied_seq, TCP_SKB_CB(skb)->seq);
	__skb_queue_head(&sk->sk_receive_queue, skb);
}

/**
 * khttpd_transport_send() - send bytes, without waiting
 * @sock: connected socket
 * @vec: pieces
 * @vecs: how many
 * @len: sum of their lengths
 * @more: more follows at once (or the end of the stream): do not push
 *
 * Return: bytes taken, maybe fewer than @len, or a negative errno.
 */
int khttpd_transport_send(struct socket *sock, struct kvec *vec,
			  unsigned int vecs, size_t len, bool more)
{
	struct msghdr msg = {
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0),
	};

	/* Without the security modules' leave, which is about tasks: this is a thread of the
	 * kernel's, and pages are sent without it, too.
	 */
	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, vec, vecs, len);
	return sock->ops->sendmsg(sock, &msg, len);
}

/**
 * khttpd_transport_send_pages() - send page pieces by reference
 * @listener: where the connection came from
 * @sock: connected socket
 * @vec: pieces; the socket takes its own references to the pages
 * @vecs: how many
 * @len: sum of their lengths
 * @more: as above
 *
 * Return: bytes taken or a negative errno.
 */
int khttpd_transport_send_pages(const struct khttpd_listener *listener,
				struct socket *sock, struct bio_vec *vec,
				unsigned int vecs, size_t len, bool more)
{
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
	int sent;

	if (READ_ONCE(listener->send_pages)) {
		sent = listener->send_pages(sock->sk, vec, vecs, flags);
		if (sent != -EOPNOTSUPP)
			return sent;
	}
	return khttpd_splice_pages(sock, vec, vecs, len, flags);
}

/**
 * khttpd_transport_nodelay() - send the last part of a reply at once, or not
 * @sock: TCP socket
 * @on: 1 or 0
 *
 * A family that does not know the option has no Nagle algorithm to turn off.
 */
void khttpd_transport_nodelay(struct socket *sock, int on)
{
	sock->ops->setsockopt(sock, SOL_TCP, TCP_NODELAY, KERNEL_SOCKPTR(&on),
			      sizeof(on));
}

/**
 * khttpd_transport_hold_net() - have a socket hold its network namespace
 * @sk: the socket, nobody else's at the moment
 *
 * Return: false if the namespace is going away.
 */
bool khttpd_transport_hold_net(struct sock *sk)
{
	struct net *net;

	if (sk->sk_net_refcnt)
		return true;
	net = maybe_get_net(sock_net(sk));
	if (net)
		khttpd_sock_own_net(sk, net);
	return net;
}

/**
 * khttpd_transport_drop_net() - undo khttpd_transport_hold_net()
 * @sk: the socket, nobody else's at the moment
 */
void khttpd_transport_drop_net(struct sock *sk)
{
	khttpd_sock_disown_net(sk);
}

/**
 * khttpd_transport_graft() - make a connection's sock another socket's, as accept does
 * @from: the socket that has it; it is to be thrown away, its operations still hold their module
 * @to: a socket that has none
 *
 * Context: process.
 */
void khttpd_transport_graft(struct socket *from, struct socket *to)
{
	struct sock *sk = from->sk;

	lock_sock(sk);
	/* One of a listener of our own began as the kernel's own. */
	sk->sk_kern_sock = 0;
	/* First: TLS calls them for what has come meanwhile, when the lock is released. */
	to->ops = from->ops;
	sock_graft(sk, to);
	if (test_bit(SOCK_SUPPORT_ZC, &from->flags))
		set_bit(SOCK_SUPPORT_ZC, &to->flags);
	to->state = SS_CONNECTED;
	release_sock(sk);
}

/**
 * khttpd_transport_empty() - get rid of a socket whose sock is somebody else's now
 * @sock: the socket, gone afterwards; what it was in its family ends here
 *
 * Context: process.
 */
void khttpd_transport_empty(struct socket *sock)
{
	sock->sk = NULL;
	module_put(sock->ops->owner);
	sock->ops = NULL;
	sock_release(sock);
}

/**
 * khttpd_transport_close() - close a connection
 * @sock: its socket, gone afterwards
 * @abort: reset it
 *
 * A kernel socket has no reference to its network namespace, and loses its timers when closed. It
 * takes one here, so that the last data and the FIN are retransmitted. If the namespace is going
 * away, the connection is reset instead. A peer that acknowledges nothing of them for
 * send_timeout is given up.
 *
 * Context: process.
 */
void khttpd_transport_close(struct socket *sock, bool abort)
{
	if (!khttpd_transport_hold_net(sock->sk) || abort)
		sock_no_linger(sock->sk);
	else
		khttpd_leave_to_tcp(sock->sk);
	sock_release(sock);
}
