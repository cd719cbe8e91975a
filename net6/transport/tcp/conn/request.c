// SPDX-License-Identifier: GPL-2.0
/* Embryonic connections: from a SYN to a listener (RFC 9293 3.10.7.2) to the child's
 * birth (3.10.7.4, SYN-RECEIVED), in a small object that retransmits its SYN-ACK.
 * Bounded per listener by its backlog and per namespace; beyond that SYN cookies.
 */
#include <linux/slab.h>
#include <net/ip6_checksum.h>
#include <trace/events/tcp.h>

#include "../../../compat/tcp.h"
#include "../../../compat/timer.h"
#include "../../../core/l3mdev.h"
#include "../engine/entry.h"
#include "conn.h"
#include "fastopen.h"
#include "md5.h"
#include "../lsm_ops.h"

static struct kmem_cache *request_slab;

static struct net6_net *net6_tcp_request_nn(const struct net6_tcp_request *req)
{
	return net6_pernet(read_pnet(&req->common.skc_net));
}

static void net6_tcp_request_free(struct net6_tcp_request *req)
{
	net6_dest_put(req->dest);
	kfree(req->saved_syn);
	sock_put(req->listener);
	kmem_cache_free(request_slab, req);
}

/**
 * net6_tcp_request_put() - drop a reference
 * @req: request
 *
 * Context: any.
 */
void net6_tcp_request_put(struct net6_tcp_request *req)
{
	if (refcount_dec_and_test(&req->common.skc_refcnt))
		net6_tcp_request_free(req);
}

/**
 * net6_tcp_request_taken() - a request is out of the table: stop counting it
 * @req: request; the table's reference is given up
 *
 * Context: any.
 */
void net6_tcp_request_taken(struct net6_tcp_request *req)
{
	atomic_dec(&inet_csk(req->listener)->icsk_accept_queue.qlen);
	atomic_dec(&net6_tcp_request_nn(req)->tcp->req_count);
	if (timer_delete(&req->timer))
		net6_tcp_request_put(req);
	net6_tcp_request_put(req);
}

/**
 * net6_tcp_request_drop() - end a request without a child
 * @req: request; the caller's reference stays
 *
 * Context: any.
 */
void net6_tcp_request_drop(struct net6_tcp_request *req)
{
	if (net6_tcp_unhash_request(req))
		net6_tcp_request_taken(req);
}

static struct sk_buff *net6_tcp_synack_alloc(const struct net6_tcp_request *req, bool cookie,
					     bool md5)
{
	struct net6_tcp_opts o = {
		.mss		= req->advmss,
		.wscale		= req->rcv_wscale,
		.wscale_ok	= req->wscale_ok,
		.sack_ok	= req->sack_ok,
		.tstamp_ok	= req->tstamp_ok,
		.tsecr		= req->ts_recent,
		.md5		= md5,
	};
	unsigned int room = net6_tcp_ip_headroom(req->dest), len;
	u32 now = net6_compat_tcp_ts();
	struct tcphdr *th;
	struct sk_buff *skb;

	skb = alloc_skb(room + NET6_TCP_HEADER_MAX, GFP_ATOMIC);
	if (!skb)
		return NULL;
	if (unlikely(req->fo_cookie)) {
		o.fastopen_len = net6_tcp_fastopen_cookie(req, o.fastopen);
		o.fastopen_ok = o.fastopen_len;
	}
	o.tsval = (cookie ? net6_tcp_cookie_ts(req, now) : now) + req->ts_offset;
	skb_reserve(skb, room);
	th = (struct tcphdr *)skb->data;
	memset(th, 0, sizeof(*th));
	len = sizeof(*th) + net6_tcp_write_syn_options((u8 *)(th + 1), &o);
	skb_put(skb, len);
	skb_reset_transport_header(skb);
	th->doff = len / 4;
	return skb;
}

