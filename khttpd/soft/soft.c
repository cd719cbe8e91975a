// SPDX-License-Identifier: GPL-2.0
/* The short way on net6. Connections are taken before accept(). Requests for files whose pages
 * are cached are answered where their segment is received, mostly in softirq. The first request
 * that is anything else, or is not complete, or finds the send buffer full, ends that. The
 * connection goes to the listener's accept queue, unread bytes and all. It is a thread's until
 * that has answered some in a row that would have been answered here. A connection whose request
 * is certainly for the server that khttpd is attached to goes to that server's own queue at once.
 * One whose peer does not take a reply gets a thread, too. That has a socket made for it without
 * going through a queue. To load khttpd net6 is not needed: its functions are looked up when a
 * listener wants them.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/sock.h>
#include "../conn/taken.h"
#include "../http/plain.h"
#include "../listen/follow.h"
#include "../listen/handover.h"
#include "../listen/listener.h"
#include "../listen/peer.h"
#include "../listen/proxied.h"
#include "softwork.h"

/* Pipelined requests answered at once; the rest is for a thread. */
#define KHTTPD_SOFT_BUDGET	32

/* In the order of struct khttpd_net6. */
static const char *const khttpd_net6_calls[] = {
	"net6_tcp_is", "net6_tcp_attach", "net6_tcp_detach", "net6_tcp_unread",
	"net6_tcp_at_end", "net6_tcp_peek", "net6_tcp_peek_copy",
	"net6_tcp_consume", "net6_tcp_send", "net6_tcp_give", "net6_tcp_release",
	"net6_tcp_graft", "net6_tcp_take",
	"net6_tcp_finish_locked", "net6_tcp_finish", "net6_tcp_send_pages",
};

/* Context: a callback. */
static void khttpd_soft_close(struct khttpd_soft *soft,
			      struct khttpd_soft_conn *conn)
{
	khttpd_count(closed);
	khttpd_softlists_del(conn);
	khttpd_leave_to_tcp(conn->sk);
	soft->net6.finish_locked(conn->sk, false);
	percpu_counter_dec(&khttpd_softlists_count);
	khttpd_softpart_forget(conn);
}

/* Nothing more will be said. As long as the peer has no room for all of it, the connection
 * is ours; mostly its end comes soon. Context: a callback.
 */
static void khttpd_soft_end(struct khttpd_soft *soft, struct khttpd_soft_conn *conn)
{
	if (likely(khttpd_offered(conn->sk)))
		khttpd_soft_close(soft, conn);
	else
		khttpd_softlists_move(conn, KHTTPD_SOFT_SLOW);
}

static bool khttpd_soft_accept(struct net6_tcp_user *user, struct sock *sk)
{
	struct khttpd_soft *soft = container_of(user, struct khttpd_soft, user);
	struct khttpd_soft_lists *lists = raw_cpu_ptr(soft->lists);
	struct khttpd_soft_conn *conn;
	struct khttpd_peer *peer;

	/* A thread reads what a proxy has to say first. */
	if (khttpd_conns_full() || khttpd_proxied_trusts(soft->listener, sk))
		return false;
	peer = khttpd_peer_get(sk, false);
	/* Refusing is for the thread that accepts. */
	if (IS_ERR(peer))
		return false;
	conn = kzalloc(sizeof(*conn), GFP_ATOMIC | __GFP_NOWARN);
	if (!conn) {
		khttpd_peer_put(peer);
		return false;
	}
	conn->sk = sk;
	conn->peer = peer;
	spin_lock_bh(&lists->lock);
	if (lists->stopped) {
		spin_unlock_bh(&lists->lock);
		khttpd_peer_put(peer);
		kfree(conn);
		return false;
	}
	khttpd_softlists_add(lists, conn, KHTTPD_SOFT_FRESH);
	spin_unlock_bh(&lists->lock);
	khttpd_count(accepted);
	return true;
}

/**
 * khttpd_soft_suits() - could the next such request be answered in softirq?
 * @conn: a thread's connection, its request done
 * @entry: the file that answers it
 *
 * Context: process.
 */
