// SPDX-License-Identifier: GPL-2.0
/* Replies as they are written: a file or parts of it, "not modified", errors,
 * redirects, listings.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "../http/added.h"
#include "../http/condition.h"
#include "../http/ruled.h"
#include "../http/status.h"
#include "../observe/log.h"
#include "conn.h"

static void khttpd_reply_log(const struct khttpd_ask *ask, u16 status,
			     u64 bytes)
{
	if (likely(!ask->conn->repeats))
		khttpd_log(ask->conn->sock->sk, ask->conn->client, ask->site->name, &ask->conn->req,
			   ask->head, status, bytes);
}

static enum khttpd_verdict khttpd_reply_done(const struct khttpd_ask *ask)
{
	return ask->close ? KHTTPD_VERDICT_SEND : KHTTPD_VERDICT_NEXT;
}

/* No room for the text: there will be when the batch is empty. */
static enum khttpd_verdict khttpd_reply_room(const struct khttpd_ask *ask)
{
	return ask->conn->thread->batch.replies ? KHTTPD_VERDICT_FLUSH :
						  KHTTPD_VERDICT_ABORT;
}

/* RFC 6797 section 7.2: a site MUST NOT say it but over TLS. Return: NULL if it is not said. */
static const char *khttpd_reply_hsts(const struct khttpd_ask *ask)
{
	if (likely(!ask->conn->tls) || !*ask->site->options.hsts)
		return NULL;
	return ask->site->options.hsts;
}

/* A header up to its end: status, then @fields, HSTS, the date. Return: its length, 0 if there was
 * no room.
 */
__printf(5, 6)
static size_t khttpd_reply_head(const struct khttpd_ask *ask, u16 code,
				char *text, size_t room, const char *fields,
				...)
{
	struct khttpd_thread *thread = ask->conn->thread;
	enum khttpd_tail tail = khttpd_tails_choose(&ask->conn->req, ask->close);
	const char *hsts = khttpd_reply_hsts(ask);
	va_list args;
	size_t len;

	len = scnprintf(text, room, "HTTP/1.1 %u %s\r\nServer: khttpd\r\n",
			code, khttpd_status_reason(code));
	va_start(args, fields);
	len += vscnprintf(text + len, room - len, fields, args);
	va_end(args);
	if (unlikely(hsts)) {
		if (room - len <= KHTTPD_HSTS_FIELD)
			return 0;
		len += khttpd_tails_hsts(hsts, text + len);
	}
	len += scnprintf(text + len, room - len, "Date: %.*s",
			 thread->tails.len[tail], thread->tails.text[tail]);
	return len + 1 < room ? len : 0;
}

/* A reply with a canned body. @field is a header field with CRLF, or empty. */
static enum khttpd_verdict khttpd_reply_text(const struct khttpd_ask *ask,
					     u16 code, const char *field)
{
	struct khttpd_batch *batch = &ask->conn->thread->batch;
	const char *reason = khttpd_status_reason(code);
	enum khttpd_stat stat;
	size_t room, len;
	char body[192];
	char *text;

	if (!khttpd_batch_has_room(batch))
		return KHTTPD_VERDICT_FLUSH;
	scnprintf(body, sizeof(body),
		  "<!DOCTYPE html><title>%u %s</title><h1>%u %s</h1>\n",
		  code, reason, code, reason);
	text = khttpd_batch_text(batch, &room);
	len = khttpd_reply_head(ask, code, text, room,
				"Content-Type: text/html\r\n"
				"Content-Length: %zu\r\n%s", strlen(body),
				field);
	if (!len || len + strlen(body) >= room)
		return khttpd_reply_room(ask);
	if (ask->conn->req.method != KHTTPD_METHOD_HEAD) {
		strcpy(text + len, body);
		len += strlen(body);
	}
	stat = code < 400 ? KHTTPD_STAT_replies_redirect : KHTTPD_STAT_replies_error;
	khttpd_batch_add_text(ask->conn, len, ask->close, stat, ask->end);
	khttpd_reply_log(ask, code, strlen(body));
	return khttpd_reply_done(ask);
}

