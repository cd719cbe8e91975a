// SPDX-License-Identifier: GPL-2.0
/* What a request gets: a file, another reply of ours, or another server. */
#include <linux/mm.h>
#include <linux/slab.h>
#include "../files/vhost.h"
#include "../http/accept.h"
#include "../http/access.h"
#include "../http/ruled.h"
#include "../http/status.h"
#include "../listen/listener.h"
#include "../listen/peer.h"
#include "../listen/tls.h"
#include "../observe/statuspage.h"
#include "../soft/soft.h"
#include "conn.h"

/* The path has no file. @found says what was found instead, which may be a page for the error.
 */
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
	return khttpd_reply_status(ask, khttpd_status_of(error));
}

/* Set thread->wish to what the request looks for. Return: 0 or an errno. */
static int khttpd_respond_wish(const struct khttpd_ask *ask)
{
	struct khttpd_wish *wish = &ask->conn->thread->wish;
	const struct khttpd_options *options = &ask->site->options;
	const struct khttpd_request *req = &ask->conn->req;

	wish->json = false;
	wish->fallback = false;
	/* Where a file may stand in, it matters that a directory is there. */
	wish->server = ask->conn->server && !(options->rules &&
			options->rules->kinds & BIT(KHTTPD_RULE_FALLBACK));
	if (options->precompressed)
		khttpd_accept_codings(req, ask->head, &wish->codings);
	if (!wish->path.dir)
		return 0;
	khttpd_thread_path_gone(ask->conn->thread);
	wish->dir_len = wish->path.len;
	if (options->listing)
		wish->json = khttpd_accept_json(req, ask->head);
	if (!*options->index)
		return ask->conn->server ? -EACCES : 0;
	return khttpd_path_add_index(&wish->path, options->index) ?
	       0 : -ENAMETOOLONG;
}

/* Is that job's result what is looked for? Not if the site has taken another form
 * since, which may say something else about the request.
 */
static bool khttpd_respond_awaited(const struct khttpd_ask *ask,
				   const struct khttpd_job *job)
{
	return job->site == ask->site &&
	       job->wish.status == ask->conn->thread->wish.status;
}

/* The file that answered the same head before, if it is still the one. */
static struct khttpd_entry *khttpd_respond_repeat(const struct khttpd_ask *ask)
{
	struct khttpd_thread *thread = ask->conn->thread;
	struct khttpd_entry *entry;

	if (!thread->memo->last || thread->wish.status || thread->wish.fallback)
		return NULL;
	rcu_read_lock();
	entry = khttpd_memo_repeat(thread->memo, ask->site);
	if (entry)
		refcount_inc(&entry->refs);
	rcu_read_unlock();
	return entry;
}

/* As khttpd_resolve_now(), and remember the file if the same head may come again. */
static bool khttpd_respond_now(const struct khttpd_ask *ask,
			       struct khttpd_found *found)
{
	struct khttpd_thread *thread = ask->conn->thread;
	unsigned long departures = khttpd_cache_departures();

	found->entry = khttpd_respond_repeat(ask);
	if (found->entry)
		return true;
	if (!khttpd_resolve_now(ask->site, &thread->wish, found))
		return false;
	if (found->entry && !found->page && !thread->wish.fallback &&
	    khttpd_memo_lasts(thread->memo, found->entry)) {
		thread->memo->last = found->entry;
		thread->memo->departures = departures;
	}
	return true;
}

