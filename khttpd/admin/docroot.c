// SPDX-License-Identifier: GPL-2.0
/* The path of a document root may come to name another directory. Somebody replaces a symbolic
 * link in it to deploy a release, or makes a directory anew. Each directory that the path goes
 * through, links included, has a mark of fsnotify's for the one name that is looked up there.
 * When that name comes or goes, the path is looked up again. A request costs nothing for it. A
 * mount over a directory is not noticed.
 */
#include <linux/configfs.h>
#include <linux/fs_struct.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "../compat/fs.h"
#include "../compat/fsnotify.h"
#include "docroot.h"

/* A name in a directory comes to stand for something else. */
#define KHTTPD_DOCROOT_EVENTS	(FS_CREATE | FS_DELETE | FS_MOVED_FROM | FS_MOVED_TO)
/* Most directories that a path goes through; a longer one is not followed. */
#define KHTTPD_DOCROOT_MARKS	64
/* Most symbolic links, each in what the one before says. */
#define KHTTPD_DOCROOT_LINKS	8
/* Least time between two look-ups: somebody who may replace the link must not keep us busy. */
#define KHTTPD_DOCROOT_DELAY	(HZ / 20)

/**
 * struct khttpd_docroot - a path that is followed
 * @refs: its site's, one for each mark, and one for @work if that is to run
 * @work: looks the path up again
 * @looking: held while it is looked up, for which a file system may take any time
 * @count: marks made by that look-up
 * @lock: protects @ended and @marks
 * @ended: nobody wants to know any more
 * @marks: of the directories
 * @fs: root directory of the process that named the path; held
 * @item: the site's directory in configfs; held
 * @moved: is called with the result
 * @name: the path
 */
struct khttpd_docroot {
	refcount_t refs;
	struct delayed_work work;
	struct mutex looking;		/* @count */
	unsigned int count;
	spinlock_t lock;		/* @ended, @marks */
	bool ended;
	struct list_head marks;
	struct path fs;
	struct config_item *item;
	khttpd_docroot_moved moved;
	char *name;
};

/**
 * struct khttpd_docroot_mark - a directory on the way
 * @mark: fsnotify's part
 * @node: in the path's list
 * @docroot: the path; reference held until the memory of this goes
 * @len: length of @name
 * @name: what is looked up there
 */
struct khttpd_docroot_mark {
	struct fsnotify_mark mark;
	struct list_head node;
	struct khttpd_docroot *docroot;
	unsigned int len;
	char name[];
};

static struct fsnotify_group *khttpd_docroot_group;
static struct workqueue_struct *khttpd_docroot_workqueue;
static atomic_t khttpd_docroot_count;

static void khttpd_docroot_put(struct khttpd_docroot *docroot)
{
	if (!refcount_dec_and_test(&docroot->refs))
		return;
	path_put(&docroot->fs);
	config_item_put(docroot->item);
	kfree(docroot->name);
	kfree(docroot);
	if (atomic_dec_and_test(&khttpd_docroot_count))
		wake_up_var(&khttpd_docroot_count);
}

/* Context: a process in the middle of the change. */
static int khttpd_docroot_event(struct fsnotify_mark *fsn_mark, u32 mask, struct inode *inode,
				struct inode *dir, const struct qstr *name, u32 cookie)
{
	struct khttpd_docroot_mark *mark = container_of(fsn_mark, struct khttpd_docroot_mark,
							mark);
	struct khttpd_docroot *docroot = mark->docroot;

	if (!name || name->len != mark->len || memcmp(name->name, mark->name, mark->len))
		return 0;
	/* The mark has a reference. */
	refcount_inc(&docroot->refs);
	if (!queue_delayed_work(khttpd_docroot_workqueue, &docroot->work,
				KHTTPD_DOCROOT_DELAY))
		khttpd_docroot_put(docroot);
	return 0;
}

static void khttpd_docroot_free_mark(struct fsnotify_mark *fsn_mark)
{
	struct khttpd_docroot_mark *mark = container_of(fsn_mark, struct khttpd_docroot_mark,
							mark);

	khttpd_docroot_put(mark->docroot);
	kfree(mark);
}

static const struct fsnotify_ops khttpd_docroot_ops = {
	.handle_inode_event = khttpd_docroot_event,
	.free_mark = khttpd_docroot_free_mark,
};

