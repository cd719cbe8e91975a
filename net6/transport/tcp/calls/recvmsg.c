// SPDX-License-Identifier: GPL-2.0
/* The user's RECEIVE (RFC 9293 3.10.3): bytes straight from the segments' buffers into
 * the reader's, urgent data, and what comes with them as ancillary data.
 */
#include <linux/errqueue.h>
#include <net/busy_poll.h>

#include "../../../compat/sock.h"
#include "../engine/entry.h"
#include "calls.h"

/* What goes with the bytes as ancillary data. */
#define NET6_TCP_CMSG_INQ	BIT(0)
#define NET6_TCP_CMSG_TS	BIT(1)

/**
 * struct net6_tcp_recv - a receive call on its way
 * @sk: socket, owned
 * @msg: where to
 * @flags: MSG_*
 * @len: bytes still wanted
 * @copied: bytes delivered
 * @target: bytes without which it does not return (SO_RCVLOWAT, MSG_WAITALL)
 * @timeo: how long to wait, jiffies
 * @seq: the next byte's number: of the socket, or
 * @peek_seq: for MSG_PEEK
 * @urg_hole: urgent bytes that a peek went around
 * @cmsg: NET6_TCP_CMSG_*
 * @tss: time of the last buffer that had one
 */
struct net6_tcp_recv {
	struct sock			*sk;
	struct msghdr			*msg;
	int				flags;
	size_t				len;
	int				copied;
	int				target;
	long				timeo;
	u32				*seq;
	u32				peek_seq;
	u32				urg_hole;
	u32				cmsg;
	struct scm_timestamping_internal tss;
};

/* RFC 9293 3.8.5: the byte that MSG_OOB reads. */
static int net6_tcp_recv_urg(struct sock *sk, struct msghdr *msg, int len, int flags)
{
	struct tcp_sock *tp = tcp_sk(sk);
	char c;

	if (sock_flag(sk, SOCK_URGINLINE) || !tp->urg_data || tp->urg_data == TCP_URG_READ)
		return -EINVAL;
	if (sk->sk_state == TCP_CLOSE && !sock_flag(sk, SOCK_DONE))
		return -ENOTCONN;
	if (tp->urg_data & TCP_URG_VALID) {
		c = tp->urg_data;
		if (!(flags & MSG_PEEK))
			WRITE_ONCE(tp->urg_data, TCP_URG_READ);
		msg->msg_flags |= MSG_OOB;
		if (len <= 0) {
			msg->msg_flags |= MSG_TRUNC;
			return 0;
		}
		return !(flags & MSG_TRUNC) && memcpy_to_msg(msg, &c, 1) ? -EFAULT : 1;
	}
	if (sk->sk_state == TCP_CLOSE || sk->sk_shutdown & RCV_SHUTDOWN)
		return 0;
	/* The pointer is known, the byte is still on its way: never wait for it. */
	return -EAGAIN;
}

/* Nothing more to deliver now. True: return to the user; r->copied is the answer. */
static bool net6_tcp_recv_stop(struct net6_tcp_recv *r)
{
	struct sock *sk = r->sk;

	if (r->copied)
		return !r->timeo || sk->sk_err || sk->sk_state == TCP_CLOSE ||
		       sk->sk_shutdown & RCV_SHUTDOWN || signal_pending(current);
	if (sock_flag(sk, SOCK_DONE))
		return true;
	if (sk->sk_err) {
		r->copied = sock_error(sk);
		return true;
	}
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return true;
	if (sk->sk_state == TCP_CLOSE)
		r->copied = -ENOTCONN;
	else if (!r->timeo)
		r->copied = -EAGAIN;
	else if (signal_pending(current))
		r->copied = sock_intr_errno(r->timeo);
	else
		return false;
	return true;
}

/* The buffer with byte *r->seq, and where in it; NULL if it has not come. *last is the
 * newest one seen.
 */
static struct sk_buff *net6_tcp_recv_find(struct net6_tcp_recv *r, u32 *offset,
					  struct sk_buff **last)
{
	struct sk_buff *skb;

