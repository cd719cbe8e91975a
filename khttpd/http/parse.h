/* SPDX-License-Identifier: GPL-2.0 */
/* The request head as the parser leaves it: offsets into the caller's bytes,
 * framing facts and the verdict. Pure: see pure.h.
 */
#ifndef _KHTTPD_PARSE_H
#define _KHTTPD_PARSE_H

#include "pure.h"

/* Longest request head, empty lines in front included. */
#define KHTTPD_HEAD_MAX		8192
/* Most header lines in one head. */
#define KHTTPD_HEADERS_MAX	100

/**
 * struct khttpd_head_limits - these as an administrator wants them, at most those
 * @head_bytes: instead of KHTTPD_HEAD_MAX
 * @head_fields: instead of KHTTPD_HEADERS_MAX
 */
struct khttpd_head_limits {
	unsigned int head_bytes;
	unsigned int head_fields;
};

extern struct khttpd_head_limits khttpd_head_limits;

/* Longest method token; longer ones are refused, not handed over. */
#define KHTTPD_METHOD_MAX	32
/* Empty lines accepted before a request line (RFC 9112 section 2.2). */
#define KHTTPD_EMPTY_LINES_MAX	4
/* Largest Content-Length that is taken for meant: 1 TiB. */
#define KHTTPD_BODY_MAX		BIT_ULL(40)

enum khttpd_parse_result {
	KHTTPD_PARSE_MORE,	/* the head is not complete yet */
	KHTTPD_PARSE_DONE,	/* the head is complete and its framing certain */
	KHTTPD_PARSE_ERROR,	/* refuse with @error and close */
};

enum khttpd_method {
	KHTTPD_METHOD_OTHER,	/* a token that this server does not know */
	KHTTPD_METHOD_GET,
	KHTTPD_METHOD_HEAD,
	KHTTPD_METHOD_OPTIONS,
	KHTTPD_METHOD_KNOWN,	/* defined by RFC 9110 or 5789, not served here */
};

/* Facts about the head. */
#define KHTTPD_REQ_HOST		0x0001	/* a Host line was seen */
#define KHTTPD_REQ_LENGTH	0x0002	/* Content-Length */
#define KHTTPD_REQ_CHUNKED	0x0004	/* Transfer-Encoding: chunked */
#define KHTTPD_REQ_CLOSE	0x0008	/* Connection: close */
#define KHTTPD_REQ_KEEPALIVE	0x0010	/* Connection: keep-alive */
#define KHTTPD_REQ_WEBSOCKET	0x0020	/* Upgrade: websocket */
#define KHTTPD_REQ_ABSOLUTE	0x0040	/* target in absolute-form */
#define KHTTPD_REQ_ENCODING	0x0080	/* a Transfer-Encoding line was seen */
#define KHTTPD_REQ_NOPATH	0x0100	/* "*" or authority-form */
#define KHTTPD_REQ_ALIEN	0x0200	/* refused, and does not begin as HTTP/1 does */
#define KHTTPD_REQ_LONG		0x0400	/* refused for its length or number of lines */

/* Fields that are noted with their place, for those who need them. */
enum khttpd_field_id {
	KHTTPD_FIELD_RANGE,
	KHTTPD_FIELD_ACCEPT,
	KHTTPD_FIELD_COOKIE,
	KHTTPD_FIELD_REFERER,
	KHTTPD_FIELD_IF_MATCH,
	KHTTPD_FIELD_IF_RANGE,
	KHTTPD_FIELD_USER_AGENT,
	KHTTPD_FIELD_IF_NONE_MATCH,
	KHTTPD_FIELD_ACCEPT_ENCODING,
	KHTTPD_FIELD_IF_MODIFIED_SINCE,
	KHTTPD_FIELD_IF_UNMODIFIED_SINCE,
	KHTTPD_FIELD_IDS
};

/* Most lines of these in one head; a list may come in several lines. */
#define KHTTPD_FIELDS_MAX	16

/**
 * struct khttpd_field - a header line that was noted
 * @id: enum khttpd_field_id
 * @at: start of its value
 * @len: length of its value, white space around it not counted
 */
