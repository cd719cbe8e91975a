// SPDX-License-Identifier: GPL-2.0
/* Listing of a directory, as HTML or JSON: names sorted, those that are
 * hidden left out, escaped for where they stand. Bounded; what does not fit is
 * said to be missing.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/stat.h>
#include "../compat/fs.h"
#include "../http/date.h"
#include "../http/hidden.h"
#include "resolve.h"
#include "walk.h"

/* Most names, and most bytes that they may have together. */
#define KHTTPD_LISTING_NAMES	4096
#define KHTTPD_LISTING_BYTES	(256 * 1024)
/* Longest that a byte of a name can become: "&quot;". */
#define KHTTPD_LISTING_GROWTH	6
/* Longest that is written beside a name: all of a line of JSON. */
#define KHTTPD_LISTING_LINE	128

/**
 * struct khttpd_listed - a name, and what there is
 * @at: offset of the name in the listing's bytes
 * @mode: its type; 0: there is nothing any more
 * @mtime: when it was changed, seconds since 1970
 * @size: in bytes
 */
struct khttpd_listed {
	u32 at;
	umode_t mode;
	s64 mtime;
	u64 size;
};

/**
 * struct khttpd_listing - names while they are collected
 * @ctx: for iterate_dir()
 * @count: how many
 * @used: bytes of @bytes used
 * @full: there are more
 * @item: what is known of each name
 * @bytes: a name and a NUL, one behind the other
 */
struct khttpd_listing {
	struct dir_context ctx;
	unsigned int count;
	size_t used;
	bool full;
	struct khttpd_listed item[KHTTPD_LISTING_NAMES];
	char bytes[KHTTPD_LISTING_BYTES];
};

static bool khttpd_listing_add(struct dir_context *ctx, const char *name,
			       int len, loff_t pos, u64 ino, unsigned int type)
{
	struct khttpd_listing *list = container_of(ctx, struct khttpd_listing,
						   ctx);
	struct khttpd_listed *item;

	if (len <= 0 || (type == DT_DIR ? name[0] == '.' : khttpd_hidden(name, len)))
		return true;
	list->full = list->count == KHTTPD_LISTING_NAMES ||
		     list->used + len + 1 > sizeof(list->bytes);
	if (list->full)
		return false;
	item = &list->item[list->count++];
	item->at = list->used;
	item->mode = type == DT_DIR ? S_IFDIR : S_IFREG;
	memcpy(list->bytes + list->used, name, len);
	list->bytes[list->used + len] = '\0';
	list->used += len + 1;
	return true;
}

static int khttpd_listing_cmp(const void *a, const void *b, const void *data)
{
	const struct khttpd_listed *one = a, *other = b;
	const char *bytes = data;

	return strcmp(bytes + one->at, bytes + other->at);
}

/* As nginx has it: directories first. */
static int khttpd_listing_cmp_json(const void *a, const void *b, const void *data)
{
	const struct khttpd_listed *one = a, *other = b;

	if (S_ISDIR(one->mode) != S_ISDIR(other->mode))
		return S_ISDIR(one->mode) ? -1 : 1;
	return khttpd_listing_cmp(a, b, data);
}

/* Read the directory's names, as the site's user. */
static int khttpd_listing_read(struct khttpd_site *site, const char *name,
			       struct khttpd_listing *list)
{
	const struct cred *old;
	struct file *file;
	struct path path;
	int err;

	err = khttpd_walk(site, *name ? name : ".", LOOKUP_DIRECTORY, &path);
	if (err)
		return err;
	old = override_creds(site->cred);
	err = khttpd_path_permission(&path, MAY_READ | MAY_OPEN);
	if (!err) {
		file = dentry_open(&path, O_RDONLY | O_DIRECTORY | O_LARGEFILE,
				   site->cred);
		err = PTR_ERR_OR_ZERO(file);
	}
	if (!err) {
		err = iterate_dir(file, &list->ctx);
		fput(file);
	}
	revert_creds(old);
	path_put(&path);
	return err;
}

