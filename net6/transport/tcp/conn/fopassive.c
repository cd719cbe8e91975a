// SPDX-License-Identifier: GPL-2.0
/* TCP Fast Open (RFC 7413), the server. A SYN with a cookie of ours makes the child at once, in
 * SYN-RECEIVED. The SYN's data is before its reader. The SYN-ACK is in its retransmission queue,
 * as after a simultaneous open. Until the handshake's ACK comes it counts in its listener's queue
 * of such requests: section 5.1 bounds what spoofed SYNs can cause. It keeps the request, which
 * holds the listener, in the kernel's fastopen_rsk.
 */
#include <linux/slab.h>

#include "../../../compat/tcp.h"
#include "../calls/calls.h"
#include "../engine/engine.h"
#include "conn.h"
#include "fastopen.h"

/* RFC 7413 5.1: a request that was reset counts this long. Otherwise a spoofer whose victim
 * answers with resets would have a queue without bounds.
 */
#define NET6_TCP_FO_RST_TIME	(60 * HZ)

/* A request that was reset and still counts. */
struct net6_tcp_fo_rst {
	struct net6_tcp_fo_rst	*next;
	unsigned long	until;		/* jiffies */
};

static struct fastopen_queue *net6_tcp_fo_queue(struct sock *listener)
{
	return &inet_csk(listener)->icsk_accept_queue.fastopenq;
}

/* The kernel's places for its list of the same kind; nothing else looks at a listener's of ours. */
static struct net6_tcp_fo_rst **net6_tcp_fo_rst_head(struct fastopen_queue *q)
{
	return (struct net6_tcp_fo_rst **)&q->rskq_rst_head;
}

static struct net6_tcp_fo_rst **net6_tcp_fo_rst_tail(struct fastopen_queue *q)
{
	return (struct net6_tcp_fo_rst **)&q->rskq_rst_tail;
}

/* One more request; false if there are as many as there may be. */
static bool net6_tcp_fo_slot_take(struct sock *listener)
{
	struct fastopen_queue *q = net6_tcp_fo_queue(listener);
	struct net6_tcp_fo_rst *rst;
	bool ok;

	spin_lock_bh(&q->lock);
	rst = *net6_tcp_fo_rst_head(q);
	if (q->qlen >= q->max_qlen && rst && time_after_eq(jiffies, rst->until)) {
		*net6_tcp_fo_rst_head(q) = rst->next;
		q->qlen--;
	} else {
		rst = NULL;
	}
	ok = q->qlen < q->max_qlen;
	if (ok)
		q->qlen++;
	spin_unlock_bh(&q->lock);
	kfree(rst);
	return ok;
}

/* One less; with @rst only after a while. Without memory for that, now. */
static void net6_tcp_fo_slot_give(struct sock *listener, bool reset)
{
	struct fastopen_queue *q = net6_tcp_fo_queue(listener);
	struct net6_tcp_fo_rst *rst = NULL;

	if (reset)
		rst = kmalloc(sizeof(*rst), GFP_ATOMIC | __GFP_NOWARN);
	spin_lock_bh(&q->lock);
	if (rst && listener->sk_state == TCP_LISTEN) {
		rst->next = NULL;
		rst->until = jiffies + NET6_TCP_FO_RST_TIME;
		if (*net6_tcp_fo_rst_head(q))
			(*net6_tcp_fo_rst_tail(q))->next = rst;
		else
			*net6_tcp_fo_rst_head(q) = rst;
		*net6_tcp_fo_rst_tail(q) = rst;
		rst = NULL;
	} else {
		q->qlen--;
	}
	spin_unlock_bh(&q->lock);
	kfree(rst);
}

/**
 * net6_tcp_fastopen_stop() - a listener has stopped
 * @listener: in state CLOSE, its children and requests are gone
 *
 * Context: process.
 */
void net6_tcp_fastopen_stop(struct sock *listener)
{
	struct fastopen_queue *q = net6_tcp_fo_queue(listener);
	struct net6_tcp_fo_rst *rst, *next;

	spin_lock_bh(&q->lock);
	rst = *net6_tcp_fo_rst_head(q);
	*net6_tcp_fo_rst_head(q) = NULL;
	for (next = rst; next; next = next->next)
		q->qlen--;
	spin_unlock_bh(&q->lock);
	for (; rst; rst = next) {
		next = rst->next;
		kfree(rst);
	}
}

/* ---- birth ---- */

/* The child differs from one whose handshake is done. Its SYN is not acknowledged, and the window
 * of a SYN is not scaled (RFC 7323 2.2).
 */
