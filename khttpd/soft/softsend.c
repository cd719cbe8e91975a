// SPDX-License-Identifier: GPL-2.0
/* The short way's replies on their way out: header, and the pages of a file. */
#include "softsend.h"

static noinline void khttpd_softsend_put_pages(struct khttpd_soft_work *work, int n)
{
	while (n)
		put_page(work->page[--n].bv_page);
}

/* All pages of the file, those of a large folio as one piece. Return: how many pieces, each with a
 * reference; negative if one is not there.
 */
static noinline int khttpd_softsend_get_pages(struct khttpd_soft_work *work,
					      const struct khttpd_entry *entry)
{
	struct address_space *mapping = entry->inode->i_mapping;
	loff_t left = entry->size;
	pgoff_t last = (left - 1) >> PAGE_SHIFT, next = 0;
	XA_STATE(xas, &mapping->i_pages, 0);
	struct folio *folio;
	int n = 0;

	if (left > KHTTPD_SOFT_PAGES * PAGE_SIZE)
		return -EFBIG;
	if (!left)
		return 0;
	rcu_read_lock();
	xas_for_each(&xas, folio, last) {
		if (xas_retry(&xas, folio))
			continue;
		if (!khttpd_softsend_take(&xas, folio))
			break;
		work->page[n].bv_page = folio_page(folio, 0);
		work->page[n].bv_len = min_t(loff_t, folio_size(folio), left);
		left -= work->page[n++].bv_len;
		/* One may be missing between them. */
		if (folio->index != next)
			break;
		next += folio_nr_pages(folio);
	}
	rcu_read_unlock();
	if (next > last)
		return n;
	khttpd_softsend_put_pages(work, n);
	return -ENODATA;
}

/**
 * khttpd_softsend_many() - queue a header, and a file of several pages
 * @soft: where the connection came from
 * @conn: the connection
 * @work: the header is in there, and what else @msg says
 * @entry: the file
 * @body: it is wanted
 *
 * Return: as khttpd_softsend().
 */
int khttpd_softsend_many(const struct khttpd_soft *soft, struct khttpd_soft_conn *conn,
			 struct khttpd_soft_work *work, const struct khttpd_entry *entry,
			 bool body)
{
	int n = body ? khttpd_softsend_get_pages(work, entry) : 0;

	if (n < 0)
		return n;
	work->msg.nr_header = work->pieces;
	work->msg.nr_pages = n;
	/* After the pages were taken: bytes that are cut off now are kept. */
	if (!body || i_size_read(entry->inode) >= entry->size)
		return soft->net6.send(conn->sk, &work->msg);
	khttpd_softsend_put_pages(work, n);
	return -ENODATA;
}

/**
 * khttpd_softsend() - queue a header, and a file
 * @soft: where the connection came from
 * @conn: the connection
 * @work: the header is in there, and what else @msg says
 * @entry: the file
 * @body: it is wanted
 *
 * Return: 0, or an errno with nothing queued.
 */
int khttpd_softsend(const struct khttpd_soft *soft, struct khttpd_soft_conn *conn,
		    struct khttpd_soft_work *work, const struct khttpd_entry *entry,
		    bool body)
{
	BUILD_BUG_ON(KHTTPD_HEADER_MAX + KHTTPD_EXPIRES_SIZE + KHTTPD_TAIL_MAX +
		     KHTTPD_SOFT_COPY + KHTTPD_SOFT_LINE > NET6_TCP_MSG_HEADER);
	return khttpd_softsend_inline(soft, conn, work, entry, body);
}
