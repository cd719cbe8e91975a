// SPDX-License-Identifier: GPL-2.0
/* A server gives a connection back, with the head of a request that is to be answered first: it has
 * read that from the connection, and decided that a file is the answer. The connection leaves the
 * server's file, as one leaves khttpd-tlsd's. Nobody else may have the file then: a process in a
 * call on the socket would find it without a sock. Where a proxy has to say for whom it speaks, the
 * server gives that back, too: nobody here has kept it.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include "../conn/conn.h"
#include "giveback.h"
#include "handover.h"
#include "listener.h"
#include "peer.h"
#include "proxied.h"

/* Is it a head that leaves nothing to be read behind it? Return: 0 or a negative errno. */
static int khttpd_giveback_head(const u8 *head, u32 len)
{
	struct khttpd_request *req;
	bool good;

	if (len > KHTTPD_HEAD_MAX)
		return -EINVAL;
	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return -ENOMEM;
	good = khttpd_parse(req, head, len) == KHTTPD_PARSE_DONE && req->head_len == len &&
	       (req->method == KHTTPD_METHOD_GET || req->method == KHTTPD_METHOD_HEAD) &&
	       khttpd_request_bodiless(req) && !(req->flags & KHTTPD_REQ_WEBSOCKET);
	kfree(req);
	return good ? 0 : -EINVAL;
}

/* Length of what a proxy said, in front of the head; 0 if there is nothing like that. */
static u32 khttpd_giveback_header(struct khttpd_proxyhead *proxy, const u8 *text, u32 len)
{
	if (khttpd_proxyhead_parse(proxy, text, len) != KHTTPD_PROXYHEAD_DONE)
		memset(proxy, 0, sizeof(*proxy));
	return proxy->len;
}

/* Has nobody the file but us and @others? */
static bool khttpd_giveback_alone(struct file *file, int others)
{
	bool alone;

	spin_lock(&file->f_lock);
	alone = file_count(file) == 1 + others && !(file->f_flags & FASYNC);
#ifdef CONFIG_EPOLL
	alone &= !file->f_ep;
#endif
	spin_unlock(&file->f_lock);
	return alone;
}

/* How many bytes the server has read, and not been given again. */
static u64 khttpd_giveback_read(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->bytes_received - (tp->rcv_nxt - tp->copied_seq);
}

/* Is it a connection that nobody has taken over, of which @header bytes can be put back? What the
 * server has set for its own waiting ends.
 */
static int khttpd_giveback_ready(struct sock *sk, u32 header)
{
	int err = 0;

	lock_sock(sk);
	if (sk->sk_state != TCP_ESTABLISHED && sk->sk_state != TCP_CLOSE_WAIT)
		err = -ENOTCONN;
	else if (inet_csk(sk)->icsk_ulp_ops || sk->sk_user_data ||
		 sk->sk_shutdown & SEND_SHUTDOWN || khttpd_giveback_read(sk) < header)
		err = -EINVAL;
	else
		WRITE_ONCE(sk->sk_rcvlowat, 1);
	release_sock(sk);
	return err;
}

static void khttpd_giveback_uncork(struct socket *sock)
{
	int off = 0;

	sock->ops->setsockopt(sock, SOL_TCP, TCP_CORK, KERNEL_SOCKPTR(&off), sizeof(off));
}

/* The connection leaves its file, which only we have, and becomes @sock's. */
static void khttpd_giveback_move(struct file *file, struct socket *sock)
{
	struct socket *given = sock_from_file(file);
	struct sock *sk = given->sk;

	given->ops = khttpd_interpose_orig(given);
	__module_get(given->ops->owner);
	khttpd_transport_graft(given, sock);
	given->sk = NULL;
	module_put(given->ops->owner);
	given->ops = NULL;
	/* As it was accepted: khttpd's connections do not hold their namespace. */
	if (sk->sk_net_refcnt)
		khttpd_transport_drop_net(sk);
	khttpd_giveback_uncork(sock);
}

/* The connection stays the server's, without what was got for it. Return: @err */
static int khttpd_giveback_drop(struct khttpd_given *given, struct sock *sk, int err)
{
	if (given->first)
		khttpd_transport_forget(sk, given->first);
	khttpd_peer_put(given->peer);
	kfree(given->client);
	if (given->sock)
		sock_release(given->sock);
	khttpd_conn_unreserve(given->conn);
	return err;
}

