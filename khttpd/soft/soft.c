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
#include <linux/percpu_counter.h>
#include <linux/slab.h>
#include <net/sock.h>
#include "../conn/taken.h"
#include "../http/plain.h"
#include "../listen/follow.h"
#include "../listen/handover.h"
#include "../listen/listener.h"
#include "../listen/peer.h"
#include "softwork.h"

/* Pipelined requests answered at once; the rest is for a thread. */
#define KHTTPD_SOFT_BUDGET	32
/* The time that a peer has to take its last reply and end, before a thread looks after it. */
#define KHTTPD_SOFT_GRACE	HZ

/* In the order of struct khttpd_net6. */
static const char *const khttpd_net6_calls[] = {
	"net6_tcp_is", "net6_tcp_attach", "net6_tcp_detach", "net6_tcp_unread",
	"net6_tcp_at_end", "net6_tcp_peek", "net6_tcp_peek_copy",
	"net6_tcp_consume", "net6_tcp_send", "net6_tcp_give", "net6_tcp_release",
	"net6_tcp_graft", "net6_tcp_take",
	"net6_tcp_finish_locked", "net6_tcp_finish", "net6_tcp_send_pages",
};

static struct percpu_counter khttpd_soft_count;

/* In a process. Without SMP the kernel's counter is not safe from softirqs. */
static void khttpd_soft_count_add(int n)
{
	local_bh_disable();
	percpu_counter_add(&khttpd_soft_count, n);
	local_bh_enable();
}

/**
 * khttpd_soft_conns() - connections that were taken and are not given away
 *
 * Context: any; asks all processors.
 */
u32 khttpd_soft_conns(void)
{
	return percpu_counter_sum_positive(&khttpd_soft_count);
}

/**
 * khttpd_soft_full() - are there so many of them?
 * @limit: how many
 *
 * Other processors are asked only near the limit. Context: any.
 */
bool khttpd_soft_full(u32 limit)
{
	return percpu_counter_compare(&khttpd_soft_count, limit) >= 0;
}

/* How long a connection may be in a list, in jiffies. */
static unsigned long khttpd_soft_limit(enum khttpd_soft_list kind)
{
	u32 idle = READ_ONCE(khttpd_limits.idle_timeout);

	switch (kind) {
	case KHTTPD_SOFT_FRESH:
		return msecs_to_jiffies(READ_ONCE(khttpd_limits.head_timeout));
	case KHTTPD_SOFT_SLOW:
		return KHTTPD_SOFT_GRACE;
	case KHTTPD_SOFT_IDLE:
		/* Then it is looked at what the peer has taken. */
		idle = min(idle, READ_ONCE(khttpd_limits.send_timeout));
		fallthrough;
	default:
		return msecs_to_jiffies(idle);
	}
}

/* A connection is over at @due: have the sweep run then, if not before. */
static void khttpd_soft_arm(struct khttpd_soft_lists *lists, unsigned long due)
	__must_hold(&lists->lock)
{
	lockdep_assert_held(&lists->lock);
	if (lists->stopped || (lists->armed && !time_before(due, lists->due)))
		return;
	lists->armed = true;
	lists->due = due;
	mod_delayed_work(system_wq, &lists->sweep,
			 max_t(long, due - jiffies, 0) + KHTTPD_TICK);
}

static void khttpd_soft_unlist(struct khttpd_soft_conn *conn)
{
	struct khttpd_soft_lists *lists = conn->lists;

	spin_lock_bh(&lists->lock);
	list_del(&conn->node);
	spin_unlock_bh(&lists->lock);
}

static void khttpd_soft_move(struct khttpd_soft_conn *conn, enum khttpd_soft_list kind)
{
	struct khttpd_soft_lists *lists = conn->lists;

	spin_lock_bh(&lists->lock);
	conn->used = jiffies;
	conn->kind = kind;
	list_move_tail(&conn->node, &lists->list[kind]);
	if (kind != KHTTPD_SOFT_STUCK)
		khttpd_soft_arm(lists, conn->used + khttpd_soft_limit(kind));
	spin_unlock_bh(&lists->lock);
}

