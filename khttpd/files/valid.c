// SPDX-License-Identifier: GPL-2.0
/* The check, at each use of a cached file: would a new walk from the document root find the same
 * file in the same state?
 */
#include <linux/bitops.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/hash.h>
#include <linux/iversion.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include "../compat/fs.h"
#include "entry.h"
#include "walk.h"

/* Directories between root and file that a digest covers. */
#define KHTTPD_DEPTH_MAX	32

static u64 khttpd_mix(u64 digest, u64 value)
{
	return rol64((digest ^ value) * GOLDEN_RATIO_64, 29);
}

static u64 khttpd_mix_inode(u64 digest, const struct inode *inode)
{
	struct timespec64 ctime = khttpd_inode_ctime(inode);

	/* No two inodes are 2^48 bytes apart: address and mode stay apart, too. */
	digest = khttpd_mix(digest, (uintptr_t)inode ^
			    (u64)READ_ONCE(inode->i_mode) << 48);
	digest = khttpd_mix(digest, (u64)__kgid_val(READ_ONCE(inode->i_gid)) << 32 |
			    __kuid_val(READ_ONCE(inode->i_uid)));
	return khttpd_mix(digest, (u64)ctime.tv_sec * NSEC_PER_SEC +
			  ctime.tv_nsec);
}

/* Changes with the content, also where the modification time is set back. */
static u64 khttpd_inode_version(struct inode *inode)
{
	struct timespec64 ctime = khttpd_inode_ctime(inode);

	if (IS_I_VERSION(inode))
		return inode_peek_iversion(inode);
	return (u64)ctime.tv_sec * NSEC_PER_SEC + ctime.tv_nsec;
}

/* Times have the resolution of a tick, or of what the file system keeps: a second
 * change within that would go unseen. So nothing that has changed just now is taken as
 * settled. FAT keeps even seconds, but does not say so.
 */
static bool khttpd_inode_settled(const struct inode *inode)
{
	struct timespec64 changed = khttpd_inode_ctime(inode), now;
	s64 coarse = changed.tv_nsec ? inode->i_sb->s_time_gran :
				       2 * NSEC_PER_SEC;
	s64 ago;

	ktime_get_coarse_real_ts64(&now);
	ago = timespec64_to_ns(&now) - timespec64_to_ns(&changed);
	/* The clock was set back. A change has another time now, and no clock comes by the same
	 * nanosecond twice; by the same second it does.
	 */
	if (ago < 0 && changed.tv_nsec)
		ago = -ago;
	return ago > coarse + 3 * TICK_NSEC;
}

static u64 khttpd_mix_content(u64 digest, struct inode *inode)
{
	struct timespec64 mtime = khttpd_inode_mtime(inode);

	digest = khttpd_mix(digest, i_size_read(inode));
	digest = khttpd_mix(digest, (u64)mtime.tv_sec * NSEC_PER_SEC + mtime.tv_nsec);
	if (IS_I_VERSION(inode))
		digest = khttpd_mix(digest, inode_peek_iversion(inode));
	return khttpd_mix_inode(digest, inode);
}

/* A file of an overlay, whose bytes are another file's. */
static bool khttpd_entry_layered(const struct khttpd_entry *entry)
{
	return entry->file->f_path.dentry->d_flags & DCACHE_OP_REAL;
}

/* Digest what shows a change of such a file. A write through a mapping changes the times of the
 * file below only. A change of its mode changes those of the overlay's file, which may be all
 * that there is in the upper layer. When somebody opens it to write for the first time, another
 * file becomes the one below.
 * Context: RCU read side or process.
 */
static noinline u64 khttpd_entry_layers(const struct khttpd_entry *entry)
{
	struct inode *below = d_real_inode(entry->file->f_path.dentry);

	return khttpd_mix_content(khttpd_mix_content(0, file_inode(entry->file)), below);
}

/* Digest everything on the way from the site's root to the file. These are names, modes, owners
 * and change times of the directories, and size, times and version of the file. With @strict also
 * whether this is the way that the path names, without links in it, and nothing on it has changed
 * just now. Once for each value of @strict: a request's is short then, and needs no stack.
 *
 * Context: RCU read side, for which bottom halves off will do.
 * Return: false if the way cannot be digested: through links or mounts, removed, or of a file
 * system that wants to be asked each time.
 */