bool khttpd_soft_suits(const struct khttpd_conn *conn, struct khttpd_entry *entry)
{
	const struct khttpd_request *req = &conn->req;
	bool fresh;

	/* A client of IPv4's may come by a listener of net6's, too. */
	if (likely(!READ_ONCE(conn->listener->soft)) ||
	    conn->sock->sk->sk_family != AF_INET6 ||
	    entry->size > KHTTPD_SOFT_PAGES * PAGE_SIZE ||
	    !khttpd_request_plain(req, req->head_len))
		return false;
	rcu_read_lock();
	fresh = khttpd_entry_fresh(entry);
	rcu_read_unlock();
	return fresh;
}

/* A socket's connection is ours again. It may be over when this returns. */
static bool khttpd_soft_take(struct khttpd_soft *soft, struct khttpd_soft_conn *conn,
			     struct socket *sock)
{
	struct khttpd_soft_lists *lists = raw_cpu_ptr(soft->lists);
	struct sock *sk = conn->sk;
	int err;

	/* Segments that have come meanwhile are seen to when the lock is released, and may end
	 * it.
	 */
	sock_hold(sk);
	lock_sock(sk);
	err = soft->net6.take(sock, &soft->user);
	if (!err) {
		spin_lock_bh(&lists->lock);
		khttpd_softlists_add(lists, conn, KHTTPD_SOFT_IDLE);
		spin_unlock_bh(&lists->lock);
	}
	release_sock(sk);
	sock_put(sk);
	return !err;
}

/**
 * khttpd_soft_return() - a thread's connection is answered in softirq again
 * @listener: where it came from
 * @sock: its socket; without a sock afterwards
 * @peer: its client, or NULL; goes with it
 *
 * Context: its thread; every request has been answered.
 * Return: false with nothing done if the listener is of another family, stops or is
 * accepting, or if something has come.
 */
bool khttpd_soft_return(struct khttpd_listener *listener, struct socket *sock,
			struct khttpd_peer *peer)
{
	struct khttpd_soft_conn *conn;
	struct khttpd_soft *soft;
	bool done = false;

	/* As long as this is held nobody stops it: see khttpd_listener_unwatch(). */
	if (!mutex_trylock(&listener->accept_lock))
		return false;
	/* Pairs with who started it, perhaps while connections were accepted already. */
	soft = smp_load_acquire(&listener->soft);
	if (listener->stopped || !soft)
		goto out;
	conn = kzalloc(sizeof(*conn), GFP_KERNEL | __GFP_NOWARN);
	if (!conn)
		goto out;
	conn->sk = sock->sk;
	conn->peer = peer;
	done = khttpd_soft_take(soft, conn, sock);
	if (done)
		khttpd_count(soft_returned);
	else
		kfree(conn);
out:
	khttpd_listener_unlock(listener);
	return done;
}

/* A thread must see to it; later, if the accept queue is full. */
static void khttpd_soft_leave(struct khttpd_soft *soft,
			      struct khttpd_soft_conn *conn,
			      enum khttpd_soft_verdict verdict)
{
	int err;

	/* No server has taken it: the thread counts it. */
	if (verdict == KHTTPD_SOFT_SERVER)
		khttpd_peer_request_undo(conn->peer);
	err = khttpd_softpart_give(soft, conn);
	if (err == -ENOBUFS) {
		khttpd_softlists_move(conn, KHTTPD_SOFT_STUCK);
		/* There may have been room before it was in the list. */
		err = khttpd_softpart_give(soft, conn);
		if (err == -ENOBUFS) {
			khttpd_count(soft_waited);
			return;
		}
	}
	if (err)
		khttpd_soft_close(soft, conn);
}

/* The accept queue has room. Context: the process that accepts. */
static void khttpd_soft_room(struct net6_tcp_user *user, struct sock *listener)
{
	struct khttpd_soft *soft = container_of(user, struct khttpd_soft, user);

	queue_work(system_wq, &soft->unstick);
}

/* The server has another listener of that address. Context: the process that calls listen(2). */
static void khttpd_soft_joined(struct net6_tcp_user *user, struct sock *listener)
{
	khttpd_follow(listener);
}

