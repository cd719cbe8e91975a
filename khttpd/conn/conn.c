// SPDX-License-Identifier: GPL-2.0
/* A connection's life: born from accept, driven by its thread, handed over or closed. Only the
 * owning thread touches it. The socket's wait queue entry alone runs elsewhere, and it only puts
 * the connection into the thread's ready list. A connection is freed when it is closed and in no
 * list, and no worker is at work for it.
 */
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/wait_bit.h>
#include <net/sock.h>
#include "../listen/handover.h"
#include "../listen/listener.h"
#include "../listen/peer.h"
#include "../listen/proxied.h"
#include "../listen/tls.h"
#include "../soft/soft.h"
#include "conn.h"
#include "ktls.h"
#include "taken.h"

static struct kmem_cache *khttpd_conn_cache;
static atomic_t khttpd_conn_count;

/**
 * khttpd_conns_count() - connections in existence
 *
 * Return: how many, those that wait for a server's accept() or for TLS included.
 */
u32 khttpd_conns_count(void)
{
	return atomic_read(&khttpd_conn_count) + khttpd_softlists_conns() + khttpd_tls_pending();
}

/**
 * khttpd_conns_full() - are there as many connections as there may be?
 *
 * Other processors are asked only near the limit. Context: any.
 */
bool khttpd_conns_full(void)
{
	u32 others = atomic_read(&khttpd_conn_count) + khttpd_tls_pending();
	u32 limit = READ_ONCE(khttpd_limits.max_connections);

	return others >= limit || khttpd_softlists_full(limit - others);
}

/**
 * khttpd_conn_kick() - have a connection run by its thread
 * @conn: the connection
 *
 * Context: any.
 */
void khttpd_conn_kick(struct khttpd_conn *conn)
{
	if (!test_and_set_bit(KHTTPD_CONN_QUEUED, &conn->flags))
		khttpd_thread_kick_conn(conn->thread, conn);
}

/* Something happened at the socket. Context: its wait queue's lock is held. */
static int khttpd_conn_wake(wait_queue_entry_t *wait, unsigned int mode,
			    int flags, void *key)
{
	khttpd_conn_kick(container_of(wait, struct khttpd_conn, wait));
	return 0;
}

/**
 * khttpd_conn_adopt() - begin to look after a connection
 * @conn: the connection, in nobody's list
 *
 * Context: its thread, or before the thread knows it.
 */
void khttpd_conn_adopt(struct khttpd_conn *conn)
{
	struct khttpd_thread *thread = conn->thread;

	list_add_tail(&conn->all, &thread->conns);
	WRITE_ONCE(thread->count, thread->count + 1);
	add_wait_queue(&conn->sock->wq.wait, &conn->wait);
}

/* Stop looking after it. No wake-up comes any more when this returns. */
static void khttpd_conn_release(struct khttpd_conn *conn)
{
	struct khttpd_thread *thread = conn->thread;

	remove_wait_queue(&conn->sock->wq.wait, &conn->wait);
	khttpd_timer_set(conn, KHTTPD_TIMER_NONE);
	list_del_init(&conn->all);
	WRITE_ONCE(thread->count, thread->count - 1);
}

/* Nobody's yet, not even the thread's. Return: NULL without memory. */
static struct khttpd_conn *khttpd_conn_alloc(struct khttpd_listener *listener,
					     struct socket *sock, struct khttpd_thread *thread,
					     struct khttpd_peer *peer)
{
	struct khttpd_conn *conn;

	conn = kmem_cache_zalloc(khttpd_conn_cache, GFP_KERNEL);
	if (!conn)
		return NULL;
	init_waitqueue_func_entry(&conn->wait, khttpd_conn_wake);
	INIT_LIST_HEAD(&conn->all);
	INIT_LIST_HEAD(&conn->timer);
	conn->timer_kind = KHTTPD_TIMER_NONE;
	conn->thread = thread;
	conn->sock = sock;
	conn->peer = peer;
	conn->nodelay = listener->nodelay;
	conn->tls = listener->tls;
	refcount_inc(&listener->refs);
	conn->listener = listener;
	atomic_inc(&listener->connections);
	atomic_inc(&khttpd_conn_count);
	return conn;
}