/* Get all the memory that it needs. Return: 0 or a negative errno, with all as before. */
static int khttpd_giveback_get(struct khttpd_listener *listener, struct khttpd_given *given,
			       struct sock *sk, const struct khttpd_proxyhead *proxy)
{
	int err;

	given->conn = khttpd_conn_reserve(listener);
	if (!given->conn) {
		khttpd_count(no_memory);
		return -ENOMEM;
	}
	err = sock_create_lite(sk->sk_family, sk->sk_type, sk->sk_protocol, &given->sock);
	if (err)
		khttpd_count(no_memory);
	else
		err = khttpd_proxied_given(given, sk, proxy);
	return err ? khttpd_giveback_drop(given, sk, err) : 0;
}

/* Take it from descriptor @fd, which is @file's, and serve it. Return: 0 or a negative errno. */
static int khttpd_giveback_take(struct khttpd_listener *listener, struct file *file, int fd,
				struct khttpd_given *given, const struct khttpd_proxyhead *proxy)
	__must_hold(&listener->accept_lock)
{
	struct sock *sk = sock_from_file(file)->sk;
	int err;

	if (listener->stopped)
		return -ESHUTDOWN;
	if (khttpd_conns_full())
		return -ENOBUFS;
	err = khttpd_giveback_get(listener, given, sk, proxy);
	if (err)
		return err;
	given->len -= proxy->len;
	memmove(given->head, given->head + proxy->len, given->len);
	close_fd(fd);
	if (!khttpd_giveback_alone(file, 0))
		return khttpd_giveback_drop(given, sk, -ECANCELED);
	khttpd_giveback_move(file, given->sock);
	khttpd_conn_begin_given(given);
	return 0;
}

static int khttpd_giveback_file(struct khttpd_listener *listener, struct file *file, int fd,
				struct khttpd_given *given, const struct khttpd_proxyhead *proxy)
{
	struct socket *sock = sock_from_file(file);
	int err;

	if (!sock)
		return -ENOTSOCK;
	/* One that is over may have no port any more. */
	if (READ_ONCE(sock->sk->sk_state) == TCP_CLOSE)
		return -ENOTCONN;
	if (!khttpd_attach_bore(listener, sock))
		return -EINVAL;
	/* The descriptor and we. */
	if (!khttpd_giveback_alone(file, 1))
		return -EBUSY;
	/* As with a new connection: a trusted proxy says for whom it speaks, and nobody else. */
	if (khttpd_proxied_trusts(listener, sock->sk) != !!proxy->len)
		return -EINVAL;
	err = khttpd_giveback_ready(sock->sk, proxy->len);
	if (err)
		return err;
	mutex_lock(&listener->accept_lock);
	err = khttpd_giveback_take(listener, file, fd, given, proxy);
	khttpd_listener_unlock(listener);
	return err;
}

/**
 * khttpd_giveback() - a server gives a connection back
 * @listening: the server's listening socket; the caller holds its file
 * @fd: descriptor of a connection that it has accepted there
 * @head: a request, behind what a trusted proxy has said of its client (kmalloc); the
 *	connection's on success
 * @len: its length
 *
 * Context: process, the server's.
 * Return: 0, or as include/uapi/linux/khttpd.h says.
 */
int khttpd_giveback(const struct socket *listening, int fd, u8 *head, u32 len)
{
	struct khttpd_given given = { .head = head, .len = len };
	struct khttpd_listener *listener;
	struct khttpd_proxyhead proxy;
	struct file *file;
	u32 header;
	int err;

	header = khttpd_giveback_header(&proxy, head, len);
	err = khttpd_giveback_head(head + header, len - header);
	if (err)
		return err;
	listener = khttpd_attached_find(listening);
	if (!listener)
		return -ENOENT;
	err = -EBADF;
	file = fget(fd);
	if (file) {
		err = khttpd_giveback_file(listener, file, fd, &given, &proxy);
		fput(file);
	}
	khttpd_listener_put(listener);
	if (!err)
		khttpd_count(given_back);
	return err;
}
