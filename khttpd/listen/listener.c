// SPDX-License-Identifier: GPL-2.0
/* Listening sockets, our own and those of servers we are attached to: wake-ups
 * through their wait queue, accepting, stopping. Own ones do not hold their
 * network namespace; it takes them down when it goes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/timer.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include "../compat/accept.h"
#include "../compat/sock.h"
#include "../conn/conn.h"
#include "../conn/ktls.h"
#include "../files/vhost.h"
#include "../soft/soft.h"
#include "handover.h"
#include "listener.h"
#include "mptcp.h"
#include "peer.h"
#include "proxied.h"
#include "tls.h"

/* Connections accepted before the thread looks at its other work. */
#define KHTTPD_ACCEPT_BUDGET	64
/* Until it is tried again to accept one for which there was no memory. */
#define KHTTPD_ACCEPT_PAUSE	(HZ / 10)

static LIST_HEAD(khttpd_listeners);
static DEFINE_MUTEX(khttpd_listeners_lock);	/* khttpd_listeners */

/**
 * khttpd_listener_put() - give a reference back
 * @listener: the listener
 *
 * Context: process.
 */
void khttpd_listener_put(struct khttpd_listener *listener)
{
	if (!refcount_dec_and_test(&listener->refs))
		return;
	khttpd_site_put(rcu_dereference_protected(listener->site, true));
	if (listener->mptcp)
		sock_put(listener->mptcp);
	kfree_rcu(listener, rcu);
}

/**
 * khttpd_listener_kick() - have connections accepted by this CPU's thread
 * @listener: the listener, referenced
 *
 * Context: any.
 */
void khttpd_listener_kick(struct khttpd_listener *listener)
{
	if (test_and_set_bit(KHTTPD_LISTENER_QUEUED, &listener->flags))
		return;
	refcount_inc(&listener->refs);
	khttpd_thread_kick_listener(khttpd_thread_here(), listener);
}

/* A connection came, or something is for a server. Its own sleepers are woken
 * only if there is something for them: returning 1 from an exclusive entry
 * ends the wake-up here. Context: the wait queue's lock is held.
 */
static int khttpd_listener_wake(wait_queue_entry_t *wait, unsigned int mode,
				int flags, void *key)
{
	struct khttpd_listener *listener;

	if (key_to_poll(key) & KHTTPD_WAKE_SERVER)
		return 0;
	listener = container_of(wait, struct khttpd_listener, wait);
	khttpd_listener_kick(listener);
	return listener->attached && !khttpd_handover_pending(listener);
}

/* There may be memory now. */
static void khttpd_listener_again(struct timer_list *timer)
{
	khttpd_listener_kick(container_of(timer, struct khttpd_listener, again));
}

/**
 * khttpd_listener_alloc() - a listener for a socket
 * @site: what it will serve
 * @sock: the socket
 *
 * Return: the listener with one reference, or NULL.
 */
struct khttpd_listener *khttpd_listener_alloc(struct khttpd_site *site,
					      struct socket *sock)
{
	struct khttpd_listener *listener;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return NULL;
	refcount_set(&listener->refs, 1);
	INIT_LIST_HEAD(&listener->node);
	INIT_LIST_HEAD(&listener->queue);
	INIT_HLIST_NODE(&listener->hash);
	mutex_init(&listener->accept_lock);
	mutex_init(&listener->shut_lock);
	spin_lock_init(&listener->queue_lock);
	init_waitqueue_head(&listener->idle);
	init_waitqueue_func_entry(&listener->wait, khttpd_listener_wake);
	timer_setup(&listener->again, khttpd_listener_again, 0);
	RCU_INIT_POINTER(listener->site, khttpd_site_get(site));
	listener->sock = sock;
	listener->ops = sock->ops;
	listener->conn_ops = sock->ops;
	listener->net = sock_net(sock->sk);
	return listener;
}

/**
 * khttpd_listener_watch() - begin to accept connections
 * @listener: the listener
 *
 * An attached listener's entry comes before the server's own.
 */
