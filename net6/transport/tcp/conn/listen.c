// SPDX-License-Identifier: GPL-2.0
/* Listeners: listen(), the queue of children that wait for accept(), and the birth of a child at
 * the end of its handshake. A listener that closes decides what becomes of them.
 */
#include <linux/sched/signal.h>
#include <net6/tcp.h>

#include "../../../compat/tcp.h"
#include "../../../socket/mapped.h"
#include "../calls/calls.h"
#include "../engine/entry.h"
#include "conn.h"
#include "fastopen.h"
#include "md5.h"
#include "../lsm_ops.h"

/**
 * net6_tcp_listen() - make a socket listen, or change its backlog
 * @sk: socket, owned by the caller
 * @backlog: children that may wait; the request queue has the same bound
 *
 * Context: process.
 * Return: 0, -EINVAL in a wrong state, -EADDRINUSE, -ENOMEM.
 */
int net6_tcp_listen(struct sock *sk, int backlog)
{
	int mode = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_fastopen);
	int err;

	if (!((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN)))
		return -EINVAL;
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	if (sk->sk_state == TCP_LISTEN)
		return 0;

	/* Fast Open for all listeners, as on the native stack. */
	if (mode & TFO_SERVER_WO_SOCKOPT1 && mode & TFO_SERVER_ENABLE &&
	    !inet_csk(sk)->icsk_accept_queue.fastopenq.max_qlen) {
		net6_tcp_fastopen_net_key(sock_net(sk));
		fastopen_queue_tune(sk, backlog);
	}
	WRITE_ONCE(sk->sk_ack_backlog, 0);
	net6_tcp_sk(sk)->accept_first = NULL;
	/* In this state others see the conflict while the port is checked again. */
	net6_tcp_set_state(sk, TCP_LISTEN);
	err = net6_tcp_get_port(sk, inet_sk(sk)->inet_num);
	if (!err) {
		inet_sk(sk)->inet_sport = htons(inet_sk(sk)->inet_num);
		err = net6_tcp_hash_listener(sk);
	}
	if (err)
		net6_tcp_set_state(sk, TCP_CLOSE);
	else
		net6_tcp_ops_tell(sk, BPF_SOCK_OPS_TCP_LISTEN_CB);
	return err;
}

/**
 * net6_tcp_accept_queue_add() - a child waits for accept()
 * @listener: its listener
 * @child: locked, hashed; the queue takes one reference
 *
 * Context: softirq.
 * Return: false if the listener has stopped.
 */
bool net6_tcp_accept_queue_add(struct sock *listener, struct sock *child)
{
	struct request_sock_queue *queue = &inet_csk(listener)->icsk_accept_queue;
	struct net6_tcp_sock *ls = net6_tcp_sk(listener), *new = net6_tcp_sk(child);
	bool ok;

	spin_lock(&queue->rskq_lock);
	ok = listener->sk_state == TCP_LISTEN;
	if (likely(ok)) {
		new->listener = listener;
		new->accept_next = NULL;
		if (ls->accept_first)
			ls->accept_last->accept_next = new;
		else
			WRITE_ONCE(ls->accept_first, new);
		ls->accept_last = new;
		sk_acceptq_added(listener);
	}
	spin_unlock(&queue->rskq_lock);
	return ok;
}

/**
 * net6_tcp_accept_queue_wait() - have the attached user told when there is room
 * @listener: its accept queue seemed full
 *
 * Context: any.
 * Return: false if it is not full: nobody will be told.
 */
bool net6_tcp_accept_queue_wait(struct sock *listener)
{
	struct request_sock_queue *queue = &inet_csk(listener)->icsk_accept_queue;
	struct net6_tcp_owner *owner;
	bool full;

	rcu_read_lock();
	spin_lock_bh(&queue->rskq_lock);
	full = sk_acceptq_is_full(listener);
	owner = net6_tcp_owner(listener);
	if (full && owner)
		WRITE_ONCE(owner->full, true);
	spin_unlock_bh(&queue->rskq_lock);
	rcu_read_unlock();
	return full;
}

/* One was taken out. A wait was noted with the queue locked and full. That was before, and is
 * seen here. Or it is full again, and the next accept() will see it.
 */
