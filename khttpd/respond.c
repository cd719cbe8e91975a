// SPDX-License-Identifier: GPL-2.0
/* What a request gets: a file, another reply of ours, or another server. */
#include <linux/mm.h>
#include <linux/slab.h>
#include "khttpd.h"

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
	struct khttpd_ask ask = {
		.conn = conn, .site = conn->listener->site, .end = end,
		.close = close,
	};

	return khttpd_reply_status(&ask, status);
}

/* There is no file for the path: @found says what was found instead. */
static enum khttpd_verdict khttpd_respond_missing(const struct khttpd_ask *ask,
						  struct khttpd_found *found)
{
	const struct khttpd_wish *wish = &ask->conn->thread->wish;
	int error = found->error;

	if (ask->conn->server) {
		if (found->entry)
			khttpd_entry_put(found->entry);
		return KHTTPD_VERDICT_HANDOVER;
	}
	if (error == -EISDIR && wish->dir_len < 0) {
		if (found->entry)
			khttpd_entry_put(found->entry);
		return khttpd_reply_redirect(ask, wish->path.len);
	}
	if (found->page)
		return khttpd_reply_page(ask, found->entry,
					 khttpd_status_of(error));
	/* A directory without index file must not be listed. */
	if (wish->dir_len >= 0 && error == -ENOENT)
		error = -EACCES;
	return khttpd_reply_status(ask, khttpd_status_of(error));
}

/* Set thread->wish to what the request looks for. Return: 0 or an errno. */
static int khttpd_respond_wish(const struct khttpd_ask *ask)
{
	struct khttpd_wish *wish = &ask->conn->thread->wish;
	const struct khttpd_options *options = &ask->site->options;
	const struct khttpd_request *req = &ask->conn->req;

	wish->json = false;
	if (options->precompressed)
		khttpd_accept_codings(req, ask->head, &wish->codings);
	if (!wish->path.dir)
		return 0;
	wish->dir_len = wish->path.len;
	if (options->listing)
		wish->json = khttpd_accept_json(req, ask->head);
	if (!*options->index)
		return options->listing ? 0 : -EACCES;
	return khttpd_path_add_index(&wish->path, options->index) ?
	       0 : -ENAMETOOLONG;
}

/* What there is for thread->wish: at once, or from a worker's result.
 * Return: false if a worker has been asked, and then conn->job is set, or must
 * be asked after the replies collected so far are sent.
 */
static bool khttpd_respond_find(const struct khttpd_ask *ask,
				struct khttpd_found *found)
{
	struct khttpd_conn *conn = ask->conn;
	struct khttpd_thread *thread = conn->thread;
	struct khttpd_job *job = conn->job;

	memset(found, 0, sizeof(*found));
	if (job) {
		*found = job->found;
		memset(&job->found, 0, sizeof(job->found));
		khttpd_job_free(job);
		conn->job = NULL;
		return true;
	}
	if (khttpd_resolve_now(ask->site, &thread->wish, found))
		return true;
	if (thread->batch.replies)
		return false;
	conn->job = khttpd_job_lookup(conn, ask->site, &thread->wish);
	found->error = -ENOMEM;
	return !conn->job;
}

/* GET or HEAD of a well-formed path. */
static enum khttpd_verdict khttpd_respond_path(const struct khttpd_ask *ask)
{
	struct khttpd_thread *thread = ask->conn->thread;
	struct khttpd_found found = {};

	found.error = khttpd_respond_wish(ask);
	if (found.error)
		return khttpd_respond_missing(ask, &found);
	if (!khttpd_respond_find(ask, &found))
		return ask->conn->job ? KHTTPD_VERDICT_JOB :
					KHTTPD_VERDICT_FLUSH;
	if (found.text) {
		if (!ask->conn->server)
			return khttpd_reply_listing(ask, found.text, found.len,
						    thread->wish.json);
		kvfree(found.text);
		return KHTTPD_VERDICT_HANDOVER;
	}
	if (found.error)
		return khttpd_respond_missing(ask, &found);
	return khttpd_reply_file(ask, found.entry);
}

