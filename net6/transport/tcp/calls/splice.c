// SPDX-License-Identifier: GPL-2.0
/* Bytes that are not copied. Pages go into the write queue (sendfile, splice to a socket) and out
 * of the receive queue (splice from a socket, in-kernel readers).
 */
#include <linux/pagemap.h>
#include <linux/pipe_fs_i.h>
#include <linux/splice.h>

#include <net6/tcp.h>

#include "../../../compat/splice.h"
#include "../engine/entry.h"
#include "calls.h"
#include "sendmsg.h"

/* The bytes are in the buffer's fragments now: charge them. */
static void net6_tcp_charge_frags(struct sock *sk, struct sk_buff *skb, int n)
{
	/* The owner of the pages may change them: checksums are made of what is sent. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	sk_wmem_queued_add(sk, n);
	sk_mem_charge(sk, n);
}

#ifdef NET6_COMPAT_SENDPAGE
/* As net6_tcp_copy() of sendmsg.c: bytes taken, 0 for no memory, -EMSGSIZE if full. */
static int net6_tcp_take_page(struct sock *sk, struct sk_buff *skb, struct page *page, int offset,
			      int n)
{
	int i = skb_shinfo(skb)->nr_frags;
	bool merge = skb_can_coalesce(skb, i, page, offset);

	if (!merge && i >= NET6_COMPAT_MAX_FRAGS)
		return -EMSGSIZE;
	n = net6_tcp_wmem_schedule(sk, n);
	if (!n)
		return 0;
	skb_zcopy_downgrade_managed(skb);
	if (merge) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], n);
	} else {
		get_page(page);
		skb_fill_page_desc_noacc(skb, i, page, offset, n);
	}
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
	net6_tcp_charge_frags(sk, skb, n);
	return n;
}

static int net6_tcp_sendpage_loop(struct net6_tcp_send *s, struct page *page, int offset,
				  size_t size)
{
	struct sk_buff *skb;
	int room, n, err;

	while (size) {
		skb = net6_tcp_tail(s, SIZE_MAX, &room, &err);
		if (!skb) {
			if (err)
				return err;
			continue;
		}
		n = net6_tcp_take_page(s->sk, skb, page, offset, min_t(size_t, room, size));
		if (n == -EMSGSIZE) {
			s->fresh = true;
			continue;
		}
		if (!n) {
			err = net6_tcp_wait_space(s);
			if (err)
				return err;
			continue;
		}
		net6_tcp_account(s, skb, n);
		offset += n;
		size -= n;
		if (size && (int)skb->len >= s->goal)
			net6_tcp_push_full(s, skb);
	}
	return 0;
}

/**
 * net6_tcp_sendpage_locked() - queue a piece of a page with the socket owned
 * @sk: socket, owned by the caller
 * @page: a reference is taken for as long as it is in flight
 * @offset: where in it
 * @size: bytes
 * @flags: MSG_*
 *
 * Context: process.
 * Return: bytes queued, or -errno.
 */
int net6_tcp_sendpage_locked(struct sock *sk, struct page *page, int offset, size_t size,
			     int flags)
{
	struct net6_tcp_send s = { .sk = sk, .flags = flags };
	int err;

	if (WARN_ONCE(!sendpage_ok(page), "page must not be a slab one and have references"))
		return -EINVAL;
	if (flags & MSG_SENDPAGE_NOTLAST)
		s.flags |= MSG_MORE;
	err = net6_tcp_send_begin(&s, NULL);
	if (!err)
		err = net6_tcp_sendpage_loop(&s, page, offset, size);
	/* More pages follow at once: pushed with the last one, all of them fill packets. */
	if (!err && flags & MSG_SENDPAGE_NOTLAST)
		return s.copied;
	return net6_tcp_send_end(&s, err);
}

/**
 * net6_tcp_sendpage() - proto->sendpage
 * @sk: socket
 * @page: page
 * @offset: where in it
 * @size: bytes
 * @flags: MSG_*
 *
 * Context: process.
 * Return: bytes queued, or -errno.
 */
int net6_tcp_sendpage(struct sock *sk, struct page *page, int offset, size_t size, int flags)
{
	int err;

	lock_sock(sk);
	err = net6_tcp_sendpage_locked(sk, page, offset, size, flags);
	release_sock(sk);
	return err;
}

#endif /* NET6_COMPAT_SENDPAGE */

