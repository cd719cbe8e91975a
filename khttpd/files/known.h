/* SPDX-License-Identifier: GPL-2.0 */
/* Heads that came lately, a thread's or a processor's. */
#ifndef _KHTTPD_KNOWN_H
#define _KHTTPD_KNOWN_H

#include <linux/list.h>
#include "memo.h"

/* Most heads that one remembers. */
#define KHTTPD_KNOWN_MAX	256

/**
 * struct khttpd_known - a head that came lately
 * @node: by @hash, if it is not the spare one
 * @list: in the order in which they came
 * @hash: of its bytes
 * @memo: the head, and the file that answered it
 */
struct khttpd_known {
	struct hlist_node node;
	struct list_head list;
	u64 hash;
	struct khttpd_memo memo;
};

/**
 * struct khttpd_knowns - all of them; whoever has them sees to it that one uses them at a time
 * @chain: by hash
 * @lately: the same ones, the last one first
 * @spare: room for one more, or NULL
 * @count: how many there are, with @spare
 * @size: octets of one
 */
struct khttpd_knowns {
	struct hlist_head chain[KHTTPD_KNOWN_MAX];
	struct list_head lately;
	struct khttpd_known *spare;
	u32 count;
	u32 size;
};

int khttpd_knowns_init(struct khttpd_knowns *all, u32 size);
void khttpd_knowns_exit(struct khttpd_knowns *all);
struct khttpd_known *khttpd_known_search(struct khttpd_knowns *all, const u8 *head, u32 len);
enum khttpd_parse_result khttpd_known_parse(struct khttpd_knowns *all, struct khttpd_request *req,
					    const u8 *buf, size_t len, struct khttpd_known **known);

/* The head that came last, NULL if there was none. */
static inline struct khttpd_known *khttpd_known_last(struct khttpd_knowns *all)
{
	return list_first_entry_or_null(&all->lately, struct khttpd_known, list);
}

/* The known head that these @len bytes begin with, or NULL. @all_bytes: nothing else has come. */
static inline struct khttpd_known *khttpd_known_find(struct khttpd_knowns *all, const u8 *bytes,
						     u32 len, bool all_bytes)
{
	struct khttpd_known *last = khttpd_known_last(all);
	u32 end = last ? last->memo.again.len : 0;

	/* All heads end so. It is the cheaper question, and tells nobody what @last is. */
	if (end && len >= end && bytes[end - 1] == '\n' &&
	    khttpd_again_is(&last->memo.again, bytes, len))
		return last;
	return all_bytes && len <= KHTTPD_AGAIN_MAX ? khttpd_known_search(all, bytes, len) : NULL;
}

#endif /* _KHTTPD_KNOWN_H */