void khttpd_listener_watch(struct khttpd_listener *listener)
{
	wait_queue_head_t *head = &listener->sock->wq.wait;

	if (listener->attached) {
		listener->wait.flags = WQ_FLAG_EXCLUSIVE;
		add_wait_queue_priority(head, &listener->wait);
	} else {
		add_wait_queue(head, &listener->wait);
	}
	khttpd_listener_kick(listener);
}

/**
 * khttpd_listener_unwatch() - accept nothing any more
 * @listener: the listener
 *
 * Context: process. No connection is accepted after this returns.
 * Return: false if somebody else has done that before.
 */
bool khttpd_listener_unwatch(struct khttpd_listener *listener)
{
	bool first;

	mutex_lock(&listener->accept_lock);
	first = !listener->stopped;
	WRITE_ONCE(listener->stopped, true);
	WRITE_ONCE(listener->theirs, false);
	if (first) {
		remove_wait_queue(&listener->sock->wq.wait, &listener->wait);
		timer_shutdown_sync(&listener->again);
	}
	mutex_unlock(&listener->accept_lock);
	return first;
}

/* Over the limit: a server may have it, unless it has enough waiting. */
static bool khttpd_listener_overflow(struct khttpd_listener *listener)
{
	khttpd_count(connections_full);
	return listener->attached && READ_ONCE(listener->queue_len) <
		READ_ONCE(khttpd_limits.handover_queue);
}

/* A connection of MPTCP, which is not for us and must not be the server's. */
static void khttpd_listener_refuse(struct socket *sock)
{
	khttpd_count(mptcp_refused);
	khttpd_count(aborted);
	khttpd_count(closed);
	sock_no_linger(sock->sk);
	sock_release(sock);
}

/* Is the next connection for the server to take out of the queue? Then wake it. */
static bool khttpd_listener_theirs(struct khttpd_listener *listener)
	__must_hold(&listener->accept_lock)
{
	lockdep_assert_held(&listener->accept_lock);
	if (likely(!listener->mptcp) || !khttpd_mptcp_next(listener->mptcp) ||
	    khttpd_mptcp_refused(listener))
		return false;
	WRITE_ONCE(listener->theirs, true);
	/* The socket exists as long as it is not stopped. */
	khttpd_handover_wake(&listener->sock->wq.wait);
	return true;
}

/* Return: false if it is to be closed. */
static bool khttpd_listener_enter(struct khttpd_listener *listener, struct socket *sock,
				  struct khttpd_peer *peer, enum khttpd_conn_state state)
	__must_hold(&listener->accept_lock)
{
	if (listener->tls && state != KHTTPD_CONN_PROXY) {
		if (khttpd_tls_begin(listener, sock, peer, NULL))
			return true;
		khttpd_count(closed);
		return false;
	}
	if (khttpd_conn_create(listener, sock, khttpd_thread_choose(), peer, NULL, NULL,
			       state))
		return true;
	khttpd_count(no_memory);
	return false;
}

/* Take a new connection. Return: 0 or a negative errno. */
static int khttpd_listener_take(struct khttpd_listener *listener)
	__must_hold(&listener->accept_lock)
{
	struct sock *sk = listener->sock->sk;
	enum khttpd_conn_state state;
	struct khttpd_peer *peer;
	struct socket *sock;
	bool proxy;
	int err;

	err = sock_create_lite(sk->sk_family, sk->sk_type, sk->sk_protocol,
			       &sock);
	if (err) {
		khttpd_count(no_memory);
		return err;
	}
	/* A connection of another kind than its listener gets others. */
	sock->ops = listener->ops;
	err = khttpd_ops_accept(listener->ops, listener->sock, sock,
				O_NONBLOCK, !listener->attached);
	if (err) {
		sock->ops = NULL;
		sock_release(sock);
		return err;
	}
	__module_get(sock->ops->owner);
	khttpd_listener_count(listener);
	if (unlikely(sock->sk->sk_protocol != IPPROTO_TCP)) {
		khttpd_listener_refuse(sock);
		return 0;
	}

	/* A proxy has no limits: its clients have. */
	proxy = khttpd_proxied_trusts(listener, sock->sk);
	peer = proxy ? NULL : khttpd_peer_get(sock->sk, listener->tls);
	if (IS_ERR(peer)) {
		khttpd_count(address_full);
		khttpd_transport_close(sock, true);
		return 0;
	}
	state = proxy ? KHTTPD_CONN_PROXY : KHTTPD_CONN_NEW;
	if (khttpd_conns_full()) {
		if (!khttpd_listener_overflow(listener)) {
			khttpd_peer_put(peer);
			khttpd_transport_close(sock, true);
			return 0;
		}
		state = KHTTPD_CONN_HANDOVER;
	}
	if (!khttpd_listener_enter(listener, sock, peer, state)) {
		khttpd_peer_put(peer);
		khttpd_transport_close(sock, true);
	}
	return 0;
}

