// SPDX-License-Identifier: GPL-2.0
/* Heads that came lately, and what answered them. Clients send the same few heads again and again,
 * but not in turn. A head is found by a hash of its bytes, and is then compared byte for byte.
 *
 * Limits: KHTTPD_KNOWN_MAX heads, the one that has not come for longest goes; heads of
 * KHTTPD_AGAIN_MAX bytes; all but the last one only if nothing came behind them.
 */
#include <linux/once.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "../http/headhash.h"
#include "known.h"

/* With a key, so that nobody can choose heads for one chain. */
static u64 khttpd_known_key __read_mostly;

static struct hlist_head *khttpd_known_chain(struct khttpd_knowns *all, u64 hash)
{
	return &all->chain[hash % ARRAY_SIZE(all->chain)];
}

/* The slow half of khttpd_known_find(). Of two heads with one hash, which nobody sends by chance,
 * one is found: comparing takes long.
 */
struct khttpd_known *khttpd_known_search(struct khttpd_knowns *all, const u8 *head, u32 len)
{
	struct khttpd_known *known;
	u64 hash;

	if (len < sizeof(u64))
		return NULL;
	hash = khttpd_head_hash(head, len, khttpd_known_key);
	hlist_for_each_entry(known, khttpd_known_chain(all, hash), node) {
		if (known->hash != hash)
			continue;
		if (known->memo.again.len != len || !khttpd_again_is(&known->memo.again, head, len))
			return NULL;
		list_move(&known->list, &all->lately);
		return known;
	}
	return NULL;
}

/* Room for a head that is not known, in no chain; that of the head which has not come for longest
 * if there are enough, or if there is no memory.
 */
static struct khttpd_known *khttpd_known_room(struct khttpd_knowns *all)
{
	struct khttpd_known *known = all->spare;

	if (!known && all->count < KHTTPD_KNOWN_MAX) {
		known = kmalloc(all->size, GFP_ATOMIC | __GFP_NOWARN);
		all->count += !!known;
	}
	if (!known) {
		known = list_last_entry(&all->lately, struct khttpd_known, list);
		hlist_del(&known->node);
		list_del(&known->list);
	}
	known->memo.again.len = 0;
	known->memo.again.same = false;
	known->memo.kept = false;
	known->memo.last = NULL;
	all->spare = known;
	return known;
}

/* The head in the spare entry is known from now on. It may be known before: more had come behind
 * it, so where it ends was not known. Return: its entry.
 */
static struct khttpd_known *khttpd_known_add(struct khttpd_knowns *all, struct khttpd_known *spare)
{
	const struct khttpd_again *again = &spare->memo.again;
	struct khttpd_known *known = khttpd_known_search(all, again->head, again->len);

	if (known) {
		known->memo.again.same = true;
		return known;
	}
	spare->hash = khttpd_head_hash(again->head, again->len, khttpd_known_key);
	hlist_add_head(&spare->node, khttpd_known_chain(all, spare->hash));
	list_add(&spare->list, &all->lately);
	all->spare = NULL;
	return spare;
}

/**
 * khttpd_known_parse() - go on parsing a head that is not known; from now on it is
 * @all: those that are
 * @req: as for khttpd_parse()
 * @buf: as for khttpd_parse()
 * @len: as for khttpd_parse()
 * @known: filled with its entry; with one of no use if it is too long, not complete, or wrong
 *
 * Return: as khttpd_parse().
 */
enum khttpd_parse_result khttpd_known_parse(struct khttpd_knowns *all, struct khttpd_request *req,
					    const u8 *buf, size_t len, struct khttpd_known **known)
{
	struct khttpd_known *last = khttpd_known_last(all), *spare = khttpd_known_room(all);
	enum khttpd_parse_result result;

	/* What was the last one may have had to make room. */
	if (last == spare)
		last = NULL;
	if (req->pos)
		result = khttpd_again_parse(req, &spare->memo.again, buf, len);
	else
		result = khttpd_again_parse_beside(req, &spare->memo.again,
						   last ? &last->memo.again : NULL, buf, len);
	*known = spare;
	if (result == KHTTPD_PARSE_DONE && spare->memo.again.len)
		*known = khttpd_known_add(all, spare);
	return result;
}

/**
 * khttpd_knowns_init() - no head is known
 * @all: to be filled in
 * @size: octets of an entry, which begins with a struct khttpd_known
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int khttpd_knowns_init(struct khttpd_knowns *all, u32 size)
{
	get_random_once(&khttpd_known_key, sizeof(khttpd_known_key));
	INIT_LIST_HEAD(&all->lately);
	all->size = size;
	all->spare = kmalloc(size, GFP_KERNEL);
	all->count = !!all->spare;
	return all->spare ? 0 : -ENOMEM;
}

/**
 * khttpd_knowns_exit() - undo khttpd_knowns_init(), or nothing
 * @all: used by nobody any more
 */
void khttpd_knowns_exit(struct khttpd_knowns *all)
{
	struct khttpd_known *known, *next;

	if (!all->count)
		return;
	list_for_each_entry_safe(known, next, &all->lately, list)
		kfree(known);
	kfree(all->spare);
}