/* Find what thread->wish asks for: at once, or from a worker's result.
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
	if (job && khttpd_respond_awaited(ask, job)) {
		*found = job->found;
		memset(&job->found, 0, sizeof(job->found));
		khttpd_job_drop(conn);
		return true;
	}
	khttpd_job_drop(conn);
	if (khttpd_respond_now(ask, found))
		return true;
	if (thread->batch.replies)
		return false;
	conn->job = khttpd_job_lookup(conn, ask->site, &thread->wish);
	found->error = -ENOMEM;
	return !conn->job;
}

/* An error, with the page that the site may have for it. */
static enum khttpd_verdict khttpd_respond_error(const struct khttpd_ask *ask,
						u16 status)
{
	struct khttpd_conn *conn = ask->conn;
	struct khttpd_found found;
	size_t len;

	if (likely(!khttpd_rules_error(ask->site->options.rules, status, &len)))
		return khttpd_reply_status(ask, status);
	khttpd_thread_path_gone(conn->thread);
	conn->thread->wish.status = status;
	conn->thread->wish.size = ask->size;
	if (!khttpd_respond_find(ask, &found))
		return conn->job ? KHTTPD_VERDICT_JOB : KHTTPD_VERDICT_FLUSH;
	if (!found.page)
		return khttpd_reply_status(ask, status);
	return khttpd_reply_page(ask, found.entry, status);
}

/**
 * khttpd_respond_refused() - answer with an error, and end the connection
 * @conn: the connection
 * @head: the first byte of a head that is whole, else NULL. Without a head nobody knows which of
 *	the sites behind the listener's is meant
 * @status: HTTP status
 * @end: offset behind the request in the buffer
 *
 * Return: enum khttpd_verdict. After _FLUSH and _JOB it must be called again.
 */
enum khttpd_verdict khttpd_respond_refused(struct khttpd_conn *conn,
					   const u8 *head, u16 status, u32 end)
{
	const struct khttpd_request *req = &conn->req;
	struct khttpd_ask ask = {
		.conn = conn, .head = head, .end = end, .close = true,
	};
	enum khttpd_verdict verdict;

	if (!khttpd_batch_has_room(&conn->thread->batch))
		return KHTTPD_VERDICT_FLUSH;
	ask.site = khttpd_listener_site(conn->listener,
					head ? head + req->host : NULL,
					head ? req->host_len : 0);
	verdict = khttpd_respond_error(&ask, status);
	khttpd_site_put(ask.site);
	return verdict;
}

/* Does a rule of the site deny what is known of the path? All of it may be any path. A site that
 * blocks clients has nothing passed by it.
 */
static bool khttpd_respond_denies(const struct khttpd_site *site, struct khttpd_path *path)
{
	const struct khttpd_rules *rules = site->options.rules;

	if (khttpd_access_judges(rules))
		return true;
	if (!rules || !(rules->kinds & BIT(KHTTPD_RULE_DENY)))
		return false;
	return !path || khttpd_ruled_path(rules, path) == KHTTPD_RULE_DENY;
}

/* May a server have a head that was not read to its end? It judges that by itself. But a rule that
 * denies the path holds, even if the protocol is not ours, or the path or the host comes too late.
 */
static bool khttpd_respond_may_pass(struct khttpd_conn *conn, const u8 *head)
{
	struct khttpd_path *path = &conn->thread->wish.path;
	const struct khttpd_request *req = &conn->req;
	bool known = false, denies;
	struct khttpd_site *site;

	if (!conn->server || !(req->flags & (KHTTPD_REQ_ALIEN | KHTTPD_REQ_LONG)))
		return false;
	khttpd_thread_path_gone(conn->thread);
	if (req->flags & KHTTPD_REQ_LONG && !(req->flags & KHTTPD_REQ_NOPATH) && req->path_len) {
		known = khttpd_path_normalise(path, head + req->path, req->path_len) ==
			KHTTPD_PATH_OK;
		if (!known)
			return false;
	}
	if (!known)
		path = NULL;
	rcu_read_lock();
	site = rcu_dereference(conn->listener->site);
	if (req->host_len)
		denies = khttpd_respond_denies(khttpd_vhost_find(site, head + req->host,
								 req->host_len), path);
	else
		denies = khttpd_vhosts_any(site, khttpd_respond_denies, path);
	rcu_read_unlock();
	return !denies;
}

