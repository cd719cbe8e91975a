// SPDX-License-Identifier: GPL-2.0
/* Connections that belong to another module of the kernel; the contract is
 * <net6/tcp.h>. Its owner is called where the acknowledgment of a segment is decided:
 * everything else about the segment is done by then.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <net6/tcp.h>

#include "../../../compat/splice.h"
#include "../conn/conn.h"
#include "../engine/entry.h"
#include "calls.h"
#include "sendmsg.h"

/* Called in softirq: no memory is no disaster. */
#define NET6_TCP_USER_GFP	(GFP_ATOMIC | __GFP_NOWARN)

/**
 * net6_tcp_is() - is this a TCP socket of net6?
 * @sk: any socket
 *
 * Context: any.
 * Return: true if the functions of <net6/tcp.h> may be used on it.
 */
bool net6_tcp_is(const struct sock *sk)
{
	return READ_ONCE(sk->sk_prot) == &net6_tcp_prot;
}
EXPORT_SYMBOL_GPL(net6_tcp_is);

/* ---- owners ---- */

static void net6_tcp_owner_set(struct sock *sk, struct net6_tcp_owner *owner)
{
	/* Pairs with readers of a listener's: what they find is filled in. */
	rcu_assign_pointer(inet_csk(sk)->icsk_ulp_data, (void __force __rcu *)owner);
}

/**
 * net6_tcp_user_offer() - a child may be for the listener's attached user
 * @listener: listener, RCU read lock held
 * @child: established, in the table, locked; not in the accept queue
 *
 * Context: softirq.
 * Return: true if it was taken; the reference meant for the accept queue is the user's.
 */
bool net6_tcp_user_offer(const struct sock *listener, struct sock *child)
{
	struct net6_tcp_owner *from = net6_tcp_owner(listener), *owner;

	if (likely(!from))
		return false;
	owner = kzalloc(sizeof(*owner), NET6_TCP_USER_GFP);
	if (!owner)
		return false;
	owner->user = from->user;
	if (!owner->user->accept(owner->user, child)) {
		child->sk_user_data = NULL;
		kfree(owner);
		return false;
	}
	net6_tcp_owner_set(child, owner);
	return true;
}

/**
 * net6_tcp_user_joined() - another socket gets connections of a listener's address
 * @listener: listener, RCU read lock held
 * @sk: the other one, owned
 *
 * Context: process; must not sleep.
 * Return: true if the listener has a user, who has been told.
 */
bool net6_tcp_user_joined(const struct sock *listener, struct sock *sk)
{
	struct net6_tcp_owner *owner = net6_tcp_owner(listener);

	if (!owner)
		return false;
	if (owner->user->joined)
		owner->user->joined(owner->user, sk);
	return true;
}

/* ---- listeners ---- */

/**
 * net6_tcp_attach() - be offered a listener's new connections
 * @listener: TCP socket of net6 that listens; a reference is taken
 * @user: callbacks; lives until net6_tcp_detach()
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL if it does not listen or is no TCP socket of net6; -EBUSY if it has
 * a user; -ENOMEM.
 */
int net6_tcp_attach(struct sock *listener, struct net6_tcp_user *user)
{
	struct net6_tcp_owner *owner;
	int err = 0;

	if (!net6_tcp_is(listener) || !user->accept || !user->receive)
		return -EINVAL;
	owner = kzalloc(sizeof(*owner), GFP_KERNEL);
	if (!owner)
		return -ENOMEM;
	owner->user = user;
	lock_sock(listener);
	if (listener->sk_state != TCP_LISTEN) {
		err = -EINVAL;
	} else if (net6_tcp_owner(listener)) {
		err = -EBUSY;
	} else {
		sock_hold(listener);
		net6_tcp_owner_set(listener, owner);
	}
	release_sock(listener);
	if (err)
		kfree(owner);
	return err;
}
EXPORT_SYMBOL_GPL(net6_tcp_attach);

/**
 * net6_tcp_detach() - be offered no more
 * @listener: what net6_tcp_attach() was called for, closed or not; its reference is
 *	given up
 * @user: the user attached
 *
 * When this returns accept() and room() do not run and will not be called for @listener.
 * Connections that were taken remain.
 * Context: process, sleeps for a grace period.
 */
