// SPDX-License-Identifier: GPL-2.0
/* From a normalised path to an open file, beneath the document root and with
 * the site's credentials, and the header that goes with it.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/timekeeping.h>
#include "../compat/fs.h"
#include "../conn/conn.h"
#include "../http/hidden.h"

/* Mounts below the root are told apart down to this depth. */
#define KHTTPD_MOUNT_DEPTH	8

#define KHTTPD_LOOKUP_FLAGS \
	(LOOKUP_FOLLOW | LOOKUP_BENEATH | LOOKUP_NO_MAGICLINKS)

/**
 * khttpd_walk() - walk a path beneath the root with the site's credentials
 * @site: where
 * @name: normalised path
 * @flags: LOOKUP_CACHED not to wait for a disk, or 0
 * @result: where it leads
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int khttpd_walk(struct khttpd_site *site, const char *name, unsigned int flags,
		struct path *result)
{
	const struct cred *old = override_creds(site->cred);
	int err;

	err = vfs_path_lookup(site->root.dentry, site->root.mnt, name,
			      KHTTPD_LOOKUP_FLAGS | flags, result);
	revert_creds(old);
	return err;
}

/**
 * khttpd_lookup_sb() - whose file system must be asked for a path
 * @site: where
 * @path: what; the same again afterwards
 *
 * Context: process; does not wait for a disk.
 * Return: the file system on which the path goes on behind what the dentry cache knows
 * of it; to be compared only.
 */
const struct super_block *khttpd_lookup_sb(struct khttpd_site *site,
					   struct khttpd_path *path)
{
	const struct super_block *sb = site->root.dentry->d_sb;
	char *end = path->name;
	struct path found;
	int depth;

	for (depth = 0; *end && depth < KHTTPD_MOUNT_DEPTH; depth++) {
		char was;
		int err;

		end = strchrnul(end + 1, '/');
		was = *end;
		*end = '\0';
		err = khttpd_walk(site, path->name, LOOKUP_CACHED, &found);
		*end = was;
		if (err)
			break;
		sb = found.dentry->d_sb;
		path_put(&found);
	}
	return sb;
}

/**
 * khttpd_lookup_hidden() - is a path as if there were nothing?
 * @site: where
 * @name: normalised path
 * @len: its length
 *
 * No file of such a path is ever in the cache. Context: any.
 * Return: true for names that are hidden by default, unless a rule serves them.
 */
bool khttpd_lookup_hidden(const struct khttpd_site *site, const char *name, size_t len)
{
	return khttpd_hidden(name, len) && !khttpd_rules_serve(site->options.rules, name, len);
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

	if (khttpd_lookup_hidden(site, path->name, path->len))
		return -ENOENT;
	err = khttpd_walk(site, path->name, LOOKUP_CACHED, &found);
	if (err)
		return err;
	mode = d_backing_inode(found.dentry)->i_mode;
	path_put(&found);
	if (S_ISREG(mode))
		return -EAGAIN;
	return S_ISDIR(mode) ? -EISDIR : -ENOENT;
}

__printf(2, 3)
static void khttpd_entry_print(struct khttpd_entry *entry, const char *format,
			       ...)
{
	size_t room = sizeof(entry->header) - entry->header_len;
	va_list args;

	va_start(args, format);
	entry->header_len += vsnprintf(entry->header + entry->header_len, room,
				       format, args);
	va_end(args);
	entry->header_len = min_t(size_t, entry->header_len,
				  sizeof(entry->header));
}

/* RFC 9110 section 8.8.3: a strong tag changes whenever the content does. */
static void khttpd_entry_tag(struct khttpd_entry *entry, u64 ino)
{
	entry->weak = !khttpd_entry_settled(entry);
	khttpd_entry_print(entry, "ETag: %s", entry->weak ? "W/" : "");
	entry->tag_at = entry->header_len;
	/* Section 8.8.3.2: a weak one matches the strong one with the same text, which
	 * may stand for other content.
	 */
	khttpd_entry_print(entry, "\"%s%llx.%lx-%llx-%llx-%llx\"",
			   entry->weak ? "w" : "", (u64)entry->mtime.tv_sec,
			   entry->mtime.tv_nsec, ino, (u64)entry->size,
			   entry->version);
	entry->tag_len = entry->header_len - entry->tag_at;
	khttpd_entry_print(entry, "\r\n");
}

/* The header up to the date. Its name without suffix says what it is. */
static int khttpd_entry_header(struct khttpd_entry *entry, u64 ino)
{
	const struct khttpd_options *options = &entry->site->options;
	char date[KHTTPD_DATE_LEN];
	const char *cache;
	size_t len;

	khttpd_entry_print(entry, "HTTP/1.1 200 OK\r\nServer: khttpd\r\n");
	entry->type_at = entry->header_len;
	cache = khttpd_mime_find(options->types, options->types_len,
				 entry->name, entry->key_len, &len);
	khttpd_entry_print(entry, "Content-Type: %.*s\r\n", (int)len, cache);
	entry->coding_at = entry->header_len;
	if (entry->coding != KHTTPD_CODING_IDENTITY)
		khttpd_entry_print(entry, "Content-Encoding: %s\r\n",
				   khttpd_coding_name[entry->coding]);
	entry->length_at = entry->header_len;
	khttpd_entry_print(entry, "Content-Length: %llu\r\n",
			   (u64)entry->size);
	entry->meta_at = entry->header_len;
	/* RFC 9110 section 8.8.2.1: it MUST NOT be later than Date. */
	entry->modified = min(entry->mtime.tv_sec, ktime_get_real_seconds());
	khttpd_date_format(date, entry->modified);
	khttpd_entry_print(entry, "Last-Modified: %.*s\r\n", KHTTPD_DATE_LEN,
			   date);
	khttpd_entry_tag(entry, ino);
	cache = khttpd_rules_cache(options->rules, entry->name, entry->key_len,
				   &len);
	if (cache)
		khttpd_entry_print(entry, "Cache-Control: %.*s\r\n", (int)len,
				   cache);
	entry->expires = khttpd_rules_expires(options->rules, entry->name,
					      entry->key_len, &entry->seconds);
	/* RFC 9110 section 12.5.5: also where the file itself was chosen. */
	if (entry->variants || entry->coding != KHTTPD_CODING_IDENTITY)
		khttpd_entry_print(entry, "Vary: Accept-Encoding\r\n");
	khttpd_entry_print(entry, "Accept-Ranges: bytes\r\nDate: ");
	return entry->header_len < sizeof(entry->header) ? 0 : -EOVERFLOW;
}

