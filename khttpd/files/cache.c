// SPDX-License-Identifier: GPL-2.0
/* Open files by site and path. Bounded in number: when it is full, a file comes in with the
 * second request for it. A file that changes is let go at once (watch.c), one that is unused for
 * long by a sweep, the oldest when memory is short. Pages are not held: they are the page
 * cache's. Whether an entry is still true is judged in valid.c at each use.
 */
#include <linux/file.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include "../compat/shrinker.h"
#include "../limits.h"
#include "../observe/stats.h"
#include "cache.h"
#include "negative.h"
#include "watch.h"

#define KHTTPD_SWEEP_INTERVAL	(2 * HZ)
/* Entries looked at for one that has not been used lately. */
#define KHTTPD_EVICT_SCAN	16
/* Entries looked at in one piece, when all are. */
#define KHTTPD_PRUNE_PIECE	64
/* Files that are remembered to have been asked for once, by a hash. */
#define KHTTPD_SEEN_BITS	12

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
/* In the list, but no entry: what is in front of it has been looked at. One looks at a time. */
static LIST_HEAD(khttpd_cache_place);
static DEFINE_MUTEX(khttpd_cache_pruning);
/* How often an entry has left the table; a wrap takes longer than any entry is known. */
static atomic_long_t khttpd_cache_left;

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

/* The entry behind a place in the list, or NULL. */
static struct khttpd_entry *khttpd_cache_next(const struct list_head *place)
	__must_hold(&khttpd_cache_lock)
{
	const struct list_head *next = place->next;

	lockdep_assert_held(&khttpd_cache_lock);
	if (next == &khttpd_cache_place)
		next = next->next;
	return next == &khttpd_cache_list ? NULL : list_entry(next, struct khttpd_entry, lru);
}

/* Mark an entry as removed and take it out of the list.
 * Return: false if somebody else did.
 */
static bool khttpd_cache_unlist(struct khttpd_entry *entry)
	__must_hold(&khttpd_cache_lock)
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

/* Nobody has found it in the table and uses it still. */
static void khttpd_cache_forget(struct rcu_head *rcu)
{
	khttpd_entry_put_atomic(container_of(rcu, struct khttpd_entry, rcu));
}

/* Take one that is not in the list out of the table. Its file is closed a grace period later, for
 * those who have found it without a reference.
 */
static void khttpd_cache_drop(struct khttpd_entry *entry)
{
	rhashtable_remove_fast(&khttpd_cache, &entry->node,
			       khttpd_cache_params);
	/* Out of the table, then counted, then freed. Pairs with the acquires in
	 * khttpd_cache_departures() and khttpd_cache_repeat().
	 */
	atomic_long_inc_return(&khttpd_cache_left);
	khttpd_watch_del(entry);
	call_rcu(&entry->rcu, khttpd_cache_forget);
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
	khttpd_cache_drop(entry);
}

/* Entries whose files have changed. */
static LLIST_HEAD(khttpd_cache_changes);
static void khttpd_cache_change(struct work_struct *work);
static DECLARE_WORK(khttpd_cache_changer, khttpd_cache_change);

static void khttpd_cache_change(struct work_struct *work)
{
	struct khttpd_entry *entry, *next;
	bool listed;

	llist_for_each_entry_safe(entry, next,
				  llist_del_all(&khttpd_cache_changes), reap) {
		/* One that is only coming in is judged when it is used. */
		spin_lock(&khttpd_cache_lock);
		listed = !list_empty(&entry->lru) &&
			 khttpd_cache_unlist(entry);
		spin_unlock(&khttpd_cache_lock);
		if (listed) {
			khttpd_count(cache_changed);
			khttpd_cache_drop(entry);
		}
		khttpd_entry_put(entry);
	}
}

/* An entry's file has changed: let it go. Context: process; locks of inodes may be held. */
static void khttpd_cache_changed(struct khttpd_entry *entry)
{
	/* Once is enough; the worker's reference is the last it may get so. */
	if (test_and_set_bit(0, &entry->changing))
		return;
	refcount_inc(&entry->refs);
	llist_add(&entry->reap, &khttpd_cache_changes);
	schedule_work(&khttpd_cache_changer);
}

/* The entry for a path, true or not, or NULL. Context: RCU read side. */
static struct khttpd_entry *khttpd_cache_lookup_rcu(struct khttpd_site *site,
						    const struct khttpd_path *path,
						    enum khttpd_coding coding)
{
	struct khttpd_cache_key key = {
		.site = site, .name = path->name, .len = path->len,
		.coding = coding,
	};

	return rhashtable_lookup(&khttpd_cache, &key, khttpd_cache_params);
}

/* The same with a reference. */
static struct khttpd_entry *khttpd_cache_lookup(struct khttpd_site *site,
						const struct khttpd_path *path,
						enum khttpd_coding coding)
{
	struct khttpd_entry *entry;