static void net6_tcp_accept_queue_room(struct sock *listener)
{
	struct net6_tcp_owner *owner = net6_tcp_owner(listener);

	if (likely(!owner) || !READ_ONCE(owner->full))
		return;
	if (xchg(&owner->full, false) && owner->user->room)
		owner->user->room(owner->user, listener);
}

static struct sock *net6_tcp_accept_queue_pop(struct sock *listener)
{
	struct request_sock_queue *queue = &inet_csk(listener)->icsk_accept_queue;
	struct net6_tcp_sock *child;

	spin_lock_bh(&queue->rskq_lock);
	child = net6_tcp_sk(listener)->accept_first;
	if (child) {
		WRITE_ONCE(net6_tcp_sk(listener)->accept_first, child->accept_next);
		WRITE_ONCE(child->accept_next, NULL);
		/* Pairs with net6_tcp_has_pages(): they share a place. */
		smp_store_release(&child->listener, NULL);
		sk_acceptq_removed(listener);
	}
	spin_unlock_bh(&queue->rskq_lock);
	return (struct sock *)child;
}

static bool net6_tcp_accept_queue_empty(const struct sock *sk)
{
	return !READ_ONCE(net6_tcp_sk(sk)->accept_first) && !net6_mapped_accept_ready(sk);
}

/* The next connection: in turn from here and from the IPv4 listener beside us. */
static struct sock *net6_tcp_accept_next(struct sock *sk, bool kern)
{
	struct net6_tcp_port_addr *at = net6_tcp_sk(sk)->port;
	struct sock *child = NULL;

	/* Without a port it listens no more. */
	if (unlikely(net6_mapped_inner(sk)) && at) {
		at->port->inner_turn ^= 1;
		if (at->port->inner_turn)
			child = net6_mapped_accept(sk, kern);
	}
	if (!child)
		child = net6_tcp_accept_queue_pop(sk);
	if (!child)
		child = net6_mapped_accept(sk, kern);
	return child;
}

static int net6_tcp_accept_wait(struct sock *sk, long timeo)
{
	DEFINE_WAIT(wait);
	int err;

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait, TASK_INTERRUPTIBLE);
		release_sock(sk);
		if (net6_tcp_accept_queue_empty(sk))
			timeo = schedule_timeout(timeo);
		sched_annotate_sleep();
		lock_sock(sk);
		err = 0;
		if (!net6_tcp_accept_queue_empty(sk))
			break;
		err = -EINVAL;
		if (sk->sk_state != TCP_LISTEN)
			break;
		err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		err = -EAGAIN;
		if (!timeo)
			break;
	}
	finish_wait(sk_sleep(sk), &wait);
	return err;
}

/**
 * net6_tcp_accept() - take a child out of the queue; proto->accept
 * @sk: listener
 * @arg: flags (O_NONBLOCK), and whether for the kernel's own use. Filled in are is_empty when
 *	there is one, else err: -EAGAIN, -EINVAL, -EINTR or -ERESTARTSYS
 *
 * Context: process.
 * Return: the child, with the queue's reference, or NULL. It is a native one when the
 * connection came by IPv4.
 */
struct sock *net6_tcp_accept(struct sock *sk, struct proto_accept_arg *arg)
{
	struct sock *child = NULL;
	int error = 0;
	long timeo;

	lock_sock(sk);
	if (sk->sk_state != TCP_LISTEN) {
		error = -EINVAL;
		goto out;
	}
	while (!(child = net6_tcp_accept_next(sk, arg->kern))) {
		if (net6_tcp_held_send(net6_tcp_nn(sk)))
			continue;
		timeo = sock_rcvtimeo(sk, arg->flags & O_NONBLOCK);
		error = timeo ? net6_tcp_accept_wait(sk, timeo) : -EAGAIN;
		if (error)
			break;
	}
	if (child) {
		net6_tcp_accept_queue_room(sk);
		arg->is_empty = net6_tcp_accept_queue_empty(sk);
	}
out:
	release_sock(sk);
	if (!child)
		arg->err = error;
	else if (likely(!net6_sk_is_ipv4(child)))
		net6_tcp_memcg_charge(child);
	return child;
}

/**
 * net6_tcp_child_forget() - nobody will accept this one: reset it
 * @child: locked by its spinlock; the reference that its process would have is given up
 *
 * Context: BH disabled.
 */
void net6_tcp_child_forget(struct sock *child)
{
	net6_tcp_disconnect(child, O_NONBLOCK);
	net6_tcp_prepare_orphan(child);
	net6_tcp_destroy(child);
}