/* What is at a path. A link is followed, as when it is asked for. */
static void khttpd_listing_stat(struct khttpd_site *site, const char *path,
				struct khttpd_listed *item)
{
	const struct cred *old;
	struct kstat stat;
	struct path found;
	int err;

	item->mode = 0;
	err = khttpd_walk(site, path, 0, &found);
	if (err)
		return;
	old = override_creds(site->cred);
	err = vfs_getattr(&found, &stat, STATX_TYPE | STATX_SIZE | STATX_MTIME,
			  AT_STATX_SYNC_AS_STAT);
	revert_creds(old);
	path_put(&found);
	if (err)
		return;
	item->mode = stat.mode & S_IFMT;
	item->mtime = stat.mtime.tv_sec;
	item->size = stat.size;
}

/* Look at each name; those at which there is nothing to be seen go. */
static int khttpd_listing_stats(struct khttpd_site *site, const char *dir,
				struct khttpd_listing *list)
{
	size_t len = strlen(dir);
	unsigned int i, left = 0;
	char *path;

	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	for (i = 0; i < list->count; i++) {
		struct khttpd_listed item = list->item[i];

		if (snprintf(path, PATH_MAX, "%s%s%s", dir, len ? "/" : "",
			     list->bytes + item.at) >= PATH_MAX)
			continue;
		khttpd_listing_stat(site, path, &item);
		if (item.mode)
			list->item[left++] = item;
		cond_resched();
	}
	list->count = left;
	kfree(path);
	return 0;
}

/**
 * struct khttpd_writer - text that grows within its room
 * @text: where it is written
 * @len: how far
 * @size: room; enough, or the rest is cut
 */
struct khttpd_writer {
	char *text;
	size_t len;
	size_t size;
};

static void khttpd_put(struct khttpd_writer *to, const char *text)
{
	to->len += scnprintf(to->text + to->len, to->size - to->len, "%s",
			     text);
}

static void khttpd_put_html(struct khttpd_writer *to, const char *name)
{
	char one[8] = "";

	for (; *name; name++) {
		u8 c = *name;

		one[0] = c;
		if (c == '&')
			khttpd_put(to, "&amp;");
		else if (c == '<')
			khttpd_put(to, "&lt;");
		else if (c == '>')
			khttpd_put(to, "&gt;");
		else if (c == '"')
			khttpd_put(to, "&quot;");
		else if (c == '\'')
			khttpd_put(to, "&#39;");
		else
			khttpd_put(to, c < ' ' || c == 0x7f ? "?" : one);
	}
}

/* Bytes of the character at @s as RFC 3629 section 4 has them; 0 if it is none. */
static unsigned int khttpd_utf8_len(const u8 *s)
{
	unsigned int len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	u8 low = 0x80, high = 0xbf;
	unsigned int i;

	if (len > 1 && (s[0] < 0xc2 || s[0] > 0xf4))
		return 0;
	/* Not longer than needed, no surrogate, none above U+10FFFF. */
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	for (i = 1; i < len; i++, low = 0x80, high = 0xbf) {
		if (s[i] < low || s[i] > high)
			return 0;
	}
	return len;
}

