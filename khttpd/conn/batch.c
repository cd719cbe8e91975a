// SPDX-License-Identifier: GPL-2.0
/* Replies collected and sent with one call: headers, dates, texts and small files. The connection
 * keeps what the socket does not take, and later requests of the batch count as unread.
 */
#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include "conn.h"

static void khttpd_batch_vec(struct khttpd_batch *batch, void *base, size_t len)
{
	batch->vec[batch->vecs].iov_base = base;
	batch->vec[batch->vecs].iov_len = len;
	batch->vecs++;
	batch->bytes += len;
}

/**
 * khttpd_batch_has_room() - does one more reply fit?
 * @batch: the batch
 *
 * Return: true if so, whatever reply it is.
 */
bool khttpd_batch_has_room(const struct khttpd_batch *batch)
{
	return batch->replies < KHTTPD_BATCH;
}

static struct khttpd_reply *khttpd_batch_reply(struct khttpd_batch *batch,
					       u32 end)
{
	struct khttpd_reply *reply = &batch->reply[batch->replies++];

	memset(reply, 0, sizeof(*reply));
	reply->vec = batch->vecs;
	reply->end = end;
	return reply;
}

/* Add a part of the file from the page cache. Return: false, with nothing
 * added, if a page is not there.
 */
static bool khttpd_batch_body(struct khttpd_batch *batch,
			      struct khttpd_entry *entry, loff_t from,
			      size_t left)
{
	struct address_space *mapping = entry->inode->i_mapping;
	unsigned int folios = batch->folios, vecs = batch->vecs;
	pgoff_t index = from >> PAGE_SHIFT;
	u32 offset = offset_in_page(from);
	size_t bytes = batch->bytes;
	struct folio *folio;

	for (; left; index++, offset = 0) {
		size_t len = min_t(size_t, left, PAGE_SIZE - offset);

		folio = filemap_get_folio(mapping, index);
		if (IS_ERR_OR_NULL(folio))
			goto miss;
		batch->folio[batch->folios++] = folio;
		if (!folio_test_uptodate(folio) || folio_test_highmem(folio))
			goto miss;
		khttpd_batch_vec(batch, page_address(folio_file_page(folio,
								     index)) +
					offset, len);
		left -= len;
	}
	/* A file cut in the meantime is the business of the other way. */
	if (i_size_read(entry->inode) >= entry->size)
		return true;
miss:
	while (batch->folios > folios)
		folio_put(batch->folio[--batch->folios]);
	batch->vecs = vecs;
	batch->bytes = bytes;
	return false;
}

/* The reply's header is there: add what follows it, if it is little.
 * Return: false if something must be sent behind the batch.
 */
static bool khttpd_batch_add_body(struct khttpd_batch *batch,
				  struct khttpd_reply *reply)
{
	u64 len = reply->to - reply->from;

	if (reply->parts)
		return false;
	if (!len)
		return true;
	if (len > KHTTPD_COPY_MAX ||
	    !khttpd_batch_body(batch, reply->entry, reply->from, len))
		return false;
	reply->bytes += len;
	return true;
}

/**
 * khttpd_batch_file() - add a reply with a file
 * @conn: whose request
 * @entry: the file; the reference goes to the batch
 * @tail: how the header ends
 * @hsts: value of Strict-Transport-Security, or NULL for none
 * @end: offset behind the request in the buffer
 *
 * There must be room.
 *
 * Return: KHTTPD_VERDICT_SEND if it must be sent before others are added.
 */
enum khttpd_verdict khttpd_batch_file(struct khttpd_conn *conn,
				      struct khttpd_entry *entry,
				      enum khttpd_tail tail, const char *hsts, u32 end)
{
	struct khttpd_thread *thread = conn->thread;
	struct khttpd_batch *batch = &thread->batch;
	char *text = batch->fields[batch->replies];
	struct khttpd_reply *reply = khttpd_batch_reply(batch, end);
	u32 before = batch->bytes, len;

	if (unlikely(hsts))
		len = khttpd_tails_fields(hsts, entry, thread->tails.second, text);
	else
		len = khttpd_tails_expires(entry, thread->tails.second, text);
	reply->entry = entry;
	reply->stat = KHTTPD_STAT_replies_file;
	reply->close = tail == KHTTPD_TAIL_CLOSE;
	khttpd_batch_vec(batch, entry->header, entry->header_len -
			 (len ? strlen("Date: ") : 0));
	if (unlikely(len))
		khttpd_batch_vec(batch, text, len);
	khttpd_batch_vec(batch, thread->tails.text[tail], thread->tails.len[tail]);
	reply->header = batch->bytes - before;
	reply->bytes = reply->header;
	if (conn->req.method == KHTTPD_METHOD_GET)
		reply->to = entry->size;
	if (!khttpd_batch_add_body(batch, reply) || reply->close)
		return KHTTPD_VERDICT_SEND;
	return KHTTPD_VERDICT_NEXT;
}

