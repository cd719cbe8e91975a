// SPDX-License-Identifier: GPL-2.0
/* Handshakes: a connection of a listener with TLS, from accept until khttpd-tlsd gives it back
 * with the kernel's record layer switched on. It has one owner at a time:
 *
 *	khttpd, in the queue -> khttpd-tlsd, as a descriptor -> khttpd, served by a thread
 *
 * All that happens to it on the way is under one lock, and nothing waits for the daemon. A
 * handshake that takes too long is forgotten. It is the daemon's own descriptor from then on. A
 * daemon is not trusted. It gives back the very file that it got, and nobody may have that
 * besides.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/khttpd.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/sock.h>
#include "../conn/conn.h"
#include "../conn/ktls.h"
#include "../files/site.h"
#include "listener.h"
#include "peer.h"
#include "proxied.h"
#include "tls.h"

/* How long connections wait for a daemon after the last one has gone, in ms: systemd starts it
 * anew after a second.
 */
#define KHTTPD_TLS_AWAITED	5000

/**
 * struct khttpd_shake - a handshake
 * @node: in khttpd_shakes
 * @wait: in khttpd_tls_shakes_waiting until a daemon takes it, then in no list
 * @listener: where it came from; reference held, and it counts there
 * @peer: its client, or NULL
 * @client: for whom a trusted proxy speaks, or NULL; owned
 * @says: what the daemon says of TLS, or NULL; owned
 * @says_len: its length
 * @sock: the connection, until a daemon takes it; then NULL
 * @file: what the daemon got; reference held
 * @by: the daemon, to be compared only; or NULL
 * @id: how the daemon calls it
 * @deadline: jiffies at which it is over
 */
struct khttpd_shake {
	struct list_head node;
	struct list_head wait;
	struct khttpd_listener *listener;
	struct khttpd_peer *peer;
	struct khttpd_endpoint *client;
	u8 *says;
	u32 says_len;
	struct socket *sock;
	struct file *file;
	const struct khttpd_tlsd *by;
	u32 id;
	unsigned long deadline;
};

/**
 * struct khttpd_tlsd - a process that does handshakes, by its descriptor of /dev/khttpd
 * @pad: nothing is known of it but its address
 */
struct khttpd_tlsd {
	u8 pad;
};

static DEFINE_MUTEX(khttpd_tls_lock);		/* all that follows */
static LIST_HEAD(khttpd_shakes);		/* in the order of their deadlines */
static LIST_HEAD(khttpd_tls_shakes_waiting);	/* for a daemon, oldest first */
static DEFINE_XARRAY_ALLOC1(khttpd_tls_shake_ids);
static u32 khttpd_tls_shake_next_id;
static u32 khttpd_tls_shake_count;
static u32 khttpd_tls_daemon_count;
static bool khttpd_tls_awaited;			/* there was a daemon a short while ago */
static DECLARE_WAIT_QUEUE_HEAD(khttpd_tls_daemon_wait);

static void khttpd_tls_shakes_expire(struct work_struct *work);
static DECLARE_DELAYED_WORK(khttpd_tls_shakes_work, khttpd_tls_shakes_expire);
static void khttpd_tls_await_no_more(struct work_struct *work);
static DECLARE_DELAYED_WORK(khttpd_tls_awaited_work, khttpd_tls_await_no_more);

/**
 * khttpd_tls_pending() - handshakes under way
 */
u32 khttpd_tls_pending(void)
{
	return READ_ONCE(khttpd_tls_shake_count);
}

/**
 * khttpd_tls_daemons() - processes that do handshakes
 */
u32 khttpd_tls_daemons(void)
{
	return READ_ONCE(khttpd_tls_daemon_count);
}

/* It is no handshake any more. The connection and its client are the caller's. */
static void khttpd_tls_shake_free(struct khttpd_shake *shake)
{
	lockdep_assert_held(&khttpd_tls_lock);
	list_del(&shake->node);
	list_del(&shake->wait);
	xa_erase(&khttpd_tls_shake_ids, shake->id);
	WRITE_ONCE(khttpd_tls_shake_count, khttpd_tls_shake_count - 1);
	khttpd_listener_conn_done(shake->listener);
	khttpd_listener_put(shake->listener);
	kfree(shake->client);
	kfree(shake->says);
	kfree(shake);
}

