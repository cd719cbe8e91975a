// SPDX-License-Identifier: GPL-2.0
/* Connections on their way to a server: a bounded queue that its accept()
 * empties. The socket changes owner there; nothing of it has been read.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>
#include <net/sock.h>
#include "../conn/conn.h"
#include "../conn/ktls.h"
#include "../soft/soft.h"
#include "handover.h"
#include "listener.h"
#include "peer.h"

/**
 * khttpd_handover_pending() - is there a connection for the server?
 * @listener: attached listener
 *
 * Context: any.
 */
bool khttpd_handover_pending(const struct khttpd_listener *listener)
{
	return READ_ONCE(listener->queue_len) || READ_ONCE(listener->theirs);
}

/* The next that is to be woken may sleep in the family's accept() since before the attachment,
 * and would not look into our queue. Have it return and be called again, as after a signal that
 * is none. Waiters that do not sleep in accept() have other functions.
 */
static void khttpd_handover_recall(struct wait_queue_head *head)
	__must_hold(&head->lock)
{
	struct task_struct *task;
	wait_queue_entry_t *wait;

	lockdep_assert_held(&head->lock);
	list_for_each_entry(wait, &head->head, entry) {
		if (wait->func != autoremove_wake_function ||
		    !(wait->flags & WQ_FLAG_EXCLUSIVE))
			continue;
		task = wait->private;
		if (!(task->flags & PF_KTHREAD))
			set_tsk_thread_flag(task, TIF_NOTIFY_SIGNAL);
		return;
	}
}

/**
 * khttpd_handover_wake() - wake the server
 * @head: wait queue of its listening socket; socket and sleepers exist
 *
 * Context: any.
 */
void khttpd_handover_wake(struct wait_queue_head *head)
{
	__poll_t key = EPOLLIN | EPOLLRDNORM | KHTTPD_WAKE_SERVER;
	unsigned long flags;

	spin_lock_irqsave(&head->lock, flags);
	khttpd_handover_recall(head);
	__wake_up_locked_key(head, TASK_INTERRUPTIBLE, poll_to_key(key));
	spin_unlock_irqrestore(&head->lock, flags);
}

/* Queue it and wake the server. Return: 0; -ENOENT, -ENOBUFS if that cannot be. */
static int khttpd_handover_add(struct khttpd_listener *listener,
			       struct khttpd_handed *handed)
{
	int err = 0;

	spin_lock_bh(&listener->queue_lock);
	if (listener->gone) {
		err = -ENOENT;
	} else if (listener->queue_len >=
		   READ_ONCE(khttpd_limits.handover_queue)) {
		err = -ENOBUFS;
	} else {
		list_add_tail(&handed->node, &listener->queue);
		WRITE_ONCE(listener->queue_len, listener->queue_len + 1);
		/* The socket exists as long as it is not gone. */
		khttpd_handover_wake(&listener->sock->wq.wait);
	}
	spin_unlock_bh(&listener->queue_lock);
	if (!err)
		khttpd_count(handed_over);
	return err;
}

/**
 * khttpd_handover() - give a connection to the server
 * @conn: a connection at a request boundary, in no list
 *
 * Context: its thread.
 * Return: true if it is the server's, who waits for its lock. Else nothing is done and nothing
 * counted, so that a thread may see to it.
 */
bool khttpd_handover(struct khttpd_conn *conn)
{
	struct khttpd_listener *listener = conn->listener;
	int err;

	/* The server finds the socket as its own accept() would give it. */
	if (conn->nodelay && !listener->nodelay) {
		khttpd_transport_nodelay(conn->sock, 0);
		conn->nodelay = false;
	}
	err = khttpd_handover_add(listener, &conn->handed);
	if (err == -ENOENT)
		khttpd_count(handover_gone);
	else if (err)
		khttpd_count(handover_full);
	return !err;
}

/**
 * khttpd_handover_sock() - give a connection without socket to the server
 * @listener: attached listener
 * @handed: the connection, locked; at a request boundary
 *
 * Context: any but hard interrupts.
 * Return: true if it is the server's, who waits for its lock; false with nothing
 * done and nothing counted, so that a thread may see to it.
 */
bool khttpd_handover_sock(struct khttpd_listener *listener,
			  struct khttpd_handed *handed)
{
	return !khttpd_handover_add(listener, handed);
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
struct khttpd_handed *khttpd_handover_take(struct khttpd_listener *listener)
{
	struct khttpd_handed *handed;