/* The last thing done with it. */
static void khttpd_soft_forget(struct khttpd_soft_conn *conn)
{
	khttpd_peer_put(conn->peer);
	kfree(conn);
}

/* Context: a callback. */
static void khttpd_soft_close(struct khttpd_soft *soft,
			      struct khttpd_soft_conn *conn)
{
	khttpd_count(closed);
	khttpd_soft_unlist(conn);
	khttpd_leave_to_tcp(conn->sk);
	soft->net6.finish_locked(conn->sk, false);
	percpu_counter_dec(&khttpd_soft_count);
	khttpd_soft_forget(conn);
}

/* Nothing more will be said. As long as the peer has no room for all of it, the connection
 * is ours; mostly its end comes soon. Context: a callback.
 */
static void khttpd_soft_end(struct khttpd_soft *soft, struct khttpd_soft_conn *conn)
{
	if (likely(khttpd_offered(conn->sk)))
		khttpd_soft_close(soft, conn);
	else
		khttpd_soft_move(conn, KHTTPD_SOFT_SLOW);
}

/* To the accept queue, with what was not answered; there it is accepted like any other. The
 * process that accepts it waits for the lock, so it may be in our list until then.
 *
 * Context: connection locked, bottom halves off.
 * Return: 0; an errno, with nothing done, if there is no room or no listener.
 */
static int khttpd_soft_give(struct khttpd_soft *soft,
			    struct khttpd_soft_conn *conn)
{
	int err;

	/* A thread counts it next, and so it does its client: it waits for the lock. */
	percpu_counter_dec(&khttpd_soft_count);
	atomic_inc(&soft->listener->given);
	err = soft->net6.give(conn->sk, soft->sk);
	if (err) {
		percpu_counter_inc(&khttpd_soft_count);
		khttpd_listener_count(soft->listener);
		return err;
	}
	khttpd_count(soft_given);
	khttpd_soft_unlist(conn);
	khttpd_soft_forget(conn);
	return 0;
}

/* To the server, if its queue has room; it may have it before this returns.
 *
 * Context: a callback: the one who takes it out of the queue waits for the lock.
 */
static bool khttpd_soft_hand(struct khttpd_soft *soft,
			     struct khttpd_soft_conn *conn)
{
	conn->handed.sk = conn->sk;
	conn->graft = soft->net6.graft;
	conn->finish = soft->net6.finish;
	if (!khttpd_handover_sock(soft->listener, &conn->handed))
		return false;
	khttpd_count(soft_handed);
	khttpd_soft_unlist(conn);
	soft->net6.release(conn->sk);
	return true;
}

/* Its end as ours. Return: its client, counted there still. */
static struct khttpd_peer *khttpd_soft_part_handed(struct khttpd_soft_conn *conn)
{
	struct khttpd_peer *peer = conn->peer;

	khttpd_soft_count_add(-1);
	kfree(conn);
	return peer;
}

/**
 * khttpd_soft_graft() - a connection out of a server's queue becomes a socket's
 * @handed: the connection; gone afterwards
 * @sock: the socket
 *
 * Context: process.
 * Return: its client, for khttpd_peer_put(), or NULL.
 */
struct khttpd_peer *khttpd_soft_graft(struct khttpd_handed *handed,
				      struct socket *sock)
{
	struct khttpd_soft_conn *conn = container_of(handed,
						     struct khttpd_soft_conn,
						     handed);

	/* The context that put it there is through with it when this has the lock. */
	conn->graft(conn->sk, sock);
	return khttpd_soft_part_handed(conn);
}

/**
 * khttpd_soft_drop() - a connection out of a server's queue is reset
 * @handed: the connection; gone afterwards
 *
 * Context: process.
 */
