// SPDX-License-Identifier: GPL-2.0
/* Here segments and ICMPv6 errors come in and find their socket, and TCP starts and stops as a
 * whole and per namespace.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <net/busy_poll.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>

#include "../../compat/inet_sock.h"
#include "../../core/l3mdev.h"
#include "calls/calls.h"
#include "conn/conn.h"
#include "conn/fastopen.h"
#include "conn/md5.h"
#include "engine/entry.h"

/* A namespace that goes away tells when it has waited this long for its connections. */
#define NET6_TCP_PURGE_TELL	(60 * HZ)

/**
 * net6_tcp_fill_cb() - the segment's numbers into its control block
 * @skb: segment; its struct net6_rx_cb is overwritten, the interface index stays in
 *	header.h6.iif
 * @th: its header, linear
 *
 * Context: softirq.
 */
void net6_tcp_fill_cb(struct sk_buff *skb, const struct tcphdr *th)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	int iif = net6_rx_cb(skb)->ifindex;

	cb->header.h6.iif = iif;
	cb->seq = ntohl(th->seq);
	cb->end_seq = cb->seq + th->syn + th->fin + skb->len - th->doff * 4;
	cb->ack_seq = ntohl(th->ack_seq);
	cb->tcp_flags = tcp_flag_byte(th);
	net6_compat_set_tw_isn(skb, 0);
	cb->ip_dsfield = ipv6_get_dsfield(ipv6_hdr(skb));
	cb->sacked = 0;
	cb->has_rxtstamp = skb->tstamp || skb_hwtstamps(skb)->hwtstamp;
}

/* Length and checksum, RFC 9293 3.1, MUST-2 and MUST-3. */
static bool net6_tcp_valid(struct net6_net *nn, struct sk_buff *skb)
{
	const struct tcphdr *th;

	/* RFC 9293 MUST-57; and no connection has an anycast address at its end. */
	if (unlikely(net6_rx_cb(skb)->flags &
		     (NET6_RX_MULTICAST | NET6_RX_LL_MULTICAST | NET6_RX_ANYCAST))) {
		net6_drop(nn, skb, NET6_DROP_NO_SOCKET);
		return false;
	}
	if (unlikely(!pskb_may_pull(skb, sizeof(*th))))
		goto too_short;
	th = (const struct tcphdr *)skb->data;
	if (unlikely(th->doff < sizeof(*th) / 4 || !pskb_may_pull(skb, th->doff * 4)))
		goto too_short;
	if (unlikely(skb_checksum_validate(skb, IPPROTO_TCP, net6_checksum_pseudo))) {
		NET6_INC(nn, TcpInCsumErrors);
		NET6_INC(nn, TcpInErrs);
		net6_drop(nn, skb, NET6_DROP_TCP_CSUM);
		return false;
	}
	return true;

too_short:
	NET6_INC(nn, TcpInErrs);
	net6_drop(nn, skb, NET6_DROP_TCP_SHORT);
	return false;
}

/* The user's and the administrator's filters. Takes the segment if it returns false. */
static bool net6_tcp_admit(struct net6_net *nn, struct sock *sk, struct sk_buff *skb)
{
	unsigned int header = tcp_hdrlen(skb);
	const u8 *signature = NULL;

	/* With fewer options none is one. Others' keys do not concern this socket. */
	if (unlikely(header >= sizeof(struct tcphdr) + NET6_TCPOLEN_MD5))
		signature = net6_tcp_find_md5(skb->data + sizeof(struct tcphdr),
					      header - sizeof(struct tcphdr));
	if ((unlikely(signature) || net6_tcp_md5_has(sk)) &&
	    !net6_tcp_md5_check(nn, sk, skb, signature))
		return false;
	if (unlikely(ipv6_hdr(skb)->hop_limit < READ_ONCE(net6_tcp_np(sk)->min_hopcount)) ||
	    sk_filter_trim_cap(sk, skb, header)) {
		net6_drop(nn, skb, NET6_DROP_SOCKET_FILTER);
		return false;
	}
	if (net6_sk_stamp(sk, skb))
		TCP_SKB_CB(skb)->has_rxtstamp = true;
	/* A filter may have trimmed it. */
	TCP_SKB_CB(skb)->end_seq = TCP_SKB_CB(skb)->seq + tcp_hdr(skb)->syn + tcp_hdr(skb)->fin +
				   skb->len - header;
	return true;
}

