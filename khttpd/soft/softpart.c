// SPDX-License-Identifier: GPL-2.0
/* How a connection that was answered in softirq becomes somebody else's: the listener's accept
 * queue's, that of the server that khttpd is attached to, or a thread's. And what a process does
 * with those whose time is over, with those that wait for room, and when the listener ends.
 */
#include <net/sock.h>
#include "../conn/taken.h"
#include "../listen/handover.h"
#include "../listen/listener.h"
#include "softwork.h"

/**
 * khttpd_softpart_forget() - the last thing done with a connection
 * @conn: it, in no list
 *
 * Context: any.
 */
void khttpd_softpart_forget(struct khttpd_soft_conn *conn)
{
	khttpd_peer_put(conn->peer);
	kfree(conn);
}

/**
 * khttpd_softpart_give() - to the accept queue, with what was not answered
 * @soft: of its listener
 * @conn: the connection, locked
 *
 * There it is accepted like any other. The process that accepts it waits for the lock, so it may
 * be in our list until then. Context: bottom halves off.
 *
 * Return: 0; an errno, with nothing done, if there is no room or no listener.
 */
int khttpd_softpart_give(struct khttpd_soft *soft, struct khttpd_soft_conn *conn)
{
	int err;

	/* A thread counts it next, and so it does its client: it waits for the lock. */
	percpu_counter_dec(&khttpd_softlists_count);
	atomic_inc(&soft->listener->given);
	err = soft->net6.give(conn->sk, soft->sk);
	if (err) {
		percpu_counter_inc(&khttpd_softlists_count);
		khttpd_listener_count(soft->listener);
		return err;
	}
	khttpd_count(soft_given);
	khttpd_softlists_del(conn);
	khttpd_softpart_forget(conn);
	return 0;
}

/**
 * khttpd_softpart_hand() - to the server, if its queue has room
 * @soft: of its listener
 * @conn: the connection; the server may have it before this returns
 *
 * Context: a callback: the one who takes it out of the queue waits for the lock.
 * Return: has the server got it?
 */
bool khttpd_softpart_hand(struct khttpd_soft *soft, struct khttpd_soft_conn *conn)
{
	conn->handed.sk = conn->sk;
	conn->graft = soft->net6.graft;
	conn->finish = soft->net6.finish;
	if (!khttpd_handover_sock(soft->listener, &conn->handed))
		return false;
	khttpd_count(soft_handed);
	khttpd_softlists_del(conn);
	soft->net6.release(conn->sk);
	return true;
}

/* Its end as ours. Return: its client, counted there still. */
static struct khttpd_peer *khttpd_softpart_handed(struct khttpd_soft_conn *conn)
{
	struct khttpd_peer *peer = conn->peer;

	khttpd_softlists_count_add(-1);
	kfree(conn);
	return peer;
}

/**
 * khttpd_softpart_graft() - a connection out of a server's queue becomes a socket's
 * @handed: the connection; gone afterwards
 * @sock: the socket
 *
 * Context: process.
 * Return: its client, for khttpd_peer_put(), or NULL.
 */
struct khttpd_peer *khttpd_softpart_graft(struct khttpd_handed *handed,
					  struct socket *sock)
{
	struct khttpd_soft_conn *conn = container_of(handed,
						     struct khttpd_soft_conn,
						     handed);

	/* The context that put it there is through with it when this has the lock. */
	conn->graft(conn->sk, sock);
	return khttpd_softpart_handed(conn);
}

/**
 * khttpd_softpart_drop() - a connection out of a server's queue is reset
 * @handed: the connection; gone afterwards
 *
 * Context: process.
 */
void khttpd_softpart_drop(struct khttpd_handed *handed)
{
	struct khttpd_soft_conn *conn = container_of(handed,
						     struct khttpd_soft_conn,
						     handed);

	khttpd_count(aborted);
	khttpd_count(closed);
	conn->finish(conn->sk, true);
	khttpd_peer_put(khttpd_softpart_handed(conn));
}

/* A thread gets it, and a socket. Context: process. */
static void khttpd_softpart_to_thread(struct khttpd_soft *soft, struct khttpd_soft_conn *conn)
{
	struct khttpd_listener *listener = soft->listener;

	conn->handed.sk = conn->sk;
	conn->graft = soft->net6.graft;
	conn->finish = soft->net6.finish;
	/* Once more, so that it counts all the time. */
	khttpd_softlists_count_add(1);
	khttpd_handover_thread(listener, &conn->handed, KHTTPD_CONN_SLOW);
	khttpd_softlists_count_add(-1);
}

/* Part with @conn if it is the first of its list still, @sk owned by us. It may
 * have come to its end, or to a request, while we waited for the lock.
 * Return: it, if it is to be finished or is a thread's; an error if it must stay.
 */
static struct khttpd_soft_conn *khttpd_softpart_one(struct khttpd_soft_lists *lists,
						    struct sock *sk,
						    enum khttpd_soft_list kind,
						    unsigned long limit,
						    enum khttpd_soft_way way)
{
	struct khttpd_soft *soft = lists->soft;
	struct khttpd_soft_conn *conn;