/**
 * khttpd_listener_unlock() - release accept_lock
 * @listener: the listener
 *
 * Connections that a thread could not accept meanwhile are accepted by this CPU's.
 */
void khttpd_listener_unlock(struct khttpd_listener *listener)
{
	mutex_unlock(&listener->accept_lock);
	/* Pairs with khttpd_listener_accept(). */
	smp_mb();
	if (unlikely(test_bit(KHTTPD_LISTENER_AGAIN, &listener->flags)) &&
	    test_and_clear_bit(KHTTPD_LISTENER_AGAIN, &listener->flags) &&
	    !READ_ONCE(listener->stopped))
		khttpd_listener_kick(listener);
}

/**
 * khttpd_listener_accept() - take what connections there are
 * @listener: the listener, no longer linked in a thread's list
 *
 * If another thread is at it, that one looks once more; this one has connections to see to.
 *
 * Context: a thread.
 */
void khttpd_listener_accept(struct khttpd_listener *listener)
{
	int i, err = 0;

	clear_bit(KHTTPD_LISTENER_QUEUED, &listener->flags);
	/* A connection that comes from here on kicks again. */
	smp_mb__after_atomic();

	if (!mutex_trylock(&listener->accept_lock)) {
		set_bit(KHTTPD_LISTENER_AGAIN, &listener->flags);
		/* Who has the lock sees that, or has released it: khttpd_listener_unlock(). */
		smp_mb__after_atomic();
		if (!mutex_trylock(&listener->accept_lock))
			return;
	}
	for (i = 0; i < KHTTPD_ACCEPT_BUDGET && !listener->stopped; i++) {
		if (khttpd_listener_theirs(listener))
			break;
		err = khttpd_listener_take(listener);
		/* A connection that is dead already is no reason to stop. */
		if (err && err != -ECONNABORTED)
			break;
	}
	if (i == KHTTPD_ACCEPT_BUDGET && !listener->stopped)
		khttpd_listener_kick(listener);
	/* Nobody tells of what is in the queue already. */
	if (err == -ENOMEM)
		mod_timer(&listener->again, jiffies + KHTTPD_ACCEPT_PAUSE);
	khttpd_listener_unlock(listener);
}

/**
 * khttpd_listener_conn_done() - a connection has left our hands
 * @listener: where it came from
 */
void khttpd_listener_conn_done(struct khttpd_listener *listener)
{
	if (atomic_dec_and_test(&listener->connections))
		wake_up_all(&listener->idle);
}

/**
 * khttpd_listener_wait() - wait until no connection is in our hands
 * @listener: a stopped listener
 * @timeout: jiffies
 *
 * Context: process.
 * Return: false if there still are some.
 */
bool khttpd_listener_wait(struct khttpd_listener *listener, long timeout)
{
	return wait_event_timeout(listener->idle,
				  !atomic_read(&listener->connections),
				  timeout);
}