/**
 * khttpd_conn_create() - a connection for an accepted socket
 * @listener: where it came from
 * @sock: the socket; the connection's on success
 * @thread: who will own it
 * @peer: its client, or NULL; the connection's on success
 * @client: for whom a trusted proxy speaks, or NULL; the connection's on success
 * @state: KHTTPD_CONN_NEW, _PROXY or _SLOW, _HANDOVER to give it away unseen, or _REFUSE
 *
 * The new connection is kicked: its thread adopts it.
 *
 * Context: process.
 * Return: false without memory.
 */
bool khttpd_conn_create(struct khttpd_listener *listener, struct socket *sock,
			struct khttpd_thread *thread, struct khttpd_peer *peer,
			struct khttpd_endpoint *client, enum khttpd_conn_state state)
{
	struct khttpd_conn *conn = khttpd_conn_alloc(listener, sock, thread, peer);

	if (!conn)
		return false;
	conn->state = state;
	conn->client = client;
	conn->proxy = state == KHTTPD_CONN_PROXY;
	conn->tls = listener->tls && !conn->proxy;
	/* Clients that are sent elsewhere are none of a server's. */
	conn->server = listener->attached ||
		       (!listener->redirect && khttpd_backend_exists(listener));
	khttpd_conn_kick(conn);
	return true;
}

/**
 * khttpd_conn_create_given() - a connection that a server gives back
 * @listener: where it came from, attached
 * @sock: the socket; the connection's on success
 * @peer: its client, or NULL; the connection's on success
 * @head: a request that is to be answered first (kmalloc); the connection's on success
 * @len: its length
 *
 * Context: process.
 * Return: false without memory.
 */
bool khttpd_conn_create_given(struct khttpd_listener *listener, struct socket *sock,
			      struct khttpd_peer *peer, u8 *head, u32 len)
{
	struct khttpd_conn *conn = khttpd_conn_alloc(listener, sock, khttpd_thread_choose(), peer);

	if (!conn)
		return false;
	conn->state = KHTTPD_CONN_NEW;
	conn->given = true;
	/* It was, when its head came. */
	conn->counted = true;
	conn->buf = head;
	conn->buf_size = len;
	conn->buf_len = len;
	khttpd_conn_kick(conn);
	return true;
}

/**
 * khttpd_conn_free() - the end of a connection's memory
 * @conn: closed or handed over, in no list
 */
void khttpd_conn_free(struct khttpd_conn *conn)
{
	kfree(conn->buf);
	khttpd_out_clear(&conn->out);
	khttpd_peer_put(conn->peer);
	kfree(conn->client);
	khttpd_listener_put(conn->listener);
	kmem_cache_free(khttpd_conn_cache, conn);
	if (atomic_dec_and_test(&khttpd_conn_count))
		wake_up_var(&khttpd_conn_count);
}

/**
 * khttpd_conns_wait() - wait until no connection is left
 *
 * Context: process; somebody has asked the threads to close them all.
 */
void khttpd_conns_wait(void)
{
	wait_var_event(&khttpd_conn_count, !atomic_read(&khttpd_conn_count));
}

static bool khttpd_conn_at_work(const struct khttpd_conn *conn)
{
	return conn->job && !conn->job->done;
}

/* Free a closed connection, unless it is still to come in the ready list, as it will when
 * its worker is done.
 */
static void khttpd_conn_bury(struct khttpd_conn *conn)
{
	if (khttpd_conn_at_work(conn) ||
	    test_bit(KHTTPD_CONN_QUEUED, &conn->flags))
		return;
	khttpd_job_drop(conn);
	khttpd_conn_free(conn);
}

