// SPDX-License-Identifier: GPL-2.0
/* Receiving: from bytes in the socket to requests answered, one after another, as many as came at
 * once. If there is a server, connections are only looked at (peeked). Requests are taken out
 * after they were answered, so that all others stay in the socket for the server.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include "../listen/peer.h"
#include "../listen/proxied.h"
#include "conn.h"
#include "ktls.h"

/**
 * struct khttpd_input - the received bytes, while they are worked on
 * @buf: the thread's buffer
 * @len: bytes in it
 * @off: how many of them belong to requests that are answered
 * @full: there may be more in the socket
 */
struct khttpd_input {
	u8 *buf;
	u32 len;
	u32 off;
	bool full;
};

/* Fill the buffer: what was kept, then what the socket has. */
static enum khttpd_step khttpd_input_fill(struct khttpd_conn *conn,
					  struct khttpd_input *in)
{
	int n;

	in->buf = conn->thread->buf;
	in->off = 0;
	in->len = conn->buf_len;
	in->full = true;
	if (in->len)
		memcpy(in->buf, conn->buf, in->len);
	/* What comes behind a request that was given is left in the socket. */
	if (unlikely(conn->given)) {
		in->full = false;
		return KHTTPD_STEP_WAIT;
	}
	if (conn->eof || in->len == KHTTPD_BUFFER_SIZE)
		return KHTTPD_STEP_WAIT;

	n = khttpd_conn_recv(conn, in->buf + in->len, KHTTPD_BUFFER_SIZE - in->len,
			     conn->server);
	if (n < 0 && n != -EAGAIN) {
		khttpd_count(lost);
		return KHTTPD_STEP_CLOSE;
	}
	if (n == 0)
		conn->eof = true;
	else if (n > 0)
		in->len += n;
	in->full = in->len == KHTTPD_BUFFER_SIZE;
	return KHTTPD_STEP_WAIT;
}

/* Keep what was not used. Return: false if the connection cannot go on. */
static bool khttpd_input_keep(struct khttpd_conn *conn, struct khttpd_input *in)
{
	u32 left = in->len - in->off;

	/* A head has been read to its end: the next one has its own time. */
	if (in->off && conn->timer_kind == KHTTPD_TIMER_HEAD)
		khttpd_timer_set(conn, KHTTPD_TIMER_NONE);
	if (conn->server)
		return !in->off ||
		       !khttpd_transport_discard(conn->sock, in->buf,
						 KHTTPD_BUFFER_SIZE, in->off);
	if (!left || conn->buf_size < left) {
		kfree(conn->buf);
		conn->buf = NULL;
		conn->buf_size = 0;
		conn->buf_len = 0;
	}
	if (!left)
		return true;
	if (!conn->buf) {
		u32 size = roundup_pow_of_two(left);

		conn->buf = kmalloc(size, GFP_KERNEL);
		if (!conn->buf) {
			khttpd_count(no_memory);
			return false;
		}
		conn->buf_size = size;
	}
	memcpy(conn->buf, in->buf + in->off, left);
	conn->buf_len = left;
	return true;
}

/* Not all replies fit: go on behind the last that did. The request that was looked at
 * when they were sent comes again later than now.
 */
static void khttpd_input_back(struct khttpd_conn *conn, struct khttpd_input *in,
			      u32 off)
{
	in->off = off;
	if (conn->counted && !conn->too_fast)
		khttpd_peer_request_undo(conn->peer);
	/* A 429 among them, the last, is judged anew: it was not counted. */
	if (!conn->counted && conn->too_fast && conn->repeats)
		conn->repeats--;
	conn->counted = false;
	conn->too_fast = false;
}

/* Send the batch and, if the last reply has a rest, that too. */
static enum khttpd_step khttpd_input_send(struct khttpd_conn *conn,
					  struct khttpd_input *in)
{
	enum khttpd_step step;
	u32 done = in->off;

	step = khttpd_batch_send(conn, &done);
	if (step == KHTTPD_STEP_BLOCKED) {
		if (in->off != done)
			khttpd_input_back(conn, in, done);
		khttpd_request_reset(&conn->req);
		step = khttpd_out_send(conn);
	}
	return step;
}

/* Answer a head that is whole, or refused, unless its client asks too fast. That is judged
 * once, however often the request is looked at.
 */
static enum khttpd_verdict khttpd_input_respond(struct khttpd_conn *conn,
						const u8 *head, u32 end)
{
	const u8 *whole = conn->req.error ? NULL : head;

	if (!conn->counted && !conn->repeats) {
		conn->counted = true;
		conn->too_fast = !khttpd_peer_request(conn->peer);
		if (conn->too_fast)
			khttpd_count(requests_refused);
	}
	if (conn->too_fast) {
		conn->unread = true;
		return khttpd_respond_refused(conn, whole, 429, end);
	}
	return whole ? khttpd_respond(conn, head, end) :
		       khttpd_respond_unread(conn, head, end);
}

/* The request is answered, in the batch at least. */
static void khttpd_input_answered(struct khttpd_conn *conn,
				  struct khttpd_input *in, u32 end)
{
	in->off = end;
	conn->answered = true;
	conn->streak = conn->suits ? min(conn->streak + 1, KHTTPD_CONN_STREAK) : 0;
	conn->suits = false;
	conn->counted = false;
	if (conn->repeats)
		conn->repeats--;
	khttpd_request_reset(&conn->req);
}

