// SPDX-License-Identifier: GPL-2.0
/* TIME-WAIT (RFC 9293 3.6.1) in a small object that replaces the socket; also holds
 * FIN-WAIT-2 of connections whose process is gone. Bounded per namespace by
 * net.ipv4.tcp_max_tw_buckets: beyond it connections close without waiting.
 */
#include <linux/slab.h>

#include "../../../compat/tcp.h"
#include "../../../compat/timer.h"
#include "conn.h"
#include "md5.h"

static struct kmem_cache *tw_slab;

static struct net6_net *net6_tcp_tw_nn(const struct net6_tcp_tw *tw)
{
	return net6_pernet(read_pnet(&tw->common.skc_net));
}

/**
 * net6_tcp_tw_put() - drop a reference
 * @tw: entry
 *
 * Context: any.
 */
void net6_tcp_tw_put(struct net6_tcp_tw *tw)
{
	if (!refcount_dec_and_test(&tw->common.skc_refcnt))
		return;
	kfree_sensitive(tw->md5);
	kmem_cache_free(tw_slab, tw);
}

/* The entry is out of the table: give up what it stood for, and the table's reference. */
static void net6_tcp_tw_finish(struct net6_tcp_tw *tw)
{
	net6_tcp_port_put_tw(tw);
	atomic_dec(&net6_tcp_tw_nn(tw)->tcp->tw_count);
	net6_tcp_tw_put(tw);
}

/**
 * net6_tcp_tw_taken() - end an entry that a new connection has taken out of the table
 * @tw: entry, with the table's reference
 *
 * Context: any.
 */
void net6_tcp_tw_taken(struct net6_tcp_tw *tw)
{
	bool pending = timer_delete(&tw->timer);

	net6_tcp_tw_finish(tw);
	if (pending)
		net6_tcp_tw_put(tw);
}

/**
 * net6_tcp_tw_kill() - end an entry now
 * @tw: entry; the caller's reference stays
 *
 * Context: any.
 */
void net6_tcp_tw_kill(struct net6_tcp_tw *tw)
{
	if (net6_tcp_unhash_tw(tw))
		net6_tcp_tw_finish(tw);
	if (timer_delete(&tw->timer))
		net6_tcp_tw_put(tw);
}

static void net6_tcp_tw_timer(struct timer_list *t)
{
	struct net6_tcp_tw *tw = timer_container_of(tw, t, timer);

	if (net6_tcp_unhash_tw(tw))
		net6_tcp_tw_finish(tw);
	net6_tcp_tw_put(tw);
}

/* Wait from now on again, if it still waits: a timer that fired stays fired. */
static void net6_tcp_tw_rearm(struct net6_tcp_tw *tw, unsigned long timeo)
{
	mod_timer_pending(&tw->timer, jiffies + timeo);
}

static struct net6_tcp_tw *net6_tcp_tw_create(struct sock *sk, int state)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct net6_tcp_tw *tw;

	tw = kmem_cache_alloc(tw_slab, GFP_ATOMIC);
	if (!tw)
		return NULL;
	if (unlikely(net6_tcp_md5_copy(sk, &tw->md5))) {
		kmem_cache_free(tw_slab, tw);
		return NULL;
	}
	tw->common.skc_family = sk->sk_family;
	tw->common.skc_state = TCP_TIME_WAIT;
	tw->common.skc_reuse = sk->sk_reuse;
	tw->common.skc_reuseport = sk->sk_reuseport;
	tw->common.skc_ipv6only = sk->sk_ipv6only;
	tw->common.skc_bound_dev_if = sk->sk_bound_dev_if;
	tw->common.skc_prot = sk->sk_prot_creator;
	write_pnet(&tw->common.skc_net, sock_net(sk));
	tw->common.skc_hash = sk->sk_hash;
	tw->common.skc_portpair = sk->sk_portpair;
	tw->common.skc_v6_daddr = sk->sk_v6_daddr;
	tw->common.skc_v6_rcv_saddr = sk->sk_v6_rcv_saddr;
	tw->common.skc_nulls_node.pprev = NULL;
	tw->common.skc_bind_node.pprev = NULL;
	atomic64_set(&tw->common.skc_cookie, 0);
	tw->substate = state;
	tw->tclass = net6_np(sk)->tclass;
	tw->hop_limit = net6_np(sk)->hop_limit > 0 ? net6_np(sk)->hop_limit :
						      NET6_DEFAULT_HOP_LIMIT;
	tw->mark = sk->sk_mark;
	tw->priority = sk->sk_priority;
	tw->ts_ok = tp->rx_opt.tstamp_ok;
	tw->rcv_nxt = tp->rcv_nxt;
	tw->snd_nxt = tp->snd_nxt;
	/* The window advertised last, as it goes into the header. */
	tw->rcv_wscale = tp->rx_opt.rcv_wscale;
	tw->rcv_wnd = tcp_receive_window(tp);
	tw->ts_recent = tp->rx_opt.ts_recent;
	tw->ts_recent_stamp = tp->rx_opt.ts_recent_stamp;
	tw->ts_offset = tp->tsoffset;
	tw->last_ack = tp->last_oow_ack_time;
	timer_setup(&tw->timer, net6_tcp_tw_timer, TIMER_PINNED);
	return tw;
}

