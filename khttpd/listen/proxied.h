/* SPDX-License-Identifier: GPL-2.0 */
/* Connections of a proxy that says for whom it speaks (proxied.c). */
#ifndef _KHTTPD_PROXIED_H
#define _KHTTPD_PROXIED_H

#include "../conn/conn.h"

bool khttpd_proxied_trusts(const struct khttpd_listener *listener, const struct sock *sk);
enum khttpd_step khttpd_proxied_begin(struct khttpd_conn *conn);
int khttpd_proxied_given(struct khttpd_given *given, struct sock *sk,
			 const struct khttpd_proxyhead *head);
bool khttpd_proxied_sends(const struct khttpd_listener *listener);
struct sk_buff *khttpd_proxied_header(struct sock *sk, const struct khttpd_endpoint *client,
				      const struct khttpd_proxyhead_tls *tls);
bool khttpd_proxied_announce(struct khttpd_conn *conn);

#endif /* _KHTTPD_PROXIED_H */
