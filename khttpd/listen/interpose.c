// SPDX-License-Identifier: GPL-2.0
/* Attachment. A server's listening socket gets a copy of its operations, with our accept, poll
 * and release. So the server's accept() returns the connections that are handed over to it, and
 * epoll wakes it only for those.
 *
 * accept(2) copies the operations of the listener to the new socket before it calls accept. So a
 * detach in between leaves a connection with a copy. There is therefore one copy a family, which
 * works as the original for any socket that is not attached. At unload it is turned into the
 * original, but never freed. It goes with its family's module.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/wait_bit.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "../compat/accept.h"
#include "../conn/conn.h"
#include "../soft/soft.h"
#include "follow.h"
#include "handover.h"
#include "listener.h"
#include "mptcp.h"

/* Families with listeners of type stream: native IPv4, native IPv6, net6, MPTCP of both. */
#define KHTTPD_FAMILIES_MAX	8
/* How long a blocked accept() sleeps at most in that time. */
#define KHTTPD_DETACH_NAP	(HZ / 20)

/**
 * struct khttpd_ops - a family's operations and our copy
 * @orig: the original
 * @ops: the copy
 */
struct khttpd_ops {
	const struct proto_ops *orig;
	struct proto_ops ops;
};

static DEFINE_MUTEX(khttpd_interpose_lock);	/* table, copies, attaching */
static DEFINE_HASHTABLE(khttpd_interposed, 6);	/* listeners by socket */
static struct khttpd_ops *khttpd_copies[KHTTPD_FAMILIES_MAX];
static atomic_t khttpd_interpose_users;
static atomic_t khttpd_attachments;	/* listeners in the table */
static void (*khttpd_interpose_closed)(void);	/* who wants to know that a server has gone */

/**
 * khttpd_interpose_enter() - begin what must be at its end before the module goes
 *
 * Context: any.
 */
void khttpd_interpose_enter(void)
{
	atomic_inc(&khttpd_interpose_users);
}

/**
 * khttpd_interpose_leave() - that is at its end
 *
 * Context: any.
 */
void khttpd_interpose_leave(void)
{
	if (atomic_dec_and_test(&khttpd_interpose_users))
		wake_up_var(&khttpd_interpose_users);
}

/**
 * khttpd_interpose_orig() - the operations that a socket would have without us
 * @sock: the socket
 *
 * Context: any.
 */
const struct proto_ops *khttpd_interpose_orig(const struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);
	struct khttpd_ops *copy;
	int i;

	for (i = 0; i < KHTTPD_FAMILIES_MAX; i++) {
		/* Pairs with the release in khttpd_interpose_copy(). */
		copy = smp_load_acquire(&khttpd_copies[i]);
		if (copy && ops == &copy->ops)
			return copy->orig;
	}
	return ops;
}

/**
 * khttpd_interpose_find() - the listener that is attached to a socket
 * @sock: the socket
 *
 * Context: any.
 * Return: that one with a reference, or NULL.
 */
struct khttpd_listener *khttpd_interpose_find(const struct socket *sock)
{
	struct khttpd_listener *listener;

	rcu_read_lock();
	hash_for_each_possible_rcu(khttpd_interposed, listener, hash,
				   (unsigned long)sock) {
		if (listener->sock != sock ||
		    !refcount_inc_not_zero(&listener->refs))
			continue;
		rcu_read_unlock();
		return listener;
	}
	rcu_read_unlock();
	return NULL;
}

/* By this function khttpd_handover_recall() knows those that sleep here. */
static int khttpd_interpose_woken(wait_queue_entry_t *wait, unsigned int mode,
				  int flags, void *key)
{
	return autoremove_wake_function(wait, mode, flags, key);
}

/* Wait for a connection as inet_csk_wait_for_connect() does. Return: 0 to look
 * again, or the error for accept().
 */
static int khttpd_interpose_sleep(struct khttpd_listener *listener,
				  struct socket *sock, long *timeout)
{
	long nap = *timeout, left;
	DEFINE_WAIT_FUNC(wait, khttpd_interpose_woken);
	int err = 0;

