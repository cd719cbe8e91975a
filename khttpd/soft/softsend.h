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

/* A page of the file, with a reference, into @work. Return: false if it is not there. */
static inline bool khttpd_softsend_page(struct khttpd_soft_work *work,
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

/* Queue a header and a file of one page. Return: as khttpd_softsend(). */
static __always_inline int khttpd_softsend_one(const struct khttpd_soft *soft,
					       struct khttpd_soft_conn *conn,
					       struct khttpd_soft_work *work,
					       const struct khttpd_entry *entry)
{
	struct kvec *small = &work->header[work->pieces];
	struct page *page;
	int err = -ENODATA;

	if (!khttpd_softsend_page(work, entry, 0, entry->size))
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
	/* After the page was taken: bytes that are cut off now are kept. */
	if (likely(i_size_read(entry->inode) >= entry->size))
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
