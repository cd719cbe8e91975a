// SPDX-License-Identifier: GPL-2.0
/* Time-outs of connections. There is one list a kind and thread, in the order of deadlines
 * because a kind has one duration. One timer a thread is for the first deadline of all; there is
 * none without connections. A limit that is lowered counts for connections that come after; those
 * before them are not overtaken.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include "conn.h"

/* The time without a request, in two parts: after the first it is looked at what the peer
 * has taken of the reply before.
 */
static u32 khttpd_timer_idle_ms(bool rest)
{
	u32 idle = READ_ONCE(khttpd_limits.idle_timeout);
	u32 look = min(idle, READ_ONCE(khttpd_limits.send_timeout));

	return rest ? idle - look : look;
}

static u32 khttpd_timer_ms(enum khttpd_timer kind)
{
	switch (kind) {
	case KHTTPD_TIMER_HEAD:
		return READ_ONCE(khttpd_limits.head_timeout);
	case KHTTPD_TIMER_IDLE:
	case KHTTPD_TIMER_REST:
		return khttpd_timer_idle_ms(kind == KHTTPD_TIMER_REST);
	case KHTTPD_TIMER_SEND:
		return READ_ONCE(khttpd_limits.send_timeout);
	default:
		return READ_ONCE(khttpd_limits.linger_timeout);
	}
}

/* Something is over at @due: be woken then, if not before; some time later,
 * with those that follow.
 */
static void khttpd_timer_arm(struct khttpd_thread *thread, unsigned long due)
{
	if (timer_pending(&thread->tick) && !time_before(due, thread->due))
		return;
	thread->due = due;
	mod_timer(&thread->tick, due + KHTTPD_TICK);
}

/**
 * khttpd_timer_set() - start a connection's timer anew, or stop it
 * @conn: the connection
 * @kind: which, or KHTTPD_TIMER_NONE
 *
 * Context: its thread.
 */
void khttpd_timer_set(struct khttpd_conn *conn, enum khttpd_timer kind)
{
	struct khttpd_thread *thread = conn->thread;
	unsigned long deadline;

	if (kind == KHTTPD_TIMER_NONE) {
		conn->timer_kind = kind;
		list_del_init(&conn->timer);
		return;
	}
	/* The rest begins where the first part was to end, however late that was seen. */
	deadline = kind == KHTTPD_TIMER_REST ? conn->deadline : jiffies;
	deadline += msecs_to_jiffies(khttpd_timer_ms(kind));
	/* Connections with the same deadline may have any order. */
	if (conn->timer_kind == kind && conn->deadline == deadline)
		return;
	conn->timer_kind = kind;
	conn->deadline = deadline;
	list_move_tail(&conn->timer, &thread->timers[kind]);
	khttpd_timer_arm(thread, conn->deadline);
}

/**
 * khttpd_timers_run() - end connections whose time is over
 * @thread: whose
 *
 * Context: that thread.
 */
void khttpd_timers_run(struct khttpd_thread *thread)
{
	struct khttpd_conn *conn;
	int kind;

	for (kind = 0; kind < KHTTPD_TIMERS; kind++) {
		while ((conn = list_first_entry_or_null(&thread->timers[kind],
							struct khttpd_conn,
							timer))) {
			if (time_before(jiffies, conn->deadline)) {
				khttpd_timer_arm(thread, conn->deadline);
				break;
			}
			khttpd_close_expire(conn);
		}
	}
}
