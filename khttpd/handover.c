// SPDX-License-Identifier: GPL-2.0
/* Connections on their way to a server: a bounded queue that its accept()
 * empties. The socket changes owner there; nothing of it has been read.
 */
#include <linux/poll.h>
#include <net/sock.h>
#include "khttpd.h"

/**
 * khttpd_handover_pending() - is there a connection for the server?
 * @listener: attached listener
 *
 * Context: any.
 */
bool khttpd_handover_pending(const struct khttpd_listener *listener)
{
	return READ_ONCE(listener->queue_len);
}

/* Queue it and wake the server. Return: false if that cannot be. */
static bool khttpd_handover_add(struct khttpd_listener *listener,
				struct khttpd_conn *conn)
{
	bool added = false;

	spin_lock(&listener->queue_lock);
	if (listener->gone) {
		khttpd_count(handover_gone);
	} else if (listener->queue_len >=
		   READ_ONCE(khttpd_limits.handover_queue)) {
		khttpd_count(handover_full);
	} else {
		list_add_tail(&conn->all, &listener->queue);
		WRITE_ONCE(listener->queue_len, listener->queue_len + 1);
		/* The socket exists as long as it is not gone. */
		wake_up_interruptible_poll(&listener->sock->wq.wait,
					   EPOLLIN | EPOLLRDNORM |
					   KHTTPD_WAKE_SERVER);
		added = true;
	}
	spin_unlock(&listener->queue_lock);
	return added;
}

/**
 * khttpd_handover() - give a connection to the server
 * @conn: a connection at a request boundary, in no list
 *
 * Context: its thread.
 * Return: true if it is the server's now and must not be touched; false if the
 * server's queue is full or the server is gone.
 */
bool khttpd_handover(struct khttpd_conn *conn)
{
	struct khttpd_listener *listener = conn->listener;

	/* The server finds the socket as its own accept() would give it. */
	if (conn->nodelay && !listener->nodelay) {
		khttpd_transport_nodelay(conn->sock, 0);
		conn->nodelay = false;
	}
	if (!khttpd_handover_add(listener, conn))
		return false;
	khttpd_count(handed_over);
	return true;
}

/**
 * khttpd_handover_to_backend() - make a connection one of the backend's listener
 * @conn: a connection of an own listener, in no list
 *
 * A process will have it, so it holds its network namespace from now on.
 *
 * Context: its thread.
 * Return: false if there is no server for it; nothing has changed then.
 */
bool khttpd_handover_to_backend(struct khttpd_conn *conn)
{
	struct khttpd_listener *listener = conn->listener, *backend;
	struct sock *sk = conn->sock->sk;

	backend = khttpd_backend_get(listener);
	if (backend && khttpd_transport_hold_net(sk)) {
		atomic_inc(&backend->connections);
		conn->listener = backend;
		khttpd_listener_conn_done(listener);
		khttpd_listener_put(listener);
		return true;
	}
	khttpd_count(handover_gone);
	if (backend)
		khttpd_listener_put(backend);
	return false;
}

/**
 * khttpd_handover_take() - the oldest connection in the queue
 * @listener: attached listener
 *
 * Return: the connection, the caller's now, or NULL.
 */
struct khttpd_conn *khttpd_handover_take(struct khttpd_listener *listener)
{
	struct khttpd_conn *conn;

	spin_lock(&listener->queue_lock);
	conn = list_first_entry_or_null(&listener->queue, struct khttpd_conn,
					all);
	if (conn) {
		list_del_init(&conn->all);
		WRITE_ONCE(listener->queue_len, listener->queue_len - 1);
	}
	spin_unlock(&listener->queue_lock);
	return conn;
}

/**
 * khttpd_handover_graft() - make a connection's sock a new socket's
 * @conn: from khttpd_handover_take(); gone afterwards
 * @newsock: socket that accept() will return
 *
 * Does what the family's accept has done once already for our own socket.
 *
 * Context: process.
 */
void khttpd_handover_graft(struct khttpd_conn *conn, struct socket *newsock)
{
	struct socket *sock = conn->sock;
	struct sock *sk = sock->sk;

	lock_sock(sk);
	/* One of a backend's began as the kernel's own. */
	sk->sk_kern_sock = 0;
	sock_graft(sk, newsock);
	if (test_bit(SOCK_SUPPORT_ZC, &sock->flags))
		set_bit(SOCK_SUPPORT_ZC, &newsock->flags);
	newsock->state = SS_CONNECTED;
	release_sock(sk);
	newsock->ops = sock->ops;

	/* What is left of ours is empty, and no family's. */
	sock->sk = NULL;
	module_put(sock->ops->owner);
	sock->ops = NULL;
	sock_release(sock);
	conn->sock = NULL;
	khttpd_conn_free(conn);
}

/**
 * khttpd_handover_stop() - no server any more: refuse those that wait for it
 * @listener: attached listener
 *
 * Context: process. Connections go back to their threads, which answer 503.
 */
void khttpd_handover_stop(struct khttpd_listener *listener)
{
	struct khttpd_conn *conn;

	spin_lock(&listener->queue_lock);
	WRITE_ONCE(listener->gone, true);
	spin_unlock(&listener->queue_lock);
	while ((conn = khttpd_handover_take(listener))) {
		khttpd_count(handover_gone);
		conn->state = KHTTPD_CONN_REFUSE;
		atomic_inc(&listener->connections);
		khttpd_conn_kick(conn);
	}
}
