// SPDX-License-Identifier: GPL-2.0
/* TCP Fast Open (RFC 7413), the client: data that leave with the SYN, and the cookies that allow
 * it. The data are a copy beside the SYN. The original waits in the write queue until the SYN-ACK
 * tells what has arrived. If the SYN is lost, or the server does not take data, the connection is
 * an ordinary one with something to send.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <net/inet_common.h>

#include "../../../socket/mapped.h"
#include "../calls/sendmsg.h"
#include "../engine/engine.h"
#include "conn.h"
#include "fastopen.h"
#include "focache.h"
#include "md5.h"

/* Room in the SYN for all options that there may be. RFC 7413 4.2.1 asks for less data than the
 * MSS says: middleboxes may add options.
 */
#define NET6_TCP_FO_OPTIONS	40

/**
 * struct net6_tcp_fo_client - a namespace's cookies and what protects them
 * @lock: BH disabled
 * @cache: cookies
 */
struct net6_tcp_fo_client {
	spinlock_t			lock;
	struct net6_tcp_fo_cache	cache;
};

static bool net6_tcp_fo_client_allowed(const struct sock *sk)
{
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_fastopen) & TFO_CLIENT_ENABLE;
}

/* The namespace's cookies, made for its first client; NULL without memory. */
static struct net6_tcp_fo_client *net6_tcp_fo_client(struct sock *sk, bool make)
{
	struct net6_tcp_net *tn = net6_tcp_nn(sk)->tcp;
	struct net6_tcp_fo_client *client, *other;

	/* A client that is found is set up: pairs with cmpxchg(). */
	client = smp_load_acquire(&tn->fo_client);
	if (client || !make)
		return client;
	client = kzalloc(sizeof(*client), sk->sk_allocation);
	if (!client)
		return NULL;
	spin_lock_init(&client->lock);
	get_random_bytes(&client->cache.key, sizeof(client->cache.key));
	other = cmpxchg(&tn->fo_client, NULL, client);
	if (!other)
		return client;
	kfree(client);
	return other;
}

/* What the SYN says: c->len is the cookie's length, 0 asks for one, -1 is no option.
 * Returns true if data may go with it; *mss is the server's.
 */
static bool net6_tcp_fo_cookie(struct sock *sk, struct tcp_fastopen_cookie *c, u16 *mss)
{
	struct net6_tcp_fo_client *client = net6_tcp_fo_client(sk, true);
	int mode = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_fastopen);
	struct net6_tcp_fo_peer *peer;
	u32 now = ktime_get_seconds();
	bool off = false;

	c->len = 0;
	if (client) {
		spin_lock_bh(&client->lock);
		peer = net6_tcp_fo_find(&client->cache, &sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr);
		if (peer) {
			peer->used = now;
			off = net6_tcp_fo_is_off(peer, now);
			c->len = peer->len;
			memcpy(c->val, peer->cookie, peer->len);
			if (peer->mss)
				*mss = peer->mss;
		}
		spin_unlock_bh(&client->lock);
	}
	if (off) {
		c->len = -1;
		return false;
	}
	if (mode & TFO_CLIENT_NO_COOKIE || tcp_sk(sk)->fastopen_no_cookie ||
	    net6_metric(net6_tcp_metrics(sk), RTAX_FASTOPEN_NO_COOKIE)) {
		c->len = -1;
		return true;
	}
	if (c->len)
		return true;
	tcp_sk(sk)->fastopen_client_fail = TFO_COOKIE_UNAVAILABLE;
	return false;
}

/**
 * net6_tcp_fastopen_connect() - connect() with TCP_FASTOPEN_CONNECT
 * @sk: in SYN-SENT, addresses, ports and numbers settled, nothing sent
 *
 * With a cookie the SYN waits for the first data, else it is sent and asks for one.
 * Context: process.
 * Return: 0 or -errno.
 */
int net6_tcp_fastopen_connect(struct sock *sk)
{
	struct tcp_fastopen_cookie cookie;
	struct tcp_sock *tp = tcp_sk(sk);
	u16 mss;
	int err;

	if (tp->fastopen_req || !net6_tcp_fo_client_allowed(sk) || net6_tcp_md5_room(sk))
		return net6_tcp_send_syn(sk);
	if (net6_tcp_fo_cookie(sk, &cookie, &mss)) {
		net6_opt_set(sk, DEFER_CONNECT, 1);
		return 0;
	}
	tp->fastopen_req = kzalloc(sizeof(*tp->fastopen_req), sk->sk_allocation);
	if (!tp->fastopen_req)
		return -ENOBUFS;
	err = net6_tcp_send_syn(sk);
	kfree(tp->fastopen_req);
	tp->fastopen_req = NULL;
	return err;
}