static bool net6_tcp_tw_admit(struct net6_net *nn)
{
	if (nn->exiting)
		return false;
	if ((u32)atomic_inc_return(&nn->tcp->tw_count) <= net6_tcp_max_tw(nn))
		return true;
	atomic_dec(&nn->tcp->tw_count);
	NET6_INC(nn, TcpTimeWaitOverflow);
	return false;
}

/**
 * net6_tcp_time_wait() - put a small object in a socket's place, and close the socket
 * @sk: socket, locked; CLOSED afterwards
 * @state: TCP_TIME_WAIT, or TCP_FIN_WAIT2 if the peer's FIN is still to come
 * @timeo: how long, jiffies; TIME-WAIT always takes TCP_TIMEWAIT_LEN
 *
 * Context: any.
 */
void net6_tcp_time_wait(struct sock *sk, int state, int timeo)
{
	const int rto = (inet_csk(sk)->icsk_rto << 2) - (inet_csk(sk)->icsk_rto >> 1);
	struct net6_net *nn = net6_tcp_nn_locked(sk);
	struct net6_tcp_tw *tw = NULL;

	if (net6_tcp_tw_admit(nn)) {
		tw = net6_tcp_tw_create(sk, state);
		if (!tw)
			atomic_dec(&nn->tcp->tw_count);
	}
	if (tw) {
		/* Long enough for the peer to retransmit its FIN a few times. */
		timeo = state == TCP_TIME_WAIT ? TCP_TIMEWAIT_LEN : max(timeo, rto);
		local_bh_disable();
		/* A CPU that finds it may end it, and must find the timer armed. That runs on
		 * this CPU, thus not before it is complete.
		 */
		mod_timer(&tw->timer, jiffies + timeo);
		net6_tcp_port_to_tw(sk, tw);
		net6_tcp_hash_tw(sk, tw);
		net6_tcp_tw_put(tw);
		local_bh_enable();
		NET6_INC(nn, TcpTimeWaited);
	}
	net6_tcp_done(sk);
}

/**
 * net6_tcp_tw_reusable() - may connect() take this name over?
 * @tw: entry, in the table
 *
 * RFC 6191, and net.ipv4.tcp_tw_reuse as the kernel reads it: 1 always, 2 for
 * loopback only; with timestamps, and one second after the last segment.
 * Context: the table's lock is held.
 */
bool net6_tcp_tw_reusable(const struct net6_tcp_tw *tw)
{
	int reuse = READ_ONCE(read_pnet(&tw->common.skc_net)->ipv4.sysctl_tcp_tw_reuse);

	if (tw->substate != TCP_TIME_WAIT || !tw->ts_ok || !tw->ts_recent_stamp)
		return false;
	if (reuse == 2 && !ipv6_addr_loopback(&tw->common.skc_v6_daddr) &&
	    !ipv6_addr_equal(&tw->common.skc_v6_daddr, &tw->common.skc_v6_rcv_saddr))
		return false;
	return reuse && time_after32(ktime_get_seconds(), tw->ts_recent_stamp);
}