	spin_lock(&lists->lock);
	conn = khttpd_softlists_first(lists, kind, limit);
	spin_unlock(&lists->lock);
	if (!conn || conn->sk != sk)
		return NULL;
	if (kind == KHTTPD_SOFT_IDLE && limit && !khttpd_unacked(sk)) {
		khttpd_softlists_rest(conn);
		return NULL;
	}
	if (kind != KHTTPD_SOFT_SLOW) {
		if (way != KHTTPD_SOFT_END && !khttpd_softpart_give(soft, conn))
			return NULL;
		if (way == KHTTPD_SOFT_TRY)
			return ERR_PTR(-ENOBUFS);
	}
	khttpd_softlists_del(conn);
	conn->ended = true;
	conn->slow = (kind == KHTTPD_SOFT_IDLE && limit) || !khttpd_offered(sk);
	if (conn->slow)
		soft->net6.release(sk);
	else
		khttpd_leave_to_tcp(sk);
	return conn;
}

static void khttpd_softpart_count_timeout(enum khttpd_soft_list kind)
{
	if (kind == KHTTPD_SOFT_FRESH)
		khttpd_count(timeout_head);
	else if (kind == KHTTPD_SOFT_REST)
		khttpd_count(timeout_idle);
}

/* Part with the connection that is first in a list for @limit jiffies, 0 for
 * any. Context: process. Return: false if there is none, or it must stay.
 */
static bool khttpd_softpart_next(struct khttpd_soft_lists *lists,
				 enum khttpd_soft_list kind, unsigned long limit,
				 enum khttpd_soft_way way)
{
	struct khttpd_soft *soft = lists->soft;
	struct khttpd_soft_conn *conn;
	struct sock *sk = NULL;

	spin_lock_bh(&lists->lock);
	conn = khttpd_softlists_first(lists, kind, limit);
	if (conn) {
		sk = conn->sk;
		sock_hold(sk);
	}
	spin_unlock_bh(&lists->lock);
	if (!sk)
		return false;

	lock_sock(sk);
	local_bh_disable();
	conn = khttpd_softpart_one(lists, sk, kind, limit, way);
	local_bh_enable();
	release_sock(sk);
	if (!IS_ERR_OR_NULL(conn) && conn->slow) {
		khttpd_softpart_to_thread(soft, conn);
	} else if (!IS_ERR_OR_NULL(conn)) {
		if (limit)
			khttpd_softpart_count_timeout(kind);
		khttpd_count(closed);
		soft->net6.finish(sk, false);
		khttpd_softlists_count_add(-1);
		khttpd_softpart_forget(conn);
	}
	sock_put(sk);
	cond_resched();
	return !IS_ERR(conn);
}

/**
 * khttpd_softpart_sweep() - end those whose time is over
 * @work: of a processor's lists
 *
 * Context: work.
 */
void khttpd_softpart_sweep(struct work_struct *work)
{
	struct khttpd_soft_lists *lists = container_of(to_delayed_work(work),
						       struct khttpd_soft_lists, sweep);
	struct khttpd_soft_conn *conn;
	int kind;

	/* Backwards: a connection that goes from one list to the one before may be over there,
	 * too.
	 */
	for (kind = KHTTPD_SOFT_SLOW; kind >= KHTTPD_SOFT_FRESH; kind--) {
		while (khttpd_softpart_next(lists, kind, khttpd_softlists_limit(kind),
					    KHTTPD_SOFT_END))
			;
	}
	spin_lock_bh(&lists->lock);
	lists->armed = false;
	for (kind = KHTTPD_SOFT_FRESH; kind <= KHTTPD_SOFT_SLOW; kind++) {
		conn = list_first_entry_or_null(&lists->list[kind],
						struct khttpd_soft_conn, node);
		if (conn)
			khttpd_softlists_arm(lists, conn->used + khttpd_softlists_limit(kind));
	}
	spin_unlock_bh(&lists->lock);
}

/**
 * khttpd_softpart_all() - part with all that are in a list, but for those that must stay
 * @soft: of which listener
 * @kind: which list
 * @way: what becomes of them
 *
 * Context: process.
 */
void khttpd_softpart_all(struct khttpd_soft *soft, enum khttpd_soft_list kind,
			 enum khttpd_soft_way way)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		while (khttpd_softpart_next(per_cpu_ptr(soft->lists, cpu), kind, 0, way))
			;
	}
}

/**
 * khttpd_softpart_unstick() - the accept queue has room
 * @work: of a listener's connections
 *
 * Each time another processor's are the first: there may be room for one. Context: work.
 */
void khttpd_softpart_unstick(struct work_struct *work)
{
	struct khttpd_soft *soft = container_of(work, struct khttpd_soft,
						unstick);
	int cpu;

	soft->first = cpumask_next(soft->first, cpu_possible_mask);
	if (soft->first >= nr_cpu_ids)
		soft->first = cpumask_first(cpu_possible_mask);
	for_each_cpu_wrap(cpu, cpu_possible_mask, soft->first) {
		while (khttpd_softpart_next(per_cpu_ptr(soft->lists, cpu), KHTTPD_SOFT_STUCK, 0,
					    KHTTPD_SOFT_TRY))
			;
	}
}
