// SPDX-License-Identifier: GPL-2.0
/* Paths at which there is nothing. The negative dentry of the first part that is missing stands
 * for each, and is held. A file or directory that is made there is made of this very dentry. As
 * long as it is negative, and its way to the site's root is the same, a walk would find nothing.
 * So none is made. They are in a small table of sets. A prefix comes in when a walk has ended
 * there. It goes when it is no longer true, or not used. When another one comes to its set, the
 * one that was not used for longest goes.
 */
#include <linux/bits.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/llist.h>
#include <linux/magic.h>
#include <linux/namei.h>
#include <linux/random.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include "../compat/fs.h"
#include "../limits.h"
#include "../observe/stats.h"
#include "negative.h"
#include "walk.h"

/* Sets, and prefixes in each. With one place for each digest two prefixes that are asked
 * for in turn might push each other out for ever.
 */
#define KHTTPD_NEGATIVE_BITS	6
#define KHTTPD_NEGATIVE_WAYS	8
/* Directories between root and what is missing. */
#define KHTTPD_NEGATIVE_DEPTH	32

/**
 * struct khttpd_negative - a prefix that leads to nothing
 * @site: where; to be compared only
 * @dentry: negative when this was made; reference
 * @way: digest of the way from there to the root
 * @used: jiffies of the last use, coarsely
 * @node: in the list of those to be freed
 * @len: length of @name
 * @name: the prefix: a path up to and including the part that is missing
 */
struct khttpd_negative {
	const struct khttpd_site *site;
	struct dentry *dentry;
	u64 way;
	unsigned long used;
	struct llist_node node;
	u16 len;
	char name[];
};

/**
 * struct khttpd_negative_set - prefixes whose digest leads to the same place
 * @way: in no order; NULL where there is none
 */
struct khttpd_negative_set {
	struct khttpd_negative __rcu *way[KHTTPD_NEGATIVE_WAYS];
} ____cacheline_aligned;

static struct khttpd_negative_set khttpd_negatives[BIT(KHTTPD_NEGATIVE_BITS)];
static DEFINE_SPINLOCK(khttpd_negative_lock);	/* the table; BH disabled */
static u32 khttpd_negative_seed __read_mostly;

static LLIST_HEAD(khttpd_negative_old);
static void khttpd_negative_reap(struct work_struct *work);
static DECLARE_WORK(khttpd_negative_reaper, khttpd_negative_reap);

static void khttpd_negative_free(struct khttpd_negative *negative)
{
	dput(negative->dentry);
	kfree(negative);
}

/* Those that left the table: nobody looks at them after a grace period. */
static void khttpd_negative_reap(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&khttpd_negative_old);
	struct khttpd_negative *negative, *next;

	synchronize_rcu();
	llist_for_each_entry_safe(negative, next, list, node)
		khttpd_negative_free(negative);
}

static struct khttpd_negative *
khttpd_negative_get(struct khttpd_negative __rcu **way)
{
	return rcu_dereference_protected(*way,
					 lockdep_is_held(&khttpd_negative_lock));
}

/* Into a place of the table, or NULL; what was there goes. */
static void khttpd_negative_put(struct khttpd_negative __rcu **way,
				struct khttpd_negative *negative)
{
	struct khttpd_negative *old = khttpd_negative_get(way);

	rcu_assign_pointer(*way, negative);
	if (!old)
		return;
	llist_add(&old->node, &khttpd_negative_old);
	schedule_work(&khttpd_negative_reaper);
}

/* The digest goes over the bytes of a path, so that those of its prefixes are
 * had on the way.
 */
static u32 khttpd_negative_start(const struct khttpd_site *site)
{
	return khttpd_negative_seed ^ hash_ptr(site, 32);
}

static u32 khttpd_negative_byte(u32 hash, char c)
{
	return (hash ^ (u8)c) * GOLDEN_RATIO_32;
}

static struct khttpd_negative_set *khttpd_negative_set(u32 hash)
{
	return &khttpd_negatives[hash_32(hash, KHTTPD_NEGATIVE_BITS)];
}

/* The way from a missing part to the root, by dentries and names.
 * Return: false if it cannot be told, or leads elsewhere.
 */
static bool khttpd_negative_way(const struct khttpd_site *site,
				struct dentry *dentry, u64 *way)
{
	const struct dentry *root = site->root.dentry;
	unsigned int seq, depth = 0;
	bool whole = false;
	u64 digest = 0;

	rcu_read_lock();
	/* Not waiting for a rename: this may be a softirq on top of it. */
	seq = raw_seqcount_begin(&rename_lock.seqcount);
	while (depth++ < KHTTPD_NEGATIVE_DEPTH) {
		digest = (digest ^ (uintptr_t)dentry) * GOLDEN_RATIO_64;
		if (dentry == root) {
			whole = true;
			break;
		}
		if (d_unhashed(dentry) || IS_ROOT(dentry) ||
		    (READ_ONCE(dentry->d_flags) &
		     (DCACHE_MOUNTED | DCACHE_OP_REVALIDATE)))
			break;
		digest ^= READ_ONCE(dentry->d_name.hash_len);
		dentry = READ_ONCE(dentry->d_parent);
	}
	if (read_seqretry(&rename_lock, seq))
		whole = false;
	rcu_read_unlock();
	*way = digest;
	return whole;
}