/* Have @name watched in a directory. Return: 0 or a negative errno. */
static int khttpd_docroot_mark(struct khttpd_docroot *docroot, struct list_head *marks,
			       const struct path *dir, const char *name, unsigned int len)
{
	struct khttpd_docroot_mark *mark;
	int err;

	if (docroot->count == KHTTPD_DOCROOT_MARKS)
		return -E2BIG;
	mark = kzalloc(struct_size(mark, name, len), GFP_KERNEL);
	if (!mark)
		return -ENOMEM;
	fsnotify_init_mark(&mark->mark, khttpd_docroot_group);
	mark->mark.mask = KHTTPD_DOCROOT_EVENTS;
	mark->docroot = docroot;
	refcount_inc(&docroot->refs);
	mark->len = len;
	memcpy(mark->name, name, len);
	err = fsnotify_add_inode_mark(&mark->mark, d_inode(dir->dentry), 0);
	if (err) {
		fsnotify_put_mark(&mark->mark);
		return err;
	}
	list_add_tail(&mark->node, marks);
	docroot->count++;
	return 0;
}

static void khttpd_docroot_unmark(struct list_head *marks)
{
	struct khttpd_docroot_mark *mark, *next;

	list_for_each_entry_safe(mark, next, marks, node) {
		list_del(&mark->node);
		fsnotify_destroy_mark(&mark->mark, khttpd_docroot_group);
		fsnotify_put_mark(&mark->mark);
	}
}

/* "..", not above the root directory. */
static void khttpd_docroot_up(const struct khttpd_docroot *docroot, struct path *at)
{
	struct dentry *parent;

	if (path_equal(at, &docroot->fs))
		return;
	while (at->dentry == at->mnt->mnt_root) {
		if (!follow_up(at) || path_equal(at, &docroot->fs))
			return;
	}
	parent = dget_parent(at->dentry);
	dput(at->dentry);
	at->dentry = parent;
}

/* What a symbolic link says. Return: a copy, NULL if it is no text, or an error. */
static char *khttpd_docroot_link(const struct path *link)
{
	DEFINE_DELAYED_CALL(done);
	const char *text;
	char *copy;

	/* Of /proc and its kind: followed, but not read. */
	if (d_inode(link->dentry)->i_op->readlink)
		return NULL;
	text = vfs_get_link(link->dentry, &done);
	copy = IS_ERR(text) ? ERR_CAST(text) : kstrdup(text, GFP_KERNEL);
	do_delayed_call(&done);
	return copy ?: ERR_PTR(-ENOMEM);
}

static int khttpd_docroot_walk(struct khttpd_docroot *docroot, struct list_head *marks,
			       struct path *at, const char *name, unsigned int depth);

/* Go through a symbolic link @name in the directory @at. @child is the link, and ours. */
static int khttpd_docroot_through(struct khttpd_docroot *docroot, struct list_head *marks,
				  struct path *at, struct path *child, const char *name,
				  unsigned int depth)
{
	struct path end;
	char *text;
	int err;

	if (!depth) {
		path_put(child);
		return -ELOOP;
	}
	text = khttpd_docroot_link(child);
	if (!text) {
		err = vfs_path_lookup(at->dentry, at->mnt, name, LOOKUP_FOLLOW, &end);
		path_put(child);
		if (err)
			return err;
		path_put(at);
		*at = end;
		return 0;
	}
	path_put(child);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (*text == '/') {
		path_put(at);
		*at = docroot->fs;
		path_get(at);
	}
	err = khttpd_docroot_walk(docroot, marks, at, text, depth - 1);
	kfree(text);
	return err;
}

/* One name of the path, in the directory @at, which becomes what it stands for. */
static int khttpd_docroot_step(struct khttpd_docroot *docroot, struct list_head *marks,
			       struct path *at, const char *name, unsigned int depth)
{
	struct path child;
	int err;

	if (!strcmp(name, "."))
		return 0;
	if (!strcmp(name, "..")) {
		khttpd_docroot_up(docroot, at);
		return 0;
	}
	/* First: what changes after the look-up must be noticed. */
	err = khttpd_docroot_mark(docroot, marks, at, name, strlen(name));
	if (!err)
		err = vfs_path_lookup(at->dentry, at->mnt, name, 0, &child);
	if (err)
		return err;
	if (d_is_symlink(child.dentry))
		return khttpd_docroot_through(docroot, marks, at, &child, name, depth);
	path_put(at);
	*at = child;
	return d_is_dir(at->dentry) ? 0 : -ENOTDIR;
}

/* Look a path up from the directory @at on, which becomes what it names; @depth more links may
 * be gone through. Return: 0 or an error, with @at where it ended.
 */
static int khttpd_docroot_walk(struct khttpd_docroot *docroot, struct list_head *marks,
			       struct path *at, const char *name, unsigned int depth)
{
	char *text = kstrdup(name, GFP_KERNEL), *rest = text, *step;
	int err = text ? 0 : -ENOMEM;

	while (!err && (step = strsep(&rest, "/"))) {
		if (*step)
			err = khttpd_docroot_step(docroot, marks, at, step, depth);
	}
	kfree(text);
	return err;
}

