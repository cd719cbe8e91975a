/* SPDX-License-Identifier: GPL-2.0 */
/* Which requests may be answered where their segment is received, and which are a
 * server's. Pure: see pure.h.
 */
#ifndef _KHTTPD_PLAIN_H
#define _KHTTPD_PLAIN_H

#include "parse.h"

bool khttpd_request_plain(const struct khttpd_request *req, size_t unread);
bool khttpd_request_foreign(const struct khttpd_request *req);

#endif /* _KHTTPD_PLAIN_H */
