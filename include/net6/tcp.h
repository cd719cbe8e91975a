/* SPDX-License-Identifier: GPL-2.0 */
/* net6 offers other modules connections that ordinary kernel sockets do not have. Their owner is
 * called in softirq, with the received segments still in their buffers. One call sends a header,
 * pages and a FIN. A connection can be handed over to a listener. Limits: TCP only; bytes in
 * sequence only; an owner in one network namespace. Everything else (bind, listen, connect,
 * options) is done with sock_create_kern(net, AF_NET6, SOCK_STREAM, IPPROTO_TCP, &sock) and the
 * usual calls.
 */
#ifndef _NET6_TCP_API_H
#define _NET6_TCP_API_H

#include <linux/bvec.h>
#include <linux/skbuff.h>
#include <linux/uio.h>
#include <net/sock.h>

/**
 * DOC: Connections that belong to a module
 *
 * A module attaches a struct net6_tcp_user to a listener, its own or another program's:
 * net6_tcp_attach(). From then on it is first offered each connection whose handshake is done, or
 * that Fast Open makes of its SYN. accept() takes it, or leaves it to the listener's accept
 * queue. A connection that was taken has a struct sock, but no struct socket and no file. A
 * module that has a connection's socket, by accept() say, makes it such a one with
 * net6_tcp_take(). It belongs to the module until one of these ends that:
 *
 * * net6_tcp_give(): it goes to a listener's accept queue, bytes that were not consumed
 *   included, and is accept()ed there as if it had just been established;
 * * net6_tcp_release(), and later net6_tcp_graft(): the same without a queue of net6's, for
 *   a module that has one of its own;
 * * net6_tcp_finish_locked() or net6_tcp_finish(): it is closed. Queued bytes are still
 *   delivered, FIN and all, unless it is reset.
 *
 * Each taken connection must come to one of these ends, also when it died by itself. Then
 * receive() is called a last time with sk->sk_state == TCP_CLOSE.
 *
 * Who may be called where:
 *
 * * The callbacks for a connection run with it locked and BH disabled, mostly in
 *   softirq, sometimes in a process (backlog). They must not sleep, not call
 *   lock_sock() and not touch other connections. They are never nested for one
 *   connection.
 * * Functions that say "sk locked" may be called from receive() and writable() for the
 *   connection given to them, and from process context between lock_sock(sk) and
 *   release_sock(sk). accept() may call none of them.
 * * A process that uses a taken connection needs a reference of its own (sock_hold()). It is
 *   taken while the connection is known to be alive: in a callback, or under a lock that
 *   receive() also takes before it finishes the connection.
 *
 * sk->sk_user_data of a taken connection is the module's. Memory of a taken connection is not
 * charged to a memory cgroup, and it does not count in a listener's backlog. The module has to
 * bound how many it takes, and how long they may idle.
 *
 * Before the module goes: net6_tcp_detach() from all listeners, then finish all
 * connections, then synchronize_rcu(). A connection holds the namespace if its listener
 * does (sockets of processes do); else all must be finished in the module's own pernet
 * exit.
 */

/**
 * struct net6_tcp_user - the owner of connections; embed it in what you have a listener
 * @accept: a connection has been established. True: it is yours now, and receive() will
 *	be called for it; sk->sk_user_data may be set here. False: to the accept queue.
 *	More than one processor may call it at once. NULL if the user is not attached to
 *	a listener.
 * @receive: look at it again: bytes have come, or the end of the stream
 *	(net6_tcp_at_end()), or the connection is over (sk_state is TCP_CLOSE, the reason
 *	in sk_err). Called before the segment is acknowledged: what is sent from here
 *	carries the acknowledgment.
 * @writable: after net6_tcp_send() gave -EAGAIN there is room again. May be NULL.
 * @room: after net6_tcp_give() to the listener attached to gave -ENOBUFS, accept() has made room
 *	in its queue. In the process that accepts, with the listener owned: it must not sleep, and
 *	give nothing from here but have it done. It may come before net6_tcp_give() has returned.
 *	A user that makes a note of a connection that waits tries once more after that. May be
 *	NULL.
 * @joined: another socket begins to listen, and has SO_REUSEPORT in common with the listener
 *	attached to: it has connections of the same address and port. In the process that
 *	calls listen(), with that socket owned; it must not sleep. May be NULL.
 */
struct net6_tcp_user {
	bool	(*accept)(struct net6_tcp_user *user, struct sock *sk);
	void	(*receive)(struct net6_tcp_user *user, struct sock *sk);
	void	(*writable)(struct net6_tcp_user *user, struct sock *sk);
	void	(*room)(struct net6_tcp_user *user, struct sock *listener);
	void	(*joined)(struct net6_tcp_user *user, struct sock *listener);
};

/**
 * struct net6_tcp_msg - what one net6_tcp_send() sends
 * @header: pieces of memory that are copied, one behind the other, in front of the pages;
 *	at most NET6_TCP_MSG_HEADER bytes in all
 * @nr_header: how many pieces
 * @pages: pieces of pages, none empty, referenced, not copied: their bytes must not change until
 *	the peer has acknowledged them (as with sendfile())
 * @nr_pages: how many pieces
 * @more: more follows at once: an incomplete segment may wait for it
 * @fin: nothing more will be sent: FIN with the last byte
 * @given: a reference to each piece's page comes with it, and is not the caller's any more
 *	when the call returns, whatever it returns; otherwise net6 takes its own
 */
struct net6_tcp_msg {
	const struct kvec	*header;
	unsigned int		nr_header;
	const struct bio_vec	*pages;
	unsigned int		nr_pages;
	bool			more;
	bool			fin;
	bool			given;
};

#define NET6_TCP_MSG_HEADER	2048		/* bytes of header in one message */
#define NET6_TCP_MSG_MAX	(256 * 1024)	/* bytes in one message, header included */

bool net6_tcp_is(const struct sock *sk);

/* Listeners. Process context, may sleep. */
int  net6_tcp_attach(struct sock *listener, struct net6_tcp_user *user);
void net6_tcp_detach(struct sock *listener, struct net6_tcp_user *user);

/* Connections. sk locked; these do not sleep. */
u32  net6_tcp_unread(const struct sock *sk);
bool net6_tcp_at_end(const struct sock *sk);
struct sk_buff *net6_tcp_peek(struct sock *sk, u32 pos, u32 *offset);
u32  net6_tcp_peek_copy(struct sock *sk, u32 pos, void *buf, u32 len);
void net6_tcp_consume(struct sock *sk, u32 bytes);
int  net6_tcp_send(struct sock *sk, const struct net6_tcp_msg *msg);
int  net6_tcp_give(struct sock *sk, struct sock *listener);
void net6_tcp_release(struct sock *sk);
int  net6_tcp_take(struct socket *sock, struct net6_tcp_user *user);
void net6_tcp_finish_locked(struct sock *sk, bool reset);

/* Process context, without the lock; may sleep. */
int  net6_tcp_send_pages(struct sock *sk, const struct bio_vec *pages, unsigned int nr_pages,
			 int flags);
void net6_tcp_graft(struct sock *sk, struct socket *sock);
void net6_tcp_finish(struct sock *sk, bool reset);

#endif /* _NET6_TCP_API_H */