/**
 * net6_tcp_listen_stop() - end what a listener has begun
 * @sk: in state CLOSE already, out of the table, owned by the caller
 *
 * Children that nobody accepted are reset (RFC 9293 3.10.4), requests forgotten.
 * Context: process, sleeps.
 */
void net6_tcp_listen_stop(struct sock *sk)
{
	struct sock *child;

	if (atomic_read(&inet_csk(sk)->icsk_accept_queue.qlen))
		net6_tcp_request_purge(sock_net(sk), sk);
	while ((child = net6_tcp_accept_queue_pop(sk))) {
		sock_hold(child);
		/* net6_tcp_give() may have put it in, in a process that owns it still. */
		while (lock_sock_fast_nested(child))
			unlock_sock_fast(child, true);
		net6_tcp_child_forget(child);
		unlock_sock_fast(child, false);
		sock_put(child);
		cond_resched();
	}
	net6_tcp_fastopen_stop(sk);
	/* In a connection this place has another meaning. */
	net6_tcp_sk(sk)->accept_last = NULL;
}

/* A child that could not be entered: it never was a connection. */
static void net6_tcp_child_destroy(struct sock *child)
{
	net6_compat_clear_cb_flags(child);
	/* sk_clone_lock() left it locked, with two references. */
	net6_tcp_child_unlock(child);
	sock_put(child);
	net6_tcp_prepare_orphan(child);
	net6_tcp_done(child);
}

static void net6_tcp_child_sequence(struct sock *child, const struct sk_buff *skb,
				    const struct net6_tcp_request *req)
{
	struct tcp_sock *tp = tcp_sk(child);

	tp->rx_opt.tstamp_ok = req->tstamp_ok;
	tp->rx_opt.saw_tstamp = 0;
	tp->rx_opt.ts_recent = req->ts_recent;
	tp->rx_opt.ts_recent_stamp = req->tstamp_ok ? ktime_get_seconds() : 0;
	tp->rx_opt.sack_ok = req->sack_ok;
	tp->rx_opt.wscale_ok = req->wscale_ok;
	tp->rx_opt.snd_wscale = req->snd_wscale;
	tp->rx_opt.rcv_wscale = req->rcv_wscale;
	tp->rx_opt.mss_clamp = req->peer_mss;
	tp->tcp_header_len = sizeof(struct tcphdr) +
			     (req->tstamp_ok ? TCPOLEN_TSTAMP_ALIGNED : 0);
	tp->tsoffset = req->ts_offset;
	tp->advmss = req->advmss;

	tp->rcv_nxt = req->rcv_isn + 1;
	tp->rcv_wup = tp->rcv_nxt;
	WRITE_ONCE(tp->copied_seq, tp->rcv_nxt);
	tp->rcv_wnd = req->rcv_wnd;
	tp->rcv_ssthresh = req->rcv_wnd;
	tp->window_clamp = req->window_clamp;

	tp->snd_una = req->snt_isn + 1;
	tp->snd_nxt = tp->snd_una;
	tp->snd_up = tp->snd_una;
	tp->snd_sml = tp->snd_una;
	tp->pushed_seq = tp->snd_una;
	WRITE_ONCE(tp->write_seq, tp->snd_una);
	tp->snd_wl1 = TCP_SKB_CB(skb)->seq;
	tp->snd_wnd = (u32)ntohs(tcp_hdr(skb)->window) << req->snd_wscale;
	tp->max_window = tp->snd_wnd;
	tp->ecn_flags = req->ecn_ok ? TCP_ECN_OK : 0;
	tp->segs_in = 1;
	tp->total_retrans = req->retrans;
	tp->lsndtime = tcp_jiffies32;
	tp->rcv_tstamp = tcp_jiffies32;
	inet_csk(child)->icsk_ack.lrcvtime = tcp_jiffies32;
}