static void net6_tcp_fo_sequence(struct sock *child, const struct sk_buff *skb,
				 const struct net6_tcp_request *req)
{
	struct tcp_sock *tp = tcp_sk(child);

	tp->snd_una = req->snt_isn;
	tp->snd_up = req->snt_isn;
	/* No small segment waits for its ACK (Nagle). */
	tp->snd_sml = req->snt_isn;
	tp->snd_wnd = ntohs(tcp_hdr(skb)->window);
	tp->max_window = tp->snd_wnd;
}

/* It never was a connection, and the peer has not heard of it: the request goes the ordinary
 * way.
 */
static void net6_tcp_fo_undo(struct sock *child, struct net6_tcp_request *req)
{
	req->saved_syn = tcp_sk(child)->saved_syn;
	tcp_sk(child)->saved_syn = NULL;
	net6_compat_clear_cb_flags(child);
	net6_tcp_prepare_orphan(child);
	net6_tcp_done(child);
	net6_tcp_child_unlock(child);
	sock_put(child);
}

static struct sock *net6_tcp_fo_child(struct sock *listener, struct sk_buff *skb,
				      struct net6_tcp_request *req)
{
	struct sock *child;

	if (!net6_tcp_fo_slot_take(listener)) {
		NET6_INC(net6_tcp_nn_rcu(listener), TcpFastOpenListenOverflow);
		return NULL;
	}
	req->fastopen = true;
	child = net6_tcp_child(listener, skb, req, false);
	if (!child)
		goto failed;
	net6_tcp_fo_sequence(child, skb, req);
	if (!net6_tcp_queue_synack(child)) {
		net6_tcp_fo_undo(child, req);
		goto failed;
	}
	/* The caller's reference is the child's now: there is no other. */
	refcount_set(&req->common.skc_refcnt, 1);
	rcu_assign_pointer(tcp_sk(child)->fastopen_rsk, (struct request_sock *)req);
	net6_tcp_engine_established(child, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB, skb);
	return child;

failed:
	req->fastopen = false;
	net6_tcp_fo_slot_give(listener, false);
	return NULL;
}

/* The SYN's data into the receive queue, or not: then only the SYN is acknowledged and they
 * come again. Returns true if @skb was taken.
 */
static bool net6_tcp_fo_take_data(struct sock *child, struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(child);

	if (cb->end_seq == cb->seq + 1 || cb->end_seq - tp->rcv_nxt > tp->rcv_wnd ||
	    net6_tcp_rmem_schedule(child, skb))
		return false;
	tp->segs_in = 0;
	tcp_segs_in(tp, skb);
	__skb_pull(skb, tcp_hdrlen(skb));
	cb->seq++;
	cb->tcp_flags &= ~TCPHDR_SYN;
	net6_tcp_queue_rcv(child, skb);
	tp->rcv_wup = tp->rcv_nxt;
	tp->syn_data_acked = 1;
	return true;
}

/* The first SYN-ACK; a client with an old cookie gets a fresh one (RFC 7413 4.1.2). */
static void net6_tcp_fo_send_synack(struct sock *child, const struct net6_tcp_request *req,
				    bool cookie)
{
	struct tcp_fastopen_request fo = {};

	if (cookie) {
		fo.cookie.len = net6_tcp_fastopen_cookie(req, fo.cookie.val);
		if (fo.cookie.len)
			tcp_sk(child)->fastopen_req = &fo;
	}
	net6_tcp_send_synack(child);
	tcp_sk(child)->fastopen_req = NULL;
}

/* To who takes it: a module, or the accept queue. Gives up the lock and the reference. */
static void net6_tcp_fo_deliver(struct sock *listener, struct sock *child, bool data)
{
	if (!net6_tcp_user_offer(listener, child) &&
	    !net6_tcp_accept_queue_add(listener, child)) {
		sock_hold(child);
		net6_tcp_child_forget(child);
		net6_tcp_child_unlock(child);
		sock_put(child);
		sock_put(child);
		return;
	}
	if (data)
		net6_tcp_data_ready(child);
	if (likely(net6_tcp_sk(child)->listener))
		listener->sk_data_ready(listener);
	net6_tcp_user_receive(child);
	net6_tcp_child_unlock(child);
	sock_put(child);
}

/**
 * net6_tcp_fastopen_request() - a SYN for a listener with Fast Open
 * @listener: listener
 * @skb: SYN
 * @req: made of it, in no table; told whether its SYN-ACK is to have a cookie
 * @o: its options
 *
 * RFC 7413 4.1.2 and 4.2.2.
 * Context: softirq, RCU read lock held.
 * Return: true if there is a child: @skb is consumed and @req the child's.
 */
