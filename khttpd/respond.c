// SPDX-License-Identifier: GPL-2.0
/* What a request gets: a file, a redirect, an error, or another server. */
#include <linux/slab.h>
#include "khttpd.h"

struct khttpd_status {
	u16 code;
	const char *reason;
};

static const struct khttpd_status khttpd_statuses[] = {
	{ 301, "Moved Permanently" },
	{ 400, "Bad Request" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
};

static const char *khttpd_reason(u16 code)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(khttpd_statuses); i++) {
		if (khttpd_statuses[i].code == code)
			return khttpd_statuses[i].reason;
	}
	return "Error";
}

static enum khttpd_tail khttpd_tail_for(const struct khttpd_request *req,
					bool close)
{
	if (close)
		return KHTTPD_TAIL_CLOSE;
	return req->minor ? KHTTPD_TAIL_PLAIN : KHTTPD_TAIL_KEEPALIVE;
}

/* Write a reply without file. @field is a header field with CRLF, or empty. */
static enum khttpd_verdict khttpd_respond_text(struct khttpd_conn *conn,
					       u16 code, const char *field,
					       bool close, u32 end)
{
	enum khttpd_tail tail = khttpd_tail_for(&conn->req, close);
	struct khttpd_thread *thread = conn->thread;
	const char *reason = khttpd_reason(code);
	enum khttpd_stat stat;
	size_t room, len;
	char body[192];
	char *text;

	if (!khttpd_batch_has_room(&thread->batch))
		return KHTTPD_VERDICT_FLUSH;
	scnprintf(body, sizeof(body),
		  "<!DOCTYPE html><title>%u %s</title><h1>%u %s</h1>\n",
		  code, reason, code, reason);
	text = khttpd_batch_text(&thread->batch, &room);
	len = snprintf(text, room,
		       "HTTP/1.1 %u %s\r\n"
		       "Server: khttpd\r\n"
		       "Content-Type: text/html\r\n"
		       "Content-Length: %zu\r\n"
		       "%sDate: %.*s%s",
		       code, reason, strlen(body), field,
		       thread->tail_len[tail], thread->tail[tail],
		       conn->req.method == KHTTPD_METHOD_HEAD ? "" : body);
	if (len >= room)
		return thread->batch.replies ? KHTTPD_VERDICT_FLUSH :
					       KHTTPD_VERDICT_ABORT;
	stat = code == 301 ? KHTTPD_STAT_replies_redirect :
			     KHTTPD_STAT_replies_error;
	khttpd_batch_add_text(conn, len, close, stat, end);
	return close ? KHTTPD_VERDICT_SEND : KHTTPD_VERDICT_NEXT;
}

/**
 * khttpd_respond_status() - answer with an error
 * @conn: the connection
 * @status: HTTP status
 * @close: end the connection with it
 * @end: offset behind the request in the buffer
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_respond_status(struct khttpd_conn *conn, u16 status,
					  bool close, u32 end)
{
	/* RFC 9110 section 15.5.6: 405 MUST come with Allow. */
	const char *field = status == 405 ? "Allow: GET, HEAD\r\n" : "";

	if (close)
		conn->unread = true;
	return khttpd_respond_text(conn, status, field, close, end);
}

/* Send the client to the same path with "/" behind it. */
static enum khttpd_verdict khttpd_respond_redirect(struct khttpd_conn *conn,
						   const u8 *head, bool close,
						   u32 end)
{
	const struct khttpd_path *path = &conn->thread->path;
	struct khttpd_request *req = &conn->req;
	enum khttpd_verdict verdict;
	size_t size, len;
	char *field;

	size = 3 * path->len + req->query_len + 32;
	field = kmalloc(size, GFP_KERNEL);
	if (!field)
		return khttpd_respond_status(conn, 503, true, end);
	len = scnprintf(field, size, "Location: /");
	len += khttpd_path_encode(field + len, size - len, path->name,
				  path->len);
	snprintf(field + len, size - len, "/%.*s\r\n", req->query_len,
		 head + req->query);
	if (len + req->query_len > KHTTPD_TEXT_SIZE / 2)
		verdict = khttpd_respond_status(conn, 414, true, end);
	else
		verdict = khttpd_respond_text(conn, 301, field, close, end);
	kfree(field);
	return verdict;
}

