/* SPDX-License-Identifier: GPL-2.0 */
/* File system calls that changed after 6.1. From 6.3 on vfs_path_lookup() is declared in
 * linux/namei.h, and mounts have an idmap. From 6.7 on inode times are behind accessors, and from
 * 6.16 on lookup_one_len_unlocked() has another name. Ends with the last kernel below 6.16.
 */
#ifndef _KHTTPD_COMPAT_FS_H
#define _KHTTPD_COMPAT_FS_H

#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
/* Exported, but declared in a private header. */
int vfs_path_lookup(struct dentry *dentry, struct vfsmount *mnt,
		    const char *name, unsigned int flags, struct path *path);

static inline int khttpd_path_permission(const struct path *path, int mask)
{
	return inode_permission(mnt_user_ns(path->mnt),
				d_backing_inode(path->dentry), mask);
}
#else
static inline int khttpd_path_permission(const struct path *path, int mask)
{
	return inode_permission(mnt_idmap(path->mnt),
				d_backing_inode(path->dentry), mask);
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct timespec64 khttpd_inode_mtime(const struct inode *inode)
{
	return inode->i_mtime;
}

static inline struct timespec64 khttpd_inode_ctime(const struct inode *inode)
{
	return inode->i_ctime;
}
#else
static inline struct timespec64 khttpd_inode_mtime(const struct inode *inode)
{
	return inode_get_mtime(inode);
}

static inline struct timespec64 khttpd_inode_ctime(const struct inode *inode)
{
	return inode_get_ctime(inode);
}
#endif

/* The dentry of a name in a directory; may wait for a disk. */
static inline struct dentry *khttpd_lookup_one(struct dentry *dir,
					       const char *name, size_t len)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
	return lookup_one_len_unlocked(name, dir, len);
#else
	return lookup_noperm_unlocked(&QSTR_LEN(name, len), dir);
#endif
}

#endif /* _KHTTPD_COMPAT_FS_H */