	if (!nap)
		return -EAGAIN;
	/* While two queues are to be watched, look at them often. */
	if (READ_ONCE(listener->stopped))
		nap = min_t(long, nap, KHTTPD_DETACH_NAP);
	left = nap;
	prepare_to_wait_exclusive(&sock->wq.wait, &wait, TASK_INTERRUPTIBLE);
	if (!khttpd_handover_pending(listener) && !READ_ONCE(listener->gone) &&
	    sock->sk->sk_state == TCP_LISTEN)
		left = schedule_timeout(nap);
	finish_wait(&sock->wq.wait, &wait);
	if (*timeout != MAX_SCHEDULE_TIMEOUT)
		*timeout -= nap - left;
	/* Woken alone of several that sleep, it takes what is there all the same. */
	if (signal_pending(current) && !khttpd_handover_pending(listener))
		err = sock_intr_errno(*timeout);
	return err;
}

/* The next connection in the queue may be the server's own. Return: as accept(); -EAGAIN if it
 * is not, or not any more.
 */
static int khttpd_interpose_theirs(struct khttpd_listener *listener, struct socket *sock,
				   struct socket *newsock, int flags)
{
	int err = -EAGAIN;

	mutex_lock(&listener->accept_lock);
	if (listener->theirs && khttpd_mptcp_next(listener->mptcp)) {
		newsock->ops = listener->ops;
		err = khttpd_ops_accept(listener->ops, sock, newsock, flags | O_NONBLOCK, false);
	}
	WRITE_ONCE(listener->theirs, false);
	mutex_unlock(&listener->accept_lock);
	if (!err) {
		khttpd_count(accepted);
		khttpd_count(handed_over);
	}
	/* The next one in the queue is for us to see. */
	khttpd_listener_kick(listener);
	return err;
}

/* accept() on an attached listener. */
static int khttpd_interpose_take(struct khttpd_listener *listener,
				 struct socket *sock, struct socket *newsock,
				 int flags)
{
	long timeout = sock_rcvtimeo(sock->sk, flags & O_NONBLOCK);
	struct khttpd_handed *handed;
	int err;

	for (;;) {
		if (READ_ONCE(sock->sk->sk_state) != TCP_LISTEN)
			return -EINVAL;
		handed = khttpd_handover_take(listener);
		if (handed) {
			khttpd_handover_graft(listener, handed, newsock);
			return 0;
		}
		if (READ_ONCE(listener->theirs)) {
			err = khttpd_interpose_theirs(listener, sock, newsock, flags);
			if (err != -EAGAIN)
				return err;
		}
		/* Detached while we slept; the caller will call again. */
		if (READ_ONCE(listener->gone))
			return -ECONNABORTED;
		if (READ_ONCE(listener->stopped)) {
			newsock->ops = listener->ops;
			err = khttpd_ops_accept(listener->ops, sock, newsock,
						flags | O_NONBLOCK, false);
			if (!err && khttpd_listener_given_one(listener))
				khttpd_count(handed_over);
			if (err != -EAGAIN)
				return err;
		}
		err = khttpd_interpose_sleep(listener, sock, &timeout);
		if (err)
			return err;
	}
}

static int khttpd_interpose_accept(struct socket *sock, struct socket *newsock,
				   KHTTPD_ACCEPT_PARAMS)
{
	const struct proto_ops *orig = khttpd_interpose_orig(sock);
	struct khttpd_listener *listener;
	int err;

	khttpd_interpose_enter();
	listener = khttpd_interpose_find(sock);
	if (listener) {
		err = khttpd_interpose_take(listener, sock, newsock,
					    KHTTPD_ACCEPT_FLAGS);
		khttpd_listener_put(listener);
	} else {
		newsock->ops = orig;
		err = KHTTPD_ACCEPT_PASS(orig, sock, newsock);
	}
	khttpd_interpose_leave();
	return err;
}

static __poll_t khttpd_interpose_poll(struct file *file, struct socket *sock,
				      struct poll_table_struct *wait)
{
	const struct proto_ops *orig = khttpd_interpose_orig(sock);
	struct khttpd_listener *listener;
	__poll_t mask = 0;