static void net6_tcp_tw_ack(struct net6_tcp_tw *tw)
{
	struct net6_net *nn = net6_tcp_tw_nn(tw);
	struct net6_tcp_reply r = {
		.saddr		= &tw->common.skc_v6_rcv_saddr,
		.daddr		= &tw->common.skc_v6_daddr,
		.sport		= htons(tw->common.skc_num),
		.dport		= tw->common.skc_dport,
		.seq		= tw->snd_nxt,
		.ack		= tw->rcv_nxt,
		.window		= min(tw->rcv_wnd >> tw->rcv_wscale, 65535U),
		.flags		= TCPHDR_ACK,
		.tclass		= tw->tclass,
		.hop_limit	= tw->hop_limit,
		.tstamp_ok	= tw->ts_ok,
		.tsval		= net6_compat_tcp_ts() + tw->ts_offset,
		.tsecr		= tw->ts_recent,
		.oif		= tw->common.skc_bound_dev_if,
		.mark		= tw->mark,
		.priority	= tw->priority,
		.md5		= tw->md5,
	};

	net6_tcp_reply(nn, &r);
}

/* RFC 5961 section 7: answers to segments out of the window are limited. */
static void net6_tcp_tw_ack_limited(struct net6_tcp_tw *tw)
{
	u32 gap = READ_ONCE(read_pnet(&tw->common.skc_net)->ipv4.sysctl_tcp_invalid_ratelimit);
	u32 now = tcp_jiffies32;

	if (tw->last_ack && (s32)(now - tw->last_ack) >= 0 && now - tw->last_ack < gap)
		return;
	tw->last_ack = now ?: 1;
	net6_tcp_tw_ack(tw);
}

static void net6_tcp_tw_note_ts(struct net6_tcp_tw *tw, const struct net6_tcp_opts *o)
{
	if (o->tstamp_ok && tw->ts_ok) {
		tw->ts_recent = o->tsval;
		tw->ts_recent_stamp = ktime_get_seconds();
	}
}

static bool net6_tcp_tw_paws(const struct net6_tcp_tw *tw, const struct net6_tcp_opts *o)
{
	return tw->ts_ok && o->tstamp_ok && (s32)(tw->ts_recent - o->tsval) > TCP_PAWS_WINDOW &&
	       !time_before32(tw->ts_recent_stamp + NET6_TCP_TS_VALID, ktime_get_seconds());
}

static bool net6_tcp_tw_in_window(const struct net6_tcp_tw *tw, u32 seq, u32 end_seq)
{
	u32 end = tw->rcv_nxt + tw->rcv_wnd;

	if (seq == tw->rcv_nxt || (after(end_seq, tw->rcv_nxt) && before(seq, end)))
		return true;
	return seq == end && seq == end_seq;
}

/* FIN-WAIT-2 without a process: only the peer's FIN is welcome. */
static void net6_tcp_tw_fin_wait2(struct net6_tcp_tw *tw, struct sk_buff *skb,
				  const struct net6_tcp_opts *o)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	const struct tcphdr *th = tcp_hdr(skb);

	if (net6_tcp_tw_paws(tw, o) || !net6_tcp_tw_in_window(tw, cb->seq, cb->end_seq)) {
		if (!th->rst)
			net6_tcp_tw_ack_limited(tw);
		return;
	}
	if (th->rst) {
		net6_tcp_tw_kill(tw);
		return;
	}
	if (th->syn && !before(cb->seq, tw->rcv_nxt)) {
		net6_tcp_tw_ack_limited(tw);	/* RFC 5961 section 4 */
		return;
	}
	if (!th->ack || !after(cb->end_seq, tw->rcv_nxt) || cb->end_seq == cb->seq)
		return;
	/* RFC 9293 3.6.1, SHLD-3: data after CLOSE are answered with a reset. */
	if (!th->fin || cb->end_seq != tw->rcv_nxt + 1) {
		NET6_INC(net6_tcp_tw_nn(tw), TcpAbortOnData);
		net6_tcp_tw_kill(tw);
		net6_tcp_send_reset(net6_tcp_tw_nn(tw), (struct sock *)tw, skb);
		return;
	}
	tw->substate = TCP_TIME_WAIT;
	tw->rcv_nxt = cb->end_seq;
	net6_tcp_tw_note_ts(tw, o);
	net6_tcp_tw_rearm(tw, TCP_TIMEWAIT_LEN);
	net6_tcp_tw_ack(tw);
}