/* The SYN could not be sent: the connection never was. */
static void net6_tcp_fo_failed(struct sock *sk)
{
	net6_tcp_set_state(sk, TCP_CLOSE);
	inet_sk(sk)->inet_dport = 0;
	sk->sk_route_caps = 0;
}

/**
 * net6_tcp_fastopen_start() - send the SYN that waited for data, without any
 * @sk: net6_tcp_deferred()
 *
 * For calls that cannot wait for what they send to be copied (sendfile).
 * Context: process.
 * Return: 0 or -errno.
 */
int net6_tcp_fastopen_start(struct sock *sk)
{
	int err;

	net6_opt_set(sk, DEFER_CONNECT, 0);
	err = net6_tcp_send_syn(sk);
	if (err)
		net6_tcp_fo_failed(sk);
	return err;
}

/**
 * net6_tcp_fastopen_send() - sendmsg() that connects: MSG_FASTOPEN, or after a deferred one
 * @sk: socket, owned by the caller
 * @msg: data and, with MSG_FASTOPEN, the address
 * @size: bytes
 * @uarg: who is told when they are not needed any more, or NULL
 * @copied: filled with how many are queued
 *
 * As on the native stack a blocking call waits for the handshake; another one returns with
 * what went with the SYN.
 * Context: process, may sleep.
 * Return: 0 when connected, -EINPROGRESS, or another -errno.
 */
int net6_tcp_fastopen_send(struct sock *sk, struct msghdr *msg, size_t size,
			   struct ubuf_info *uarg, int *copied)
{
	struct sockaddr_unsized *addr = msg->msg_name;
	struct tcp_sock *tp = tcp_sk(sk);
	bool deferred = net6_tcp_deferred(sk);
	int flags = msg->msg_flags & MSG_DONTWAIT ? O_NONBLOCK : 0;
	int err;

	/* While this call waited for the sock another one has put an IPv4 one in its place. */
	if (unlikely(READ_ONCE(sk->sk_socket->sk) != sk))
		return -EALREADY;
	if (!deferred && (!net6_tcp_fo_client_allowed(sk) ||
			  (addr && msg->msg_namelen >= sizeof(addr->sa_family) &&
			   addr->sa_family == AF_UNSPEC) ||
			  (addr && net6_mapped_addr(sk, (struct sockaddr_in6 *)addr,
						    msg->msg_namelen))))
		return -EOPNOTSUPP;
	if (tp->fastopen_req)
		return -EALREADY;
	tp->fastopen_req = kzalloc(sizeof(*tp->fastopen_req), sk->sk_allocation);
	if (!tp->fastopen_req)
		return -ENOBUFS;
	tp->fastopen_req->data = msg;
	tp->fastopen_req->size = size;
	tp->fastopen_req->uarg = uarg;
	if (deferred && net6_tcp_send_syn(sk))
		net6_tcp_fo_failed(sk);
	err = __inet_stream_connect(sk->sk_socket, deferred ? NULL : addr, msg->msg_namelen,
				    flags, 1);
	/* A connection that failed meanwhile has forgotten it. */
	if (tp->fastopen_req) {
		*copied = tp->fastopen_req->copied;
		kfree(tp->fastopen_req);
		tp->fastopen_req = NULL;
	}
	net6_opt_set(sk, DEFER_CONNECT, 0);
	return err;
}

/* A program that wants to be told when its data are acknowledged learns that they were copied. */
static void net6_tcp_fo_zerocopy(const struct tcp_fastopen_request *fo, struct sk_buff *data)
{
	if (likely(!fo->uarg))
		return;
	skb_zcopy_set(data, fo->uarg, NULL);
	if (fo->uarg != fo->data->msg_ubuf)
		uarg_to_msgzc(fo->uarg)->zerocopy = 0;
}

/* The data that fit, into the write queue; NULL if there is none. */
static struct sk_buff *net6_tcp_fo_queue(struct sock *sk, struct tcp_fastopen_request *fo, u16 mss)
{
	u32 pmtu = inet_csk(sk)->icsk_pmtu_cookie;
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *data;
	size_t n;