	khttpd_interpose_enter();
	listener = khttpd_interpose_find(sock);
	if (!listener || READ_ONCE(listener->stopped) ||
	    READ_ONCE(sock->sk->sk_state) != TCP_LISTEN)
		mask = orig->poll(file, sock, wait);
	else
		sock_poll_wait(file, sock, wait);
	if (listener) {
		if (khttpd_handover_pending(listener))
			mask |= EPOLLIN | EPOLLRDNORM;
		khttpd_listener_put(listener);
	}
	khttpd_interpose_leave();
	return mask;
}

/* Undo the attachment. The listener stays referenced by its connections. */
static void khttpd_interpose_remove(struct khttpd_listener *listener)
	__must_hold(&khttpd_interpose_lock)
{
	lockdep_assert_held(&khttpd_interpose_lock);
	WRITE_ONCE(listener->sock->ops, listener->ops);
	hash_del_rcu(&listener->hash);
	atomic_dec(&khttpd_attachments);
	if (listener->port)
		khttpd_follow_end();
	khttpd_handover_stop(listener);
	wake_up_interruptible_all(&listener->sock->wq.wait);
}

/* The server has closed its last descriptor of the listener. Replies under way are completed;
 * requests for the server get 503.
 */
static int khttpd_interpose_release(struct socket *sock)
{
	const struct proto_ops *orig = khttpd_interpose_orig(sock);
	struct khttpd_listener *listener;
	bool removed = false;
	int err;

	khttpd_interpose_enter();
	listener = khttpd_interpose_find(sock);
	if (listener) {
		if (khttpd_listener_unwatch(listener))
			khttpd_soft_stop(listener->soft, false);
		mutex_lock(&khttpd_interpose_lock);
		if (!hlist_unhashed(&listener->hash)) {
			khttpd_interpose_remove(listener);
			removed = true;
		}
		mutex_unlock(&khttpd_interpose_lock);
		khttpd_threads_scan();
		if (removed) {
			/* They go with the socket. */
			khttpd_count_add(closed, khttpd_listener_given_take(listener));
			khttpd_listener_put(listener);
		}
		khttpd_listener_put(listener);
	}
	err = orig->release(sock);
	khttpd_interpose_leave();
	if (removed) {
		khttpd_interpose_closed();
		module_put(THIS_MODULE);
	}
	return err;
}

/* Our copy of @orig, made if there is none. */
static struct khttpd_ops *khttpd_interpose_copy(const struct proto_ops *orig)
	__must_hold(&khttpd_interpose_lock)
{
	int i, unused = KHTTPD_FAMILIES_MAX;
	struct khttpd_ops *copy;

	lockdep_assert_held(&khttpd_interpose_lock);
	for (i = 0; i < KHTTPD_FAMILIES_MAX; i++) {
		if (!khttpd_copies[i])
			unused = i;
		else if (khttpd_copies[i]->orig == orig)
			return khttpd_copies[i];
	}
	if (unused == KHTTPD_FAMILIES_MAX)
		return NULL;
	copy = kzalloc(sizeof(*copy), GFP_KERNEL);
	if (!copy)
		return NULL;
	/* See the top of this file: connections may point to it for ever. */
	kmemleak_not_leak(copy);
	copy->orig = orig;
	copy->ops = *orig;
	copy->ops.accept = khttpd_interpose_accept;
	copy->ops.poll = khttpd_interpose_poll;
	copy->ops.release = khttpd_interpose_release;
	/* Who finds the copy finds it filled in. */
	smp_store_release(&khttpd_copies[unused], copy);
	return copy;
}

/* A family's module goes, so none of its sockets is left that could have the copy.
 * Another one may have other operations at the same address.
 */
static int khttpd_interpose_module(struct notifier_block *block,
				   unsigned long action, void *module)
{
	int i;

	if (action != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&khttpd_interpose_lock);
	for (i = 0; i < KHTTPD_FAMILIES_MAX; i++) {
		if (!khttpd_copies[i] || khttpd_copies[i]->ops.owner != module)
			continue;
		kfree(khttpd_copies[i]);
		WRITE_ONCE(khttpd_copies[i], NULL);
	}
	mutex_unlock(&khttpd_interpose_lock);
	return NOTIFY_OK;
}

