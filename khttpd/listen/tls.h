/* SPDX-License-Identifier: GPL-2.0 */
/* Connections whose TLS handshake is done by khttpd-tlsd (tls.c). */
#ifndef _KHTTPD_TLS_H
#define _KHTTPD_TLS_H

#include <linux/poll.h>
#include <linux/types.h>

struct khttpd_listener;
struct khttpd_peer;
struct khttpd_tls_done;
struct khttpd_tls_take;
struct khttpd_tlsd;
struct socket;

int khttpd_tls_init(void);
void khttpd_tls_exit(void);
u32 khttpd_shakes_count(void);
u32 khttpd_tlsds_count(void);
bool khttpd_shake_begin(struct khttpd_listener *listener, struct socket *sock,
			struct khttpd_peer *peer);
void khttpd_shakes_stop(const struct khttpd_listener *listener);
struct khttpd_tlsd *khttpd_tlsd_begin(void);
void khttpd_tlsd_end(struct khttpd_tlsd *tlsd);
__poll_t khttpd_tlsd_poll(struct file *file, poll_table *wait);
struct file *khttpd_tlsd_take(const struct khttpd_tlsd *tlsd, struct khttpd_tls_take *arg);
int khttpd_tlsd_done(const struct khttpd_tlsd *tlsd, const struct khttpd_tls_done *arg);

#endif /* _KHTTPD_TLS_H */