void khttpd_soft_drop(struct khttpd_handed *handed)
{
	struct khttpd_soft_conn *conn = container_of(handed,
						     struct khttpd_soft_conn,
						     handed);

	khttpd_count(aborted);
	khttpd_count(closed);
	conn->finish(conn->sk, true);
	khttpd_peer_put(khttpd_soft_part_handed(conn));
}

/* It is one of ours from now on. Context: connection and lists locked. */
static void khttpd_soft_add(struct khttpd_soft_lists *lists, struct khttpd_soft_conn *conn,
			    enum khttpd_soft_list kind)
	__must_hold(&lists->lock)
{
	lockdep_assert_held(&lists->lock);
	conn->lists = lists;
	conn->used = jiffies;
	conn->kind = kind;
	list_add_tail(&conn->node, &lists->list[kind]);
	khttpd_soft_arm(lists, conn->used + khttpd_soft_limit(kind));
	percpu_counter_inc(&khttpd_soft_count);
	rcu_assign_sk_user_data(conn->sk, conn);
}

static bool khttpd_soft_accept(struct net6_tcp_user *user, struct sock *sk)
{
	struct khttpd_soft *soft = container_of(user, struct khttpd_soft, user);
	struct khttpd_soft_lists *lists = raw_cpu_ptr(soft->lists);
	struct khttpd_soft_conn *conn;
	struct khttpd_peer *peer;

	if (khttpd_conns_full())
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
	khttpd_soft_add(lists, conn, KHTTPD_SOFT_FRESH);
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
		khttpd_soft_add(lists, conn, KHTTPD_SOFT_IDLE);
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
	err = khttpd_soft_give(soft, conn);
	if (err == -ENOBUFS) {
		khttpd_soft_move(conn, KHTTPD_SOFT_STUCK);
		/* There may have been room before it was in the list. */
		err = khttpd_soft_give(soft, conn);
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
	else if (verdict == KHTTPD_SOFT_SERVER && khttpd_soft_hand(soft, conn))
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
		khttpd_soft_move(conn, KHTTPD_SOFT_IDLE);
}

/* The first of a list, if it has been there for @limit jiffies. */
static struct khttpd_soft_conn *khttpd_soft_first(struct khttpd_soft_lists *lists,
						  enum khttpd_soft_list kind,
						  unsigned long limit)
	__must_hold(&lists->lock)
{
	struct khttpd_soft_conn *conn;

	lockdep_assert_held(&lists->lock);
	conn = list_first_entry_or_null(&lists->list[kind],
					struct khttpd_soft_conn, node);
	return conn && time_after_eq(jiffies, conn->used + limit) ? conn : NULL;
}

/* Its reply was taken: what is left of the time without a request. */
static void khttpd_soft_rest(struct khttpd_soft_conn *conn)
{
	struct khttpd_soft_lists *lists = conn->lists;

	spin_lock(&lists->lock);
	conn->kind = KHTTPD_SOFT_REST;
	list_move_tail(&conn->node, &lists->list[KHTTPD_SOFT_REST]);
	spin_unlock(&lists->lock);
}

/* A thread gets it, and a socket. Context: process. */
static void khttpd_soft_to_thread(struct khttpd_soft *soft, struct khttpd_soft_conn *conn)
{
	struct khttpd_listener *listener = soft->listener;

	conn->handed.sk = conn->sk;
	conn->graft = soft->net6.graft;
	conn->finish = soft->net6.finish;
	/* Once more, so that it counts all the time. */
	khttpd_soft_count_add(1);
	khttpd_handover_thread(listener, &conn->handed, KHTTPD_CONN_SLOW);
	khttpd_soft_count_add(-1);
}

/* What a process does with a connection. */
enum khttpd_soft_way {
	KHTTPD_SOFT_TRY,	/* give it away, if there is room */
	KHTTPD_SOFT_HAND,	/* give it away, or else close it */
	KHTTPD_SOFT_END,	/* close it */
};

/* Part with @conn if it is the first of its list still, @sk owned by us. It may
 * have come to its end, or to a request, while we waited for the lock.
 * Return: it, if it is to be finished or is a thread's; an error if it must stay.
 */
static struct khttpd_soft_conn *khttpd_soft_part(struct khttpd_soft_lists *lists,
						 struct sock *sk,
						 enum khttpd_soft_list kind,
						 unsigned long limit,
						 enum khttpd_soft_way way)
{
	struct khttpd_soft *soft = lists->soft;
	struct khttpd_soft_conn *conn;

	spin_lock(&lists->lock);
	conn = khttpd_soft_first(lists, kind, limit);
	spin_unlock(&lists->lock);
	if (!conn || conn->sk != sk)
		return NULL;
	if (kind == KHTTPD_SOFT_IDLE && limit && !khttpd_unacked(sk)) {
		khttpd_soft_rest(conn);
		return NULL;
	}
	if (kind != KHTTPD_SOFT_SLOW) {
		if (way != KHTTPD_SOFT_END && !khttpd_soft_give(soft, conn))
			return NULL;
		if (way == KHTTPD_SOFT_TRY)
			return ERR_PTR(-ENOBUFS);
	}
	khttpd_soft_unlist(conn);
	conn->ended = true;
	conn->slow = (kind == KHTTPD_SOFT_IDLE && limit) || !khttpd_offered(sk);
	if (conn->slow)
		soft->net6.release(sk);
	else
		khttpd_leave_to_tcp(sk);
	return conn;
}

static void khttpd_soft_count_timeout(enum khttpd_soft_list kind)
{
	if (kind == KHTTPD_SOFT_FRESH)
		khttpd_count(timeout_head);
	else if (kind == KHTTPD_SOFT_REST)
		khttpd_count(timeout_idle);
}

/* Part with the connection that is first in a list for @limit jiffies, 0 for
 * any. Context: process. Return: false if there is none, or it must stay.
 */
static bool khttpd_soft_next(struct khttpd_soft_lists *lists,
			     enum khttpd_soft_list kind, unsigned long limit,
			     enum khttpd_soft_way way)
{
	struct khttpd_soft *soft = lists->soft;
	struct khttpd_soft_conn *conn;
	struct sock *sk = NULL;

	spin_lock_bh(&lists->lock);
	conn = khttpd_soft_first(lists, kind, limit);
	if (conn) {
		sk = conn->sk;
		sock_hold(sk);
	}
	spin_unlock_bh(&lists->lock);
	if (!sk)
		return false;

	lock_sock(sk);
	local_bh_disable();
	conn = khttpd_soft_part(lists, sk, kind, limit, way);
	local_bh_enable();
	release_sock(sk);
	if (!IS_ERR_OR_NULL(conn) && conn->slow) {
		khttpd_soft_to_thread(soft, conn);
	} else if (!IS_ERR_OR_NULL(conn)) {
		if (limit)
			khttpd_soft_count_timeout(kind);
		khttpd_count(closed);
		soft->net6.finish(sk, false);
		khttpd_soft_count_add(-1);
		khttpd_soft_forget(conn);
	}
	sock_put(sk);
	cond_resched();
	return !IS_ERR(conn);
}

static void khttpd_soft_sweep(struct work_struct *work)
{
	struct khttpd_soft_lists *lists = container_of(to_delayed_work(work),
						       struct khttpd_soft_lists, sweep);
	struct khttpd_soft_conn *conn;
	int kind;

	/* Backwards: a connection that goes from one list to the one before may be over there,
	 * too.
	 */
	for (kind = KHTTPD_SOFT_SLOW; kind >= KHTTPD_SOFT_FRESH; kind--) {
		while (khttpd_soft_next(lists, kind, khttpd_soft_limit(kind),
					KHTTPD_SOFT_END))
			;
	}
	spin_lock_bh(&lists->lock);
	lists->armed = false;
	for (kind = KHTTPD_SOFT_FRESH; kind <= KHTTPD_SOFT_SLOW; kind++) {
		conn = list_first_entry_or_null(&lists->list[kind],
						struct khttpd_soft_conn, node);
		if (conn)
			khttpd_soft_arm(lists, conn->used +
					khttpd_soft_limit(kind));
	}
	spin_unlock_bh(&lists->lock);
}

/* Part with all that are in a list, whoever has taken them. Those that must stay do. */
static void khttpd_soft_part_all(struct khttpd_soft *soft, enum khttpd_soft_list kind,
				 enum khttpd_soft_way way)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		while (khttpd_soft_next(per_cpu_ptr(soft->lists, cpu), kind, 0, way))
			;
	}
}

