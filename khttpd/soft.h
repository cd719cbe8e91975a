/* SPDX-License-Identifier: GPL-2.0 */
/* What the two files of the short way know of each other and of net6. */
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
	void (*finish_locked)(struct sock *sk, bool reset);
	void (*finish)(struct sock *sk, bool reset);
};

/* What became of the request that comes first. */
enum khttpd_soft_verdict {
	KHTTPD_SOFT_NEXT,	/* answered; there may be another one */
	KHTTPD_SOFT_LAST,	/* answered, and the end of the connection */
	KHTTPD_SOFT_GIVE,	/* a thread must see to it */
};

/* softreply.c */
int khttpd_softreply_init(void);
void khttpd_softreply_exit(void);
enum khttpd_soft_verdict khttpd_softreply(const struct khttpd_listener *listener,
					  const struct khttpd_net6 *net6,
					  struct sock *sk,
					  struct khttpd_peer *peer, u32 unread);

#endif /* _KHTTPD_SOFT_H */
