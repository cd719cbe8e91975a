// SPDX-License-Identifier: GPL-2.0
/* A connection's turn in its thread: what it waited for is there, and what comes next is waited
 * for. It may go to a server, to a TLS handshake or back to softirq.
 */
#include <net/sock.h>
#include "../listen/handover.h"
#include "../listen/listener.h"
#include "../listen/proxied.h"
#include "../listen/tls.h"
#include "../soft/soft.h"
#include "conn.h"

/* Put it into the server's queue, or have it refused. */
static void khttpd_turn_push(struct khttpd_conn *conn)
{
	bool backend = conn->listener->attached ||
		       (khttpd_proxied_announce(conn) && khttpd_handover_to_backend(conn));
	struct khttpd_listener *listener = conn->listener;

	/* In the queue the connection is the server's, and may be gone. */
	refcount_inc(&listener->refs);
	if (backend && khttpd_handover(conn)) {
		khttpd_listener_conn_done(listener);
	} else {
		conn->state = KHTTPD_CONN_REFUSE;
		khttpd_conn_kick(conn);
	}
	khttpd_listener_put(listener);
}

/* Part with a connection at which no reply is under way. */
static void khttpd_turn_handover(struct khttpd_conn *conn)
{
	khttpd_job_drop(conn);
	conn->state = KHTTPD_CONN_HANDOVER;
	khttpd_conn_release(conn);
	/* Linked in the ready list it cannot go: it will be run once more. */
	if (!test_bit(KHTTPD_CONN_QUEUED, &conn->flags))
		khttpd_turn_push(conn);
}

/* Is what waits in the socket a HEAD? Nothing of it has been taken. */
static bool khttpd_turn_asks_head(struct khttpd_conn *conn)
{
	char word[5];

	return khttpd_transport_recv(conn->sock, word, sizeof(word), true) ==
	       sizeof(word) && !memcmp(word, "HEAD ", sizeof(word));
}

/* No server has room for it. Once more when a worker has found the page for that. */
static enum khttpd_step khttpd_turn_refuse(struct khttpd_conn *conn)
{
	enum khttpd_verdict verdict;
	enum khttpd_step step;
	u32 done = 0;

	if (!conn->refused) {
		conn->refused = true;
		conn->repeats = 0;
		khttpd_conn_adopt(conn);
		khttpd_out_clear(&conn->out);
		khttpd_request_reset(&conn->req);
		/* RFC 9110 section 9.3.2: a reply to HEAD has no content. */
		if (khttpd_turn_asks_head(conn))
			conn->req.method = KHTTPD_METHOD_HEAD;
	}
	verdict = khttpd_respond_refused(conn, NULL, 503, 0);
	if (verdict == KHTTPD_VERDICT_JOB)
		return KHTTPD_STEP_JOB;
	if (verdict == KHTTPD_VERDICT_ABORT)
		return KHTTPD_STEP_ABORT;
	step = khttpd_batch_send(conn, &done);
	return step == KHTTPD_STEP_BLOCKED ? khttpd_out_send(conn) : step;
}

/* A worker is done: its data becomes what is sent next. */
static enum khttpd_step khttpd_turn_job_done(struct khttpd_conn *conn)
{
	struct khttpd_out *out = &conn->out;
	struct khttpd_job *job = conn->job;

	/* A lookup: khttpd_respond() takes the result. */
	if (job->lookup)
		return conn->refused ? khttpd_turn_refuse(conn) :
				       KHTTPD_STEP_WAIT;

	conn->job = NULL;
	out->text = job->data;
	out->text_pos = 0;
	out->text_len = job->len;
	out->pos += job->len;
	job->data = NULL;
	if (job->error || !job->len) {
		if (job->error)
			khttpd_count(read_errors);
		else
			khttpd_count(truncated);
		khttpd_job_free(job);
		return khttpd_out_short(conn);
	}
	khttpd_job_free(job);
	return khttpd_out_send(conn);
}

/* One reply is complete: on to the next request. */
static enum khttpd_step khttpd_turn_next(struct khttpd_conn *conn,
					 enum khttpd_step step)
{
	struct khttpd_listener *listener = conn->listener;