/**
 * khttpd_conn_recv() - take or look at what its peer has sent, without waiting
 * @conn: the connection
 * @buf: where to
 * @len: at most
 * @peek: leave it in the socket
 *
 * Return: as khttpd_transport_recv().
 */
int khttpd_conn_recv(struct khttpd_conn *conn, void *buf, size_t len, bool peek)
{
	if (conn->tls)
		return khttpd_ktls_recv(conn->sock, buf, len, peek);
	if (peek)
		return khttpd_transport_recv(conn->sock, buf, len, true);
	return khttpd_transport_take(conn->sock, buf, len);
}

/* Has TCP all, and the peer room for it? As khttpd_offered(), with TLS's records. */
static bool khttpd_conn_offered(const struct khttpd_conn *conn)
{
	struct sock *sk = conn->sock->sk;

	return (!conn->tls || khttpd_ktls_flushed(sk)) && khttpd_offered(sk);
}

/* With TLS the end is said before our half ends (RFC 8446 section 6.1). Return: false if
 * there is no room for that yet.
 */
static bool khttpd_conn_bye(struct khttpd_conn *conn)
{
	if (conn->tls && !conn->bye)
		conn->bye = khttpd_ktls_bye(conn->sock) != -EAGAIN;
	return !conn->tls || conn->bye;
}

/* End our half. Behind the FIN TLS could send nothing. */
static void khttpd_conn_shut(struct khttpd_conn *conn)
{
	if (conn->shut || !khttpd_conn_bye(conn) ||
	    (conn->tls && !khttpd_ktls_flushed(conn->sock->sk)))
		return;
	conn->shut = true;
	kernel_sock_shutdown(conn->sock, SHUT_WR);
}

/* Close. A worker may never be done: all that it gets to see is the memory, which stays
 * until then. No listener and no namespace waits for that.
 */
