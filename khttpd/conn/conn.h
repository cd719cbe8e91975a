/* SPDX-License-Identifier: GPL-2.0 */
/* Connections, from the listener to the last byte sent: the objects, who owns them, and
 * the calls between files. Sites are in files/site.h, files in files/entry.h.
 * Documentation/khttpd.rst tells the story.
 */
#ifndef _KHTTPD_CONN_H
#define _KHTTPD_CONN_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/refcount.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "../files/known.h"
#include "../files/resolve.h"
#include "../http/parse.h"
#include "../http/proxyhead.h"
#include "../http/range.h"
#include "../limits.h"
#include "../observe/stats.h"
#include "tails.h"

/* Bytes received at once: one head of full length and as much again. */
#define KHTTPD_BUFFER_SIZE	(2 * KHTTPD_HEAD_MAX)
/* Files up to this size are copied behind their header in one send; above it
 * pages go by reference. Measured: a second call costs more than the copy.
 */
#define KHTTPD_COPY_MAX		8192
/* Most pages of a file that is copied (it may start in mid-page: it does not). */
#define KHTTPD_COPY_PAGES	(DIV_ROUND_UP(KHTTPD_COPY_MAX, PAGE_SIZE))
/* Replies to pipelined requests that are sent with one call. */
#define KHTTPD_BATCH		16
/* Pages of 32 KB that a thread keeps to copy replies into. */
#define KHTTPD_FRAGS		4
/* Text of replies that are no files, in one batch. */
#define KHTTPD_TEXT_SIZE	4096
/* Bytes that one connection may send before others have their turn. */
#define KHTTPD_TURN_BYTES	(1024 * 1024)
/* Bytes that a worker reads for a connection when pages are missing. */
#define KHTTPD_READ_SIZE	(64 * 1024)

/**
 * struct khttpd_listener - a socket whose connections are served
 * @node: in khttpd_listeners; of a server's in the list of who sets @detaching
 * @site: the site it serves, in its latest form; reference held; RCU, changes with
 *	the configuration locked
 * @sock: the listening socket; not owned if @attached
 * @ops: operations of @sock as its family made them
 * @conn_ops: those of its connections
 * @mptcp: of one of MPTCP the TCP listener inside, with a reference; else NULL
 * @theirs: the next connection in the queue is one of MPTCP, and the server's
 * @net: its network namespace, to be compared only
 * @attached: it is a server's own listener
 * @port: of one that others may join (SO_REUSEPORT), while it is attached; else 0
 * @nodelay: an attached listener's connections have TCP_NODELAY anyway
 * @tls: its connections begin with a TLS handshake (tls.c); one of our own
 * @redirect: port of HTTPS to which all its clients are sent, or 0; one of our own
 * @soft: connections that are answered in softirq, or NULL
 * @send_pages: net6_tcp_send_pages() for connections of net6, which cannot go as
 *	long as one of them is there; else NULL
 * @refs: its creator's, one for each connection and queued wake-up
 * @flags: KHTTPD_LISTENER_*
 * @wait: our entry in the socket's wait queue
 * @again: accepts once more after there was no memory; runs until @stopped
 * @ready: link in a thread's list of listeners to accept from
 * @accept_lock: one thread accepts at a time, and others do not wait for it; @stopped changes
 *	under it
 * @shut_lock: held while the socket of our own is closed
 * @stopped: no accept any more
 * @detaching: somebody is giving it back to its server; interpose lock
 * @closing: replies under way are not waited for any more
 * @connections: connections in the hands of our threads; all those of @soft count as one
 * @given: connections in the accept queue that were counted as accepted before (softpart.c)
 * @idle: woken when @connections reaches zero
 * @queue_lock: protects @queue, @queue_len and @gone
 * @queue: connections for the server's accept(), oldest first
 * @queue_len: how many
 * @gone: the server cannot take connections any more
 * @hash: link in the table of attached sockets, by @sock
 * @beside: link in the list of the same ones
 * @rcu: for its end
 */