	if (step != KHTTPD_STEP_WAIT)
		return step;
	/* Requests that came before a listener of our own was stopped are answered. So is one
	 * that only we have.
	 */
	if (!READ_ONCE(listener->stopped) || !listener->attached || conn->given) {
		step = khttpd_serve(conn);
		if (step != KHTTPD_STEP_WAIT || !READ_ONCE(listener->stopped))
			return step;
	}
	khttpd_job_drop(conn);
	if (!listener->attached)
		return KHTTPD_STEP_FINISH;
	/* A server that takes its listener back gets the connection too. */
	return READ_ONCE(listener->gone) ? KHTTPD_STEP_CLOSE :
					   KHTTPD_STEP_HANDOVER;
}

/* Is a reply under way that the socket has not got all of? */
static bool khttpd_turn_sending(const struct khttpd_conn *conn)
{
	return conn->out.text || conn->out.entry;
}

/* Would something be lost, or left to TCP for as long as the peer likes? */
static bool khttpd_turn_owes(const struct khttpd_conn *conn)
{
	return khttpd_turn_sending(conn) || !khttpd_close_offered(conn);
}

/* Wait for room, or go on reading. How much the peer takes is looked at when the time is over.
 */
static void khttpd_turn_settle_out(struct khttpd_conn *conn)
{
	if (!khttpd_turn_sending(conn)) {
		conn->state = KHTTPD_CONN_READ;
		return;
	}
	conn->state = KHTTPD_CONN_SEND;
	conn->streak = 0;
	if (conn->timer_kind != KHTTPD_TIMER_SEND)
		khttpd_close_press(conn);
}

/* What comes next can be answered in softirq. Return: false if it stays the thread's. */
static bool khttpd_turn_return(struct khttpd_conn *conn)
{
	struct khttpd_listener *listener = conn->listener;

	if (conn->req.pos || conn->buf || conn->eof || conn->unread || conn->job ||
	    conn->client || conn->first)
		return false;
	if (conn->nodelay && !listener->nodelay) {
		khttpd_transport_nodelay(conn->sock, 0);
		conn->nodelay = false;
	}
	if (!khttpd_soft_return(listener, conn->sock, conn->peer))
		return false;
	/* No wake-up comes from there any more. */
	khttpd_conn_release(conn);
	khttpd_transport_empty(conn->sock);
	conn->sock = NULL;
	conn->peer = NULL;
	conn->state = KHTTPD_CONN_DEAD;
	khttpd_listener_conn_done(listener);
	khttpd_conn_bury(conn);
	return true;
}

/* The proxy has said for whom it speaks: the TLS handshake comes next. */
static void khttpd_turn_shake(struct khttpd_conn *conn)
{
	struct khttpd_listener *listener = conn->listener;

	/* No wake-up comes any more. */
	khttpd_conn_release(conn);
	if (khttpd_tls_begin(listener, conn->sock, conn->peer, conn->client)) {
		conn->peer = NULL;
		conn->client = NULL;
	} else {
		khttpd_count(closed);
		khttpd_transport_close(conn->sock, true);
	}
	conn->sock = NULL;
	conn->state = KHTTPD_CONN_DEAD;
	khttpd_listener_conn_done(listener);
	khttpd_conn_bury(conn);
}

/* Wait for a request. A time that runs already goes on, unless one was answered: being
 * woken is none.
 */
static void khttpd_turn_settle_wait(struct khttpd_conn *conn)
{
	if (conn->answered && conn->streak >= KHTTPD_CONN_STREAK && khttpd_turn_return(conn))
		return;
	conn->state = KHTTPD_CONN_READ;
	if (conn->req.pos) {
		if (conn->timer_kind != KHTTPD_TIMER_HEAD)
			khttpd_timer_set(conn, KHTTPD_TIMER_HEAD);
	} else if (conn->answered || conn->timer_kind == KHTTPD_TIMER_NONE) {
		khttpd_timer_set(conn, KHTTPD_TIMER_IDLE);
	}
	conn->answered = false;
}

/* The listener is closing, and the scan for that may have been before the thread knew this
 * connection. So none goes on, and one of our own does not linger.
 */
static enum khttpd_step khttpd_turn_last(const struct khttpd_conn *conn,
					 enum khttpd_step step)
{
	switch (step) {
	case KHTTPD_STEP_BLOCKED:
	case KHTTPD_STEP_AGAIN:
	case KHTTPD_STEP_JOB:
		return KHTTPD_STEP_ABORT;
	case KHTTPD_STEP_FINISH:
	case KHTTPD_STEP_CLOSE:
		if (!khttpd_close_offered(conn))
			return KHTTPD_STEP_ABORT;
		return conn->listener->attached ? step : KHTTPD_STEP_CLOSE;
	default:
		return step;
	}
}

