// SPDX-License-Identifier: GPL-2.0
/* How a connection ends: at once, or when its peer has taken everything; and how long anything may
 * take that it does or does not do.
 */
#include <linux/tcp.h>
#include <net/sock.h>
#include "../listen/listener.h"
#include "../listen/peer.h"
#include "conn.h"
#include "ktls.h"
#include "taken.h"

/**
 * khttpd_close_offered() - has TCP all, and the peer room for it?
 * @conn: the connection
 *
 * As khttpd_offered(), with TLS's records.
 *
 * Context: its thread.
 */
bool khttpd_close_offered(const struct khttpd_conn *conn)
{
	struct sock *sk = conn->sock->sk;

	return (!conn->tls || khttpd_ktls_flushed(sk)) && khttpd_offered(sk);
}

/* With TLS the end is said before our half ends (RFC 8446 section 6.1). Return: false if
 * there is no room for that yet.
 */
static bool khttpd_close_bye(struct khttpd_conn *conn)
{
	if (conn->tls && !conn->bye)
		conn->bye = khttpd_ktls_bye(conn->sock, &conn->alert) != -EAGAIN;
	return !conn->tls || conn->bye;
}

/* End our half. Behind the FIN TLS could send nothing. */
static void khttpd_close_shut(struct khttpd_conn *conn)
{
	if (conn->shut || !khttpd_close_bye(conn) ||
	    (conn->tls && !khttpd_ktls_flushed(conn->sock->sk)))
		return;
	conn->shut = true;
	kernel_sock_shutdown(conn->sock, SHUT_WR);
}

/**
 * khttpd_close() - close a connection
 * @conn: the connection; may be gone afterwards
 * @abort: its peer is to know that something is lost
 *
 * A worker may never be done: all that it gets to see is the memory, which stays until then. No
 * listener and no namespace waits for that.
 *
 * Context: its thread.
 */
void khttpd_close(struct khttpd_conn *conn, bool abort)
{
	/* Its request has no answer. */
	abort |= khttpd_conn_at_work(conn);
	if (abort)
		khttpd_count(aborted);
	else
		khttpd_close_bye(conn);
	khttpd_count(closed);
	khttpd_conn_release(conn);
	if (unlikely(conn->first))
		khttpd_transport_forget(conn->sock->sk, conn->first);
	conn->first = NULL;
	khttpd_transport_close(conn->sock, abort);
	conn->sock = NULL;
	khttpd_peer_put(conn->peer);
	conn->peer = NULL;
	khttpd_listener_conn_done(conn->listener);
	conn->state = KHTTPD_CONN_DEAD;
	khttpd_conn_bury(conn);
}

static u64 khttpd_close_acked(const struct khttpd_conn *conn)
{
	return READ_ONCE(tcp_sk(conn->sock->sk)->bytes_acked);
}

/**
 * khttpd_close_press() - from now on the peer must take what is in the socket
 * @conn: the connection
 *
 * Context: its thread.
 */
void khttpd_close_press(struct khttpd_conn *conn)
{
	conn->acked = khttpd_close_acked(conn);
	khttpd_timer_set(conn, KHTTPD_TIMER_SEND);
}

/* Has the peer taken enough of its reply to have as much time again? */
static bool khttpd_close_fast(const struct khttpd_conn *conn)
{
	u64 taken = khttpd_close_acked(conn) - conn->acked;
	u64 least = div_u64((u64)READ_ONCE(khttpd_limits.send_rate) *
			    READ_ONCE(khttpd_limits.send_timeout),
			    MSEC_PER_SEC);

	return taken >= max(least, 1ULL);
}

/* Wait for the end of what the peer sends. All that time has an end, too. */
static void khttpd_close_await(struct khttpd_conn *conn)
{
	if (conn->timer_kind != KHTTPD_TIMER_LINGER)
		conn->linger_end = jiffies +
				   msecs_to_jiffies(READ_ONCE(khttpd_limits.linger_time));
	else if (!time_before(jiffies, conn->linger_end))
		return;
	khttpd_timer_set(conn, KHTTPD_TIMER_LINGER);
}

/* End our half. The bytes in the socket are the connection's until the peer has room for them. If
 * it were closed before, they would be there for as long as the peer likes, within no limit.
 */
static void khttpd_close_linger(struct khttpd_conn *conn)
{
	khttpd_close_shut(conn);
	conn->state = KHTTPD_CONN_LINGER;
	if (khttpd_close_offered(conn))
		khttpd_close_await(conn);
	else
		khttpd_close_press(conn);
	khttpd_conn_kick(conn);
}

