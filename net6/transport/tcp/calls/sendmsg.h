/* SPDX-License-Identifier: GPL-2.0 */
/* What the ways of sending (sendmsg.c, splice.c) share. Socket owned throughout. */
#ifndef _NET6_TCP_SENDMSG_H
#define _NET6_TCP_SENDMSG_H

#include <linux/bvec.h>

#include "../../../compat/splice.h"
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

/**
 * struct net6_tcp_pieces - pieces of pages on their way into buffers
 * @piece: the first one that is not queued
 * @at: how many of its bytes are
 * @left: bytes that are not, of all pieces
 * @given: a reference to its page comes with each piece
 */
struct net6_tcp_pieces {
	const struct bio_vec	*piece;
	unsigned int		at;
	unsigned int		left;
	bool			given;
};

int  net6_tcp_send_begin(struct net6_tcp_send *s, struct msghdr *msg);
int  net6_tcp_send_end(struct net6_tcp_send *s, int err);
struct sk_buff *net6_tcp_tail(struct net6_tcp_send *s, size_t left, int *room, int *err);
int  net6_tcp_wait_space(struct net6_tcp_send *s);
void net6_tcp_account(struct net6_tcp_send *s, struct sk_buff *skb, int n);
void net6_tcp_push_full(struct net6_tcp_send *s, struct sk_buff *skb);
int  net6_tcp_splice_loop(struct net6_tcp_send *s, struct msghdr *msg);

/* A part of a piece has its reference. @last: nothing of the piece is left. */
static inline void net6_tcp_piece_ref(const struct net6_tcp_pieces *p, bool joined, bool last)
{
	if (!p->given || !last) {
		if (!joined)
			get_page(p->piece->bv_page);
	} else if (joined) {
		put_page(p->piece->bv_page);
	}
}

/* At most @room bytes of pieces into a buffer's fragments, with all its counts but what the socket
 * has of it. Memory for @room is set aside. Return: bytes, fewer if there is no place for more.
 */
static inline unsigned int net6_tcp_pieces_fill(struct net6_tcp_pieces *p, struct sk_buff *skb,
						unsigned int room)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	unsigned int i = info->nr_frags, len = 0, offset, n;
	bool joined;

	room = min(room, p->left);
	for (; len < room; len += n) {
		offset = p->piece->bv_offset + p->at;
		joined = skb_can_coalesce(skb, i, p->piece->bv_page, offset);
		if (!joined && i >= NET6_COMPAT_MAX_FRAGS)
			break;
		n = min(room - len, p->piece->bv_len - p->at);
		if (joined)
			skb_frag_size_add(&info->frags[i - 1], n);
		else
			skb_fill_page_desc_noacc(skb, i++, p->piece->bv_page, offset, n);
		p->at += n;
		net6_tcp_piece_ref(p, joined, p->at == p->piece->bv_len);
		if (p->at == p->piece->bv_len) {
			p->piece++;
			p->at = 0;
		}
	}
	/* The page's owner may change it: a checksum is made of what leaves. */
	info->flags |= SKBFL_SHARED_FRAG;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
	p->left -= len;
	return len;
}

#endif /* _NET6_TCP_SENDMSG_H */