static __always_inline bool khttpd_entry_digest(const struct khttpd_entry *entry,
						bool strict, u64 *result)
{
	const struct dentry *root = entry->site->root.dentry;
	struct dentry *dentry = entry->file->f_path.dentry;
	struct inode *inode = file_inode(entry->file);
	struct timespec64 mtime = khttpd_inode_mtime(inode);
	unsigned int seq, depth = 0;
	u32 left = entry->name_len;
	bool whole = false;
	u64 digest;

	/* Neither changes in an entry's life. */
	if (strict && entry->file->f_path.mnt != entry->site->root.mnt)
		return false;
	digest = khttpd_mix(i_size_read(inode), (u64)mtime.tv_sec *
			    NSEC_PER_SEC + mtime.tv_nsec);
	if (unlikely(khttpd_entry_layered(entry))) {
		digest = khttpd_mix(digest, khttpd_entry_layers(entry));
		if (strict && !khttpd_inode_settled(entry->inode))
			return false;
	} else if (IS_I_VERSION(entry->inode)) {
		digest = khttpd_mix(digest, inode_peek_iversion(entry->inode));
	}
	/* Not waiting for a rename: this may be a softirq on top of it. */
	seq = raw_seqcount_begin(&rename_lock.seqcount);
	while (depth++ < KHTTPD_DEPTH_MAX) {
		inode = READ_ONCE(dentry->d_inode);
		if (!inode)
			break;
		digest = khttpd_mix_inode(digest, inode);
		if (strict && !khttpd_inode_settled(inode))
			break;
		if (dentry == root) {
			whole = !strict || !left;
			break;
		}
		if (d_unhashed(dentry) || IS_ROOT(dentry) ||
		    (READ_ONCE(dentry->d_flags) &
		     (DCACHE_MOUNTED | DCACHE_OP_REVALIDATE)))
			break;
		if (strict && !khttpd_walk_named(entry->name, dentry, &left))
			break;
		digest = khttpd_mix(digest, READ_ONCE(dentry->d_name.hash_len));
		dentry = READ_ONCE(dentry->d_parent);
	}
	if (read_seqretry(&rename_lock, seq))
		whole = false;
	*result = digest;
	return whole;
}

/* The strict one. Context: process. */
static bool khttpd_entry_judge(const struct khttpd_entry *entry, u64 *result)
{
	bool whole;

	rcu_read_lock();
	whole = khttpd_entry_digest(entry, true, result);
	rcu_read_unlock();
	return whole;
}

/* May the file be read? With LOOKUP_CACHED in @flags, a file system that would have to be asked
 * counts as a no.
 */
static bool khttpd_entry_readable(const struct path *path, unsigned int flags)
{
	int err;

	if (!(flags & LOOKUP_CACHED))
		return !khttpd_path_permission(path, MAY_READ | MAY_OPEN);
	rcu_read_lock();
	err = khttpd_path_permission(path, MAY_READ | MAY_OPEN | MAY_NOT_BLOCK);
	rcu_read_unlock();
	return !err;
}

/* Would a walk now lead to the entry's file, and may it be read? */
static bool khttpd_entry_found(struct khttpd_entry *entry, unsigned int flags)
{
	const struct cred *old;
	struct path path;
	bool same;

	if (khttpd_walk(entry->site, entry->name, flags, &path))
		return false;
	old = override_creds(entry->site->cred);
	same = path_equal(&path, &entry->file->f_path) &&
	       khttpd_entry_readable(&path, flags);
	revert_creds(old);
	path_put(&path);
	return same;
}

/* Is the file's content what the entry's header says? */
static bool khttpd_entry_same(const struct khttpd_entry *entry)
{
	struct inode *inode = file_inode(entry->file);
	struct timespec64 mtime = khttpd_inode_mtime(inode);

	if (khttpd_entry_layered(entry))
		return khttpd_entry_layers(entry) == entry->layers;
	return i_size_read(inode) == entry->size &&
	       timespec64_equal(&mtime, &entry->mtime) &&
	       khttpd_inode_version(entry->inode) == entry->version;
}

/**
 * khttpd_entry_beside() - take the digest of the directory with an entry's variants
 * @entry: the entry; its name is what counts, wherever that leads
 * @flags: LOOKUP_CACHED not to wait for a disk, or 0
 *
 * A name that is added to the directory, or removed from it, shows in its change time.
 *
 * Context: process.
 * Return: 0 if a change could fail to show: the directory has changed just now, or is of a file
 * system that wants to be asked each time. Also 0 if it is not known without waiting.
 */
u64 khttpd_entry_beside(const struct khttpd_entry *entry, unsigned int flags)
{
	const char *slash = strrchr(entry->name, '/');
	const struct inode *inode;
	struct path path;
	u64 digest = 0;
	char *name;
	int err;

	if (!khttpd_entry_has_choice(entry))
		return 0;
	name = kstrndup(entry->name, slash ? slash - entry->name : 0,
			GFP_KERNEL);
	if (!name)
		return 0;
	err = khttpd_walk(entry->site, name, flags, &path);
	kfree(name);
	if (err)
		return 0;
	inode = d_backing_inode(path.dentry);
	if (!(path.dentry->d_flags & DCACHE_OP_REVALIDATE) &&
	    khttpd_inode_settled(inode))
		digest = khttpd_mix(khttpd_mix_inode(0, inode), inode->i_ino);
	path_put(&path);
	return digest;
}

