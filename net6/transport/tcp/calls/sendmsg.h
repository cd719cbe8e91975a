/* SPDX-License-Identifier: GPL-2.0 */
/* What the ways of sending (sendmsg.c, splice.c) share. Socket owned throughout. */
#ifndef _NET6_TCP_SENDMSG_H
#define _NET6_TCP_SENDMSG_H

#include "../engine/entry.h"

/**
 * struct net6_tcp_send - a send call on its way
 * @sk: socket, owned
 * @flags: MSG_*
 * @mss: bytes per segment; @goal: bytes per buffer
 * @copied: bytes queued so far
 * @filled: buffers since the backlog had a turn
 * @timeo: how long to wait for memory, jiffies
 * @tsflags: SOF_TIMESTAMPING_TX_* wanted for its last byte
 * @fresh: the tail buffer is full of fragments: begin a new one
 */
struct net6_tcp_send {
	struct sock	*sk;
	int		flags;
	int		mss;
	int		goal;
	int		copied;
	int		filled;
	long		timeo;
	u16		tsflags;
	bool		fresh;
};

int  net6_tcp_send_begin(struct net6_tcp_send *s, struct msghdr *msg);
int  net6_tcp_send_end(struct net6_tcp_send *s, int err);
struct sk_buff *net6_tcp_tail(struct net6_tcp_send *s, size_t left, int *room, int *err);
int  net6_tcp_wait_space(struct net6_tcp_send *s);
void net6_tcp_account(struct net6_tcp_send *s, struct sk_buff *skb, int n);
void net6_tcp_push_full(struct net6_tcp_send *s, struct sk_buff *skb);
int  net6_tcp_splice_loop(struct net6_tcp_send *s, struct msghdr *msg);

#endif /* _NET6_TCP_SENDMSG_H */