/* Send the SYN-ACK, for the first time or again. */
static void net6_tcp_request_synack(const struct net6_tcp_request *req, bool cookie)
{
	const struct in6_addr *saddr = &req->common.skc_v6_rcv_saddr;
	const struct in6_addr *daddr = &req->common.skc_v6_daddr;
	const struct tcp_md5sig_key *key = net6_tcp_md5_key(req->listener, daddr);
	struct net6_net *nn = net6_tcp_request_nn(req);
	struct tcphdr *th;
	struct sk_buff *skb;

	skb = net6_tcp_synack_alloc(req, cookie, !!key);
	if (!skb)
		return;
	th = tcp_hdr(skb);
	th->source = htons(req->common.skc_num);
	th->dest = req->common.skc_dport;
	th->seq = htonl(req->snt_isn);
	th->ack_seq = htonl(req->rcv_isn + 1);
	th->syn = 1;
	th->ack = 1;
	th->ece = req->ecn_ok;
	/* RFC 7323 2.2: the window of a SYN is never scaled. */
	th->window = htons(min(req->rcv_wnd, 65535U));
	if (unlikely(key))
		net6_tcp_md5_sign((u8 *)(th + 1) + NET6_TCP_MD5_AT, key, saddr, daddr, skb);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
	th->check = ~csum_ipv6_magic(saddr, daddr, skb->len, IPPROTO_TCP, 0);
	net6_push_header(skb, saddr, daddr, IPPROTO_TCP, NET6_DEFAULT_HOP_LIMIT,
			 htonl((u32)req->tclass << 20));
	skb->mark = READ_ONCE(req->listener->sk_mark);
	skb->priority = net6_priority(READ_ONCE(req->listener->sk_priority), req->tclass);
	/* As on the native stack a cookie's is nobody's: in a flood that would cost too much. */
	if (!cookie) {
		sock_hold(req->listener);
		skb->sk = req->listener;
		skb->destructor = sock_efree;
	}
	NET6_INC(nn, TcpOutSegs);
	net6_output(skb, req->dest);
}

/* The listener's ACK for a segment that is outside the window, RFC 9293 3.10.7.4. */
static void net6_tcp_request_ack(struct net6_tcp_request *req)
{
	struct net6_tcp_reply r = {
		.saddr		= &req->common.skc_v6_rcv_saddr,
		.daddr		= &req->common.skc_v6_daddr,
		.sport		= htons(req->common.skc_num),
		.dport		= req->common.skc_dport,
		.seq		= req->snt_isn + 1,
		.ack		= req->rcv_isn + 1,
		.window		= min(req->rcv_wnd >> req->rcv_wscale, 65535U),
		.flags		= TCPHDR_ACK,
		.tclass		= req->tclass,
		.hop_limit	= NET6_DEFAULT_HOP_LIMIT,
		.tstamp_ok	= req->tstamp_ok,
		.tsval		= net6_compat_tcp_ts() + req->ts_offset,
		.tsecr		= req->ts_recent,
		.oif		= req->common.skc_bound_dev_if,
		.mark		= READ_ONCE(req->listener->sk_mark),
		.priority	= READ_ONCE(req->listener->sk_priority),
		.md5		= net6_tcp_md5_key(req->listener, &req->common.skc_v6_daddr),
	};

	net6_tcp_reply(net6_tcp_request_nn(req), &r);
}

/* RFC 5961 section 7, shared with retransmitted SYNs: one answer in the rate limit. */
static bool net6_tcp_request_limited(struct net6_tcp_request *req)
{
	u32 gap = READ_ONCE(read_pnet(&req->common.skc_net)->ipv4.sysctl_tcp_invalid_ratelimit);
	u32 now = tcp_jiffies32;

	if (req->last_synack && now - req->last_synack < gap)
		return true;
	req->last_synack = now ?: 1;
	return false;
}

static unsigned int net6_tcp_request_retries(const struct net6_tcp_request *req)
{
	u8 own = READ_ONCE(inet_csk(req->listener)->icsk_syn_retries);

	return own ?: READ_ONCE(read_pnet(&req->common.skc_net)->ipv4.sysctl_tcp_synack_retries);
}

