/* SPDX-License-Identifier: GPL-2.0 */
/* The files of the short way share this: connections that are answered in softirq, and room to
 * answer a request in.
 */
#ifndef _KHTTPD_SOFTWORK_H
#define _KHTTPD_SOFTWORK_H

#include <linux/bvec.h>
#include <linux/percpu_counter.h>
#include "../files/known.h"
#include "../listen/peer.h"
#include "soft.h"

/* Longest head that is answered in softirq. */
#define KHTTPD_SOFT_HEAD	4096
/* Status line, what the file's has, Expires, the end; and a small file. */
#define KHTTPD_SOFT_PIECES	5
/* Longest of these status lines, its NUL included. */
#define KHTTPD_SOFT_LINE	64

/* What became of the request that comes first. */
enum khttpd_soft_verdict {
	KHTTPD_SOFT_NEXT,	/* answered; there may be another one */
	KHTTPD_SOFT_LAST,	/* answered, and the end of the connection */
	KHTTPD_SOFT_GIVE,	/* a thread must see to it */
	KHTTPD_SOFT_SERVER,	/* it is for the server that is attached to */
};

/* Where a connection waits, and for what. But for the sweep it only ever moves on; one that
 * a thread had begins with KHTTPD_SOFT_IDLE.
 */
enum khttpd_soft_list {
	KHTTPD_SOFT_FRESH,	/* for its first request; oldest first */
	KHTTPD_SOFT_REST,	/* for the next, with nothing sent that was not taken */
	KHTTPD_SOFT_IDLE,	/* for the next; longest without one first */
	KHTTPD_SOFT_SLOW,	/* for its peer to have room for the last reply, or for a thread */
	KHTTPD_SOFT_STUCK,	/* for room in the accept queue */
	KHTTPD_SOFT_LISTS
};

/* What a process does with a connection. */
enum khttpd_soft_way {
	KHTTPD_SOFT_TRY,	/* give it away, if there is room */
	KHTTPD_SOFT_HAND,	/* give it away, or else close it */
	KHTTPD_SOFT_END,	/* close it */
};

/**
 * struct khttpd_soft_lists - connections of one listener that a processor has taken
 * @soft: of which listener
 * @lock: protects the lists and what is below; inside the locks of connections,
 *	bottom halves off
 * @list: connections by enum khttpd_soft_list
 * @stopped: no connection is taken any more
 * @armed: @sweep will run by itself
 * @due: when, if @armed; in jiffies
 * @sweep: ends those whose time is over; armed for the oldest, if there are any
 *
 * A connection stays in the lists where it began. Its segments mostly come to the processor of its
 * handshake, so that no other one writes there.
 */
struct khttpd_soft_lists {
	struct khttpd_soft *soft;
	spinlock_t lock;
	struct list_head list[KHTTPD_SOFT_LISTS];
	bool stopped;
	bool armed;
	unsigned long due;
	struct delayed_work sweep;
};

/**
 * struct khttpd_soft - the connections of one listener
 * @user: what net6 calls
 * @listener: the listener; lives longer
 * @sk: what listened when this began, held; the socket may get another one: a program that
 *	stops listening and connects to an IPv4 address
 * @net6: the functions of net6, which cannot go as long as they are here
 * @lists: the connections, by processor
 * @unstick: gives away those that wait for room in the accept queue
 * @first: whose are the first of them; @unstick's
 */
struct khttpd_soft {
	struct net6_tcp_user user;
	struct khttpd_listener *listener;
	struct sock *sk;
	struct khttpd_net6 net6;
	struct khttpd_soft_lists __percpu *lists;
	struct work_struct unstick;
	int first;
};

/**
 * struct khttpd_soft_conn - a connection that was taken; its sk_user_data
 * @node: in the list for @kind; who finds it there may take a reference to @sk
 * @lists: of which processor that list is
 * @sk: the connection
 * @peer: its client, or NULL
 * @used: jiffies of the last request, or of its beginning; it and @kind change with the
 *	connection and the lists locked
 * @kind: enum khttpd_soft_list
 * @unread: bytes that were not answered, while a callback runs
 * @ended: a process is about to finish it: hands off; connection locked
 * @slow: its end is not yet, but a thread's
 * @handed: in a server's queue, in no list any more
 * @graft: then: what makes it a socket's, and
 * @finish: what ends it instead; the connection holds the module of both
 */
struct khttpd_soft_conn {
	struct list_head node;
	struct khttpd_soft_lists *lists;
	struct sock *sk;
	struct khttpd_peer *peer;
	unsigned long used;
	u8 kind;
	bool ended;
	bool slow;
	u32 unread;
	struct khttpd_handed handed;
	void (*graft)(struct sock *sk, struct socket *sock);
	void (*finish)(struct sock *sk, bool reset);
};

