// SPDX-License-Identifier: GPL-2.0
/* Connections that are answered in softirq: how many, and each processor's of a listener in lists,
 * by what they wait for, the oldest first. Who looks after them when their time is over is in
 * softpart.c.
 */
#include "../conn/taken.h"
#include "softwork.h"

/* The time that a peer has to take its last reply and end, before a thread looks after it. */
#define KHTTPD_SOFT_GRACE	HZ

/* Those that were taken and are not given away. */
struct percpu_counter khttpd_softlists_count;

/**
 * khttpd_softlists_count_add() - there are more or fewer of them
 * @n: by how many
 *
 * Without SMP the kernel's counter is not safe from softirqs. Context: process.
 */
void khttpd_softlists_count_add(int n)
{
	local_bh_disable();
	percpu_counter_add(&khttpd_softlists_count, n);
	local_bh_enable();
}

/**
 * khttpd_softlists_conns() - connections that were taken and are not given away
 *
 * Context: any; asks all processors.
 */
u32 khttpd_softlists_conns(void)
{
	return percpu_counter_sum_positive(&khttpd_softlists_count);
}

/**
 * khttpd_softlists_full() - are there so many of them?
 * @limit: how many
 *
 * Other processors are asked only near the limit. Context: any.
 */
bool khttpd_softlists_full(u32 limit)
{
	return percpu_counter_compare(&khttpd_softlists_count, limit) >= 0;
}

/**
 * khttpd_softlists_limit() - how long a connection may be in a list
 * @kind: which list
 *
 * Context: any. Return: jiffies.
 */
unsigned long khttpd_softlists_limit(enum khttpd_soft_list kind)
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

/**
 * khttpd_softlists_arm() - have the sweep run, if it would not before
 * @lists: a processor's
 * @due: when a connection is over; jiffies
 *
 * Context: any.
 */
void khttpd_softlists_arm(struct khttpd_soft_lists *lists, unsigned long due)
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

/**
 * khttpd_softlists_del() - it is in no list any more
 * @conn: the connection
 *
 * Context: its owner, in a process or a callback.
 */
void khttpd_softlists_del(struct khttpd_soft_conn *conn)
{
	struct khttpd_soft_lists *lists = conn->lists;

	spin_lock_bh(&lists->lock);
	list_del(&conn->node);
	spin_unlock_bh(&lists->lock);
}

/**
 * khttpd_softlists_move() - it waits for something else from now on
 * @conn: the connection
 * @kind: for what
 *
 * Context: a callback.
 */
void khttpd_softlists_move(struct khttpd_soft_conn *conn, enum khttpd_soft_list kind)
{
	struct khttpd_soft_lists *lists = conn->lists;

	spin_lock_bh(&lists->lock);
	conn->used = jiffies;
	conn->kind = kind;
	list_move_tail(&conn->node, &lists->list[kind]);
	if (kind != KHTTPD_SOFT_STUCK)
		khttpd_softlists_arm(lists, conn->used + khttpd_softlists_limit(kind));
	spin_unlock_bh(&lists->lock);
}

/**
 * khttpd_softlists_add() - it is one of ours from now on
 * @lists: a processor's
 * @conn: the connection, locked
 * @kind: for what it waits
 *
 * Context: bottom halves off.
 */
void khttpd_softlists_add(struct khttpd_soft_lists *lists, struct khttpd_soft_conn *conn,
			  enum khttpd_soft_list kind)
	__must_hold(&lists->lock)
{
	lockdep_assert_held(&lists->lock);
	conn->lists = lists;
	conn->used = jiffies;
	conn->kind = kind;
	list_add_tail(&conn->node, &lists->list[kind]);
	khttpd_softlists_arm(lists, conn->used + khttpd_softlists_limit(kind));
	percpu_counter_inc(&khttpd_softlists_count);
	rcu_assign_sk_user_data(conn->sk, conn);
}

/**
 * khttpd_softlists_first() - the first of a list, if it has been there for long
 * @lists: a processor's
 * @kind: which of them
 * @limit: for how long; jiffies
 *
 * Context: any. Return: it, or NULL.
 */
struct khttpd_soft_conn *khttpd_softlists_first(struct khttpd_soft_lists *lists,
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

/**
 * khttpd_softlists_rest() - its reply was taken: what is left of the time without a request
 * @conn: the connection, locked
 *
 * Context: bottom halves off.
 */
void khttpd_softlists_rest(struct khttpd_soft_conn *conn)
{
	struct khttpd_soft_lists *lists = conn->lists;

	spin_lock(&lists->lock);
	conn->kind = KHTTPD_SOFT_REST;
	list_move_tail(&conn->node, &lists->list[KHTTPD_SOFT_REST]);
	spin_unlock(&lists->lock);
}