static void net6_tcp_request_timer(struct timer_list *t)
{
	struct net6_tcp_request *req = timer_container_of(req, t, timer);
	unsigned int retries = net6_tcp_request_retries(req);
	const struct inet_connection_sock *icsk = inet_csk(req->listener);
	unsigned int defer = READ_ONCE(icsk->icsk_accept_queue.rskq_defer_accept);
	bool expired, resend;

	/* An acknowledged request that waits for data is silent until its time is over. */
	expired = req->retrans >= retries && (!req->acked || !defer || req->retrans >= defer);
	resend = !req->acked || !defer || req->retrans + 1U >= defer;
	if (expired || READ_ONCE(req->listener->sk_state) != TCP_LISTEN) {
		net6_tcp_request_drop(req);
	} else {
		req->retrans++;
		req->sent_us = 0;
		if (resend) {
			NET6_INC(net6_tcp_request_nn(req), TcpRetransSegs);
			net6_tcp_request_synack(req, false);
		}
		/* RFC 6298 5.5; the timer has a reference of its own again. */
		refcount_inc(&req->common.skc_refcnt);
		mod_timer(&req->timer, jiffies + min_t(unsigned long, TCP_RTO_MAX,
						       (unsigned long)req->timeout <<
						       min_t(u8, req->retrans, 16)));
		/* Dropped while it was being armed: the timer must not outlive it. */
		if (sk_unhashed((struct sock *)req) && timer_delete(&req->timer))
			net6_tcp_request_put(req);
	}
	net6_tcp_request_put(req);
}

/* The device of the connection to be. As native: the listener's, else the VRF that the SYN is of; a
 * link-local peer is on the interface itself.
 */
static int net6_tcp_request_dev(const struct sock *listener, const struct sk_buff *skb)
{
	int iif = TCP_SKB_CB(skb)->header.h6.iif, bound = READ_ONCE(listener->sk_bound_dev_if);
	int l3mdev = net6_l3mdev_of_ifindex(net6_tcp_nn_rcu(listener), iif);

	if ((!bound || bound == l3mdev) &&
	    ipv6_addr_type(&ipv6_hdr(skb)->saddr) & IPV6_ADDR_LINKLOCAL)
		return iif;
	return bound ?: l3mdev;
}

/* What both a stored request and a cookie take from the SYN. */
static void net6_tcp_request_fill(struct net6_tcp_request *req, struct sock *listener,
				  const struct sk_buff *skb, const struct net6_tcp_opts *o)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct net *net = sock_net(listener);

	req->common.skc_family = AF_INET6;
	req->common.skc_state = TCP_NEW_SYN_RECV;
	req->common.skc_reuse = listener->sk_reuse;
	req->common.skc_reuseport = listener->sk_reuseport;
	req->common.skc_prot = listener->sk_prot;
	write_pnet(&req->common.skc_net, net);
	req->common.skc_portpair = INET_COMBINED_PORTS(th->source, ntohs(th->dest));
	req->common.skc_v6_daddr = ipv6_hdr(skb)->saddr;
	req->common.skc_v6_rcv_saddr = ipv6_hdr(skb)->daddr;
	req->common.skc_bound_dev_if = net6_tcp_request_dev(listener, skb);
	req->common.skc_nulls_node.pprev = NULL;
	req->common.skc_bind_node.pprev = NULL;
	atomic64_set(&req->common.skc_cookie, 0);
	req->listener = listener;
	req->saved_syn = NULL;
	req->retrans = 0;
	req->acked = false;
	req->fastopen = false;
	req->fo_cookie = false;
	req->tclass = net6_np(listener)->tclass;
	req->last_synack = 0;
	req->sent_us = 0;
	req->tstamp_ok = o->tstamp_ok;
	req->ts_recent = o->tsval;
	req->secid = 0;
	req->peer_secid = 0;
}

/* The reply of a program about a request, 0 if there is no program. */
static int net6_tcp_request_ask(const struct net6_tcp_request *req, int op)
{
	return net6_tcp_ops_on() ? net6_tcp_ops_call_request(req, op) : 0;
}

/* MSS and window that we announce. */
static void net6_tcp_request_window(struct net6_tcp_request *req)
{
	u16 user_mss = READ_ONCE(tcp_sk(req->listener)->rx_opt.user_mss);
	u32 mss = net6_dest_advmss(req->dest);
	u32 rcv_wnd, clamp, first;
	u8 wscale = 0;

	if (user_mss && user_mss < mss)
		mss = user_mss;
	req->advmss = mss;
	first = net6_tcp_ops_segments(net6_tcp_request_ask(req, BPF_SOCK_OPS_RWND_INIT));
	if (req->tstamp_ok)
		mss -= TCPOLEN_TSTAMP_ALIGNED;
	net6_tcp_init_window(req->listener, req->dest->metrics, mss, first, &rcv_wnd, &clamp,
			     &wscale);
	if (!req->wscale_ok) {
		wscale = 0;
		clamp = min(clamp, 65535U);
		rcv_wnd = min(rcv_wnd, 65535U);
	}
	req->rcv_wnd = rcv_wnd;
	req->window_clamp = clamp;
	req->rcv_wscale = wscale;
}

