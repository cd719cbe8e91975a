// SPDX-License-Identifier: GPL-2.0
/* Parser of HTTP/1.x request heads: restartable at any byte, linear in time, strict. An ambiguous
 * head is refused, so that no other parser behind this one can disagree about where a request
 * ends. Bodies are not read here.
 */
#include "chars.h"
#include "parse.h"

struct khttpd_head_limits khttpd_head_limits = {
	.head_bytes = KHTTPD_HEAD_MAX,
	.head_fields = KHTTPD_HEADERS_MAX,
};

enum {
	S_START,		/* empty lines before the request line */
	S_START_LF,
	S_METHOD,
	S_TARGET,
	S_VERSION,
	S_REQUEST_LF,
	S_LINE,			/* first byte of a header line, or of the end */
	S_NAME,
	S_SPACE,		/* optional white space before a value */
	S_VALUE,
	S_VALUE_LF,
	S_END_LF,
	S_DONE,
	S_ERROR,
};

static enum khttpd_parse_result fail(struct khttpd_request *req, u16 status)
{
	req->state = S_ERROR;
	req->error = status;
	return KHTTPD_PARSE_ERROR;
}

static void take_method(struct khttpd_request *req, const u8 *s, size_t len)
{
	static const char * const known[] = {
		"POST", "PUT", "DELETE", "CONNECT", "TRACE", "PATCH",
	};
	size_t i;

	if (len == 3 && !memcmp(s, "GET", 3)) {
		req->method = KHTTPD_METHOD_GET;
		return;
	}
	if (len == 4 && !memcmp(s, "HEAD", 4)) {
		req->method = KHTTPD_METHOD_HEAD;
		return;
	}
	if (len == 7 && !memcmp(s, "OPTIONS", 7)) {
		req->method = KHTTPD_METHOD_OPTIONS;
		return;
	}
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strlen(known[i]) == len && !memcmp(s, known[i], len)) {
			req->method = KHTTPD_METHOD_KNOWN;
			return;
		}
	}
	req->method = KHTTPD_METHOD_OTHER;
}

/* Is the method @name? Only while the target is read: @mark follows it. */
static bool method_is(const struct khttpd_request *req, const u8 *buf,
		      const char *name)
{
	size_t len = req->mark - 1 - req->start;

	return strlen(name) == len && !memcmp(buf + req->start, name, len);
}

/* HTTP/2 (RFC 9113 section 3.4), or a proxy that tells of its client first. */
static bool is_alien(const struct khttpd_request *req, const u8 *buf)
{
	return method_is(req, buf, "PRI") || method_is(req, buf, "PROXY");
}

/* Cut the target at @at, of @len bytes, into path and query. */
static void split_target(struct khttpd_request *req, const u8 *buf, size_t at,
			 size_t len)
{
	const u8 *query = memchr(buf + at, '?', len);

	req->path = at;
	req->path_len = query ? query - (buf + at) : len;
	req->query = at + req->path_len;
	req->query_len = len - req->path_len;
}

/* The four forms of RFC 9112 section 3.2. Return: an error status or 0. */
static u16 take_target(struct khttpd_request *req, const u8 *buf)
{
	const u8 *s = buf + req->mark;
	size_t len = req->pos - req->mark;
	size_t host;

	if (method_is(req, buf, "CONNECT")) {
		req->flags |= KHTTPD_REQ_NOPATH;
		return khttpd_host_valid(s, len) ? 0 : 400;
	}
	if (s[0] == '/') {
		split_target(req, buf, req->mark, len);
		return 0;
	}
	if (s[0] == '*') {
		req->flags |= KHTTPD_REQ_NOPATH;
		return len == 1 && method_is(req, buf, "OPTIONS") ? 0 : 400;
	}
	if (len < 7 || !IS_WORD(s, 7, "http://"))
		return 400;
	for (host = 7; host < len && s[host] != '/' && s[host] != '?'; host++)
		;
	if (!khttpd_host_valid(s + 7, host - 7))
		return 400;
	req->flags |= KHTTPD_REQ_ABSOLUTE;
	req->host = req->mark + 7;
	req->host_len = host - 7;
	split_target(req, buf, req->mark + host, len - host);
	return 0;
}