	rcu_read_lock();
	entry = khttpd_cache_lookup_rcu(site, path, coding);
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

/* NULL if it needs a second look. */
static struct khttpd_entry *khttpd_cache_if_fresh(struct khttpd_entry *entry)
{
	if (!khttpd_entry_fresh(entry))
		return NULL;
	khttpd_cache_hit(entry);
	return entry;
}

/**
 * khttpd_cache_peek() - the entry for a path, if that needs no second look
 * @site: where
 * @path: what
 * @coding: which variant of it
 *
 * No reference is taken, for all processors would write it. An entry that leaves the cache has its
 * file open for a grace period.
 *
 * Context: RCU read side, bottom halves off.
 * Return: the entry, good within the RCU section, or NULL.
 */
struct khttpd_entry *khttpd_cache_peek(struct khttpd_site *site,
				       const struct khttpd_path *path,
				       enum khttpd_coding coding)
{
	struct khttpd_entry *entry = khttpd_cache_lookup_rcu(site, path, coding);

	return entry ? khttpd_cache_if_fresh(entry) : NULL;
}

/**
 * khttpd_cache_departures() - count of what has left the cache
 *
 * Return: what khttpd_cache_repeat() wants for entries that are found after this.
 */
unsigned long khttpd_cache_departures(void)
{
	/* Pairs with khttpd_cache_drop(): what was counted is found no more. */
	return atomic_long_read_acquire(&khttpd_cache_left);
}

/**
 * khttpd_cache_repeat() - what the cache gave before, if it would again
 * @site: where
 * @entry: what it gave for @site, or had for another one; its reference may be gone
 * @departures: khttpd_cache_departures() before that
 *
 * An entry that leaves the cache is counted first, and its file is closed a grace period
 * later. So who sees the old count may still use the entry.
 *
 * Context: RCU read side, for which bottom halves off will do.
 * Return: @entry, good within the RCU section, or NULL.
 */
struct khttpd_entry *khttpd_cache_repeat(const struct khttpd_site *site,
					 struct khttpd_entry *entry,
					 unsigned long departures)
{
	/* Pairs with khttpd_cache_drop(). */
	if (atomic_long_read_acquire(&khttpd_cache_left) != departures || entry->site != site)
		return NULL;
	return khttpd_cache_if_fresh(entry);
}

/* One entry to make room: unused for a second, or else the oldest. */
static struct khttpd_entry *khttpd_cache_victim(void)
{
	struct khttpd_entry *entry = NULL;
	int i;

	spin_lock(&khttpd_cache_lock);
	for (i = 0; i < KHTTPD_EVICT_SCAN; i++) {
		entry = khttpd_cache_next(&khttpd_cache_list);
		if (!entry || time_after(jiffies, READ_ONCE(entry->used) + HZ))
			break;
		list_move_tail(&entry->lru, &khttpd_cache_list);
	}
	if (entry)
		refcount_inc(&entry->refs);
	spin_unlock(&khttpd_cache_lock);
	return entry;
}

/* Has a file been asked for before, not too many others ago? It has now. */
static bool khttpd_cache_seen(const struct khttpd_entry *entry)
{
	static u32 seen[BIT(KHTTPD_SEEN_BITS)];
	u32 hash = jhash(entry->name, entry->name_len,
			 (u32)(uintptr_t)entry->site) | 1;
	u32 *slot = &seen[hash >> (32 - KHTTPD_SEEN_BITS)];

	if (READ_ONCE(*slot) == hash)
		return true;
	WRITE_ONCE(*slot, hash);
	return false;
}

/**
 * khttpd_cache_insert() - make an entry known
 * @entry: new entry; the caller's reference stays the caller's
 *
 * If the cache is full, a file that is asked for the first time stays outside. So many files that
 * are wanted once do not drive out those wanted often.
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

	if (READ_ONCE(khttpd_cache_count) >=
	    READ_ONCE(khttpd_limits.cache_entries) && !khttpd_cache_seen(entry)) {
		khttpd_count(cache_refused);
		return entry;
	}
	khttpd_watch_add(entry);
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
		khttpd_watch_del(entry);
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

static bool khttpd_cache_is_gone(const struct khttpd_entry *entry)
{
	return d_unhashed(entry->file->f_path.dentry) ||
	       !file_inode(entry->file)->i_nlink;
}

/* Remove entries that are in no list but @out. */
static void khttpd_cache_drop_all(struct list_head *out)
{
	struct khttpd_entry *entry, *next;

	list_for_each_entry_safe(entry, next, out, lru) {
		list_del_init(&entry->lru);
		khttpd_cache_drop(entry);
	}
}

static bool khttpd_cache_wants(const struct khttpd_entry *entry, const struct khttpd_site *site)
{
	unsigned long idle = msecs_to_jiffies(READ_ONCE(khttpd_limits.cache_idle));

	if (site)
		return entry->site != site;
	return !khttpd_cache_is_gone(entry) &&
	       time_before(jiffies, READ_ONCE(entry->used) + idle);
}

/* Look at some entries more, and put those that are not wanted into @out.
 * Return: false at the end of the list.
 */
static bool khttpd_cache_prune_some(const struct khttpd_site *site, struct list_head *out)
{
	struct khttpd_entry *entry = NULL;
	int i;

	spin_lock(&khttpd_cache_lock);
	for (i = 0; i < KHTTPD_PRUNE_PIECE; i++) {
		entry = khttpd_cache_next(&khttpd_cache_place);
		if (!entry)
			break;
		list_move(&khttpd_cache_place, &entry->lru);
		if (khttpd_cache_wants(entry, site))
			continue;
		khttpd_cache_unlist(entry);
		list_add(&entry->lru, out);
		khttpd_count(cache_evicted);
	}
	spin_unlock(&khttpd_cache_lock);
	return entry;
}

/* Remove entries of @site (NULL: of any) that are not wanted. The lock is held for a few at a time:
 * requests wait for it. What comes in, or gets a second chance, does so at the end.
 */
static void khttpd_cache_prune(const struct khttpd_site *site)
{
	LIST_HEAD(out);
	bool more;

	mutex_lock(&khttpd_cache_pruning);
	spin_lock(&khttpd_cache_lock);
	list_add(&khttpd_cache_place, &khttpd_cache_list);
	spin_unlock(&khttpd_cache_lock);
	do {
		more = khttpd_cache_prune_some(site, &out);
		khttpd_cache_drop_all(&out);
		cond_resched();
	} while (more);
	spin_lock(&khttpd_cache_lock);
	list_del_init(&khttpd_cache_place);
	spin_unlock(&khttpd_cache_lock);
	mutex_unlock(&khttpd_cache_pruning);
}

static unsigned long khttpd_cache_shrinkable(struct shrinker *shrinker,
					     struct shrink_control *control)
{
	return READ_ONCE(khttpd_cache_count) ?: SHRINK_EMPTY;
}

/* Memory is short: let the oldest go. */
static unsigned long khttpd_cache_shrink(struct shrinker *shrinker,
					 struct shrink_control *control)
{
	struct khttpd_entry *entry;
	unsigned long n = 0;
	LIST_HEAD(out);