struct khttpd_listener {
	struct list_head node;
	struct khttpd_site __rcu *site;
	struct socket *sock;
	const struct proto_ops *ops;
	const struct proto_ops *conn_ops;
	struct sock *mptcp;
	bool theirs;
	const struct net *net;
	bool attached;
	u16 port;
	bool nodelay;
	bool tls;
	u16 redirect;
	struct khttpd_soft *soft;
	int (*send_pages)(struct sock *sk, const struct bio_vec *pages,
			  unsigned int nr_pages, int flags);
	/* From here on written with connections. */
	refcount_t refs ____cacheline_aligned_in_smp;
	unsigned long flags;
	wait_queue_entry_t wait;
	struct timer_list again;
	struct llist_node ready;
	struct mutex accept_lock;	/* accepting, @stopped, @theirs */
	struct mutex shut_lock;		/* closing the socket; outside @accept_lock */
	bool stopped;
	bool detaching;
	bool closing;
	atomic_t connections;
	atomic_t given;
	wait_queue_head_t idle;
	spinlock_t queue_lock;		/* the queue and @gone */
	struct list_head queue;
	u32 queue_len;
	bool gone;
	struct hlist_node hash;
	struct list_head beside;
	struct rcu_head rcu;
};

/**
 * struct khttpd_handed - a connection in the queue of a server's listener
 * @node: link there
 * @sk: one that never had a socket (soft.c); NULL for a struct khttpd_conn
 */
struct khttpd_handed {
	struct list_head node;
	struct sock *sk;
};

/* Marks a wake-up as ours, for the server's sleepers; no socket uses it. */
#define KHTTPD_WAKE_SERVER	EPOLLMSG

#define KHTTPD_LISTENER_QUEUED	0	/* in a thread's list */
#define KHTTPD_LISTENER_AGAIN	1	/* somebody wanted @accept_lock to accept */

/**
 * struct khttpd_job - work that may sleep, done for one connection
 * @work: in khttpd_workqueue
 * @lane: the file system's it belongs to, from its start on
 * @waiting: link among those that wait there
 * @conn: who waits; does not go away before @done
 * @ready: link in the thread's list of those that are done
 * @done: results are valid, and the worker is through with this job; the thread's
 * @lookup: it is a lookup, not a read
 * @site: lookup: where (reference held)
 * @wish: lookup: what
 * @found: lookup: result
 * @entry: read: the file (reference held)
 * @error: read: 0, or why there is no data
 * @pos: read: offset in the file
 * @len: read: bytes wanted, then bytes read
 * @data: read: the bytes
 */
struct khttpd_job {
	struct work_struct work;
	struct khttpd_lane *lane;
	struct list_head waiting;
	struct khttpd_conn *conn;
	struct llist_node ready;
	bool done;
	bool lookup;
	struct khttpd_site *site;
	struct khttpd_wish wish;
	struct khttpd_found found;
	struct khttpd_entry *entry;
	int error;
	loff_t pos;
	size_t len;
	u8 *data;
};

/**
 * struct khttpd_given - what there is of a connection that a server gives back
 * @conn: memory for it
 * @sock: its socket
 * @peer: its client, or NULL
 * @client: for whom a trusted proxy speaks, or NULL (kmalloc)
 * @first: the header in which that one said so, or NULL; charged to the socket
 * @head: a request that is to be answered first (kmalloc)
 * @len: its length
 */
struct khttpd_given {
	struct khttpd_conn *conn;
	struct socket *sock;
	struct khttpd_peer *peer;
	struct khttpd_endpoint *client;
	struct sk_buff *first;
	u8 *head;
	u32 len;
};

enum khttpd_conn_state {
	KHTTPD_CONN_NEW,	/* accepted, not yet seen by its thread */
	KHTTPD_CONN_PROXY,	/* the same, from a proxy that has something to say first */
	KHTTPD_CONN_SLOW,	/* as NEW, but served in softirq before; see softpart.c */
	KHTTPD_CONN_READ,	/* waits for a request */
	KHTTPD_CONN_SEND,	/* waits for room in the socket */
	KHTTPD_CONN_JOB,	/* waits for a worker */
	KHTTPD_CONN_LINGER,	/* waits until the peer has taken it all, or for its FIN */
	KHTTPD_CONN_HANDOVER,	/* goes to the server's queue next */
	KHTTPD_CONN_REFUSE,	/* came back from a server's queue: 503 */
	KHTTPD_CONN_DEAD,	/* closed; freed when in no list and without a worker */
};