static void khttpd_turn_settle(struct khttpd_conn *conn, enum khttpd_step step)
{
	if (unlikely(READ_ONCE(conn->listener->closing)))
		step = khttpd_turn_last(conn, step);
	switch (step) {
	case KHTTPD_STEP_WAIT:
		khttpd_turn_settle_wait(conn);
		break;
	case KHTTPD_STEP_AGAIN:
		if (conn->answered && !khttpd_turn_sending(conn) &&
		    conn->timer_kind != KHTTPD_TIMER_HEAD)
			khttpd_timer_set(conn, KHTTPD_TIMER_NONE);
		khttpd_conn_kick(conn);
		fallthrough;
	case KHTTPD_STEP_BLOCKED:
		khttpd_turn_settle_out(conn);
		break;
	case KHTTPD_STEP_JOB:
		conn->state = KHTTPD_CONN_JOB;
		khttpd_timer_set(conn, KHTTPD_TIMER_NONE);
		break;
	case KHTTPD_STEP_HANDOVER:
		khttpd_turn_handover(conn);
		break;
	case KHTTPD_STEP_SHAKE:
		khttpd_turn_shake(conn);
		break;
	case KHTTPD_STEP_FINISH:
		khttpd_close_finish(conn);
		break;
	case KHTTPD_STEP_CLOSE:
		khttpd_close_end(conn);
		break;
	case KHTTPD_STEP_ABORT:
		khttpd_close(conn, true);
		break;
	}
}

/* It has a reply in the socket that its peer does not take. No more is to be said if our half has
 * ended, or if the server it came from has gone.
 */
static enum khttpd_step khttpd_turn_begin_slow(struct khttpd_conn *conn)
{
	const struct khttpd_listener *listener = conn->listener;

	khttpd_conn_adopt(conn);
	khttpd_close_press(conn);
	if (READ_ONCE(conn->sock->sk->sk_shutdown) & SEND_SHUTDOWN ||
	    (listener->attached && READ_ONCE(listener->stopped)))
		return KHTTPD_STEP_FINISH;
	return KHTTPD_STEP_WAIT;
}

/**
 * khttpd_turn() - do what can be done for a connection now
 * @conn: from the ready list, no longer linked in it; may be gone afterwards
 *
 * Context: its thread.
 */
void khttpd_turn(struct khttpd_conn *conn)
{
	enum khttpd_step step = KHTTPD_STEP_WAIT;

	switch (conn->state) {
	case KHTTPD_CONN_DEAD:
		khttpd_conn_bury(conn);
		return;
	case KHTTPD_CONN_NEW:
	case KHTTPD_CONN_PROXY:
		khttpd_conn_adopt(conn);
		khttpd_timer_set(conn, KHTTPD_TIMER_HEAD);
		break;
	case KHTTPD_CONN_SLOW:
		step = khttpd_turn_begin_slow(conn);
		break;
	case KHTTPD_CONN_LINGER:
		khttpd_close_drain(conn);
		return;
	case KHTTPD_CONN_HANDOVER:
		khttpd_turn_push(conn);
		return;
	case KHTTPD_CONN_JOB:
		if (khttpd_conn_at_work(conn))
			return;
		step = khttpd_turn_job_done(conn);
		break;
	case KHTTPD_CONN_SEND:
		step = khttpd_out_send(conn);
		break;
	case KHTTPD_CONN_REFUSE:
		step = khttpd_turn_refuse(conn);
		break;
	}
	khttpd_turn_settle(conn, khttpd_turn_next(conn, step));
}

/**
 * khttpd_turn_scan() - part with a connection whose listener has stopped
 * @conn: any connection of the thread; may be gone afterwards
 * @all: close it whatever it does
 *
 * A server's connection goes to the server as soon as no reply is under way. If there is no
 * server any more it is closed then, as one of our own is.
 *
 * Context: its thread.
 */
void khttpd_turn_scan(struct khttpd_conn *conn, bool all)
{
	struct khttpd_listener *listener = conn->listener;

	if (!READ_ONCE(listener->stopped))
		return;
	if (all || (READ_ONCE(listener->closing) &&
		    (!listener->attached || conn->timer_kind != KHTTPD_TIMER_LINGER)))
		khttpd_close(conn, khttpd_turn_owes(conn));
	else if (conn->state != KHTTPD_CONN_READ)
		return;
	else if (!listener->attached || READ_ONCE(listener->gone))
		khttpd_close_end(conn);
	else
		khttpd_turn_handover(conn);
}