/* Has TCP lost, with the connection, what was in the socket? It may do so at any moment. */
static bool khttpd_close_cut(const struct khttpd_conn *conn)
{
	const struct sock *sk = conn->sock->sk;

	/* Who has seen TCP_CLOSE sees the error. Pairs with smp_wmb() in tcp_reset(), and in
	 * net6's net6_tcp_done_with_error().
	 */
	smp_rmb();
	return READ_ONCE(sk->sk_err) && khttpd_unacked(sk);
}

/**
 * khttpd_close_end() - nothing is left to say or to read
 * @conn: the connection; may be gone afterwards
 *
 * Context: its thread.
 */
void khttpd_close_end(struct khttpd_conn *conn)
{
	if (khttpd_close_cut(conn) || (khttpd_close_bye(conn) && khttpd_close_offered(conn)))
		khttpd_close(conn, khttpd_close_cut(conn));
	else
		khttpd_close_linger(conn);
}

/**
 * khttpd_close_finish() - the last reply is in the socket
 * @conn: the connection; may be gone afterwards
 *
 * If the peer may still be sending, TCP would reset a connection that is closed at once, and the
 * reply would be lost (RFC 9112 section 9.6). So end our half, and read on for a while.
 *
 * Context: its thread.
 */
void khttpd_close_finish(struct khttpd_conn *conn)
{
	struct sock *sk = conn->sock->sk;
	bool empty = skb_queue_empty_lockless(&sk->sk_receive_queue) &&
		     !(conn->tls && khttpd_ktls_readable(sk));

	if (!empty)
		conn->unread = true;
	if (empty && (conn->eof || !conn->unread))
		khttpd_close_end(conn);
	else
		khttpd_close_linger(conn);
}

/* All that a lingering peer has sent is thrown away: is there more to wait for? @more says
 * that there was something.
 */
static void khttpd_close_settle(struct khttpd_conn *conn, bool more)
{
	if (conn->timer_kind == KHTTPD_TIMER_SEND && !khttpd_close_offered(conn))
		return;
	if (conn->eof || !conn->unread)
		khttpd_close(conn, khttpd_close_cut(conn));
	else if (conn->timer_kind != KHTTPD_TIMER_LINGER || more)
		khttpd_close_await(conn);
}

/**
 * khttpd_close_drain() - throw away what a lingering peer sends, until its FIN
 * @conn: the connection; may be gone afterwards
 *
 * Context: its thread.
 */
void khttpd_close_drain(struct khttpd_conn *conn)
{
	int i, n = 0;

	khttpd_close_shut(conn);
	for (i = 0; i < 16; i++) {
		n = conn->tls ? khttpd_ktls_recv(conn->sock, conn->thread->buf,
						 KHTTPD_BUFFER_SIZE, false, &conn->alert) :
				khttpd_transport_recv(conn->sock, conn->thread->buf,
						      KHTTPD_BUFFER_SIZE, false);
		if (n <= 0)
			break;
		conn->unread = true;
	}
	if (n > 0) {
		if (conn->timer_kind == KHTTPD_TIMER_LINGER)
			khttpd_close_await(conn);
		khttpd_conn_kick(conn);
	} else if (n && n != -EAGAIN) {
		khttpd_close(conn, khttpd_unacked(conn->sock->sk));
	} else {
		conn->eof |= !n;
		khttpd_close_settle(conn, i);
	}
}

/* The time is over in which the peer was to take something. */
static void khttpd_close_expire_send(struct khttpd_conn *conn)
{
	struct sock *sk = conn->sock->sk;

	if (conn->state == KHTTPD_CONN_READ && !khttpd_unacked(sk)) {
		khttpd_timer_set(conn, KHTTPD_TIMER_REST);
	} else if (conn->state == KHTTPD_CONN_LINGER && khttpd_close_offered(conn)) {
		khttpd_close_settle(conn, false);
	} else if (khttpd_close_fast(conn)) {
		khttpd_close_press(conn);
	} else {
		khttpd_count(timeout_send);
		khttpd_close(conn, true);
	}
}

/**
 * khttpd_close_expire() - its timer has run out
 * @conn: the connection; may be gone afterwards
 *
 * Context: its thread.
 */
void khttpd_close_expire(struct khttpd_conn *conn)
{
	switch (conn->timer_kind) {
	case KHTTPD_TIMER_SEND:
		khttpd_close_expire_send(conn);
		return;
	case KHTTPD_TIMER_IDLE:
		/* The reply before has been in the socket for all that time. */
		if (khttpd_unacked(conn->sock->sk))
			khttpd_close_press(conn);
		else
			khttpd_timer_set(conn, KHTTPD_TIMER_REST);
		return;
	case KHTTPD_TIMER_HEAD:
		khttpd_count(timeout_head);
		break;
	case KHTTPD_TIMER_REST:
		khttpd_count(timeout_idle);
		break;
	case KHTTPD_TIMER_LINGER:
		khttpd_count(timeout_linger);
		break;
	}
	khttpd_close_end(conn);
}
