// SPDX-License-Identifier: GPL-2.0
/* The short way's replies: a file whose pages are cached, or that it has not
 * changed; and which requests are a server's. Nothing here waits, looks a path up
 * or asks a file system; whatever would have to is left to a thread, unanswered.
 */
#include <linux/bvec.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include "listener.h"
#include "negative.h"
#include "peer.h"
#include "plain.h"
#include "soft.h"

/* Longest head that is answered here, and most pages of a file. */
#define KHTTPD_SOFT_HEAD	4096
#define KHTTPD_SOFT_PAGES	16
/* Longest file that is copied behind its header: cheaper than a reference to its page. */
#define KHTTPD_SOFT_COPY	512
/* Status line, what the file's has, Expires, the end; and a small file. */
#define KHTTPD_SOFT_PIECES	5

/**
 * struct khttpd_soft_work - room to answer a request in, bottom halves off
 * @head: its bytes
 * @req: it
 * @again: the head before it
 * @codings: which codings it takes
 * @path: what it asks for
 * @kept: @path is that of the head in @again
 * @header: header of the reply in pieces, and a small file behind it
 * @expires: the piece about when it expires
 * @page: pages of a larger one
 * @tails: ends of headers
 */
struct khttpd_soft_work {
	u8 head[KHTTPD_SOFT_HEAD];
	struct khttpd_request req;
	struct khttpd_again again;
	struct khttpd_codings codings;
	struct khttpd_path path;
	bool kept;
	struct kvec header[KHTTPD_SOFT_PIECES];
	char expires[KHTTPD_EXPIRES_SIZE];
	struct bio_vec page[KHTTPD_SOFT_PAGES];
	struct khttpd_tails tails;
};

static struct khttpd_soft_work __percpu *khttpd_soft_work;

static enum khttpd_path_result khttpd_soft_path(struct khttpd_soft_work *work)
{
	const struct khttpd_request *req = &work->req;
	enum khttpd_path_result result;

	if (work->kept)
		return KHTTPD_PATH_OK;
	result = khttpd_path_normalise(&work->path, work->head + req->path, req->path_len);
	work->kept = result == KHTTPD_PATH_OK && work->again.same;
	return result;
}

/* By path and rules, whose is a request? @theirs: what to say if it is a server's.
 * Return: KHTTPD_SOFT_NEXT if files are to be looked at.
 */
static enum khttpd_soft_verdict
khttpd_soft_whose(const struct khttpd_site *site, struct khttpd_soft_work *work,
		  enum khttpd_soft_verdict theirs)
{
	const struct khttpd_rules *rules = site->options.rules;
	const struct khttpd_request *req = &work->req;

	switch (khttpd_soft_path(work)) {
	case KHTTPD_PATH_OK:
		break;
	case KHTTPD_PATH_NONE:
		return theirs;
	default:
		return KHTTPD_SOFT_GIVE;
	}
	if (likely(!rules))
		return KHTTPD_SOFT_NEXT;
	if (khttpd_request_ruled(rules, req, work->head))
		return theirs;
	switch (khttpd_path_action(rules, &work->path)) {
	case KHTTPD_RULE_SERVE:
		return KHTTPD_SOFT_NEXT;
	case KHTTPD_RULE_PASS:
		return theirs;
	default:
		return KHTTPD_SOFT_GIVE;
	}
}

/* The open file that answers the request, with a reference, or NULL. */
static struct khttpd_entry *khttpd_soft_find(struct khttpd_site *site,
					     struct khttpd_soft_work *work)
{
	struct khttpd_path *path = &work->path;
	struct khttpd_entry *entry, *variant;
	enum khttpd_coding coding;

	entry = khttpd_cache_peek(site, path, KHTTPD_CODING_IDENTITY);
	if (!entry || likely(!entry->variants))
		return entry;
	khttpd_accept_codings(&work->req, work->head, &work->codings);
	coding = khttpd_accept_choose(&work->codings, entry->variants);
	if (coding == KHTTPD_CODING_IDENTITY)
		return entry;
	variant = khttpd_cache_peek(site, path, coding);
	khttpd_entry_put_atomic(entry);
	return variant;
}

static enum khttpd_condition
khttpd_soft_condition(const struct khttpd_soft_work *work,
		      const struct khttpd_entry *entry)
{
	struct khttpd_validators is = {
		.tag = entry->header + entry->tag_at,
		.tag_len = entry->tag_len,
		.weak = entry->weak,
		.mtime = entry->mtime.tv_sec,
		.now = work->tails.second,
	};

	if (likely(!(work->req.present & KHTTPD_CONDITIONS)))
		return KHTTPD_CONDITION_TRUE;
	return khttpd_condition(&work->req, work->head, &is);
}