/* RFC 9293 3.7.1, MUST-16: without the option, the default. */
static u16 net6_tcp_request_mss(const struct sock *listener, const struct net6_tcp_opts *o)
{
	u16 user_mss = READ_ONCE(tcp_sk(listener)->rx_opt.user_mss);
	u16 mss = o->mss ?: NET6_TCP_DEFAULT_MSS;

	return user_mss && user_mss < mss ? user_mss : mss;
}

static void net6_tcp_request_options(struct net6_tcp_request *req, const struct sk_buff *skb,
				     const struct net6_tcp_opts *o, bool cookie)
{
	const struct net *net = read_pnet(&req->common.skc_net);
	const struct tcphdr *th = tcp_hdr(skb);
	/* A cookie keeps these in the timestamp only. */
	bool can = !cookie || req->tstamp_ok;

	req->wscale_ok = can && o->wscale_ok && READ_ONCE(net->ipv4.sysctl_tcp_window_scaling);
	req->snd_wscale = req->wscale_ok ? o->wscale : 0;
	req->sack_ok = can && o->sack_ok && READ_ONCE(net->ipv4.sysctl_tcp_sack);
	/* Both leave no room for SACK blocks beside a signature: as on native, they win. */
	if (!cookie && req->sack_ok &&
	    unlikely(net6_tcp_md5_key(req->listener, &req->common.skc_v6_daddr)))
		req->tstamp_ok = false;
	/* RFC 3168 6.1.1. */
	req->ecn_ok = can && th->ece && th->cwr &&
		      (READ_ONCE(net->ipv4.sysctl_tcp_ecn) ||
		       net6_metric(req->dest->metrics, RTAX_FEATURES) & DST_FEATURE_ECN_MASK ||
		       net6_tcp_request_ask(req, BPF_SOCK_OPS_NEEDS_ECN) == 1);
}

static struct net6_dest *net6_tcp_request_dest(struct sock *listener, const struct sk_buff *skb)
{
	const struct net6_flow flow = {
		.protocol	= IPPROTO_TCP,
		.sport		= tcp_hdr(skb)->dest,
		.dport		= tcp_hdr(skb)->source,
		.label		= htonl((u32)net6_np(listener)->tclass << 20),
		.mark		= READ_ONCE(listener->sk_mark),
		.owned		= true,
		.uid		= sock_net_uid(sock_net(listener), listener),
	};

	return net6_dest_lookup_flow(net6_tcp_nn_rcu(listener), &ipv6_hdr(skb)->daddr,
				     &ipv6_hdr(skb)->saddr, net6_tcp_request_dev(listener, skb),
				     &flow);
}

/* TCP_SAVE_SYN: 1 keeps network and TCP header, 2 the link header too. */
static void net6_tcp_request_save_syn(struct net6_tcp_request *req, const struct sk_buff *skb)
{
	unsigned int net_len = skb_network_header_len(skb);
	unsigned int tcp_len = tcp_hdrlen(skb), mac_len = 0;
	struct saved_syn *saved;

	if (tcp_sk(req->listener)->save_syn == 2 && skb_mac_header_was_set(skb))
		mac_len = skb_mac_header_len(skb);
	saved = kmalloc(struct_size(saved, data, mac_len + net_len + tcp_len), GFP_ATOMIC);
	if (!saved)
		return;
	saved->mac_hdrlen = mac_len;
	saved->network_hdrlen = net_len;
	saved->tcp_hdrlen = tcp_len;
	memcpy(saved->data, mac_len ? skb_mac_header(skb) : skb_network_header(skb),
	       mac_len + net_len + tcp_len);
	req->saved_syn = saved;
}

/* May it be asked for? If not, the segment is dropped without an answer. */
static bool net6_tcp_request_allowed(struct sock *listener, struct sk_buff *skb,
				     struct net6_tcp_request *req)
{
	struct net6_net *nn = net6_tcp_nn_rcu(listener);

	if (likely(!net6_tcp_lsm_request(listener, skb, req)))
		return true;
	NET6_INC(nn, TcpListenDrops);
	net6_drop(nn, skb, NET6_DROP_SECURITY);
	return false;
}

