// SPDX-License-Identifier: GPL-2.0
/* The user's SEND (RFC 9293 3.10.2). Bytes go into the write queue, in buffers of as many
 * segments as may go out at once. Here is decided when to start sending. Short messages lie
 * behind the headers in one allocation, longer ones in page fragments, pages given with
 * MSG_ZEROCOPY or by sendfile() where they are.
 */
#include <linux/uio.h>

#include "../../../compat/sock.h"
#include "../../../compat/splice.h"
#include "../conn/fastopen.h"
#include "../engine/entry.h"
#include "calls.h"
#include "sendmsg.h"

/* A message up to this many bytes shares its buffer with the headers. With them it fills the 1 KB
 * that the allocator would give anyway.
 */
#define NET6_TCP_LINEAR_MAX	256
/* Bytes left in a page that are worth a fragment, as for sk_page_frag_refill(). */
#define NET6_TCP_FRAG_MIN	32
/* Buffers filled before the backlog gets a turn. */
#define NET6_TCP_BACKLOG_TURN	16

static void net6_tcp_mark_push(struct tcp_sock *tp, struct sk_buff *skb)
{
	TCP_SKB_CB(skb)->tcp_flags |= TCPHDR_PSH;
	tp->pushed_seq = tp->write_seq;
}

/* Half of the largest window that the peer ever had is worth a push (RFC 9293 3.8.6.2.1). */
static bool net6_tcp_forced_push(const struct tcp_sock *tp)
{
	return after(tp->write_seq, tp->pushed_seq + (tp->max_window >> 1));
}

/* While packets of ours wait in the device, a small one may wait for company. */
static bool net6_tcp_autocork(struct sock *sk, const struct sk_buff *skb, int goal)
{
	return skb->len < goal && READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_autocorking) &&
	       !tcp_rtx_queue_empty(sk) && refcount_read(&sk->sk_wmem_alloc) > skb->truesize &&
	       tcp_skb_can_collapse_to(skb);
}

/* The last byte of this call is queued, or it has to wait: send what may go. */
static void net6_tcp_push(struct net6_tcp_send *s, int flags, int nonagle)
{
	struct tcp_sock *tp = tcp_sk(s->sk);
	struct sk_buff *skb = tcp_write_queue_tail(s->sk);

	if (!skb)
		return;
	if (!(flags & MSG_MORE) || net6_tcp_forced_push(tp))
		net6_tcp_mark_push(tp, skb);
	if (unlikely(flags & MSG_OOB))
		tp->snd_up = tp->write_seq;
	if (net6_tcp_autocork(s->sk, skb, s->goal)) {
		/* The device's completion sends it, if it has not come meanwhile. */
		if (!test_bit(TSQ_THROTTLED, &s->sk->sk_tsq_flags)) {
			set_bit(TSQ_THROTTLED, &s->sk->sk_tsq_flags);
			/* Before the test below: pairs with the completion. */
			smp_mb__after_atomic();
		}
		if (refcount_read(&s->sk->sk_wmem_alloc) > skb->truesize)
			return;
	}
	net6_tcp_push_pending(s->sk, s->mss, flags & MSG_MORE ? TCP_NAGLE_CORK : nonagle);
}

/**
 * net6_tcp_push_full() - a buffer is full: its segments need not wait for the rest
 * @s: send call
 * @skb: the buffer, at the tail
 */
void net6_tcp_push_full(struct net6_tcp_send *s, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(s->sk);

	if (net6_tcp_forced_push(tp)) {
		net6_tcp_mark_push(tp, skb);
		net6_tcp_push_pending(s->sk, s->mss, TCP_NAGLE_PUSH);
	} else if (skb == tcp_send_head(s->sk)) {
		net6_tcp_push_one(s->sk, s->mss);
	}
}

/**
 * net6_tcp_wait_space() - no room: send what there is, wait for acknowledgments
 * @s: send call
 *
 * Context: process, gives the socket up while it sleeps.
 * Return: 0 when there is room, or -errno.
 */
int net6_tcp_wait_space(struct net6_tcp_send *s)
{
	int err;

	set_bit(SOCK_NOSPACE, &s->sk->sk_socket->flags);
	net6_tcp_unqueue_empty(s->sk);
	if (s->copied || tcp_send_head(s->sk))
		net6_tcp_push(s, s->flags & ~MSG_MORE, TCP_NAGLE_PUSH);
	err = sk_stream_wait_memory(s->sk, &s->timeo);
	if (err)
		return err;
	s->mss = net6_tcp_send_mss(s->sk, &s->goal, s->flags);
	return 0;
}