static int khttpd_listener_tcp(struct socket *sock, int option, int value)
{
	int err = sock->ops->setsockopt(sock, SOL_TCP, option,
					KERNEL_SOCKPTR(&value), sizeof(value));

	/* One that is not known and one that is not possible are the same here. */
	return err == -ENOPROTOOPT ? -EOPNOTSUPP : err;
}

/* One of several sockets with the same address. */
static int khttpd_listener_share(struct socket *sock, int cpu)
{
	int on = 1, err;

	err = sock_setsockopt(sock, SOL_SOCKET, SO_REUSEPORT,
			      KERNEL_SOCKPTR(&on), sizeof(on));
	if (err)
		return err;
	return sock_setsockopt(sock, SOL_SOCKET, SO_INCOMING_CPU,
			       KERNEL_SOCKPTR(&cpu), sizeof(cpu));
}

static int khttpd_listener_options(struct socket *sock, int family,
				   const struct khttpd_sockopts *opt)
{
	int on = 1, err = 0;

	sock->sk->sk_reuse = SK_CAN_REUSE;
	/* An error of these shows up in bind(), or does not matter. */
	if (family != AF_INET)
		sock->ops->setsockopt(sock, SOL_IPV6, IPV6_V6ONLY,
				      KERNEL_SOCKPTR(&on), sizeof(on));
	khttpd_transport_nodelay(sock, 1);
	if (opt->cpu >= 0)
		err = khttpd_listener_share(sock, opt->cpu);
	if (!err && opt->defer_accept)
		err = khttpd_listener_tcp(sock, TCP_DEFER_ACCEPT,
					  opt->defer_accept);
	if (!err && opt->fastopen)
		err = khttpd_listener_tcp(sock, TCP_FASTOPEN, opt->fastopen);
	if (err == -EOPNOTSUPP)
		pr_warn("a listener's family has not got defer_accept, fastopen or reuseport\n");
	return err;
}

/**
 * khttpd_listener_create() - open a listening socket of our own
 * @site: what it serves
 * @net: network namespace
 * @family: AF_INET, AF_INET6 or AF_NET6
 * @addr: address and port
 * @addr_len: its length
 * @opt: socket options
 *
 * Context: process.
 * Return: the listener, to be given to khttpd_listener_stop(), or an error;
 * -EOPNOTSUPP if the family has not got an option.
 */