/* Answer a SYN and forget it. */
static void net6_tcp_request_cookie(struct sock *listener, struct sk_buff *skb,
				    const struct net6_tcp_opts *o, struct net6_dest *dest)
{
	struct net6_net *nn = net6_tcp_nn_rcu(listener);
	struct net6_tcp_request req;

	net6_tcp_request_fill(&req, listener, skb, o);
	req.dest = dest;
	req.rcv_isn = TCP_SKB_CB(skb)->seq;
	if (!net6_tcp_request_allowed(listener, skb, &req)) {
		net6_dest_put(dest);
		return;
	}
	net6_tcp_request_options(&req, skb, o, true);
	net6_tcp_request_window(&req);
	net6_tcp_isn(nn, &ipv6_hdr(skb)->daddr, &ipv6_hdr(skb)->saddr, tcp_hdr(skb)->dest,
		     tcp_hdr(skb)->source, &req.ts_offset);
	req.snt_isn = net6_tcp_cookie_make(nn, skb, net6_tcp_request_mss(listener, o));
	tcp_synq_overflow(listener);
	NET6_INC(nn, TcpSyncookiesSent);
	net6_tcp_request_synack(&req, true);
	net6_dest_put(dest);
	consume_skb(skb);
}

/* Remember a SYN and answer it. */
static void net6_tcp_request_store(struct sock *listener, struct sk_buff *skb,
				   const struct net6_tcp_opts *o, struct net6_dest *dest)
{
	u32 tw_isn = net6_compat_tw_isn(skb);
	struct net6_net *nn = net6_tcp_nn_rcu(listener);
	struct net6_tcp_request *req;

	req = kmem_cache_alloc(request_slab, GFP_ATOMIC);
	if (!req)
		goto no_memory;
	if (unlikely(!refcount_inc_not_zero(&listener->sk_refcnt))) {
		kmem_cache_free(request_slab, req);
		goto no_memory;
	}
	net6_tcp_request_fill(req, listener, skb, o);
	req->dest = dest;
	req->rcv_isn = TCP_SKB_CB(skb)->seq;
	req->peer_mss = net6_tcp_request_mss(listener, o);
	if (!net6_tcp_request_allowed(listener, skb, req)) {
		net6_tcp_request_free(req);
		return;
	}
	net6_tcp_request_options(req, skb, o, false);
	net6_tcp_request_window(req);
	req->timeout = net6_tcp_ops_rto(net6_tcp_request_ask(req, BPF_SOCK_OPS_TIMEOUT_INIT));
	req->snt_isn = net6_tcp_isn(nn, &ipv6_hdr(skb)->daddr, &ipv6_hdr(skb)->saddr,
				    tcp_hdr(skb)->dest, tcp_hdr(skb)->source, &req->ts_offset);
	if (tw_isn)
		req->snt_isn = tw_isn;
	req->sent_us = tcp_clock_us();
	if (tcp_sk(listener)->save_syn)
		net6_tcp_request_save_syn(req, skb);
	if (unlikely(READ_ONCE(inet_csk(listener)->icsk_accept_queue.fastopenq.max_qlen)) &&
	    !net6_tcp_md5_key(listener, &req->common.skc_v6_daddr) &&
	    net6_tcp_fastopen_request(listener, skb, req, o))
		return;
	timer_setup(&req->timer, net6_tcp_request_timer, TIMER_PINNED);
	atomic_inc(&inet_csk(listener)->icsk_accept_queue.qlen);
	atomic_inc(&nn->tcp->req_count);
	/* Before it can be found: whoever drops it stops the timer as well. */
	mod_timer(&req->timer, jiffies + req->timeout);
	if (unlikely(!net6_tcp_hash_request(req))) {
		timer_delete(&req->timer);
		atomic_dec(&inet_csk(listener)->icsk_accept_queue.qlen);
		atomic_dec(&nn->tcp->req_count);
		net6_tcp_request_free(req);
		net6_drop(nn, skb, NET6_DROP_TCP_LISTEN_OVERFLOW);
		return;
	}
	net6_tcp_request_synack(req, false);
	net6_tcp_request_put(req);
	consume_skb(skb);
	return;

no_memory:
	net6_dest_put(dest);
	NET6_INC(nn, TcpListenDrops);
	net6_drop(nn, skb, NET6_DROP_NO_MEMORY);
}

