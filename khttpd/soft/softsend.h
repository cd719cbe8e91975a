/* SPDX-License-Identifier: GPL-2.0 */
/* Queueing a reply: header, and the pages of a file. Inline where it is one page, the
 * same for a reply that is new and for one that was sent before.
 */
#ifndef _KHTTPD_SOFTSEND_H
#define _KHTTPD_SOFTSEND_H

#include <linux/pagemap.h>
#include "softwork.h"

/* Longest file that is copied behind its header: cheaper than a reference to its page. */
#define KHTTPD_SOFT_COPY	512

/* softsend.c */
int khttpd_softsend(const struct khttpd_soft *soft, struct khttpd_soft_conn *conn,
		    struct khttpd_soft_work *work, const struct khttpd_entry *entry,
		    bool body);
int khttpd_softsend_many(const struct khttpd_soft *soft, struct khttpd_soft_conn *conn,
			 struct khttpd_soft_work *work, const struct khttpd_entry *entry,
			 bool body);

/* A reference to what the page cache has at a place. In RCU's read section a folio may leave it,
 * and its memory become another's. Return: false without one, if it cannot be sent.
 */
static inline bool khttpd_softsend_take(struct xa_state *xas, struct folio *folio)
{
	if (xa_is_value(folio) || !folio_try_get(folio))
		return false;
	if (likely(folio == xas_reload(xas) && folio_test_uptodate(folio) &&
		   !folio_test_highmem(folio)))
		return true;
	folio_put(folio);
	return false;
}

/* The first page of the file, with a reference, or NULL. */
static inline struct page *khttpd_softsend_first(const struct khttpd_entry *entry)
{
	struct address_space *mapping = entry->inode->i_mapping;
	XA_STATE(xas, &mapping->i_pages, 0);
	struct folio *folio;
	bool taken;

	rcu_read_lock();
	folio = xas_load(&xas);
	taken = folio && !xas_retry(&xas, folio) && khttpd_softsend_take(&xas, folio);
	rcu_read_unlock();
	return taken ? folio_page(folio, 0) : NULL;
}

/* Queue a header and a file of one page. Return: as khttpd_softsend(). */
static __always_inline int khttpd_softsend_one(const struct khttpd_soft *soft,
					       struct khttpd_soft_conn *conn,
					       struct khttpd_soft_work *work,
					       const struct khttpd_entry *entry)
{
	struct kvec *small = &work->header[work->pieces];
	struct page *page = khttpd_softsend_first(entry);
	int err = -ENODATA;

	if (!page)
		return err;
	work->msg.nr_header = work->pieces;
	work->msg.nr_pages = entry->size > KHTTPD_SOFT_COPY;
	/* After the page was taken: bytes that are cut off now are kept. */
	if (unlikely(i_size_read(entry->inode) < entry->size)) {
		put_page(page);
		return err;
	}
	if (work->msg.nr_pages) {
		work->page[0].bv_page = page;
		work->page[0].bv_len = entry->size;
		return soft->net6.send(conn->sk, &work->msg);
	}
	small->iov_base = page_address(page);
	small->iov_len = entry->size;
	work->msg.nr_header++;
	err = soft->net6.send(conn->sk, &work->msg);
	put_page(page);
	return err;
}

static __always_inline int khttpd_softsend_inline(const struct khttpd_soft *soft,
						  struct khttpd_soft_conn *conn,
						  struct khttpd_soft_work *work,
						  const struct khttpd_entry *entry, bool body)
{
	if (likely(body && entry->size && entry->size <= PAGE_SIZE))
		return khttpd_softsend_one(soft, conn, work, entry);
	return khttpd_softsend_many(soft, conn, work, entry, body);
}

#endif /* _KHTTPD_SOFTSEND_H */