/**
 * khttpd_respond_unread() - answer a head that the parser refused
 * @conn: the connection; conn->req has the error
 * @head: the head's first byte
 * @end: offset behind what came of it in the buffer
 *
 * Return: enum khttpd_verdict. After _FLUSH and _JOB it must be called again.
 */
enum khttpd_verdict khttpd_respond_unread(struct khttpd_conn *conn, const u8 *head, u32 end)
{
	if (khttpd_respond_may_pass(conn, head))
		return KHTTPD_VERDICT_HANDOVER;
	return khttpd_respond_refused(conn, NULL, conn->req.error, end);
}

/* No file is looked for: it is the server's, or an error without one. */
static enum khttpd_verdict khttpd_respond_theirs(const struct khttpd_ask *ask,
						 u16 status)
{
	return ask->conn->server ? KHTTPD_VERDICT_HANDOVER :
				   khttpd_respond_error(ask, status);
}

/* The file is there, but the request's conditions or ranges do not hold. */
static enum khttpd_verdict khttpd_respond_unmet(const struct khttpd_ask *ask,
						u64 size, u16 status)
{
	struct khttpd_ask unmet = *ask;

	unmet.size = size;
	return khttpd_respond_error(&unmet, status);
}

/* Answer with a file. @waited: a worker was asked for it. */
static enum khttpd_verdict khttpd_respond_file(const struct khttpd_ask *ask,
					       struct khttpd_entry *entry, bool waited)
{
	enum khttpd_verdict verdict;
	u16 status = 0;
	u64 size;

	ask->conn->suits = !waited && khttpd_soft_suits(ask->conn, entry);
	verdict = khttpd_reply_file(ask, entry, &status);
	if (likely(!status))
		return verdict;
	ask->conn->suits = false;
	size = entry->size;
	khttpd_entry_put(entry);
	return khttpd_respond_unmet(ask, size, status);
}

/* Has a worker looked for the page to say that? Then it is not asked again whether
 * there is the file: that might need a worker, and so on for ever.
 */
static const struct khttpd_wish *
khttpd_respond_unmet_wish(const struct khttpd_ask *ask)
{
	const struct khttpd_job *job = ask->conn->job;

	return job && job->site == ask->site &&
	       (job->wish.status == 412 || job->wish.status == 416) ?
	       &job->wish : NULL;
}

/* The page about the web server. */
static enum khttpd_verdict khttpd_respond_about(const struct khttpd_ask *ask)
{
	struct khttpd_gauges now = {
		.connections	= khttpd_conns_count(),
		.tls_pending	= khttpd_tls_pending(),
		.tls_daemons	= khttpd_tls_daemons(),
	};
	enum khttpd_form form;
	const char *type;
	size_t len;
	char *text;

	if (!khttpd_batch_has_room(&ask->conn->thread->batch))
		return KHTTPD_VERDICT_FLUSH;
	form = khttpd_accept_form(&ask->conn->req, ask->head);
	khttpd_cache_stats(&now.cache_entries);
	text = khttpd_statuspage_make(form, &now, &len, &type);
	if (!text)
		return khttpd_reply_status(ask, 503);
	return khttpd_reply_made(ask, text, len, type);
}

/* Do the rules say of the path of thread->wish that no file is sent? What is the
 * server's does not exist without. Return: false if not; else @verdict is set.
 */
static bool khttpd_respond_ruled(const struct khttpd_ask *ask,
				 enum khttpd_verdict *verdict)
{
	switch (khttpd_ruled_path(ask->site->options.rules,
				  &ask->conn->thread->wish.path)) {
	case KHTTPD_RULE_PASS:
		if (ask->conn->given)
			return false;
		*verdict = khttpd_respond_theirs(ask, 404);
		return true;
	case KHTTPD_RULE_DENY:
		*verdict = khttpd_respond_error(ask, 403);
		return true;
	case KHTTPD_RULE_STATUS:
		*verdict = khttpd_respond_about(ask);
		return true;
	case KHTTPD_RULE_REDIRECT:
		*verdict = khttpd_reply_moved(ask);
		return true;
	default:
		return false;
	}
}