/* A head is refused: count why, when that is said. */
static void khttpd_input_bad(const struct khttpd_request *req,
			     enum khttpd_verdict verdict)
{
	if (verdict == KHTTPD_VERDICT_JOB || verdict == KHTTPD_VERDICT_FLUSH ||
	    verdict == KHTTPD_VERDICT_HANDOVER)
		return;
	khttpd_count(bad_heads);
	if (req->headers > READ_ONCE(khttpd_head_limits.head_fields))
		khttpd_count(head_fields_over);
	else if (req->pos >= READ_ONCE(khttpd_head_limits.head_bytes))
		khttpd_count(head_bytes_over);
	else if (req->error == 431)
		khttpd_count(head_fields_over);
}

/* Parse a head, which may be known: then it is not compared once more. */
static enum khttpd_parse_result khttpd_input_parse(struct khttpd_thread *thread,
						   struct khttpd_request *req,
						   const u8 *head, u32 len)
{
	enum khttpd_parse_result result = KHTTPD_PARSE_DONE;
	struct khttpd_known *known = NULL;

	if (!req->pos)
		known = khttpd_known_find(&thread->known, head, len, true);
	if (known)
		khttpd_again_take(req, &known->memo.again);
	else
		result = khttpd_known_parse(&thread->known, req, head, len, &known);
	thread->memo = &known->memo;
	return result;
}

/* Parse and answer the request at in->off. Return: KHTTPD_STEP_WAIT to look
 * for another one, with @more false if its bytes are not all there.
 */
static enum khttpd_step khttpd_input_request(struct khttpd_conn *conn,
					     struct khttpd_input *in,
					     bool *more)
{
	struct khttpd_thread *thread = conn->thread;
	const u8 *head = in->buf + in->off;
	struct khttpd_request *req = &conn->req;
	enum khttpd_parse_result result;
	enum khttpd_verdict verdict;
	enum khttpd_step step;
	u32 end = in->len, off;

	result = khttpd_input_parse(thread, req, head, in->len - in->off);
	switch (result) {
	case KHTTPD_PARSE_MORE:
		*more = false;
		return KHTTPD_STEP_WAIT;
	case KHTTPD_PARSE_DONE:
		end = in->off + req->head_len;
		verdict = khttpd_input_respond(conn, head, end);
		break;
	default:
		verdict = khttpd_input_respond(conn, head, end);
		khttpd_input_bad(req, verdict);
	}

	switch (verdict) {
	case KHTTPD_VERDICT_NEXT:
		khttpd_input_answered(conn, in, end);
		return KHTTPD_STEP_WAIT;
	case KHTTPD_VERDICT_SEND:
		khttpd_input_answered(conn, in, end);
		return khttpd_input_send(conn, in);
	case KHTTPD_VERDICT_FLUSH:
		return khttpd_input_send(conn, in);
	case KHTTPD_VERDICT_JOB:
		return KHTTPD_STEP_JOB;
	case KHTTPD_VERDICT_HANDOVER:
		off = in->off;
		step = khttpd_input_send(conn, in);
		/* Replies to others before it may have to be made once more. */
		return step == KHTTPD_STEP_WAIT && in->off == off ?
		       KHTTPD_STEP_HANDOVER : step;
	default:
		khttpd_count(no_memory);
		return KHTTPD_STEP_ABORT;
	}
}

/* Has something happened that no further wake-up will tell? */
static bool khttpd_input_pending(const struct khttpd_conn *conn)
{
	struct sock *sk = conn->sock->sk;

	if (READ_ONCE(sk->sk_err))
		return true;
	if (!conn->eof && (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN))
		return true;
	/* Part of a record waits in the queue for its rest. */
	if (conn->tls)
		return !conn->server && khttpd_ktls_readable(sk);
	/* Reading stops at urgent data; go on behind it. */
	return !conn->server &&
	       !skb_queue_empty_lockless(&sk->sk_receive_queue);
}

/* Does nothing come after what a look from now on finds? It only looks, so never finds the end. */
static bool khttpd_input_over(const struct khttpd_conn *conn)
{
	const struct sock *sk = conn->sock->sk;

	return conn->server && (READ_ONCE(sk->sk_err) ||
				READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN);
}

/**
 * khttpd_serve() - receive and answer requests
 * @conn: a connection at which no reply is under way
 *
 * Return: what to wait for, or how to go on.
 */
enum khttpd_step khttpd_serve(struct khttpd_conn *conn)
{
	struct khttpd_input in;
	enum khttpd_step step;
	bool more = true, over;

	if (unlikely(conn->proxy)) {
		step = khttpd_proxied_begin(conn);
		if (step != KHTTPD_STEP_WAIT || conn->proxy)
			return step;
	}
	if (unlikely(conn->given) && !conn->buf_len) {
		conn->given = false;
		conn->server = true;
	}
	over = khttpd_input_over(conn);
	step = khttpd_input_fill(conn, &in);
	/* Urgent data is for the server, if there is one, to make sense of. */
	if (step == KHTTPD_STEP_WAIT && conn->server && !conn->tls &&
	    READ_ONCE(tcp_sk(conn->sock->sk)->urg_data))
		return KHTTPD_STEP_HANDOVER;
	while (step == KHTTPD_STEP_WAIT && more && in.off < in.len)
		step = khttpd_input_request(conn, &in, &more);
	if (step == KHTTPD_STEP_WAIT)
		step = khttpd_input_send(conn, &in);

	if (step == KHTTPD_STEP_CLOSE || step == KHTTPD_STEP_ABORT)
		return step;
	if (step == KHTTPD_STEP_FINISH && !conn->server)
		return step;
	if (!khttpd_input_keep(conn, &in))
		return KHTTPD_STEP_ABORT;
	if (step != KHTTPD_STEP_WAIT)
		return step;
	/* The rest of a head never comes. */
	if (conn->eof || (over && !in.off))
		return KHTTPD_STEP_CLOSE;
	if (in.full || khttpd_input_pending(conn))
		return KHTTPD_STEP_AGAIN;
	return KHTTPD_STEP_WAIT;
}
