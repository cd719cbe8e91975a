// SPDX-License-Identifier: GPL-2.0
/* The memory of an open file, and the header that goes with it. */
#include <linux/file.h>
#include <linux/once.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include "../http/added.h"
#include "../http/date.h"
#include "../http/mime.h"
#include "entry.h"

static LLIST_HEAD(khttpd_entry_dead);
static void khttpd_entry_reap(struct work_struct *work);
static DECLARE_WORK(khttpd_entry_reaper, khttpd_entry_reap);

/**
 * khttpd_entry_alloc() - make an entry, without its file
 * @site: where
 * @path: what
 * @coding: which file stands in for it; KHTTPD_CODING_IDENTITY for itself
 *
 * Return: the entry with one reference, or NULL.
 */
struct khttpd_entry *khttpd_entry_alloc(struct khttpd_site *site,
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
 * khttpd_entry_free() - release an entry that nobody else can see
 * @entry: the entry
 *
 * Context: process.
 */
void khttpd_entry_free(struct khttpd_entry *entry)
{
	if (entry->file)
		fput(entry->file);
	khttpd_site_put(entry->site);
	kfree(entry->header);
	kfree_rcu(entry, rcu);
}

/**
 * khttpd_entry_put() - give a reference back
 * @entry: the entry
 *
 * Context: process.
 */
void khttpd_entry_put(struct khttpd_entry *entry)
{
	if (refcount_dec_and_test(&entry->refs))
		khttpd_entry_free(entry);
}

static void khttpd_entry_reap(struct work_struct *work)
{
	struct khttpd_entry *entry, *next;

	llist_for_each_entry_safe(entry, next, llist_del_all(&khttpd_entry_dead),
				  reap)
		khttpd_entry_free(entry);
}

/**
 * khttpd_entry_free_later() - have an entry that nobody else can see released
 * @entry: the entry; a worker does it
 *
 * Context: any but hard interrupts.
 */
void khttpd_entry_free_later(struct khttpd_entry *entry)
{
	llist_add(&entry->reap, &khttpd_entry_dead);
	schedule_work(&khttpd_entry_reaper);
}

/**
 * khttpd_entry_flush() - wait until those that were to be released later are
 *
 * Context: process.
 */
void khttpd_entry_flush(void)
{
	flush_work(&khttpd_entry_reaper);
}

/* Append to what will be the header; @text has KHTTPD_HEADER_MAX octets. */
__printf(3, 4)
static void khttpd_entry_print(struct khttpd_entry *entry, char *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	entry->header_len += vsnprintf(text + entry->header_len,
				       KHTTPD_HEADER_MAX - entry->header_len, format, args);
	va_end(args);
	entry->header_len = min_t(size_t, entry->header_len, KHTTPD_HEADER_MAX);
}

/* What a tag has of a file's version. Nobody learns of inode numbers by it. */
static u64 khttpd_entry_secret(const struct khttpd_entry *entry, u64 ino)
{
	static siphash_key_t key __read_mostly;

	get_random_once(&key, sizeof(key));
	return siphash_2u64(ino, entry->version, &key);
}

/* RFC 9110 section 8.8.3: a strong tag changes whenever the content does. Time and size are the
 * same on all machines that have the same files. Of all that is done to a file only writing
 * changes them. They do not tell content apart whose time was set back; the version does, if
 * wanted.
 */
static void khttpd_entry_tag(struct khttpd_entry *entry, char *text, u64 ino)
{
	entry->weak = !khttpd_entry_settled(entry);
	khttpd_entry_print(entry, text, "ETag: %s", entry->weak ? "W/" : "");
	entry->tag_at = entry->header_len;
	/* Section 8.8.3.2: a weak one matches the strong one with the same text, which
	 * may stand for other content.
	 */
	khttpd_entry_print(entry, text, "\"%s%llx.%lx-%llx", entry->weak ? "w" : "",
			   (u64)entry->mtime.tv_sec, entry->mtime.tv_nsec, (u64)entry->size);
	/* Two files, or two contents of one, may have the time of one tick. */
	if (entry->weak || entry->site->options.etag_version)
		khttpd_entry_print(entry, text, "-%llx", khttpd_entry_secret(entry, ino));
	/* A variant may have the time and size of its file. */
	if (entry->coding != KHTTPD_CODING_IDENTITY)
		khttpd_entry_print(entry, text, "-%s", khttpd_coding_name[entry->coding]);
	khttpd_entry_print(entry, text, "\"");
	entry->tag_len = entry->header_len - entry->tag_at;
	khttpd_entry_print(entry, text, "\r\n");
}

/* The fields that the site's rules have for a file. */
static void khttpd_entry_added(struct khttpd_entry *entry, char *text)
{
	const char *field;
	unsigned int from = 0;
	size_t len;

	while ((field = khttpd_added_next(entry->site->options.rules, entry->name, entry->key_len,
					  &from, &len)))
		khttpd_entry_print(entry, text, "%.*s\r\n", (int)len, field);
}

/**
 * khttpd_entry_header() - write the header up to the date
 * @entry: nobody else's yet; its name without suffix says what it is
 * @ino: inode number of its file
 *
 * Return: 0, -EOVERFLOW if it would be too long, or -ENOMEM.
 */
int khttpd_entry_header(struct khttpd_entry *entry, u64 ino)
{
	const struct khttpd_options *options = &entry->site->options;
	char text[KHTTPD_HEADER_MAX];
	char date[KHTTPD_DATE_LEN];
	const char *cache;
	size_t len;

	khttpd_entry_print(entry, text, "HTTP/1.1 200 OK\r\nServer: khttpd\r\n");
	entry->type_at = entry->header_len;
	cache = khttpd_mime_find(options->types, options->types_len,
				 entry->name, entry->key_len, &len);
	khttpd_entry_print(entry, text, "Content-Type: %.*s\r\n", (int)len, cache);
	entry->coding_at = entry->header_len;
	if (entry->coding != KHTTPD_CODING_IDENTITY)
		khttpd_entry_print(entry, text, "Content-Encoding: %s\r\n",
				   khttpd_coding_name[entry->coding]);
	entry->length_at = entry->header_len;
	khttpd_entry_print(entry, text, "Content-Length: %llu\r\n",
			   (u64)entry->size);
	entry->meta_at = entry->header_len;
	/* RFC 9110 section 8.8.2.1: it MUST NOT be later than Date. */
	entry->modified = min(entry->mtime.tv_sec, ktime_get_real_seconds());
	khttpd_date_format(date, entry->modified);
	khttpd_entry_print(entry, text, "Last-Modified: %.*s\r\n", KHTTPD_DATE_LEN,
			   date);
	khttpd_entry_tag(entry, text, ino);
	cache = khttpd_rules_cache(options->rules, entry->name, entry->key_len,
				   &len);
	if (cache)
		khttpd_entry_print(entry, text, "Cache-Control: %.*s\r\n", (int)len,
				   cache);
	entry->expires = khttpd_rules_expires(options->rules, entry->name,
					      entry->key_len, &entry->seconds);
	khttpd_entry_added(entry, text);
	/* RFC 9110 section 12.5.5: also where the file itself was chosen. */
	if (entry->variants || entry->coding != KHTTPD_CODING_IDENTITY)
		khttpd_entry_print(entry, text, "Vary: Accept-Encoding\r\n");
	khttpd_entry_print(entry, text, "Accept-Ranges: bytes\r\nDate: ");
	if (entry->header_len == KHTTPD_HEADER_MAX)
		return -EOVERFLOW;
	/* Most are half as long as they may be, and there are many files. */
	entry->header = kmemdup(text, entry->header_len, GFP_KERNEL);
	return entry->header ? 0 : -ENOMEM;
}