/* There is nothing: may a file stand in for it? Then thread->wish asks for that. */
static bool khttpd_respond_falls_back(const struct khttpd_ask *ask, struct khttpd_found *found)
{
	struct khttpd_thread *thread = ask->conn->thread;
	struct khttpd_wish *wish = &thread->wish;

	if (found->error != -ENOENT && found->error != -ENOTDIR)
		return false;
	if (!khttpd_ruled_fallback(ask->site->options.rules, &wish->path, wish->dir_len))
		return false;
	if (found->entry)
		khttpd_entry_put(found->entry);
	khttpd_thread_path_gone(thread);
	wish->dir_len = -1;
	wish->fallback = true;
	return true;
}

/* As khttpd_respond_find(), with the file that stands in for nothing. A worker that was asked for
 * that is not asked for the first one again.
 */
static bool khttpd_respond_search(const struct khttpd_ask *ask, struct khttpd_found *found)
{
	const struct khttpd_job *job = ask->conn->job;
	bool fallback = job && job->site == ask->site && job->wish.fallback;

	if (!khttpd_respond_find(ask, found))
		return false;
	if (likely(!found->error) || found->text || fallback ||
	    !khttpd_respond_falls_back(ask, found))
		return true;
	return khttpd_respond_find(ask, found);
}

/* GET or HEAD of a well-formed path. */
static enum khttpd_verdict khttpd_respond_path(const struct khttpd_ask *ask)
{
	const struct khttpd_wish *unmet = khttpd_respond_unmet_wish(ask);
	struct khttpd_thread *thread = ask->conn->thread;
	enum khttpd_verdict verdict;
	struct khttpd_found found;
	bool waited;
	int error;

	if (unlikely(unmet))
		return khttpd_respond_unmet(ask, unmet->size, unmet->status);

	error = khttpd_respond_wish(ask);
	if (error)
		return khttpd_respond_theirs(ask, khttpd_status_of(error));
	/* The index file is not sent where it would not be by its own name. */
	if (thread->wish.dir_len >= 0 && khttpd_respond_ruled(ask, &verdict))
		return verdict;
	waited = ask->conn->job;
	if (!khttpd_respond_search(ask, &found))
		return ask->conn->job ? KHTTPD_VERDICT_JOB :
					KHTTPD_VERDICT_FLUSH;
	waited |= thread->wish.fallback;
	if (found.text) {
		if (!ask->conn->server)
			return khttpd_reply_made(ask, found.text, found.len,
						 thread->wish.json ?
						 "application/json" :
						 "text/html; charset=utf-8");
		kvfree(found.text);
		return KHTTPD_VERDICT_HANDOVER;
	}
	if (found.error)
		return khttpd_respond_missing(ask, &found);
	return khttpd_respond_file(ask, found.entry, waited);
}

/* Apply the site's rules, first to the path as it was asked for. */
static enum khttpd_verdict khttpd_respond_rules(const struct khttpd_ask *ask)
{
	const struct khttpd_rules *rules = ask->site->options.rules;
	struct khttpd_thread *thread = ask->conn->thread;
	enum khttpd_path_result result;
	enum khttpd_verdict verdict;

	if (ask->conn->server &&
	    khttpd_ruled_request(rules, &ask->conn->req, ask->head))
		return KHTTPD_VERDICT_HANDOVER;
	if (khttpd_ruled_rewrite(rules, &thread->wish.path, &result)) {
		khttpd_thread_path_gone(thread);
		if (result != KHTTPD_PATH_OK)
			return khttpd_respond_theirs(ask, 404);
	}
	if (khttpd_respond_ruled(ask, &verdict))
		return verdict;
	return khttpd_respond_path(ask);
}

static enum khttpd_verdict khttpd_respond_get(const struct khttpd_ask *ask)
{
	struct khttpd_thread *thread = ask->conn->thread;
	struct khttpd_ask bad;

