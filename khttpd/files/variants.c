// SPDX-License-Identifier: GPL-2.0
/* Files that can stand in for another one: FILE.br, FILE.zst, FILE.gz. */
#include <linux/dcache.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include "../compat/fs.h"
#include "entry.h"
#include "walk.h"

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