	spin_lock_bh(&listener->queue_lock);
	handed = list_first_entry_or_null(&listener->queue,
					  struct khttpd_handed, node);
	if (handed) {
		list_del(&handed->node);
		WRITE_ONCE(listener->queue_len, listener->queue_len - 1);
	}
	spin_unlock_bh(&listener->queue_lock);
	return handed;
}

static struct khttpd_conn *khttpd_handed_conn(struct khttpd_handed *handed)
{
	return container_of(handed, struct khttpd_conn, handed);
}

/* What its server is to read first is put where it reads. */
static void khttpd_handover_ready(struct khttpd_conn *conn)
{
	struct sock *sk = conn->sock->sk;

	lock_sock(sk);
	if (conn->tls)
		khttpd_ktls_leave(sk);
	if (conn->first && conn->tls)
		khttpd_ktls_unread(sk, conn->first);
	else if (conn->first)
		khttpd_transport_unread(sk, conn->first);
	conn->first = NULL;
	release_sock(sk);
}

/* As the family's accept does it, which has done it once already for our own
 * socket.
 */
static void khttpd_handover_graft_conn(struct khttpd_conn *conn,
				       struct socket *newsock)
{
	if (conn->tls || unlikely(conn->first))
		khttpd_handover_ready(conn);
	khttpd_transport_graft(conn->sock, newsock);
	khttpd_transport_empty(conn->sock);
	conn->sock = NULL;
	khttpd_conn_free(conn);
}

/* The same for one that never had a socket. Return: its client. */
static struct khttpd_peer *khttpd_handover_graft_sock(struct khttpd_listener *listener,
						      struct khttpd_handed *handed,
						      struct socket *newsock)
{
	if (test_bit(SOCK_SUPPORT_ZC, &listener->sock->flags))
		set_bit(SOCK_SUPPORT_ZC, &newsock->flags);
	newsock->ops = listener->ops;
	return khttpd_softpart_graft(handed, newsock);
}

/**
 * khttpd_handover_graft() - make a connection's sock a new socket's
 * @listener: attached listener
 * @handed: from khttpd_handover_take(); gone afterwards
 * @newsock: socket that accept() will return
 *
 * Context: process.
 */
void khttpd_handover_graft(struct khttpd_listener *listener,
			   struct khttpd_handed *handed,
			   struct socket *newsock)
{
	if (handed->sk)
		khttpd_peer_put(khttpd_handover_graft_sock(listener, handed,
							   newsock));
	else
		khttpd_handover_graft_conn(khttpd_handed_conn(handed), newsock);
}

/**
 * khttpd_handover_thread() - a connection without socket gets one, and a thread
 * @listener: where it came from
 * @handed: the connection, released; gone afterwards
 * @state: what the thread begins with
 *
 * Without memory it is reset.
 *
 * Context: process; the listening socket still exists.
 */
void khttpd_handover_thread(struct khttpd_listener *listener,
			    struct khttpd_handed *handed,
			    enum khttpd_conn_state state)
{
	struct sock *sk = handed->sk;
	struct khttpd_peer *peer;
	struct socket *sock;

	if (sock_create_lite(sk->sk_family, sk->sk_type, sk->sk_protocol,
			     &sock)) {
		khttpd_count(no_memory);
		khttpd_softpart_drop(handed);
		return;
	}
	__module_get(listener->ops->owner);
	peer = khttpd_handover_graft_sock(listener, handed, sock);
	if (khttpd_conn_create(listener, sock, khttpd_thread_choose(), peer,
			       NULL, NULL, state))
		return;
	khttpd_count(no_memory);
	khttpd_count(aborted);
	khttpd_count(closed);
	khttpd_peer_put(peer);
	khttpd_transport_close(sock, true);
}

/**
 * khttpd_handover_stop() - no server any more: refuse those that wait for it
 * @listener: attached listener
 *
 * Context: process. Connections go back to their threads, which answer 503.
 */
void khttpd_handover_stop(struct khttpd_listener *listener)
{
	struct khttpd_handed *handed;
	struct khttpd_conn *conn;

	spin_lock_bh(&listener->queue_lock);
	WRITE_ONCE(listener->gone, true);
	spin_unlock_bh(&listener->queue_lock);
	while ((handed = khttpd_handover_take(listener))) {
		khttpd_count(handover_gone);
		if (handed->sk) {
			khttpd_handover_thread(listener, handed,
					       KHTTPD_CONN_REFUSE);
			continue;
		}
		conn = khttpd_handed_conn(handed);
		conn->state = KHTTPD_CONN_REFUSE;
		atomic_inc(&listener->connections);
		khttpd_conn_kick(conn);
	}
}