/* Pieces into buffers, as sendpage() would do one by one: each buffer is charged once. */
static int net6_tcp_pieces_loop(struct net6_tcp_send *s, struct net6_tcp_pieces *pieces)
{
	struct sk_buff *skb;
	int room, n, err;

	while (pieces->left) {
		skb = net6_tcp_tail(s, SIZE_MAX, &room, &err);
		if (!skb) {
			if (err)
				return err;
			continue;
		}
		room = net6_tcp_wmem_schedule(s->sk, min_t(size_t, room, pieces->left));
		if (!room) {
			err = net6_tcp_wait_space(s);
			if (err)
				return err;
			continue;
		}
		skb_zcopy_downgrade_managed(skb);
		n = net6_tcp_pieces_fill(pieces, skb, room);
		if (n < room)
			s->fresh = true;
		if (!n)
			continue;
		net6_tcp_charge_frags(s->sk, skb, n);
		net6_tcp_account(s, skb, n);
		if (pieces->left && (int)skb->len >= s->goal)
			net6_tcp_push_full(s, skb);
	}
	return 0;
}

/**
 * net6_tcp_send_pages() - send pieces of pages by reference, as sendfile() does
 * @sk: a connection that is a socket
 * @pages: pieces, none empty, of pages that may be shared (no slab). Their bytes must not change
 *	until the peer has acknowledged them. A reference is taken to each page for that long
 * @nr_pages: how many
 * @flags: MSG_DONTWAIT, MSG_MORE, MSG_NOSIGNAL
 *
 * Unlike net6_tcp_send() it takes what there is room for.
 * Context: process; locks @sk, sleeps without MSG_DONTWAIT.
 * Return: bytes taken, or -errno. It is -EOPNOTSUPP for a socket that is not net6's TCP, for
 * instance one of the other family that a listener of both accepted.
 */
int net6_tcp_send_pages(struct sock *sk, const struct bio_vec *pages, unsigned int nr_pages,
			int flags)
{
	struct net6_tcp_send s = { .sk = sk, .flags = flags };
	struct net6_tcp_pieces pieces = { .piece = pages };
	unsigned int i;
	int sent;

	if (!net6_tcp_is(sk))
		return -EOPNOTSUPP;
	for (i = 0; i < nr_pages; i++)
		pieces.left += pages[i].bv_len;
	lock_sock(sk);
	sent = net6_tcp_send_begin(&s, NULL);
	if (!sent)
		sent = net6_tcp_pieces_loop(&s, &pieces);
	sent = net6_tcp_send_end(&s, sent);
	release_sock(sk);
	return sent;
}
EXPORT_SYMBOL_GPL(net6_tcp_send_pages);

/**
 * net6_tcp_splice_loop() - queue the pages of a MSG_SPLICE_PAGES call
 * @s: send call
 * @msg: its pages
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int net6_tcp_splice_loop(struct net6_tcp_send *s, struct msghdr *msg)
{
	struct sk_buff *skb;
	int room, n, err;

	while (msg_data_left(msg)) {
		skb = net6_tcp_tail(s, SIZE_MAX, &room, &err);
		if (!skb) {
			if (err)
				return err;
			continue;
		}
		n = net6_tcp_wmem_schedule(s->sk, min_t(size_t, room, msg_data_left(msg)));
		if (!n) {
			err = net6_tcp_wait_space(s);
			if (err)
				return err;
			continue;
		}
		skb_zcopy_downgrade_managed(skb);
		n = net6_compat_splice_from_iter(skb, &msg->msg_iter, n);
		if (n == -EMSGSIZE) {
			s->fresh = true;
			continue;
		}
		if (n < 0)
			return n;
		net6_tcp_charge_frags(s->sk, skb, n);
		net6_tcp_account(s, skb, n);
		if (msg_data_left(msg) && (int)skb->len >= s->goal)
			net6_tcp_push_full(s, skb);
	}
	return 0;
}

/**
 * net6_tcp_splice_eof() - a splice has ended short: what MSG_MORE held back goes out
 * @sk: socket
 *
 * Context: process.
 */
void net6_tcp_splice_eof(struct sock *sk)
{
	int mss, goal;

	if (!tcp_write_queue_tail(sk))
		return;
	lock_sock(sk);
	if (tcp_write_queue_tail(sk)) {
		mss = net6_tcp_send_mss(sk, &goal, 0);
		net6_tcp_push_pending(sk, mss, tcp_sk(sk)->nonagle);
	}
	release_sock(sk);
}

/* The first buffer with unread bytes; buffers before it are freed. */
static struct sk_buff *net6_tcp_recv_skb(struct sock *sk, u32 seq, u32 *offset)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&sk->sk_receive_queue))) {
		*offset = seq - TCP_SKB_CB(skb)->seq;
		if (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_SYN)
			(*offset)--;
		if (*offset < skb->len || TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN)
			return skb;
		sk_eat_skb(sk, skb);
	}
	return NULL;
}

/**
 * net6_tcp_read_sock() - hand received buffers to an in-kernel reader
 * @sk: socket, owned by the caller
 * @desc: the reader's; it stops when desc->count is 0
 * @recv_actor: takes bytes, returns how many, or 0 or -errno to stop
 *
 * Context: process or softirq, as the actor allows.
 * Return: bytes read, or the actor's error if it took none; -ENOTCONN for listeners.
 */