/* Close it. The daemon's descriptor is closed when the daemon does that. */
static void khttpd_tls_shake_drop(struct khttpd_shake *shake)
{
	khttpd_count(closed);
	if (shake->sock)
		khttpd_transport_close(shake->sock, true);
	if (shake->file)
		fput(shake->file);
	khttpd_peer_shaken(shake->peer);
	khttpd_peer_put(shake->peer);
	khttpd_tls_shake_free(shake);
}

static void khttpd_tls_shakes_expire(struct work_struct *work)
{
	struct khttpd_shake *shake;
	long left;

	mutex_lock(&khttpd_tls_lock);
	while ((shake = list_first_entry_or_null(&khttpd_shakes, struct khttpd_shake, node))) {
		left = shake->deadline - jiffies;
		if (left > 0) {
			schedule_delayed_work(&khttpd_tls_shakes_work, left);
			break;
		}
		khttpd_count(timeout_tls);
		khttpd_tls_shake_drop(shake);
	}
	mutex_unlock(&khttpd_tls_lock);
}

/* May one more begin? What for, without a daemon that has been there, and may be again? */
static bool khttpd_tls_shake_may(struct khttpd_peer *peer)
{
	lockdep_assert_held(&khttpd_tls_lock);
	if (!khttpd_tls_daemon_count && !khttpd_tls_awaited) {
		khttpd_count(tls_lost);
		return false;
	}
	if (khttpd_tls_shake_count >= READ_ONCE(khttpd_limits.tls_handshakes) ||
	    !khttpd_peer_shake(peer)) {
		khttpd_count(tls_full);
		return false;
	}
	return true;
}

static bool khttpd_tls_shake_add(struct khttpd_listener *listener, struct socket *sock,
				 struct khttpd_peer *peer, struct khttpd_endpoint *client)
{
	struct khttpd_shake *shake = kzalloc(sizeof(*shake), GFP_KERNEL);
	u32 timeout = READ_ONCE(khttpd_limits.tls_timeout);

	if (!shake || xa_alloc_cyclic(&khttpd_tls_shake_ids, &shake->id, shake,
				      XA_LIMIT(1, INT_MAX), &khttpd_tls_shake_next_id,
				      GFP_KERNEL) < 0) {
		khttpd_count(no_memory);
		kfree(shake);
		return false;
	}
	shake->sock = sock;
	shake->peer = peer;
	shake->client = client;
	shake->listener = listener;
	refcount_inc(&listener->refs);
	atomic_inc(&listener->connections);
	shake->deadline = jiffies + msecs_to_jiffies(timeout);
	/* Others have an earlier deadline, unless the limit was lowered: none is overtaken. */
	if (list_empty(&khttpd_shakes))
		mod_delayed_work(system_wq, &khttpd_tls_shakes_work, msecs_to_jiffies(timeout));
	list_add_tail(&shake->node, &khttpd_shakes);
	list_add_tail(&shake->wait, &khttpd_tls_shakes_waiting);
	WRITE_ONCE(khttpd_tls_shake_count, khttpd_tls_shake_count + 1);
	return true;
}

/**
 * khttpd_tls_begin() - a connection waits for its handshake
 * @listener: where it came from
 * @sock: the connection; ours on success
 * @peer: its client, or NULL; the same
 * @client: for whom a trusted proxy speaks, or NULL; the same
 *
 * Context: a thread.
 * Return: false if it is to be closed, which has been counted.
 */
bool khttpd_tls_begin(struct khttpd_listener *listener, struct socket *sock,
		      struct khttpd_peer *peer, struct khttpd_endpoint *client)
{
	bool begun = false;

	mutex_lock(&khttpd_tls_lock);
	/* One that stops looks for what has begun after it has said so: khttpd_tls_stop(). */
	if (!READ_ONCE(listener->stopped) && khttpd_tls_shake_may(peer)) {
		begun = khttpd_tls_shake_add(listener, sock, peer, client);
		if (!begun)
			khttpd_peer_shaken(peer);
	}
	mutex_unlock(&khttpd_tls_lock);
	if (begun)
		wake_up_interruptible_poll(&khttpd_tls_daemon_wait, EPOLLIN | EPOLLRDNORM);
	return begun;
}

