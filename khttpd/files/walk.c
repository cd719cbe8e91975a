// SPDX-License-Identifier: GPL-2.0
/* Walks beneath a site's document root, with its credentials. */
#include <linux/cred.h>
#include <linux/dcache.h>
#include "../compat/fs.h"
#include "walk.h"

/* Mounts below the root are told apart down to this depth. */
#define KHTTPD_MOUNT_DEPTH	8

#define KHTTPD_WALK_FLAGS \
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
			      KHTTPD_WALK_FLAGS | flags, result);
	revert_creds(old);
	return err;
}

/**
 * khttpd_walk_sb() - whose file system must be asked for a path
 * @site: where
 * @path: what; the same again afterwards
 *
 * Context: process; does not wait for a disk.
 * Return: the file system on which the path goes on behind what the dentry cache knows
 * of it; to be compared only.
 */
const struct super_block *khttpd_walk_sb(struct khttpd_site *site,
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
 * khttpd_walk_named() - is a dentry named as a path's last part?
 * @path: normalised path
 * @dentry: the dentry
 * @left: length of the path up to the end of that part; the part is taken off it
 *
 * Context: process; the dentry's lock is taken.
 */
bool khttpd_walk_named(const char *path, struct dentry *dentry, u32 *left)
{
	struct name_snapshot snapshot;
	bool same;
	u32 len;

	take_dentry_name_snapshot(&snapshot, dentry);
	len = snapshot.name.len;
	same = len <= *left && !memcmp(path + *left - len, snapshot.name.name,
				       len);
	release_dentry_name_snapshot(&snapshot);
	if (!same)
		return false;
	*left -= len;
	if (*left && path[*left - 1] != '/')
		return false;
	if (*left)
		(*left)--;
	return true;
}
