// SPDX-License-Identifier: GPL-2.0
/* From a normalised path to an open file, beneath the document root and with
 * the site's credentials; and the check, at each use of a cached file, that a
 * new walk would find the same file in the same state.
 */
#include <linux/bitops.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/hash.h>
#include <linux/iversion.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include "compat/fs.h"
#include "khttpd.h"

#define KHTTPD_LOOKUP_FLAGS \
	(LOOKUP_FOLLOW | LOOKUP_BENEATH | LOOKUP_NO_MAGICLINKS)
/* Directories between root and file that a digest covers. */
#define KHTTPD_DEPTH_MAX	32

static u64 khttpd_mix(u64 digest, u64 value)
{
	return rol64((digest ^ value) * GOLDEN_RATIO_64, 29);
}

static u64 khttpd_mix_inode(u64 digest, const struct inode *inode)
{
	struct timespec64 ctime = khttpd_inode_ctime(inode);

	digest = khttpd_mix(digest, (uintptr_t)inode);
	digest = khttpd_mix(digest, (u64)READ_ONCE(inode->i_mode) << 32 |
			    __kuid_val(READ_ONCE(inode->i_uid)));
	digest = khttpd_mix(digest, __kgid_val(READ_ONCE(inode->i_gid)));
	return khttpd_mix(digest, (u64)ctime.tv_sec * NSEC_PER_SEC +
			  ctime.tv_nsec);
}

static u64 khttpd_inode_version(struct inode *inode)
{
	return IS_I_VERSION(inode) ? inode_peek_iversion(inode) : 0;
}

/* Times have the resolution of a tick: a second change within one would go
 * unseen. So nothing that has changed just now is taken as settled.
 */
static bool khttpd_inode_settled(const struct inode *inode)
{
	struct timespec64 changed = khttpd_inode_ctime(inode), now;

	ktime_get_coarse_real_ts64(&now);
	now = timespec64_sub(now, changed);
	return now.tv_sec > 0 ||
	       (now.tv_sec == 0 && now.tv_nsec > 3 * TICK_NSEC);
}

/* Is @dentry named as the path has it in front of its @left bytes' end? Takes
 * the name off @left.
 */
static bool khttpd_entry_named(const struct khttpd_entry *entry,
			       struct dentry *dentry, u32 *left)
{
	struct name_snapshot snapshot;
	bool same;
	u32 len;

	take_dentry_name_snapshot(&snapshot, dentry);
	len = snapshot.name.len;
	same = len <= *left && !memcmp(entry->name + *left - len,
				       snapshot.name.name, len);
	release_dentry_name_snapshot(&snapshot);
	if (!same)
		return false;
	*left -= len;
	if (*left && entry->name[*left - 1] != '/')
		return false;
	if (*left)
		(*left)--;
	return true;
}

/* Everything on the way from the site's root to the file: names, modes, owners
 * and change times of the directories, size, times and version of the file.
 * With @strict also whether this is the way that the path names, without links
 * in it, and nothing on it has changed just now.
 * Return: false if the way is not one that can be digested: through links or
 * mounts, removed, or of a file system that wants to be asked each time.
 */
static bool khttpd_entry_digest(const struct khttpd_entry *entry, bool strict,
				u64 *result)
{
	const struct dentry *root = entry->site->root.dentry;
	struct dentry *dentry = entry->file->f_path.dentry;
	struct inode *inode = file_inode(entry->file);
	struct timespec64 mtime = khttpd_inode_mtime(inode);
	unsigned int seq, depth = 0;
	u32 left = entry->name_len;
	bool whole = false;
	u64 digest;

	if (entry->file->f_path.mnt != entry->site->root.mnt)
		return false;
	digest = khttpd_mix(i_size_read(inode), (u64)mtime.tv_sec *
			    NSEC_PER_SEC + mtime.tv_nsec);
	digest = khttpd_mix(digest, khttpd_inode_version(entry->inode));

	rcu_read_lock();
	seq = read_seqbegin(&rename_lock);
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
		if (strict && !khttpd_entry_named(entry, dentry, &left))
			break;
		digest = khttpd_mix(digest, READ_ONCE(dentry->d_name.hash_len));
		dentry = READ_ONCE(dentry->d_parent);
	}
	if (read_seqretry(&rename_lock, seq))
		whole = false;
	rcu_read_unlock();
	*result = digest;
	return whole;
}

