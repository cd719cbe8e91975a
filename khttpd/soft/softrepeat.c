// SPDX-License-Identifier: GPL-2.0
/* The shortest way: clients ask for the same things again and again. A head that came lately is
 * compared where it was received, and answered with the header that it got then. Only what can
 * change is looked at: whether the file is true, its pages, the date, the client's limits.
 * All other requests are softreply.c's.
 *
 * Limits: a header is good for the second in which it was written.
 */
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include "../files/vhost.h"
#include "../listen/listener.h"
#include "../listen/peer.h"
#include "../observe/log.h"
#include "softsend.h"

static struct khttpd_soft_work __percpu *khttpd_soft_work;

/* The known head that comes first, or NULL. Others may change a shared page while it is read: what
 * is used is the head that is kept.
 */
static inline struct khttpd_soft_known *khttpd_softrepeat_known(const struct khttpd_soft *soft,
								const struct khttpd_soft_conn *conn,
								struct khttpd_soft_work *work)
{
	struct sk_buff *skb;
	skb_frag_t *frag;
	const u8 *bytes;
	u32 len, offset;

	skb = soft->net6.peek(conn->sk, 0, &offset);
	if (!skb)
		return NULL;
	bytes = skb->data;
	len = skb_headlen(skb);
	if (offset >= len) {
		frag = skb_shinfo(skb)->frags;
		if (!skb_shinfo(skb)->nr_frags || PageHighMem(skb_frag_page(frag)))
			return NULL;
		offset -= len;
		bytes = skb_frag_address(frag);
		len = skb_frag_size(frag);
		if (offset >= len)
			return NULL;
	}
	len = min(len - offset, conn->unread);
	return khttpd_soft_known_of(khttpd_known_find(&work->known, bytes + offset, len,
						      len == conn->unread));
}

/* The file that would be found for a known head now; NULL if that is to be seen, or if the
 * connection would end with more to read.
 */
static inline struct khttpd_entry *khttpd_softrepeat_entry(const struct khttpd_soft *soft,
							   const struct khttpd_soft_conn *conn,
							   const struct khttpd_soft_known *known)
{
	const struct khttpd_again *again = &known->is.memo.again;
	struct khttpd_site *site;

	if (!known->is.memo.last || known->second != ktime_get_real_seconds() ||
	    (known->fin && conn->unread != again->len))
		return NULL;
	site = khttpd_vhost_find(rcu_dereference_bh(soft->listener->site),
				 again->head + again->req.host, again->req.host_len);
	return khttpd_memo_repeat(&known->is.memo, site);
}

static inline bool khttpd_softrepeat_send(const struct khttpd_soft *soft,
					  struct khttpd_soft_conn *conn,
					  struct khttpd_soft_work *work,
					  const struct khttpd_soft_known *known,
					  const struct khttpd_entry *entry)
{
	work->header[0].iov_base = (void *)known->text;
	work->header[0].iov_len = known->header_len;
	work->pieces = 1;
	work->msg.fin = known->fin;
	if (khttpd_softsend_inline(soft, conn, work, entry, true))
		return false;
	khttpd_count_add(bytes_sent, known->header_len + entry->size);
	khttpd_count(requests);
	khttpd_count(soft_hits);
	khttpd_count(replies_file);
	khttpd_log(conn->sk, NULL, entry->site->name, &known->is.memo.again.req,
		   known->is.memo.again.head, 200, entry->size);
	return true;
}

/**
 * khttpd_softrepeat() - answer the request that comes first, if it is a plain one
 * @soft: where the connection came from
 * @conn: the connection, locked, bottom halves off; of its bytes those that are
 *	answered are taken off
 *
 * Requests that were answered are consumed; nothing else is. A request is a server's by itself,
 * by the rules, or because it is known that there is no such file.
 *
 * Return: enum khttpd_soft_verdict
 */
enum khttpd_soft_verdict khttpd_softrepeat(const struct khttpd_soft *soft,
					   struct khttpd_soft_conn *conn)
{
	struct khttpd_soft_work *work = this_cpu_ptr(khttpd_soft_work);
	struct khttpd_soft_known *known;
	struct khttpd_entry *entry;
	bool asked, done;

	/* Urgent data is for those who know what to do about it. */
	if (READ_ONCE(tcp_sk(conn->sk)->urg_data))
		return KHTTPD_SOFT_GIVE;
	known = khttpd_softrepeat_known(soft, conn, work);
	entry = known ? khttpd_softrepeat_entry(soft, conn, known) : NULL;
	if (!entry)
		return khttpd_softreply(soft, conn, work, known);
	asked = khttpd_peer_request(conn->peer);
	done = asked && khttpd_softrepeat_send(soft, conn, work, known, entry);
	return khttpd_soft_asked(soft, conn, asked, done, known->is.memo.again.len, known->fin);
}

/**
 * khttpd_softrepeat_init() - get room to work in
 *
 * Return: 0 or -ENOMEM.
 */
int khttpd_softrepeat_init(void)
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
		work->msg.given = true;
		if (khttpd_knowns_init(&work->known, sizeof(struct khttpd_soft_known))) {
			khttpd_softrepeat_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * khttpd_softrepeat_exit() - give it back
 */
void khttpd_softrepeat_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		khttpd_knowns_exit(&per_cpu_ptr(khttpd_soft_work, cpu)->known);
	free_percpu(khttpd_soft_work);
}