int net6_tcp_read_sock(struct sock *sk, read_descriptor_t *desc, sk_read_actor_t recv_actor)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 seq = tp->copied_seq, offset;
	struct sk_buff *skb;
	size_t len;
	int copied = 0, used;
	bool fin;

	if (sk->sk_state == TCP_LISTEN)
		return -ENOTCONN;
	while ((skb = net6_tcp_recv_skb(sk, seq, &offset))) {
		if (offset < skb->len) {
			len = skb->len - offset;
			/* Urgent data are not part of the stream. */
			if (unlikely(tp->urg_data)) {
				u32 urg = tp->urg_seq - seq;

				if (urg < len)
					len = urg;
				if (!len)
					break;
			}
			used = recv_actor(desc, skb, offset, len);
			if (used <= 0) {
				if (!copied)
					copied = used;
				break;
			}
			seq += used;
			copied += used;
			offset += used;
			/* The actor may have let segments in, which join the last buffer. */
			skb = net6_tcp_recv_skb(sk, seq - 1, &offset);
			if (!skb)
				break;
			if (offset + 1 != skb->len)
				continue;
		}
		fin = TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN;
		if (fin)
			seq++;
		sk_eat_skb(sk, skb);
		if (fin || !desc->count)
			break;
		WRITE_ONCE(tp->copied_seq, seq);
	}
	WRITE_ONCE(tp->copied_seq, seq);
	net6_tcp_rcv_space_adjust(sk);
	if (copied > 0) {
		net6_tcp_recv_skb(sk, seq, &offset);
		net6_tcp_cleanup_rbuf(sk, copied);
	}
	return copied;
}

struct net6_tcp_splice {
	struct pipe_inode_info	*pipe;
	size_t			len;
	unsigned int		flags;
};

static int net6_tcp_splice_actor(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset,
				 size_t len)
{
	struct net6_tcp_splice *tss = desc->arg.data;
	int n;

	n = skb_splice_bits(skb, skb->sk, offset, tss->pipe, min(desc->count, len), tss->flags);
	if (n > 0)
		desc->count -= n;
	return n;
}

/* Nothing could be spliced: is that an end, an error, or a reason to wait? 1: waited. */
static int net6_tcp_splice_wait(struct sock *sk, long *timeo, size_t spliced)
{
	int err;

	if (spliced)
		return 0;
	if (sock_flag(sk, SOCK_DONE))
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return 0;
	if (sk->sk_state == TCP_CLOSE)
		return -ENOTCONN;
	if (!*timeo)
		return -EAGAIN;
	/* Bytes are there, but the pipe is full or urgent data are in the way. */
	if (!skb_queue_empty(&sk->sk_receive_queue))
		return 0;
	net6_tcp_ack_idle(sk);
	err = sk_wait_data(sk, timeo, NULL);
	/* It was disconnected: what comes now is another connection's. */
	if (err < 0)
		return err;
	if (signal_pending(current))
		return sock_intr_errno(*timeo);
	return 1;
}

/**
 * net6_tcp_splice_read() - splice(2) from a socket
 * @sock: socket
 * @sk: its sock, as the caller has found it
 * @ppos: not used, a socket cannot seek
 * @pipe: where to
 * @len: bytes at most
 * @flags: SPLICE_F_*
 *
 * Context: process.
 * Return: bytes, 0 at the end of the stream, or -errno.
 */
ssize_t net6_tcp_splice_read(struct socket *sock, struct sock *sk, loff_t *ppos,
			     struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	struct net6_tcp_splice tss = { .pipe = pipe, .len = len, .flags = flags };
	read_descriptor_t desc = { .arg.data = &tss };
	size_t spliced = 0;
	long timeo;
	int n = 0;

	if (unlikely(*ppos))
		return -ESPIPE;
	lock_sock(sk);
	timeo = sock_rcvtimeo(sk, sock->file->f_flags & O_NONBLOCK || flags & SPLICE_F_NONBLOCK);
	while (len) {
		desc.count = len;
		n = net6_tcp_read_sock(sk, &desc, net6_tcp_splice_actor);
		if (n > 0) {
			len -= n;
			spliced += n;
			if (!len || !timeo)
				break;
			/* Let the other end of the pipe and segments in. */
			release_sock(sk);
			lock_sock(sk);
			if (sk->sk_err || sk->sk_state == TCP_CLOSE ||
			    sk->sk_shutdown & RCV_SHUTDOWN || signal_pending(current))
				break;
			continue;
		}
		if (n == 0)
			n = net6_tcp_splice_wait(sk, &timeo, spliced);
		if (n <= 0)
			break;
	}
	release_sock(sk);
	return spliced ? : n;
}