/* Does a cookie say that the request is the server's? */
static bool khttpd_respond_cookie(const struct khttpd_ask *ask)
{
	const struct khttpd_request *req = &ask->conn->req;
	const struct khttpd_field *field;
	unsigned int from = 0;

	while ((field = khttpd_field_next(req, KHTTPD_FIELD_COOKIE, &from))) {
		if (khttpd_rules_cookie(ask->site->options.rules,
					ask->head + field->at, field->len))
			return true;
	}
	return false;
}

/* What the site's rules say. What is the server's does not exist without. */
static enum khttpd_verdict khttpd_respond_rules(const struct khttpd_ask *ask)
{
	struct khttpd_path *path = &ask->conn->thread->wish.path;
	const struct khttpd_rules *rules = ask->site->options.rules;
	struct khttpd_found found = { .error = -ENOENT };
	enum khttpd_rule_kind action;
	size_t len = path->len;

	if (ask->conn->server && khttpd_respond_cookie(ask))
		return KHTTPD_VERDICT_HANDOVER;
	/* There is room for it, see khttpd_path_normalise(). */
	if (path->dir && len)
		path->name[len++] = '/';
	action = khttpd_rules_action(rules, path->name, len);
	path->name[path->len] = '\0';
	switch (action) {
	case KHTTPD_RULE_PASS:
		return khttpd_respond_missing(ask, &found);
	case KHTTPD_RULE_DENY:
		return khttpd_reply_status(ask, 403);
	default:
		return khttpd_respond_path(ask);
	}
}

static enum khttpd_verdict khttpd_respond_get(const struct khttpd_ask *ask)
{
	const struct khttpd_request *req = &ask->conn->req;
	struct khttpd_wish *wish = &ask->conn->thread->wish;
	struct khttpd_found found = { .error = -ENOENT };
	struct khttpd_ask bad;

	wish->dir_len = -1;
	switch (khttpd_path_normalise(&wish->path, ask->head + req->path,
				      req->path_len)) {
	case KHTTPD_PATH_OK:
		return ask->site->options.rules ? khttpd_respond_rules(ask) :
						  khttpd_respond_path(ask);
	case KHTTPD_PATH_NONE:
		return khttpd_respond_missing(ask, &found);
	default:
		khttpd_count(bad_paths);
		bad = *ask;
		bad.close = true;
		return khttpd_reply_status(&bad, 400);
	}
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
	struct khttpd_request *req = &conn->req;
	bool bodiless = khttpd_request_bodiless(req);
	struct khttpd_ask ask = {
		.conn = conn,
		.site = conn->listener->site,
		.head = head,
		.end = end,
		/* A body that nobody here reads ends the connection. */
		.close = !bodiless || !khttpd_request_persists(req),
	};
	enum khttpd_verdict verdict;

	if (!khttpd_batch_has_room(&conn->thread->batch))
		return KHTTPD_VERDICT_FLUSH;
	if (conn->server && (!bodiless || (req->flags & KHTTPD_REQ_WEBSOCKET)))
		return KHTTPD_VERDICT_HANDOVER;
	if (!bodiless)
		conn->unread = true;

	switch (req->method) {
	case KHTTPD_METHOD_GET:
	case KHTTPD_METHOD_HEAD:
		ask.site = khttpd_vhost_get(conn->listener->site,
					    head + req->host, req->host_len);
		verdict = khttpd_respond_get(&ask);
		khttpd_site_put(ask.site);
		return verdict;
	case KHTTPD_METHOD_OPTIONS:
		return conn->server ? KHTTPD_VERDICT_HANDOVER :
				      khttpd_reply_options(&ask);
	default:
		if (conn->server)
			return KHTTPD_VERDICT_HANDOVER;
		return khttpd_reply_status(&ask,
			req->method == KHTTPD_METHOD_KNOWN ? 405 : 501);
	}
}
