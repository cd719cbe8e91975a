/* SPDX-License-Identifier: GPL-2.0 */
/* A file of a site that is kept open, what is said of it, and that it is still the
 * file of that name.
 */
#ifndef _KHTTPD_ENTRY_H
#define _KHTTPD_ENTRY_H

#include <linux/fs.h>
#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include "../http/accept.h"
#include "../http/condition.h"
#include "../http/path.h"
#include "site.h"

/* Longest header of a file, the part before the date: with the fields that rules add, and without
 * them.
 */
#define KHTTPD_HEADER_OWN	512
#define KHTTPD_HEADER_MAX	(KHTTPD_HEADER_OWN + KHTTPD_ADDED_SIZE)

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
 * @layers: of a file of an overlay: digest of all that shows a change
 * @rcu: for its end
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
 * @header: status line and fields up to and including "Date: ", allocated. In softirq it is
 *	read without a reference: the table's goes a grace period after the entry has left
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
	u64 layers;
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
	char *header;
	char name[];
};

/* May another file be sent for this one? */
static inline bool khttpd_entry_has_choice(const struct khttpd_entry *entry)
{
	return entry->site->options.precompressed &&
	       entry->coding == KHTTPD_CODING_IDENTITY;
}

/* The values that conditions are compared with, at the second @now. */
static inline struct khttpd_validators
khttpd_entry_validators(const struct khttpd_entry *entry, time64_t now)
{
	return (struct khttpd_validators){
		.tag = entry->header + entry->tag_at,
		.tag_len = entry->tag_len,
		.weak = entry->weak,
		.mtime = entry->modified,
		.now = now,
	};
}

/* entry.c */
struct khttpd_entry *khttpd_entry_alloc(struct khttpd_site *site,
					const struct khttpd_path *path,
					enum khttpd_coding coding);
int khttpd_entry_header(struct khttpd_entry *entry, u64 ino);
void khttpd_entry_put(struct khttpd_entry *entry);
void khttpd_entry_free(struct khttpd_entry *entry);
void khttpd_entry_free_later(struct khttpd_entry *entry);
void khttpd_entry_flush(void);

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

/* variants.c */
int khttpd_entry_variants(const struct khttpd_entry *entry, unsigned int flags);

/* valid.c */
void khttpd_entry_begin(struct khttpd_entry *entry);
void khttpd_entry_version(struct khttpd_entry *entry);
bool khttpd_entry_settled(const struct khttpd_entry *entry);
bool khttpd_entry_fresh(struct khttpd_entry *entry);
bool khttpd_entry_valid(struct khttpd_entry *entry);
u64 khttpd_entry_beside(const struct khttpd_entry *entry, unsigned int flags);
void khttpd_entry_stamp(struct khttpd_entry *entry);

#endif /* _KHTTPD_ENTRY_H */
