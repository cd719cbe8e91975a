// SPDX-License-Identifier: GPL-2.0
/* From what a request looks for to what there is: the file, one that stands in
 * for it, the listing of a directory, the page for an error. At once from the
 * cache, or by a worker, who may wait for disks.
 */
#include <linux/slab.h>
#include "khttpd.h"

static enum khttpd_coding khttpd_wish_coding(const struct khttpd_wish *wish,
					     const struct khttpd_entry *entry)
{
	if (likely(!entry->variants))
		return KHTTPD_CODING_IDENTITY;
	return khttpd_accept_choose(&wish->codings, entry->variants);
}

/* Is there more to say about this error than its number? */
static bool khttpd_has_more(struct khttpd_site *site,
			    const struct khttpd_wish *wish, int error)
{
	size_t len;

	if (wish->dir_len >= 0 && error == -ENOENT && site->options.listing)
		return true;
	return khttpd_rules_error(site->options.rules, khttpd_status_of(error),
				  &len);
}

/**
 * khttpd_resolve_now() - what can be said without waiting
 * @site: where
 * @wish: what is looked for
 * @found: result
 *
 * Context: process; does not wait for a disk.
 * Return: false if a worker must find out.
 */
bool khttpd_resolve_now(struct khttpd_site *site, struct khttpd_wish *wish,
			struct khttpd_found *found)
{
	struct khttpd_entry *entry, *variant;
	enum khttpd_coding coding;

	if (wish->path.dir)
		return false;
	entry = khttpd_cache_find(site, &wish->path, KHTTPD_CODING_IDENTITY);
	if (!entry) {
		found->error = khttpd_lookup_try(site, &wish->path);
		return found->error != -EAGAIN &&
		       !khttpd_has_more(site, wish, found->error);
	}
	found->entry = entry;
	coding = khttpd_wish_coding(wish, entry);
	if (coding == KHTTPD_CODING_IDENTITY)
		return true;
	variant = khttpd_cache_find(site, &wish->path, coding);
	found->entry = variant;
	khttpd_entry_put(entry);
	return variant;
}

static struct khttpd_entry *khttpd_resolve_file(struct khttpd_site *site,
						const struct khttpd_path *path,
						enum khttpd_coding coding)
{
	struct khttpd_entry *entry;

	entry = khttpd_cache_find(site, path, coding);
	if (entry)
		return entry;
	entry = khttpd_lookup_open(site, path, coding);
	return IS_ERR(entry) ? entry : khttpd_cache_insert(entry);
}

/* The page that the site has for an error, or NULL. */
static struct khttpd_entry *khttpd_resolve_page(struct khttpd_site *site,
						struct khttpd_path *path,
						int error)
{
	struct khttpd_entry *entry;
	const char *page;
	size_t len;

	page = khttpd_rules_error(site->options.rules, khttpd_status_of(error),
				  &len);
	if (!page || khttpd_path_normalise(path, (const u8 *)page, len) !=
		     KHTTPD_PATH_OK)
		return NULL;
	entry = khttpd_resolve_file(site, path, KHTTPD_CODING_IDENTITY);
	return IS_ERR(entry) ? NULL : entry;
}

/**
 * khttpd_resolve() - find out what there is
 * @site: where
 * @wish: what is looked for; its path may be overwritten
 * @found: result
 *
 * Context: process, may wait for disks.
 */
void khttpd_resolve(struct khttpd_site *site, struct khttpd_wish *wish,
		    struct khttpd_found *found)
{
	struct khttpd_entry *entry, *variant;
	enum khttpd_coding coding;

	might_sleep();
	entry = ERR_PTR(-ENOENT);
	if (!wish->path.dir)
		entry = khttpd_resolve_file(site, &wish->path,
					    KHTTPD_CODING_IDENTITY);
	if (!IS_ERR(entry)) {
		found->entry = entry;
		coding = khttpd_wish_coding(wish, entry);
		if (coding == KHTTPD_CODING_IDENTITY)
			return;
		variant = khttpd_resolve_file(site, &wish->path, coding);
		if (IS_ERR(variant))
			return;
		found->entry = variant;
		khttpd_entry_put(entry);
		return;
	}
	found->error = PTR_ERR(entry);
	if (wish->dir_len >= 0 && found->error == -ENOENT) {
		/* Without index file: list it, or do not tell what is in it. */
		found->error = site->options.listing ?
			khttpd_listing(site, wish, &found->text, &found->len) :
			-EACCES;
		if (!found->error)
			return;
	}
	found->entry = khttpd_resolve_page(site, &wish->path, found->error);
	found->page = found->entry;
}