/* RFC 8259 section 8.1: it is UTF-8; other bytes become U+FFFD. */
static void khttpd_put_json(struct khttpd_writer *to, const char *name)
{
	unsigned int len;
	char one[8];

	for (; *name; name += len ?: 1) {
		u8 c = *name;

		len = khttpd_utf8_len((const u8 *)name);
		if (!len)
			strscpy(one, "\\ufffd", sizeof(one));
		else if (c == '"' || c == '\\')
			snprintf(one, sizeof(one), "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			snprintf(one, sizeof(one), "\\u%04x", c);
		else
			snprintf(one, sizeof(one), "%.*s", len, name);
		khttpd_put(to, one);
	}
}

static void khttpd_put_link(struct khttpd_writer *to, const char *name)
{
	/* In front of a name with a colon, it is not a scheme. */
	khttpd_put(to, "./");
	to->len += khttpd_path_encode(to->text + to->len, to->size - to->len,
				      name, strlen(name));
}

static void khttpd_listing_html(struct khttpd_writer *to, const char *dir,
				const struct khttpd_listing *list)
{
	unsigned int i;

	khttpd_put(to, "<!DOCTYPE html><meta charset=\"utf-8\"><title>/");
	khttpd_put_html(to, dir);
	khttpd_put(to, "</title><h1>/");
	khttpd_put_html(to, dir);
	khttpd_put(to, "</h1><ul>\n");
	if (*dir)
		khttpd_put(to, "<li><a href=\"../\">../</a>\n");
	for (i = 0; i < list->count; i++) {
		const char *name = list->bytes + list->item[i].at;
		const char *slash = S_ISDIR(list->item[i].mode) ? "/" : "";

		khttpd_put(to, "<li><a href=\"");
		khttpd_put_link(to, name);
		khttpd_put(to, slash);
		khttpd_put(to, "\">");
		khttpd_put_html(to, name);
		khttpd_put(to, slash);
		khttpd_put(to, "</a>\n");
	}
	khttpd_put(to, list->full ? "</ul><p>and more\n" : "</ul>\n");
}

static const char *khttpd_listing_type(umode_t mode)
{
	return S_ISDIR(mode) ? "directory" : S_ISREG(mode) ? "file" : "other";
}

/* As nginx's autoindex_format json has it. */
static void khttpd_listing_json(struct khttpd_writer *to,
				const struct khttpd_listing *list)
{
	char line[KHTTPD_LISTING_LINE], date[KHTTPD_DATE_LEN];
	unsigned int i;

	khttpd_put(to, "[");
	for (i = 0; i < list->count; i++) {
		const struct khttpd_listed *item = &list->item[i];

		khttpd_put(to, i ? ",\r\n{ \"name\":\"" : "\r\n{ \"name\":\"");
		khttpd_put_json(to, list->bytes + item->at);
		khttpd_date_format(date, item->mtime);
		snprintf(line, sizeof(line), "\", \"type\":\"%s\", \"mtime\":\"%.*s\"",
			 khttpd_listing_type(item->mode), KHTTPD_DATE_LEN, date);
		khttpd_put(to, line);
		if (S_ISREG(item->mode)) {
			snprintf(line, sizeof(line), ", \"size\":%llu", item->size);
			khttpd_put(to, line);
		}
		khttpd_put(to, " }");
	}
	khttpd_put(to, "\r\n]");
}

/**
 * khttpd_listing() - list a directory
 * @site: where
 * @wish: which: the first @dir_len bytes of its path; and how
 * @text: result (kvmalloc)
 * @len: its length
 *
 * Context: process, may wait for disks.
 * Return: 0 or a negative errno.
 */
int khttpd_listing(struct khttpd_site *site, const struct khttpd_wish *wish,
		   char **text, size_t *len)
{
	struct khttpd_listing *list;
	struct khttpd_writer to;
	char *dir;
	int err;

	dir = kstrndup(wish->path.name, wish->dir_len, GFP_KERNEL);
	list = kvmalloc(sizeof(*list), GFP_KERNEL);
	err = -ENOMEM;
	if (!dir || !list)
		goto out;
	memset(list, 0, offsetof(struct khttpd_listing, item));
	list->ctx.actor = khttpd_listing_add;
	err = khttpd_listing_read(site, dir, list);
	if (!err && wish->json)
		err = khttpd_listing_stats(site, dir, list);
	if (err)
		goto out;
	sort_r(list->item, list->count, sizeof(list->item[0]),
	       wish->json ? khttpd_listing_cmp_json : khttpd_listing_cmp, NULL, list->bytes);

	err = -ENOMEM;
	to.len = 0;
	to.size = 256 + 2 * KHTTPD_LISTING_GROWTH * strlen(dir) +
		  KHTTPD_LISTING_LINE * list->count + (KHTTPD_LISTING_GROWTH + 3) * list->used;
	to.text = kvmalloc(to.size, GFP_KERNEL);
	if (!to.text)
		goto out;
	if (wish->json)
		khttpd_listing_json(&to, list);
	else
		khttpd_listing_html(&to, dir, list);
	*text = to.text;
	*len = to.len;
	err = 0;
out:
	kvfree(list);
	kfree(dir);
	return err;
}
