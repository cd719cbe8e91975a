// SPDX-License-Identifier: GPL-2.0
/* Tells when a file of a site may have become another one. inotify watches each directory on the
 * way to it, from the root on, for names that come and go, and the file for what is written. So it
 * does not matter how much of the way is there. After each change all is watched anew: nothing need
 * be known about the watches.
 */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#include "tlsd.h"

#define NAMES	(IN_CREATE | IN_DELETE | IN_MOVE)
#define DATA	(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)
/* As many as the kernel follows. */
#define LINKS_MAX	40
/* Not in linux/magic.h: it is no part of Linux. */
#define ZFS_SUPER_MAGIC	0x2fc12fc1

/* May somebody else change what is there, of whom this kernel does not know? So it is, with few
 * exceptions, where there is no block device. The number of the file system alone does not say: of
 * 9p it is that of the host's.
 */
static bool is_shared(const char *dir)
{
	struct statfs fs;
	struct stat st;

	if (stat(dir, &st) || major(st.st_dev) || statfs(dir, &fs))
		return false;
	switch ((uint32_t)fs.f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case ZFS_SUPER_MAGIC:
		return false;
	default:
		return true;
	}
}

/* Return: 0, also if it is not there: the directory above is watched. Or a negative errno. */
static int watch(int inotify, const char *path, uint32_t mask)
{
	if (inotify_add_watch(inotify, path, mask) >= 0 || errno == ENOENT || errno == ENOTDIR)
		return 0;
	return -errno;
}

/* Part by part: what a link says takes its place, and the way begins again. A directory is watched
 * before it is looked what is in it. Return: 0, or a negative errno: changes will not be seen.
 */
static int watch_file(int inotify, const char *file)
{
	char path[PATH_MAX], part[PATH_MAX], to[PATH_MAX];
	char *at = path, *name;
	int links = 0, err;
	bool shared = false;
	ssize_t len;

	strcpy(path, file);
	while (*at) {
		name = at + strspn(at, "/");
		snprintf(part, sizeof(part), "%.*s", (int)(name - path), path);
		err = watch(inotify, part, NAMES);
		if (err)
			return err;
		shared = is_shared(part);
		at = name + strcspn(name, "/");
		snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		len = readlink(part, to, sizeof(to));
		if (len <= 0)
			continue;
		if (links++ == LINKS_MAX)
			return -ELOOP;
		if (snprintf(part, sizeof(part), "%.*s%.*s%s",
			     *to == '/' ? 0 : (int)(name - path), path, (int)len, to, at) >=
		    (int)sizeof(part))
			return -ENAMETOOLONG;
		strcpy(path, part);
		at = path;
	}
	return watch(inotify, path, DATA) ?: shared ? -EREMOTE : 0;
}

static int watch_files(int inotify, const char *lines, char path[PATH_MAX])
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && get_line(lines, i, path); i++)
		err = watch_file(inotify, path);
	return err;
}

/* Watch the files of @sites, and nothing else any more. @inotify: readable when one may have
 * changed; -1 before. Return: NULL, or what does not work; errno says why.
 */
const char *watch_sites(const struct site *sites, int *inotify)
{
	static char path[PATH_MAX];
	int err = 0;

	if (*inotify >= 0)
		close(*inotify);
	*inotify = inotify_init1(IN_CLOEXEC);
	if (*inotify < 0)
		return "inotify";
	for (; sites && !err; sites = sites->next)
		err = watch_files(*inotify, sites->certificate, path) ?:
		      watch_files(*inotify, sites->key, path) ?:
		      watch_files(*inotify, sites->client_ca, path);
	errno = -err;
	return err ? path : NULL;
}