struct khttpd_listener *khttpd_listener_create(struct khttpd_site *site,
					       struct net *net, int family,
					       struct sockaddr_storage *addr,
					       int addr_len,
					       const struct khttpd_sockopts *opt)
{
	struct khttpd_listener *listener;
	struct socket *sock;
	int err;

	if (opt->tls && opt->redirect)
		return ERR_PTR(-EINVAL);
	err = sock_create_kern(net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return ERR_PTR(err);
	err = khttpd_listener_options(sock, family, opt);
	if (err)
		goto fail;
	if (opt->tls) {
		err = -EOPNOTSUPP;
		if (!khttpd_ktls_possible(sock->sk))
			goto fail;
		khttpd_ktls_prepare();
	}
	err = kernel_bind(sock, (struct sockaddr_unsized *)addr, addr_len);
	if (err)
		goto fail;
	err = kernel_listen(sock, opt->backlog);
	if (err)
		goto fail;
	err = -ENOMEM;
	listener = khttpd_listener_alloc(site, sock);
	if (!listener)
		goto fail;
	listener->nodelay = true;
	listener->tls = opt->tls;
	listener->redirect = opt->redirect;
	mutex_lock(&khttpd_listeners_lock);
	list_add(&listener->node, &khttpd_listeners);
	mutex_unlock(&khttpd_listeners_lock);
	khttpd_listener_watch(listener);
	/* Pairs with khttpd_soft_return(): connections may have been accepted already. */
	smp_store_release(&listener->soft, khttpd_soft_start(listener));
	return listener;

fail:
	sock_release(sock);
	return ERR_PTR(err);
}

/**
 * khttpd_listener_set_site() - its site takes another form
 * @listener: the listener
 * @site: from now on
 *
 * Context: process, configuration locked. The old one is to be kept by the caller
 * until a grace period has passed.
 */
void khttpd_listener_set_site(struct khttpd_listener *listener,
			      struct khttpd_site *site)
{
	struct khttpd_site *old = rcu_dereference_protected(listener->site, true);

	rcu_assign_pointer(listener->site, khttpd_site_get(site));
	khttpd_site_put(old);
}

/**
 * khttpd_listener_site() - the site for a request, with a reference
 * @listener: where it came from
 * @host: as for khttpd_vhost_search()
 * @len: its length
 *
 * Context: any.
 */
struct khttpd_site *khttpd_listener_site(const struct khttpd_listener *listener,
					 const u8 *host, size_t len)
{
	struct khttpd_site *site;

	rcu_read_lock();
	/* The site that is found has a reference for being there. */
	site = khttpd_site_get(khttpd_vhost_find(rcu_dereference(listener->site),
						 host, len));
	rcu_read_unlock();
	return site;
}

/**
 * khttpd_listener_shut() - close a listener, but not its connections
 * @listener: one of our own; may have been shut before
 *
 * Those at which no reply is under way are closed all the same.
 *
 * Context: process. The socket is closed when this returns, whoever did it.
 */
void khttpd_listener_shut(struct khttpd_listener *listener)
{
	mutex_lock(&listener->shut_lock);
	if (khttpd_listener_unwatch(listener)) {
		khttpd_soft_stop(listener->soft, false);
		sock_release(listener->sock);
		khttpd_count_add(closed, khttpd_listener_given_take(listener));
		if (listener->tls)
			khttpd_tls_stop(listener);
	}
	mutex_unlock(&listener->shut_lock);
	khttpd_threads_scan();
}

/**
 * khttpd_listener_stop() - close a listener and its connections
 * @listener: one of our own; may have been shut before
 * @deadline: jiffies until when replies under way may go on
 *
 * Context: process. Waits until no connection is left.
 */
void khttpd_listener_stop(struct khttpd_listener *listener,
			  unsigned long deadline)
{
	long left = deadline - jiffies;

	khttpd_listener_shut(listener);
	if (left <= 0 || !khttpd_listener_wait(listener, left)) {
		WRITE_ONCE(listener->closing, true);
		khttpd_threads_scan();
		wait_event(listener->idle, !atomic_read(&listener->connections));
	}
	/* Not before: a namespace that goes now must wait for its connections, too. */
	mutex_lock(&khttpd_listeners_lock);
	list_del_init(&listener->node);
	mutex_unlock(&khttpd_listeners_lock);
}

/* The first listener in @net, referenced, or NULL. */
static struct khttpd_listener *khttpd_listener_of(const struct net *net)
{
	struct khttpd_listener *listener;

	mutex_lock(&khttpd_listeners_lock);
	list_for_each_entry(listener, &khttpd_listeners, node) {
		if (!net_eq(listener->net, net))
			continue;
		refcount_inc(&listener->refs);
		mutex_unlock(&khttpd_listeners_lock);
		return listener;
	}
	mutex_unlock(&khttpd_listeners_lock);
	return NULL;
}

static void __net_exit khttpd_net_exit(struct net *net)
{
	struct khttpd_listener *listener;

	while ((listener = khttpd_listener_of(net))) {
		khttpd_listener_stop(listener, jiffies);
		khttpd_listener_put(listener);
	}
}

static struct pernet_operations khttpd_net_ops = {
	.exit = khttpd_net_exit,
};

/**
 * khttpd_listeners_init() - watch namespaces go
 *
 * As a "device", so that it comes before any protocol's exit, whatever the
 * order in which the modules were loaded.
 *
 * Return: 0 or a negative errno.
 */
int khttpd_listeners_init(void)
{
	return register_pernet_device(&khttpd_net_ops);
}

/**
 * khttpd_listeners_exit() - the counterpart; stops what is left
 */
void khttpd_listeners_exit(void)
{
	unregister_pernet_device(&khttpd_net_ops);
}