/**
 * net6_tcp_tw_rcv() - a segment for a connection in TIME-WAIT
 * @tw: entry, reference held by the caller
 * @skb: segment; borrowed
 * @isn: filled for NET6_TCP_TW_SYN: the new connection's initial sequence number
 *
 * RFC 9293 3.10.7.4, RFC 1337, RFC 6191. Two segments handled at once on two CPUs may
 * both be answered: that is harmless, so there is no lock.
 * Context: softirq, RCU read lock held.
 * Return: NET6_TCP_TW_SYN if a listener may begin a new connection with this SYN.
 */
enum net6_tcp_tw_verdict net6_tcp_tw_rcv(struct net6_tcp_tw *tw, struct sk_buff *skb, u32 *isn)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	const struct tcphdr *th = tcp_hdr(skb);
	struct net6_tcp_opts o = {};
	bool paws;

	net6_tcp_parse_options((const u8 *)(th + 1), th->doff * 4 - sizeof(*th), th->syn, &o);
	if (tw->substate == TCP_FIN_WAIT2) {
		net6_tcp_tw_fin_wait2(tw, skb, &o);
		return NET6_TCP_TW_DONE;
	}
	paws = net6_tcp_tw_paws(tw, &o);
	if (!paws && cb->seq == tw->rcv_nxt && (cb->seq == cb->end_seq || th->rst)) {
		if (!th->rst) {
			net6_tcp_tw_rearm(tw, TCP_TIMEWAIT_LEN);
			net6_tcp_tw_note_ts(tw, &o);
		} else if (!READ_ONCE(read_pnet(&tw->common.skc_net)->ipv4.sysctl_tcp_rfc1337)) {
			net6_tcp_tw_kill(tw);
		}
		return NET6_TCP_TW_DONE;
	}
	/* RFC 6191 section 2, RFC 9293 MAY-2: a new incarnation that cannot be old. */
	if (th->syn && !th->rst && !th->ack && !paws &&
	    (after(cb->seq, tw->rcv_nxt) ||
	     (o.tstamp_ok && tw->ts_ok && (s32)(tw->ts_recent - o.tsval) < 0))) {
		*isn = tw->snd_nxt + 65535 + 2 ?: 1;
		return NET6_TCP_TW_SYN;
	}
	if (paws)
		NET6_INC(net6_tcp_tw_nn(tw), TcpPAWSEstab);
	if (!th->rst) {
		if (paws || th->ack)
			net6_tcp_tw_rearm(tw, TCP_TIMEWAIT_LEN);
		net6_tcp_tw_ack_limited(tw);
	}
	return NET6_TCP_TW_DONE;
}

static int net6_tcp_tw_purge_one(struct sock *sk, void *arg)
{
	if (sk->sk_state == TCP_TIME_WAIT)
		net6_tcp_tw_kill((struct net6_tcp_tw *)sk);
	return 0;
}

/**
 * net6_tcp_tw_purge() - end the entries of a namespace that goes away
 * @net: namespace; no new entries are made
 *
 * Context: process.
 */
void net6_tcp_tw_purge(struct net *net)
{
	u64 pos = 0;

	net6_tcp_walk(net, &pos, net6_tcp_tw_purge_one, NULL);
}

/**
 * net6_tcp_tw_init() - make the slab
 *
 * Return: 0 or -ENOMEM.
 */
int net6_tcp_tw_init(void)
{
	BUILD_BUG_ON(!IS_ENABLED(CONFIG_LOCKDEP) && sizeof(struct net6_tcp_tw) > 256);
	tw_slab = KMEM_CACHE(net6_tcp_tw, SLAB_TYPESAFE_BY_RCU | SLAB_HWCACHE_ALIGN);
	return tw_slab ? 0 : -ENOMEM;
}

/**
 * net6_tcp_tw_exit() - free the slab; no entry is left
 */
void net6_tcp_tw_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(tw_slab);
	tw_slab = NULL;
}