static struct notifier_block khttpd_interpose_block = {
	.notifier_call = khttpd_interpose_module,
};

/* A listener of MPTCP: find what there is of TCP in it. */
static bool khttpd_interpose_mptcp(struct khttpd_listener *listener)
{
	listener->conn_ops = khttpd_mptcp_ops(listener->sock);
	listener->mptcp = khttpd_mptcp_first(listener->sock);
	return listener->conn_ops && listener->mptcp;
}

/* The sock of a listener's that connections come to. Context: the socket exists. */
static const struct sock *khttpd_interpose_sk(const struct khttpd_listener *listener)
{
	return listener->mptcp ?: listener->sock->sk;
}

/**
 * khttpd_interpose_bore() - may a listener's accept() have returned a socket?
 * @listener: attached listener; its socket exists
 * @sock: the socket
 *
 * Context: any.
 * Return: false if it is no connection of TCP as that listener's are. TLS in the kernel and others
 * that take a connection over have its operations changed.
 */
bool khttpd_interpose_bore(const struct khttpd_listener *listener, const struct socket *sock)
{
	const struct sock *parent = khttpd_interpose_sk(listener), *sk = sock->sk;

	return sock->type == SOCK_STREAM && khttpd_interpose_orig(sock) == listener->conn_ops &&
	       sk->sk_prot == parent->sk_prot && sk->sk_num == parent->sk_num &&
	       sock_net(sk) == listener->net;
}

/* Stand in front of a listening socket. Return: as khttpd_attach(). */
static int khttpd_interpose_add(struct khttpd_site *site, struct socket *sock)
	__must_hold(&khttpd_interpose_lock)
{
	struct khttpd_listener *listener;
	struct khttpd_ops *copy;
	const struct sock *sk;

	lockdep_assert_held(&khttpd_interpose_lock);
	listener = khttpd_interpose_find(sock);
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
	if (sock->sk->sk_protocol == IPPROTO_MPTCP && !khttpd_interpose_mptcp(listener)) {
		khttpd_listener_put(listener);
		return -ENOMEM;
	}
	/* Ours until release or detach; the server's file keeps the socket. */
	__module_get(THIS_MODULE);
	sk = khttpd_interpose_sk(listener);
	listener->ops = copy->orig;
	listener->attached = true;
	listener->nodelay = tcp_sk(sk)->nonagle & TCP_NAGLE_OFF;
	if (sk->sk_reuseport) {
		listener->port = sk->sk_num;
		khttpd_follow_begin();
	}
	hash_add_rcu(khttpd_interposed, &listener->hash, (unsigned long)sock);
	atomic_inc(&khttpd_attachments);
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
	err = READ_ONCE(site->closed) ? -ESTALE : khttpd_interpose_add(site, sock);
	mutex_unlock(&khttpd_interpose_lock);
	return err;
}

/**
 * khttpd_interpose_near() - may a socket be one that joins an attached one?
 * @sk: the socket, bound
 *
 * Context: any.
 * Return: false if it certainly is not.
 */
bool khttpd_interpose_near(const struct sock *sk)
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
static bool khttpd_interpose_same(struct sock *sk, const struct khttpd_listener *other)
{
	struct sock *sk2 = (struct sock *)khttpd_interpose_sk(other);

	if (other->port != sk->sk_num || other->net != sock_net(sk) || !sk->sk_reuseport ||
	    sk->sk_family != sk2->sk_family || sk->sk_bound_dev_if != sk2->sk_bound_dev_if ||
	    !uid_eq(sock_i_uid(sk), sock_i_uid(sk2)))
		return false;
	if (sk->sk_family == AF_INET)
		return sk->sk_rcv_saddr == sk2->sk_rcv_saddr;
	return ipv6_addr_equal(&sk->sk_v6_rcv_saddr, &sk2->sk_v6_rcv_saddr);
}

/* The attached listener that @sock, of which the sock is @sk, has joined; or NULL. */
static struct khttpd_listener *khttpd_interpose_joined(struct socket *sock, struct sock *sk)
{
	const struct proto_ops *ops = khttpd_interpose_orig(sock);
	struct khttpd_listener *other;
	int bucket;

