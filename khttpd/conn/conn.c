// SPDX-License-Identifier: GPL-2.0
/* A connection: made for a socket, known to its thread, freed. Only the owning thread touches it.
 * The socket's wait queue entry alone runs elsewhere, and it only puts the connection into the
 * thread's ready list. A connection is freed when it is closed and in no list, and no worker is at
 * work for it.
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <net/sock.h>
#include "../listen/handover.h"
#include "../listen/listener.h"
#include "../listen/peer.h"
#include "../listen/tls.h"
#include "../soft/soft.h"
#include "conn.h"
#include "ktls.h"

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

/**
 * khttpd_conn_release() - stop looking after a connection
 * @conn: the connection
 *
 * No wake-up comes any more when this returns.
 *
 * Context: its thread.
 */
void khttpd_conn_release(struct khttpd_conn *conn)
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
 * @first: what a server reads before what is in the socket, or NULL; the same
 * @state: KHTTPD_CONN_NEW, _PROXY or _SLOW, _HANDOVER to give it away unseen, or _REFUSE
 *
 * The new connection is kicked: its thread adopts it.
 *
 * Context: process.
 * Return: false without memory.
 */
bool khttpd_conn_create(struct khttpd_listener *listener, struct socket *sock,
			struct khttpd_thread *thread, struct khttpd_peer *peer,
			struct khttpd_endpoint *client, struct sk_buff *first,
			enum khttpd_conn_state state)
{
	struct khttpd_conn *conn = khttpd_conn_alloc(listener, sock, thread, peer);

	if (!conn)
		return false;
	conn->state = state;
	conn->client = client;
	conn->first = first;
	conn->proxy = state == KHTTPD_CONN_PROXY;
	conn->tls = listener->tls && !conn->proxy;
	/* Clients that are sent elsewhere are none of a server's. */
	conn->server = listener->attached ||
		       (!listener->redirect && khttpd_backend_exists(listener));
	khttpd_conn_kick(conn);
	return true;
}

/**
 * khttpd_conn_reserve() - memory for a connection that a server may give back
 * @listener: where it came from
 *
 * It counts as a connection already, of the listener and in sum.
 *
 * Context: process.
 * Return: NULL without memory.
 */
struct khttpd_conn *khttpd_conn_reserve(struct khttpd_listener *listener)
{
	return khttpd_conn_alloc(listener, NULL, khttpd_thread_choose(), NULL);
}

/**
 * khttpd_conn_unreserve() - it does not give it back
 * @conn: from khttpd_conn_reserve(); the caller has a reference to the listener
 */
void khttpd_conn_unreserve(struct khttpd_conn *conn)
{
	khttpd_listener_conn_done(conn->listener);
	khttpd_conn_free(conn);
}

/**
 * khttpd_conn_begin_given() - a connection that a server has given back is served
 * @given: what there is of it; all is the connection's
 *
 * Context: process.
 */
void khttpd_conn_begin_given(const struct khttpd_given *given)
{
	struct khttpd_conn *conn = given->conn;

	conn->sock = given->sock;
	conn->peer = given->peer;
	conn->state = KHTTPD_CONN_NEW;
	conn->given = true;
	/* It was, when its head came. */
	conn->counted = true;
	conn->client = given->client;
	conn->first = given->first;
	conn->buf = given->head;
	conn->buf_size = given->len;
	conn->buf_len = given->len;
	khttpd_conn_kick(conn);
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

/**
 * khttpd_conn_at_work() - has a connection a worker that is not done?
 * @conn: the connection
 *
 * Context: its thread.
 */
bool khttpd_conn_at_work(const struct khttpd_conn *conn)
{
	return conn->job && !conn->job->done;
}

/**
 * khttpd_conn_bury() - free a closed connection, unless it is still to come in the ready list
 * @conn: the connection, in no other list; may be gone afterwards
 *
 * There it will be when its worker is done.
 *
 * Context: its thread.
 */
void khttpd_conn_bury(struct khttpd_conn *conn)
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
		return khttpd_ktls_recv(conn->sock, buf, len, peek, &conn->alert);
	if (peek)
		return khttpd_transport_recv(conn->sock, buf, len, true);
	return khttpd_transport_take(conn->sock, buf, len);
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
