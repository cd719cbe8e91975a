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
#include "../compat/fs.h"
#include "../http/hidden.h"
#include "resolve.h"
#include "walk.h"

/* Most names, and most bytes that they may have together. */
#define KHTTPD_LISTING_NAMES	4096
#define KHTTPD_LISTING_BYTES	(256 * 1024)
/* Longest that a byte of a name can become: "&quot;". */
#define KHTTPD_LISTING_GROWTH	6

/**
 * struct khttpd_listing - names while they are collected
 * @ctx: for iterate_dir()
 * @count: how many
 * @used: bytes of @bytes used
 * @full: there are more
 * @at: offset of each name in @bytes
 * @bytes: a type ('/' or NUL), the name and a NUL, one behind the other
 */
struct khttpd_listing {
	struct dir_context ctx;
	unsigned int count;
	size_t used;
	bool full;
	u32 at[KHTTPD_LISTING_NAMES];
	char bytes[KHTTPD_LISTING_BYTES];
};

static bool khttpd_listing_add(struct dir_context *ctx, const char *name,
			       int len, loff_t pos, u64 ino, unsigned int type)
{
	struct khttpd_listing *list = container_of(ctx, struct khttpd_listing,
						   ctx);
	char *to = list->bytes + list->used;

	if (len <= 0 || (type == DT_DIR ? name[0] == '.' : khttpd_hidden(name, len)))
		return true;
	list->full = list->count == KHTTPD_LISTING_NAMES ||
		     list->used + len + 2 > sizeof(list->bytes);
	if (list->full)
		return false;
	list->at[list->count++] = list->used;
	to[0] = type == DT_DIR ? '/' : '\0';
	memcpy(to + 1, name, len);
	to[len + 1] = '\0';
	list->used += len + 2;
	return true;
}

static int khttpd_listing_cmp(const void *a, const void *b, const void *data)
{
	const char *bytes = data;

	return strcmp(bytes + *(const u32 *)a + 1, bytes + *(const u32 *)b + 1);
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
		const char *item = list->bytes + list->at[i];
		const char *slash = item[0] ? "/" : "";

		khttpd_put(to, "<li><a href=\"");
		khttpd_put_link(to, item + 1);
		khttpd_put(to, slash);
		khttpd_put(to, "\">");
		khttpd_put_html(to, item + 1);
		khttpd_put(to, slash);
		khttpd_put(to, "</a>\n");
	}
	khttpd_put(to, list->full ? "</ul><p>and more\n" : "</ul>\n");
}

static void khttpd_listing_json(struct khttpd_writer *to,
				const struct khttpd_listing *list)
{
	unsigned int i;

	khttpd_put(to, "[");
	for (i = 0; i < list->count; i++) {
		const char *item = list->bytes + list->at[i];

		khttpd_put(to, i ? ",\n{\"name\":\"" : "\n{\"name\":\"");
		khttpd_put_json(to, item + 1);
		khttpd_put(to, item[0] ? "\",\"type\":\"directory\"}" :
					 "\",\"type\":\"file\"}");
	}
	khttpd_put(to, "\n]\n");
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
	memset(list, 0, offsetof(struct khttpd_listing, at));
	list->ctx.actor = khttpd_listing_add;
	err = khttpd_listing_read(site, dir, list);
	if (err)
		goto out;
	sort_r(list->at, list->count, sizeof(list->at[0]), khttpd_listing_cmp,
	       NULL, list->bytes);

	err = -ENOMEM;
	to.len = 0;
	to.size = 256 + 2 * KHTTPD_LISTING_GROWTH * strlen(dir) +
		  64 * list->count + (KHTTPD_LISTING_GROWTH + 3) * list->used;
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
