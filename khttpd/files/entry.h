/* SPDX-License-Identifier: GPL-2.0 */
/* A file of a site that is kept open: how it is found, that it is still the file of
 * that name, and what else a path may lead to.
 */
#ifndef _KHTTPD_ENTRY_H
#define _KHTTPD_ENTRY_H

#include <linux/fs.h>
#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include "../http/accept.h"
#include "../http/path.h"
#include "site.h"

/* Longest header of a file, the part before the date. */
#define KHTTPD_HEADER_MAX	512

/**
 * struct khttpd_entry - a file of a site, open and with its header built
 * @node: link in the hash table
 * @lru: link in the list of all entries
 * @refs: the table's and one for each user
 * @site: which site; reference held
 * @file: the open file
 * @inode: whose page cache is sent (below overlayfs: the real one)
 * @stamp: digest of everything that must not change, see khttpd_entry_valid()
 * @stamped: the digest covers the whole way from the root; otherwise the path
 *	is walked again each time
 * @dead: removed from the table
 * @weak: it was opened so soon after a change that another one could go unseen
 * @coding: it stands in for the file of that name without suffix
 * @variants: BIT(enum khttpd_coding) of the files that can stand in for it
 * @expires: it is good for @seconds from the time of a reply on
 * @seconds: for how long
 * @used: jiffies of the last use, coarsely
 * @size: size of the file in bytes
 * @mtime: its modification time
 * @modified: what is said of that: not later than the opening, seconds since 1970
 * @beside: digest of the directory where @variants are, or 0, see khttpd_entry_beside()
 * @version: its change counter, or its change time where the file system has none
 * @reap: link in the list of those to be freed, or removed, by a worker
 * @changing: in the list of those to be removed
 * @watch: tells when the file changes, or NULL
 * @header_len: bytes in @header
 * @type_at: where its Content-Type line is
 * @coding_at: where its Content-Encoding line is, if any
 * @length_at: where its Content-Length line is
 * @meta_at: where the fields that a 304 has too begin
 * @tag_at: where its entity tag is, quotes included
 * @tag_len: its length
 * @header: status line and fields up to and including "Date: "
 * @key_len: length of the name without the suffix of its coding
 * @name_len: length of @name
 * @name: path of the file; its first @key_len bytes, @coding and @site are the
 *	key
 */
struct khttpd_entry {
	struct rhash_head node;
	struct list_head lru;
	refcount_t refs;
	struct khttpd_site *site;
	struct file *file;
	struct inode *inode;
	u64 stamp;
	bool stamped;
	bool dead;
	bool weak;
	u8 coding;
	u8 variants;
	bool expires;
	u32 seconds;
	unsigned long used;
	loff_t size;
	struct timespec64 mtime;
	time64_t modified;
	u64 beside;
	u64 version;
	struct rcu_head rcu;
	struct llist_node reap;
	unsigned long changing;
	struct khttpd_watch *watch;
	u16 header_len;
	u16 type_at;
	u16 coding_at;
	u16 length_at;
	u16 meta_at;
	u16 tag_at;
	u16 tag_len;
	u16 key_len;
	u16 name_len;
	char header[KHTTPD_HEADER_MAX];
	char name[];
};

/* May another file be sent for this one? */
static inline bool khttpd_entry_has_choice(const struct khttpd_entry *entry)
{
	return entry->site->options.precompressed &&
	       entry->coding == KHTTPD_CODING_IDENTITY;
}

/**
 * struct khttpd_found - what there is for a path
 * @entry: the file (reference held), or NULL
 * @error: why there is none, a negative errno, or 0
 * @page: @entry is the page that explains @error
 * @text: instead: the listing of a directory (kvmalloc)
 * @len: its length
 */
struct khttpd_found {
	struct khttpd_entry *entry;
	int error;
	bool page;
	char *text;
	size_t len;
};

/**
 * struct khttpd_wish - what is looked for
 * @dir_len: length of the directory's path if an index file is looked for; -1
 *	if a file was asked for
 * @status: only the page for this error, whose path the rules have; or 0
 * @size: then: as in struct khttpd_ask
 * @server: what is missing is a server's: nobody wants to know more about it
 * @json: a listing is to be JSON
 * @codings: which codings the client takes
 * @path: what, index file's name included; still a directory if the site has
 *	no index files
 */
struct khttpd_wish {
	s16 dir_len;
	u16 status;
	u64 size;
	bool server;
	bool json;
	struct khttpd_codings codings;
	struct khttpd_path path;
};

/* cache.c */
int khttpd_cache_init(void);
void khttpd_cache_exit(void);
struct khttpd_entry *khttpd_cache_find(struct khttpd_site *site,
				       const struct khttpd_path *path,
				       enum khttpd_coding coding);
struct khttpd_entry *khttpd_cache_peek(struct khttpd_site *site,
				       const struct khttpd_path *path,
				       enum khttpd_coding coding);
unsigned long khttpd_cache_departures(void);
struct khttpd_entry *khttpd_cache_repeat(const struct khttpd_site *site,
					 struct khttpd_entry *entry,
					 unsigned long departures);
struct khttpd_entry *khttpd_cache_insert(struct khttpd_entry *entry);
void khttpd_cache_purge(struct khttpd_site *site);
void khttpd_cache_changed(struct khttpd_entry *entry);
void khttpd_cache_stats(u32 *entries);
void khttpd_entry_put(struct khttpd_entry *entry);
void khttpd_entry_free(struct khttpd_entry *entry);
void khttpd_entry_free_later(struct khttpd_entry *entry);

/**
 * khttpd_entry_put_atomic() - give a reference back where one must not sleep
 * @entry: the entry; if it was the last reference, a worker frees it
 *
 * Context: any but hard interrupts.
 */
static inline void khttpd_entry_put_atomic(struct khttpd_entry *entry)
{
	if (refcount_dec_and_test(&entry->refs))
		khttpd_entry_free_later(entry);
}

/* valid.c */
bool khttpd_dentry_named(const char *path, struct dentry *dentry, u32 *left);
void khttpd_entry_version(struct khttpd_entry *entry);
bool khttpd_entry_settled(const struct khttpd_entry *entry);
bool khttpd_entry_fresh(struct khttpd_entry *entry);
bool khttpd_entry_valid(struct khttpd_entry *entry);
u64 khttpd_entry_beside(const struct khttpd_entry *entry, unsigned int flags);
void khttpd_entry_stamp(struct khttpd_entry *entry);

/* lookup.c */
int khttpd_walk(struct khttpd_site *site, const char *name, unsigned int flags,
		struct path *result);
const struct super_block *khttpd_lookup_sb(struct khttpd_site *site,
					   struct khttpd_path *path);
int khttpd_entry_variants(const struct khttpd_entry *entry, unsigned int flags);
bool khttpd_lookup_hidden(const struct khttpd_site *site, const char *name, size_t len);
int khttpd_lookup_try(struct khttpd_site *site, struct khttpd_path *path);
struct khttpd_entry *khttpd_lookup_open(struct khttpd_site *site,
					const struct khttpd_path *path,
					enum khttpd_coding coding);
bool khttpd_path_add_index(struct khttpd_path *path, const char *index);

/* listing.c */
int khttpd_listing(struct khttpd_site *site, const struct khttpd_wish *wish,
		   char **text, size_t *len);

/* resolve.c */
bool khttpd_resolve_now(struct khttpd_site *site, struct khttpd_wish *wish,
			struct khttpd_found *found);
void khttpd_resolve(struct khttpd_site *site, struct khttpd_wish *wish,
		    struct khttpd_found *found);

#endif /* _KHTTPD_ENTRY_H */