static int khttpd_walk(struct khttpd_site *site, const char *name,
		       unsigned int flags, struct path *result)
{
	const struct cred *old = override_creds(site->cred);
	int err;

	err = vfs_path_lookup(site->root.dentry, site->root.mnt, name,
			      KHTTPD_LOOKUP_FLAGS | flags, result);
	revert_creds(old);
	return err;
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
	       !khttpd_path_permission(&path, MAY_READ | MAY_OPEN);
	revert_creds(old);
	path_put(&path);
	return same;
}

/* Is the file's content what the entry's header says? */
static bool khttpd_entry_same(const struct khttpd_entry *entry)
{
	struct inode *inode = file_inode(entry->file);
	struct timespec64 mtime = khttpd_inode_mtime(inode);

	return i_size_read(inode) == entry->size &&
	       timespec64_equal(&mtime, &entry->mtime) &&
	       khttpd_inode_version(entry->inode) == entry->version;
}

/**
 * khttpd_entry_valid() - may this entry answer a request that comes now?
 * @entry: from the cache, referenced
 *
 * Normally one comparison: the digest of the whole way is what it was. If not,
 * or if the way leads through links, the path is walked again in the dentry
 * cache; when that leads to the same file with the same content, the entry is
 * good, and a digest of a way without links is kept.
 *
 * Context: process; does not wait for a disk.
 * Return: false if the entry must go.
 */