static bool net6_tcp_broken(const struct sock *sk)
{
	return sk->sk_err || sk->sk_shutdown & SEND_SHUTDOWN;
}

/* A new buffer at the tail. Returns NULL and *err = 0 if the caller is to try again. */
static struct sk_buff *net6_tcp_new_skb(struct net6_tcp_send *s, unsigned int linear, int *err)
{
	struct sk_buff *skb = NULL;

	*err = 0;
	if (likely(net6_tcp_may_queue(s->sk))) {
		if (unlikely(s->filled >= NET6_TCP_BACKLOG_TURN)) {
			s->filled = 0;
			if (sk_flush_backlog(s->sk)) {
				s->mss = net6_tcp_send_mss(s->sk, &s->goal, s->flags);
				*err = net6_tcp_broken(s->sk) ? -EPIPE : 0;
				return NULL;
			}
		}
		skb = net6_tcp_alloc_skb(s->sk, linear, s->sk->sk_allocation,
					 tcp_rtx_and_write_queues_empty(s->sk));
	}
	if (unlikely(!skb)) {
		*err = net6_tcp_wait_space(s);
		return NULL;
	}
	s->filled++;
	net6_tcp_queue_skb(s->sk, skb);
	return skb;
}

/* As sk_page_frag_refill(), which begins an empty page again, too. */
static bool net6_tcp_frag_refill(struct sock *sk, struct page_frag *frag)
{
	if (likely(frag->page)) {
		if (page_ref_count(frag->page) == 1) {
			frag->offset = 0;
			return true;
		}
		if (likely(frag->offset + NET6_TCP_FRAG_MIN <= frag->size))
			return true;
		net6_tcp_pages_turn(sk, frag);
	}
	return sk_page_frag_refill(sk, frag);
}

/* Page fragment the bytes go to. Returns how many, 0 if there is no memory, -EMSGSIZE if
 * the buffer has no place for another fragment.
 */
static int net6_tcp_copy_frag(struct sock *sk, struct sk_buff *skb, struct iov_iter *from, int copy)
{
	/* A task's other sockets may hold its pages for long. */
	struct page_frag *pfrag = net6_tcp_sk(sk)->pages ? &sk->sk_frag : sk_page_frag(sk);
	int i = skb_shinfo(skb)->nr_frags, err;
	bool merge;

	if (!net6_tcp_frag_refill(sk, pfrag))
		return 0;
	merge = skb_can_coalesce(skb, i, pfrag->page, pfrag->offset);
	if (!merge && i >= NET6_COMPAT_MAX_FRAGS)
		return -EMSGSIZE;
	copy = min_t(int, copy, pfrag->size - pfrag->offset);
	skb_zcopy_downgrade_managed(skb);
	copy = net6_tcp_wmem_schedule(sk, copy);
	if (!copy)
		return 0;
	err = skb_copy_to_page_nocache(sk, from, skb, pfrag->page, pfrag->offset, copy);
	if (err)
		return err;
	if (merge) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], copy);
	} else {
		skb_fill_page_desc(skb, i, pfrag->page, pfrag->offset, copy);
		page_ref_inc(pfrag->page);
	}
	pfrag->offset += copy;
	return copy;
}

/* Bytes from the user into a buffer, as net6_tcp_copy_frag(). */
static int net6_tcp_copy(struct sock *sk, struct sk_buff *skb, struct msghdr *msg, int copy,
			 struct ubuf_info *uarg)
{
	if (unlikely(uarg)) {
		copy = net6_tcp_wmem_schedule(sk, copy);
		if (!copy)
			return 0;
		copy = net6_compat_zerocopy_stream(sk, skb, msg, copy, uarg);
		return copy == -EEXIST ? -EMSGSIZE : copy;
	}
	if (copy <= skb_tailroom(skb) && !skb_cloned(skb)) {
		/* skb_tailroom() is 0 once there are fragments. */
		if (unlikely(!copy_from_iter_full(skb_tail_pointer(skb), copy, &msg->msg_iter)))
			return -EFAULT;
		skb_put(skb, copy);
		return copy;
	}
	return net6_tcp_copy_frag(sk, skb, &msg->msg_iter, copy);
}

/**
 * net6_tcp_account() - bytes have been put into a buffer: move the sequence numbers
 * @s: send call
 * @skb: buffer at the tail
 * @n: how many
 */