struct khttpd_field {
	u16 id;
	u16 at;
	u16 len;
};

/**
 * struct khttpd_request - one request head, while and after it is parsed
 * @state: where the parser stands; zero before the first byte
 * @method: enum khttpd_method
 * @major: first digit of the HTTP version
 * @minor: second digit of the HTTP version
 * @step: position inside a fixed word, or empty lines seen so far
 * @headers: header lines seen so far
 * @error: HTTP status to refuse with, 0 if none
 * @flags: KHTTPD_REQ_*
 * @pos: bytes consumed so far
 * @mark: start of the element being read
 * @name: start of the current header name
 * @name_len: its length
 * @start: first byte of the method
 * @path: start of the path of the target
 * @path_len: its length; 0 in absolute-form stands for "/", and in a target that was
 *	cut before its query for a path that is not known
 * @query: start of the query, "?" included
 * @query_len: its length, 0 if there is none
 * @host: start of the host that applies (target's before Host's)
 * @host_len: its length
 * @head_len: length of the whole head once it is done
 * @present: BIT(enum khttpd_field_id) of what is in @field
 * @repeated: the same for fields that must come once and came again; the first
 *	is the one in @field
 * @fields: how many are noted
 * @field: the noted fields, in their order
 * @content_length: value of Content-Length if KHTTPD_REQ_LENGTH is set
 *
 * All positions are offsets from the first byte given to khttpd_parse().
 */
struct khttpd_request {
	u8 state;
	u8 method;
	u8 major;
	u8 minor;
	u8 step;
	u8 headers;
	u16 error;
	u16 flags;
	u16 pos;
	u16 mark;
	u16 name;
	u16 name_len;
	u16 start;
	u16 path;
	u16 path_len;
	u16 query;
	u16 query_len;
	u16 host;
	u16 host_len;
	u16 head_len;
	u16 present;
	u16 repeated;
	u16 fields;
	u64 content_length;
	struct khttpd_field field[KHTTPD_FIELDS_MAX];
};

/**
 * khttpd_request_reset() - make ready for the next head
 * @req: the request
 */
static inline void khttpd_request_reset(struct khttpd_request *req)
{
	/* Fields that @fields does not count do not matter. */
	memset(req, 0, offsetof(struct khttpd_request, field));
}

/**
 * khttpd_request_has() - was such a field noted?
 * @req: the request
 * @id: which
 */
static inline bool khttpd_request_has(const struct khttpd_request *req,
				      enum khttpd_field_id id)
{
	return req->present & BIT(id);
}

/**
 * khttpd_request_bodiless() - does the head announce no content?
 * @req: a request that is done
 *
 * Return: true if the next request starts right after the head.
 */
static inline bool khttpd_request_bodiless(const struct khttpd_request *req)
{
	if (req->flags & KHTTPD_REQ_CHUNKED)
		return false;
	return !(req->flags & KHTTPD_REQ_LENGTH) || req->content_length == 0;
}

/**
 * khttpd_request_persists() - may the connection serve another request?
 * @req: a request that is done
 *
 * RFC 9112 section 9.3: close wins, 1.1 persists by default, 1.0 on demand.
 */
static inline bool khttpd_request_persists(const struct khttpd_request *req)
{
	if (req->flags & KHTTPD_REQ_CLOSE)
		return false;
	return req->minor > 0 || (req->flags & KHTTPD_REQ_KEEPALIVE);
}

enum khttpd_parse_result khttpd_parse(struct khttpd_request *req,
				      const u8 *buf, size_t len);
bool khttpd_parse_line(struct khttpd_request *req, const u8 *buf, size_t len);
u16 khttpd_field_take(struct khttpd_request *req, const u8 *buf);
const struct khttpd_field *khttpd_field_next(const struct khttpd_request *req,
					     enum khttpd_field_id id,
					     unsigned int *from);
bool khttpd_host_valid(const u8 *host, size_t len);

#endif /* _KHTTPD_PARSE_H */