static bool net6_tcp_request_queue_full(const struct sock *listener)
{
	const struct net6_net *nn = net6_tcp_nn_rcu(listener);

	return atomic_read(&inet_csk(listener)->icsk_accept_queue.qlen) >=
	       max(READ_ONCE(listener->sk_max_ack_backlog), 1U) ||
	       (u32)atomic_read(&nn->tcp->req_count) >= net6_tcp_max_requests(nn);
}

/* RFC 9293 3.10.7.2, third: a SYN for a listener. */
static void net6_tcp_conn_request(struct sock *listener, struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct net6_net *nn = net6_tcp_nn_rcu(listener);
	int syncookies = READ_ONCE(nn->net->ipv4.sysctl_tcp_syncookies);
	struct net6_tcp_opts o = {};
	struct net6_dest *dest;
	bool cookie = false;

	if ((syncookies == 2 || net6_tcp_request_queue_full(listener)) &&
	    !net6_compat_tw_isn(skb)) {
		if (!syncookies) {
			NET6_INC(nn, TcpReqQFullDrop);
			goto overflow;
		}
		cookie = true;
		NET6_INC(nn, TcpReqQFullDoCookies);
	}
	if (sk_acceptq_is_full(listener)) {
		NET6_INC(nn, TcpListenOverflows);
		goto overflow;
	}
	net6_tcp_parse_options((const u8 *)(th + 1), th->doff * 4 - sizeof(*th), true, &o);
	if (!READ_ONCE(nn->net->ipv4.sysctl_tcp_timestamps))
		o.tstamp_ok = false;
	dest = net6_tcp_request_dest(listener, skb);
	if (IS_ERR(dest)) {
		NET6_INC(nn, TcpListenDrops);
		net6_drop(nn, skb, NET6_DROP_NO_ROUTE);
		return;
	}
	if (cookie)
		net6_tcp_request_cookie(listener, skb, &o, dest);
	else
		net6_tcp_request_store(listener, skb, &o, dest);
	return;

overflow:
	NET6_INC(nn, TcpListenDrops);
	net6_drop(nn, skb, NET6_DROP_TCP_LISTEN_OVERFLOW);
}

/* The child is born: hand it what came with the last segment of the handshake. */
static void net6_tcp_request_done(struct sock *listener, struct sock *child, struct sk_buff *skb)
{
	if (TCP_SKB_CB(skb)->end_seq != TCP_SKB_CB(skb)->seq)
		net6_tcp_rcv_established(child, skb);
	else
		consume_skb(skb);
	/* Not if a module took it. */
	if (likely(net6_tcp_sk(child)->listener))
		listener->sk_data_ready(listener);
	net6_tcp_child_unlock(child);
	sock_put(child);
}

/* An ACK without a request may answer a cookie. Takes the segment if it returns true. */
static bool net6_tcp_cookie_rcv(struct sock *listener, struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct net6_net *nn = net6_tcp_nn_rcu(listener);
	struct net6_tcp_request req;
	struct net6_tcp_opts o = {};
	struct sock *child;
	int mss;

	if (!READ_ONCE(nn->net->ipv4.sysctl_tcp_syncookies) ||
	    tcp_synq_no_recent_overflow(listener))
		return false;
	mss = net6_tcp_cookie_check(nn, skb);
	if (mss < 0) {
		NET6_INC(nn, TcpSyncookiesFailed);
		return false;
	}
	net6_tcp_parse_options((const u8 *)(th + 1), th->doff * 4 - sizeof(*th), false, &o);
	net6_tcp_request_fill(&req, listener, skb, &o);
	req.dest = net6_tcp_request_dest(listener, skb);
	if (IS_ERR(req.dest))
		return false;
	req.rcv_isn = TCP_SKB_CB(skb)->seq - 1;
	req.snt_isn = TCP_SKB_CB(skb)->ack_seq - 1;
	req.peer_mss = mss;
	if (!net6_tcp_request_allowed(listener, skb, &req)) {
		net6_dest_put(req.dest);
		return true;
	}
	net6_tcp_isn(nn, &ipv6_hdr(skb)->daddr, &ipv6_hdr(skb)->saddr, th->dest, th->source,
		     &req.ts_offset);
	if (req.tstamp_ok) {
		net6_tcp_cookie_ts_decode(&req, o.tsecr - req.ts_offset);
	} else {
		req.wscale_ok = false;
		req.sack_ok = false;
		req.ecn_ok = false;
		req.snd_wscale = 0;
	}
	net6_tcp_request_window(&req);
	child = net6_tcp_child(listener, skb, &req, false);
	net6_dest_put(req.dest);
	if (!child) {
		net6_drop(nn, skb, NET6_DROP_TCP_LISTEN_OVERFLOW);
		return true;
	}
	NET6_INC(nn, TcpSyncookiesRecv);
	net6_tcp_request_done(listener, child, skb);
	return true;
}