void net6_tcp_detach(struct sock *listener, struct net6_tcp_user *user)
{
	struct net6_tcp_owner *owner;

	lock_sock(listener);
	owner = net6_tcp_owner(listener);
	net6_tcp_owner_set(listener, NULL);
	release_sock(listener);
	WARN_ON_ONCE(!owner || owner->user != user);
	synchronize_rcu();
	kfree(owner);
	sock_put(listener);
}
EXPORT_SYMBOL_GPL(net6_tcp_detach);

/* ---- receiving ---- */

/**
 * net6_tcp_unread() - bytes that have come and were not consumed
 * @sk: connection
 *
 * Context: sk locked.
 * Return: how many.
 */
u32 net6_tcp_unread(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 n = tp->rcv_nxt - tp->copied_seq;

	/* A FIN is a number, not a byte. */
	return n && sock_flag(sk, SOCK_DONE) ? n - 1 : n;
}
EXPORT_SYMBOL_GPL(net6_tcp_unread);

/**
 * net6_tcp_at_end() - is the peer's stream over and all of it consumed?
 * @sk: connection
 *
 * Context: sk locked.
 * Return: true if no byte will come any more.
 */
bool net6_tcp_at_end(const struct sock *sk)
{
	return (sk->sk_shutdown & RCV_SHUTDOWN || sk->sk_state == TCP_CLOSE) &&
	       !net6_tcp_unread(sk);
}
EXPORT_SYMBOL_GPL(net6_tcp_at_end);

/**
 * net6_tcp_peek() - find the buffer of a byte
 * @sk: connection
 * @pos: which byte, 0 for the first one that is not consumed
 * @offset: filled with where it is in the buffer
 *
 * Buffers may have fragments and frag_list: skb_copy_bits(), skb_header_pointer() and
 * skb_seq_read() know. Urgent bytes are bytes like others here.
 * Context: sk locked; the buffer stays until the lock is released or it is consumed.
 * Return: the buffer, not to be changed, or NULL if the byte has not come.
 */
struct sk_buff *net6_tcp_peek(struct sock *sk, u32 pos, u32 *offset)
{
	u32 seq = tcp_sk(sk)->copied_seq + pos, at;
	struct sk_buff *skb;

