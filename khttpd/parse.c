// SPDX-License-Identifier: GPL-2.0
/* Parser of HTTP/1.x request heads: restartable at any byte, linear in time,
 * strict. What is ambiguous is refused, so that no other parser behind this
 * one can disagree about where a request ends. Bodies are not read here.
 */
#include "parse.h"

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

#define C_TOKEN		0x01	/* RFC 9110 section 5.6.2 */
#define C_TARGET	0x02	/* printable, no "#"; 0x80 and up are kept as is */
#define C_VALUE		0x04	/* VCHAR, SP, HTAB, obs-text (section 5.5) */
#define C_HOST		0x08	/* letters, digits, "-._~" */

#define T_ALL		(C_TOKEN | C_TARGET | C_VALUE)
#define T_HOST		(T_ALL | C_HOST)
#define T_OTHER		(C_TARGET | C_VALUE)

static const u8 khttpd_class[256] = {
	['\t'] = C_VALUE, [' '] = C_VALUE, ['#'] = C_TOKEN | C_VALUE,
	['!'] = T_ALL, ['$' ... '\''] = T_ALL, ['*' ... '+'] = T_ALL,
	['^'] = T_ALL, ['`'] = T_ALL, ['|'] = T_ALL,
	['-' ... '.'] = T_HOST, ['_'] = T_HOST, ['~'] = T_HOST,
	['0' ... '9'] = T_HOST, ['A' ... 'Z'] = T_HOST, ['a' ... 'z'] = T_HOST,
	['"'] = T_OTHER, ['('...')'] = T_OTHER, [','] = T_OTHER,
	['/'] = T_OTHER, [':'...'@'] = T_OTHER, ['['...']'] = T_OTHER,
	['{'] = T_OTHER, ['}'] = T_OTHER, [0x80 ... 0xff] = T_OTHER,
};