/* Drop those of a listener, or of a daemon. Return: how many. */
static unsigned int khttpd_tls_shakes_drop(const struct khttpd_listener *listener,
					   const struct khttpd_tlsd *by)
{
	struct khttpd_shake *shake, *next;
	unsigned int n = 0;

	lockdep_assert_held(&khttpd_tls_lock);
	list_for_each_entry_safe(shake, next, &khttpd_shakes, node) {
		if (listener ? shake->listener != listener : shake->by != by)
			continue;
		khttpd_tls_shake_drop(shake);
		n++;
	}
	return n;
}

/* No other daemon has come. Who waits for one is closed. */
static void khttpd_tls_await_no_more(struct work_struct *work)
{
	mutex_lock(&khttpd_tls_lock);
	khttpd_tls_awaited = false;
	if (!khttpd_tls_daemon_count)
		khttpd_count_add(tls_lost, khttpd_tls_shakes_drop(NULL, NULL));
	mutex_unlock(&khttpd_tls_lock);
}

/**
 * khttpd_tls_stop() - a listener goes
 * @listener: it accepts nothing any more
 *
 * Context: process.
 */
void khttpd_tls_stop(const struct khttpd_listener *listener)
{
	mutex_lock(&khttpd_tls_lock);
	khttpd_tls_shakes_drop(listener, NULL);
	mutex_unlock(&khttpd_tls_lock);
}

/**
 * khttpd_tls_daemon_begin() - a process will do handshakes
 *
 * Return: the daemon, to be given to khttpd_tls_daemon_end(), or NULL without memory.
 */
struct khttpd_tlsd *khttpd_tls_daemon_begin(void)
{
	struct khttpd_tlsd *tlsd = kzalloc(sizeof(*tlsd), GFP_KERNEL);

	if (!tlsd)
		return NULL;
	mutex_lock(&khttpd_tls_lock);
	WRITE_ONCE(khttpd_tls_daemon_count, khttpd_tls_daemon_count + 1);
	mutex_unlock(&khttpd_tls_lock);
	return tlsd;
}

/**
 * khttpd_tls_daemon_end() - its handshakes end
 * @tlsd: the daemon, or NULL
 *
 * Those that have not begun go to another one, which may come a short while after the last.
 *
 * Context: process.
 */
void khttpd_tls_daemon_end(struct khttpd_tlsd *tlsd)
{
	if (!tlsd)
		return;
	mutex_lock(&khttpd_tls_lock);
	WRITE_ONCE(khttpd_tls_daemon_count, khttpd_tls_daemon_count - 1);
	khttpd_count_add(tls_lost, khttpd_tls_shakes_drop(NULL, tlsd));
	if (!khttpd_tls_daemon_count) {
		khttpd_tls_awaited = true;
		mod_delayed_work(system_wq, &khttpd_tls_awaited_work,
				 msecs_to_jiffies(KHTTPD_TLS_AWAITED));
	}
	mutex_unlock(&khttpd_tls_lock);
	kfree(tlsd);
}

/**
 * khttpd_tls_daemon_poll() - does a connection wait for a handshake?
 * @file: the daemon's
 * @wait: poll's
 */
__poll_t khttpd_tls_daemon_poll(struct file *file, poll_table *wait)
{
	poll_wait(file, &khttpd_tls_daemon_wait, wait);
	return list_empty_careful(&khttpd_tls_shakes_waiting) ? 0 : EPOLLIN | EPOLLRDNORM;
}

/* A connection's sock becomes that of @to, which has none. Nobody else has it. */
static void khttpd_tls_shake_move(struct socket *from, struct socket *to)
{
	__module_get(from->ops->owner);
	khttpd_transport_graft(from, to);
}

/* A socket with a file for the connection. It holds its network namespace as long as the
 * daemon has it. Return: 0 or a negative errno, with all as before.
 */
