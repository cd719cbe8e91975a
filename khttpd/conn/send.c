// SPDX-License-Identifier: GPL-2.0
/* The rest of a reply: text first, then the file, its pages by reference from the page cache. A
 * worker reads pages that are not there, and those are copied. File systems without a page cache
 * are served that way as a whole.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include "../compat/folio_batch.h"
#include "conn.h"

/* Pages given to the socket with one call: what two walks through the cache find. */
#define KHTTPD_SEND_PAGES	30
#define KHTTPD_SEND_WALKS	2

/**
 * struct khttpd_pieces - pieces of a file from the page cache, one after the other
 * @folios: what the walks found, with references
 * @walks: how many there were
 * @vec: the pieces
 * @nr: how many
 * @len: sum of their lengths
 */
struct khttpd_pieces {
	struct folio_batch folios[KHTTPD_SEND_WALKS];
	int walks;
	struct bio_vec vec[KHTTPD_SEND_PAGES];
	int nr;
	size_t len;
};

/* A thread's: on the stack the compiler would clear it for each call. */
static DEFINE_PER_CPU(struct khttpd_pieces, khttpd_pieces);

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
	/* The peer has reset it. */
	return KHTTPD_STEP_ABORT;
}

static enum khttpd_step khttpd_out_send_text(struct khttpd_conn *conn)
{
	struct khttpd_out *out = &conn->out;
	bool more = (out->close && !conn->tls) || out->pos < out->end ||
		    (out->parts && out->parts->next <= out->parts->count);

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

/* Add the part of @folio, in which @pos is, up to @end, page by page. Return: where that ends. */
static noinline loff_t khttpd_pieces_add_large(struct khttpd_pieces *pieces,
					       struct folio *folio, loff_t pos,
					       loff_t end)
{
	unsigned long nr_pages = folio_nr_pages(folio);
	unsigned long nr = (pos >> PAGE_SHIFT) & (nr_pages - 1);

	for (; nr < nr_pages && pos < end && pieces->nr < KHTTPD_SEND_PAGES;
	     nr++) {
		struct bio_vec *vec = &pieces->vec[pieces->nr++];

		vec->bv_page = folio_page(folio, nr);
		vec->bv_offset = offset_in_page(pos);
		vec->bv_len = min_t(loff_t, PAGE_SIZE - vec->bv_offset,
				    end - pos);
		pos += vec->bv_len;
	}
	return pos;
}

/* The same for a folio of one page, for which there is room. */
static inline loff_t khttpd_pieces_add(struct khttpd_pieces *pieces,
				       struct folio *folio, loff_t pos, loff_t end)
{
	struct bio_vec *vec = &pieces->vec[pieces->nr++];
	unsigned int offset = offset_in_page(pos);
	unsigned int len = min_t(loff_t, PAGE_SIZE - offset, end - pos);

	*vec = (struct bio_vec) {
		.bv_page = &folio->page, .bv_offset = offset, .bv_len = len,
	};
	return pos + len;
}

/* Return: whether it is worth going on behind what was found. */
static bool khttpd_pieces_walk(struct khttpd_pieces *pieces,
			       const struct khttpd_out *out)
{
	struct folio_batch *found = &pieces->folios[pieces->walks++];
	struct inode *inode = out->entry->inode;
	loff_t end, pos = out->pos + pieces->len;
	pgoff_t start = pos >> PAGE_SHIFT;
	struct folio *before = NULL;
	int i;

	folio_batch_init(found);
	filemap_get_folios_contig(inode->i_mapping, &start,
				  (out->end - 1) >> PAGE_SHIFT, found);
	/* After the pages were taken: bytes that are cut off now are kept. */
	end = min(out->end, i_size_read(inode));
	for (i = 0; i < folio_batch_count(found); i++) {
		struct folio *folio = found->folios[i];

		if (!folio_test_uptodate(folio) || pos >= end ||
		    pieces->nr == KHTTPD_SEND_PAGES)
			break;
		if (likely(!folio_test_large(folio)))
			pos = khttpd_pieces_add(pieces, folio, pos, end);
		/* Before 6.15 a large one is found once for each page. */
		else if (folio != before)
			pos = khttpd_pieces_add_large(pieces, folio, pos, end);
		before = folio;
	}
	pieces->len = pos - out->pos;
	return i == ARRAY_SIZE(found->folios) && pos < end;
}

/* Collect what is cached of the file from @out->pos on. */
static void khttpd_pieces_get(struct khttpd_pieces *pieces,
			      const struct khttpd_out *out)
{
	pieces->walks = 0;
	pieces->nr = 0;
	pieces->len = 0;
	while (khttpd_pieces_walk(pieces, out) &&
	       pieces->walks < KHTTPD_SEND_WALKS)
		;
}

static void khttpd_pieces_put(struct khttpd_pieces *pieces)
{
	int i;

	while (pieces->walks) {
		struct folio_batch *found = &pieces->folios[--pieces->walks];

		for (i = 0; i < folio_batch_count(found); i++)
			folio_put(found->folios[i]);
	}
}

/**
 * khttpd_out_short() - end a reply of which there is no more, though it was announced
 * @conn: the connection; conn->out is set
 *
 * The end of the stream tells that something is missing (RFC 9112 section 8). The bytes that were
 * sent arrive first: with a reset the peer would lose those that it has not read yet.
 *
 * Return: how to go on.
 */
enum khttpd_step khttpd_out_short(struct khttpd_conn *conn)
{
	khttpd_count(aborted);
	khttpd_out_clear(&conn->out);
	return KHTTPD_STEP_FINISH;
}

static enum khttpd_step khttpd_out_read(struct khttpd_conn *conn)
{
	struct khttpd_out *out = &conn->out;

	if (out->pos >= i_size_read(out->entry->inode)) {
		khttpd_count(truncated);
		return khttpd_out_short(conn);
	}
	conn->job = khttpd_job_read(conn, out->entry, out->pos, out->end);
	return conn->job ? KHTTPD_STEP_JOB : KHTTPD_STEP_ABORT;
}

/* Send some pages. Return: KHTTPD_STEP_WAIT if there may be more to do. */
static enum khttpd_step khttpd_out_send_pages(struct khttpd_conn *conn,
					      size_t *turn)
{
	struct khttpd_pieces *pieces = per_cpu_ptr(&khttpd_pieces,
						   conn->thread->cpu);
	struct khttpd_out *out = &conn->out;
	bool more;
	int sent;

	khttpd_pieces_get(pieces, out);
	if (!pieces->nr) {
		khttpd_pieces_put(pieces);
		return khttpd_out_read(conn);
	}
	more = (out->close && !conn->tls) || out->pos + pieces->len < out->end || out->parts;
	sent = khttpd_transport_send_pages(conn->listener, conn->sock,
					   pieces->vec, pieces->nr, pieces->len,
					   more);
	khttpd_pieces_put(pieces);
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