/**
 * net6_tcp_listen_rcv() - a segment for a listener
 * @sk: listener, borrowed
 * @skb: segment, TCP_SKB_CB filled; consumed
 *
 * RFC 9293 3.10.7.2. The listener is not locked: SYNs are handled in parallel.
 * Context: softirq, RCU read lock held.
 */
void net6_tcp_listen_rcv(struct sock *sk, struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct net6_net *nn = net6_tcp_nn(sk);

	if (likely(th->syn && !th->ack && !th->rst && !th->fin)) {
		net6_tcp_conn_request(sk, skb);
		return;
	}
	if (!th->rst && th->ack) {
		if (!th->syn && net6_tcp_cookie_rcv(sk, skb))
			return;
		net6_tcp_send_reset(nn, sk, skb);
		net6_drop(nn, skb, th->syn ? NET6_DROP_TCP_FLAGS : NET6_DROP_TCP_COOKIE);
		return;
	}
	net6_drop(nn, skb, NET6_DROP_TCP_FLAGS);
}

static bool net6_tcp_request_in_window(const struct net6_tcp_request *req, u32 seq, u32 end_seq)
{
	u32 first = req->rcv_isn + 1, end = first + req->rcv_wnd;

	if (seq == first || (after(end_seq, first) && before(seq, end)))
		return true;
	return seq == end && seq == end_seq;
}

/* Everything of RFC 9293 3.10.7.4 for SYN-RECEIVED up to the ACK. Returns true if the
 * segment completes the handshake; else it has been answered and is to be dropped for
 * *reason.
 */
static bool net6_tcp_request_check(struct net6_tcp_request *req, struct sk_buff *skb,
				   enum net6_drop_reason *reason)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct net6_net *nn = net6_tcp_request_nn(req);
	const struct tcphdr *th = tcp_hdr(skb);
	struct net6_tcp_opts o = {};
	bool paws;

	net6_tcp_parse_options((const u8 *)(th + 1), th->doff * 4 - sizeof(*th), false, &o);
	paws = req->tstamp_ok && o.tstamp_ok && (s32)(o.tsval - req->ts_recent) < 0;
	*reason = NET6_DROP_TCP_WINDOW;

	/* The SYN again: our SYN-ACK was lost. */
	if (cb->seq == req->rcv_isn && th->syn && !th->ack && !th->rst && !th->fin && !paws) {
		if (!net6_tcp_request_limited(req)) {
			req->sent_us = 0;
			net6_tcp_request_synack(req, false);
		}
		return false;
	}
	/* First and fifth checks: window, and an ACK of exactly our SYN. */
	if (th->ack && !th->rst && cb->ack_seq != req->snt_isn + 1) {
		net6_tcp_send_reset(net6_tcp_request_nn(req), req->listener, skb);
		*reason = NET6_DROP_TCP_OLD_ACK;
		return false;
	}
	if (paws || !net6_tcp_request_in_window(req, cb->seq, cb->end_seq)) {
		if (paws) {
			NET6_INC(nn, TcpPAWSEstab);
			*reason = NET6_DROP_TCP_PAWS;
		}
		if (!th->rst && !net6_tcp_request_limited(req))
			net6_tcp_request_ack(req);
		return false;
	}
	/* RFC 5961 section 3: a reset counts with exactly the expected number only;
	 * section 4: a SYN in the window never does.
	 */
	if (th->rst || th->syn) {
		*reason = NET6_DROP_TCP_FLAGS;
		if (th->rst && cb->seq == req->rcv_isn + 1) {
			NET6_INC(nn, TcpAttemptFails);
			net6_tcp_request_drop(req);
		} else if (!net6_tcp_request_limited(req)) {
			NET6_INC(nn, TcpChallengeACK);
			net6_tcp_request_ack(req);
		}
		return false;
	}
	if (!th->ack) {
		*reason = NET6_DROP_TCP_FLAGS;
		return false;
	}
	if (req->tstamp_ok && o.tstamp_ok && !after(cb->seq, req->rcv_isn + 1))
		req->ts_recent = o.tsval;
	/* TCP_DEFER_ACCEPT: a bare ACK is not worth a wake-up yet. */
	if (unlikely(req->retrans <
		     READ_ONCE(inet_csk(req->listener)->icsk_accept_queue.rskq_defer_accept)) &&
	    cb->end_seq == req->rcv_isn + 1) {
		req->acked = true;
		*reason = NET6_DROP_TCP_OLD_ACK;
		return false;
	}
	return true;
}