	mss = min_t(u32, mss, pmtu - sizeof(struct ipv6hdr) - sizeof(struct tcphdr));
	if (tp->rx_opt.user_mss)
		mss = min(mss, tp->rx_opt.user_mss);
	if (mss <= NET6_TCP_FO_OPTIONS)
		return NULL;
	/* What a page holds beside the headers' room. */
	n = min_t(size_t, mss - NET6_TCP_FO_OPTIONS,
		  SKB_MAX_HEAD(L1_CACHE_ALIGN(net6_tcp_headroom(sk))));
	n = min(n, fo->size);
	data = net6_tcp_alloc_skb(sk, n, sk->sk_allocation, false);
	if (!data)
		return NULL;
	net6_tcp_queue_skb(sk, data);
	if (!copy_from_iter_full(skb_put(data, n), n, &fo->data->msg_iter)) {
		net6_tcp_unqueue_empty(sk);
		return NULL;
	}
	TCP_SKB_CB(data)->end_seq += n;
	TCP_SKB_CB(data)->tcp_flags |= TCPHDR_PSH;
	WRITE_ONCE(tp->write_seq, tp->write_seq + n);
	fo->copied = n;
	net6_tcp_fo_zerocopy(fo, data);
	/* Nothing that a blocking call still has to queue. */
	if (n == fo->size)
		fo->data = NULL;
	return data;
}

/* The data and the SYN in one segment, without PSH as native's. Returns false if there is no
 * memory for it.
 */
static bool net6_tcp_fo_transmit(struct sock *sk, struct sk_buff *syn, struct sk_buff *data)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;

	tcp_skb_tsorted_save(data) {
		skb = pskb_copy(data, sk->sk_allocation);
	} tcp_skb_tsorted_restore(data);
	if (!skb)
		return false;
	skb->dev = NULL;
	*TCP_SKB_CB(skb) = *TCP_SKB_CB(syn);
	TCP_SKB_CB(skb)->end_seq += skb->len;
	net6_tcp_set_segs(skb, skb->len);
	tp->syn_data = 1;
	WRITE_ONCE(tp->snd_nxt, TCP_SKB_CB(skb)->end_seq);
	/* No flight of data begins: congestion control is not set up yet. */
	tp->packets_out++;
	net6_tcp_transmit(sk, skb, false, sk->sk_allocation);
	tp->packets_out--;
	/* The SYN was sent at this time. */
	skb_set_delivery_time(syn, tp->tcp_wstamp_ns, true);
	return true;
}

/**
 * net6_tcp_fastopen_syn() - send the first SYN of a connection that uses Fast Open
 * @sk: in SYN-SENT, fastopen_req set
 * @syn: the bare SYN, queued: what is sent again if it is lost (RFC 7413 4.1.3.1)
 */
void net6_tcp_fastopen_syn(struct sock *sk, struct sk_buff *syn)
{
	struct tcp_fastopen_request *fo = tcp_sk(sk)->fastopen_req;
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *data = NULL;
	/* RFC 7413 4.2.1: until the server has told. */
	u16 mss = NET6_TCP_DEFAULT_MSS;

	if (net6_tcp_fo_cookie(sk, &fo->cookie, &mss) && fo->data && fo->size) {
		data = net6_tcp_fo_queue(sk, fo, mss);
		/* Without data a cookie is of no use. */
		if (!data)
			fo->cookie.len = -1;
	}
	tp->syn_fastopen = fo->cookie.len >= 0;
	if (!data || !net6_tcp_fo_transmit(sk, syn, data))
		net6_tcp_transmit(sk, syn, true, sk->sk_allocation);
	/* A SYN that is sent again has no option. */
	fo->cookie.len = -1;
}

/* What the SYN-ACK acknowledges leaves the write queue, the rest counts as never sent.
 * Returns true if nothing is left.
 */
static bool net6_tcp_fo_acked(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;

	WRITE_ONCE(tp->snd_nxt, tp->snd_una);
	while ((skb = tcp_send_head(sk))) {
		if (!after(TCP_SKB_CB(skb)->end_seq, tp->snd_una)) {
			__skb_unlink(skb, &sk->sk_write_queue);
			tcp_skb_tsorted_anchor_cleanup(skb);
			tcp_wmem_free_skb(sk, skb);
			continue;
		}
		if (before(TCP_SKB_CB(skb)->seq, tp->snd_una))
			net6_tcp_trim_head(sk, skb, tp->snd_una - TCP_SKB_CB(skb)->seq);
		return false;
	}
	return true;
}

