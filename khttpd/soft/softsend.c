// SPDX-License-Identifier: GPL-2.0
/* The short way's replies on their way out: header, and the pages of a file. And the
 * shortest way: pollers ask for the same thing again and again, so a head that equals
 * the one before is compared where it was received, and the message before goes out
 * once more. Only what can change is looked at: whether the file is true, its pages,
 * the date, the client's limits. All other requests are softreply.c's.
 *
 * Limits: one head and one file a processor, and a message for a second.
 */
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include "../files/vhost.h"
#include "../listen/listener.h"
#include "../listen/peer.h"
#include "../observe/log.h"
#include "softwork.h"

/* Longest file that is copied behind its header: cheaper than a reference to its page. */
#define KHTTPD_SOFT_COPY	512

static struct khttpd_soft_work __percpu *khttpd_soft_work;

/* A page of the file, with a reference, into @work. Return: false if it is not there. */
static inline bool khttpd_soft_page(struct khttpd_soft_work *work,
				    const struct khttpd_entry *entry, int n, loff_t left)
{
	struct folio *folio = filemap_get_folio(entry->inode->i_mapping, n);
	struct bio_vec *page = &work->page[n];

	if (IS_ERR_OR_NULL(folio))
		return false;
	page->bv_page = folio_test_large(folio) ? folio_file_page(folio, n) : &folio->page;
	page->bv_len = min_t(loff_t, PAGE_SIZE, left);
	if (likely(folio_test_uptodate(folio) && !folio_test_highmem(folio)))
		return true;
	folio_put(folio);
	return false;
}

static noinline void khttpd_soft_put_pages(struct khttpd_soft_work *work, int n)
{
	while (n)
		put_page(work->page[--n].bv_page);
}

/* All pages of the file. Return: how many, each with a reference; negative if one is
 * not there.
 */
static noinline int khttpd_soft_pages(struct khttpd_soft_work *work,
				      const struct khttpd_entry *entry)
{
	loff_t left = entry->size;
	int n;

	if (left > KHTTPD_SOFT_PAGES * PAGE_SIZE)
		return -EFBIG;
	for (n = 0; left > 0; left -= PAGE_SIZE, n++) {
		if (!khttpd_soft_page(work, entry, n, left)) {
			khttpd_soft_put_pages(work, n);
			return -ENODATA;
		}
	}
	return n;
}

/* Queue a header and a file of one page. Return: as khttpd_soft_send(). */
static __always_inline int khttpd_soft_send_page(const struct khttpd_soft *soft,
						 struct khttpd_soft_conn *conn,
						 struct khttpd_soft_work *work,
						 const struct khttpd_entry *entry)
{
	struct kvec *small = &work->header[work->pieces];
	struct page *page;
	int err = -ENODATA;

	if (!khttpd_soft_page(work, entry, 0, entry->size))
		return err;
	page = work->page[0].bv_page;
	work->msg.nr_header = work->pieces;
	work->msg.nr_pages = 1;
	if (entry->size <= KHTTPD_SOFT_COPY) {
		small->iov_base = page_address(page);
		small->iov_len = entry->size;
		work->msg.nr_header++;
		work->msg.nr_pages = 0;
	}
	/* After the page was taken: what is cut now keeps its bytes. */
	if (likely(i_size_read(entry->inode) >= entry->size))
		err = soft->net6.send(conn->sk, &work->msg);
	put_page(page);
	return err;
}

/* The same for any other file, and for a header alone. */
static noinline int khttpd_soft_send_pages(const struct khttpd_soft *soft,
					   struct khttpd_soft_conn *conn,
					   struct khttpd_soft_work *work,
					   const struct khttpd_entry *entry, bool body)
{
	int n = body ? khttpd_soft_pages(work, entry) : 0;
	int err = -ENODATA;

	if (n < 0)
		return n;
	work->msg.nr_header = work->pieces;
	work->msg.nr_pages = n;
	if (!body || i_size_read(entry->inode) >= entry->size)
		err = soft->net6.send(conn->sk, &work->msg);
	khttpd_soft_put_pages(work, n);
	return err;
}

static __always_inline int khttpd_soft_queue(const struct khttpd_soft *soft,
					     struct khttpd_soft_conn *conn,
					     struct khttpd_soft_work *work,
					     const struct khttpd_entry *entry, bool body)
{
	if (likely(body && entry->size && entry->size <= PAGE_SIZE))
		return khttpd_soft_send_page(soft, conn, work, entry);
	return khttpd_soft_send_pages(soft, conn, work, entry, body);
}

/**
 * khttpd_soft_send() - queue a header, and a file
 * @soft: where the connection came from
 * @conn: the connection
 * @work: the header is in there, and what else @msg says
 * @entry: the file
 * @body: it is wanted
 *
 * Return: 0, or an errno with nothing queued.
 */