/**
 * net6_tcp_request_rcv() - a segment for an embryonic connection
 * @req: request; the caller's reference stays
 * @skb: segment, TCP_SKB_CB filled; consumed
 *
 * Context: softirq, RCU read lock held.
 */
void net6_tcp_request_rcv(struct net6_tcp_request *req, struct sk_buff *skb)
{
	struct net6_net *nn = net6_tcp_request_nn(req);
	struct sock *listener = req->listener;
	enum net6_drop_reason reason;
	struct sock *child;

	if (unlikely(READ_ONCE(listener->sk_state) != TCP_LISTEN)) {
		net6_tcp_request_drop(req);
		net6_tcp_refuse(nn, NULL, skb);
		net6_drop(nn, skb, NET6_DROP_NO_SOCKET);
		return;
	}
	if (!net6_tcp_request_check(req, skb, &reason)) {
		net6_drop(nn, skb, reason);
		return;
	}
	child = net6_tcp_child(listener, skb, req, true);
	if (unlikely(!child)) {
		if (READ_ONCE(nn->net->ipv4.sysctl_tcp_abort_on_overflow)) {
			net6_tcp_send_reset(nn, listener, skb);
			net6_tcp_request_drop(req);
		} else {
			req->acked = true;
		}
		net6_drop(nn, skb, NET6_DROP_TCP_LISTEN_OVERFLOW);
		return;
	}
	/* net6_tcp_child() took the table's reference over from the hash. */
	net6_tcp_request_taken(req);
	net6_tcp_request_done(listener, child, skb);
}

struct net6_tcp_purge {
	const struct sock	*listener;
};

static int net6_tcp_request_purge_one(struct sock *sk, void *arg)
{
	struct net6_tcp_request *req = (struct net6_tcp_request *)sk;
	const struct net6_tcp_purge *purge = arg;

	if (sk->sk_state == TCP_NEW_SYN_RECV &&
	    (!purge->listener || purge->listener == req->listener)) {
		net6_tcp_request_drop(req);
		if (timer_delete_sync(&req->timer))
			net6_tcp_request_put(req);
	}
	return 0;
}

/**
 * net6_tcp_request_purge() - drop the requests of a listener or of a namespace
 * @net: namespace
 * @listener: its listener that stopped, or NULL for all
 *
 * Context: process.
 */
void net6_tcp_request_purge(struct net *net, const struct sock *listener)
{
	struct net6_tcp_purge purge = { .listener = listener };
	u64 pos = 0;

	net6_tcp_walk(net, &pos, net6_tcp_request_purge_one, &purge);
}

/**
 * net6_tcp_request_init() - make the slab
 *
 * Return: 0 or -ENOMEM.
 */
int net6_tcp_request_init(void)
{
	BUILD_BUG_ON(TCP_RTO_MAX >= 1 << 17);	/* struct net6_tcp_request's timeout */
	BUILD_BUG_ON(!IS_ENABLED(CONFIG_LOCKDEP) && sizeof(struct net6_tcp_request) > 256);
	request_slab = KMEM_CACHE(net6_tcp_request, SLAB_TYPESAFE_BY_RCU | SLAB_HWCACHE_ALIGN);
	return request_slab ? 0 : -ENOMEM;
}

/**
 * net6_tcp_request_exit() - free the slab; no request is left
 */
void net6_tcp_request_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(request_slab);
	request_slab = NULL;
}
