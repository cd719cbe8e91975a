// SPDX-License-Identifier: GPL-2.0
/* Attaching and detaching: the socket of a server's listener gets the operations of interpose.c,
 * and its own ones back. A socket that joins an attached one is attached, too (follow.c).
 */
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "../compat/sock.h"
#include "../conn/conn.h"
#include "../soft/soft.h"
#include "attach.h"
#include "follow.h"
#include "handover.h"
#include "listener.h"
#include "mptcp.h"

/* A listener of MPTCP: find what there is of TCP in it. */
static bool khttpd_attach_mptcp(struct khttpd_listener *listener)
{
	listener->conn_ops = khttpd_mptcp_ops(listener->sock);
	listener->mptcp = khttpd_mptcp_first(listener->sock);
	return listener->conn_ops && listener->mptcp;
}

/* The sock of a listener's that connections come to. Context: the socket exists. */
static const struct sock *khttpd_attach_sk(const struct khttpd_listener *listener)
{
	return listener->mptcp ?: listener->sock->sk;
}

/**
 * khttpd_attach_bore() - may a listener's accept() have returned a socket?
 * @listener: attached listener; its socket exists
 * @sock: the socket
 *
 * Context: any.
 * Return: false if it is no connection of TCP as that listener's are. TLS in the kernel and others
 * that take a connection over have its operations changed.
 */
bool khttpd_attach_bore(const struct khttpd_listener *listener, const struct socket *sock)
{
	const struct sock *parent = khttpd_attach_sk(listener), *sk = sock->sk;

	return sock->type == SOCK_STREAM && khttpd_interpose_orig(sock) == listener->conn_ops &&
	       sk->sk_prot == parent->sk_prot && sk->sk_num == parent->sk_num &&
	       sock_net(sk) == listener->net;
}

/* Stand in front of a listening socket. Return: as khttpd_attach(). */
static int khttpd_attach_add(struct khttpd_site *site, struct socket *sock)
	__must_hold(&khttpd_interpose_lock)
{
	struct khttpd_listener *listener;
	struct khttpd_ops *copy;
	const struct sock *sk;

	lockdep_assert_held(&khttpd_interpose_lock);
	listener = khttpd_attached_find(sock);
	if (listener) {
		khttpd_listener_put(listener);
		return -EEXIST;
	}
	copy = khttpd_interpose_copy(khttpd_interpose_orig(sock));
	if (!copy)
		return -ENOMEM;
	listener = khttpd_listener_alloc(site, sock);
	if (!listener)
		return -ENOMEM;
	if (sock->sk->sk_protocol == IPPROTO_MPTCP && !khttpd_attach_mptcp(listener)) {
		khttpd_listener_put(listener);
		return -ENOMEM;
	}
	/* Ours until release or detach; the server's file keeps the socket. */
	__module_get(THIS_MODULE);
	sk = khttpd_attach_sk(listener);
	listener->ops = copy->orig;
	listener->attached = true;
	listener->nodelay = tcp_sk(sk)->nonagle & TCP_NAGLE_OFF;
	if (sk->sk_reuseport) {
		listener->port = sk->sk_num;
		khttpd_follow_begin();
	}
	hash_add_rcu(khttpd_interposed, &listener->hash, (unsigned long)sock);
	list_add_rcu(&listener->beside, &khttpd_attachments);
	site->served = true;
	WRITE_ONCE(sock->ops, &copy->ops);
	khttpd_listener_watch(listener);
	/* Pairs with khttpd_soft_return(): connections may have been accepted already. */
	smp_store_release(&listener->soft, khttpd_soft_start(listener));
	return 0;
}

/**
 * khttpd_attach() - stand in front of a server's listener
 * @site: what is served there
 * @sock: a listening TCP socket of any family, or one of MPTCP; the caller holds its file
 *
 * Context: process.
 * Return: 0; -EEXIST if it is attached already; -EINVAL if it does not listen;
 * -EPROTONOSUPPORT if it is no TCP socket; -ESTALE if the site has stopped or another
 * one has taken its place; -ENOMEM.
 */
int khttpd_attach(struct khttpd_site *site, struct socket *sock)
{
	struct sock *sk = sock->sk;
	int err;

	if (sock->type != SOCK_STREAM ||
	    (sk->sk_protocol != IPPROTO_TCP && sk->sk_protocol != IPPROTO_MPTCP) ||
	    (sk->sk_family != AF_INET && sk->sk_family != AF_INET6))
		return -EPROTONOSUPPORT;
	if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
		return -EINVAL;

	mutex_lock(&khttpd_interpose_lock);
	err = READ_ONCE(site->closed) ? -ESTALE : khttpd_attach_add(site, sock);
	mutex_unlock(&khttpd_interpose_lock);
	return err;
}

/**
 * khttpd_attach_near() - may a socket be one that joins an attached one?
 * @sk: the socket, bound
 *
 * Context: any.
 * Return: false if it certainly is not.
 */
bool khttpd_attach_near(const struct sock *sk)
{
	struct khttpd_listener *listener;
	bool near = false;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(khttpd_interposed, bucket, listener, hash)
		near |= listener->port && listener->port == sk->sk_num &&
			listener->net == sock_net(sk);
	rcu_read_unlock();
	return near;
}

/* Do connections that would come to @other come to @sk, too? By the family's rule for bind(2):
 * the same address, port, device and user, and each with SO_REUSEPORT.
 */
