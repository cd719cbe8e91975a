/* SPDX-License-Identifier: GPL-2.0 */
/* Listening sockets that a server opens later (follow.c). */
#ifndef _KHTTPD_FOLLOW_H
#define _KHTTPD_FOLLOW_H

#include <linux/types.h>

struct sock;
struct socket;

/* follow.c */
void khttpd_follow(const struct sock *sk);
void khttpd_follow_begin(void);
void khttpd_follow_end(void);
void khttpd_follow_exit(void);

/* interpose.c */
void khttpd_interpose_enter(void);
void khttpd_interpose_leave(void);

/* attach.c */
bool khttpd_attach_near(const struct sock *sk);
void khttpd_attach_join(struct socket *sock);

#endif /* _KHTTPD_FOLLOW_H */