/**
 * khttpd_entry_variants() - which files can stand in for this one?
 * @entry: the file
 * @flags: LOOKUP_CACHED not to wait for a disk, or 0
 *
 * Those that are not older.
 *
 * Context: process, with the site's credentials or any.
 * Return: BIT(enum khttpd_coding) of each; -EAGAIN if the dentry cache does not know;
 * -ENOMEM.
 */
int khttpd_entry_variants(const struct khttpd_entry *entry, unsigned int flags)
{
	int i, err, variants = 0;

	if (!khttpd_entry_has_choice(entry))
		return 0;
	for (i = 0; i < KHTTPD_CODING_IDENTITY; i++) {
		struct timespec64 mtime;
		struct path found;
		char *name;

		name = kasprintf(GFP_KERNEL, "%s%s", entry->name,
				 khttpd_coding_suffix[i]);
		if (!name)
			return -ENOMEM;
		err = khttpd_walk(entry->site, name, flags, &found);
		kfree(name);
		if (err == -EAGAIN)
			return err;
		if (err)
			continue;
		mtime = khttpd_inode_mtime(d_backing_inode(found.dentry));
		if (S_ISREG(d_backing_inode(found.dentry)->i_mode) &&
		    timespec64_compare(&mtime, &entry->mtime) >= 0)
			variants |= BIT(i);
		path_put(&found);
	}
	return variants;
}

/* Pages that are cached of a file on a server (NFS) may be of an older version than what
 * was just learnt of it. The file system looks to that when it is read.
 */
static void khttpd_entry_revalidate(struct file *file)
{
	loff_t pos = 0;
	u8 byte;

	/* An error comes again with what is read to be sent. */
	if (file->f_path.dentry->d_flags & DCACHE_OP_REVALIDATE)
		kernel_read(file, &byte, sizeof(byte), &pos);
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
	/* Reading makes the time of the last access unknown to FUSE. When asked for it, it
	 * forgets the access list, without which khttpd_entry_found() must not judge.
	 */
	err = vfs_getattr(&file->f_path, &stat, STATX_BASIC_STATS & ~STATX_ATIME,
			  AT_STATX_SYNC_AS_STAT);
	if (err)
		return err;
	entry->size = stat.size;
	entry->mtime = stat.mtime;
	khttpd_entry_version(entry);
	khttpd_entry_revalidate(file);
	/* Whoever comes or goes in between shows in the next digest. */
	entry->beside = khttpd_entry_beside(entry, 0);
	err = khttpd_entry_variants(entry, 0);
	if (err < 0)
		return err;
	entry->variants = err;
	return khttpd_entry_header(entry, stat.ino);
}

static struct khttpd_entry *khttpd_entry_alloc(struct khttpd_site *site,
					       const struct khttpd_path *path,
					       enum khttpd_coding coding)
{
	const char *suffix = khttpd_coding_suffix[coding];
	size_t len = strlen(suffix);
	struct khttpd_entry *entry;

	entry = kzalloc(struct_size(entry, name, path->len + len + 1),
			GFP_KERNEL);
	if (!entry)
		return NULL;
	refcount_set(&entry->refs, 1);
	INIT_LIST_HEAD(&entry->lru);
	entry->site = khttpd_site_get(site);
	entry->coding = coding;
	entry->key_len = path->len;
	entry->name_len = path->len + len;
	memcpy(entry->name, path->name, path->len);
	memcpy(entry->name + path->len, suffix, len + 1);
	return entry;
}

/**
 * khttpd_lookup_open() - find and open the file for a path
 * @site: where
 * @path: what
 * @coding: which file stands in for it; KHTTPD_CODING_IDENTITY for itself
 *
 * Context: process, may wait for disks.
 * Return: a new entry with one reference, not in the cache yet, or an error:
 * -EISDIR for directories, -ENOENT if nothing can be served.
 */
struct khttpd_entry *khttpd_lookup_open(struct khttpd_site *site,
					const struct khttpd_path *path,
					enum khttpd_coding coding)
{
	struct khttpd_entry *entry;
	const struct cred *old;
	struct path found;
	int err;

	might_sleep();
	if (khttpd_lookup_hidden(site, path->name, path->len))
		return ERR_PTR(-ENOENT);
	khttpd_count(lookups);
	entry = khttpd_entry_alloc(site, path, coding);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	err = khttpd_walk(site, entry->name, 0, &found);
	if (err)
		goto fail;
	old = override_creds(site->cred);
	err = khttpd_entry_open(entry, &found);
	revert_creds(old);
	path_put(&found);
	if (err)
		goto fail;
	khttpd_entry_stamp(entry);
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
