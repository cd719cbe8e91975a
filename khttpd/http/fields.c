// SPDX-License-Identifier: GPL-2.0
/* Header lines that matter. Those that decide about framing are judged here at once. Others are
 * noted with their place, for those who need them.
 */
#include "chars.h"
#include "parse.h"

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

/* How many bytes from @at on are unreserved, or a byte in percent-encoding? RFC 3986
 * sections 2.1 and 2.3; with @delims also the sub-delims of section 2.2.
 */
static size_t name_span(const u8 *s, size_t len, size_t at, bool delims)
{
	size_t from = at;

	while (at < len) {
		if (khttpd_class[s[at]] & C_HOST || (delims && is_delim(s[at])))
			at++;
		else if (s[at] == '%' && len - at > 2 && is_hex(s[at + 1]) && is_hex(s[at + 2]))
			at += 3;
		else
			break;
	}
	return at - from;
}

/* An IPv6 address in brackets, RFC 3986 section 3.2.2. Its zone (RFC 6874) is sent by some
 * clients, "%" as it is or encoded, and means nothing here. Return: its length, or 0.
 */
static size_t literal_span(const u8 *s, size_t len)
{
	size_t at = 1, zone;

	while (at < len && (is_hex(s[at]) || s[at] == ':' || s[at] == '.'))
		at++;
	if (at < 3)
		return 0;
	if (at < len && s[at] == '%') {
		zone = name_span(s, len, ++at, false);
		if (!zone)
			return 0;
		at += zone;
	}
	return at < len && s[at] == ']' ? at + 1 : 0;
}

/* Is a label of the name empty? One dot at the end is none's. */
static bool label_missing(const u8 *s, size_t len)
{
	size_t i;

	for (i = 1; i < len; i++) {
		if (s[i] == '.' && s[i - 1] == '.')
			return true;
	}
	return false;
}

/**
 * khttpd_host_valid() - may these bytes stand in Host or in an authority?
 * @host: the bytes
 * @len: how many
 *
 * Registered names, IPv4 addresses and IPv6 addresses in brackets, each with an
 * optional port (RFC 3986 section 3.2.2). Two dots in a row are no name.
 *
 * Return: true if so; an empty host is not valid.
 */
bool khttpd_host_valid(const u8 *host, size_t len)
{
	size_t span;

	if (!len)
		return false;
	if (host[0] == '[')
		span = literal_span(host, len);
	else
		span = name_span(host, len, 0, true);
	return span && !label_missing(host, span) && port_valid(host + span, len - span);
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

/* Names that are noted, and whether another line of that name adds to it. */
static const struct {
	const char *name;
	u8 len;
	bool list;
} khttpd_field_names[KHTTPD_FIELD_IDS] = {
#define NAME(text, more) { .name = text, .len = sizeof(text) - 1, .list = more }
	[KHTTPD_FIELD_RANGE] = NAME("range", false),
	[KHTTPD_FIELD_ACCEPT] = NAME("accept", true),
	[KHTTPD_FIELD_COOKIE] = NAME("cookie", true),
	[KHTTPD_FIELD_REFERER] = NAME("referer", false),
	[KHTTPD_FIELD_IF_MATCH] = NAME("if-match", true),
	[KHTTPD_FIELD_IF_RANGE] = NAME("if-range", false),
	[KHTTPD_FIELD_USER_AGENT] = NAME("user-agent", false),
	[KHTTPD_FIELD_IF_NONE_MATCH] = NAME("if-none-match", true),
	[KHTTPD_FIELD_ACCEPT_ENCODING] = NAME("accept-encoding", true),
	[KHTTPD_FIELD_IF_MODIFIED_SINCE] = NAME("if-modified-since", false),
	[KHTTPD_FIELD_IF_UNMODIFIED_SINCE] = NAME("if-unmodified-since", false),
#undef NAME
};

/* Note a field with its place. Return: an error status or 0. */
static u16 note_field(struct khttpd_request *req, enum khttpd_field_id id,
		      size_t at, size_t len)
{
	struct khttpd_field *field;

	if (khttpd_request_has(req, id) && !khttpd_field_names[id].list) {
		req->repeated |= BIT(id);
		return 0;
	}
	if (req->fields == KHTTPD_FIELDS_MAX) {
		req->flags |= KHTTPD_REQ_LONG;
		return 431;
	}
	field = &req->field[req->fields++];
	field->id = id;
	field->at = at;
	field->len = len;
	req->present |= BIT(id);
	return 0;
}

/**
 * khttpd_field_take() - judge or note a complete header line
 * @req: the request; its name is at @req->name, its value from @req->mark to
 *	@req->pos
 * @buf: the request's bytes
 *
 * Return: an HTTP status to refuse with, or 0.
 */
u16 khttpd_field_take(struct khttpd_request *req, const u8 *buf)
{
	const u8 *name = buf + req->name, *s = buf + req->mark;
	size_t name_len = req->name_len, len = req->pos - req->mark;
	int id;

	while (len && is_space(s[len - 1]))
		len--;

	if (IS_WORD(name, name_len, "host"))
		return take_host(req, buf, s, len);
	if (IS_WORD(name, name_len, "connection")) {
		take_list(req, s, len, false);
		return 0;
	}
	if (IS_WORD(name, name_len, "upgrade")) {
		take_list(req, s, len, true);
		return 0;
	}
	if (IS_WORD(name, name_len, "content-length"))
		return take_length(req, s, len);
	if (IS_WORD(name, name_len, "transfer-encoding"))
		return take_encoding(req, s, len);

	for (id = 0; id < KHTTPD_FIELD_IDS; id++) {
		if (is_word(name, name_len, khttpd_field_names[id].name,
			    khttpd_field_names[id].len))
			return note_field(req, id, req->mark, len);
	}
	return 0;
}

/**
 * khttpd_field_next() - the next field of a kind
 * @req: a request that is done
 * @id: which
 * @from: index to begin at, 0 at first; moved behind the result
 *
 * Return: the field, or NULL.
 */
const struct khttpd_field *khttpd_field_next(const struct khttpd_request *req,
					     enum khttpd_field_id id,
					     unsigned int *from)
{
	while (*from < req->fields) {
		const struct khttpd_field *field = &req->field[(*from)++];

		if (field->id == id)
			return field;
	}
	return NULL;
}