/* Each time another processor's are the first: there may be room for one. */
static void khttpd_soft_unstick(struct work_struct *work)
{
	struct khttpd_soft *soft = container_of(work, struct khttpd_soft,
						unstick);
	int cpu;

	soft->first = cpumask_next(soft->first, cpu_possible_mask);
	if (soft->first >= nr_cpu_ids)
		soft->first = cpumask_first(cpu_possible_mask);
	for_each_cpu_wrap(cpu, cpu_possible_mask, soft->first) {
		while (khttpd_soft_next(per_cpu_ptr(soft->lists, cpu), KHTTPD_SOFT_STUCK, 0,
					KHTTPD_SOFT_TRY))
			;
	}
}

/* Whoever has a function holds its module. */
static void khttpd_net6_put(const struct khttpd_net6 *net6)
{
	void *const *call = (void *const *)net6;
	int i;

	for (i = 0; i < ARRAY_SIZE(khttpd_net6_calls); i++) {
		if (call[i])
			__symbol_put(khttpd_net6_calls[i]);
	}
}

static bool khttpd_net6_get(struct khttpd_net6 *net6)
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
		INIT_DELAYED_WORK(&lists->sweep, khttpd_soft_sweep);
	}
	INIT_WORK(&soft->unstick, khttpd_soft_unstick);
	return soft;
}

