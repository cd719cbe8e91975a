// SPDX-License-Identifier: GPL-2.0
/* The limits as long as nobody says otherwise. */
#include <linux/time64.h>
#include "limits.h"

struct khttpd_limits khttpd_limits = {
	.max_connections = 65536,
	.head_timeout = 10 * MSEC_PER_SEC,
	.idle_timeout = 75 * MSEC_PER_SEC,
	.send_timeout = 60 * MSEC_PER_SEC,
	.send_rate = 100,
	.linger_timeout = 5 * MSEC_PER_SEC,
	.linger_time = 30 * MSEC_PER_SEC,
	.stop_timeout = 5 * MSEC_PER_SEC,
	.cache_entries = 4096,
	.cache_idle = 60 * MSEC_PER_SEC,
	.handover_queue = 1024,
	.request_burst = 100,
	.tls_timeout = 10 * MSEC_PER_SEC,
	.tls_handshakes = 1024,
	.tls_per_address = 256,
};
