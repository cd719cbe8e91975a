// SPDX-License-Identifier: GPL-2.0
/* The short way's replies: a file whose pages are cached, or that it has not changed; and which
 * requests are a server's. Nothing here waits, looks a path up or asks a file system. A request
 * that needs that is left to a thread, unanswered.
 */
#include "../files/negative.h"
#include "../files/vhost.h"
#include "../http/access.h"
#include "../http/condition.h"
#include "../http/plain.h"
#include "../http/ruled.h"
#include "../listen/listener.h"
#include "../listen/peer.h"
#include "../observe/log.h"
#include "softsend.h"

/* By the rules about paths, whose is work->path? As below. */
static enum khttpd_soft_verdict
khttpd_softreply_ruled(const struct khttpd_site *site, struct khttpd_soft_work *work,
		       enum khttpd_soft_verdict theirs)
{
	switch (khttpd_ruled_path(site->options.rules, &work->path)) {
	case KHTTPD_RULE_SERVE:
	case KHTTPD_RULE_REWRITE:	/* done before */
		return KHTTPD_SOFT_NEXT;
	case KHTTPD_RULE_PASS:
		return theirs;
	default:
		return KHTTPD_SOFT_GIVE;
	}
}

/* For a directory the index file's path, of which the rules are asked again. */
static enum khttpd_soft_verdict
khttpd_softreply_index(const struct khttpd_site *site, struct khttpd_soft_work *work,
		       struct khttpd_soft_known *known, enum khttpd_soft_verdict theirs)
{
	const char *index = site->options.index;

	if (likely(!work->path.dir))
		return KHTTPD_SOFT_NEXT;
	known->is.memo.kept = false;
	if (!*index || !khttpd_path_add_index(&work->path, index))
		return KHTTPD_SOFT_GIVE;
	return khttpd_softreply_ruled(site, work, theirs);
}

/* By path and rules, whose is a request? @theirs: what to say if it is a server's.
 * Return: KHTTPD_SOFT_NEXT if files are to be looked at.
 */
static enum khttpd_soft_verdict
khttpd_softreply_whose(const struct khttpd_site *site, struct khttpd_soft_work *work,
		       struct khttpd_soft_known *known, enum khttpd_soft_verdict theirs)
{
	const struct khttpd_rules *rules = site->options.rules;
	const struct khttpd_request *req = &work->req;
	enum khttpd_soft_verdict verdict;
	enum khttpd_path_result result;

	if (work->path_of != known)
		known->is.memo.kept = false;
	work->path_of = known;
	switch (khttpd_memo_path(&known->is.memo, &work->path, req, work->head)) {
	case KHTTPD_PATH_OK:
		break;
	case KHTTPD_PATH_NONE:
		return theirs;
	default:
		return KHTTPD_SOFT_GIVE;
	}
	if (unlikely(rules)) {
		if (khttpd_ruled_request(rules, req, work->head))
			return theirs;
		if (khttpd_ruled_rewrite(rules, &work->path, &result)) {
			known->is.memo.kept = false;
			if (result != KHTTPD_PATH_OK)
				return theirs;
		}
		verdict = khttpd_softreply_ruled(site, work, theirs);
		if (verdict != KHTTPD_SOFT_NEXT)
			return verdict;
	}
	return khttpd_softreply_index(site, work, known, theirs);
}

/* The open file that answers the request, or NULL. */
static struct khttpd_entry *khttpd_softreply_find(struct khttpd_site *site,
						  struct khttpd_soft_work *work,
						  struct khttpd_soft_known *known)
{
	struct khttpd_path *path = &work->path;
	struct khttpd_entry *entry;
	enum khttpd_coding coding;

	known->is.memo.departures = khttpd_cache_departures();
	entry = khttpd_cache_peek(site, path, KHTTPD_CODING_IDENTITY);
	if (!entry || likely(!entry->variants))
		return entry;
	khttpd_accept_codings(&work->req, work->head, &work->codings);
	coding = khttpd_accept_choose(&work->codings, entry->variants);
	if (coding == KHTTPD_CODING_IDENTITY)
		return entry;
	return khttpd_cache_peek(site, path, coding);
}

