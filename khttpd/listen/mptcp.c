// SPDX-License-Identifier: GPL-2.0
/* A server's listener of Multipath TCP, as Go's are. It has a TCP listener inside, its first
 * subflow. Out of that comes a TCP connection for each client that does not speak MPTCP (RFC 8684
 * section 3.7). Those are ours. A connection of MPTCP is the server's, who takes it out of the
 * queue itself. Once a socket has it, it cannot be moved to another one.
 */
#include <linux/in.h>
#include <linux/net.h>
#include <linux/rculist_nulls.h>
#include <net/inet_connection_sock.h>
#include <net/inet_hashtables.h>
#include <net/mptcp.h>
#include <net/sock.h>
#include "../files/vhost.h"
#include "mptcp.h"

/* The listening TCP socket that wakes @sock. RCU. */
static struct sock *khttpd_mptcp_find(const struct inet_listen_hashbucket *bucket,
				      const struct socket *sock)
{
	struct hlist_nulls_node *node;
	struct sock *sk;

	sk_nulls_for_each_rcu(sk, node, &bucket->nulls_head) {
		if ((const void *)rcu_access_pointer(sk->sk_wq) == &sock->wq &&
		    refcount_inc_not_zero(&sk->sk_refcnt))
			return sk;
	}
	return NULL;
}

/**
 * khttpd_mptcp_first() - the TCP listener inside one of MPTCP
 * @sock: a listening socket of MPTCP; the caller holds its file
 *
 * Nothing but the table of all listeners leads to it.
 *
 * Context: process.
 * Return: its sock, with a reference; NULL if there is none.
 */
struct sock *khttpd_mptcp_first(const struct socket *sock)
{
	const struct inet_hashinfo *table = sock_net(sock->sk)->ipv4.tcp_death_row.hashinfo;
	struct sock *sk = NULL;
	unsigned int i;

	for (i = 0; i <= table->lhash2_mask && !sk; i++) {
		rcu_read_lock();
		sk = khttpd_mptcp_find(&table->lhash2[i], sock);
		rcu_read_unlock();
		cond_resched();
	}
	return sk;
}

/**
 * khttpd_mptcp_ops() - the operations of a TCP connection
 * @sock: a listening socket of MPTCP
 *
 * Context: process.
 * Return: those of the same family and namespace; NULL if there are none.
 */
const struct proto_ops *khttpd_mptcp_ops(const struct socket *sock)
{
	const struct proto_ops *ops;
	struct socket *tcp;

	if (sock_create_kern(sock_net(sock->sk), sock->sk->sk_family, SOCK_STREAM, IPPROTO_TCP,
			     &tcp))
		return NULL;
	ops = tcp->ops;
	sock_release(tcp);
	return ops;
}

/**
 * khttpd_mptcp_next() - is the next connection in the queue one of MPTCP?
 * @sk: from khttpd_mptcp_first()
 *
 * Context: process; nobody else takes one out meanwhile.
 */
bool khttpd_mptcp_next(struct sock *sk)
{
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	const struct request_sock *req;
	bool next;

	spin_lock_bh(&queue->rskq_lock);
	req = queue->rskq_accept_head;
	next = req && sk_is_mptcp(req->sk);
	spin_unlock_bh(&queue->rskq_lock);
	return next;
}

static bool khttpd_mptcp_denies(const struct khttpd_site *site, struct khttpd_path *path)
{
	const struct khttpd_rules *rules = site->options.rules;

	return rules && rules->kinds & (BIT(KHTTPD_RULE_DENY) | BIT(KHTTPD_RULE_BLOCK));
}

/**
 * khttpd_mptcp_refused() - must a server not get connections of MPTCP?
 * @listener: its listener
 *
 * Nobody here reads them, and no rule that denies a path may be passed by.
 *
 * Context: any.
 */
bool khttpd_mptcp_refused(const struct khttpd_listener *listener)
{
	bool refused;

	rcu_read_lock();
	refused = khttpd_vhosts_any(rcu_dereference(listener->site), khttpd_mptcp_denies, NULL);
	rcu_read_unlock();
	return refused;
}