/* The field that goes with an error, with CRLF, or "". */
static const char *khttpd_reply_field(const struct khttpd_ask *ask, u16 status,
				      char *text, size_t room)
{
	switch (status) {
	case 405:
		/* RFC 9110 section 15.5.6: it MUST come with Allow. */
		return "Allow: GET, HEAD, OPTIONS\r\n";
	case 416:
		/* Section 15.5.17: it SHOULD tell the length. */
		scnprintf(text, room, "Content-Range: bytes */%llu\r\n",
			  ask->size);
		return text;
	case 429:
	case 503:
		return "Retry-After: 1\r\n";
	default:
		return "";
	}
}

#define KHTTPD_ERROR_FIELD	64

/**
 * khttpd_reply_status() - answer with an error
 * @ask: the request
 * @status: HTTP status
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_reply_status(const struct khttpd_ask *ask,
					u16 status)
{
	char field[KHTTPD_ERROR_FIELD];

	if (ask->close)
		ask->conn->unread = true;
	return khttpd_reply_text(ask, status,
				 khttpd_reply_field(ask, status, field,
						    sizeof(field)));
}

/* The fields that rules add for a path; @room suffices. */
static void khttpd_reply_added(const struct khttpd_ask *ask, const struct khttpd_path *path,
			       char *text, size_t room)
{
	unsigned int from = 0;
	const char *field;
	size_t n, len = 0;

	while ((field = khttpd_added_next(ask->site->options.rules, path->name, path->len, &from,
					  &n)))
		len += scnprintf(text + len, room - len, "%.*s\r\n", (int)n, field);
}

/**
 * khttpd_reply_options() - say what can be asked for
 * @ask: an OPTIONS request
 * @path: what it is about, or NULL. A browser asks so before a request to another site's server
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_reply_options(const struct khttpd_ask *ask,
					 const struct khttpd_path *path)
{
	struct khttpd_batch *batch = &ask->conn->thread->batch;
	char added[KHTTPD_ADDED_SIZE + 1] = "";
	size_t room, len;
	char *text;

	if (path)
		khttpd_reply_added(ask, path, added, sizeof(added));
	text = khttpd_batch_text(batch, &room);
	len = khttpd_reply_head(ask, 204, text, room, "Allow: GET, HEAD, OPTIONS\r\n%s", added);
	if (!len)
		return khttpd_reply_room(ask);
	khttpd_batch_add_text(ask->conn, len, ask->close,
			      KHTTPD_STAT_replies_other, ask->end);
	khttpd_reply_log(ask, 204, 0);
	return khttpd_reply_done(ask);
}

/**
 * khttpd_reply_redirect() - to the same path with "/" behind it
 * @ask: the request
 * @dir_len: length of the directory's path in the thread's wish
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_reply_redirect(const struct khttpd_ask *ask,
					  size_t dir_len)
{
	const struct khttpd_path *path = &ask->conn->thread->wish.path;
	const struct khttpd_request *req = &ask->conn->req;
	enum khttpd_verdict verdict;
	size_t size, len;
	char *field;

	size = 3 * dir_len + req->query_len + 32;
	field = kmalloc(size, GFP_KERNEL);
	if (!field)
		return khttpd_reply_status(ask, 503);
	len = scnprintf(field, size, "Location: /");
	len += khttpd_path_encode(field + len, size - len, path->name, dir_len);
	snprintf(field + len, size - len, "/%.*s\r\n", req->query_len,
		 ask->head + req->query);
	if (len + req->query_len > KHTTPD_TEXT_SIZE / 2)
		verdict = khttpd_reply_status(ask, 414);
	else
		verdict = khttpd_reply_text(ask, 301, field);
	kfree(field);
	return verdict;
}

/* As long as a batch may have room for. */
#define KHTTPD_LOCATION_MAX	(KHTTPD_TEXT_SIZE / 2)