/* How a piece of work on a connection ended, and what comes next. */
enum khttpd_step {
	KHTTPD_STEP_WAIT,	/* for the peer's next bytes */
	KHTTPD_STEP_BLOCKED,	/* for room in the socket */
	KHTTPD_STEP_JOB,	/* for a worker */
	KHTTPD_STEP_AGAIN,	/* others first, then go on */
	KHTTPD_STEP_HANDOVER,	/* for the server's accept() */
	KHTTPD_STEP_SHAKE,	/* for the TLS handshake */
	KHTTPD_STEP_FINISH,	/* last reply sent: close in order */
	KHTTPD_STEP_CLOSE,	/* nothing left to say */
	KHTTPD_STEP_ABORT,	/* cannot be completed: reset */
};

enum khttpd_timer {
	KHTTPD_TIMER_NONE = -1,
	KHTTPD_TIMER_HEAD,
	KHTTPD_TIMER_IDLE,	/* without a request, until it is looked after its reply */
	KHTTPD_TIMER_SEND,
	KHTTPD_TIMER_REST,	/* without a request, the rest; after both of them */
	KHTTPD_TIMER_LINGER,
	KHTTPD_TIMERS
};

/**
 * struct khttpd_parts - the parts of a multipart/byteranges reply
 * @boundary: what is between them
 * @next: which comes next; @count is the end of it all
 * @count: how many
 * @range: where they are
 */
struct khttpd_parts {
	u64 boundary;
	unsigned int next;
	unsigned int count;
	struct khttpd_range range[KHTTPD_RANGES_MAX];
};

/**
 * struct khttpd_out - the reply that could not be sent at once
 * @text: bytes to send first (kvmalloc), or NULL
 * @text_pos: how many of them are sent
 * @text_len: how many there are
 * @entry: file to send after them (reference held), or NULL
 * @pos: offset of the next byte of the file
 * @end: offset behind the last
 * @parts: parts that follow, or NULL; owned
 * @close: the connection ends with this reply
 */
struct khttpd_out {
	u8 *text;
	u32 text_pos;
	u32 text_len;
	struct khttpd_entry *entry;
	loff_t pos;
	loff_t end;
	struct khttpd_parts *parts;
	bool close;
};

/**
 * struct khttpd_conn - a connection; owned and touched by one thread only
 * @wait: our entry in the socket's wait queue; the one thing others run
 * @ready: link in the thread's ready list
 * @flags: KHTTPD_CONN_QUEUED and others
 * @thread: owner
 * @listener: where it came from; reference held
 * @sock: its socket
 * @all: link in the thread's list of connections
 * @handed: in a server's queue
 * @timer: link in the thread's list for @timer_kind
 * @deadline: jiffies at which it is over
 * @linger_end: jiffies after which what the peer sends is no reason to wait longer
 * @acked: bytes that the peer had taken when KHTTPD_TIMER_SEND was set
 * @timer_kind: enum khttpd_timer
 * @state: enum khttpd_conn_state
 * @answered: a request was, since the timer was last set for want of one
 * @eof: the peer has sent its FIN
 * @nodelay: TCP_NODELAY has been set by us
 * @tls: the record layer of TLS is on, both ways (ktls.c)
 * @proxy: a trusted proxy's header comes first (proxied.c)
 * @alert: what its peer will be told of its last record, 0 for nothing
 * @bye: its peer has been told that nothing follows, or cannot be told
 * @shut: our half has ended
 * @server: what is not ours is a server's: its bytes are peeked at only
 * @given: its first request, in @buf, comes from a server that gave it back. Nothing is a server's
 *	until that is answered
 * @counted: the request being answered counts in its client's rate already
 * @too_fast: it came too early, and gets 429
 * @repeats: how many requests from here on were answered before, logged and counted, but
 *	their replies did not fit behind others
 * @suits: the request being answered could have been in softirq
 * @streak: how many in a row could have been
 * @refused: it came back from a server, or cannot go there: 503 is all it gets
 * @unread: bytes of the peer may be left unread when we close
 * @peer: its client, if that has limits; counted there
 * @client: for whom a trusted proxy speaks, or NULL; owned
 * @first: what a server reads before what is in the socket, or NULL; charged to the socket
 * @req: head being parsed; offsets count from the request's first byte
 * @buf: bytes received but not yet used, or given (kmalloc), or NULL; never if @server
 * @buf_size: room there
 * @buf_len: bytes in it
 * @out: reply in the middle of being sent
 * @job: work under way, or NULL; may outlast @sock, and the listener's socket
 */
