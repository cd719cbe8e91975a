// SPDX-License-Identifier: GPL-2.0
/* From a normalised path to an open file, beneath the document root and with
 * the site's credentials.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/stat.h>
#include "../compat/fs.h"
#include "../http/hidden.h"
#include "../observe/stats.h"
#include "resolve.h"
#include "walk.h"

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

/* Pages that are cached of a file on a server (NFS) may be of an older version than what
 * was just learnt of it. The file system looks to that when it is read.
 */
static void khttpd_lookup_revalidate(struct file *file)
{
	loff_t pos = 0;
	u8 byte;

	/* An error comes again with what is read to be sent. */
	if (file->f_path.dentry->d_flags & DCACHE_OP_REVALIDATE)
		kernel_read(file, &byte, sizeof(byte), &pos);
}

/* Open what @found names and fill in what the entry says about it. */
static int khttpd_lookup_file(struct khttpd_entry *entry, struct path *found)
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
	khttpd_entry_begin(entry);
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
	khttpd_lookup_revalidate(file);
	/* A file that comes or goes in between shows in the next digest. */
	entry->beside = khttpd_entry_beside(entry, 0);
	err = khttpd_entry_variants(entry, 0);
	if (err < 0)
		return err;
	entry->variants = err;
	return khttpd_entry_header(entry, stat.ino);
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
	err = khttpd_lookup_file(entry, &found);
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