/**
 * khttpd_reply_moved() - to where a rule of the site says
 * @ask: a GET or HEAD; the path of the thread's wish has such a rule
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_reply_moved(const struct khttpd_ask *ask)
{
	static const char name[] = "Location: ";
	const struct khttpd_request *req = &ask->conn->req;
	enum khttpd_verdict verdict;
	size_t at = strlen(name), len;
	bool query = false;
	u16 status = 0;
	char *field;

	field = kmalloc(KHTTPD_LOCATION_MAX, GFP_KERNEL);
	if (!field)
		return khttpd_reply_status(ask, 503);
	memcpy(field, name, at);
	len = khttpd_ruled_location(ask->site->options.rules, &ask->conn->thread->wish.path,
				    field + at, KHTTPD_LOCATION_MAX - at, &query, &status);
	if (!len || at + len + req->query_len + 3 > KHTTPD_LOCATION_MAX) {
		verdict = khttpd_reply_status(ask, 414);
	} else {
		sprintf(field + at + len, "%.*s\r\n", query ? req->query_len : 0,
			ask->head + req->query);
		verdict = khttpd_reply_text(ask, status, field);
	}
	kfree(field);
	return verdict;
}

/* To @host with HTTPS, the same path and query. Return: its length, not more than @size. */
static size_t khttpd_reply_location(const struct khttpd_ask *ask, size_t host_len, char *field,
				    size_t size)
{
	const struct khttpd_request *req = &ask->conn->req;
	u16 port = ask->conn->listener->redirect;
	size_t len;

	len = scnprintf(field, size, "Location: https://%.*s", (int)host_len,
			ask->head + req->host);
	if (port != 443)
		len += scnprintf(field + len, size - len, ":%u", port);
	return len + scnprintf(field + len, size - len, "%.*s%.*s\r\n", req->path_len ?: 1,
			       req->path_len ? (const char *)ask->head + req->path : "/",
			       req->query_len, ask->head + req->query);
}

/**
 * khttpd_reply_https() - to the same place with HTTPS
 * @ask: the request
 *
 * A client may say any host, so only what can be a name of the DNS, or an address, is said back.
 * RFC 9110 section 15.4.2: by 301 a POST may become a GET; by 308 no method changes.
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_reply_https(const struct khttpd_ask *ask)
{
	const struct khttpd_request *req = &ask->conn->req;
	size_t host_len = khttpd_https_host(ask->head + req->host, req->host_len), size, len;
	bool safe = req->method == KHTTPD_METHOD_GET || req->method == KHTTPD_METHOD_HEAD;
	enum khttpd_verdict verdict;
	struct khttpd_ask bad;
	char *field;

	if (!host_len || req->flags & KHTTPD_REQ_NOPATH) {
		bad = *ask;
		bad.close = true;
		return khttpd_reply_status(&bad, 400);
	}
	size = host_len + req->path_len + req->query_len + 32;
	field = kmalloc(size, GFP_KERNEL);
	if (!field)
		return khttpd_reply_status(ask, 503);
	len = khttpd_reply_location(ask, host_len, field, size);
	if (len > KHTTPD_TEXT_SIZE / 2)
		verdict = khttpd_reply_status(ask, 414);
	else
		verdict = khttpd_reply_text(ask, safe ? 301 : 308, field);
	kfree(field);
	return verdict;
}

/**
 * khttpd_reply_made() - send a text that was made for this request
 * @ask: the request
 * @body: the text (kvmalloc), this function's now
 * @len: its length
 * @type: its media type
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_reply_made(const struct khttpd_ask *ask, char *body,
				      size_t len, const char *type)
{
	bool head = ask->conn->req.method == KHTTPD_METHOD_HEAD;
	size_t room = 512 + KHTTPD_HSTS_FIELD, head_len;
	char *text;

	text = kvmalloc(room + len, GFP_KERNEL);
	if (!text) {
		kvfree(body);
		return khttpd_reply_status(ask, 503);
	}
	head_len = khttpd_reply_head(ask, 200, text, room,
				     "Content-Type: %s\r\n"
				     "Content-Length: %zu\r\n"
				     "Cache-Control: no-cache\r\n"
				     "Vary: Accept\r\n", type, len);
	if (!head)
		memcpy(text + head_len, body, len);
	kvfree(body);
	khttpd_reply_log(ask, 200, len);
	khttpd_batch_data(ask->conn, text, head_len + (head ? 0 : len),
			  ask->close, KHTTPD_STAT_replies_other, ask->end);
	return KHTTPD_VERDICT_SEND;
}

/* Length of the entry's own fields that a 304 has too. */
static int khttpd_reply_meta(const struct khttpd_entry *entry)
{
	return entry->header_len - strlen("Date: ") - entry->meta_at;
}