	thread->wish.dir_len = -1;
	if (thread->path_of != thread->memo)
		thread->memo->kept = false;
	thread->path_of = thread->memo;
	switch (khttpd_memo_path(thread->memo, &thread->wish.path, &ask->conn->req, ask->head)) {
	case KHTTPD_PATH_OK:
		return ask->site->options.rules ? khttpd_respond_rules(ask) :
						  khttpd_respond_path(ask);
	case KHTTPD_PATH_NONE:
		return khttpd_respond_theirs(ask, 404);
	default:
		khttpd_count(bad_paths);
		bad = *ask;
		bad.close = true;
		return khttpd_respond_error(&bad, 400);
	}
}

/* What can be asked for, of a path or of all of them ("*"). */
static enum khttpd_verdict khttpd_respond_options(const struct khttpd_ask *ask)
{
	const struct khttpd_request *req = &ask->conn->req;
	struct khttpd_thread *thread = ask->conn->thread;
	struct khttpd_path *path = &thread->wish.path;

	if (ask->conn->server)
		return KHTTPD_VERDICT_HANDOVER;
	khttpd_thread_path_gone(thread);
	if (req->flags & KHTTPD_REQ_NOPATH ||
	    khttpd_path_normalise(path, ask->head + req->path, req->path_len) != KHTTPD_PATH_OK)
		path = NULL;
	return khttpd_reply_options(ask, path);
}

/* A rule blocks the client. That is counted once, however often the page for it is looked for. */
static enum khttpd_verdict khttpd_respond_blocked(const struct khttpd_ask *ask)
{
	enum khttpd_verdict verdict = khttpd_respond_error(ask, 403);

	if (verdict != KHTTPD_VERDICT_JOB && verdict != KHTTPD_VERDICT_FLUSH)
		khttpd_count(access_refused);
	return verdict;
}

/* By method. Methods that are not served here are the server's, or refused. */
static enum khttpd_verdict khttpd_respond_method(const struct khttpd_ask *ask)
{
	struct khttpd_conn *conn = ask->conn;

	conn->thread->wish.status = 0;
	if (unlikely(khttpd_peer_blocked(ask->site->options.rules, conn->sock->sk, conn->client)))
		return khttpd_respond_blocked(ask);
	if (conn->server && (conn->req.flags & KHTTPD_REQ_WEBSOCKET ||
			     !khttpd_request_bodiless(&conn->req)))
		return KHTTPD_VERDICT_HANDOVER;
	if (unlikely(conn->listener->redirect))
		return khttpd_reply_https(ask);
	switch (conn->req.method) {
	case KHTTPD_METHOD_GET:
	case KHTTPD_METHOD_HEAD:
		return khttpd_respond_get(ask);
	case KHTTPD_METHOD_OPTIONS:
		return khttpd_respond_options(ask);
	case KHTTPD_METHOD_KNOWN:
		return khttpd_respond_theirs(ask, 405);
	default:
		return khttpd_respond_theirs(ask, 501);
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
		.head = head,
		.end = end,
		/* A body that nobody here reads ends the connection. A listener of our
		 * own that stops ends it, too.
		 */
		.close = !bodiless || !khttpd_request_persists(req) ||
			 (READ_ONCE(conn->listener->stopped) &&
			  !conn->listener->attached),
	};
	enum khttpd_verdict verdict;

	if (!khttpd_batch_has_room(&conn->thread->batch))
		return KHTTPD_VERDICT_FLUSH;
	if (!bodiless)
		conn->unread = true;

	ask.site = khttpd_listener_site(conn->listener, head + req->host,
					req->host_len);
	verdict = khttpd_respond_method(&ask);
	khttpd_site_put(ask.site);
	/* It was found for another form of the site. */
	if (unlikely(conn->job) && conn->job->done &&
	    verdict != KHTTPD_VERDICT_FLUSH)
		khttpd_job_drop(conn);
	return verdict;
}
