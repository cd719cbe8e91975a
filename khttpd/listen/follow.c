// SPDX-License-Identifier: GPL-2.0
/* A server to which we are attached may open more sockets with SO_REUSEPORT: for more workers,
 * when it reloads. Connections to its port come to them, too, so we are attached to them before
 * their listen(2) returns: nobody can have accepted one by then.
 *
 * Nothing but a tracepoint tells that a socket listens. It tells of each state of each connection,
 * so it is used only while there is a listener that others may join. net6 tells by itself.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/file.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/tracepoint.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "../observe/stats.h"
#include "follow.h"

/**
 * struct khttpd_joiner - a socket that is going to listen
 * @work: runs when listen(2) is done
 * @file: the socket's, with a reference
 */
struct khttpd_joiner {
	struct callback_head work;
	struct file *file;
};

static struct tracepoint *khttpd_follow_point;
static unsigned int khttpd_follow_users;	/* the caller's lock */
static bool khttpd_follow_on;			/* the same */

/* Context: the process that called listen(2), on its way back. */
static void khttpd_follow_work(struct callback_head *work)
{
	struct khttpd_joiner *joiner = container_of(work, struct khttpd_joiner, work);

	khttpd_attach_join(sock_from_file(joiner->file));
	fput(joiner->file);
	kfree(joiner);
	khttpd_interpose_leave();
}

/**
 * khttpd_follow() - a socket is going to listen
 * @sk: the socket, owned; bound
 *
 * Context: process; may be in the middle of what must not sleep.
 */
void khttpd_follow(const struct sock *sk)
{
	const struct socket *sock = sk->sk_socket;
	struct khttpd_joiner *joiner;

	if (!sk->sk_reuseport || !sock || !sock->file || current->flags & PF_KTHREAD ||
	    !khttpd_attach_near(sk))
		return;
	joiner = kmalloc(sizeof(*joiner), GFP_ATOMIC);
	if (!joiner) {
		khttpd_count(no_memory);
		return;
	}
	init_task_work(&joiner->work, khttpd_follow_work);
	joiner->file = get_file(sock->file);
	khttpd_interpose_enter();
	if (!task_work_add(current, &joiner->work, TWA_RESUME))
		return;
	/* It is at its end, and so is the socket. */
	fput(joiner->file);
	kfree(joiner);
	khttpd_interpose_leave();
}

static void khttpd_follow_probe(void *data, const struct sock *sk, const int oldstate,
				const int newstate)
{
	if (unlikely(newstate == TCP_LISTEN))
		khttpd_follow(sk);
}

static void khttpd_follow_find(struct tracepoint *point, void *found)
{
	if (!strcmp(point->name, "inet_sock_set_state"))
		*(struct tracepoint **)found = point;
}

/**
 * khttpd_follow_begin() - there is one more listener that others may join
 *
 * Context: process; one at a time.
 */
void khttpd_follow_begin(void)
{
	if (khttpd_follow_users++)
		return;
	if (!khttpd_follow_point)
		for_each_kernel_tracepoint(khttpd_follow_find, &khttpd_follow_point);
	khttpd_follow_on = khttpd_follow_point &&
			   !tracepoint_probe_register(khttpd_follow_point, khttpd_follow_probe,
						      NULL);
	if (!khttpd_follow_on)
		pr_warn("a server's further listeners will not be attached\n");
}

/**
 * khttpd_follow_end() - there is one less
 *
 * Context: process; one at a time, and not together with the other.
 */
void khttpd_follow_end(void)
{
	if (--khttpd_follow_users || !khttpd_follow_on)
		return;
	tracepoint_probe_unregister(khttpd_follow_point, khttpd_follow_probe, NULL);
	khttpd_follow_on = false;
}

/**
 * khttpd_follow_exit() - nobody comes here any more, but for what has begun already
 *
 * Context: process.
 */
void khttpd_follow_exit(void)
{
	tracepoint_synchronize_unregister();
}