/* What a copy of a listener must not share with it. */
static void net6_tcp_child_detach(struct sock *child, const struct net6_tcp_request *req)
{
	struct net6_tcp_sock *ns = net6_tcp_sk(child);
	struct inet_sock *inet = inet_sk(child);

	ns->port = NULL;
	ns->n6.inner = NULL;
	ns->n6.dest = net6_dest_hold(req->dest);
	ns->listener = NULL;
	RCU_INIT_POINTER(inet_csk(child)->icsk_ulp_data, NULL);
	ns->accept_next = NULL;
	memset(&inet_csk(child)->icsk_accept_queue, 0,
	       sizeof(inet_csk(child)->icsk_accept_queue));
	spin_lock_init(&inet_csk(child)->icsk_accept_queue.rskq_lock);
	spin_lock_init(&inet_csk(child)->icsk_accept_queue.fastopenq.lock);
	sk_node_init(&child->sk_bind_node);
	sock_reset_flag(child, SOCK_RCU_FREE);
	child->sk_ack_backlog = 0;

	inet->pinet6 = &ns->tcp6.inet6;
	inet->mc_list = NULL;
	inet->inet_opt = NULL;
	ns->tcp6.inet6.pktoptions = NULL;
	ns->tcp6.inet6.opt = NULL;
	ns->tcp6.inet6.ipv6_mc_list = NULL;
	ns->tcp6.inet6.ipv6_ac_list = NULL;
	ns->tcp6.inet6.saddr = req->common.skc_v6_rcv_saddr;
	child->sk_v6_rcv_saddr = req->common.skc_v6_rcv_saddr;
	child->sk_v6_daddr = req->common.skc_v6_daddr;
	child->sk_bound_dev_if = req->common.skc_bound_dev_if;
	inet->inet_num = req->common.skc_num;
	inet->inet_sport = htons(req->common.skc_num);
	inet->inet_dport = req->common.skc_dport;
	atomic64_set(&child->sk_cookie, 0);
}

/**
 * net6_tcp_child() - a connection is born
 * @listener: its listener
 * @skb: the segment that completes the handshake, or Fast Open's SYN; borrowed
 * @req: what was agreed
 * @hashed: @req is in the table (no SYN cookie); on success its table reference is
 *	the caller's
 *
 * Context: softirq, RCU read lock held.
 * Return: the child, ESTABLISHED, in the accept queue, locked by its spinlock, with a reference
 * for the caller. NULL if the queue is full, memory lacks, the listener has stopped or another
 * segment was faster. For @req->fastopen it is still SYN-RECEIVED, not in the accept queue, and
 * has its reference as well.
 */
struct sock *net6_tcp_child(struct sock *listener, struct sk_buff *skb,
			    struct net6_tcp_request *req, bool hashed)
{
	struct net6_net *nn = net6_tcp_nn_rcu(listener);
	struct sock *child;

	if (sk_acceptq_is_full(listener)) {
		NET6_INC(nn, TcpListenOverflows);
		goto overflow;
	}
	child = net6_tcp_lsm_clone(listener, skb, req);
	if (!child)
		goto overflow;
	child->sk_state = TCP_SYN_RECV;
	net6_tcp_child_detach(child, req);
	net6_tcp_engine_child(child, listener);
	net6_tcp_child_sequence(child, skb, req);
	if (net6_tcp_md5_inherit(child, listener) || net6_tcp_inherit_port(child, listener) ||
	    !net6_tcp_hash_child(child, hashed ? req : NULL)) {
		net6_tcp_child_destroy(child);
		goto overflow;
	}
	child->sk_txhash = child->sk_hash ?: 1;
	tcp_sk(child)->saved_syn = req->saved_syn;
	req->saved_syn = NULL;
	net6_tcp_set_caps(child, req->dest);
	if (unlikely(req->fastopen))
		return child;
	net6_tcp_clock(tcp_sk(child));
	if (req->sent_us)
		net6_tcp_handshake_rtt(child, tcp_sk(child)->tcp_mstamp - req->sent_us);
	net6_tcp_engine_established(child, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB, skb);
	net6_tcp_set_state(child, TCP_ESTABLISHED);
	if (sock_flag(child, SOCK_KEEPOPEN))
		net6_tcp_reset_sk_timer(child, keepalive_time_when(tcp_sk(child)));
	if (!net6_tcp_user_offer(listener, child) &&
	    unlikely(!net6_tcp_accept_queue_add(listener, child))) {
		if (hashed)
			net6_tcp_request_taken(req);
		sock_hold(child);
		net6_tcp_child_forget(child);
		net6_tcp_child_unlock(child);
		sock_put(child);
		sock_put(child);
		goto overflow;
	}
	NET6_INC(nn, TcpPassiveOpens);
	return child;

overflow:
	NET6_INC(nn, TcpListenDrops);
	return NULL;
}