static bool is_space(u8 c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(u8 c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(u8 c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Is the string of @len bytes @word, letters compared without case? */
static bool is_word(const u8 *s, size_t len, const char *word, size_t word_len)
{
	size_t i;

	if (len != word_len)
		return false;
	for (i = 0; i < len; i++) {
		u8 c = s[i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		if (c != (u8)word[i])
			return false;
	}
	return true;
}

#define IS_WORD(s, len, word) is_word(s, len, word, sizeof(word) - 1)

static enum khttpd_parse_result fail(struct khttpd_request *req, u16 status)
{
	req->state = S_ERROR;
	req->error = status;
	return KHTTPD_PARSE_ERROR;
}

/* [":" port] at the end of a host, RFC 3986 section 3.2.3 */
static bool port_valid(const u8 *s, size_t len)
{
	u32 port = 0;
	size_t i;

	if (!len)
		return true;
	if (s[0] != ':' || len > 6)
		return false;
	for (i = 1; i < len; i++) {
		if (!is_digit(s[i]))
			return false;
		port = port * 10 + s[i] - '0';
	}
	return port <= 65535;
}

/**
 * khttpd_host_valid() - may these bytes stand in Host or in an authority?
 * @host: the bytes
 * @len: how many
 *
 * Names of letters, digits and "-._~", IPv4 addresses and bracketed IPv6
 * addresses, each with an optional port. Narrower than RFC 3986 on purpose.
 *
 * Return: true if so; an empty host is not valid.
 */
bool khttpd_host_valid(const u8 *host, size_t len)
{
	size_t i;

	if (!len)
		return false;
	if (host[0] == '[') {
		for (i = 1; i < len && host[i] != ']'; i++) {
			if (!is_hex(host[i]) && host[i] != ':' && host[i] != '.')
				return false;
		}
		if (i == len || i < 3)
			return false;
		return port_valid(host + i + 1, len - i - 1);
	}
	for (i = 0; i < len && (khttpd_class[host[i]] & C_HOST); i++)
		;
	return i > 0 && port_valid(host + i, len - i);
}

static void take_method(struct khttpd_request *req, const u8 *s, size_t len)
{
	static const char * const known[] = {
		"POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
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

static u16 take_host(struct khttpd_request *req, const u8 *buf, const u8 *s,
		     size_t len)
{
	/* RFC 9112 section 3.2: more than one Host line MUST be refused. */
	if ((req->flags & KHTTPD_REQ_HOST) || !khttpd_host_valid(s, len))
		return 400;
	req->flags |= KHTTPD_REQ_HOST;
	if (!(req->flags & KHTTPD_REQ_ABSOLUTE)) {
		req->host = s - buf;
		req->host_len = len;
	}
	return 0;
}

/* Content-Length, RFC 9110 section 8.6: one line of digits, nothing else. */
static u16 take_length(struct khttpd_request *req, const u8 *s, size_t len)
{
	u64 value = 0;
	size_t i;

	if ((req->flags & KHTTPD_REQ_LENGTH) || len == 0 || len > 19)
		return 400;
	for (i = 0; i < len; i++) {
		if (!is_digit(s[i]))
			return 400;
		value = value * 10 + s[i] - '0';
	}
	if (value > KHTTPD_BODY_MAX)
		return 413;
	req->flags |= KHTTPD_REQ_LENGTH;
	req->content_length = value;
	return 0;
}

/* Transfer-Encoding, RFC 9112 section 6.1: "chunked", once, and nothing else. */
static u16 take_encoding(struct khttpd_request *req, const u8 *s, size_t len)
{
	if ((req->flags & KHTTPD_REQ_ENCODING) || memchr(s, ',', len))
		return 400;
	req->flags |= KHTTPD_REQ_ENCODING;
	if (!IS_WORD(s, len, "chunked"))
		return 501;
	req->flags |= KHTTPD_REQ_CHUNKED;
	return 0;
}

/* Connection and Upgrade are lists; empty elements are skipped. */
static void take_list(struct khttpd_request *req, const u8 *s, size_t len,
		      bool upgrade)
{
	size_t at = 0;

	while (at < len) {
		size_t end, next;

		for (next = at; next < len && s[next] != ','; next++)
			;
		while (at < next && is_space(s[at]))
			at++;
		for (end = next; end > at && is_space(s[end - 1]); end--)
			;
		if (upgrade) {
			if (IS_WORD(s + at, end - at, "websocket"))
				req->flags |= KHTTPD_REQ_WEBSOCKET;
		} else if (IS_WORD(s + at, end - at, "close")) {
			req->flags |= KHTTPD_REQ_CLOSE;
		} else if (IS_WORD(s + at, end - at, "keep-alive")) {
			req->flags |= KHTTPD_REQ_KEEPALIVE;
		}
		at = next + 1;
	}
}

/* A header line is complete; its value is from @mark to @pos. */
static u16 take_header(struct khttpd_request *req, const u8 *buf)
{
	const u8 *name = buf + req->name, *s = buf + req->mark;
	size_t name_len = req->name_len, len = req->pos - req->mark;

	while (len && is_space(s[len - 1]))
		len--;

	switch (name_len) {
	case 4:
		if (IS_WORD(name, name_len, "host"))
			return take_host(req, buf, s, len);
		break;
	case 7:
		if (IS_WORD(name, name_len, "upgrade"))
			take_list(req, s, len, true);
		break;
	case 10:
		if (IS_WORD(name, name_len, "connection"))
			take_list(req, s, len, false);
		break;
	case 14:
		if (IS_WORD(name, name_len, "content-length"))
			return take_length(req, s, len);
		break;
	case 17:
		if (IS_WORD(name, name_len, "transfer-encoding"))
			return take_encoding(req, s, len);
		break;
	}
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
		req->state = S_REQUEST_LF;
		return req->major == 1 ? 0 : 505;
	}
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
	if (!(khttpd_class[c] & C_TOKEN))
		return 400;
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
		if (req->headers++ == KHTTPD_HEADERS_MAX)
			return 431;
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
		return take_header(req, buf);
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

/* The head is longer than allowed, and not yet complete. */
static enum khttpd_parse_result too_long(struct khttpd_request *req)
{
	if (req->state <= S_METHOD)
		return fail(req, 400);
	return fail(req, req->state == S_TARGET ? 414 : 431);
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
	size_t end = len < KHTTPD_HEAD_MAX ? len : KHTTPD_HEAD_MAX;
	u16 error;
	u8 c;

	if (req->state == S_DONE)
		return KHTTPD_PARSE_DONE;
	if (req->state == S_ERROR)
		return KHTTPD_PARSE_ERROR;

	while (req->pos < end) {
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
	}
	return end == KHTTPD_HEAD_MAX ? too_long(req) : KHTTPD_PARSE_MORE;
}
