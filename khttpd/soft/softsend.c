// SPDX-License-Identifier: GPL-2.0
/* The short way's replies on their way out: header, and the pages of a file. */
#include "softsend.h"

static noinline void khttpd_softsend_put_pages(struct khttpd_soft_work *work, int n)
{
	while (n)
		put_page(work->page[--n].bv_page);
}

/* All pages of the file. Return: how many, each with a reference; negative if one is
 * not there.
 */
static noinline int khttpd_softsend_get_pages(struct khttpd_soft_work *work,
					      const struct khttpd_entry *entry)
{
	loff_t left = entry->size;
	int n;

	if (left > KHTTPD_SOFT_PAGES * PAGE_SIZE)
		return -EFBIG;
	for (n = 0; left > 0; left -= PAGE_SIZE, n++) {
		if (!khttpd_softsend_page(work, entry, n, left)) {
			khttpd_softsend_put_pages(work, n);
			return -ENODATA;
		}
	}
	return n;
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
	int err = -ENODATA;

	if (n < 0)
		return n;
	work->msg.nr_header = work->pieces;
	work->msg.nr_pages = n;
	if (!body || i_size_read(entry->inode) >= entry->size)
		err = soft->net6.send(conn->sk, &work->msg);
	khttpd_softsend_put_pages(work, n);
	return err;
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