static int khttpd_tls_shake_give(struct khttpd_shake *shake)
{
	struct sock *sk = shake->sock->sk;
	struct socket *sock;
	struct file *file;
	int err;

	err = sock_create_lite(sk->sk_family, sk->sk_type, sk->sk_protocol, &sock);
	if (err)
		return err;
	/* Without memory it has released the socket. */
	file = sock_alloc_file(sock, O_NONBLOCK | O_CLOEXEC, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	if (!khttpd_transport_hold_net(sk)) {
		fput(file);
		return -EAGAIN;
	}
	khttpd_tls_shake_move(shake->sock, sock);
	khttpd_transport_empty(shake->sock);
	shake->sock = NULL;
	shake->file = file;
	return 0;
}

/**
 * khttpd_tls_daemon_take() - give the oldest connection that waits to a daemon
 * @tlsd: the daemon
 * @arg: filled in, except for the descriptor
 *
 * Context: process.
 * Return: a file for the daemon, with a reference of its own; -EAGAIN if none waits; or another
 * error, with which it goes on waiting.
 */
struct file *khttpd_tls_daemon_take(const struct khttpd_tlsd *tlsd, struct khttpd_tls_take *arg)
{
	struct khttpd_shake *shake;
	struct file *file;
	int err = -EAGAIN;

	mutex_lock(&khttpd_tls_lock);
	shake = list_first_entry_or_null(&khttpd_tls_shakes_waiting, struct khttpd_shake, wait);
	if (shake)
		err = khttpd_tls_shake_give(shake);
	if (err) {
		mutex_unlock(&khttpd_tls_lock);
		return ERR_PTR(err);
	}
	shake->by = tlsd;
	list_del_init(&shake->wait);
	file = get_file(shake->file);
	arg->id = shake->id;
	arg->timeout = jiffies_to_msecs(max_t(long, shake->deadline - jiffies, 0));
	rcu_read_lock();
	strscpy(arg->site, rcu_dereference(shake->listener->site)->name, sizeof(arg->site));
	rcu_read_unlock();
	khttpd_count(tls_taken);
	mutex_unlock(&khttpd_tls_lock);
	return file;
}

/* Has nobody the file but us, nor looks at it? It is in no table of descriptors any more. */
static bool khttpd_tls_shake_alone(struct file *file)
{
	bool alone;

	spin_lock(&file->f_lock);
	alone = file_count(file) == 1 && !(file->f_flags & FASYNC);
#ifdef CONFIG_EPOLL
	alone &= !file->f_ep;
#endif
	spin_unlock(&file->f_lock);
	return alone;
}

/* Is it what khttpd can serve? */
static bool khttpd_tls_shake_good(const struct khttpd_shake *shake)
{
	struct sock *sk = sock_from_file(shake->file)->sk;
	bool good;

	lock_sock(sk);
	good = khttpd_ktls_on(sk) &&
	       (sk->sk_state == TCP_ESTABLISHED || sk->sk_state == TCP_CLOSE_WAIT);
	if (good)
		khttpd_ktls_begin(sk);
	release_sock(sk);
	return good;
}

/* A thread has the connection from now on, and what a server behind is told. Return: 0 or
 * -ENOMEM.
 */
static int khttpd_tls_shake_pass(struct khttpd_shake *shake)
{
	const struct khttpd_proxyhead_tls tls = { .value = shake->says, .len = shake->says_len };
	struct sk_buff *first = NULL;

	if (tls.value && khttpd_proxied_sends(shake->listener)) {
		first = khttpd_proxied_header(shake->sock->sk, shake->client, &tls);
		if (!first)
			return -ENOMEM;
	}
	khttpd_peer_shaken(shake->peer);
	if (khttpd_conn_create(shake->listener, shake->sock, khttpd_thread_choose(), shake->peer,
			       shake->client, first, KHTTPD_CONN_NEW))
		return 0;
	khttpd_count(no_memory);
	if (first)
		khttpd_transport_forget(shake->sock->sk, first);
	khttpd_peer_put(shake->peer);
	shake->peer = NULL;
	return -ENOMEM;
}

/* The connection leaves its file and becomes a thread's. Return: 0 or a negative errno. */
static int khttpd_tls_shake_serve(struct khttpd_shake *shake)
{
	struct socket *given = sock_from_file(shake->file), *sock;
	struct sock *sk = given->sk;
	int err;

	if (READ_ONCE(shake->listener->stopped))
		return -ESHUTDOWN;
	err = sock_create_lite(sk->sk_family, sk->sk_type, sk->sk_protocol, &sock);
	if (err)
		return err;
	khttpd_tls_shake_move(given, sock);
	given->sk = NULL;
	module_put(given->ops->owner);
	given->ops = NULL;
	fput(shake->file);
	shake->file = NULL;
	/* As it was accepted: khttpd's connections do not hold their namespace. */
	khttpd_transport_drop_net(sk);
	shake->sock = sock;
	err = khttpd_tls_shake_pass(shake);
	if (err)
		return err;
	khttpd_count(tls_done);
	shake->client = NULL;
	khttpd_tls_shake_free(shake);
	return 0;
}

/* The daemon's descriptor is closed first, so that nobody can get at the file any more. */
static int khttpd_tls_shake_back(struct khttpd_shake *shake, unsigned int fd)
{
	struct file *file = fget(fd);
	bool same = file == shake->file;

	if (file)
		fput(file);
	if (!same)
		return -EBADF;
	close_fd(fd);
	if (!khttpd_tls_shake_alone(shake->file))
		return -EBUSY;
	return khttpd_tls_shake_good(shake) ? khttpd_tls_shake_serve(shake) : -EINVAL;
}

/**
 * khttpd_tls_daemon_says() - a daemon says what is known of a connection's TLS
 * @tlsd: the daemon
 * @id: which handshake
 * @value: what a server behind is to be told, khttpd_proxyhead_tls_good(); ours on success
 * @len: its length
 *
 * Context: process.
 * Return: 0, or -ENOENT if it has no such handshake.
 */
int khttpd_tls_daemon_says(const struct khttpd_tlsd *tlsd, u32 id, u8 *value, u32 len)
{
	struct khttpd_shake *shake;
	int err = -ENOENT;

	mutex_lock(&khttpd_tls_lock);
	shake = xa_load(&khttpd_tls_shake_ids, id);
	if (shake && shake->by == tlsd) {
		swap(shake->says, value);
		shake->says_len = len;
		err = 0;
	}
	mutex_unlock(&khttpd_tls_lock);
	if (!err)
		kfree(value);
	return err;
}

/**
 * khttpd_tls_daemon_done() - a daemon is through with a handshake
 * @tlsd: the daemon
 * @arg: which, and how it ended; checked for what must be 0
 *
 * Context: process, the daemon's.
 * Return: 0; -ENOENT if it has no such handshake any more, and -EBADF if that is not the
 * connection it got: then the descriptor is as it was. -EBUSY if somebody else has it, too,
 * -EINVAL if TLS is not on both ways, or others: then it is closed.
 */
int khttpd_tls_daemon_done(const struct khttpd_tlsd *tlsd, const struct khttpd_tls_done *arg)
{
	struct khttpd_shake *shake;
	int err = -ENOENT;

	mutex_lock(&khttpd_tls_lock);
	shake = xa_load(&khttpd_tls_shake_ids, arg->id);
	if (!shake || shake->by != tlsd)
		goto out;
	err = 0;
	if (arg->failed) {
		/* The daemon's own time-out may be seen before khttpd's. */
		if (time_before(jiffies, shake->deadline))
			khttpd_count(tls_failed);
		else
			khttpd_count(timeout_tls);
		khttpd_tls_shake_drop(shake);
		goto out;
	}
	err = khttpd_tls_shake_back(shake, arg->fd);
	if (err) {
		khttpd_count(tls_refused);
		khttpd_tls_shake_drop(shake);
	}
out:
	mutex_unlock(&khttpd_tls_lock);
	return err;
}

/**
 * khttpd_tls_init() - nothing waits
 *
 * Return: 0
 */
int khttpd_tls_init(void)
{
	return 0;
}

/**
 * khttpd_tls_exit() - no listener is left, nor a daemon
 */
void khttpd_tls_exit(void)
{
	cancel_delayed_work_sync(&khttpd_tls_shakes_work);
	cancel_delayed_work_sync(&khttpd_tls_awaited_work);
	WARN_ON(!list_empty(&khttpd_shakes));
	xa_destroy(&khttpd_tls_shake_ids);
}