static enum khttpd_condition
khttpd_softreply_condition(const struct khttpd_soft_work *work,
			   const struct khttpd_entry *entry)
{
	struct khttpd_validators is = khttpd_entry_validators(entry, work->tails.second);

	if (likely(!(work->req.present & KHTTPD_CONDITIONS)))
		return KHTTPD_CONDITION_TRUE;
	return khttpd_condition(&work->req, work->head, &is);
}

static inline void khttpd_softreply_piece(struct khttpd_soft_work *work, const void *piece,
					  size_t len)
{
	struct kvec *vec = &work->header[work->pieces++];

	vec->iov_base = (void *)piece;
	vec->iov_len = len;
	work->header_len += len;
}

/* Collect the header's pieces; all of them fit. */
static void khttpd_softreply_header(struct khttpd_soft_work *work,
				    const struct khttpd_entry *entry, bool unchanged,
				    bool close)
{
	static const char line[] = "HTTP/1.1 304 Not Modified\r\n"
				   "Server: khttpd\r\n";
	enum khttpd_tail tail = khttpd_tails_choose(&work->req, close);
	u32 from = 0, to = entry->header_len, expires;

	BUILD_BUG_ON(sizeof(line) > KHTTPD_SOFT_LINE);
	work->pieces = 0;
	work->header_len = 0;
	if (unchanged) {
		from = entry->meta_at;
		khttpd_softreply_piece(work, line, sizeof(line) - 1);
	}
	if (unlikely(entry->expires))
		to -= strlen("Date: ");
	khttpd_softreply_piece(work, entry->header + from, to - from);
	if (unlikely(entry->expires)) {
		expires = khttpd_tails_expires(entry, work->tails.second, work->expires);
		khttpd_softreply_piece(work, work->expires, expires);
	}
	khttpd_softreply_piece(work, work->tails.text[tail], work->tails.len[tail]);
	work->msg.fin = close;
}

/* The whole file was sent. If the head that is kept is answered so in this second, have
 * that done again. Its site and the file's truth are asked for then.
 */
static void khttpd_softreply_remember(const struct khttpd_soft_work *work,
				      struct khttpd_soft_known *known,
				      struct khttpd_entry *entry)
{
	u32 i, len = 0;

	if (!khttpd_memo_lasts(&known->is.memo, entry) || work->req.present & KHTTPD_CONDITIONS ||
	    work->header_len > sizeof(known->text) ||
	    khttpd_access_judges(entry->site->options.rules))
		return;
	for (i = 0; i < work->pieces; len += work->header[i++].iov_len)
		memcpy(known->text + len, work->header[i].iov_base, work->header[i].iov_len);
	known->header_len = len;
	known->second = work->tails.second;
	known->fin = work->msg.fin;
	known->is.memo.last = entry;
}

static bool khttpd_softreply_entry(const struct khttpd_soft *soft,
				   struct khttpd_soft_conn *conn,
				   const struct khttpd_site *site,
				   struct khttpd_soft_work *work,
				   struct khttpd_soft_known *known,
				   struct khttpd_entry *entry, bool close)
{
	enum khttpd_condition condition;
	bool body, unchanged;

	khttpd_tails_write(&work->tails);
	condition = khttpd_softreply_condition(work, entry);
	if (condition == KHTTPD_CONDITION_FAILED)
		return false;
	unchanged = condition == KHTTPD_CONDITION_UNCHANGED;
	body = !unchanged && work->req.method == KHTTPD_METHOD_GET;
	khttpd_softreply_header(work, entry, unchanged, close);
	if (khttpd_softsend(soft, conn, work, entry, body))
		return false;
	if (body)
		khttpd_softreply_remember(work, known, entry);
	khttpd_count_add(bytes_sent, work->header_len + (body ? entry->size : 0));
	khttpd_count(requests);
	khttpd_count(soft_hits);
	if (unchanged)
		khttpd_count(replies_unchanged);
	else
		khttpd_count(replies_file);
	khttpd_log(conn->sk, NULL, site->name, &work->req, work->head, unchanged ? 304 : 200,
		   unchanged ? 0 : entry->size);
	return true;
}

/* Is it known that there is no file, nor one that stands in for it? */
static bool khttpd_softreply_nothing(const struct khttpd_site *site, const struct khttpd_path *path)
{
	const struct khttpd_rules *rules = site->options.rules;

	return !(rules && rules->kinds & BIT(KHTTPD_RULE_FALLBACK)) &&
	       khttpd_negative_find(site, path);
}

