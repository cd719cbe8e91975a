/* SPDX-License-Identifier: GPL-2.0 */
/* The access log (log.c). */
#ifndef _KHTTPD_LOG_H
#define _KHTTPD_LOG_H

#include "../http/parse.h"
#include "../http/proxyhead.h"

struct sock;

int khttpd_log_init(void);
void khttpd_log_exit(void);
void khttpd_log_reply(const struct sock *sk, const struct khttpd_endpoint *client,
		      const char *site, const struct khttpd_request *req, const u8 *head,
		      u16 status, u64 bytes);

extern bool khttpd_log_on;

/* As khttpd_log_reply(), which is seldom of use. */
static inline void khttpd_log(const struct sock *sk, const struct khttpd_endpoint *client,
			      const char *site, const struct khttpd_request *req, const u8 *head,
			      u16 status, u64 bytes)
{
	if (unlikely(READ_ONCE(khttpd_log_on)))
		khttpd_log_reply(sk, client, site, req, head, status, bytes);
}

#endif /* _KHTTPD_LOG_H */
