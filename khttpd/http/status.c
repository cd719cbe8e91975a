// SPDX-License-Identifier: GPL-2.0
/* The statuses that are answered with: RFC 9110 section 15. Pure: see pure.h. */
#include "status.h"

struct khttpd_status {
	u16 code;
	const char *reason;
};

static const struct khttpd_status khttpd_statuses[] = {
	{ 200, "OK" },
	{ 204, "No Content" },
	{ 206, "Partial Content" },
	{ 301, "Moved Permanently" },
	{ 302, "Found" },
	{ 303, "See Other" },
	{ 304, "Not Modified" },
	{ 307, "Temporary Redirect" },
	{ 308, "Permanent Redirect" },
	{ 400, "Bad Request" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 416, "Range Not Satisfiable" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
};

/**
 * khttpd_status_reason() - the words that go with a status
 * @code: HTTP status
 */
const char *khttpd_status_reason(u16 code)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(khttpd_statuses); i++) {
		if (khttpd_statuses[i].code == code)
			return khttpd_statuses[i].reason;
	}
	return "Error";
}

/**
 * khttpd_status_of() - the status for an error of a lookup
 * @err: negative errno
 */
u16 khttpd_status_of(int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
	case -EXDEV:
		return 403;
	case -EISDIR:
	case -ENOENT:
	case -ENOTDIR:
	case -ENAMETOOLONG:
	case -ELOOP:
	case -ESTALE:
	case -ENXIO:
		return 404;
	case -ENOMEM:
	case -ENFILE:
		return 503;
	default:
		return 500;
	}
}