/* It has come to an end, or is somebody else's. Return: false if it goes on. */
static noinline bool khttpd_soft_over(struct khttpd_soft *soft,
				      struct khttpd_soft_conn *conn,
				      enum khttpd_soft_verdict verdict)
{
	struct sock *sk = conn->sk;

	if (sk->sk_state == TCP_CLOSE && conn->kind != KHTTPD_SOFT_SLOW)
		khttpd_count(lost);
	else if (sk->sk_state == TCP_CLOSE && sk->sk_err)
		khttpd_count(aborted);
	if (sk->sk_state == TCP_CLOSE || verdict == KHTTPD_SOFT_LAST)
		khttpd_soft_end(soft, conn);
	else if (verdict == KHTTPD_SOFT_SERVER && khttpd_softpart_hand(soft, conn))
		return true;
	else if (verdict >= KHTTPD_SOFT_GIVE)
		khttpd_soft_leave(soft, conn, verdict);
	else if (soft->net6.at_end(sk))
		khttpd_soft_end(soft, conn);
	else
		return false;
	return true;
}

static void khttpd_soft_receive(struct net6_tcp_user *user, struct sock *sk)
{
	struct khttpd_soft *soft = container_of(user, struct khttpd_soft, user);
	enum khttpd_soft_verdict verdict = KHTTPD_SOFT_NEXT;
	struct khttpd_soft_conn *conn = sk->sk_user_data;
	unsigned int requests = 0;

	if (conn->ended)
		return;
	if (conn->kind == KHTTPD_SOFT_STUCK && sk->sk_state != TCP_CLOSE)
		return;
	if (conn->kind == KHTTPD_SOFT_SLOW) {
		if (khttpd_offered(sk))
			khttpd_soft_over(soft, conn, KHTTPD_SOFT_LAST);
		return;
	}
	/* Nothing comes while the connection is locked. */
	conn->unread = soft->net6.unread(sk);
	while (verdict == KHTTPD_SOFT_NEXT && sk->sk_state != TCP_CLOSE && conn->unread)
		verdict = requests++ < KHTTPD_SOFT_BUDGET ?
			  khttpd_softrepeat(soft, conn) : KHTTPD_SOFT_GIVE;
	/* Without this flag there is no end to ask for. */
	if ((verdict != KHTTPD_SOFT_NEXT || sk->sk_state == TCP_CLOSE ||
	     sk->sk_shutdown & RCV_SHUTDOWN) && khttpd_soft_over(soft, conn, verdict))
		return;
	if (requests && (conn->kind != KHTTPD_SOFT_IDLE || conn->used != jiffies))
		khttpd_softlists_move(conn, KHTTPD_SOFT_IDLE);
}

/* Whoever has a function holds its module. */
static void khttpd_soft_net6_put(const struct khttpd_net6 *net6)
{
	void *const *call = (void *const *)net6;
	int i;

	for (i = 0; i < ARRAY_SIZE(khttpd_net6_calls); i++) {
		if (call[i])
			__symbol_put(khttpd_net6_calls[i]);
	}
}

static bool khttpd_soft_net6_get(struct khttpd_net6 *net6)
{
	void **call = (void **)net6;
	bool all = true;
	int i;

	BUILD_BUG_ON(sizeof(*net6) != sizeof(khttpd_net6_calls));
	for (i = 0; i < ARRAY_SIZE(khttpd_net6_calls); i++) {
		call[i] = __symbol_get(khttpd_net6_calls[i]);
		all &= !!call[i];
	}
	return all;
}

/* With empty lists. NULL: there is no memory. */
static struct khttpd_soft *khttpd_soft_alloc(void)
{
	struct khttpd_soft *soft = kzalloc(sizeof(*soft), GFP_KERNEL);
	struct khttpd_soft_lists *lists;
	int cpu, i;

