// SPDX-License-Identifier: GPL-2.0
/* Heads that came lately, and what answered them. Clients send the same few heads again and again,
 * but not in turn. A head is found by a hash of its bytes, and is then compared byte for byte.
 *
 * Limits: KHTTPD_SOFT_KNOWN heads a processor, the one that has not come for longest goes; heads of
 * KHTTPD_AGAIN_MAX bytes; all but the last one only if nothing came behind them.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xxhash.h>
#include "softwork.h"

/* With a key, so that nobody can choose heads for one chain. */
static u64 khttpd_softknown_key __read_mostly;

static u64 khttpd_softknown_hash(const u8 *head, u32 len)
{
	return xxh64(head, len, khttpd_softknown_key);
}

static struct hlist_head *khttpd_softknown_chain(struct khttpd_soft_work *work, u64 hash)
{
	return &work->known[hash % ARRAY_SIZE(work->known)];
}

/* The slow half of khttpd_softknown_find(). */
struct khttpd_soft_known *khttpd_softknown_search(struct khttpd_soft_work *work, const u8 *head,
						  u32 len)
{
	u64 hash = khttpd_softknown_hash(head, len);
	struct khttpd_soft_known *known;

	hlist_for_each_entry(known, khttpd_softknown_chain(work, hash), node) {
		if (known->hash != hash || known->memo.again.len != len ||
		    !khttpd_again_is(&known->memo.again, head, len))
			continue;
		list_move(&known->list, &work->lately);
		return known;
	}
	return NULL;
}

/**
 * khttpd_softknown_room() - room for a head that is not known
 * @work: the processor's
 *
 * Return: it, in no chain; that of the head which has not come for longest if there are enough, or
 * if there is no memory.
 */
struct khttpd_soft_known *khttpd_softknown_room(struct khttpd_soft_work *work)
{
	struct khttpd_soft_known *known = work->spare;

	if (known)
		return known;
	if (work->n_known < KHTTPD_SOFT_KNOWN)
		known = kmalloc(sizeof(*known), GFP_ATOMIC | __GFP_NOWARN);
	if (known) {
		work->n_known++;
	} else {
		known = list_last_entry(&work->lately, struct khttpd_soft_known, list);
		hlist_del(&known->node);
		list_del(&known->list);
	}
	work->spare = known;
	return known;
}

/**
 * khttpd_softknown_add() - a head is known from now on
 * @work: the processor's
 * @known: what khttpd_softknown_room() said, with the head in it
 */
void khttpd_softknown_add(struct khttpd_soft_work *work, struct khttpd_soft_known *known)
{
	const struct khttpd_again *again = &known->memo.again;

	known->hash = khttpd_softknown_hash(again->head, again->len);
	hlist_add_head(&known->node, khttpd_softknown_chain(work, known->hash));
	list_add(&known->list, &work->lately);
	work->spare = NULL;
}

/**
 * khttpd_softknown_init() - a processor knows no head
 * @work: the processor's
 *
 * Return: 0 or -ENOMEM.
 */
int khttpd_softknown_init(struct khttpd_soft_work *work)
{
	get_random_once(&khttpd_softknown_key, sizeof(khttpd_softknown_key));
	INIT_LIST_HEAD(&work->lately);
	work->spare = kmalloc(sizeof(*work->spare), GFP_KERNEL);
	work->n_known = !!work->spare;
	return work->spare ? 0 : -ENOMEM;
}

/**
 * khttpd_softknown_exit() - undo khttpd_softknown_init()
 * @work: the processor's; nobody uses it any more
 */
void khttpd_softknown_exit(struct khttpd_soft_work *work)
{
	struct khttpd_soft_known *known, *next;

	if (!work->n_known)
		return;
	list_for_each_entry_safe(known, next, &work->lately, list)
		kfree(known);
	kfree(work->spare);
}