/**
 * khttpd_batch_part() - add a reply with the text just written and file parts
 * @conn: whose request
 * @entry: the file; the reference goes to the batch
 * @len: length of the text, its header
 * @range: the part that follows it, may be empty
 * @parts: parts that follow that (kmalloc, the batch's now), or NULL
 * @close: the connection ends with it
 * @stat: what to count when it is sent
 * @end: offset behind the request in the buffer
 *
 * There must be room; it must be sent before others are added.
 */
void khttpd_batch_part(struct khttpd_conn *conn, struct khttpd_entry *entry,
		       u32 len, const struct khttpd_range *range,
		       struct khttpd_parts *parts, bool close,
		       enum khttpd_stat stat, u32 end)
{
	struct khttpd_batch *batch = &conn->thread->batch;
	struct khttpd_reply *reply;

	khttpd_batch_add_text(conn, len, close, stat, end);
	reply = &batch->reply[batch->replies - 1];
	reply->entry = entry;
	if (conn->req.method == KHTTPD_METHOD_HEAD) {
		kfree(parts);
		return;
	}
	reply->from = range->from;
	reply->to = range->end;
	reply->parts = parts;
	khttpd_batch_add_body(batch, reply);
}

/**
 * khttpd_batch_data() - add a reply that is all in memory of its own
 * @conn: whose request
 * @data: header and body (kvmalloc), the batch's now
 * @len: their length
 * @close: the connection ends with it
 * @stat: what to count when it is sent
 * @end: offset behind the request in the buffer
 */
void khttpd_batch_data(struct khttpd_conn *conn, char *data, u32 len,
		       bool close, enum khttpd_stat stat, u32 end)
{
	struct khttpd_batch *batch = &conn->thread->batch;
	struct khttpd_reply *reply = khttpd_batch_reply(batch, end);

	khttpd_batch_vec(batch, data, len);
	reply->data = data;
	reply->header = len;
	reply->bytes = len;
	reply->close = close;
	reply->stat = stat;
}

/**
 * khttpd_batch_text() - where the text of a reply may be written
 * @batch: the batch
 * @room: how long it may be
 *
 * Return: the place.
 */
char *khttpd_batch_text(struct khttpd_batch *batch, size_t *room)
{
	*room = sizeof(batch->text) - batch->text_len;
	return batch->text + batch->text_len;
}

/**
 * khttpd_batch_add_text() - add the text just written there as a reply
 * @conn: whose request
 * @len: its length
 * @close: the connection ends with it
 * @stat: what to count when it is sent
 * @end: offset behind the request in the buffer
 */
void khttpd_batch_add_text(struct khttpd_conn *conn, u32 len, bool close,
			   enum khttpd_stat stat, u32 end)
{
	struct khttpd_batch *batch = &conn->thread->batch;
	struct khttpd_reply *reply = khttpd_batch_reply(batch, end);

	khttpd_batch_vec(batch, batch->text + batch->text_len, len);
	batch->text_len += len;
	reply->header = len;
	reply->bytes = len;
	reply->close = close;
	reply->stat = stat;
}

/* Release what the replies hold. */
static void khttpd_batch_reset(struct khttpd_batch *batch)
{
	unsigned int i;

	for (i = 0; i < batch->folios; i++)
		folio_put(batch->folio[i]);
	for (i = 0; i < batch->replies; i++) {
		struct khttpd_reply *reply = &batch->reply[i];

		if (reply->entry)
			khttpd_entry_put(reply->entry);
		kfree(reply->parts);
		kvfree(reply->data);
	}
	batch->folios = 0;
	batch->replies = 0;
	batch->vecs = 0;
	batch->bytes = 0;
	batch->text_len = 0;
}

/* Make the rest of @reply, of which @sent bytes went out, the connection's. */
static bool khttpd_batch_keep(struct khttpd_conn *conn,
			      struct khttpd_reply *reply, size_t sent)
{
	struct kvec *vec = &conn->thread->batch.vec[reply->vec];
	struct khttpd_out *out = &conn->out;
	size_t at = 0;