int khttpd_soft_send(const struct khttpd_soft *soft, struct khttpd_soft_conn *conn,
		     struct khttpd_soft_work *work, const struct khttpd_entry *entry,
		     bool body)
{
	BUILD_BUG_ON(KHTTPD_HEADER_MAX + KHTTPD_EXPIRES_SIZE + KHTTPD_TAIL_MAX +
		     KHTTPD_SOFT_COPY + KHTTPD_SOFT_LINE > NET6_TCP_MSG_HEADER);
	return khttpd_soft_queue(soft, conn, work, entry, body);
}

/* Is it the head before, and all that has come if the connection ends with it? Others
 * may change a shared page while it is read: what is used is the head that is kept.
 */
static inline bool khttpd_soft_same(const struct khttpd_soft *soft,
				    const struct khttpd_soft_conn *conn,
				    struct khttpd_soft_work *work)
{
	struct sk_buff *skb;
	skb_frag_t *frag;
	const u8 *bytes;
	u32 len;

	if (conn->unread < work->again.len ||
	    (work->msg.fin && conn->unread != work->again.len))
		return false;
	skb = soft->net6.peek(conn->sk, 0, &work->offset);
	if (!skb)
		return false;
	bytes = skb->data;
	len = skb_headlen(skb);
	if (work->offset >= len) {
		frag = skb_shinfo(skb)->frags;
		if (!skb_shinfo(skb)->nr_frags || PageHighMem(skb_frag_page(frag)))
			return false;
		work->offset -= len;
		bytes = skb_frag_address(frag);
		len = skb_frag_size(frag);
		if (work->offset >= len)
			return false;
	}
	return khttpd_again_is(&work->again, bytes + work->offset, len - work->offset);
}

/* The file that would be found for it now, with a reference, or NULL. */
static inline struct khttpd_entry *khttpd_soft_repeated(const struct khttpd_soft *soft,
							const struct khttpd_soft_work *work)
{
	const struct khttpd_again *again = &work->again;
	struct khttpd_site *site;

	site = khttpd_vhost_find(rcu_dereference_bh(soft->listener->site),
				 again->head + again->req.host, again->req.host_len);
	return khttpd_cache_repeat(site, work->last, work->departures);
}

static inline bool khttpd_soft_repeat(const struct khttpd_soft *soft,
				      struct khttpd_soft_conn *conn,
				      struct khttpd_soft_work *work,
				      const struct khttpd_entry *entry)
{
	if (khttpd_soft_queue(soft, conn, work, entry, true))
		return false;
	khttpd_count_add(bytes_sent, work->header_len + entry->size);
	khttpd_count(requests);
	khttpd_count(soft_hits);
	khttpd_count(replies_file);
	khttpd_log(conn->sk, entry->site->name, &work->again.req, work->again.head, 200,
		   entry->size);
	return true;
}

/**
 * khttpd_softreply() - answer the request that comes first, if it is a plain one
 * @soft: where the connection came from
 * @conn: the connection, locked, bottom halves off; of its bytes those that are
 *	answered are taken off
 *
 * What was answered is consumed; nothing else is. What is a server's is told by
 * the request, the rules, or because it is known that there is no such file.
 *
 * Return: enum khttpd_soft_verdict
 */
enum khttpd_soft_verdict khttpd_softreply(const struct khttpd_soft *soft,
					  struct khttpd_soft_conn *conn)
{
	struct khttpd_soft_work *work = this_cpu_ptr(khttpd_soft_work);
	struct khttpd_entry *entry = NULL;
	bool asked, done;

	/* Urgent data is for those who know what to do about it. */
	if (READ_ONCE(tcp_sk(conn->sk)->urg_data))
		return KHTTPD_SOFT_GIVE;
	if (work->last && work->tails.second == ktime_get_real_seconds() &&
	    khttpd_soft_same(soft, conn, work))
		entry = khttpd_soft_repeated(soft, work);
	if (!entry)
		return khttpd_soft_reply(soft, conn, work);
	asked = khttpd_peer_request(conn->peer);
	done = asked && khttpd_soft_repeat(soft, conn, work, entry);
	khttpd_entry_put_atomic(entry);
	if (!done) {
		/* The thread that answers it counts it. */
		if (asked)
			khttpd_peer_request_undo(conn->peer);
		return KHTTPD_SOFT_GIVE;
	}
	soft->net6.consume(conn->sk, work->again.len);
	conn->unread -= work->again.len;
	return work->msg.fin ? KHTTPD_SOFT_LAST : KHTTPD_SOFT_NEXT;
}

/**
 * khttpd_softreply_init() - get room to work in
 *
 * Return: 0 or -ENOMEM.
 */
int khttpd_softreply_init(void)
{
	struct khttpd_soft_work *work;
	int cpu;

	khttpd_soft_work = alloc_percpu(struct khttpd_soft_work);
	if (!khttpd_soft_work)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		work = per_cpu_ptr(khttpd_soft_work, cpu);
		work->msg.header = work->header;
		work->msg.pages = work->page;
	}
	return 0;
}

/**
 * khttpd_softreply_exit() - give it back
 */
void khttpd_softreply_exit(void)
{
	free_percpu(khttpd_soft_work);
}