	*last = skb_peek_tail(&r->sk->sk_receive_queue);
	skb_queue_walk(&r->sk->sk_receive_queue, skb) {
		*last = skb;
		*offset = *r->seq - TCP_SKB_CB(skb)->seq;
		if (unlikely(TCP_SKB_CB(skb)->tcp_flags & TCPHDR_SYN))
			(*offset)--;
		if (WARN_ON_ONCE((s32)*offset < 0))
			return NULL;
		if (*offset < skb->len || TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN)
			return skb;
	}
	return NULL;
}

/* How many of @used bytes may be copied before urgent data. Steps over an urgent byte
 * that is out of line: then *offset moves with it.
 */
static size_t net6_tcp_recv_urg_limit(struct net6_tcp_recv *r, u32 *offset, size_t used)
{
	struct tcp_sock *tp = tcp_sk(r->sk);
	u32 urg = tp->urg_seq - *r->seq;

	if (urg >= used)
		return used;
	if (urg)
		return urg;
	if (sock_flag(r->sk, SOCK_URGINLINE))
		return used;
	WRITE_ONCE(*r->seq, *r->seq + 1);
	r->urg_hole++;
	(*offset)++;
	return used - 1;
}

/* Deliver from a buffer. Returns false when the call is over. */
static bool net6_tcp_recv_copy(struct net6_tcp_recv *r, struct sk_buff *skb, u32 offset)
{
	struct tcp_sock *tp = tcp_sk(r->sk);
	size_t used = min_t(size_t, skb->len - offset, r->len);

	if (unlikely(tp->urg_data))
		used = net6_tcp_recv_urg_limit(r, &offset, used);
	if (likely(used)) {
		if (!(r->flags & MSG_TRUNC) &&
		    skb_copy_datagram_msg(skb, offset, r->msg, used)) {
			if (!r->copied)
				r->copied = -EFAULT;
			return false;
		}
		WRITE_ONCE(*r->seq, *r->seq + used);
		r->copied += used;
		r->len -= used;
		net6_tcp_rcv_space_adjust(r->sk);
	}
	if (unlikely(tp->urg_data) && after(tp->copied_seq, tp->urg_seq))
		WRITE_ONCE(tp->urg_data, 0);
	if (unlikely(TCP_SKB_CB(skb)->has_rxtstamp)) {
		net6_compat_stamp_set(&r->tss, 0, skb->tstamp);
		net6_compat_stamp_set(&r->tss, 2, skb_hwtstamps(skb)->hwtstamp);
		r->cmsg |= NET6_TCP_CMSG_TS;
	}
	if (offset + used < skb->len)
		return r->len > 0;
	if (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN)
		WRITE_ONCE(*r->seq, *r->seq + 1);
	else if (!r->len && r->flags & MSG_PEEK)
		return false;
	if (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN || !(r->flags & MSG_PEEK)) {
		bool fin = TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN;

		if (!(r->flags & MSG_PEEK))
			sk_eat_skb(r->sk, skb);
		return !fin && r->len > 0;
	}
	return true;
}

/* Wait for more, or let the backlog in. Return: 0; -EPIPE if it was disconnected meanwhile:
 * what comes now, if anything, is another connection's.
 */
static int net6_tcp_recv_wait(struct net6_tcp_recv *r, struct sk_buff *last)
{
	struct sock *sk = r->sk;
	int err;

	if (r->copied >= r->target) {
		__sk_flush_backlog(sk);
	} else {
		net6_tcp_cleanup_rbuf(sk, r->copied);
		net6_tcp_ack_idle(sk);
		err = sk_wait_data(sk, &r->timeo, last);
		if (err < 0)
			return err;
	}
	/* Another reader was faster: go on where it ended. */
	if (r->flags & MSG_PEEK && r->peek_seq - r->copied - r->urg_hole != tcp_sk(sk)->copied_seq)
		r->peek_seq = tcp_sk(sk)->copied_seq;
	return 0;
}

