/* SPDX-License-Identifier: GPL-2.0 */
/* What the two files of the short way know of each other and of net6, and what others call. */
#ifndef _KHTTPD_SOFT_H
#define _KHTTPD_SOFT_H

#include <net6/tcp.h>
#include "khttpd.h"

/**
 * struct khttpd_net6 - what is used of <net6/tcp.h>
 *
 * Looked up by name, for khttpd works without net6.
 */
struct khttpd_net6 {
	bool (*is)(const struct sock *sk);
	int (*attach)(struct sock *listener, struct net6_tcp_user *user);
	void (*detach)(struct sock *listener, struct net6_tcp_user *user);
	u32 (*unread)(const struct sock *sk);
	bool (*at_end)(const struct sock *sk);
	u32 (*peek_copy)(struct sock *sk, u32 pos, void *buf, u32 len);
	void (*consume)(struct sock *sk, u32 bytes);
	int (*send)(struct sock *sk, const struct net6_tcp_msg *msg);
	int (*give)(struct sock *sk, struct sock *listener);
	void (*release)(struct sock *sk);
	void (*graft)(struct sock *sk, struct socket *sock);
	void (*finish_locked)(struct sock *sk, bool reset);
	void (*finish)(struct sock *sk, bool reset);
	int (*send_pages)(struct sock *sk, const struct bio_vec *pages,
			  unsigned int nr_pages, int flags);
};

/* What became of the request that comes first. */
enum khttpd_soft_verdict {
	KHTTPD_SOFT_NEXT,	/* answered; there may be another one */
	KHTTPD_SOFT_LAST,	/* answered, and the end of the connection */
	KHTTPD_SOFT_GIVE,	/* a thread must see to it */
	KHTTPD_SOFT_SERVER,	/* it is for the server that is attached to */
};

/* softreply.c */
int khttpd_softreply_init(void);
void khttpd_softreply_exit(void);
enum khttpd_soft_verdict khttpd_softreply(const struct khttpd_listener *listener,
					  const struct khttpd_net6 *net6,
					  struct sock *sk,
					  struct khttpd_peer *peer, u32 unread);

/* soft.c */
int khttpd_soft_init(void);
void khttpd_soft_exit(void);
u32 khttpd_soft_conns(void);
struct khttpd_soft *khttpd_soft_start(struct khttpd_listener *listener);
struct khttpd_peer *khttpd_soft_graft(struct khttpd_handed *handed,
				      struct socket *sock);
void khttpd_soft_drop(struct khttpd_handed *handed);
void khttpd_soft_stop(struct khttpd_soft *soft, bool give);

#endif /* _KHTTPD_SOFT_H */
