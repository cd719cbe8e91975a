/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's record layer of TLS, as khttpd sees it (ktls.c). */
#ifndef _KHTTPD_KTLS_H
#define _KHTTPD_KTLS_H

#include <linux/types.h>

struct khttpd_proxyhead_tls;
struct sk_buff;
struct sock;
struct socket;

bool khttpd_ktls_possible(const struct sock *sk);
u32 khttpd_ktls_prepare(void);
bool khttpd_ktls_on(const struct sock *sk);
void khttpd_ktls_begin(struct sock *sk);
void khttpd_ktls_leave(struct sock *sk);
void khttpd_ktls_unread(struct sock *sk, struct sk_buff *skb);
void khttpd_ktls_says(struct sock *sk, struct khttpd_proxyhead_tls *says);
int khttpd_ktls_recv(struct socket *sock, void *buf, size_t len, bool peek, u8 *alert);
bool khttpd_ktls_readable(struct sock *sk);
bool khttpd_ktls_flushed(struct sock *sk);
int khttpd_ktls_bye(struct socket *sock, u8 *alert);

#endif /* _KHTTPD_KTLS_H */