void net6_tcp_account(struct net6_tcp_send *s, struct sk_buff *skb, int n)
{
	struct tcp_sock *tp = tcp_sk(s->sk);

	if (!s->copied)
		TCP_SKB_CB(skb)->tcp_flags &= ~TCPHDR_PSH;
	WRITE_ONCE(tp->write_seq, tp->write_seq + n);
	TCP_SKB_CB(skb)->end_seq += n;
	tcp_skb_pcount_set(skb, 0);
	s->copied += n;
}

/**
 * net6_tcp_tail() - the tail buffer if it takes more, else a new one
 * @s: send call
 * @left: bytes to come: a short message gets linear room
 * @room: filled with the bytes it may take
 * @err: filled with 0 if the caller is to try again, or -errno
 *
 * Context: process, may sleep.
 * Return: the buffer or NULL.
 */
struct sk_buff *net6_tcp_tail(struct net6_tcp_send *s, size_t left, int *room, int *err)
{
	struct sk_buff *skb = tcp_write_queue_tail(s->sk);

	*err = 0;
	if (skb && !s->fresh) {
		*room = s->goal - (int)skb->len;
		if (*room > 0 && tcp_skb_can_collapse_to(skb))
			return skb;
	}
	skb = net6_tcp_new_skb(s, left <= NET6_TCP_LINEAR_MAX ? left : 0, err);
	if (skb)
		s->fresh = false;
	*room = s->goal;
	return skb;
}

static int net6_tcp_send_loop(struct net6_tcp_send *s, struct msghdr *msg, struct ubuf_info *uarg)
{
	struct sk_buff *skb;
	int room, n, err;

	while (msg_data_left(msg)) {
		skb = net6_tcp_tail(s, uarg ? SIZE_MAX : msg_data_left(msg), &room, &err);
		if (unlikely(!skb)) {
			if (err)
				return err;
			continue;
		}
		n = net6_tcp_copy(s->sk, skb, msg, min_t(size_t, room, msg_data_left(msg)), uarg);
		if (unlikely(n == -EMSGSIZE)) {
			net6_tcp_mark_push(tcp_sk(s->sk), skb);
			s->fresh = true;
			continue;
		}
		if (unlikely(n < 0))
			return n;
		if (unlikely(!n)) {
			err = net6_tcp_wait_space(s);
			if (err)
				return err;
			continue;
		}
		net6_tcp_account(s, skb, n);
		if (!msg_data_left(msg)) {
			if (unlikely(s->flags & MSG_EOR))
				TCP_SKB_CB(skb)->eor = 1;
			return 0;
		}
		if ((int)skb->len >= s->goal && !(s->flags & MSG_OOB))
			net6_tcp_push_full(s, skb);
	}
	return 0;
}

/* What a call says about itself. For TCP only questions about transmit times count. */
static int net6_tcp_cmsg(struct net6_tcp_send *s, struct msghdr *msg)
{
	struct sockcm_cookie sockc;

	sockcm_init(&sockc, s->sk);
	/* As the native stack's, whatever is wrong with it. */
	if (sock_cmsg_send(s->sk, msg, &sockc))
		return -EINVAL;
	s->tsflags = sockc.tsflags;
	return 0;
}

/**
 * net6_tcp_send_begin() - wait for the handshake, find sizes
 * @s: send call with @sk and @flags
 * @msg: its ancillary data, or NULL
 *
 * Context: process, may sleep.
 * Return: 0 or -errno.
 */
