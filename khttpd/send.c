// SPDX-License-Identifier: GPL-2.0
/* The rest of a reply: text first, then the file, its pages by reference from
 * the page cache. Pages that are not there are read by a worker, and those are
 * copied; file systems without a page cache are served that way as a whole.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include "khttpd.h"

/* Pages given to the socket with one call. */
#define KHTTPD_SEND_PAGES	16

/**
 * khttpd_out_clear() - forget what was to be sent
 * @out: the rest of a reply
 */
void khttpd_out_clear(struct khttpd_out *out)
{
	kvfree(out->text);
	kfree(out->parts);
	if (out->entry)
		khttpd_entry_put(out->entry);
	memset(out, 0, sizeof(*out));
}

static enum khttpd_step khttpd_out_result(int sent)
{
	if (sent == -EAGAIN) {
		khttpd_count(send_blocked);
		return KHTTPD_STEP_BLOCKED;
	}
	return KHTTPD_STEP_CLOSE;
}

static enum khttpd_step khttpd_out_send_text(struct khttpd_conn *conn)
{
	struct khttpd_out *out = &conn->out;
	bool more = out->close || out->pos < out->end || out->parts;

	while (out->text_pos < out->text_len) {
		struct kvec vec = {
			.iov_base = out->text + out->text_pos,
			.iov_len = out->text_len - out->text_pos,
		};
		int sent = khttpd_transport_send(conn->sock, &vec, 1,
						 vec.iov_len, more);

		if (sent <= 0)
			return khttpd_out_result(sent);
		khttpd_count_add(bytes_sent, sent);
		out->text_pos += sent;
	}
	kvfree(out->text);
	out->text = NULL;
	return KHTTPD_STEP_WAIT;
}

/* Collect cached pages of the file from @out->pos on. Return: how many pieces;
 * 0 if the first page is not there, -ENODATA if the file has become shorter.
 */
static int khttpd_out_pages(struct khttpd_out *out, struct bio_vec *vec,
			    struct folio **folio)
{
	struct inode *inode = out->entry->inode;
	loff_t pos = out->pos;
	int n;

	for (n = 0; n < KHTTPD_SEND_PAGES && pos < out->end; n++) {
		pgoff_t index = pos >> PAGE_SHIFT;
		u32 offset = offset_in_page(pos);
		loff_t size;

		folio[n] = filemap_get_folio(inode->i_mapping, index);
		if (IS_ERR_OR_NULL(folio[n]))
			break;
		if (!folio_test_uptodate(folio[n])) {
			folio_put(folio[n]);
			break;
		}
		/* After the page was taken: what is cut now keeps its bytes. */
		size = min(out->end, i_size_read(inode));
		if (pos >= size) {
			folio_put(folio[n]);
			return n ? n : -ENODATA;
		}
		vec[n].bv_page = folio_file_page(folio[n], index);
		vec[n].bv_offset = offset;
		vec[n].bv_len = min_t(loff_t, PAGE_SIZE - offset, size - pos);
		pos += vec[n].bv_len;
	}
	return n;
}

static enum khttpd_step khttpd_out_read(struct khttpd_conn *conn)
{
	struct khttpd_out *out = &conn->out;

	if (out->pos >= i_size_read(out->entry->inode)) {
		khttpd_count(truncated);
		return KHTTPD_STEP_ABORT;
	}
	conn->job = khttpd_job_read(conn, out->entry, out->pos, out->end);
	if (!conn->job) {
		khttpd_count(no_memory);
		return KHTTPD_STEP_ABORT;
	}
	return KHTTPD_STEP_JOB;
}

/* Send some pages. Return: KHTTPD_STEP_WAIT if there may be more to do. */
static enum khttpd_step khttpd_out_send_pages(struct khttpd_conn *conn,
					      size_t *turn)
{
	struct folio *folio[KHTTPD_SEND_PAGES];
	struct bio_vec vec[KHTTPD_SEND_PAGES];
	struct khttpd_out *out = &conn->out;
	size_t len = 0;
	int i, n, sent;
	bool more;

	n = khttpd_out_pages(out, vec, folio);
	if (n == -ENODATA) {
		khttpd_count(truncated);
		return KHTTPD_STEP_ABORT;
	}
	if (!n)
		return khttpd_out_read(conn);
	for (i = 0; i < n; i++)
		len += vec[i].bv_len;
	more = out->close || out->pos + len < out->end || out->parts;
	sent = khttpd_transport_send_pages(conn->listener, conn->sock, vec, n,
					   more);
	for (i = 0; i < n; i++)
		folio_put(folio[i]);
	if (sent <= 0)
		return khttpd_out_result(sent);
	khttpd_count_add(bytes_sent, sent);
	out->pos += sent;
	*turn += sent;
	return KHTTPD_STEP_WAIT;
}

/**
 * khttpd_out_send() - send the rest of a reply, as far as it goes
 * @conn: the connection; conn->out is set, maybe to nothing
 *
 * Return: KHTTPD_STEP_WAIT if all is sent and the next request may be served,
 * or what must happen first.
 */
enum khttpd_step khttpd_out_send(struct khttpd_conn *conn)
{
	struct khttpd_out *out = &conn->out;
	enum khttpd_step step;
	size_t turn = 0;
	bool close;
	int err = 0;

	do {
		if (out->text) {
			step = khttpd_out_send_text(conn);
			if (step != KHTTPD_STEP_WAIT)
				return step;
		}
		while (out->pos < out->end) {
			if (turn >= KHTTPD_TURN_BYTES)
				return KHTTPD_STEP_AGAIN;
			step = khttpd_out_send_pages(conn, &turn);
			if (step != KHTTPD_STEP_WAIT)
				return step;
		}
		if (out->parts)
			err = khttpd_parts_next(out);
	} while (err > 0);
	if (err) {
		khttpd_count(no_memory);
		return KHTTPD_STEP_ABORT;
	}
	close = out->close;
	khttpd_out_clear(out);
	return close ? KHTTPD_STEP_FINISH : KHTTPD_STEP_WAIT;
}