	hash_for_each(khttpd_interposed, bucket, other, hash) {
		if (!other->detaching && other->ops == ops && khttpd_interpose_same(sk, other))
			return other;
	}
	return NULL;
}

/**
 * khttpd_interpose_join() - attach a socket that has joined an attached one
 * @sock: a socket of the server's, which may listen; the caller holds its file
 *
 * Context: process.
 */
void khttpd_interpose_join(struct socket *sock)
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
	other = khttpd_interpose_joined(sock, inner ?: sk);
	if (other) {
		site = rcu_dereference_protected(other->site,
						 lockdep_is_held(&khttpd_interpose_lock));
		err = khttpd_interpose_add(site, sock);
	}
	mutex_unlock(&khttpd_interpose_lock);
	if (inner)
		sock_put(inner);
	if (err == -ENOMEM)
		khttpd_count(no_memory);
}

/* Is it attached to this site, in whatever form? Context: interpose lock or RCU. */
static bool khttpd_interpose_is_of(const struct khttpd_listener *listener,
				   const struct khttpd_site *site)
{
	return rcu_dereference_check(listener->site,
				     lockdep_is_held(&khttpd_interpose_lock))->id ==
	       site->id;
}

/* From now on the servers of @site accept new connections themselves. Those listeners go to
 * @list, referenced; another's that are being detached already do not.
 */
static void khttpd_interpose_unwatch(struct khttpd_site *site,
				     struct list_head *list)
{
	struct khttpd_listener *listener;
	int bucket;
	bool first;