static void net6_tcp_recv_loop(struct net6_tcp_recv *r)
{
	struct sock *sk = r->sk;
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb, *last;
	u32 offset;
	int err;

	do {
		/* RFC 9293 3.8.5: reading stops at the urgent mark. */
		if (unlikely(tp->urg_data) && tp->urg_seq == *r->seq) {
			if (r->copied)
				break;
			if (signal_pending(current)) {
				r->copied = r->timeo ? sock_intr_errno(r->timeo) : -EAGAIN;
				break;
			}
		}
		skb = net6_tcp_recv_find(r, &offset, &last);
		if (skb) {
			if (!net6_tcp_recv_copy(r, skb, offset))
				break;
			continue;
		}
		if (r->copied >= r->target && !READ_ONCE(sk->sk_backlog.tail))
			break;
		if (net6_tcp_recv_stop(r)) {
			/* A program that begins by reading wants to hear first. */
			if (unlikely(inet_csk(sk)->icsk_ack.pending & NET6_TCP_ACK_HELD))
				net6_tcp_ack_idle(sk);
			break;
		}
		err = net6_tcp_recv_wait(r, last);
		if (unlikely(err)) {
			r->copied = r->copied ?: err;
			break;
		}
	} while (r->len > 0);
}

static void net6_tcp_recv_locked(struct net6_tcp_recv *r)
{
	struct sock *sk = r->sk;
	struct tcp_sock *tp = tcp_sk(sk);

	if (sk->sk_state == TCP_LISTEN) {
		r->copied = -ENOTCONN;
		return;
	}
	if (tp->recvmsg_inq)
		r->cmsg |= NET6_TCP_CMSG_INQ;
	r->timeo = sock_rcvtimeo(sk, r->flags & MSG_DONTWAIT);
	if (unlikely(r->flags & MSG_OOB)) {
		r->copied = net6_tcp_recv_urg(sk, r->msg, r->len, r->flags);
		return;
	}
	r->seq = &tp->copied_seq;
	if (r->flags & MSG_PEEK) {
		r->peek_seq = tp->copied_seq;
		r->seq = &r->peek_seq;
	}
	r->target = sock_rcvlowat(sk, r->flags & MSG_WAITALL, r->len);
	net6_tcp_recv_loop(r);
	/* The window may have to be announced again. */
	net6_tcp_cleanup_rbuf(sk, r->copied);
}

/* Bytes that a reader would find; one at least if only the end of the stream is left. */
static int net6_tcp_inq_hint(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 copied_seq = READ_ONCE(tp->copied_seq);
	u32 rcv_nxt = READ_ONCE(tp->rcv_nxt);
	int inq = rcv_nxt - copied_seq;

	if (unlikely(inq < 0 || copied_seq != READ_ONCE(tp->copied_seq))) {
		lock_sock(sk);
		inq = tp->rcv_nxt - tp->copied_seq;
		release_sock(sk);
	}
	if (inq == 0 && sock_flag(sk, SOCK_DONE))
		inq = 1;
	return inq;
}

/* SO_TIMESTAMP and SO_TIMESTAMPNS in the user's choice of clock format. */
static void net6_tcp_put_stamp(struct msghdr *msg, struct sock *sk, ktime_t stamp)
{
	bool ns = sock_flag(sk, SOCK_RCVTSTAMPNS), new = sock_flag(sk, SOCK_TSTAMP_NEW);
	const struct timespec64 ts = ktime_to_timespec64(stamp);
	struct __kernel_timespec kts = { ts.tv_sec, ts.tv_nsec };
	struct __kernel_sock_timeval stv = { ts.tv_sec, ts.tv_nsec / 1000 };
	struct __kernel_old_timespec ots = { ts.tv_sec, ts.tv_nsec };
	struct __kernel_old_timeval otv = { ts.tv_sec, ts.tv_nsec / 1000 };

	if (ns && new)
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_NEW, sizeof(kts), &kts);
	else if (ns)
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_OLD, sizeof(ots), &ots);
	else if (new)
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_NEW, sizeof(stv), &stv);
	else
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_OLD, sizeof(otv), &otv);
}