	skb_queue_walk(&sk->sk_receive_queue, skb) {
		at = seq - TCP_SKB_CB(skb)->seq;
		if (unlikely(TCP_SKB_CB(skb)->tcp_flags & TCPHDR_SYN))
			at--;
		if (at < skb->len) {
			*offset = at;
			return skb;
		}
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(net6_tcp_peek);

/**
 * net6_tcp_peek_copy() - copy bytes that are not consumed
 * @sk: connection
 * @pos: the first one, 0 for the first that is not consumed
 * @buf: where to
 * @len: at most
 *
 * Context: sk locked.
 * Return: how many were there.
 */
u32 net6_tcp_peek_copy(struct sock *sk, u32 pos, void *buf, u32 len)
{
	u32 done = 0, offset, n;
	struct sk_buff *skb;

	while (done < len) {
		skb = net6_tcp_peek(sk, pos + done, &offset);
		if (!skb)
			break;
		n = min(skb->len - offset, len - done);
		if (likely(offset + n <= skb_headlen(skb)))
			memcpy(buf + done, skb->data + offset, n);
		else if (skb_copy_bits(skb, offset, buf + done, n))
			break;
		done += n;
	}
	return done;
}
EXPORT_SYMBOL_GPL(net6_tcp_peek_copy);

/**
 * net6_tcp_consume() - bytes are done with: their memory and window are free
 * @sk: connection
 * @bytes: how many, at most net6_tcp_unread()
 *
 * Context: sk locked.
 */
void net6_tcp_consume(struct sock *sk, u32 bytes)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb, *next;
	u32 seq, end;
	bool fin;

	bytes = min(bytes, net6_tcp_unread(sk));
	seq = tp->copied_seq + bytes;
	skb_queue_walk_safe(&sk->sk_receive_queue, skb, next) {
		fin = TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN;
		end = TCP_SKB_CB(skb)->end_seq - fin;
		if (before(seq, end))
			break;
		seq += fin;
		__skb_unlink(skb, &sk->sk_receive_queue);
		__kfree_skb(skb);
		if (fin)
			break;
	}
	WRITE_ONCE(tp->copied_seq, seq);
	if (tp->urg_data && before(tp->urg_seq, seq))
		WRITE_ONCE(tp->urg_data, 0);
	if (!bytes)
		return;
	net6_tcp_rcv_space_adjust(sk);
	/* In receive() the acknowledgment is decided when it returns. */
	if (!net6_tcp_owner(sk) || !net6_tcp_owner(sk)->busy)
		net6_tcp_cleanup_rbuf(sk, bytes);
}
EXPORT_SYMBOL_GPL(net6_tcp_consume);

/* ---- sending ---- */

/* A message on its way into the write queue. */
struct net6_tcp_build {
	struct sock	*sk;
	struct sk_buff	*skb;		/* the newest buffer */
	unsigned int	skbs;		/* how many are its */
	int		goal;		/* bytes a buffer takes */
	unsigned int	header_len;	/* bytes of all pieces of the header */
	struct net6_tcp_pieces pieces;
};

static bool net6_tcp_build_skb(struct net6_tcp_build *b, unsigned int linear)
{
	b->skb = net6_tcp_alloc_skb(b->sk, linear, NET6_TCP_USER_GFP, false);
	if (!b->skb)
		return false;
	net6_tcp_queue_skb(b->sk, b->skb);
	b->skbs++;
	return true;
}

static void net6_tcp_build_account(struct net6_tcp_build *b, unsigned int n)
{
	struct tcp_sock *tp = tcp_sk(b->sk);

	WRITE_ONCE(tp->write_seq, tp->write_seq + n);
	TCP_SKB_CB(b->skb)->end_seq += n;
	tcp_skb_pcount_set(b->skb, 0);
}

static bool net6_tcp_build_header(struct net6_tcp_build *b, const struct net6_tcp_msg *msg)
{
	const struct kvec *piece = msg->header;
	unsigned int left = b->header_len;
	size_t room, at = 0, n;

	for (; left; left -= room) {
		room = min_t(unsigned int, left, b->goal);
		if (!net6_tcp_build_skb(b, room))
			return false;
		while (b->skb->len < room) {
			n = min(room - b->skb->len, piece->iov_len - at);
			skb_put_data(b->skb, piece->iov_base + at, n);
			at += n;
			if (at == piece->iov_len) {
				piece++;
				at = 0;
			}
		}
		net6_tcp_build_account(b, room);
	}
	return true;
}

/* Parts of pieces into the newest buffer, as many as fit. False without memory. */
static bool net6_tcp_build_fill(struct net6_tcp_build *b)
{
	unsigned int n = min_t(unsigned int, b->goal - b->skb->len, b->pieces.left);

	if (!sk_wmem_schedule(b->sk, n))
		return false;
	n = net6_tcp_pieces_fill(&b->pieces, b->skb, n);
	sk_wmem_queued_add(b->sk, n);
	sk_mem_charge(b->sk, n);
	net6_tcp_build_account(b, n);
	return true;
}

/* Behind the header, if there is one, and as many in a buffer as may go out at once. */
static bool net6_tcp_build_pages(struct net6_tcp_build *b)
{
	while (b->pieces.left) {
		if (b->skb && b->skb->len < b->goal && !net6_tcp_build_fill(b))
			return false;
		if (b->pieces.left && !net6_tcp_build_skb(b, 0))
			return false;
	}
	return true;
}

/* No memory half-way: nothing was sent yet, so all of it can be taken back. */
static void net6_tcp_build_undo(struct net6_tcp_build *b)
{
	struct tcp_sock *tp = tcp_sk(b->sk);
	struct sk_buff *skb;

	while (b->skbs--) {
		skb = skb_peek_tail(&b->sk->sk_write_queue);
		WRITE_ONCE(tp->write_seq, tp->write_seq - skb->len);
		__skb_unlink(skb, &b->sk->sk_write_queue);
		tcp_skb_tsorted_anchor_cleanup(skb);
		tcp_wmem_free_skb(b->sk, skb);
	}
}

static int net6_tcp_msg_check(struct net6_tcp_build *b, const struct net6_tcp_msg *msg)
{
	const struct sock *sk = b->sk;
	size_t size = 0, header;
	unsigned int i;

	for (i = 0; i < msg->nr_header; i++)
		size += msg->header[i].iov_len;
	if (size > NET6_TCP_MSG_HEADER)
		return -EMSGSIZE;
	header = size;
	for (i = 0; i < msg->nr_pages; i++) {
		if (unlikely(!msg->pages[i].bv_len))
			return -EINVAL;
		size += msg->pages[i].bv_len;
	}
	if (size > NET6_TCP_MSG_MAX)
		return -EMSGSIZE;
	b->header_len = header;
	b->pieces.left = size - header;
	if (sk->sk_err || sk->sk_shutdown & SEND_SHUTDOWN ||
	    (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) &&
	     !tcp_passive_fastopen(sk)))
		return -EPIPE;
	/* All or nothing is for when there is enough: sendmsg() gets along with less. */
	if (size > READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_wmem[0]) &&
	    sk_under_memory_pressure(sk))
		return -ENOMEM;
	return 0;
}

