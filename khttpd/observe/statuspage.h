/* SPDX-License-Identifier: GPL-2.0 */
/* The page about the web server itself (statuspage.c). */
#ifndef _KHTTPD_STATUSPAGE_H
#define _KHTTPD_STATUSPAGE_H

#include "../http/accept.h"

/**
 * struct khttpd_gauges - numbers of now, that are no counters
 * @connections: as for max_connections
 * @cache_entries: files kept open
 * @tls_pending: connections whose handshake is not done
 * @tls_daemons: processes that do handshakes
 */
struct khttpd_gauges {
	u32 connections;
	u32 cache_entries;
	u32 tls_pending;
	u32 tls_daemons;
};

char *khttpd_statuspage_make(enum khttpd_form form, const struct khttpd_gauges *now,
			     size_t *len, const char **type);

#endif /* _KHTTPD_STATUSPAGE_H */