static bool khttpd_attach_same(struct sock *sk, const struct khttpd_listener *other)
{
	struct sock *sk2 = (struct sock *)khttpd_attach_sk(other);

	if (other->port != sk->sk_num || other->net != sock_net(sk) || !sk->sk_reuseport ||
	    sk->sk_family != sk2->sk_family || sk->sk_bound_dev_if != sk2->sk_bound_dev_if ||
	    !uid_eq(khttpd_sock_uid(sk), khttpd_sock_uid(sk2)))
		return false;
	if (sk->sk_family == AF_INET)
		return sk->sk_rcv_saddr == sk2->sk_rcv_saddr;
	return ipv6_addr_equal(&sk->sk_v6_rcv_saddr, &sk2->sk_v6_rcv_saddr);
}

/* The attached listener that @sock, of which the sock is @sk, has joined; or NULL. */
static struct khttpd_listener *khttpd_attach_joined(struct socket *sock, struct sock *sk)
{
	const struct proto_ops *ops = khttpd_interpose_orig(sock);
	struct khttpd_listener *other;
	int bucket;

	hash_for_each(khttpd_interposed, bucket, other, hash) {
		if (!other->detaching && other->ops == ops && khttpd_attach_same(sk, other))
			return other;
	}
	return NULL;
}

/**
 * khttpd_attach_join() - attach a socket that has joined an attached one
 * @sock: a socket of the server's, which may listen; the caller holds its file
 *
 * Context: process.
 */
void khttpd_attach_join(struct socket *sock)
{
	struct sock *sk = sock->sk, *inner = NULL;
	struct khttpd_listener *other;
	struct khttpd_site *site;
	int err = 0;

	if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
		return;
	if (sk->sk_protocol == IPPROTO_MPTCP)
		inner = khttpd_mptcp_first(sock);
	mutex_lock(&khttpd_interpose_lock);
	other = khttpd_attach_joined(sock, inner ?: sk);
	if (other) {
		site = rcu_dereference_protected(other->site,
						 lockdep_is_held(&khttpd_interpose_lock));
		err = khttpd_attach_add(site, sock);
	}
	mutex_unlock(&khttpd_interpose_lock);
	if (inner)
		sock_put(inner);
	if (err == -ENOMEM)
		khttpd_count(no_memory);
}

/**
 * khttpd_attach_remove() - undo an attachment
 * @listener: the listener, in the table; it stays referenced by its connections
 *
 * Context: process.
 */
void khttpd_attach_remove(struct khttpd_listener *listener)
	__must_hold(&khttpd_interpose_lock)
{
	lockdep_assert_held(&khttpd_interpose_lock);
	WRITE_ONCE(listener->sock->ops, listener->ops);
	hash_del_rcu(&listener->hash);
	list_del_rcu(&listener->beside);
	if (listener->port)
		khttpd_follow_end();
	khttpd_handover_stop(listener);
	wake_up_interruptible_all(&listener->sock->wq.wait);
}

/* From now on the servers of @site accept new connections themselves. Those listeners go to
 * @list, referenced; another's that are being detached already do not.
 */
static void khttpd_detach_unwatch(struct khttpd_site *site, struct list_head *list)
{
	struct khttpd_listener *listener;
	int bucket;
	bool first;

	mutex_lock(&khttpd_interpose_lock);
	hash_for_each(khttpd_interposed, bucket, listener, hash) {
		if (!khttpd_attached_is_of(listener, site) ||
		    listener->detaching)
			continue;
		listener->detaching = true;
		refcount_inc(&listener->refs);
		list_add_tail(&listener->node, list);
		/* The socket cannot go while the table has it. */
		first = khttpd_listener_unwatch(listener);
		wake_up_interruptible_all(&listener->sock->wq.wait);
		if (first)
			khttpd_soft_stop(listener->soft, true);
	}
	mutex_unlock(&khttpd_interpose_lock);
	khttpd_threads_scan();
}

/* Give everything back to the server: first the connections, then accept(). Connections that are
 * still ours then are told to end.
 */
static void khttpd_detach_give_back(struct khttpd_listener *listener, unsigned long deadline)
{
	long left = deadline - jiffies;
	bool removed = false;

	khttpd_listener_wait(listener, max(left, 0L));
	while (khttpd_handover_pending(listener) &&
	       time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);

	mutex_lock(&khttpd_interpose_lock);
	if (!hlist_unhashed(&listener->hash)) {
		khttpd_attach_remove(listener);
		removed = true;
	}
	mutex_unlock(&khttpd_interpose_lock);
	WRITE_ONCE(listener->closing, true);
	khttpd_threads_scan();
	if (removed) {
		/* The server accepts them now. */
		khttpd_count_add(handed_over, khttpd_listener_given_take(listener));
		khttpd_listener_put(listener);
		module_put(THIS_MODULE);
	}
}

/**
 * khttpd_detach() - step aside at all listeners of a site
 * @site: the site
 *
 * Connections at which no reply is under way are handed over. Those in the queues are left to the
 * servers for some seconds, which are the same for all. Connections that are still ours then are
 * closed.
 *
 * Context: process; the caller holds the module.
 * Return: how many listeners there were.
 */
int khttpd_detach(struct khttpd_site *site)
{
	long timeout = msecs_to_jiffies(READ_ONCE(khttpd_limits.stop_timeout));
	struct khttpd_listener *listener, *next;
	unsigned long deadline = jiffies + timeout;
	LIST_HEAD(list);
	int n = 0;

	khttpd_detach_unwatch(site, &list);
	list_for_each_entry(listener, &list, node)
		khttpd_detach_give_back(listener, deadline);
	list_for_each_entry_safe(listener, next, &list, node) {
		wait_event(listener->idle, !atomic_read(&listener->connections));
		list_del(&listener->node);
		khttpd_listener_put(listener);
		n++;
	}
	return n;
}