/**
 * struct khttpd_soft_known - a head that came lately
 * @is: the head, and the file that answered it; that is set if such a head can be answered with
 *	it and with the header in @text
 * @second: for which second @text was written
 * @fin: the connection ends with the reply
 * @header_len: length of @text
 * @text: header of the reply
 */
struct khttpd_soft_known {
	struct khttpd_known is;
	time64_t second;
	bool fin;
	u32 header_len;
	char text[KHTTPD_HEADER_OWN + KHTTPD_EXPIRES_SIZE + KHTTPD_TAIL_MAX];
};

/**
 * struct khttpd_soft_work - room to answer a request in, a processor's; bottom halves off
 * @head: its bytes
 * @req: it
 * @codings: which codings it takes
 * @path: what it asks for
 * @path_of: to which head that path belongs, compared only
 * @known: heads that came lately, each a struct khttpd_soft_known
 * @header: header of the reply in pieces, and a small file behind it
 * @pieces: how many are the header's
 * @header_len: their length
 * @expires: the piece about when it expires
 * @page: pages of a larger one
 * @msg: the reply, of @header and @page
 * @tails: ends of headers
 */
struct khttpd_soft_work {
	u8 head[KHTTPD_SOFT_HEAD];
	struct khttpd_request req;
	struct khttpd_codings codings;
	struct khttpd_path path;
	const struct khttpd_soft_known *path_of;
	struct khttpd_knowns known;
	struct kvec header[KHTTPD_SOFT_PIECES];
	u32 pieces;
	u32 header_len;
	char expires[KHTTPD_EXPIRES_SIZE];
	struct bio_vec page[KHTTPD_SOFT_PAGES];
	struct net6_tcp_msg msg;
	struct khttpd_tails tails;
};

/* softlists.c */
extern struct percpu_counter khttpd_softlists_count;
void khttpd_softlists_count_add(int n);
unsigned long khttpd_softlists_limit(enum khttpd_soft_list kind);
void khttpd_softlists_arm(struct khttpd_soft_lists *lists, unsigned long due)
	__must_hold(&lists->lock);
void khttpd_softlists_add(struct khttpd_soft_lists *lists, struct khttpd_soft_conn *conn,
			  enum khttpd_soft_list kind) __must_hold(&lists->lock);
void khttpd_softlists_del(struct khttpd_soft_conn *conn);
void khttpd_softlists_move(struct khttpd_soft_conn *conn, enum khttpd_soft_list kind);
void khttpd_softlists_rest(struct khttpd_soft_conn *conn);
struct khttpd_soft_conn *khttpd_softlists_first(struct khttpd_soft_lists *lists,
						enum khttpd_soft_list kind, unsigned long limit)
	__must_hold(&lists->lock);

/* softpart.c */
void khttpd_softpart_forget(struct khttpd_soft_conn *conn);
int khttpd_softpart_give(struct khttpd_soft *soft, struct khttpd_soft_conn *conn);
bool khttpd_softpart_hand(struct khttpd_soft *soft, struct khttpd_soft_conn *conn);
void khttpd_softpart_sweep(struct work_struct *work);
void khttpd_softpart_all(struct khttpd_soft *soft, enum khttpd_soft_list kind,
			 enum khttpd_soft_way way);
void khttpd_softpart_unstick(struct work_struct *work);

/* softrepeat.c */
int khttpd_softrepeat_init(void);
void khttpd_softrepeat_exit(void);
enum khttpd_soft_verdict khttpd_softrepeat(const struct khttpd_soft *soft,
					   struct khttpd_soft_conn *conn);

/* softreply.c */
enum khttpd_soft_verdict khttpd_softreply(const struct khttpd_soft *soft,
					  struct khttpd_soft_conn *conn,
					  struct khttpd_soft_work *work,
					  struct khttpd_soft_known *known);

/* Of none it is none: it begins with the other. */
static inline struct khttpd_soft_known *khttpd_soft_known_of(struct khttpd_known *known)
{
	return container_of(known, struct khttpd_soft_known, is);
}

/* A request of @len bytes was answered, or was not. @asked: its client may ask so soon.
 * @close: the connection ends with it.
 */
static inline enum khttpd_soft_verdict khttpd_soft_asked(const struct khttpd_soft *soft,
							 struct khttpd_soft_conn *conn,
							 bool asked, bool done, u32 len,
							 bool close)
{
	if (!done) {
		/* The thread that answers it counts it. */
		if (asked)
			khttpd_peer_request_undo(conn->peer);
		return KHTTPD_SOFT_GIVE;
	}
	soft->net6.consume(conn->sk, len);
	conn->unread -= len;
	return close ? KHTTPD_SOFT_LAST : KHTTPD_SOFT_NEXT;
}

#endif /* _KHTTPD_SOFTWORK_H */