struct khttpd_conn {
	wait_queue_entry_t wait;
	struct llist_node ready;
	unsigned long flags;
	struct khttpd_thread *thread;
	struct khttpd_listener *listener;
	struct socket *sock;
	struct list_head all;
	struct khttpd_handed handed;
	struct list_head timer;
	unsigned long deadline;
	unsigned long linger_end;
	u64 acked;
	s8 timer_kind;
	u8 state;
	bool answered;
	bool eof;
	bool nodelay;
	bool tls;
	bool proxy;
	u8 alert;
	bool bye;
	bool shut;
	bool server;
	bool given;
	bool counted;
	bool too_fast;
	u16 repeats;
	bool suits;
	u8 streak;
	bool refused;
	bool unread;
	struct khttpd_peer *peer;
	struct khttpd_endpoint *client;
	struct sk_buff *first;
	struct khttpd_request req;
	u8 *buf;
	u32 buf_size;
	u32 buf_len;
	struct khttpd_out out;
	struct khttpd_job *job;
};

#define KHTTPD_CONN_QUEUED	0	/* in the thread's ready list */
/* Requests in a row that could have been answered in softirq, for which a connection goes back
 * there. The way there and, for one that could not be, back costs as much as 2.4 requests save.
 */
#define KHTTPD_CONN_STREAK	4

/**
 * struct khttpd_batch - replies collected for one send
 * @vec: header, date, and body pieces, in order
 * @vecs: how many
 * @bytes: sum of their lengths
 * @replies: how many replies they make
 * @reply: for each: its file or NULL, index of its first vec, header length,
 *	length in this batch, end of its request in the buffer, the part of its
 *	file that follows the header, parts that follow that, text of its own
 *	(kvmalloc), whether it is the last, and what to count
 * @folio: page-cache folios held for the bodies
 * @folios: how many
 * @text: storage of replies without file
 * @text_len: bytes used of it
 * @fields: what the site says in front of the date of a reply's file, by its number: HSTS, and when
 *	it expires
 * @frag: pages to copy into, which take turns with the one in use; may be empty
 * @turn: how many turns there were
 */
struct khttpd_batch {
	struct kvec vec[KHTTPD_BATCH * (3 + KHTTPD_COPY_PAGES)];
	unsigned int vecs;
	size_t bytes;
	unsigned int replies;
	struct khttpd_reply {
		struct khttpd_entry *entry;
		unsigned int vec;
		u32 header;
		u32 bytes;
		u32 end;
		loff_t from;
		loff_t to;
		struct khttpd_parts *parts;
		char *data;
		bool close;
		u8 stat;
	} reply[KHTTPD_BATCH];
	struct folio *folio[KHTTPD_BATCH * (1 + KHTTPD_COPY_PAGES)];
	unsigned int folios;
	u32 text_len;
	char text[KHTTPD_TEXT_SIZE];
	char fields[KHTTPD_BATCH][KHTTPD_HSTS_FIELD + KHTTPD_EXPIRES_SIZE];
	struct page_frag frag[KHTTPD_FRAGS];
	unsigned int turn;
};

/**
 * struct khttpd_thread - one event loop, bound to a CPU
 * @task: the kernel thread
 * @cpu: where it runs
 * @ready: connections with something to do; anyone adds
 * @accept: listeners with something to accept; anyone adds
 * @jobs: jobs that are done; workers add
 * @scan: connections of stopped listeners must be closed
 * @ticked: it is time to look at @timers
 * @tick: wakes the thread to look at @timers
 * @due: the deadline @tick is for, in jiffies
 * @conns: all its connections
 * @count: how many; read by others
 * @timers: connections by timer kind, next deadline first
 * @tails: ends of headers
 * @buf: KHTTPD_BUFFER_SIZE bytes to receive into
 * @known: heads that were parsed lately, and the files that answered them
 * @memo: of the head that was parsed last; in @known
 * @path_of: to which of them the path in @wish belongs, compared only; or NULL
 * @wish: room for what a request looks for
 * @batch: replies being collected
 */
struct khttpd_thread {
	struct task_struct *task;
	int cpu;
	struct llist_head ready;
	struct llist_head accept;
	struct llist_head jobs;
	bool scan;
	bool ticked;
	struct timer_list tick;
	unsigned long due;
	struct list_head conns;
	u32 count;
	struct list_head timers[KHTTPD_TIMERS];
	struct khttpd_tails tails;
	u8 *buf;
	struct khttpd_knowns known;
	struct khttpd_memo *memo;
	const struct khttpd_memo *path_of;
	struct khttpd_wish wish;
	struct khttpd_batch batch;
};