/* A request for a path that may be a file's. @theirs as above. */
static enum khttpd_soft_verdict
khttpd_softreply_request(const struct khttpd_soft *soft, struct khttpd_soft_conn *conn,
			 struct khttpd_site *site, struct khttpd_soft_work *work,
			 struct khttpd_soft_known *known, bool plain,
			 enum khttpd_soft_verdict theirs)
{
	bool close = !khttpd_request_persists(&work->req);
	enum khttpd_soft_verdict verdict;
	struct khttpd_entry *entry;
	bool asked, done;

	verdict = khttpd_softreply_whose(site, work, known, theirs);
	if (verdict != KHTTPD_SOFT_NEXT)
		return verdict;
	entry = khttpd_softreply_find(site, work, known);
	if (!entry)
		return theirs == KHTTPD_SOFT_SERVER &&
		       khttpd_softreply_nothing(site, &work->path) ?
		       theirs : KHTTPD_SOFT_GIVE;
	asked = plain && khttpd_peer_request(conn->peer);
	done = asked && khttpd_softreply_entry(soft, conn, site, work, known, entry, close);
	return khttpd_soft_asked(soft, conn, asked, done, work->req.head_len, close);
}

/* Parse the head that comes first: one that is known, or is known from now on. Return: its entry;
 * NULL if it is not complete, or wrong.
 */
static struct khttpd_soft_known *khttpd_softreply_parse(struct khttpd_soft_work *work,
							struct khttpd_soft_known *known, u32 len)
{
	enum khttpd_parse_result result;
	struct khttpd_known *parsed;

	khttpd_request_reset(&work->req);
	if (known) {
		parsed = &known->is;
		result = khttpd_again_parse(&work->req, &parsed->memo.again, work->head, len);
	} else {
		result = khttpd_known_parse(&work->known, &work->req, work->head, len, &parsed);
	}
	if (result != KHTTPD_PARSE_DONE)
		return NULL;
	parsed->memo.last = NULL;
	if (!parsed->memo.again.same)
		parsed->memo.kept = false;
	return khttpd_soft_known_of(parsed);
}

/**
 * khttpd_softreply() - answer the request that comes first, whatever was before
 * @soft: where the connection came from
 * @conn: the connection, without urgent data
 * @work: room to work in
 * @known: what is known of the head, or NULL
 *
 * Return: enum khttpd_soft_verdict
 */
enum khttpd_soft_verdict khttpd_softreply(const struct khttpd_soft *soft,
					  struct khttpd_soft_conn *conn,
					  struct khttpd_soft_work *work,
					  struct khttpd_soft_known *known)
{
	const struct khttpd_listener *listener = soft->listener;
	enum khttpd_soft_verdict theirs, verdict;
	struct khttpd_request *req = &work->req;
	struct khttpd_site *front, *site;
	bool plain, over;
	u32 len;

	len = soft->net6.peek_copy(conn->sk, 0, work->head,
				   min_t(u32, conn->unread, sizeof(work->head)));
	known = khttpd_softreply_parse(work, known, len);
	if (!known)
		return KHTTPD_SOFT_GIVE;
	/* A server behind an own listener takes from threads. */
	theirs = listener->attached ? KHTTPD_SOFT_SERVER : KHTTPD_SOFT_GIVE;
	plain = khttpd_request_plain(req, conn->unread);
	/* One that is plain is not foreign. */
	over = !plain && (theirs == KHTTPD_SOFT_GIVE || khttpd_request_foreign(req));
	rcu_read_lock();
	front = rcu_dereference(listener->site);
	if (over && !khttpd_vhosts_judge(front)) {
		verdict = theirs;
		goto out;
	}
	site = khttpd_vhost_find(front, work->head + req->host, req->host_len);
	if (khttpd_peer_blocked(site->options.rules, conn->sk, NULL))
		verdict = KHTTPD_SOFT_GIVE;
	else if (over)
		verdict = theirs;
	else
		verdict = khttpd_softreply_request(soft, conn, site, work, known, plain, theirs);
out:
	rcu_read_unlock();
	if (verdict == KHTTPD_SOFT_SERVER && !khttpd_peer_request(conn->peer))
		return KHTTPD_SOFT_GIVE;
	return verdict;
}