	if (reply->data) {
		out->text = reply->data;
		reply->data = NULL;
	} else if (sent < reply->header) {
		out->text = kvmalloc(reply->header, GFP_KERNEL);
		if (!out->text)
			return false;
		for (; at < reply->header; at += vec++->iov_len)
			memcpy(out->text + at, vec->iov_base, vec->iov_len);
	}
	if (out->text) {
		out->text_pos = sent;
		out->text_len = reply->header;
	}
	if (reply->to || reply->parts) {
		out->entry = reply->entry;
		reply->entry = NULL;
		out->pos = reply->from;
		if (sent > reply->header)
			out->pos += sent - reply->header;
		out->end = reply->to;
		out->parts = reply->parts;
		reply->parts = NULL;
	}
	out->close = reply->close;
	return true;
}

/* Does something follow what the batch has of it? */
static bool khttpd_batch_rest(const struct khttpd_reply *reply)
{
	return reply->parts ||
	       reply->bytes < reply->header + (reply->to - reply->from);
}

/* Count the replies up to the one that was cut, and keep its rest. */
static enum khttpd_step khttpd_batch_settle(struct khttpd_conn *conn,
					    size_t sent, u32 *done)
{
	struct khttpd_batch *batch = &conn->thread->batch;
	struct khttpd_reply *reply = batch->reply;
	unsigned int i;
	bool rest;

	for (i = 0; i < batch->replies; i++, reply++) {
		khttpd_count(requests);
		this_cpu_inc(khttpd_stats.count[reply->stat]);
		*done = reply->end;
		rest = khttpd_batch_rest(reply);
		if (sent < reply->bytes || rest) {
			if (!khttpd_batch_keep(conn, reply, sent)) {
				khttpd_count(no_memory);
				return KHTTPD_STEP_ABORT;
			}
			conn->repeats += batch->replies - i - 1;
			return KHTTPD_STEP_BLOCKED;
		}
		sent -= reply->bytes;
		if (reply->close)
			return KHTTPD_STEP_FINISH;
	}
	return KHTTPD_STEP_WAIT;
}

/* A socket copies into the page of the task that sends. One that is full, with some of
 * it still under way, would be given back then, and another one be allocated and
 * cleared. So several take turns: when one comes again, it is free as a rule.
 */
static void khttpd_batch_turn(struct khttpd_batch *batch)
{
	struct page_frag *frag = &current->task_frag;

	if (likely(frag->offset + batch->bytes <= frag->size))
		return;
	swap(*frag, batch->frag[batch->turn++ % KHTTPD_FRAGS]);
}

/**
 * khttpd_batch_send() - send what was collected
 * @conn: to whom
 * @done: set to the offset behind the last request that is now answered, or
 *	whose answer is in conn->out; unchanged if there was nothing
 *
 * Return: KHTTPD_STEP_WAIT if all is sent, _FINISH if that was the last reply,
 * _BLOCKED if conn->out has a rest to send, _ABORT on errors.
 */
enum khttpd_step khttpd_batch_send(struct khttpd_conn *conn, u32 *done)
{
	struct khttpd_batch *batch = &conn->thread->batch;
	struct khttpd_reply *last;
	enum khttpd_step step;
	bool more;
	int sent;

	if (!batch->replies)
		return KHTTPD_STEP_WAIT;
	if (!conn->nodelay) {
		khttpd_transport_nodelay(conn->sock, 1);
		conn->nodelay = true;
	}
	last = &batch->reply[batch->replies - 1];
	/* TLS's record would stay open: no FIN sends it. */
	more = (last->close && !conn->tls) || khttpd_batch_rest(last);
	khttpd_batch_turn(batch);
	sent = khttpd_transport_send(conn->sock, batch->vec, batch->vecs,
				     batch->bytes, more);
	if (sent < 0 && sent != -EAGAIN) {
		step = KHTTPD_STEP_ABORT;
	} else {
		sent = max(sent, 0);
		khttpd_count_add(bytes_sent, sent);
		step = khttpd_batch_settle(conn, sent, done);
	}
	khttpd_batch_reset(batch);
	return step;
}

/**
 * khttpd_batch_free() - release what a batch has for later ones
 * @batch: the batch, which is empty
 */
void khttpd_batch_free(struct khttpd_batch *batch)
{
	int i;

	for (i = 0; i < KHTTPD_FRAGS; i++) {
		if (batch->frag[i].page)
			put_page(batch->frag[i].page);
	}
}