static void net6_tcp_msg_push(struct sock *sk, int mss, const struct net6_tcp_msg *msg)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *tail = tcp_write_queue_tail(sk);

	if (msg->fin) {
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
		net6_tcp_shutdown(sk, SEND_SHUTDOWN);
		return;
	}
	if (!tail)
		return;
	if (!msg->more) {
		TCP_SKB_CB(tail)->tcp_flags |= TCPHDR_PSH;
		tp->pushed_seq = tp->write_seq;
	}
	net6_tcp_push_pending(sk, mss, msg->more ? TCP_NAGLE_CORK : TCP_NAGLE_PUSH);
}

static int net6_tcp_msg_queue(struct net6_tcp_build *b, const struct net6_tcp_msg *msg)
{
	struct sock *sk = b->sk;
	int err, mss;

	err = net6_tcp_msg_check(b, msg);
	if (err)
		return err;
	tcp_rate_check_app_limited(sk);
	if (!net6_tcp_may_queue(sk)) {
		if (net6_tcp_owner(sk))
			net6_tcp_owner(sk)->full = true;
		return -EAGAIN;
	}
	mss = net6_tcp_send_mss(sk, &b->goal, 0);
	if (!net6_tcp_build_header(b, msg) || !net6_tcp_build_pages(b)) {
		net6_tcp_build_undo(b);
		return -ENOMEM;
	}
	net6_tcp_msg_push(sk, mss, msg);
	return 0;
}

/**
 * net6_tcp_send() - queue a header, pages and perhaps a FIN, all or nothing
 * @sk: connection
 * @msg: what
 *
 * As long as the send buffer is not full it takes one message, which may exceed it; under
 * memory pressure none above net.ipv4.tcp_wmem[0].
 * Context: sk locked; does not sleep.
 * Return: 0; -EAGAIN if the send buffer is full: wait for writable(); -ENOMEM; -EPIPE
 * if the connection cannot send any more; -EMSGSIZE; -EINVAL if a piece is empty.
 */
int net6_tcp_send(struct sock *sk, const struct net6_tcp_msg *msg)
{
	struct net6_tcp_build b = {
		.sk = sk,
		.pieces = { .piece = msg->pages, .given = msg->given },
	};
	int err = net6_tcp_msg_queue(&b, msg);

	/* Those of pieces that are queued went with the buffers. */
	if (unlikely(err) && msg->given) {
		for (; b.pieces.piece < msg->pages + msg->nr_pages; b.pieces.piece++)
			put_page(b.pieces.piece->bv_page);
	}
	return err;
}
EXPORT_SYMBOL_GPL(net6_tcp_send);

/* ---- ends ---- */

static void net6_tcp_owner_clear(struct sock *sk)
{
	struct net6_tcp_owner *owner = net6_tcp_owner(sk);

	net6_tcp_owner_set(sk, NULL);
	rcu_assign_sk_user_data(sk, NULL);
	kfree(owner);
}

/**
 * net6_tcp_give() - hand a taken connection to a listener's accept queue
 * @sk: connection; on success no longer the caller's, unread bytes go with it
 * @listener: TCP socket of net6 in the same namespace, reference held or RCU; need not
 *	be the one it came from, nor have its port. Not locked.
 *
 * Options stay those of the listener it was established by.
 * Context: sk locked; does not sleep.
 * Return: 0; -EINVAL if @listener does not listen; -ENOBUFS if the accept queue is full. In that
 * case room() of the user that is attached to @listener will be called.
 */
int net6_tcp_give(struct sock *sk, struct sock *listener)
{
	bool added;

	if (WARN_ON_ONCE(!net6_tcp_owner(sk)) || !net6_tcp_is(listener) ||
	    !net_eq(sock_net(sk), sock_net(listener)))
		return -EINVAL;
	if (sk_acceptq_is_full(listener) && net6_tcp_accept_queue_wait(listener)) {
		NET6_INC(net6_tcp_nn(sk), TcpListenOverflows);
		return -ENOBUFS;
	}
	/* The queue's pointers share their place. */
	if (net6_tcp_has_pages(sk))
		net6_tcp_pages_drop(sk);
	local_bh_disable();
	added = net6_tcp_accept_queue_add(listener, sk);
	local_bh_enable();
	if (!added)
		return -EINVAL;
	/* Who accepts it waits for the lock. */
	net6_tcp_owner_clear(sk);
	listener->sk_data_ready(listener);
	return 0;
}
EXPORT_SYMBOL_GPL(net6_tcp_give);