static void net6_tcp_put_timestamps(struct msghdr *msg, struct sock *sk,
				    struct scm_timestamping_internal *tss)
{
	u32 flags = READ_ONCE(sk->sk_tsflags);
	bool any = false;

	if (net6_compat_stamp(tss, 0) && sock_flag(sk, SOCK_RCVTSTAMP))
		net6_tcp_put_stamp(msg, sk, net6_compat_stamp(tss, 0));
	if (flags & SOF_TIMESTAMPING_SOFTWARE && net6_compat_stamp(tss, 0))
		any = true;
	else
		net6_compat_stamp_clear(tss, 0);
	if (flags & SOF_TIMESTAMPING_RAW_HARDWARE && net6_compat_stamp(tss, 2))
		any = true;
	else
		net6_compat_stamp_clear(tss, 2);
	if (!any)
		return;
	net6_compat_stamp_clear(tss, 1);
	if (sock_flag(sk, SOCK_TSTAMP_NEW))
		put_cmsg_scm_timestamping64(msg, tss);
	else
		put_cmsg_scm_timestamping(msg, tss);
}

static void net6_tcp_put_cmsgs(struct net6_tcp_recv *r)
{
	struct msghdr *msg = r->msg;

	if (r->cmsg & NET6_TCP_CMSG_TS)
		net6_tcp_put_timestamps(msg, r->sk, &r->tss);
	if (msg->msg_get_inq || r->cmsg & NET6_TCP_CMSG_INQ) {
		msg->msg_inq = net6_tcp_inq_hint(r->sk);
		if (r->cmsg & NET6_TCP_CMSG_INQ)
			put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(msg->msg_inq), &msg->msg_inq);
	}
}

/**
 * net6_tcp_recvmsg() - recvmsg(2); proto->recvmsg
 * @sk: socket
 * @msg: where to
 * @len: bytes at most
 * @flags: MSG_*
 * @addr_len: for the error queue
 *
 * Context: process.
 * Return: bytes, 0 at the end of the stream, or -errno.
 */
int net6_tcp_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len)
{
	struct net6_tcp_recv r;

	if (unlikely(flags & MSG_ERRQUEUE))
		return net6_recv_error(sk, msg, len, addr_len);
	if (sk_can_busy_loop(sk) && skb_queue_empty_lockless(&sk->sk_receive_queue) &&
	    sk->sk_state == TCP_ESTABLISHED)
		sk_busy_loop(sk, flags & MSG_DONTWAIT);
	r.sk = sk;
	r.msg = msg;
	r.flags = flags;
	r.len = len;
	r.copied = 0;
	r.urg_hole = 0;
	r.cmsg = 0;
	lock_sock(sk);
	net6_tcp_recv_locked(&r);
	release_sock(sk);
	if (unlikely(r.cmsg || msg->msg_get_inq) && r.copied >= 0)
		net6_tcp_put_cmsgs(&r);
	return r.copied;
}

/**
 * net6_tcp_peek_len() - how much a reader finds; proto_ops->peek_len
 * @sk: socket
 *
 * Return: bytes.
 */
int net6_tcp_peek_len(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq);
}

/**
 * net6_tcp_set_rcvlowat() - SO_RCVLOWAT; proto_ops->set_rcvlowat
 * @sk: socket, owned by the caller
 * @val: bytes; bounded by half the largest receive buffer, which grows to hold it
 *
 * Context: process.
 * Return: 0.
 */
int net6_tcp_set_rcvlowat(struct sock *sk, int val)
{
	int cap, space;

	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		cap = sk->sk_rcvbuf >> 1;
	else
		cap = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]) >> 1;
	val = min(val, cap);
	WRITE_ONCE(sk->sk_rcvlowat, val ? : 1);
	net6_tcp_data_ready(sk);
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		return 0;
	space = val << 1;
	if (space > sk->sk_rcvbuf) {
		WRITE_ONCE(sk->sk_rcvbuf, space);
		WRITE_ONCE(tcp_sk(sk)->window_clamp, val);
	}
	return 0;
}