	/* Closing a file may need its file system. */
	if (!(control->gfp_mask & __GFP_FS))
		return SHRINK_STOP;
	spin_lock(&khttpd_cache_lock);
	for (; n < control->nr_to_scan; n++) {
		entry = khttpd_cache_next(&khttpd_cache_list);
		if (!entry)
			break;
		khttpd_cache_unlist(entry);
		list_add(&entry->lru, &out);
	}
	spin_unlock(&khttpd_cache_lock);
	khttpd_count_add(cache_shrunk, n);
	khttpd_cache_drop_all(&out);
	return n;
}

static const struct shrinker khttpd_cache_shrinker_model = {
	.count_objects = khttpd_cache_shrinkable,
	.scan_objects = khttpd_cache_shrink,
	.seeks = DEFAULT_SEEKS,
};

static struct shrinker *khttpd_cache_shrinker;

static void khttpd_cache_sweep(struct work_struct *work)
{
	khttpd_cache_prune(NULL);
	khttpd_negative_prune(NULL);
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
	khttpd_negative_prune(site);
	/* Events of marks that are gone, then who was told of them. */
	khttpd_watch_wait();
	flush_work(&khttpd_cache_changer);
	/* Of those that it has let go. */
	khttpd_watch_wait();
	rcu_barrier();
	khttpd_entry_flush();
	/* What workers have closed is open until then. */
	flush_delayed_fput();
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

	khttpd_negative_init();
	err = khttpd_watch_init(khttpd_cache_changed);
	if (err)
		return err;
	err = rhashtable_init(&khttpd_cache, &khttpd_cache_params);
	if (err)
		goto fail_watch;
	khttpd_cache_shrinker = khttpd_shrinker_start(&khttpd_cache_shrinker_model,
						      "khttpd-files");
	if (!khttpd_cache_shrinker) {
		err = -ENOMEM;
		goto fail_table;
	}
	schedule_delayed_work(&khttpd_cache_sweeper, KHTTPD_SWEEP_INTERVAL);
	return 0;

fail_table:
	rhashtable_destroy(&khttpd_cache);
fail_watch:
	khttpd_watch_exit();
	return err;
}

/**
 * khttpd_cache_exit() - take it down; all sites are purged
 */
void khttpd_cache_exit(void)
{
	cancel_delayed_work_sync(&khttpd_cache_sweeper);
	khttpd_negative_exit();
	khttpd_shrinker_stop(khttpd_cache_shrinker);
	khttpd_watch_wait();
	flush_work(&khttpd_cache_changer);
	rcu_barrier();
	khttpd_entry_flush();
	WARN_ON(khttpd_cache_count);
	rhashtable_destroy(&khttpd_cache);
	khttpd_watch_exit();
}