/* Its "Expires" line is written to @text. Return: its length, or 0. */
static int khttpd_reply_expires(const struct khttpd_ask *ask,
				const struct khttpd_entry *entry, char *text)
{
	u32 len = khttpd_tails_expires(entry, ask->conn->thread->tails.second,
				       text);

	return len ? len - strlen("Date: ") : 0;
}

/**
 * khttpd_reply_page() - answer an error with a page of the site
 * @ask: the request
 * @entry: the page; the reference is this function's now
 * @status: the error
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_reply_page(const struct khttpd_ask *ask,
				      struct khttpd_entry *entry, u16 status)
{
	struct khttpd_range range = { 0, entry->size };
	char field[KHTTPD_ERROR_FIELD];
	size_t room, len;
	char *text;

	text = khttpd_batch_text(&ask->conn->thread->batch, &room);
	len = khttpd_reply_head(ask, status, text, room, "%.*s%.*s%s",
				entry->coding_at - entry->type_at,
				entry->header + entry->type_at,
				entry->meta_at - entry->length_at,
				entry->header + entry->length_at,
				khttpd_reply_field(ask, status, field,
						   sizeof(field)));
	if (!len) {
		khttpd_entry_put(entry);
		return khttpd_reply_room(ask);
	}
	if (ask->close)
		ask->conn->unread = true;
	khttpd_reply_log(ask, status, entry->size);
	khttpd_batch_part(ask->conn, entry, len, &range, NULL, ask->close,
			  KHTTPD_STAT_replies_error, ask->end);
	return KHTTPD_VERDICT_SEND;
}

/* 304 has no body of the file, but its validators. */
static enum khttpd_verdict khttpd_reply_unchanged(const struct khttpd_ask *ask,
						  struct khttpd_entry *entry)
{
	char expires[KHTTPD_EXPIRES_SIZE];
	size_t room, len;
	char *text;

	text = khttpd_batch_text(&ask->conn->thread->batch, &room);
	len = khttpd_reply_head(ask, 304, text, room, "%.*s%.*s",
				khttpd_reply_meta(entry),
				entry->header + entry->meta_at,
				khttpd_reply_expires(ask, entry, expires),
				expires);
	khttpd_entry_put(entry);
	if (!len)
		return khttpd_reply_room(ask);
	khttpd_batch_add_text(ask->conn, len, ask->close,
			      KHTTPD_STAT_replies_unchanged, ask->end);
	khttpd_reply_log(ask, 304, 0);
	return khttpd_reply_done(ask);
}

static enum khttpd_verdict khttpd_reply_parts(const struct khttpd_ask *ask,
					      struct khttpd_entry *entry,
					      struct khttpd_parts *parts)
{
	char expires[KHTTPD_EXPIRES_SIZE];
	int expires_len = khttpd_reply_expires(ask, entry, expires);
	struct khttpd_range none = {};
	struct khttpd_range *range = &none;
	size_t room, len;
	char *text;

	text = khttpd_batch_text(&ask->conn->thread->batch, &room);
	if (parts->count > 1) {
		parts->boundary = get_random_u64();
		len = khttpd_reply_head(ask, 206, text, room,
					"Content-Type: %s; boundary=%016llx\r\n"
					"%.*sContent-Length: %llu\r\n%.*s%.*s",
					"multipart/byteranges",
					parts->boundary,
					entry->length_at - entry->coding_at,
					entry->header + entry->coding_at,
					khttpd_parts_length(parts, entry),
					khttpd_reply_meta(entry),
					entry->header + entry->meta_at,
					expires_len, expires);
	} else {
		range = &parts->range[0];
		len = khttpd_reply_head(ask, 206, text, room,
					"%.*sContent-Length: %llu\r\n"
					"Content-Range: bytes %llu-%llu/%llu\r\n"
					"%.*s%.*s",
					entry->length_at - entry->type_at,
					entry->header + entry->type_at,
					range->end - range->from, range->from,
					range->end - 1, (u64)entry->size,
					khttpd_reply_meta(entry),
					entry->header + entry->meta_at,
					expires_len, expires);
	}
	if (!len) {
		kfree(parts);
		khttpd_entry_put(entry);
		return khttpd_reply_room(ask);
	}
	none = *range;
	khttpd_reply_log(ask, 206, parts->count > 1 ?
		   khttpd_parts_length(parts, entry) : none.end - none.from);
	if (parts->count == 1) {
		kfree(parts);
		parts = NULL;
	}
	khttpd_batch_part(ask->conn, entry, len, &none, parts, ask->close,
			  KHTTPD_STAT_replies_part, ask->end);
	return KHTTPD_VERDICT_SEND;
}