/* Would the same files stand in for the entry's now? */
static bool khttpd_entry_chosen(const struct khttpd_entry *entry,
				unsigned int flags)
{
	if (!khttpd_entry_has_choice(entry))
		return true;
	if (entry->beside && entry->beside == khttpd_entry_beside(entry, flags))
		return true;
	return khttpd_entry_variants(entry, flags) == entry->variants;
}

/**
 * khttpd_entry_version() - take the version of a file that was just opened
 * @entry: the entry, nobody else's yet
 *
 * Content that is looked at afterwards is of this version or a later one.
 */
void khttpd_entry_version(struct khttpd_entry *entry)
{
	/* The next change counts only if what was there before it has been asked for. */
	entry->version = IS_I_VERSION(entry->inode) ?
			 inode_query_iversion(entry->inode) :
			 khttpd_inode_version(entry->inode);
}

/**
 * khttpd_entry_begin() - begin to watch a file that was just opened
 * @entry: the entry, nobody else's yet
 *
 * All that is learnt of it afterwards is of this state or a later one.
 */
void khttpd_entry_begin(struct khttpd_entry *entry)
{
	if (!khttpd_entry_layered(entry))
		return;
	khttpd_entry_version(entry);
	entry->layers = khttpd_entry_layers(entry);
}

/**
 * khttpd_entry_settled() - is its last change long ago?
 * @entry: the entry
 *
 * Return: false if the file could change again without a new time or version.
 */
bool khttpd_entry_settled(const struct khttpd_entry *entry)
{
	/* Not by its change counter alone: that is counted up before the bytes are
	 * written, and nothing tells when they are.
	 */
	return khttpd_inode_settled(entry->inode);
}

/**
 * khttpd_entry_fresh() - is this entry good without a second look?
 * @entry: from the cache, referenced
 *
 * Context: any but hard interrupts; RCU read side, for which bottom halves off
 * will do.
 * Return: true if the digest of its whole way is what it was.
 */
bool khttpd_entry_fresh(struct khttpd_entry *entry)
{
	u64 digest;

	/* Its tag can be a strong one by now. */
	if (unlikely(entry->weak) && khttpd_entry_settled(entry))
		return false;
	/* Pairs with the release in khttpd_entry_valid(). */
	return smp_load_acquire(&entry->stamped) &&
	       khttpd_entry_digest(entry, false, &digest) &&
	       digest == READ_ONCE(entry->stamp);
}

/**
 * khttpd_entry_valid() - may this entry answer a request that comes now?
 * @entry: from the cache, referenced
 *
 * Normally one comparison: the digest of the whole way is what it was. If not, or if the way
 * leads through links, the path is walked again in the dentry cache. The entry is good if that
 * leads to the same file with the same content, and the same files can stand in for it. Then a
 * digest of a way without links is kept.
 *
 * Context: process; does not wait for a disk.
 * Return: false if the entry must go.
 */
bool khttpd_entry_valid(struct khttpd_entry *entry)
{
	bool fresh, whole;
	u64 digest;

	rcu_read_lock();
	fresh = khttpd_entry_fresh(entry);
	rcu_read_unlock();
	if (fresh)
		return true;
	if (entry->weak && khttpd_entry_settled(entry))
		return false;

	/* First the digest, then the judgement: a change in between shows in the next digest.
	 */
	whole = khttpd_entry_judge(entry, &digest);
	if (!khttpd_entry_same(entry) ||
	    !khttpd_entry_found(entry, LOOKUP_CACHED) ||
	    !khttpd_entry_chosen(entry, LOOKUP_CACHED))
		return false;
	WRITE_ONCE(entry->stamped, false);
	if (whole) {
		WRITE_ONCE(entry->stamp, digest);
		/* Readers that see the flag must see its digest. */
		smp_store_release(&entry->stamped, true);
	}
	return true;
}

/**
 * khttpd_entry_stamp() - take the digest of an entry that was just opened
 * @entry: the entry, nobody else's yet
 *
 * Permissions on the way, and what can stand in, were judged before the digest:
 * they are once more.
 *
 * Context: process, may wait for disks.
 */
void khttpd_entry_stamp(struct khttpd_entry *entry)
{
	if (khttpd_entry_judge(entry, &entry->stamp) &&
	    khttpd_entry_same(entry) && khttpd_entry_found(entry, 0) &&
	    khttpd_entry_chosen(entry, 0))
		entry->stamped = true;
}