static inline u32 khttpd_soft_piece(struct khttpd_soft_work *work, unsigned int *n,
				    const void *piece, size_t len)
{
	work->header[*n].iov_base = (void *)piece;
	work->header[*n].iov_len = len;
	(*n)++;
	return len;
}

/* Collect the header's pieces; all of them fit. Return: how many; @len: their length. */
static unsigned int khttpd_soft_header(struct khttpd_soft_work *work,
				       const struct khttpd_entry *entry, bool unchanged,
				       bool close, u32 *len)
{
	static const char line[] = "HTTP/1.1 304 Not Modified\r\n"
				   "Server: khttpd\r\n";
	enum khttpd_tail tail = close ? KHTTPD_TAIL_CLOSE :
				work->req.minor ? KHTTPD_TAIL_PLAIN :
				KHTTPD_TAIL_KEEPALIVE;
	u32 from = 0, to = entry->header_len, expires;
	unsigned int n = 0;

	BUILD_BUG_ON(sizeof(line) + KHTTPD_HEADER_MAX + KHTTPD_EXPIRES_SIZE +
		     KHTTPD_TAIL_MAX + KHTTPD_SOFT_COPY > NET6_TCP_MSG_HEADER);
	*len = 0;
	if (unchanged) {
		from = entry->meta_at;
		*len += khttpd_soft_piece(work, &n, line, sizeof(line) - 1);
	}
	if (unlikely(entry->expires))
		to -= strlen("Date: ");
	*len += khttpd_soft_piece(work, &n, entry->header + from, to - from);
	if (unlikely(entry->expires)) {
		expires = khttpd_expires_write(entry, work->tails.second, work->expires);
		*len += khttpd_soft_piece(work, &n, work->expires, expires);
	}
	*len += khttpd_soft_piece(work, &n, work->tails.text[tail], work->tails.len[tail]);
	return n;
}

static void khttpd_soft_put_pages(struct khttpd_soft_work *work, int n)
{
	while (n)
		put_page(work->page[--n].bv_page);
}

/* Pages of the whole file. Return: how many, each with a reference; negative
 * if one is not there.
 */
static int khttpd_soft_pages(struct khttpd_soft_work *work,
			     const struct khttpd_entry *entry)
{
	struct address_space *mapping = entry->inode->i_mapping;
	loff_t pos;
	int n = 0;

	if (entry->size > KHTTPD_SOFT_PAGES * PAGE_SIZE)
		return -EFBIG;
	for (pos = 0; pos < entry->size; pos += PAGE_SIZE) {
		struct folio *folio = filemap_get_folio(mapping, n);
		struct bio_vec *page = &work->page[n];

		if (IS_ERR_OR_NULL(folio))
			goto miss;
		page->bv_page = folio_file_page(folio, n);
		page->bv_offset = 0;
		page->bv_len = min_t(loff_t, PAGE_SIZE, entry->size - pos);
		n++;
		if (!folio_test_uptodate(folio) || folio_test_highmem(folio))
			goto miss;
	}
	/* After the pages were taken: what is cut now keeps its bytes. */
	if (i_size_read(entry->inode) >= entry->size)
		return n;
miss:
	khttpd_soft_put_pages(work, n);
	return -ENODATA;
}

/* Queue header and file. Return: 0, or an errno with nothing queued. */
static int khttpd_soft_send(const struct khttpd_net6 *net6, struct sock *sk,
			    struct khttpd_soft_work *work,
			    const struct khttpd_entry *entry, unsigned int pieces,
			    bool body, bool close)
{
	struct net6_tcp_msg msg = {
		.header = work->header, .pages = work->page, .fin = close,
	};
	int n = 0, err;

	if (body) {
		n = khttpd_soft_pages(work, entry);
		if (n < 0)
			return n;
	}
	msg.nr_pages = n;
	if (n == 1 && entry->size <= KHTTPD_SOFT_COPY) {
		khttpd_soft_piece(work, &pieces, page_address(work->page[0].bv_page),
				  entry->size);
		msg.nr_pages = 0;
	}
	msg.nr_header = pieces;
	err = net6->send(sk, &msg);
	khttpd_soft_put_pages(work, n);
	return err;
}

static bool khttpd_soft_entry(const struct khttpd_net6 *net6, struct sock *sk,
			      const struct khttpd_site *site,
			      struct khttpd_soft_work *work,
			      struct khttpd_entry *entry, bool close)
{
	enum khttpd_condition condition;
	bool body, unchanged;
	unsigned int pieces;
	u32 len;