bool khttpd_entry_valid(struct khttpd_entry *entry)
{
	bool whole;
	u64 digest;

	/* Pairs with the release below. */
	if (smp_load_acquire(&entry->stamped) &&
	    khttpd_entry_digest(entry, false, &digest) &&
	    digest == READ_ONCE(entry->stamp))
		return true;

	/* First the digest, then the judgement: what changes in between shows
	 * in the next digest.
	 */
	whole = khttpd_entry_digest(entry, true, &digest);
	if (!khttpd_entry_same(entry) || !khttpd_entry_found(entry,
							     LOOKUP_CACHED))
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
 * khttpd_lookup_try() - ask the dentry cache what a path is
 * @site: where
 * @path: what
 *
 * Context: process; does not wait for a disk.
 * Return: -EAGAIN if a worker must open a file or ask the file system,
 * -EISDIR for a directory, -ENOENT and others when there is nothing to serve.
 */
int khttpd_lookup_try(struct khttpd_site *site, struct khttpd_path *path)
{
	struct path found;
	umode_t mode;
	int err;

	err = khttpd_walk(site, path->name, LOOKUP_CACHED, &found);
	if (err)
		return err;
	mode = d_backing_inode(found.dentry)->i_mode;
	path_put(&found);
	if (S_ISREG(mode))
		return -EAGAIN;
	return S_ISDIR(mode) ? -EISDIR : -ENOENT;
}

/* The header up to the date. Validators: RFC 9110 sections 8.8.2 and 8.8.3. */
static int khttpd_entry_header(struct khttpd_entry *entry, u64 ino)
{
	char date[KHTTPD_DATE_LEN];
	int len;

	khttpd_date_format(date, entry->mtime.tv_sec);
	len = snprintf(entry->header, sizeof(entry->header),
		       "HTTP/1.1 200 OK\r\n"
		       "Server: khttpd\r\n"
		       "Content-Type: %s\r\n"
		       "Content-Length: %llu\r\n"
		       "Last-Modified: %.*s\r\n"
		       "ETag: \"%llx.%lx-%llx-%llx-%llx\"\r\n"
		       "Date: ",
		       khttpd_mime_type(entry->name, entry->name_len),
		       (u64)entry->size, KHTTPD_DATE_LEN, date,
		       (u64)entry->mtime.tv_sec, entry->mtime.tv_nsec,
		       ino, (u64)entry->size, entry->version);
	if (len >= sizeof(entry->header))
		return -EOVERFLOW;
	entry->header_len = len;
	return 0;
}

/* Open what @found names and fill in what the entry says about it. */
static int khttpd_entry_open(struct khttpd_entry *entry, struct path *found)
{
	umode_t mode = d_backing_inode(found->dentry)->i_mode;
	struct kstat stat;
	struct file *file;
	int err;

	/* RFC 9110 knows only content: no devices, pipes or sockets. */
	if (!S_ISREG(mode))
		return S_ISDIR(mode) ? -EISDIR : -ENOENT;
	err = khttpd_path_permission(found, MAY_READ | MAY_OPEN);
	if (err)
		return err;
	file = dentry_open(found, O_RDONLY | O_NONBLOCK | O_LARGEFILE,
			   entry->site->cred);
	if (IS_ERR(file))
		return PTR_ERR(file);
	entry->file = file;
	entry->inode = d_real_inode(file->f_path.dentry);
	/* Content may be sent from the cache as soon as the version is taken. */
	if (IS_I_VERSION(entry->inode))
		entry->version = inode_query_iversion(entry->inode);
	err = vfs_getattr(&file->f_path, &stat, STATX_BASIC_STATS,
			  AT_STATX_SYNC_AS_STAT);
	if (err)
		return err;
	entry->size = stat.size;
	entry->mtime = stat.mtime;
	return khttpd_entry_header(entry, stat.ino);
}

static struct khttpd_entry *khttpd_entry_alloc(struct khttpd_site *site,
					       const struct khttpd_path *path)
{
	struct khttpd_entry *entry;

	entry = kzalloc(struct_size(entry, name, path->len + 1), GFP_KERNEL);
	if (!entry)
		return NULL;
	refcount_set(&entry->refs, 1);
	INIT_LIST_HEAD(&entry->lru);
	entry->site = khttpd_site_get(site);
	entry->name_len = path->len;
	memcpy(entry->name, path->name, path->len + 1);
	return entry;
}

/**
 * khttpd_lookup_open() - find and open the file for a path
 * @site: where
 * @path: what
 *
 * Context: process, may wait for disks.
 * Return: a new entry with one reference, not in the cache yet, or an error:
 * -EISDIR for directories, -ENOENT if nothing can be served.
 */
struct khttpd_entry *khttpd_lookup_open(struct khttpd_site *site,
					struct khttpd_path *path)
{
	struct khttpd_entry *entry;
	const struct cred *old;
	struct path found;
	int err;

	might_sleep();
	khttpd_count(lookups);
	entry = khttpd_entry_alloc(site, path);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	err = khttpd_walk(site, path->name, 0, &found);
	if (err)
		goto fail;
	old = override_creds(site->cred);
	err = khttpd_entry_open(entry, &found);
	revert_creds(old);
	path_put(&found);
	if (err)
		goto fail;

	/* Permissions on the way were judged before the digest: once more. */
	if (khttpd_entry_digest(entry, true, &entry->stamp) &&
	    khttpd_entry_same(entry) && khttpd_entry_found(entry, 0))
		entry->stamped = true;
	return entry;

fail:
	khttpd_entry_free(entry);
	return ERR_PTR(err);
}

/**
 * khttpd_path_add_index() - name the file that stands for a directory
 * @path: a directory's path
 * @index: the file's name, not empty
 *
 * Return: false if the result would be too long.
 */
bool khttpd_path_add_index(struct khttpd_path *path, const char *index)
{
	size_t len = strlen(index);

	if (path->len + len + 2 > sizeof(path->name))
		return false;
	if (path->len)
		path->name[path->len++] = '/';
	memcpy(path->name + path->len, index, len + 1);
	path->len += len;
	path->dir = false;
	return true;
}
