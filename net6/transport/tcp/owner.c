// SPDX-License-Identifier: GPL-2.0
/* Calls to the module that a connection belongs to (calls/inkernel.c): there is something to
 * look at, or room to send. The engine and the states make them.
 */
#include <net6/tcp.h>

#include "tcp.h"

/* A connection's owner, if it is to be called. It is not called from its own call, after which it
 * sees the state anyhow. A listener that was attached to and became something else is its
 * process's, or nobody's when that has closed it.
 */
static struct net6_tcp_owner *net6_tcp_owner_ready(const struct sock *sk)
{
	struct net6_tcp_owner *owner = net6_tcp_owner(sk);

	return owner && !owner->busy && !sk->sk_socket && !sock_flag(sk, SOCK_DEAD) ? owner : NULL;
}

/* Calls it, in the same surroundings in softirq and process. Afterwards @sk may be closed
 * or somebody else's, and its owner freed.
 */
static void net6_tcp_owner_call(struct sock *sk, struct net6_tcp_owner *owner,
				void (*fn)(struct net6_tcp_user *user, struct sock *sk))
{
	bool bh = !in_softirq();

	if (bh)
		local_bh_disable();
	owner->busy = true;
	fn(owner->user, sk);
	owner = net6_tcp_owner(sk);
	if (owner)
		owner->busy = false;
	if (bh)
		local_bh_enable();
}

/**
 * net6_tcp_user_receive() - tell the owner that there is something to look at, if so
 * @sk: locked; may be closed and destroyed afterwards: the caller has a reference
 *
 * Context: any.
 */
void net6_tcp_user_receive(struct sock *sk)
{
	struct net6_tcp_owner *owner = net6_tcp_owner_ready(sk);

	if (!owner || !owner->event)
		return;
	owner->event = false;
	net6_tcp_owner_call(sk, owner, owner->user->receive);
}

/**
 * net6_tcp_user_writable() - tell the owner that there is room again, if it waits for it
 * @sk: locked; as net6_tcp_user_receive()
 *
 * Context: any.
 */
void net6_tcp_user_writable(struct sock *sk)
{
	struct net6_tcp_owner *owner = net6_tcp_owner_ready(sk);

	if (!owner || !owner->full)
		return;
	owner->full = false;
	if (owner->user->writable)
		net6_tcp_owner_call(sk, owner, owner->user->writable);
}
