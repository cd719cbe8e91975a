// SPDX-License-Identifier: GPL-2.0
/* The shortest way: pollers ask for the same thing again and again. A head that equals the one
 * before is compared where it was received, and the message before goes out once more. Only what
 * can change is looked at: whether the file is true, its pages, the date, the client's limits.
 * All other requests are softreply.c's.
 *
 * Limits: one head and one file a processor, and a message for a second.
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

/* Is it the head before, and all that has come if the connection ends with it? Others
 * may change a shared page while it is read: what is used is the head that is kept.
 */
static inline bool khttpd_softrepeat_same(const struct khttpd_soft *soft,
					  const struct khttpd_soft_conn *conn,
					  struct khttpd_soft_work *work)
{
	struct sk_buff *skb;
	skb_frag_t *frag;
	const u8 *bytes;
	u32 len;

	if (conn->unread < work->memo.again.len ||
	    (work->msg.fin && conn->unread != work->memo.again.len))
		return false;
	skb = soft->net6.peek(conn->sk, 0, &work->offset);
	if (!skb)
		return false;
	bytes = skb->data;
	len = skb_headlen(skb);
	if (work->offset >= len) {
		frag = skb_shinfo(skb)->frags;
		if (!skb_shinfo(skb)->nr_frags || PageHighMem(skb_frag_page(frag)))
			return false;
		work->offset -= len;
		bytes = skb_frag_address(frag);
		len = skb_frag_size(frag);
		if (work->offset >= len)
			return false;
	}
	return khttpd_again_is(&work->memo.again, bytes + work->offset, len - work->offset);
}

/* The file that would be found for it now, with a reference, or NULL. */
static inline struct khttpd_entry *khttpd_softrepeat_entry(const struct khttpd_soft *soft,
							   const struct khttpd_soft_work *work)
{
	const struct khttpd_again *again = &work->memo.again;
	struct khttpd_site *site;

	site = khttpd_vhost_find(rcu_dereference_bh(soft->listener->site),
				 again->head + again->req.host, again->req.host_len);
	return khttpd_memo_repeat(&work->memo, site);
}

static inline bool khttpd_softrepeat_send(const struct khttpd_soft *soft,
					  struct khttpd_soft_conn *conn,
					  struct khttpd_soft_work *work,
					  const struct khttpd_entry *entry)
{
	if (khttpd_softsend_inline(soft, conn, work, entry, true))
		return false;
	khttpd_count_add(bytes_sent, work->header_len + entry->size);
	khttpd_count(requests);
	khttpd_count(soft_hits);
	khttpd_count(replies_file);
	khttpd_log(conn->sk, entry->site->name, &work->memo.again.req, work->memo.again.head, 200,
		   entry->size);
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
	struct khttpd_entry *entry = NULL;
	bool asked, done;

	/* Urgent data is for those who know what to do about it. */
	if (READ_ONCE(tcp_sk(conn->sk)->urg_data))
		return KHTTPD_SOFT_GIVE;
	if (work->memo.last && work->tails.second == ktime_get_real_seconds() &&
	    khttpd_softrepeat_same(soft, conn, work))
		entry = khttpd_softrepeat_entry(soft, work);
	if (!entry)
		return khttpd_softreply(soft, conn, work);
	asked = khttpd_peer_request(conn->peer);
	done = asked && khttpd_softrepeat_send(soft, conn, work, entry);
	khttpd_entry_put_atomic(entry);
	return khttpd_soft_asked(soft, conn, asked, done, work->memo.again.len, work->msg.fin);
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
	}
	return 0;
}

/**
 * khttpd_softrepeat_exit() - give it back
 */
void khttpd_softrepeat_exit(void)
{
	free_percpu(khttpd_soft_work);
}