/**
 * net6_tcp_release() - hear no more of a taken connection
 * @sk: connection; the module's reference stays, for net6_tcp_graft() or net6_tcp_finish()
 *
 * From here on it is as one that waits in an accept queue: it receives, and may end.
 * Context: sk locked; does not sleep.
 */
void net6_tcp_release(struct sock *sk)
{
	net6_tcp_owner_clear(sk);
}
EXPORT_SYMBOL_GPL(net6_tcp_release);

/**
 * net6_tcp_graft() - a released connection becomes a socket's, as by accept()
 * @sk: connection, not locked, maybe closed; the reference is the socket's now
 * @sock: the socket, without a sock; its operations are the caller's business
 *
 * Its memory is charged to the process, as after accept().
 * Context: process, may sleep.
 */
void net6_tcp_graft(struct sock *sk, struct socket *sock)
{
	net6_tcp_memcg_charge(sk);
	lock_sock(sk);
	sock_rps_record_flow(sk);
	sock_graft(sk, sock);
	sock->state = SS_CONNECTED;
	release_sock(sk);
}
EXPORT_SYMBOL_GPL(net6_tcp_graft);

/**
 * net6_tcp_take() - a socket's connection becomes a module's, as by accept() of its user
 * @sock: the socket, used by nobody else; without a sock afterwards, for the caller to get
 *	rid of. The reference is the module's now.
 * @user: callbacks; accept() is not called
 *
 * The counterpart of net6_tcp_graft(). Memory that is charged to a cgroup remains so. Segments
 * that come are seen to by receive(), when the lock is released at the latest.
 * Context: sk locked, with a reference of the caller's; does not sleep.
 * Return: 0; -ENOMEM; -EINVAL if @sock is no TCP socket of net6, or has a user. -EAGAIN if
 * something is there that receive() would have been called for, or the connection is not
 * established.
 */
int net6_tcp_take(struct socket *sock, struct net6_tcp_user *user)
{
	struct net6_tcp_owner *owner;
	struct sock *sk = sock->sk;

	if (!net6_tcp_is(sk) || net6_tcp_owner(sk) || !user->receive)
		return -EINVAL;
	if (sk->sk_state != TCP_ESTABLISHED || sk->sk_err || sk->sk_shutdown ||
	    tcp_sk(sk)->urg_data || net6_tcp_unread(sk))
		return -EAGAIN;
	owner = kzalloc(sizeof(*owner), NET6_TCP_USER_GFP);
	if (!owner)
		return -ENOMEM;
	owner->user = user;
	/* As sock_orphan(), but it is not dead. */
	write_lock_bh(&sk->sk_callback_lock);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
	sk_set_socket(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	sock->sk = NULL;
	sock->state = SS_UNCONNECTED;
	net6_tcp_owner_set(sk, owner);
	return 0;
}
EXPORT_SYMBOL_GPL(net6_tcp_take);

/**
 * net6_tcp_finish_locked() - the end of a taken connection, from a callback
 * @sk: connection; the module's reference is gone afterwards
 * @reset: drop what is queued and reset; else it is closed as by close(): a reset only
 *	if bytes were not consumed
 *
 * Context: receive() or writable() of @sk.
 */
void net6_tcp_finish_locked(struct sock *sk, bool reset)
	__must_hold(&sk->sk_lock.slock)
{
	net6_tcp_owner_clear(sk);
	net6_tcp_close_atomic(sk, reset);
}
EXPORT_SYMBOL_GPL(net6_tcp_finish_locked);

/**
 * net6_tcp_finish() - the end of a taken connection, from a process
 * @sk: connection, not locked; the module's reference is gone afterwards
 * @reset: as for net6_tcp_finish_locked()
 *
 * Context: process, may sleep.
 */
void net6_tcp_finish(struct sock *sk, bool reset)
{
	lock_sock(sk);
	net6_tcp_owner_clear(sk);
	if (reset) {
		sock_set_flag(sk, SOCK_LINGER);
		sk->sk_lingertime = 0;
	}
	release_sock(sk);
	net6_tcp_close(sk, 0);
}
EXPORT_SYMBOL_GPL(net6_tcp_finish);
