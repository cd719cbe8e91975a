// SPDX-License-Identifier: GPL-2.0
/* Cached files are let go as soon as they change: each has a mark of fsnotify's. That is for
 * their memory and disk space. Whether a file is true is judged at each use all the same
 * (valid.c). So a mark that cannot be had, or an event that comes too late, does no harm.
 */
#include <linux/slab.h>
#include "../compat/fsnotify.h"
#include "entry.h"
#include "watch.h"

/* A file is written, cut, linked, removed, replaced, locked away, or moved. */
#define KHTTPD_WATCH_EVENTS	(FS_MODIFY | FS_ATTRIB | FS_MOVE_SELF)

/**
 * struct khttpd_watch - the mark of an entry
 * @mark: fsnotify's part
 * @entry: the entry; a reference, given back with the memory of this
 */
struct khttpd_watch {
	struct fsnotify_mark mark;
	struct khttpd_entry *entry;
};

static struct fsnotify_group *khttpd_watch_group;
static struct kmem_cache *khttpd_watch_cache;
static void (*khttpd_watch_tell)(struct khttpd_entry *entry);

/* Context: a process in the middle of the change. */
static int khttpd_watch_event(struct fsnotify_mark *mark, u32 mask,
			      struct inode *inode, struct inode *dir,
			      const struct qstr *name, u32 cookie)
{
	khttpd_watch_tell(container_of(mark, struct khttpd_watch, mark)->entry);
	return 0;
}

/* Nobody looks at the mark any more. Context: process. */
static void khttpd_watch_free(struct fsnotify_mark *mark)
{
	struct khttpd_watch *watch = container_of(mark, struct khttpd_watch,
						  mark);

	khttpd_entry_put(watch->entry);
	kmem_cache_free(khttpd_watch_cache, watch);
}

static const struct fsnotify_ops khttpd_watch_ops = {
	.handle_inode_event = khttpd_watch_event,
	.free_mark = khttpd_watch_free,
};

/**
 * khttpd_watch_add() - have a file watched
 * @entry: a new entry, in no table yet
 *
 * Context: process.
 */
void khttpd_watch_add(struct khttpd_entry *entry)
{
	struct khttpd_watch *watch;

	watch = kmem_cache_zalloc(khttpd_watch_cache, GFP_KERNEL);
	if (!watch)
		return;
	fsnotify_init_mark(&watch->mark, khttpd_watch_group);
	watch->mark.mask = KHTTPD_WATCH_EVENTS;
	refcount_inc(&entry->refs);
	watch->entry = entry;
	if (fsnotify_add_inode_mark(&watch->mark, file_inode(entry->file), 0))
		fsnotify_put_mark(&watch->mark);
	else
		entry->watch = watch;
}

/**
 * khttpd_watch_del() - watch it no longer
 * @entry: an entry that is in no table any more
 *
 * Context: process; called once. The watch's reference is given back later, see
 * khttpd_watch_wait().
 */
void khttpd_watch_del(struct khttpd_entry *entry)
{
	struct khttpd_watch *watch = entry->watch;

	if (!watch)
		return;
	entry->watch = NULL;
	fsnotify_destroy_mark(&watch->mark, khttpd_watch_group);
	fsnotify_put_mark(&watch->mark);
}

/**
 * khttpd_watch_wait() - wait until what is not watched any more is let go
 *
 * Context: process.
 */
void khttpd_watch_wait(void)
{
	fsnotify_wait_marks_destroyed();
}

/**
 * khttpd_watch_init() - get ready
 * @changed: who is told of an entry whose file has changed
 *
 * Context of @changed: a process in the middle of the change.
 *
 * Return: 0 or a negative errno.
 */
int khttpd_watch_init(void (*changed)(struct khttpd_entry *entry))
{
	khttpd_watch_tell = changed;
	khttpd_watch_cache = KMEM_CACHE(khttpd_watch, 0);
	if (!khttpd_watch_cache)
		return -ENOMEM;
	/* Two sites may have the same file. The shrinker destroys marks: no
	 * allocation that holds the group's lock may enter it.
	 */
	khttpd_watch_group = fsnotify_alloc_group(&khttpd_watch_ops,
						  FSNOTIFY_GROUP_DUPS |
						  FSNOTIFY_GROUP_NOFS);
	if (!IS_ERR(khttpd_watch_group))
		return 0;
	kmem_cache_destroy(khttpd_watch_cache);
	return PTR_ERR(khttpd_watch_group);
}

/**
 * khttpd_watch_exit() - nothing is watched any more
 */
void khttpd_watch_exit(void)
{
	khttpd_watch_wait();
	fsnotify_put_group(khttpd_watch_group);
	/* The group goes like a mark. */
	khttpd_watch_wait();
	kmem_cache_destroy(khttpd_watch_cache);
}