static u16 khttpd_status_of(int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
	case -EXDEV:
		return 403;
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

/* There is no file for this path: @err says what was found instead. */
static enum khttpd_verdict khttpd_respond_missing(struct khttpd_conn *conn,
						  const u8 *head, int err,
						  bool dir, bool close, u32 end)
{
	if (conn->listener->attached)
		return KHTTPD_VERDICT_HANDOVER;
	if (err == -EISDIR && !dir)
		return khttpd_respond_redirect(conn, head, close, end);
	if (err == -EISDIR)
		err = -ENOENT;
	return khttpd_respond_status(conn, khttpd_status_of(err), close, end);
}

/* The entry for thread->path: from the cache, or from a worker's result.
 * Return: NULL if a worker has been asked, and then conn->job is set, or must
 * be asked after the replies collected so far are sent.
 */
static struct khttpd_entry *khttpd_respond_entry(struct khttpd_conn *conn)
{
	struct khttpd_path *path = &conn->thread->path;
	struct khttpd_site *site = conn->listener->site;
	struct khttpd_job *job = conn->job;
	struct khttpd_entry *entry;
	int err;

	if (job) {
		entry = job->error ? ERR_PTR(job->error) : job->entry;
		job->entry = NULL;
		khttpd_job_free(job);
		conn->job = NULL;
		return entry;
	}
	entry = khttpd_cache_find(site, path);
	if (entry)
		return entry;
	err = khttpd_lookup_try(site, path);
	if (err != -EAGAIN)
		return ERR_PTR(err);
	if (conn->thread->batch.replies)
		return NULL;
	conn->job = khttpd_job_lookup(conn, path);
	return conn->job ? NULL : ERR_PTR(-ENOMEM);
}

/* GET or HEAD of a well-formed path. */
static enum khttpd_verdict khttpd_respond_path(struct khttpd_conn *conn,
					       const u8 *head, bool close,
					       u32 end)
{
	struct khttpd_path *path = &conn->thread->path;
	const char *index = conn->listener->site->index;
	struct khttpd_entry *entry;
	bool dir = path->dir;

	if (dir && !*index)
		return khttpd_respond_missing(conn, head, -EACCES, dir, close,
					      end);
	if (dir && !khttpd_path_add_index(path, index))
		return khttpd_respond_missing(conn, head, -ENAMETOOLONG, dir,
					      close, end);
	entry = khttpd_respond_entry(conn);
	if (!entry)
		return conn->job ? KHTTPD_VERDICT_JOB : KHTTPD_VERDICT_FLUSH;
	/* A directory without index file must not be listed. */
	if (dir && PTR_ERR_OR_ZERO(entry) == -ENOENT)
		entry = ERR_PTR(-EACCES);
	if (IS_ERR(entry))
		return khttpd_respond_missing(conn, head, PTR_ERR(entry), dir,
					      close, end);
	return khttpd_batch_file(conn, entry,
				 khttpd_tail_for(&conn->req, close), end);
}

/**
 * khttpd_respond() - answer a request whose framing is certain
 * @conn: the connection; conn->req is done
 * @head: the head's first byte
 * @end: offset behind it in the buffer
 *
 * Return: enum khttpd_verdict. After _FLUSH and _JOB it must be called again.
 */
enum khttpd_verdict khttpd_respond(struct khttpd_conn *conn, const u8 *head,
				   u32 end)
{
	bool attached = conn->listener->attached;
	struct khttpd_request *req = &conn->req;
	bool bodiless = khttpd_request_bodiless(req);
	struct khttpd_thread *thread = conn->thread;
	bool close;

	if (!khttpd_batch_has_room(&thread->batch))
		return KHTTPD_VERDICT_FLUSH;

	/* A body that nobody here reads ends the connection. */
	close = !bodiless || !khttpd_request_persists(req);
	if (attached && (!bodiless || (req->flags & KHTTPD_REQ_WEBSOCKET)))
		return KHTTPD_VERDICT_HANDOVER;
	if (req->method != KHTTPD_METHOD_GET &&
	    req->method != KHTTPD_METHOD_HEAD) {
		if (attached)
			return KHTTPD_VERDICT_HANDOVER;
		return khttpd_respond_status(conn,
			req->method == KHTTPD_METHOD_KNOWN ? 405 : 501, close,
			end);
	}
	if (!bodiless)
		conn->unread = true;

	switch (khttpd_path_normalise(&thread->path, head + req->path,
				      req->path_len)) {
	case KHTTPD_PATH_OK:
		return khttpd_respond_path(conn, head, close, end);
	case KHTTPD_PATH_NONE:
		return khttpd_respond_missing(conn, head, -ENOENT, false,
					      close, end);
	default:
		khttpd_count(bad_paths);
		return khttpd_respond_status(conn, 400, true, end);
	}
}