/* Nobody's. If the sender signs, the listener on the port that it sends from, BGP's, may have the
 * key, as on the native stack.
 */
static void net6_tcp_refuse_unknown(struct net6_net *nn, const struct net6_tcp_key *key,
				    struct sk_buff *skb)
{
	const struct sock *signer = NULL;

	if (net6_tcp_md5_on_any() && !tcp_hdr(skb)->rst &&
	    tcp_hdrlen(skb) >= sizeof(struct tcphdr) + NET6_TCPOLEN_MD5)
		signer = net6_tcp_find_listener(nn->net, key, ntohs(tcp_hdr(skb)->source));
	net6_tcp_refuse(nn, signer, skb);
}

/* No connection: a listener, or nobody (RFC 9293 3.10.7.1). */
static void net6_tcp_rcv_unknown(struct net6_net *nn, const struct net6_tcp_key *key,
				 struct sk_buff *skb)
{
	struct sock *sk = net6_tcp_lookup_listener(nn->net, key, skb, tcp_hdrlen(skb));

	if (likely(sk)) {
		if (net6_tcp_admit(nn, sk, skb))
			net6_tcp_listen_rcv(sk, skb);
		return;
	}
	net6_tcp_refuse_unknown(nn, key, skb);
	net6_drop(nn, skb, NET6_DROP_NO_SOCKET);
}

static void net6_tcp_rcv_tw(struct net6_net *nn, const struct net6_tcp_key *key,
			    struct net6_tcp_tw *tw, struct sk_buff *skb)
{
	struct sock *listener;
	u32 isn;

	if (net6_tcp_tw_rcv(tw, skb, &isn) == NET6_TCP_TW_SYN) {
		listener = net6_tcp_lookup_listener(nn->net, key, skb, tcp_hdrlen(skb));
		if (listener && net6_tcp_admit(nn, listener, skb)) {
			net6_tcp_tw_kill(tw);
			net6_compat_set_tw_isn(skb, isn);
			net6_tcp_listen_rcv(listener, skb);
		} else if (!listener) {
			net6_tcp_refuse_unknown(nn, key, skb);
			net6_drop(nn, skb, NET6_DROP_NO_SOCKET);
		}
	} else {
		consume_skb(skb);
	}
	net6_tcp_tw_put(tw);
}

/* What the segment is looked up by. */
static void net6_tcp_read_key(struct net6_net *nn, const struct sk_buff *skb,
			      struct net6_tcp_key *key)
{
	const struct tcphdr *th = tcp_hdr(skb);

	key->laddr = &ipv6_hdr(skb)->daddr;
	key->faddr = &ipv6_hdr(skb)->saddr;
	key->ports = INET_COMBINED_PORTS(th->source, ntohs(th->dest));
	key->dif = TCP_SKB_CB(skb)->header.h6.iif;
	key->sdif = net6_l3mdev_of_ifindex(nn, key->dif);
}

/* The connection was closed while the segment was on its way to it. What took its place in the
 * table answers, or it meets no connection (RFC 9293 3.10.7.1).
 */
static void net6_tcp_rcv_closed(struct sock *sk, struct sk_buff *skb)
{
	struct net6_net *nn = net6_tcp_nn(sk);
	struct net6_tcp_key key;
	struct sock *now;

	net6_tcp_read_key(nn, skb, &key);
	local_bh_disable();
	rcu_read_lock();
	now = net6_tcp_lookup(nn->net, &key);
	if (now && now->sk_state == TCP_TIME_WAIT) {
		net6_tcp_rcv_tw(nn, &key, (struct net6_tcp_tw *)now, skb);
	} else {
		if (now)
			net6_tcp_gen_put(now);
		else if (!tcp_hdr(skb)->rst)
			net6_tcp_refuse_unknown(nn, &key, skb);
		net6_drop(nn, skb, NET6_DROP_TCP_CLOSE);
	}
	rcu_read_unlock();
	local_bh_enable();
}