/* The path in thread->wish is none that was remembered. */
static inline void khttpd_thread_path_gone(struct khttpd_thread *thread)
{
	thread->memo->kept = false;
	thread->path_of = NULL;
}

/* thread.c */
int khttpd_threads_init(void);
void khttpd_threads_exit(void);
struct khttpd_thread *khttpd_thread_here(void);
struct khttpd_thread *khttpd_thread_choose(void);
void khttpd_threads_scan(void);
void khttpd_threads_drain(void);
void khttpd_thread_kick_conn(struct khttpd_thread *thread,
			     struct khttpd_conn *conn);
void khttpd_thread_kick_listener(struct khttpd_thread *thread,
				 struct khttpd_listener *listener);
void khttpd_thread_kick_job(struct khttpd_thread *thread,
			    struct khttpd_job *job);

/* timer.c */
void khttpd_timer_set(struct khttpd_conn *conn, enum khttpd_timer kind);
void khttpd_timers_run(struct khttpd_thread *thread);

/* How much later than its time a connection may be ended, together with others. */
#define KHTTPD_TICK		(HZ / 4)

/* conn.c */
int khttpd_conns_init(void);
void khttpd_conns_exit(void);
bool khttpd_conn_create(struct khttpd_listener *listener, struct socket *sock,
			struct khttpd_thread *thread, struct khttpd_peer *peer,
			struct khttpd_endpoint *client, struct sk_buff *first,
			enum khttpd_conn_state state);
struct khttpd_conn *khttpd_conn_reserve(struct khttpd_listener *listener);
void khttpd_conn_unreserve(struct khttpd_conn *conn);
void khttpd_conn_begin_given(const struct khttpd_given *given);
void khttpd_conn_adopt(struct khttpd_conn *conn);
void khttpd_conn_kick(struct khttpd_conn *conn);
void khttpd_conn_release(struct khttpd_conn *conn);
bool khttpd_conn_at_work(const struct khttpd_conn *conn);
void khttpd_conn_bury(struct khttpd_conn *conn);
void khttpd_conns_wait(void);
void khttpd_conn_free(struct khttpd_conn *conn);
int khttpd_conn_recv(struct khttpd_conn *conn, void *buf, size_t len, bool peek);
u32 khttpd_conns_count(void);
bool khttpd_conns_full(void);

/* turn.c */
void khttpd_turn(struct khttpd_conn *conn);
void khttpd_turn_scan(struct khttpd_conn *conn, bool all);

/* close.c */
bool khttpd_close_offered(const struct khttpd_conn *conn);
void khttpd_close(struct khttpd_conn *conn, bool abort);
void khttpd_close_press(struct khttpd_conn *conn);
void khttpd_close_end(struct khttpd_conn *conn);
void khttpd_close_finish(struct khttpd_conn *conn);
void khttpd_close_drain(struct khttpd_conn *conn);
void khttpd_close_expire(struct khttpd_conn *conn);

/* serve.c */
enum khttpd_step khttpd_serve(struct khttpd_conn *conn);

/* respond.c */
enum khttpd_verdict {
	KHTTPD_VERDICT_NEXT,	/* reply collected, go on */
	KHTTPD_VERDICT_SEND,	/* reply collected; send before going on */
	KHTTPD_VERDICT_FLUSH,	/* send what is collected, then ask again */
	KHTTPD_VERDICT_JOB,	/* a worker has to find out first */
	KHTTPD_VERDICT_HANDOVER, /* not ours: the server's */
	KHTTPD_VERDICT_ABORT,	/* no memory */
};

/**
 * struct khttpd_ask - a request that is being answered
 * @conn: whose; @conn->req is the request
 * @site: which site it is for; reference held while it is answered
 * @head: its bytes
 * @end: offset behind it in the buffer
 * @close: the connection ends with the reply
 * @size: length of the file that it is not about in the end, for 416; in bytes
 */
struct khttpd_ask {
	struct khttpd_conn *conn;
	struct khttpd_site *site;
	const u8 *head;
	u32 end;
	bool close;
	u64 size;
};

enum khttpd_verdict khttpd_respond(struct khttpd_conn *conn, const u8 *head,
				   u32 end);
enum khttpd_verdict khttpd_respond_unread(struct khttpd_conn *conn, const u8 *head, u32 end);
enum khttpd_verdict khttpd_respond_refused(struct khttpd_conn *conn,
					   const u8 *head, u16 status, u32 end);

