// SPDX-License-Identifier: GPL-2.0
/* What an attached socket does. The listening socket of a server has a copy of its operations, with
 * our accept, poll and release. So the server's accept() returns the connections that are handed
 * over to it, and epoll wakes it only for those.
 *
 * accept(2) copies the operations of the listener to the new socket before it calls accept. So a
 * detach in between leaves a connection with a copy. There is therefore one copy a family, which
 * works as the original for any socket that is not attached. At unload it is turned into the
 * original, but never freed. It goes with its family's module.
 */
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "../compat/accept.h"
#include "../conn/conn.h"
#include "../soft/soft.h"
#include "attach.h"
#include "follow.h"
#include "handover.h"
#include "listener.h"
#include "mptcp.h"

/* Families with listeners of type stream: native IPv4, native IPv6, net6, MPTCP of both. */
#define KHTTPD_FAMILIES_MAX	8
/* How long a blocked accept() sleeps at most in that time. */
#define KHTTPD_DETACH_NAP	(HZ / 20)

DEFINE_MUTEX(khttpd_interpose_lock);	/* table, copies, attaching */
static struct khttpd_ops *khttpd_copies[KHTTPD_FAMILIES_MAX];
static atomic_t khttpd_interpose_users;
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
	listener = khttpd_attached_find(sock);
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
	listener = khttpd_attached_find(sock);
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
	listener = khttpd_attached_find(sock);
	if (listener) {
		if (khttpd_listener_unwatch(listener))
			khttpd_soft_stop(listener->soft, false);
		mutex_lock(&khttpd_interpose_lock);
		if (!hlist_unhashed(&listener->hash)) {
			khttpd_attach_remove(listener);
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

/**
 * khttpd_interpose_copy() - our copy of a family's operations, made if there is none
 * @orig: the family's
 *
 * Context: process.
 * Return: the copy, or NULL without memory, or when there are too many families.
 */
struct khttpd_ops *khttpd_interpose_copy(const struct proto_ops *orig)
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

/**
 * khttpd_interpose_watch() - somebody wants to know when servers close listeners
 * @closed: is called afterwards, in the process that does; holds the module no longer than that
 *
 * Context: before anything is attached.
 */
void khttpd_interpose_watch(void (*closed)(void))
{
	khttpd_interpose_closed = closed;
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