static void khttpd_conn_close(struct khttpd_conn *conn, bool abort)
{
	/* Its request has no answer. */
	abort |= khttpd_conn_at_work(conn);
	if (abort)
		khttpd_count(aborted);
	else
		khttpd_conn_bye(conn);
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

static u64 khttpd_conn_acked(const struct khttpd_conn *conn)
{
	return READ_ONCE(tcp_sk(conn->sock->sk)->bytes_acked);
}

/* From now on the peer must take what is in the socket. */
static void khttpd_conn_press(struct khttpd_conn *conn)
{
	conn->acked = khttpd_conn_acked(conn);
	khttpd_timer_set(conn, KHTTPD_TIMER_SEND);
}

/* Has the peer taken enough of its reply to have as much time again? */
static bool khttpd_conn_fast(const struct khttpd_conn *conn)
{
	u64 taken = khttpd_conn_acked(conn) - conn->acked;
	u64 least = div_u64((u64)READ_ONCE(khttpd_limits.send_rate) *
			    READ_ONCE(khttpd_limits.send_timeout),
			    MSEC_PER_SEC);

	return taken >= max(least, 1ULL);
}

/* Wait for the end of what the peer sends. All that time has an end, too. */
static void khttpd_conn_await_end(struct khttpd_conn *conn)
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
static void khttpd_conn_linger(struct khttpd_conn *conn)
{
	khttpd_conn_shut(conn);
	conn->state = KHTTPD_CONN_LINGER;
	if (khttpd_conn_offered(conn))
		khttpd_conn_await_end(conn);
	else
		khttpd_conn_press(conn);
	khttpd_conn_kick(conn);
}

/* Has TCP lost, with the connection, what was in the socket? It may do so at any moment. */
static bool khttpd_conn_cut(const struct khttpd_conn *conn)
{
	const struct sock *sk = conn->sock->sk;

	/* Who has seen TCP_CLOSE sees the error. Pairs with smp_wmb() in tcp_reset(), and in
	 * net6's net6_tcp_done_with_error().
	 */
	smp_rmb();
	return READ_ONCE(sk->sk_err) && khttpd_unacked(sk);
}

/* Nothing is left to say or to read. */
static void khttpd_conn_end(struct khttpd_conn *conn)
{
	if (khttpd_conn_cut(conn) || (khttpd_conn_bye(conn) && khttpd_conn_offered(conn)))
		khttpd_conn_close(conn, khttpd_conn_cut(conn));
	else
		khttpd_conn_linger(conn);
}

/* The last reply is in the socket. If the peer may still be sending, TCP would reset a connection
 * that is closed at once, and the reply would be lost (RFC 9112 section 9.6). So end our half,
 * and read on for a while.
 */
static void khttpd_conn_finish(struct khttpd_conn *conn)
{
	struct sock *sk = conn->sock->sk;
	bool empty = skb_queue_empty_lockless(&sk->sk_receive_queue) &&
		     !(conn->tls && khttpd_ktls_readable(sk));

	if (!empty)
		conn->unread = true;
	if (empty && (conn->eof || !conn->unread))
		khttpd_conn_end(conn);
	else
		khttpd_conn_linger(conn);
}

/* All that a lingering peer has sent is thrown away: is there more to wait for? @more says
 * that there was something.
 */
static void khttpd_conn_settle_linger(struct khttpd_conn *conn, bool more)
{
	if (conn->timer_kind == KHTTPD_TIMER_SEND && !khttpd_conn_offered(conn))
		return;
	if (conn->eof || !conn->unread)
		khttpd_conn_close(conn, khttpd_conn_cut(conn));
	else if (conn->timer_kind != KHTTPD_TIMER_LINGER || more)
		khttpd_conn_await_end(conn);
}

/* Throw away what a lingering peer sends, until its FIN. */
static void khttpd_conn_drain(struct khttpd_conn *conn)
{
	int i, n = 0;

	khttpd_conn_shut(conn);
	for (i = 0; i < 16; i++) {
		n = conn->tls ? khttpd_ktls_recv(conn->sock, conn->thread->buf,
						 KHTTPD_BUFFER_SIZE, false) :
				khttpd_transport_recv(conn->sock, conn->thread->buf,
						      KHTTPD_BUFFER_SIZE, false);
		if (n <= 0)
			break;
		conn->unread = true;
	}
	if (n > 0) {
		if (conn->timer_kind == KHTTPD_TIMER_LINGER)
			khttpd_conn_await_end(conn);
		khttpd_conn_kick(conn);
	} else if (n && n != -EAGAIN) {
		khttpd_conn_close(conn, khttpd_unacked(conn->sock->sk));
	} else {
		conn->eof |= !n;
		khttpd_conn_settle_linger(conn, i);
	}
}

/* Put it into the server's queue, or have it refused. */
static void khttpd_conn_push(struct khttpd_conn *conn)
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
static void khttpd_conn_handover(struct khttpd_conn *conn)
{
	khttpd_job_drop(conn);
	conn->state = KHTTPD_CONN_HANDOVER;
	khttpd_conn_release(conn);
	/* Linked in the ready list it cannot go: it will be run once more. */
	if (!test_bit(KHTTPD_CONN_QUEUED, &conn->flags))
		khttpd_conn_push(conn);
}

/* Is what waits in the socket a HEAD? Nothing of it has been taken. */
static bool khttpd_conn_asks_head(struct khttpd_conn *conn)
{
	char word[5];

	return khttpd_transport_recv(conn->sock, word, sizeof(word), true) ==
	       sizeof(word) && !memcmp(word, "HEAD ", sizeof(word));
}

/* No server has room for it. Once more when a worker has found the page for that. */
static enum khttpd_step khttpd_conn_refuse(struct khttpd_conn *conn)
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
		if (khttpd_conn_asks_head(conn))
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
static enum khttpd_step khttpd_conn_job_done(struct khttpd_conn *conn)
{
	struct khttpd_out *out = &conn->out;
	struct khttpd_job *job = conn->job;

	/* A lookup: khttpd_respond() takes the result. */
	if (job->lookup)
		return conn->refused ? khttpd_conn_refuse(conn) :
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
static enum khttpd_step khttpd_conn_next(struct khttpd_conn *conn,
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
static bool khttpd_conn_sending(const struct khttpd_conn *conn)
{
	return conn->out.text || conn->out.entry;
}

/* Would something be lost, or left to TCP for as long as the peer likes? */
static bool khttpd_conn_owes(const struct khttpd_conn *conn)
{
	return khttpd_conn_sending(conn) || !khttpd_conn_offered(conn);
}

/* Wait for room, or go on reading. How much the peer takes is looked at when the time is over.
 */
static void khttpd_conn_settle_out(struct khttpd_conn *conn)
{
	if (!khttpd_conn_sending(conn)) {
		conn->state = KHTTPD_CONN_READ;
		return;
	}
	conn->state = KHTTPD_CONN_SEND;
	conn->streak = 0;
	if (conn->timer_kind != KHTTPD_TIMER_SEND)
		khttpd_conn_press(conn);
}

/* What comes next can be answered in softirq. Return: false if it stays the thread's. */
static bool khttpd_conn_return(struct khttpd_conn *conn)
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
static void khttpd_conn_shake(struct khttpd_conn *conn)
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
static void khttpd_conn_settle_wait(struct khttpd_conn *conn)
{
	if (conn->answered && conn->streak >= KHTTPD_CONN_STREAK && khttpd_conn_return(conn))
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
static enum khttpd_step khttpd_conn_last(const struct khttpd_conn *conn,
					 enum khttpd_step step)
{
	switch (step) {
	case KHTTPD_STEP_BLOCKED:
	case KHTTPD_STEP_AGAIN:
	case KHTTPD_STEP_JOB:
		return KHTTPD_STEP_ABORT;
	case KHTTPD_STEP_FINISH:
	case KHTTPD_STEP_CLOSE:
		if (!khttpd_conn_offered(conn))
			return KHTTPD_STEP_ABORT;
		return conn->listener->attached ? step : KHTTPD_STEP_CLOSE;
	default:
		return step;
	}
}

static void khttpd_conn_settle(struct khttpd_conn *conn, enum khttpd_step step)
{
	if (unlikely(READ_ONCE(conn->listener->closing)))
		step = khttpd_conn_last(conn, step);
	switch (step) {
	case KHTTPD_STEP_WAIT:
		khttpd_conn_settle_wait(conn);
		break;
	case KHTTPD_STEP_AGAIN:
		if (conn->answered && !khttpd_conn_sending(conn) &&
		    conn->timer_kind != KHTTPD_TIMER_HEAD)
			khttpd_timer_set(conn, KHTTPD_TIMER_NONE);
		khttpd_conn_kick(conn);
		fallthrough;
	case KHTTPD_STEP_BLOCKED:
		khttpd_conn_settle_out(conn);
		break;
	case KHTTPD_STEP_JOB:
		conn->state = KHTTPD_CONN_JOB;
		khttpd_timer_set(conn, KHTTPD_TIMER_NONE);
		break;
	case KHTTPD_STEP_HANDOVER:
		khttpd_conn_handover(conn);
		break;
	case KHTTPD_STEP_SHAKE:
		khttpd_conn_shake(conn);
		break;
	case KHTTPD_STEP_FINISH:
		khttpd_conn_finish(conn);
		break;
	case KHTTPD_STEP_CLOSE:
		khttpd_conn_end(conn);
		break;
	case KHTTPD_STEP_ABORT:
		khttpd_conn_close(conn, true);
		break;
	}
}

/* It has a reply in the socket that its peer does not take. No more is to be said if our half has
 * ended, or if the server it came from has gone.
 */
static enum khttpd_step khttpd_conn_begin_slow(struct khttpd_conn *conn)
{
	const struct khttpd_listener *listener = conn->listener;

	khttpd_conn_adopt(conn);
	khttpd_conn_press(conn);
	if (READ_ONCE(conn->sock->sk->sk_shutdown) & SEND_SHUTDOWN ||
	    (listener->attached && READ_ONCE(listener->stopped)))
		return KHTTPD_STEP_FINISH;
	return KHTTPD_STEP_WAIT;
}

/**
 * khttpd_conn_run() - do what can be done for a connection now
 * @conn: from the ready list, no longer linked in it; may be gone afterwards
 *
 * Context: its thread.
 */
void khttpd_conn_run(struct khttpd_conn *conn)
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
		step = khttpd_conn_begin_slow(conn);
		break;
	case KHTTPD_CONN_LINGER:
		khttpd_conn_drain(conn);
		return;
	case KHTTPD_CONN_HANDOVER:
		khttpd_conn_push(conn);
		return;
	case KHTTPD_CONN_JOB:
		if (khttpd_conn_at_work(conn))
			return;
		step = khttpd_conn_job_done(conn);
		break;
	case KHTTPD_CONN_SEND:
		step = khttpd_out_send(conn);
		break;
	case KHTTPD_CONN_REFUSE:
		step = khttpd_conn_refuse(conn);
		break;
	}
	khttpd_conn_settle(conn, khttpd_conn_next(conn, step));
}

/* The time is over in which the peer was to take something. */
static void khttpd_conn_expire_send(struct khttpd_conn *conn)
{
	struct sock *sk = conn->sock->sk;

	if (conn->state == KHTTPD_CONN_READ && !khttpd_unacked(sk)) {
		khttpd_timer_set(conn, KHTTPD_TIMER_REST);
	} else if (conn->state == KHTTPD_CONN_LINGER && khttpd_conn_offered(conn)) {
		khttpd_conn_settle_linger(conn, false);
	} else if (khttpd_conn_fast(conn)) {
		khttpd_conn_press(conn);
	} else {
		khttpd_count(timeout_send);
		khttpd_conn_close(conn, true);
	}
}

/**
 * khttpd_conn_expire() - its timer has run out
 * @conn: the connection; may be gone afterwards
 *
 * Context: its thread.
 */
void khttpd_conn_expire(struct khttpd_conn *conn)
{
	switch (conn->timer_kind) {
	case KHTTPD_TIMER_SEND:
		khttpd_conn_expire_send(conn);
		return;
	case KHTTPD_TIMER_IDLE:
		/* The reply before has been in the socket for all that time. */
		if (khttpd_unacked(conn->sock->sk))
			khttpd_conn_press(conn);
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
	khttpd_conn_end(conn);
}

/**
 * khttpd_conn_scan() - part with a connection whose listener has stopped
 * @conn: any connection of the thread; may be gone afterwards
 * @all: close it whatever it does
 *
 * A server's connection goes to the server as soon as no reply is under way. If there is no
 * server any more it is closed then, as one of our own is.
 *
 * Context: its thread.
 */
void khttpd_conn_scan(struct khttpd_conn *conn, bool all)
{
	struct khttpd_listener *listener = conn->listener;

	if (!READ_ONCE(listener->stopped))
		return;
	if (all || (READ_ONCE(listener->closing) &&
		    (!listener->attached || conn->timer_kind != KHTTPD_TIMER_LINGER)))
		khttpd_conn_close(conn, khttpd_conn_owes(conn));
	else if (conn->state != KHTTPD_CONN_READ)
		return;
	else if (!listener->attached || READ_ONCE(listener->gone))
		khttpd_conn_end(conn);
	else
		khttpd_conn_handover(conn);
}

/**
 * khttpd_conns_init() - prepare for connections
 *
 * Return: 0 or -ENOMEM.
 */
int khttpd_conns_init(void)
{
	khttpd_conn_cache = KMEM_CACHE(khttpd_conn, SLAB_HWCACHE_ALIGN);
	return khttpd_conn_cache ? 0 : -ENOMEM;
}

/**
 * khttpd_conns_exit() - all connections are gone
 */
void khttpd_conns_exit(void)
{
	WARN_ON(atomic_read(&khttpd_conn_count));
	kmem_cache_destroy(khttpd_conn_cache);
}