bool net6_tcp_fastopen_request(struct sock *listener, struct sk_buff *skb,
			       struct net6_tcp_request *req, const struct net6_tcp_opts *o)
{
	bool data = TCP_SKB_CB(skb)->end_seq != TCP_SKB_CB(skb)->seq + 1;
	int mode = READ_ONCE(sock_net(listener)->ipv4.sysctl_tcp_fastopen);
	struct net6_net *nn = net6_tcp_nn_rcu(listener);
	struct sock *child;
	int key = 1;

	if (o->fastopen_ok && !o->fastopen_len)
		NET6_INC(nn, TcpFastOpenCookieReqd);
	if (!(mode & TFO_SERVER_ENABLE) || !(data || o->fastopen_ok))
		return false;
	if (!(mode & TFO_SERVER_COOKIE_NOT_REQD) && !tcp_sk(listener)->fastopen_no_cookie &&
	    !net6_metric(req->dest->metrics, RTAX_FASTOPEN_NO_COOKIE)) {
		key = net6_tcp_fastopen_cookie_key(req, o);
		req->fo_cookie = o->fastopen_ok && key != 1;
		if (!key) {
			if (o->fastopen_len)
				NET6_INC(nn, TcpFastOpenPassiveFail);
			return false;
		}
	}
	child = net6_tcp_fo_child(listener, skb, req);
	if (!child) {
		NET6_INC(nn, TcpFastOpenPassiveFail);
		return false;
	}
	NET6_INC(nn, TcpFastOpenPassive);
	NET6_INC(nn, TcpPassiveOpens);
	if (key == 2)
		NET6_INC(nn, TcpFastOpenPassiveAltKey);
	data = net6_tcp_fo_take_data(child, skb);
	net6_tcp_fo_send_synack(child, req, key == 2);
	net6_tcp_fo_deliver(listener, child, data);
	if (!data)
		consume_skb(skb);
	return true;
}

/* ---- until the handshake is done ---- */

static struct net6_tcp_request *net6_tcp_fo_request(const struct sock *sk)
{
	return (__force struct net6_tcp_request *)tcp_sk(sk)->fastopen_rsk;
}

/**
 * net6_tcp_fastopen_check() - a segment for a child whose handshake is not done
 * @sk: net6_tcp_fastopen_pending()
 * @skb: segment; consumed if it is not to be processed further
 *
 * The SYN again means that our SYN-ACK was lost; its data are not looked at.
 * Return: true if processing goes on.
 */
bool net6_tcp_fastopen_check(struct sock *sk, struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct sk_buff *synack = tcp_rtx_queue_head(sk);

	if (th->rst)
		return true;
	if (th->syn && !th->ack && !th->fin &&
	    TCP_SKB_CB(skb)->seq == net6_tcp_fo_request(sk)->rcv_isn) {
		if (synack && !net6_tcp_oow_limited(sk, skb)) {
			net6_tcp_send_synack(sk);
			/* Karn: which one will the ACK be for? */
			TCP_SKB_CB(synack)->sacked |= TCPCB_EVER_RETRANS;
		}
		net6_drop(net6_tcp_nn(sk), skb, NET6_DROP_TCP_WINDOW);
		return false;
	}
	return true;
}

/**
 * net6_tcp_fastopen_gone() - a child counts no more: its handshake or its life has ended
 * @sk: net6_tcp_fastopen_pending()
 * @reset: the peer has reset it
 *
 * Context: any.
 */
void net6_tcp_fastopen_gone(struct sock *sk, bool reset)
{
	struct net6_tcp_request *req = net6_tcp_fo_request(sk);

	RCU_INIT_POINTER(tcp_sk(sk)->fastopen_rsk, NULL);
	net6_tcp_fo_slot_give(req->listener, reset);
	net6_tcp_request_put(req);
}

/**
 * net6_tcp_fastopen_opened() - the handshake's ACK has come and was processed
 * @sk: net6_tcp_fastopen_pending()
 */
void net6_tcp_fastopen_opened(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	net6_tcp_fastopen_gone(sk, false);
	/* RFC 6298 5.7: the SYN-ACK was retransmitted and no sample came of it. */
	if (!tp->srtt_us && tp->total_retrans > 0) {
		inet_csk(sk)->icsk_rto = TCP_TIMEOUT_FALLBACK;
		net6_tcp_rearm_rto(sk);
	}
	if (sk->sk_state != TCP_SYN_RECV)
		return;
	net6_tcp_set_state(sk, TCP_ESTABLISHED);
	tcp_fast_path_on(tp);
	if (sock_flag(sk, SOCK_KEEPOPEN))
		net6_tcp_reset_sk_timer(sk, keepalive_time_when(tp));
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
}