	khttpd_tails_write(&work->tails);
	condition = khttpd_soft_condition(work, entry);
	if (condition == KHTTPD_CONDITION_FAILED)
		return false;
	unchanged = condition == KHTTPD_CONDITION_UNCHANGED;
	body = !unchanged && work->req.method == KHTTPD_METHOD_GET;
	pieces = khttpd_soft_header(work, entry, unchanged, close, &len);
	if (khttpd_soft_send(net6, sk, work, entry, pieces, body, close))
		return false;
	khttpd_count_add(bytes_sent, len + (body ? entry->size : 0));
	khttpd_count(requests);
	khttpd_count(soft_hits);
	if (unchanged)
		khttpd_count(replies_unchanged);
	else
		khttpd_count(replies_file);
	khttpd_log(sk, site, &work->req, work->head, unchanged ? 304 : 200,
		   unchanged ? 0 : entry->size);
	return true;
}

/* A request for a path that may be a file's. @theirs as above. */
static enum khttpd_soft_verdict
khttpd_soft_request(const struct khttpd_net6 *net6, struct sock *sk,
		    struct khttpd_site *site, struct khttpd_soft_work *work,
		    struct khttpd_peer *peer, bool plain,
		    enum khttpd_soft_verdict theirs)
{
	const struct khttpd_options *options = &site->options;
	bool close = !khttpd_request_persists(&work->req);
	enum khttpd_soft_verdict verdict;
	struct khttpd_entry *entry;
	bool done;

	verdict = khttpd_soft_whose(site, work, theirs);
	if (verdict != KHTTPD_SOFT_NEXT)
		return verdict;
	if (work->path.dir) {
		work->kept = false;
		if (!*options->index ||
		    !khttpd_path_add_index(&work->path, options->index))
			return KHTTPD_SOFT_GIVE;
	}
	entry = khttpd_soft_find(site, work);
	if (!entry)
		return theirs == KHTTPD_SOFT_SERVER &&
		       khttpd_negative_find(site, &work->path) ?
		       theirs : KHTTPD_SOFT_GIVE;
	done = plain && khttpd_peer_request(peer) &&
	       khttpd_soft_entry(net6, sk, site, work, entry, close);
	khttpd_entry_put_atomic(entry);
	if (!done)
		return KHTTPD_SOFT_GIVE;
	net6->consume(sk, work->req.head_len);
	return close ? KHTTPD_SOFT_LAST : KHTTPD_SOFT_NEXT;
}

/**
 * khttpd_softreply() - answer the request that comes first, if it is a plain one
 * @listener: where the connection came from
 * @net6: functions of net6
 * @sk: the connection, locked, bottom halves off
 * @peer: its client, or NULL
 * @unread: bytes that have come
 *
 * What was answered is consumed; nothing else is. What is a server's is told by
 * the request, the rules, or because it is known that there is no such file.
 *
 * Return: enum khttpd_soft_verdict
 */
enum khttpd_soft_verdict khttpd_softreply(const struct khttpd_listener *listener,
					  const struct khttpd_net6 *net6,
					  struct sock *sk,
					  struct khttpd_peer *peer, u32 unread)
{
	struct khttpd_soft_work *work = this_cpu_ptr(khttpd_soft_work);
	enum khttpd_soft_verdict theirs, verdict;
	struct khttpd_request *req = &work->req;
	struct khttpd_site *site;
	bool plain;
	u32 len;

	/* Urgent data is for those who know what to do about it. */
	if (READ_ONCE(tcp_sk(sk)->urg_data))
		return KHTTPD_SOFT_GIVE;
	len = net6->peek_copy(sk, 0, work->head,
				       min_t(u32, unread, sizeof(work->head)));
	khttpd_request_reset(req);
	if (khttpd_parse_again(req, &work->again, work->head, len) != KHTTPD_PARSE_DONE)
		return KHTTPD_SOFT_GIVE;
	if (!work->again.same)
		work->kept = false;
	/* A server behind an own listener takes from threads. */
	theirs = listener->attached ? KHTTPD_SOFT_SERVER : KHTTPD_SOFT_GIVE;
	plain = khttpd_request_plain(req, unread);
	if (khttpd_request_foreign(req) ||
	    (theirs == KHTTPD_SOFT_GIVE && !plain)) {
		verdict = theirs;
	} else {
		rcu_read_lock();
		site = khttpd_vhost_find(rcu_dereference(listener->site),
					 work->head + req->host, req->host_len);
		verdict = khttpd_soft_request(net6, sk, site, work, peer, plain,
					      theirs);
		rcu_read_unlock();
	}
	if (verdict == KHTTPD_SOFT_SERVER && !khttpd_peer_request(peer))
		return KHTTPD_SOFT_GIVE;
	return verdict;
}

/**
 * khttpd_softreply_init() - get room to work in
 *
 * Return: 0 or -ENOMEM.
 */
int khttpd_softreply_init(void)
{
	khttpd_soft_work = alloc_percpu(struct khttpd_soft_work);
	return khttpd_soft_work ? 0 : -ENOMEM;
}

/**
 * khttpd_softreply_exit() - give it back
 */
void khttpd_softreply_exit(void)
{
	free_percpu(khttpd_soft_work);
}