int net6_tcp_send_begin(struct net6_tcp_send *s, struct msghdr *msg)
{
	struct sock *sk = s->sk;
	int err;

	s->timeo = sock_sndtimeo(sk, s->flags & MSG_DONTWAIT);
	tcp_rate_check_app_limited(sk);
	if (unlikely((1 << sk->sk_state) & ~(TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) &&
	    !tcp_passive_fastopen(sk)) {
		if (net6_tcp_deferred(sk)) {
			err = net6_tcp_fastopen_start(sk);
			if (err)
				return err;
		}
		err = sk_stream_wait_connect(sk, &s->timeo);
		if (err)
			return err;
	}
	s->tsflags = READ_ONCE(sk->sk_tsflags);
	if (unlikely(msg && msg->msg_controllen)) {
		err = net6_tcp_cmsg(s, msg);
		if (err)
			return err;
	}
	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	s->mss = net6_tcp_send_mss(sk, &s->goal, s->flags);
	return net6_tcp_broken(sk) ? -EPIPE : 0;
}

/* When does the last byte of this call leave, and when is it acknowledged? */
static void net6_tcp_tx_timestamp(struct net6_tcp_send *s)
{
	struct sk_buff *skb = tcp_write_queue_tail(s->sk);

	if (!skb)
		return;
	net6_compat_tx_flags(s->sk, skb, s->tsflags);
	if (s->tsflags & SOF_TIMESTAMPING_TX_ACK)
		TCP_SKB_CB(skb)->txstamp_ack = 1;
	if (s->tsflags & SOF_TIMESTAMPING_TX_RECORD_MASK)
		skb_shinfo(skb)->tskey = TCP_SKB_CB(skb)->seq + skb->len - 1;
}

/**
 * net6_tcp_send_end() - push what was queued
 * @s: send call
 * @err: why it ends early, or 0
 *
 * Return: what the user gets: bytes or -errno.
 */
int net6_tcp_send_end(struct net6_tcp_send *s, int err)
{
	struct sock *sk = s->sk;

	if (unlikely(err))
		net6_tcp_unqueue_empty(sk);
	if (s->copied) {
		if (unlikely(s->tsflags))
			net6_tcp_tx_timestamp(s);
		net6_tcp_push(s, s->flags, tcp_sk(sk)->nonagle);
		return s->copied;
	}
	if (!err)
		return 0;
	err = sk_stream_error(sk, s->flags, err);
	/* Somebody else may be waiting for room that this call did not use. */
	if (err == -EAGAIN && tcp_rtx_and_write_queues_empty(sk))
		sk->sk_write_space(sk);
	return err;
}

/* Find who is to be told when the data are not needed any more; NULL: nobody, they are copied.
 * With io_uring that is its own (msg_ubuf), which holds the pages: buffers may have no
 * references.
 */
static int net6_tcp_zerocopy(struct sock *sk, const struct msghdr *msg, size_t size,
			     struct ubuf_info **uarg)
{
	struct sk_buff *tail;

	*uarg = NULL;
	if (likely(!(msg->msg_flags & MSG_ZEROCOPY)) || !size)
		return 0;
	if (msg->msg_ubuf) {
		*uarg = msg->msg_ubuf;
	} else if (sock_flag(sk, SOCK_ZEROCOPY)) {
		tail = tcp_write_queue_tail(sk);
		*uarg = net6_compat_zerocopy_alloc(sk, size, tail ? skb_zcopy(tail) : NULL);
		if (!*uarg)
			return -ENOBUFS;
	}
	return 0;
}

static int net6_tcp_send_msg(struct net6_tcp_send *s, struct msghdr *msg, size_t size,
			     struct ubuf_info *uarg)
{
	struct sock *sk = s->sk;
	int err;

	if (unlikely(s->flags & MSG_FASTOPEN || net6_tcp_deferred(sk))) {
		err = net6_tcp_fastopen_send(sk, msg, size, uarg, &s->copied);
		if (err == -EINPROGRESS && s->copied)
			return s->copied;
		if (err)
			return sk_stream_error(sk, s->flags, err);
	}
	err = net6_tcp_send_begin(s, msg);
	if (unlikely(net6_compat_splices(msg))) {
		if (!err)
			err = net6_tcp_splice_loop(s, msg);
	} else if (!err) {
		err = net6_tcp_send_loop(s, msg, uarg);
	}
	return net6_tcp_send_end(s, err);
}

/**
 * net6_tcp_sendmsg_locked() - sendmsg(2) with the socket owned
 * @sk: socket, owned by the caller
 * @msg: data, flags, ancillary data; its msg_ubuf is held by the caller until this returns
 * @size: bytes
 *
 * Context: process.
 * Return: bytes queued, or -errno.
 */
int net6_tcp_sendmsg_locked(struct sock *sk, struct msghdr *msg, size_t size)
{
	struct net6_tcp_send s = { .sk = sk, .flags = msg->msg_flags };
	struct ubuf_info *uarg;
	int err;

	err = net6_tcp_zerocopy(sk, msg, size, &uarg);
	if (unlikely(err))
		return sk_stream_error(sk, s.flags, err);
	err = net6_tcp_send_msg(&s, msg, size, uarg);
	if (unlikely(uarg && uarg != msg->msg_ubuf)) {
		if (err > 0)
			net_zcopy_put(uarg);
		else
			net_zcopy_put_abort(uarg, true);
	}
	return err;
}

/**
 * net6_tcp_sendmsg() - sendmsg(2); proto->sendmsg
 * @sk: socket
 * @msg: data, flags, ancillary data
 * @size: bytes
 *
 * Context: process.
 * Return: bytes queued, or -errno.
 */
int net6_tcp_sendmsg(struct sock *sk, struct msghdr *msg, size_t size)
{
	int err;

	lock_sock(sk);
	err = net6_tcp_sendmsg_locked(sk, msg, size);
	release_sock(sk);
	return err;
}