/* Is it still so? Context: RCU read lock held, or the table's lock. */
static bool khttpd_negative_holds(const struct khttpd_site *site,
				  const struct khttpd_negative *negative)
{
	u64 way;

	return d_is_negative(negative->dentry) &&
	       khttpd_negative_way(site, negative->dentry, &way) &&
	       way == negative->way;
}

static bool khttpd_negative_is(const struct khttpd_negative *negative,
			       const struct khttpd_site *site, const char *name,
			       size_t len)
{
	return negative->site == site && negative->len == len &&
	       !memcmp(negative->name, name, len);
}

/* The one for a prefix, if it is true. Context: RCU read lock held. */
static struct khttpd_negative *
khttpd_negative_look(const struct khttpd_negative_set *set,
		     const struct khttpd_site *site, const char *name,
		     size_t len)
{
	struct khttpd_negative *negative;
	int i;

	for (i = 0; i < KHTTPD_NEGATIVE_WAYS; i++) {
		negative = rcu_dereference(set->way[i]);
		if (negative && khttpd_negative_is(negative, site, name, len))
			return khttpd_negative_holds(site, negative) ?
			       negative : NULL;
	}
	return NULL;
}

/* A new one takes the place of the old one for its prefix, else an empty one, else that of the
 * one that was not used for longest.
 */
static struct khttpd_negative __rcu **
khttpd_negative_choose(struct khttpd_negative_set *set,
		       const struct khttpd_negative *negative)
{
	struct khttpd_negative __rcu **best = &set->way[0];
	struct khttpd_negative *old, *worst;
	int i;

	worst = khttpd_negative_get(best);
	for (i = 0; i < KHTTPD_NEGATIVE_WAYS; i++) {
		old = khttpd_negative_get(&set->way[i]);
		if (old && khttpd_negative_is(old, negative->site,
					      negative->name, negative->len))
			return &set->way[i];
		if (worst && (!old || time_before(READ_ONCE(old->used),
						  READ_ONCE(worst->used)))) {
			best = &set->way[i];
			worst = old;
		}
	}
	return best;
}

/**
 * khttpd_negative_find() - is it known that there is nothing at a path?
 * @site: where
 * @path: what
 *
 * Context: any but hard interrupts; waits for nothing.
 * Return: true if a walk would end with -ENOENT, or with less; false if that is
 * not known.
 */
bool khttpd_negative_find(const struct khttpd_site *site,
			  const struct khttpd_path *path)
{
	u32 hash = khttpd_negative_start(site);
	struct khttpd_negative *found = NULL;
	size_t i;

	rcu_read_lock();
	for (i = 0; i <= path->len && !found; i++) {
		if (i == path->len || path->name[i] == '/')
			found = khttpd_negative_look(khttpd_negative_set(hash),
						     site, path->name, i);
		hash = khttpd_negative_byte(hash, path->name[i]);
	}
	if (found) {
		khttpd_count(negative_hits);
		if (READ_ONCE(found->used) != jiffies)
			WRITE_ONCE(found->used, jiffies);
	}
	rcu_read_unlock();
	return found;
}

/* A negative dentry may be held only if a file that is made there is made of it. Some file
 * systems forget such dentries on purpose, to be asked each time.
 */
static bool khttpd_negative_fit(const struct dentry *dentry)
{
	unsigned long magic = dentry->d_sb->s_magic;

	if (!d_is_negative(dentry) ||
	    (dentry->d_flags & (DCACHE_OP_REVALIDATE | DCACHE_OP_HASH |
				DCACHE_OP_COMPARE)))
		return false;
	/* In memory everything is in the dentry cache, or it is not at all. */
	return !(dentry->d_flags & DCACHE_OP_DELETE) || magic == TMPFS_MAGIC ||
	       magic == RAMFS_MAGIC;
}

/* The dentry of a name in a directory, negative if it is not there; or NULL. */
static struct dentry *khttpd_negative_child(struct khttpd_site *site,
					    struct dentry *dir, const char *name,
					    size_t len, bool wait)
{
	struct qstr what = QSTR_INIT(name, len);
	const struct cred *old;
	struct dentry *dentry;

	if (READ_ONCE(dir->d_flags) & (DCACHE_OP_HASH | DCACHE_OP_COMPARE))
		return NULL;
	what.hash = full_name_hash(dir, name, len);
	dentry = d_lookup(dir, &what);
	if (!dentry && wait) {
		old = override_creds(site->cred);
		dentry = khttpd_lookup_one(dir, name, len);
		revert_creds(old);
	}
	return IS_ERR(dentry) ? NULL : dentry;
}

