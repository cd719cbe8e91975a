// SPDX-License-Identifier: GPL-2.0
/* Open files by site and path. Bounded in number; what is unused for long, or
 * unlinked, is let go by a sweep. Whether an entry is still true is judged in
 * lookup.c at each use.
 */
#include <linux/file.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include "khttpd.h"

#define KHTTPD_SWEEP_INTERVAL	(2 * HZ)
/* Entries looked at for one that has not been used lately. */
#define KHTTPD_EVICT_SCAN	16

struct khttpd_cache_key {
	const struct khttpd_site *site;
	const char *name;
	u32 len;
	u8 coding;
};

static struct rhashtable khttpd_cache;
static DEFINE_SPINLOCK(khttpd_cache_lock);	/* list, count, entry->dead */
static LIST_HEAD(khttpd_cache_list);
static u32 khttpd_cache_count;

static void khttpd_cache_sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(khttpd_cache_sweeper, khttpd_cache_sweep);

static u32 khttpd_cache_hash(const void *data, u32 len, u32 seed)
{
	const struct khttpd_cache_key *key = data;

	return jhash(key->name, key->len, seed ^ (u32)(uintptr_t)key->site);
}

static u32 khttpd_cache_obj_hash(const void *data, u32 len, u32 seed)
{
	const struct khttpd_entry *entry = data;

	return jhash(entry->name, entry->key_len,
		     seed ^ (u32)(uintptr_t)entry->site);
}

static int khttpd_cache_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct khttpd_cache_key *key = arg->key;
	const struct khttpd_entry *entry = obj;

	return entry->site != key->site || entry->key_len != key->len ||
	       entry->coding != key->coding ||
	       memcmp(entry->name, key->name, key->len);
}

static const struct rhashtable_params khttpd_cache_params = {
	.head_offset = offsetof(struct khttpd_entry, node),
	.key_len = sizeof(struct khttpd_cache_key),
	.hashfn = khttpd_cache_hash,
	.obj_hashfn = khttpd_cache_obj_hash,
	.obj_cmpfn = khttpd_cache_cmp,
	.automatic_shrinking = true,
};

static LLIST_HEAD(khttpd_cache_dead);
static void khttpd_cache_reap(struct work_struct *work);
static DECLARE_WORK(khttpd_cache_reaper, khttpd_cache_reap);

static void khttpd_cache_reap(struct work_struct *work)
{
	struct khttpd_entry *entry, *next;

	llist_for_each_entry_safe(entry, next, llist_del_all(&khttpd_cache_dead),
				  reap)
		khttpd_entry_free(entry);
}

/**
 * khttpd_entry_free() - release an entry that nobody else can see
 * @entry: the entry
 *
 * Context: any but hard interrupts; a worker does it if this may not sleep.
 */
void khttpd_entry_free(struct khttpd_entry *entry)
{
	if (in_softirq()) {
		llist_add(&entry->reap, &khttpd_cache_dead);
		schedule_work(&khttpd_cache_reaper);
		return;
	}
	if (entry->file)
		fput(entry->file);
	khttpd_site_put(entry->site);
	kfree_rcu(entry, rcu);
}

/**
 * khttpd_entry_put() - give a reference back
 * @entry: the entry
 */
void khttpd_entry_put(struct khttpd_entry *entry)
{
	if (refcount_dec_and_test(&entry->refs))
		khttpd_entry_free(entry);
}

/* Mark an entry as removed and take it out of the list.
 * Return: false if somebody else did.
 */
static bool khttpd_cache_unlist(struct khttpd_entry *entry)
{
	lockdep_assert_held(&khttpd_cache_lock);
	if (entry->dead)
		return false;
	entry->dead = true;
	if (!list_empty(&entry->lru)) {
		list_del_init(&entry->lru);
		khttpd_cache_count--;
	}
	return true;
}

/* Take an entry out of list and table, once. */
static void khttpd_cache_remove(struct khttpd_entry *entry)
{
	bool first;

	spin_lock(&khttpd_cache_lock);
	first = khttpd_cache_unlist(entry);
	spin_unlock(&khttpd_cache_lock);
	if (!first)
		return;
	rhashtable_remove_fast(&khttpd_cache, &entry->node,
			       khttpd_cache_params);
	khttpd_entry_put(entry);
}