/* RFC 7413 4.1.3, 4.1.3.1: cookie, MSS, and whether SYNs with data get lost are kept. */
static void net6_tcp_fo_note(struct sock *sk, const struct net6_tcp_opts *o, bool lost)
{
	struct net6_tcp_fo_client *client = net6_tcp_fo_client(sk, false);
	struct net6_tcp_fo_peer *peer;
	u32 now = ktime_get_seconds();

	if (!client)
		return;
	spin_lock_bh(&client->lock);
	peer = net6_tcp_fo_enter(&client->cache, &sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr, now);
	if (lost)
		net6_tcp_fo_lost(peer, now);
	else
		net6_tcp_fo_learn(peer, o, o->mss ?: NET6_TCP_DEFAULT_MSS);
	spin_unlock_bh(&client->lock);
	if (lost)
		NET6_INC(net6_tcp_nn(sk), TcpFastOpenBlackhole);
}

/**
 * net6_tcp_fastopen_synack() - a SYN that used Fast Open is answered
 * @sk: socket whose snd_una is what the SYN-ACK acknowledges
 * @o: its options
 */
void net6_tcp_fastopen_synack(struct sock *sk, const struct net6_tcp_opts *o)
{
	struct tcp_sock *tp = tcp_sk(sk);
	bool again = tp->total_retrans, too_big = tp->fastopen_client_fail == TFO_SYN_RETRANSMITTED;

	if (tp->syn_data) {
		tp->syn_data_acked = net6_tcp_fo_acked(sk);
		if (tp->syn_data_acked) {
			NET6_INC(net6_tcp_nn(sk), TcpFastOpenActive);
		} else {
			NET6_INC(net6_tcp_nn(sk), TcpFastOpenActiveFail);
			tp->fastopen_client_fail = again ? TFO_SYN_RETRANSMITTED :
							   TFO_DATA_NOT_ACKED;
		}
	}
	/* Neither a cookie nor data came back, and the first SYN was not answered in time: it
	 * is the plain one that got through. Unless length was in the way, not the option.
	 */
	if (!too_big)
		net6_tcp_fo_note(sk, o, again && !tp->syn_data_acked && !o->fastopen_len);
}

/**
 * net6_tcp_fastopen_too_big() - Packet Too Big came, and the path MTU is lower now
 * @sk: connected socket
 *
 * Data too long for the path was a SYN with data; the bare one goes at once.
 */
void net6_tcp_fastopen_too_big(struct sock *sk)
{
	struct sk_buff *syn = tcp_rtx_queue_head(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (sk->sk_state != TCP_SYN_SENT || !tp->syn_data || !syn ||
	    tp->fastopen_client_fail == TFO_SYN_RETRANSMITTED)
		return;
	tp->fastopen_client_fail = TFO_SYN_RETRANSMITTED;
	net6_tcp_clock(tp);
	if (!net6_tcp_retransmit_skb(sk, syn, 1))
		net6_tcp_rearm_rto(sk);
}

/**
 * net6_tcp_fastopen_cross() - both ends opened at once
 * @sk: socket, SYN-RECEIVED since now
 *
 * The peer drops what came with our SYN (RFC 9293 3.10.7.3 lets it): it counts as not sent.
 */
void net6_tcp_fastopen_cross(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->syn_data) {
		WRITE_ONCE(tp->snd_nxt, tp->snd_una + 1);
		NET6_INC(net6_tcp_nn(sk), TcpFastOpenActiveFail);
		tp->fastopen_client_fail = TFO_DATA_NOT_ACKED;
	}
}

/**
 * net6_tcp_fastopen_forget() - the connection is over
 * @sk: socket
 *
 * Context: any.
 */
void net6_tcp_fastopen_forget(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	kfree(tp->fastopen_req);
	tp->fastopen_req = NULL;
	net6_opt_set(sk, DEFER_CONNECT, 0);
	tp->syn_fastopen = 0;
	tp->syn_data = 0;
	tp->syn_data_acked = 0;
	tp->fastopen_client_fail = TFO_STATUS_UNSPEC;
}

/**
 * net6_tcp_fastopen_net_exit() - the namespace goes away
 * @tn: TCP's part of it; nobody uses it any more
 */
void net6_tcp_fastopen_net_exit(struct net6_tcp_net *tn)
{
	kfree(tn->fo_client);
}