/**
 * net6_tcp_do_rcv() - a segment for a locked socket; proto->backlog_rcv
 * @sk: socket, locked
 * @skb: segment, TCP_SKB_CB filled; consumed
 *
 * Context: softirq, or process for the backlog.
 * Return: 0.
 */
int net6_tcp_do_rcv(struct sock *sk, struct sk_buff *skb)
{
	/* For receive flow steering and busy polling. */
	sock_rps_save_rxhash(sk, skb);
	sk_mark_napi_id(sk, skb);
	if (likely(sk->sk_state == TCP_ESTABLISHED))
		net6_tcp_rcv_established(sk, skb);
	else if (unlikely(sk->sk_state == TCP_CLOSE))
		net6_tcp_rcv_closed(sk, skb);
	else if (likely(sk->sk_state != TCP_LISTEN))
		net6_tcp_rcv_state(sk, skb);
	else
		net6_drop(net6_tcp_nn(sk), skb, NET6_DROP_TCP_CLOSE);
	return 0;
}

static void net6_tcp_deliver(struct net6_net *nn, struct sock *sk, struct sk_buff *skb)
{
	u32 limit;

	sk_incoming_cpu_update(sk);
	bh_lock_sock_nested(sk);
	if (likely(!sock_owned_by_user(sk))) {
		net6_tcp_do_rcv(sk, skb);
	} else {
		/* Half the send buffer in ACKs, and 64 KB for a full GRO packet. */
		limit = READ_ONCE(sk->sk_rcvbuf) + (READ_ONCE(sk->sk_sndbuf) >> 1) + 64 * 1024;
		if (unlikely(sk_add_backlog(sk, skb, limit))) {
			NET6_INC(nn, TcpBacklogDrop);
			net6_drop(nn, skb, NET6_DROP_SOCKET_BACKLOG);
		}
	}
	bh_unlock_sock(sk);
}

/**
 * net6_tcp_rcv() - a TCP segment for this host
 * @skb: data at the TCP header, net6_rx_cb() filled; consumed
 *
 * Context: softirq, RCU read lock held.
 */
void net6_tcp_rcv(struct sk_buff *skb)
{
	struct net6_net *nn = net6_rx_cb(skb)->iface->nn;
	const struct tcphdr *th;
	struct net6_tcp_key key;
	struct sock *sk;

	NET6_INC(nn, TcpInSegs);
	if (!net6_tcp_valid(nn, skb))
		return;
	th = tcp_hdr(skb);
	net6_tcp_fill_cb(skb, th);
	net6_tcp_read_key(nn, skb, &key);
	sk = net6_tcp_lookup(nn->net, &key);
	if (unlikely(!sk)) {
		net6_tcp_rcv_unknown(nn, &key, skb);
		return;
	}
	if (unlikely(sk->sk_state == TCP_TIME_WAIT)) {
		net6_tcp_rcv_tw(nn, &key, (struct net6_tcp_tw *)sk, skb);
		return;
	}
	if (unlikely(sk->sk_state == TCP_NEW_SYN_RECV)) {
		if (net6_tcp_admit(nn, ((struct net6_tcp_request *)sk)->listener, skb))
			net6_tcp_request_rcv((struct net6_tcp_request *)sk, skb);
		net6_tcp_request_put((struct net6_tcp_request *)sk);
		return;
	}
	if (likely(net6_tcp_admit(nn, sk, skb)))
		net6_tcp_deliver(nn, sk, skb);
	sock_put(sk);
}

static void net6_tcp_request_error(struct net6_tcp_request *req, u32 seq, bool fatal)
{
	/* RFC 5461 section 4: during the handshake a hard error ends it. */
	if (fatal && seq == req->snt_isn)
		net6_tcp_request_drop(req);
}

/* RFC 9293 3.9.2.2: notes for an established connection. Before that an unreachable peer ends it,
 * as on the native stack (RFC 5461 4.1), so that the next address is tried soon.
 */