/* The entry for a path, true or not, with a reference; or NULL. */
static struct khttpd_entry *khttpd_cache_lookup(struct khttpd_site *site,
						const struct khttpd_path *path,
						enum khttpd_coding coding)
{
	struct khttpd_cache_key key = {
		.site = site, .name = path->name, .len = path->len,
		.coding = coding,
	};
	struct khttpd_entry *entry;

	rcu_read_lock();
	entry = rhashtable_lookup(&khttpd_cache, &key, khttpd_cache_params);
	if (entry && !refcount_inc_not_zero(&entry->refs))
		entry = NULL;
	rcu_read_unlock();
	return entry;
}

static void khttpd_cache_hit(struct khttpd_entry *entry)
{
	unsigned long now = jiffies;

	khttpd_count(cache_hits);
	if (READ_ONCE(entry->used) != now)
		WRITE_ONCE(entry->used, now);
}

/**
 * khttpd_cache_find() - the entry for a path, if it is still true
 * @site: where
 * @path: what
 * @coding: which variant of it, KHTTPD_CODING_IDENTITY for itself
 *
 * Context: process; does not wait for a disk.
 * Return: the entry with a reference, or NULL.
 */
struct khttpd_entry *khttpd_cache_find(struct khttpd_site *site,
				       const struct khttpd_path *path,
				       enum khttpd_coding coding)
{
	struct khttpd_entry *entry = khttpd_cache_lookup(site, path, coding);

	if (!entry) {
		khttpd_count(cache_misses);
		return NULL;
	}
	if (!khttpd_entry_valid(entry)) {
		khttpd_count(cache_stale);
		khttpd_cache_remove(entry);
		khttpd_entry_put(entry);
		return NULL;
	}
	khttpd_cache_hit(entry);
	return entry;
}

/**
 * khttpd_cache_peek() - the entry for a path, if that needs no second look
 * @site: where
 * @path: what
 * @coding: which variant of it
 *
 * Context: any but hard interrupts.
 * Return: the entry with a reference, or NULL.
 */
struct khttpd_entry *khttpd_cache_peek(struct khttpd_site *site,
				       const struct khttpd_path *path,
				       enum khttpd_coding coding)
{
	struct khttpd_entry *entry = khttpd_cache_lookup(site, path, coding);

	if (!entry)
		return NULL;
	if (!khttpd_entry_fresh(entry)) {
		khttpd_entry_put(entry);
		return NULL;
	}
	khttpd_cache_hit(entry);
	return entry;
}

/* One entry to make room: unused for a second, or else the oldest. */
static struct khttpd_entry *khttpd_cache_victim(void)
{
	struct khttpd_entry *entry = NULL;
	int i;

	spin_lock(&khttpd_cache_lock);
	for (i = 0; i < KHTTPD_EVICT_SCAN; i++) {
		entry = list_first_entry_or_null(&khttpd_cache_list,
						 struct khttpd_entry, lru);
		if (!entry || time_after(jiffies, READ_ONCE(entry->used) + HZ))
			break;
		list_move_tail(&entry->lru, &khttpd_cache_list);
	}
	if (entry)
		refcount_inc(&entry->refs);
	spin_unlock(&khttpd_cache_lock);
	return entry;
}

/**
 * khttpd_cache_insert() - make an entry known
 * @entry: new entry; the caller's reference stays the caller's
 *
 * Context: process.
 * Return: @entry, or with a reference the one that another had put there, in
 * which case the caller's reference to @entry is given back.
 */
struct khttpd_entry *khttpd_cache_insert(struct khttpd_entry *entry)
{
	struct khttpd_cache_key key = {
		.site = entry->site, .name = entry->name,
		.len = entry->key_len, .coding = entry->coding,
	};
	struct khttpd_entry *old;
	bool closed;