/* The empty line has been read: what can only be judged on the whole head. */
static enum khttpd_parse_result finish(struct khttpd_request *req)
{
	/* RFC 9112 section 3.2: a 1.1 request without Host MUST be refused. */
	if (req->minor > 0 && !(req->flags & KHTTPD_REQ_HOST))
		return fail(req, 400);
	if (req->flags & KHTTPD_REQ_ENCODING) {
		/* RFC 9112 section 6.1: both, or in 1.0, is faulty framing. */
		if (req->minor == 0 || (req->flags & KHTTPD_REQ_LENGTH))
			return fail(req, 400);
	}
	req->state = S_DONE;
	req->head_len = req->pos;
	return KHTTPD_PARSE_DONE;
}

/* One byte of "HTTP/d.d" and the CR behind it. Return: an error status or 0. */
static u16 version_byte(struct khttpd_request *req, u8 c)
{
	static const char word[] = "HTTP/";

	switch (req->step++) {
	case 0 ... 4:
		return c == (u8)word[req->step - 1] ? 0 : 400;
	case 5:
		req->major = c - '0';
		return is_digit(c) ? 0 : 400;
	case 6:
		return c == '.' ? 0 : 400;
	case 7:
		req->minor = c - '0';
		return is_digit(c) ? 0 : 400;
	default:
		if (c != '\r')
			return 400;
		req->step = 0;
		req->state = S_REQUEST_LF;
		return req->major == 1 ? 0 : 505;
	}
}

/* Take "HTTP/1.d" and the end of the line in one piece, as they nearly always are. If they are
 * not, they are judged byte by byte.
 */
static bool take_version(struct khttpd_request *req, const u8 *buf, size_t end)
{
	const u8 *s = buf + req->pos;

	if (req->step || end - req->pos < 10 || memcmp(s, "HTTP/1.", 7) ||
	    !is_digit(s[7]) || s[8] != '\r' || s[9] != '\n')
		return false;
	req->major = 1;
	req->minor = s[7] - '0';
	req->pos += 10;
	req->state = S_LINE;
	return true;
}

/* Empty lines and the first byte of the method. Return: an error or 0. */
static u16 start_byte(struct khttpd_request *req, u8 c)
{
	if (c == '\r') {
		if (req->step++ == KHTTPD_EMPTY_LINES_MAX)
			return 400;
		req->state = S_START_LF;
		return 0;
	}
	if (!(khttpd_class[c] & C_TOKEN)) {
		/* TLS begins with 0x16, the PROXY protocol's second version with NUL. */
		req->flags |= KHTTPD_REQ_ALIEN;
		return 400;
	}
	req->start = req->pos;
	req->state = S_METHOD;
	return 0;
}

/* A byte that no inner loop took, in the request line. Return: error or 0. */
static u16 request_line_byte(struct khttpd_request *req, const u8 *buf, u8 c)
{
	u16 error;

	switch (req->state) {
	case S_START:
		return start_byte(req, c);
	case S_START_LF:
		req->state = S_START;
		return c == '\n' ? 0 : 400;
	case S_METHOD:
		if (c != ' ')
			return 400;
		take_method(req, buf + req->start, req->pos - req->start);
		req->mark = req->pos + 1;
		req->state = S_TARGET;
		return 0;
	case S_TARGET:
		if (is_alien(req, buf)) {
			req->flags |= KHTTPD_REQ_ALIEN;
			return 400;
		}
		if (c != ' ' || req->pos == req->mark)
			return 400;
		error = take_target(req, buf);
		req->step = 0;
		req->state = S_VERSION;
		return error;
	case S_VERSION:
		return version_byte(req, c);
	default:
		req->state = S_LINE;
		return c == '\n' ? 0 : 400;
	}
}

/* The same for header lines. */
static u16 header_byte(struct khttpd_request *req, const u8 *buf, u8 c)
{
	switch (req->state) {
	case S_LINE:
		if (c == '\r') {
			req->state = S_END_LF;
			return 0;
		}
		/* RFC 9112 section 2.2 and 5.2: no space, no folded lines. */
		if (!(khttpd_class[c] & C_TOKEN))
			return 400;
		if (req->headers++ >= READ_ONCE(khttpd_head_limits.head_fields)) {
			req->flags |= KHTTPD_REQ_LONG;
			return 431;
		}
		req->name = req->pos;
		req->state = S_NAME;
		return 0;
	case S_NAME:
		/* RFC 9112 section 5.1: nothing between name and colon. */
		if (c != ':')
			return 400;
		req->name_len = req->pos - req->name;
		req->mark = req->pos + 1;
		req->state = S_SPACE;
		return 0;
	case S_VALUE:
		if (c != '\r')
			return 400;
		req->state = S_VALUE_LF;
		return khttpd_field_take(req, buf);
	default:
		req->state = S_LINE;
		return c == '\n' ? 0 : 400;
	}
}