static void net6_tcp_error_locked(struct sock *sk, u8 type, int err)
{
	if (sk->sk_state == TCP_SYN_SENT || sk->sk_state == TCP_SYN_RECV) {
		/* MUST-56: a loop passes; the SYN is sent again. */
		if (!sock_owned_by_user(sk) && type != ICMPV6_TIME_EXCEED) {
			WRITE_ONCE(sk->sk_err, err);
			sk_error_report(sk);
			net6_tcp_done(sk);
		} else {
			WRITE_ONCE(sk->sk_err_soft, err);
		}
		return;
	}
	/* RFC 5461 section 2: soft for a synchronized connection, however hard. */
	if (!sock_owned_by_user(sk) && net6_opt(sk, RECVERR6)) {
		WRITE_ONCE(sk->sk_err, err);
		sk_error_report(sk);
	} else {
		WRITE_ONCE(sk->sk_err_soft, err);
	}
}

static void net6_tcp_error_too_big(struct sock *sk, u32 mtu)
{
	/* RFC 8201 section 4: below the minimum it is not to be believed. IPV6_MTU_DISCOVER may
	 * say that none is.
	 */
	if (mtu < NET6_MIN_MTU || !ip6_sk_accept_pmtu(sk))
		return;
	WRITE_ONCE(tcp_sk(sk)->mtu_info, mtu);
	if (!sock_owned_by_user(sk))
		net6_tcp_mtu_reduced(sk, mtu);
	else if (!test_and_set_bit(TCP_MTU_REDUCED_DEFERRED, &sk->sk_tsq_flags))
		sock_hold(sk);
}

static void net6_tcp_error_sk(struct sock *sk, struct sk_buff *skb,
			      const struct net6_icmp_error *e)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + e->offset);
	const struct tcp_sock *tp = tcp_sk(sk);
	int err;

	bh_lock_sock(sk);
	/* RFC 5927 4.1: only about what is in flight. */
	if (sk->sk_state == TCP_CLOSE || sk->sk_state == TCP_LISTEN ||
	    !between(ntohl(th->seq), tp->snd_una, tp->snd_nxt))
		goto out;
	if (e->type == ICMPV6_PKT_TOOBIG) {
		net6_tcp_error_too_big(sk, e->info);
	} else {
		net6_icmp_errno(e->type, e->code, &err);
		if (sk->sk_state == TCP_SYN_SENT || sk->sk_state == TCP_SYN_RECV)
			net6_queue_icmp_error(sk, skb, err, th->dest, e, e->offset);
		net6_tcp_error_locked(sk, e->type, err);
	}
out:
	bh_unlock_sock(sk);
}

/**
 * net6_tcp_icmp_error() - an ICMPv6 error about a segment of ours
 * @skb: the error; borrowed; eight bytes of the segment's header at @e->offset linear
 * @e: what it says
 *
 * Context: softirq, RCU read lock held.
 */
void net6_tcp_icmp_error(struct sk_buff *skb, const struct net6_icmp_error *e)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + e->offset);
	struct net *net = dev_net(skb->dev);
	struct net6_tcp_key key = {
		.laddr	= e->saddr,
		.faddr	= e->daddr,
		.ports	= INET_COMBINED_PORTS(th->dest, ntohs(th->source)),
		.dif	= e->ifindex,
		.sdif	= net6_l3mdev_of_ifindex(net6_pernet_rcu(net), e->ifindex),
	};
	struct sock *sk;
	int err;

	sk = net6_tcp_lookup(net, &key);
	if (!sk)
		return;
	if (sk->sk_state == TCP_NEW_SYN_RECV)
		net6_tcp_request_error((struct net6_tcp_request *)sk, ntohl(th->seq),
				       net6_icmp_errno(e->type, e->code, &err));
	else if (sk->sk_state != TCP_TIME_WAIT)
		net6_tcp_error_sk(sk, skb, e);
	net6_tcp_gen_put(sk);
}

static const struct net6_proto net6_tcp_proto = {
	.rcv	= net6_tcp_rcv,
	.error	= net6_tcp_icmp_error,
};