	if (!soft)
		return NULL;
	soft->lists = alloc_percpu(struct khttpd_soft_lists);
	if (!soft->lists) {
		kfree(soft);
		return NULL;
	}
	for_each_possible_cpu(cpu) {
		lists = per_cpu_ptr(soft->lists, cpu);
		lists->soft = soft;
		spin_lock_init(&lists->lock);
		for (i = 0; i < KHTTPD_SOFT_LISTS; i++)
			INIT_LIST_HEAD(&lists->list[i]);
		INIT_DELAYED_WORK(&lists->sweep, khttpd_softpart_sweep);
	}
	INIT_WORK(&soft->unstick, khttpd_softpart_unstick);
	return soft;
}

static void khttpd_soft_free(struct khttpd_soft *soft)
{
	khttpd_soft_net6_put(&soft->net6);
	free_percpu(soft->lists);
	kfree(soft);
}

/**
 * khttpd_soft_start() - take a listener's connections, if it is one of net6
 * @listener: the listener
 *
 * Together they count as one of @listener's connections until khttpd_soft_stop() is through. So
 * another context may wait for that.
 * Context: process.
 * Return: what khttpd_soft_stop() wants; NULL if threads must do it all.
 */
struct khttpd_soft *khttpd_soft_start(struct khttpd_listener *listener)
{
	struct sock *sk = listener->sock->sk;
	struct khttpd_soft *soft;

	/* A client that is sent elsewhere asks for nothing more. */
	if (sk->sk_family != AF_INET6 || listener->redirect)
		return NULL;
	soft = khttpd_soft_alloc();
	if (!soft)
		return NULL;
	soft->user.accept = khttpd_soft_accept;
	soft->user.receive = khttpd_soft_receive;
	soft->user.room = khttpd_soft_room;
	soft->user.joined = khttpd_soft_joined;
	soft->listener = listener;
	soft->sk = sk;
	if (!khttpd_soft_net6_get(&soft->net6) ||
	    !soft->net6.is(sk) ||
	    soft->net6.attach(sk, &soft->user)) {
		khttpd_soft_free(soft);
		return NULL;
	}
	atomic_inc(&listener->connections);
	sock_hold(sk);
	WRITE_ONCE(listener->send_pages, soft->net6.send_pages);
	return soft;
}

/**
 * khttpd_soft_stop() - take no more, and part with those that were taken
 * @soft: from khttpd_soft_start(), or NULL
 * @give: to the listener's accept queue; else they are closed
 *
 * Context: process; the listening socket still exists.
 */
void khttpd_soft_stop(struct khttpd_soft *soft, bool give)
{
	enum khttpd_soft_way way = give ? KHTTPD_SOFT_HAND : KHTTPD_SOFT_END;
	struct khttpd_listener *listener;
	struct khttpd_soft_lists *lists;
	int cpu, i;

	if (!soft)
		return;
	listener = soft->listener;
	for_each_possible_cpu(cpu) {
		lists = per_cpu_ptr(soft->lists, cpu);
		spin_lock_bh(&lists->lock);
		lists->stopped = true;
		spin_unlock_bh(&lists->lock);
	}
	soft->net6.detach(soft->sk, &soft->user);
	for_each_possible_cpu(cpu)
		cancel_delayed_work_sync(&per_cpu_ptr(soft->lists, cpu)->sweep);
	cancel_work_sync(&soft->unstick);
	/* In the order in which they move from list to list. */
	for (i = 0; i < KHTTPD_SOFT_LISTS; i++)
		khttpd_softpart_all(soft, i, way);
	/* Callbacks that have forgotten their connection may still run. */
	synchronize_rcu();
	sock_put(soft->sk);
	khttpd_soft_free(soft);
	khttpd_listener_conn_done(listener);
}

/**
 * khttpd_soft_init() - get ready
 *
 * Return: 0 or -ENOMEM.
 */
int khttpd_soft_init(void)
{
	int err = percpu_counter_init(&khttpd_softlists_count, 0, GFP_KERNEL);

	if (err)
		return err;
	err = khttpd_softrepeat_init();
	if (err)
		percpu_counter_destroy(&khttpd_softlists_count);
	return err;
}

/**
 * khttpd_soft_exit() - no listener is left
 */
void khttpd_soft_exit(void)
{
	WARN_ON(percpu_counter_sum(&khttpd_softlists_count));
	khttpd_softrepeat_exit();
	percpu_counter_destroy(&khttpd_softlists_count);
}