/* The marks of a look-up take the place of those before, or go with them. */
static void khttpd_docroot_take(struct khttpd_docroot *docroot, struct list_head *marks)
{
	LIST_HEAD(old);

	spin_lock(&docroot->lock);
	list_splice_init(&docroot->marks, &old);
	if (docroot->ended)
		list_splice(marks, &old);
	else
		list_splice(marks, &docroot->marks);
	spin_unlock(&docroot->lock);
	khttpd_docroot_unmark(&old);
}

/* Look the path up, with all directories marked anew before the old marks go: no change falls
 * between. Return: 0 with @root held, or an error.
 */
static int khttpd_docroot_look(struct khttpd_docroot *docroot, struct path *root)
{
	LIST_HEAD(marks);
	int err;

	mutex_lock(&docroot->looking);
	docroot->count = 0;
	*root = docroot->fs;
	path_get(root);
	err = khttpd_docroot_walk(docroot, &marks, root, docroot->name, KHTTPD_DOCROOT_LINKS);
	khttpd_docroot_take(docroot, &marks);
	mutex_unlock(&docroot->looking);
	if (err)
		path_put(root);
	return err;
}

static void khttpd_docroot_work(struct work_struct *work)
{
	struct khttpd_docroot *docroot = container_of(to_delayed_work(work),
						      struct khttpd_docroot, work);
	struct path root;

	if (!READ_ONCE(docroot->ended) && !khttpd_docroot_look(docroot, &root)) {
		docroot->moved(docroot->item, docroot, &root);
		path_put(&root);
	}
	khttpd_docroot_put(docroot);
}

/**
 * khttpd_docroot_begin() - follow a path
 * @name: the path, absolute, for the calling process
 * @item: the site's directory in configfs
 * @moved: is called when the path may name another directory; not before this returns
 *
 * A path that cannot be followed, for it is too long or there is no memory, names for good what
 * it names now.
 *
 * Context: process.
 * Return: the path, or NULL if it is not followed.
 */
struct khttpd_docroot *khttpd_docroot_begin(const char *name, struct config_item *item,
					    khttpd_docroot_moved moved)
{
	struct khttpd_docroot *docroot = kzalloc(sizeof(*docroot), GFP_KERNEL);
	struct path root;

	if (!docroot)
		return NULL;
	docroot->name = kstrdup(name, GFP_KERNEL);
	if (!docroot->name) {
		kfree(docroot);
		return NULL;
	}
	refcount_set(&docroot->refs, 1);
	atomic_inc(&khttpd_docroot_count);
	INIT_DELAYED_WORK(&docroot->work, khttpd_docroot_work);
	mutex_init(&docroot->looking);
	spin_lock_init(&docroot->lock);
	INIT_LIST_HEAD(&docroot->marks);
	get_fs_root(current->fs, &docroot->fs);
	docroot->item = config_item_get(item);
	docroot->moved = moved;
	if (khttpd_docroot_look(docroot, &root)) {
		khttpd_docroot_end(docroot);
		return NULL;
	}
	path_put(&root);
	return docroot;
}

/**
 * khttpd_docroot_end() - follow it no longer
 * @docroot: the path, or NULL
 *
 * Does not wait for a look-up that is under way: its file system may never answer.
 *
 * Context: process.
 */
void khttpd_docroot_end(struct khttpd_docroot *docroot)
{
	LIST_HEAD(none);

	if (!docroot)
		return;
	spin_lock(&docroot->lock);
	WRITE_ONCE(docroot->ended, true);
	spin_unlock(&docroot->lock);
	khttpd_docroot_take(docroot, &none);
	if (cancel_delayed_work(&docroot->work))
		khttpd_docroot_put(docroot);
	khttpd_docroot_put(docroot);
}

/**
 * khttpd_docroot_init() - get ready
 *
 * Return: 0 or a negative errno.
 */
int khttpd_docroot_init(void)
{
	khttpd_docroot_workqueue = alloc_workqueue("khttpd_docroot", WQ_UNBOUND, 0);
	if (!khttpd_docroot_workqueue)
		return -ENOMEM;
	khttpd_docroot_group = fsnotify_alloc_group(&khttpd_docroot_ops, FSNOTIFY_GROUP_DUPS);
	if (!IS_ERR(khttpd_docroot_group))
		return 0;
	destroy_workqueue(khttpd_docroot_workqueue);
	return PTR_ERR(khttpd_docroot_group);
}

/**
 * khttpd_docroot_exit() - no path is followed any more
 */
void khttpd_docroot_exit(void)
{
	/* No event comes any more, and no work that one has queued before. */
	fsnotify_wait_marks_destroyed();
	wait_var_event(&khttpd_docroot_count, !atomic_read(&khttpd_docroot_count));
	destroy_workqueue(khttpd_docroot_workqueue);
	fsnotify_put_group(khttpd_docroot_group);
	fsnotify_wait_marks_destroyed();
}