	mutex_lock(&khttpd_interpose_lock);
	hash_for_each(khttpd_interposed, bucket, listener, hash) {
		if (!khttpd_interpose_is_of(listener, site) ||
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
static void khttpd_interpose_give_back(struct khttpd_listener *listener,
				       unsigned long deadline)
{
	long left = deadline - jiffies;
	bool removed = false;

	khttpd_listener_wait(listener, max(left, 0L));
	while (khttpd_handover_pending(listener) &&
	       time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);

	mutex_lock(&khttpd_interpose_lock);
	if (!hlist_unhashed(&listener->hash)) {
		khttpd_interpose_remove(listener);
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

	khttpd_interpose_unwatch(site, &list);
	list_for_each_entry(listener, &list, node)
		khttpd_interpose_give_back(listener, deadline);
	list_for_each_entry_safe(listener, next, &list, node) {
		wait_event(listener->idle, !atomic_read(&listener->connections));
		list_del(&listener->node);
		khttpd_listener_put(listener);
		n++;
	}
	return n;
}

/**
 * khttpd_attached() - how many listeners is a site attached to?
 * @site: the site
 */
unsigned int khttpd_attached(const struct khttpd_site *site)
{
	struct khttpd_listener *listener;
	unsigned int n = 0;
	int bucket;

	mutex_lock(&khttpd_interpose_lock);
	hash_for_each(khttpd_interposed, bucket, listener, hash)
		n += khttpd_interpose_is_of(listener, site);
	mutex_unlock(&khttpd_interpose_lock);
	return n;
}

/**
 * khttpd_attached_set_site() - listeners of servers get the new form of their site
 * @old: the old one; nothing is attached to it any more
 * @site: the new one; NULL if there is none
 *
 * Context: process, configuration locked. The old one is seen until the next grace
 * period ends.
 */
void khttpd_attached_set_site(struct khttpd_site *old, struct khttpd_site *site)
{
	struct khttpd_listener *listener;
	int bucket;

	mutex_lock(&khttpd_interpose_lock);
	WRITE_ONCE(old->closed, true);
	if (site)
		site->served = old->served;
	hash_for_each(khttpd_interposed, bucket, listener, hash) {
		if (site && khttpd_interpose_is_of(listener, site))
			khttpd_listener_set_site(listener, site);
	}
	mutex_unlock(&khttpd_interpose_lock);
}

/**
 * khttpd_attached_over() - has the last server of a site gone?
 * @site: the site
 *
 * Context: process, configuration locked.
 * Return: true if there was one and is none any more; nothing can be attached to it then.
 */
bool khttpd_attached_over(struct khttpd_site *site)
{
	struct khttpd_listener *listener;
	int bucket;
	bool over;

	mutex_lock(&khttpd_interpose_lock);
	over = site->served;
	hash_for_each(khttpd_interposed, bucket, listener, hash)
		over &= !khttpd_interpose_is_of(listener, site);
	if (over)
		WRITE_ONCE(site->closed, true);
	mutex_unlock(&khttpd_interpose_lock);
	return over;
}

/**
 * khttpd_attached_watch() - somebody wants to know when servers close listeners
 * @closed: is called afterwards, in the process that does; holds the module no longer than that
 *
 * Context: before anything is attached.
 */
void khttpd_attached_watch(void (*closed)(void))
{
	khttpd_interpose_closed = closed;
}

/* Can a server take what comes from @listener at @backend? */
static bool khttpd_backend_fits(const struct khttpd_listener *backend,
				const struct khttpd_listener *listener)
{
	return khttpd_interpose_is_of(backend, rcu_dereference(listener->site)) &&
	       backend->conn_ops == listener->conn_ops &&
	       backend->net == listener->net &&
	       !READ_ONCE(backend->stopped) && !READ_ONCE(backend->gone);
}

/* The server behind an own listener; of several the one with the shortest queue. RCU. */
static struct khttpd_listener *
khttpd_backend_find(const struct khttpd_listener *listener)
{
	struct khttpd_listener *found = NULL, *backend;
	int bucket;

	if (likely(!atomic_read(&khttpd_attachments)))
		return NULL;
	hash_for_each_rcu(khttpd_interposed, bucket, backend, hash) {
		if (!khttpd_backend_fits(backend, listener))
			continue;
		if (!found || READ_ONCE(backend->queue_len) <
			      READ_ONCE(found->queue_len))
			found = backend;
	}
	return found;
}

/**
 * khttpd_backend_exists() - is there a server behind an own listener now?
 * @listener: the listener
 *
 * Context: any.
 */
bool khttpd_backend_exists(const struct khttpd_listener *listener)
{
	bool found;

	rcu_read_lock();
	found = khttpd_backend_find(listener);
	rcu_read_unlock();
	return found;
}

/**
 * khttpd_backend_get() - the server behind an own listener
 * @listener: the listener
 *
 * That is a listener to which the same site is attached, of the same family and network
 * namespace. Of several it is the one with the shortest queue.
 *
 * Context: process.
 * Return: that one with a reference, or NULL.
 */
struct khttpd_listener *
khttpd_backend_get(const struct khttpd_listener *listener)
{
	struct khttpd_listener *found;

	rcu_read_lock();
	found = khttpd_backend_find(listener);
	if (found && !refcount_inc_not_zero(&found->refs))
		found = NULL;
	rcu_read_unlock();
	return found;
}

/**
 * khttpd_interpose_init() - nothing is attached
 *
 * Return: 0 or a negative errno.
 */
int khttpd_interpose_init(void)
{
	hash_init(khttpd_interposed);
	return register_module_notifier(&khttpd_interpose_block);
}

/**
 * khttpd_interpose_exit() - make sure that nobody comes here any more
 *
 * Nothing is attached: attachments hold the module. Sockets that have a copy all the same (see
 * the top of this file) get the family's own operations. Calls that had been made before are
 * waited for.
 */
void khttpd_interpose_exit(void)
{
	struct khttpd_ops *copy;
	bool any = false;
	int i;

	unregister_module_notifier(&khttpd_interpose_block);
	for (i = 0; i < KHTTPD_FAMILIES_MAX; i++) {
		copy = khttpd_copies[i];
		if (!copy)
			continue;
		any = true;
		WRITE_ONCE(copy->ops.accept, copy->orig->accept);
		WRITE_ONCE(copy->ops.poll, copy->orig->poll);
		WRITE_ONCE(copy->ops.release, copy->orig->release);
	}
	if (!any)
		return;
	khttpd_follow_exit();
	synchronize_rcu_tasks();
	wait_var_event(&khttpd_interpose_users,
		       !atomic_read(&khttpd_interpose_users));
	synchronize_rcu_tasks();
}
