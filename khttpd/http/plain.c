// SPDX-License-Identifier: GPL-2.0
/* Which requests may be answered where their segment is received: those that
 * ask for a file, are complete in themselves and leave nothing behind. And which
 * are a server's without a look at any file.
 */
#include "plain.h"

/**
 * khttpd_request_plain() - is it a request for a file and nothing else?
 * @req: a request that is done
 * @unread: bytes that have come, its own included
 *
 * Return: false if it has a body, or wants a part of a file. Also if it ends the connection
 * although more has come. Closed with bytes unread, a connection is reset, and the reply is lost
 * with it (RFC 9112 section 9.6).
 */
bool khttpd_request_plain(const struct khttpd_request *req, size_t unread)
{
	if (req->method != KHTTPD_METHOD_GET &&
	    req->method != KHTTPD_METHOD_HEAD)
		return false;
	if (!khttpd_request_bodiless(req) ||
	    (req->flags & (KHTTPD_REQ_WEBSOCKET | KHTTPD_REQ_NOPATH)) ||
	    khttpd_request_has(req, KHTTPD_FIELD_RANGE))
		return false;
	return khttpd_request_persists(req) || req->head_len == unread;
}

/**
 * khttpd_request_foreign() - is it for a server, whatever files there are?
 * @req: a request that is done
 *
 * Return: true for other methods than GET and HEAD, targets that are no path,
 * content, and WebSocket.
 */
bool khttpd_request_foreign(const struct khttpd_request *req)
{
	return (req->method != KHTTPD_METHOD_GET &&
		req->method != KHTTPD_METHOD_HEAD) ||
	       (req->flags & (KHTTPD_REQ_WEBSOCKET | KHTTPD_REQ_NOPATH)) ||
	       !khttpd_request_bodiless(req);
}