/* Is @dentry where the first @len bytes of @name say, without links on the way? */
static bool khttpd_negative_named(const struct khttpd_site *site,
				  struct dentry *dentry, const char *name,
				  u32 len)
{
	bool named = true;

	rcu_read_lock();
	while (named && dentry != site->root.dentry && !IS_ROOT(dentry)) {
		named = khttpd_walk_named(name, dentry, &len);
		dentry = READ_ONCE(dentry->d_parent);
	}
	rcu_read_unlock();
	return named && !len && dentry == site->root.dentry;
}

/* Fill in what is missing at the path in @negative->name, and cut that behind it. */
static bool khttpd_negative_search(struct khttpd_site *site,
				   struct khttpd_negative *negative, bool wait)
{
	unsigned int flags = LOOKUP_DIRECTORY | (wait ? 0 : LOOKUP_CACHED);
	char *name = negative->name, *slash;
	struct path dir;
	bool fit;
	int err;

	for (;;) {
		slash = strrchr(name, '/');
		if (slash)
			*slash = '\0';
		err = khttpd_walk(site, slash ? name : ".", flags, &dir);
		if (!err)
			break;
		if (err != -ENOENT || !slash)
			return false;
	}
	if (slash)
		*slash = '/';
	negative->len = strlen(name);
	slash = slash ? slash + 1 : name;
	negative->dentry = khttpd_negative_child(site, dir.dentry, slash,
						 strlen(slash), wait);
	fit = negative->dentry && dir.mnt == site->root.mnt &&
	      khttpd_negative_fit(negative->dentry) &&
	      khttpd_negative_way(site, negative->dentry, &negative->way) &&
	      khttpd_negative_named(site, negative->dentry, name,
				    negative->len) &&
	      khttpd_negative_holds(site, negative);
	path_put(&dir);
	return fit;
}

/* One a tick: a client that asks for ever new names is not to keep us busy with them. */
static bool khttpd_negative_may(void)
{
	static unsigned long last;
	unsigned long now = jiffies;

	if (READ_ONCE(last) == now)
		return false;
	WRITE_ONCE(last, now);
	return true;
}

/**
 * khttpd_negative_add() - a walk has ended with -ENOENT: remember it
 * @site: where
 * @path: what
 * @wait: disks may be waited for
 *
 * Context: process.
 */
void khttpd_negative_add(struct khttpd_site *site,
			 const struct khttpd_path *path, bool wait)
{
	struct khttpd_negative *negative;
	struct khttpd_negative_set *set;
	u32 hash = khttpd_negative_start(site);
	size_t i;

	if (!path->len || !khttpd_negative_may())
		return;
	negative = kzalloc(struct_size(negative, name, path->len + 1),
			   GFP_KERNEL | __GFP_NOWARN);
	if (!negative)
		return;
	negative->site = site;
	negative->used = jiffies;
	memcpy(negative->name, path->name, path->len);
	if (!khttpd_negative_search(site, negative, wait)) {
		khttpd_negative_free(negative);
		return;
	}
	for (i = 0; i < negative->len; i++)
		hash = khttpd_negative_byte(hash, negative->name[i]);
	set = khttpd_negative_set(hash);

	spin_lock_bh(&khttpd_negative_lock);
	/* Nothing is remembered of a site that has stopped. */
	if (!READ_ONCE(site->closed)) {
		khttpd_negative_put(khttpd_negative_choose(set, negative),
				    negative);
		negative = NULL;
	}
	spin_unlock_bh(&khttpd_negative_lock);
	if (negative)
		khttpd_negative_free(negative);
}

/* Not true any more, or not used. */
static bool khttpd_negative_idle(const struct khttpd_negative *negative)
{
	unsigned long idle = msecs_to_jiffies(READ_ONCE(khttpd_limits.cache_idle));

	return !d_is_negative(negative->dentry) ||
	       time_after(jiffies, READ_ONCE(negative->used) + idle);
}

/**
 * khttpd_negative_prune() - forget what is not wanted any more
 * @site: forget all of this site, which is closed, and wait until nothing of it is held; NULL: of
 *	all sites what is not true any more, or not used
 *
 * Context: process, may sleep.
 */
void khttpd_negative_prune(const struct khttpd_site *site)
{
	struct khttpd_negative *negative;
	struct khttpd_negative_set *set;
	int i;

	for (set = khttpd_negatives;
	     set < khttpd_negatives + ARRAY_SIZE(khttpd_negatives); set++) {
		spin_lock_bh(&khttpd_negative_lock);
		for (i = 0; i < KHTTPD_NEGATIVE_WAYS; i++) {
			negative = khttpd_negative_get(&set->way[i]);
			if (negative && (site ? negative->site == site :
					 khttpd_negative_idle(negative)))
				khttpd_negative_put(&set->way[i], NULL);
		}
		spin_unlock_bh(&khttpd_negative_lock);
	}
	if (site)
		flush_work(&khttpd_negative_reaper);
}

/**
 * khttpd_negative_init() - get ready
 */
void khttpd_negative_init(void)
{
	khttpd_negative_seed = get_random_u32();
}

/**
 * khttpd_negative_exit() - no site is left, and nothing is remembered
 */
void khttpd_negative_exit(void)
{
	flush_work(&khttpd_negative_reaper);
}
