/* SPDX-License-Identifier: GPL-2.0 */
/* What an administrator may set, for all sites. Of heads of requests: http/parse.h. */
#ifndef _KHTTPD_LIMITS_H
#define _KHTTPD_LIMITS_H

#include <linux/types.h>

/**
 * struct khttpd_limits - what an administrator may set; read without locks
 * @max_connections: connections at once, all listeners together
 * @head_timeout: ms from the first byte (or accept) to the end of a head
 * @idle_timeout: ms between a reply and the next request
 * @send_timeout: ms in which a peer must take some of its reply
 * @send_rate: bytes a second that it must take in that time, at least one in all
 * @linger_timeout: ms in which a refused peer must send more, or close
 * @linger_time: ms that it has to close, all together
 * @stop_timeout: ms that replies under way have when their listener stops
 * @cache_entries: files kept open
 * @cache_idle: ms after which an unused file is closed
 * @handover_queue: connections that wait for a server's accept(), a listener
 * @max_per_address: connections at once of a client's address; 0 for any number
 * @request_rate: requests a second of a client's address; 0 for any number
 * @request_burst: how many of them at once after a pause
 * @tls_timeout: ms from accept to the end of a TLS handshake
 * @tls_handshakes: handshakes at once, all listeners together
 * @tls_per_address: handshakes at once of a client's address; 0 for any number
 */
struct khttpd_limits {
	u32 max_connections;
	u32 head_timeout;
	u32 idle_timeout;
	u32 send_timeout;
	u32 send_rate;
	u32 linger_timeout;
	u32 linger_time;
	u32 stop_timeout;
	u32 cache_entries;
	u32 cache_idle;
	u32 handover_queue;
	u32 max_per_address;
	u32 request_rate;
	u32 request_burst;
	u32 tls_timeout;
	u32 tls_handshakes;
	u32 tls_per_address;
};

extern struct khttpd_limits khttpd_limits;

#endif /* _KHTTPD_LIMITS_H */