static void khttpd_soft_free(struct khttpd_soft *soft)
{
	khttpd_net6_put(&soft->net6);
	free_percpu(soft->lists);
	kfree(soft);
}

/**
 * khttpd_soft_start() - take a listener's connections, if it is one of net6
 * @listener: the listener
 *
 * They are not counted as @listener's: khttpd_soft_stop() leaves none.
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
	if (!khttpd_net6_get(&soft->net6) ||
	    !soft->net6.is(sk) ||
	    soft->net6.attach(sk, &soft->user)) {
		khttpd_soft_free(soft);
		return NULL;
	}
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
	struct khttpd_soft_lists *lists;
	int cpu, i;

	if (!soft)
		return;
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
		khttpd_soft_part_all(soft, i, way);
	/* Callbacks that have forgotten their connection may still run. */
	synchronize_rcu();
	sock_put(soft->sk);
	khttpd_soft_free(soft);
}

/**
 * khttpd_soft_init() - get ready
 *
 * Return: 0 or -ENOMEM.
 */
int khttpd_soft_init(void)
{
	int err = percpu_counter_init(&khttpd_soft_count, 0, GFP_KERNEL);

	if (err)
		return err;
	err = khttpd_softrepeat_init();
	if (err)
		percpu_counter_destroy(&khttpd_soft_count);
	return err;
}

/**
 * khttpd_soft_exit() - no listener is left
 */
void khttpd_soft_exit(void)
{
	WARN_ON(percpu_counter_sum(&khttpd_soft_count));
	khttpd_softrepeat_exit();
	percpu_counter_destroy(&khttpd_soft_count);
}
