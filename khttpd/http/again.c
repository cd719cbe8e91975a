// SPDX-License-Identifier: GPL-2.0
/* A client asks for many things with the same header lines, and pollers ask for the same thing
 * again and again. So the last head is kept. One that equals it, as a whole or behind its request
 * line, is not parsed again: comparing takes a word at a time. The result is that of the parser
 * in every field; nothing else may depend on it.
 *
 * Limits: KHTTPD_AGAIN_MAX bytes. How many heads are kept is the caller's.
 */
#include "again.h"

static inline u64 again_word(const u8 *s)
{
	u64 word;

	memcpy(&word, s, sizeof(word));
	return word;
}

/* Bits in which two words differ. */
static inline u64 again_differ(const u8 *a, const u8 *b)
{
	return again_word(a) ^ again_word(b);
}

/* memcmp() goes byte by byte through what is left behind the last word, and ends where the heads
 * differ. The time taken would tell a client how far its guess of somebody else's head was right.
 */
static inline bool again_equal(const u8 *a, const u8 *b, size_t len)
{
	u64 differ = 0;
	size_t i = 0;

	if (len < sizeof(u64))
		return !memcmp(a, b, len);
	/* Eight at a time: the loop itself would be a third of the work. */
	for (; i + 64 < len; i += 64)
		differ |= again_differ(a + i, b + i) | again_differ(a + i + 8, b + i + 8) |
			  again_differ(a + i + 16, b + i + 16) |
			  again_differ(a + i + 24, b + i + 24) |
			  again_differ(a + i + 32, b + i + 32) |
			  again_differ(a + i + 40, b + i + 40) |
			  again_differ(a + i + 48, b + i + 48) |
			  again_differ(a + i + 56, b + i + 56);
	for (; i + sizeof(u64) < len; i += sizeof(u64))
		differ |= again_differ(a + i, b + i);
	i = len - sizeof(u64);
	return !(differ | again_differ(a + i, b + i));
}

/* Of @req all but the noted fields that it has not; cheaper than all of it. */
static void again_copy(struct khttpd_request *to, const struct khttpd_request *from)
{
	memcpy(to, from, offsetof(struct khttpd_request, field));
	if (from->fields)
		memcpy(to->field, from->field, from->fields * sizeof(from->field[0]));
}

/* Would the parser still accept a head of @len bytes with these header lines? */
static bool again_allowed(const struct khttpd_request *was, size_t len)
{
	return len <= READ_ONCE(khttpd_head_limits.head_bytes) &&
	       was->headers <= READ_ONCE(khttpd_head_limits.head_fields);
}

/* The request line is read and what follows it is known: take that over, moved to
 * where it is now. What is judged by both together, or by the target and the fields,
 * must be the same in both.
 */
static bool again_fields(struct khttpd_request *req, const struct khttpd_again *again,
			 const u8 *buf, size_t len)
{
	const struct khttpd_request *was = &again->req;
	size_t rest = again->len - again->line, i;
	u16 shift = req->pos - again->line;

	if (!again->line || req->flags || req->minor != was->minor ||
	    len - req->pos < rest || !again_allowed(was, req->pos + rest) ||
	    !again_equal(buf + req->pos, again->head + again->line, rest))
		return false;
	req->state = was->state;
	req->flags = was->flags;
	req->headers = was->headers;
	req->present = was->present;
	req->repeated = was->repeated;
	req->fields = was->fields;
	req->content_length = was->content_length;
	req->name_len = was->name_len;
	if (was->headers) {
		req->name = was->name + shift;
		req->mark = was->mark + shift;
	}
	if (was->host_len) {
		req->host = was->host + shift;
		req->host_len = was->host_len;
	}
	for (i = 0; i < was->fields; i++) {
		req->field[i] = was->field[i];
		req->field[i].at += shift;
	}
	req->pos += rest;
	req->head_len = req->pos;
	return true;
}

/* Keep a head for the next one; @line is where its request line ended, if known. */
static void again_keep(struct khttpd_again *again, const struct khttpd_request *req,
		       const u8 *buf, u16 line)
{
	again->same = false;
	if (req->head_len > sizeof(again->head))
		return;
	again->len = req->head_len;
	again->line = req->flags & (KHTTPD_REQ_ABSOLUTE | KHTTPD_REQ_NOPATH) ? 0 : line;
	again_copy(&again->req, req);
	memcpy(again->head, buf, req->head_len);
}

/**
 * khttpd_again_is() - do these bytes begin with the head that is kept?
 * @again: the head
 * @buf: the bytes, a request's first ones
 * @len: how many
 *
 * Return: true if so, and if the parser would still say the same of it.
 */
bool khttpd_again_is(const struct khttpd_again *again, const u8 *buf, size_t len)
{
	return again->len && len >= again->len &&
	       again_allowed(&again->req, again->len) &&
	       again_equal(buf, again->head, again->len);
}

/**
 * khttpd_again_take() - take the request that a kept head was parsed to
 * @req: as for khttpd_parse(), at a head's beginning
 * @again: the head, of which khttpd_again_is() is true for the bytes that @req is about
 */
void khttpd_again_take(struct khttpd_request *req, struct khttpd_again *again)
{
	again_copy(req, &again->req);
	again->same = true;
}

/**
 * khttpd_again_parse_beside() - parse a request head that may have header lines of another one
 * @req: as for khttpd_parse(); nothing of it is parsed yet
 * @again: for this head; without one (@len 0) if it is too long or not complete
 * @other: a head with which it may share the lines behind the request line, or NULL
 * @buf: as for khttpd_parse()
 * @len: as for khttpd_parse()
 *
 * Return: as khttpd_parse(), with the same @req.
 */
enum khttpd_parse_result khttpd_again_parse_beside(struct khttpd_request *req,
						   struct khttpd_again *again,
						   const struct khttpd_again *other,
						   const u8 *buf, size_t len)
{
	enum khttpd_parse_result result = KHTTPD_PARSE_DONE;
	u16 line = 0;

	again->len = 0;
	if (khttpd_parse_line(req, buf, len))
		line = req->pos;
	if (!line || !other || !again_fields(req, other, buf, len))
		result = khttpd_parse(req, buf, len);
	if (result == KHTTPD_PARSE_DONE)
		again_keep(again, req, buf, line);
	return result;
}

/**
 * khttpd_again_parse() - go on parsing a request head, which may be known
 * @req: as for khttpd_parse()
 * @again: the head before it; zero at first
 * @buf: as for khttpd_parse()
 * @len: as for khttpd_parse()
 *
 * Return: as khttpd_parse(), with the same @req.
 */
enum khttpd_parse_result khttpd_again_parse(struct khttpd_request *req,
					    struct khttpd_again *again,
					    const u8 *buf, size_t len)
{
	enum khttpd_parse_result result;
	u16 line = 0;

	again->same = false;
	/* Known to the end already: asked again for the verdict. */
	if (req->head_len)
		return khttpd_parse(req, buf, len);
	if (!req->pos) {
		if (khttpd_again_is(again, buf, len)) {
			khttpd_again_take(req, again);
			return KHTTPD_PARSE_DONE;
		}
		if (khttpd_parse_line(req, buf, len)) {
			line = req->pos;
			if (again_fields(req, again, buf, len))
				return KHTTPD_PARSE_DONE;
		}
	}
	result = khttpd_parse(req, buf, len);
	if (result == KHTTPD_PARSE_DONE)
		again_keep(again, req, buf, line);
	return result;
}