/* Skip the bytes that leave the state as it is. */
static size_t skip(struct khttpd_request *req, const u8 *buf, size_t at,
		   size_t end)
{
	u8 class;

	switch (req->state) {
	case S_METHOD:
	case S_NAME:
		class = C_TOKEN;
		break;
	case S_TARGET:
		class = C_TARGET;
		break;
	case S_SPACE:
		while (at < end && is_space(buf[at]))
			at++;
		if (at == end)
			return at;
		req->mark = at;
		req->state = S_VALUE;
		fallthrough;
	case S_VALUE:
		class = C_VALUE;
		break;
	default:
		return at;
	}
	while (at < end && (khttpd_class[buf[at]] & class))
		at++;
	return at;
}

/* The head is longer than allowed, and not yet complete. A path whose query has begun is
 * known all the same.
 */
static enum khttpd_parse_result too_long(struct khttpd_request *req, const u8 *buf)
{
	if (req->state <= S_METHOD)
		return fail(req, 400);
	req->flags |= KHTTPD_REQ_LONG;
	if (req->state != S_TARGET)
		return fail(req, 431);
	if (buf[req->mark] == '/')
		split_target(req, buf, req->mark, req->pos - req->mark);
	if (!req->query_len)
		req->path_len = 0;
	return fail(req, 414);
}

/* Up to the end of the head, or with @line_only of the request line. */
static __always_inline enum khttpd_parse_result
parse_on(struct khttpd_request *req, const u8 *buf, size_t len, bool line_only)
{
	size_t max = READ_ONCE(khttpd_head_limits.head_bytes);
	size_t end = len < max ? len : max;
	u16 error;
	u8 c;

	while (req->pos < end) {
		if (line_only && req->state == S_LINE)
			return KHTTPD_PARSE_MORE;
		if (req->state == S_VERSION && take_version(req, buf, end))
			continue;
		req->pos = skip(req, buf, req->pos, end);
		if (req->state == S_METHOD &&
		    req->pos - req->start > KHTTPD_METHOD_MAX)
			return fail(req, 400);
		if (req->pos == end)
			break;
		c = buf[req->pos];
		if (req->state == S_END_LF) {
			if (c != '\n')
				return fail(req, 400);
			req->pos++;
			return finish(req);
		}
		if (req->state <= S_REQUEST_LF)
			error = request_line_byte(req, buf, c);
		else
			error = header_byte(req, buf, c);
		if (error)
			return fail(req, error);
		req->pos++;
		if (req->state == S_VALUE_LF && req->pos < end &&
		    buf[req->pos] == '\n') {
			req->state = S_LINE;
			req->pos++;
		}
	}
	return len >= max ? too_long(req, buf) : KHTTPD_PARSE_MORE;
}

/**
 * khttpd_parse() - go on parsing a request head
 * @req: what is known so far; khttpd_request_reset() before the first call
 * @buf: the request's bytes from the first on, also those seen before
 * @len: how many there are by now
 *
 * Each byte is looked at once over all calls. The result of a head does not
 * depend on how it was cut into calls.
 *
 * Return: KHTTPD_PARSE_DONE with @req->head_len set, KHTTPD_PARSE_ERROR with
 * @req->error set, or KHTTPD_PARSE_MORE.
 */
enum khttpd_parse_result khttpd_parse(struct khttpd_request *req,
				      const u8 *buf, size_t len)
{
	if (req->state == S_DONE)
		return KHTTPD_PARSE_DONE;
	if (req->state == S_ERROR)
		return KHTTPD_PARSE_ERROR;
	return parse_on(req, buf, len, false);
}

/**
 * khttpd_parse_line() - parse no further than the request line
 * @req: as for khttpd_parse(), which goes on from there
 * @buf: as for khttpd_parse()
 * @len: as for khttpd_parse()
 *
 * Return: true if the line is complete and something follows it, which begins at
 * @req->pos.
 */
bool khttpd_parse_line(struct khttpd_request *req, const u8 *buf, size_t len)
{
	return req->state < S_LINE &&
	       parse_on(req, buf, len, true) == KHTTPD_PARSE_MORE && req->state == S_LINE;
}