/* A Range that applies? RFC 9110 section 14.2: GET only. */
static enum khttpd_ranges khttpd_reply_ranges(const struct khttpd_ask *ask,
					      struct khttpd_entry *entry,
					      const struct khttpd_validators *is,
					      struct khttpd_parts *parts)
{
	const struct khttpd_request *req = &ask->conn->req;
	const struct khttpd_field *field;
	unsigned int from = 0;

	if (req->method != KHTTPD_METHOD_GET ||
	    (req->repeated & BIT(KHTTPD_FIELD_RANGE)) ||
	    !khttpd_condition_range(req, ask->head, is))
		return KHTTPD_RANGES_IGNORE;
	field = khttpd_field_next(req, KHTTPD_FIELD_RANGE, &from);
	return khttpd_ranges_parse(ask->head + field->at, field->len,
				   entry->size, parts->range, &parts->count);
}

/* The request has conditions or ranges. Return: false if they do not matter, or do
 * not hold. In the second case @error is the status.
 */
static bool khttpd_reply_special(const struct khttpd_ask *ask,
				 struct khttpd_entry *entry,
				 enum khttpd_verdict *verdict, u16 *error)
{
	const struct khttpd_request *req = &ask->conn->req;
	struct khttpd_validators is =
		khttpd_entry_validators(entry, ask->conn->thread->tails.second);
	enum khttpd_ranges ranges = KHTTPD_RANGES_IGNORE;
	struct khttpd_parts *parts;

	switch (khttpd_condition(req, ask->head, &is)) {
	case KHTTPD_CONDITION_UNCHANGED:
		*verdict = khttpd_reply_unchanged(ask, entry);
		return true;
	case KHTTPD_CONDITION_FAILED:
		*error = 412;
		return false;
	default:
		break;
	}
	if (!khttpd_request_has(req, KHTTPD_FIELD_RANGE))
		return false;
	/* Without memory the whole file is as good an answer. */
	parts = kzalloc(sizeof(*parts), GFP_KERNEL);
	if (parts)
		ranges = khttpd_reply_ranges(ask, entry, &is, parts);
	if (ranges == KHTTPD_RANGES_PART) {
		*verdict = khttpd_reply_parts(ask, entry, parts);
		return true;
	}
	kfree(parts);
	if (ranges == KHTTPD_RANGES_NONE)
		*error = 416;
	return false;
}

/**
 * khttpd_reply_file() - answer with a file
 * @ask: a GET or HEAD
 * @entry: the file; the reference is this function's now, but if @error is set
 * @error: set to 412 or 416 if that is the answer; nothing is done then
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_reply_file(const struct khttpd_ask *ask,
				      struct khttpd_entry *entry, u16 *error)
{
	enum khttpd_verdict verdict;

	if ((ask->conn->req.present &
	     (KHTTPD_CONDITIONS | BIT(KHTTPD_FIELD_RANGE))) &&
	    khttpd_reply_special(ask, entry, &verdict, error))
		return verdict;
	if (unlikely(*error))
		return KHTTPD_VERDICT_ABORT;
	khttpd_reply_log(ask, 200, entry->size);
	return khttpd_batch_file(ask->conn, entry,
				 khttpd_tails_choose(&ask->conn->req, ask->close),
				 khttpd_reply_hsts(ask), ask->end);
}