/* reply.c */
enum khttpd_verdict khttpd_reply_status(const struct khttpd_ask *ask,
					u16 status);
enum khttpd_verdict khttpd_reply_https(const struct khttpd_ask *ask);
enum khttpd_verdict khttpd_reply_moved(const struct khttpd_ask *ask);
enum khttpd_verdict khttpd_reply_redirect(const struct khttpd_ask *ask,
					  size_t dir_len);
enum khttpd_verdict khttpd_reply_options(const struct khttpd_ask *ask,
					 const struct khttpd_path *path);
enum khttpd_verdict khttpd_reply_made(const struct khttpd_ask *ask, char *body,
				      size_t len, const char *type);
enum khttpd_verdict khttpd_reply_page(const struct khttpd_ask *ask,
				      struct khttpd_entry *entry, u16 status);
enum khttpd_verdict khttpd_reply_file(const struct khttpd_ask *ask,
				      struct khttpd_entry *entry, u16 *error);

/* parts.c */
u64 khttpd_parts_length(const struct khttpd_parts *parts,
			const struct khttpd_entry *entry);
int khttpd_parts_next(struct khttpd_out *out);

/* batch.c */
bool khttpd_batch_has_room(const struct khttpd_batch *batch);
enum khttpd_verdict khttpd_batch_file(struct khttpd_conn *conn,
				      struct khttpd_entry *entry,
				      enum khttpd_tail tail, const char *hsts, u32 end);
void khttpd_batch_part(struct khttpd_conn *conn, struct khttpd_entry *entry,
		       u32 len, const struct khttpd_range *range,
		       struct khttpd_parts *parts, bool close,
		       enum khttpd_stat stat, u32 end);
void khttpd_batch_data(struct khttpd_conn *conn, char *data, u32 len,
		       bool close, enum khttpd_stat stat, u32 end);
char *khttpd_batch_text(struct khttpd_batch *batch, size_t *room);
void khttpd_batch_add_text(struct khttpd_conn *conn, u32 len, bool close,
			   enum khttpd_stat stat, u32 end);
enum khttpd_step khttpd_batch_send(struct khttpd_conn *conn, u32 *done);
void khttpd_batch_free(struct khttpd_batch *batch);

/* send.c */
enum khttpd_step khttpd_out_send(struct khttpd_conn *conn);
enum khttpd_step khttpd_out_short(struct khttpd_conn *conn);
void khttpd_out_clear(struct khttpd_out *out);

/* transport.c */
int khttpd_transport_recv(struct socket *sock, void *buf, size_t len,
			  bool peek);
int khttpd_transport_take(struct socket *sock, void *buf, size_t len);
int khttpd_transport_discard(struct socket *sock, void *buf, size_t size,
			     size_t len);
int khttpd_transport_send(struct socket *sock, struct kvec *vec,
			  unsigned int vecs, size_t len, bool more);
int khttpd_transport_send_pages(const struct khttpd_listener *listener,
				struct socket *sock, struct bio_vec *vec,
				unsigned int vecs, size_t len, bool more);
struct sk_buff *khttpd_transport_hold(struct sock *sk, const void *data, size_t len);
void khttpd_transport_forget(struct sock *sk, struct sk_buff *skb);
void khttpd_transport_unread(struct sock *sk, struct sk_buff *skb);
void khttpd_transport_nodelay(struct socket *sock, int on);
bool khttpd_transport_hold_net(struct sock *sk);
void khttpd_transport_drop_net(struct sock *sk);
void khttpd_transport_graft(struct socket *from, struct socket *to);
void khttpd_transport_empty(struct socket *sock);
void khttpd_transport_close(struct socket *sock, bool abort);

/* job.c */
int khttpd_jobs_init(void);
void khttpd_jobs_wait(void);
void khttpd_jobs_exit(void);
struct khttpd_job *khttpd_job_lookup(struct khttpd_conn *conn,
				     struct khttpd_site *site,
				     const struct khttpd_wish *wish);
struct khttpd_job *khttpd_job_read(struct khttpd_conn *conn,
				   struct khttpd_entry *entry, loff_t pos,
				   loff_t end);
void khttpd_job_free(struct khttpd_job *job);
void khttpd_job_drop(struct khttpd_conn *conn);

#endif /* _KHTTPD_CONN_H */