	refcount_inc(&entry->refs);
	entry->used = jiffies;
	rcu_read_lock();
	old = rhashtable_lookup_get_insert_key(&khttpd_cache, &key,
					       &entry->node,
					       khttpd_cache_params);
	if (!IS_ERR_OR_NULL(old) && !refcount_inc_not_zero(&old->refs))
		old = ERR_PTR(-EAGAIN);
	rcu_read_unlock();

	if (old) {
		/* Use what is there, or serve this one uncached. */
		refcount_dec(&entry->refs);
		if (IS_ERR(old))
			return entry;
		khttpd_entry_put(entry);
		return old;
	}
	spin_lock(&khttpd_cache_lock);
	closed = entry->site->closed;
	if (!entry->dead && !closed) {
		list_add_tail(&entry->lru, &khttpd_cache_list);
		khttpd_cache_count++;
	}
	spin_unlock(&khttpd_cache_lock);
	if (closed)
		khttpd_cache_remove(entry);

	while (READ_ONCE(khttpd_cache_count) >
	       READ_ONCE(khttpd_limits.cache_entries)) {
		old = khttpd_cache_victim();
		if (!old)
			break;
		khttpd_count(cache_evicted);
		khttpd_cache_remove(old);
		khttpd_entry_put(old);
	}
	return entry;
}

static bool khttpd_entry_is_gone(const struct khttpd_entry *entry)
{
	return d_unhashed(entry->file->f_path.dentry) ||
	       !file_inode(entry->file)->i_nlink;
}

/* Collect and remove entries of @site (NULL: of any) that are not wanted. */
static void khttpd_cache_prune(const struct khttpd_site *site)
{
	unsigned long idle = msecs_to_jiffies(READ_ONCE(khttpd_limits.cache_idle));
	struct khttpd_entry *entry, *next;
	LIST_HEAD(out);

	spin_lock(&khttpd_cache_lock);
	list_for_each_entry_safe(entry, next, &khttpd_cache_list, lru) {
		if (site ? entry->site != site :
		    !khttpd_entry_is_gone(entry) &&
		    time_before(jiffies, READ_ONCE(entry->used) + idle))
			continue;
		khttpd_cache_unlist(entry);
		list_add(&entry->lru, &out);
	}
	spin_unlock(&khttpd_cache_lock);

	list_for_each_entry_safe(entry, next, &out, lru) {
		list_del(&entry->lru);
		khttpd_count(cache_evicted);
		rhashtable_remove_fast(&khttpd_cache, &entry->node,
				       khttpd_cache_params);
		khttpd_entry_put(entry);
	}
}

static void khttpd_cache_sweep(struct work_struct *work)
{
	khttpd_cache_prune(NULL);
	schedule_delayed_work(&khttpd_cache_sweeper, KHTTPD_SWEEP_INTERVAL);
}

/**
 * khttpd_cache_purge() - forget all files of a site
 * @site: the site; what still comes for it is not cached
 *
 * Context: process.
 */
void khttpd_cache_purge(struct khttpd_site *site)
{
	spin_lock(&khttpd_cache_lock);
	site->closed = true;
	spin_unlock(&khttpd_cache_lock);
	khttpd_cache_prune(site);
	flush_work(&khttpd_cache_reaper);
}

/**
 * khttpd_cache_stats() - how full is it?
 * @entries: result
 */
void khttpd_cache_stats(u32 *entries)
{
	*entries = READ_ONCE(khttpd_cache_count);
}

/**
 * khttpd_cache_init() - set up an empty cache
 *
 * Return: 0 or a negative errno.
 */
int khttpd_cache_init(void)
{
	int err;

	err = rhashtable_init(&khttpd_cache, &khttpd_cache_params);
	if (err)
		return err;
	schedule_delayed_work(&khttpd_cache_sweeper, KHTTPD_SWEEP_INTERVAL);
	return 0;
}

/**
 * khttpd_cache_exit() - take it down; all sites are purged
 */
void khttpd_cache_exit(void)
{
	cancel_delayed_work_sync(&khttpd_cache_sweeper);
	flush_work(&khttpd_cache_reaper);
	WARN_ON(khttpd_cache_count);
	rhashtable_destroy(&khttpd_cache);
}
