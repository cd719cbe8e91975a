/* SPDX-License-Identifier: GPL-2.0 */
/* Connections whose TLS handshake is done by khttpd-tlsd (tls.c). */
#ifndef _KHTTPD_TLS_H
#define _KHTTPD_TLS_H

#include <linux/poll.h>
#include <linux/types.h>

struct khttpd_endpoint;
struct khttpd_listener;
struct khttpd_peer;
struct khttpd_tls_done;
struct khttpd_tls_take;
struct khttpd_tlsd;
struct socket;

int khttpd_tls_init(void);
void khttpd_tls_exit(void);
u32 khttpd_tls_pending(void);
u32 khttpd_tls_daemons(void);
bool khttpd_tls_begin(struct khttpd_listener *listener, struct socket *sock,
		      struct khttpd_peer *peer, struct khttpd_endpoint *client);
void khttpd_tls_stop(const struct khttpd_listener *listener);
struct khttpd_tlsd *khttpd_tls_daemon_begin(void);
void khttpd_tls_daemon_end(struct khttpd_tlsd *tlsd);
__poll_t khttpd_tls_daemon_poll(struct file *file, poll_table *wait);
struct file *khttpd_tls_daemon_take(const struct khttpd_tlsd *tlsd, struct khttpd_tls_take *arg);
int khttpd_tls_daemon_says(const struct khttpd_tlsd *tlsd, u32 id, u8 *value, u32 len);
int khttpd_tls_daemon_done(const struct khttpd_tlsd *tlsd, const struct khttpd_tls_done *arg);

#endif /* _KHTTPD_TLS_H */