/**
 * net6_tcp_net_init() - TCP's part of a new namespace
 * @nn: namespace
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int net6_tcp_net_init(struct net6_net *nn)
{
	struct net6_tcp_net *tn = kzalloc(sizeof(*tn), GFP_KERNEL_ACCOUNT);

	if (!tn)
		return -ENOMEM;
	nn->tcp = tn;
	return 0;
}

/* A socket of the kernel's own, which did not hold the namespace, and closes still. */
static int net6_tcp_purge_orphan(struct sock *sk, void *arg)
{
	if (sk_fullsock(sk) && sk->sk_state != TCP_LISTEN && sock_flag(sk, SOCK_DEAD))
		net6_tcp_abort(sk, ECONNABORTED);
	return 0;
}

/* Purge until none is left. Entries come and go while they are walked, and one that another CPU
 * has just taken out is counted for a moment more. As for devices, what takes unreasonably long
 * is told.
 */
static void net6_tcp_purge_all(struct net *net, const atomic_t *count, const char *what,
			       void (*purge)(struct net *net))
{
	unsigned long told = jiffies;

	while (atomic_read(count) > 0) {
		if (time_after(jiffies, told + NET6_TCP_PURGE_TELL)) {
			pr_warn("BUG: a namespace waits for %d %s\n", atomic_read(count), what);
			told = jiffies;
		}
		purge(net);
		cond_resched();
	}
}

static void net6_tcp_purge_requests(struct net *net)
{
	net6_tcp_request_purge(net, NULL);
}

static void net6_tcp_purge_orphans(struct net *net)
{
	u64 pos = 0;

	net6_tcp_walk(net, &pos, net6_tcp_purge_orphan, NULL);
}

/**
 * net6_tcp_net_exit() - the namespace goes away
 * @nn: namespace; its processes and devices are gone
 *
 * Context: process.
 */
void net6_tcp_net_exit(struct net6_net *nn)
{
	struct net6_tcp_net *tn = nn->tcp;

	net6_tcp_purge_all(nn->net, &tn->req_count, "requests", net6_tcp_purge_requests);
	net6_tcp_purge_all(nn->net, &tn->orphans, "orphans", net6_tcp_purge_orphans);
	net6_tcp_purge_all(nn->net, &tn->tw_count, "TIME-WAIT entries", net6_tcp_tw_purge);
	/* Timers and readers that still look at what is gone. */
	synchronize_net();
	net6_tcp_fastopen_net_exit(tn);
	kfree(tn);
	nn->tcp = NULL;
}

/**
 * net6_tcp_init() - start TCP
 *
 * Return: 0 or -errno.
 */
int net6_tcp_init(void)
{
	int err;

	err = net6_tcp_hash_init();
	if (err)
		return err;
	err = net6_tcp_port_init();
	if (err)
		goto err_hash;
	err = net6_tcp_request_init();
	if (err)
		goto err_port;
	err = net6_tcp_tw_init();
	if (err)
		goto err_request;
	err = net6_tcp_cong_module_init();
	if (err)
		goto err_tw;
	net6_tcp_tsq_init();
	err = net6_tcp_sock_init();
	if (err)
		goto err_cong;
	err = net6_proto_register(IPPROTO_TCP, &net6_tcp_proto);
	if (!err)
		return 0;

	net6_tcp_sock_exit();
err_cong:
	net6_tcp_cong_module_exit();
err_tw:
	net6_tcp_tw_exit();
err_request:
	net6_tcp_request_exit();
err_port:
	net6_tcp_port_exit();
err_hash:
	net6_tcp_hash_exit();
	return err;
}

/**
 * net6_tcp_exit() - stop TCP; no socket and no namespace of ours is left
 */
void net6_tcp_exit(void)
{
	net6_proto_unregister(IPPROTO_TCP, &net6_tcp_proto);
	synchronize_net();
	rcu_barrier();
	net6_tcp_sock_exit();
	net6_tcp_skb_cache_exit();
	net6_tcp_tsq_exit();
	net6_tcp_cong_module_exit();
	net6_tcp_tw_exit();
	net6_tcp_request_exit();
	net6_tcp_port_exit();
	net6_tcp_hash_exit();
	net6_tcp_md5_exit();
}
