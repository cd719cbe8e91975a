/* SPDX-License-Identifier: GPL-2.0 */
/* The short way on net6: what is used of net6, and what others call. */
#ifndef _KHTTPD_SOFT_H
#define _KHTTPD_SOFT_H

#include <net6/tcp.h>
#include "../conn/conn.h"

/* Most pages of a file that is answered in softirq. */
#define KHTTPD_SOFT_PAGES	16

/**
 * struct khttpd_net6 - what is used of <net6/tcp.h>
 * @is: is it a TCP socket of net6?
 * @attach: have a listener's connections offered to us
 * @detach: no more of them
 * @unread: how many bytes were received and not consumed
 * @at_end: has the peer's FIN come, and all before it been consumed?
 * @peek: the buffer with the byte at a position
 * @peek_copy: copies of received bytes
 * @consume: bytes that are dealt with
 * @send: queue a message
 * @give: to the listener's accept queue
 * @release: no callbacks any more
 * @graft: a connection that was released becomes a socket's
 * @take: a socket's connection becomes ours
 * @finish_locked: end a connection that is locked
 * @finish: end one that is not
 * @send_pages: queue pages, for a thread's connection
 *
 * Each is net6_tcp_ and its name, looked up by that, for khttpd works without net6.
 */
struct khttpd_net6 {
	bool (*is)(const struct sock *sk);
	int (*attach)(struct sock *listener, struct net6_tcp_user *user);
	void (*detach)(struct sock *listener, struct net6_tcp_user *user);
	u32 (*unread)(const struct sock *sk);
	bool (*at_end)(const struct sock *sk);
	struct sk_buff *(*peek)(struct sock *sk, u32 pos, u32 *offset);
	u32 (*peek_copy)(struct sock *sk, u32 pos, void *buf, u32 len);
	void (*consume)(struct sock *sk, u32 bytes);
	int (*send)(struct sock *sk, const struct net6_tcp_msg *msg);
	int (*give)(struct sock *sk, struct sock *listener);
	void (*release)(struct sock *sk);
	void (*graft)(struct sock *sk, struct socket *sock);
	int (*take)(struct socket *sock, struct net6_tcp_user *user);
	void (*finish_locked)(struct sock *sk, bool reset);
	void (*finish)(struct sock *sk, bool reset);
	int (*send_pages)(struct sock *sk, const struct bio_vec *pages,
			  unsigned int nr_pages, int flags);
};

/* soft.c */
int khttpd_soft_init(void);
void khttpd_soft_exit(void);
struct khttpd_soft *khttpd_soft_start(struct khttpd_listener *listener);
bool khttpd_soft_suits(const struct khttpd_conn *conn, struct khttpd_entry *entry);
bool khttpd_soft_return(struct khttpd_listener *listener, struct socket *sock,
			struct khttpd_peer *peer);
void khttpd_soft_stop(struct khttpd_soft *soft, bool give);

/* softlists.c */
u32 khttpd_softlists_conns(void);
bool khttpd_softlists_full(u32 limit);

/* softpart.c */
struct khttpd_peer *khttpd_softpart_graft(struct khttpd_handed *handed,
					  struct socket *sock);
void khttpd_softpart_drop(struct khttpd_handed *handed);

#endif /* _KHTTPD_SOFT_H */
