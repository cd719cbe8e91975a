// SPDX-License-Identifier: GPL-2.0
/* Finds what a request looks for: the file, one that stands in for it, the listing of a
 * directory, the page for an error. At once from the cache, or by a worker, who may wait for
 * disks.
 */
#include <linux/namei.h>
#include <linux/slab.h>
#include "../http/hidden.h"
#include "../http/status.h"
#include "cache.h"
#include "negative.h"
#include "resolve.h"
#include "walk.h"

static enum khttpd_coding khttpd_wish_coding(const struct khttpd_wish *wish,
					     const struct khttpd_entry *entry)
{
	if (likely(!entry->variants))
		return KHTTPD_CODING_IDENTITY;
	return khttpd_accept_choose(&wish->codings, entry->variants);
}

/* Is a directory as if it were not there? A rule for its index file counts for it. */
static bool khttpd_dir_hidden(const struct khttpd_site *site, const struct khttpd_wish *wish)
{
	const struct khttpd_path *path = &wish->path;

	return khttpd_hidden_dir(path->name, wish->dir_len) &&
	       !khttpd_rules_serve(site->options.rules, path->name, path->len);
}

/* There is no index file. Is there the directory? */
static int khttpd_dir_error(struct khttpd_site *site,
			    const struct khttpd_wish *wish, unsigned int flags)
{
	const struct khttpd_path *path = &wish->path;
	struct path found;
	char *dir;
	int err;

	if (khttpd_dir_hidden(site, wish))
		return -ENOENT;
	if (!wish->dir_len)
		return -EACCES;
	dir = kstrndup(path->name, wish->dir_len, GFP_KERNEL);
	if (!dir)
		return -ENOMEM;
	err = khttpd_walk(site, dir, flags | LOOKUP_DIRECTORY, &found);
	kfree(dir);
	if (err)
		return err;
	path_put(&found);
	return -EACCES;
}

/* Is there more to say about this error than its number? */
static bool khttpd_has_more(struct khttpd_site *site,
			    const struct khttpd_wish *wish, int error)
{
	size_t len;

	if (wish->server)
		return false;
	if (wish->dir_len >= 0 && error == -EACCES && site->options.listing)
		return true;
	return khttpd_rules_error(site->options.rules, khttpd_status_of(error),
				  &len);
}

/* No entry: is it known why? Return: false if a worker must find out. */
static bool khttpd_resolve_missing(struct khttpd_site *site,
				   struct khttpd_wish *wish,
				   struct khttpd_found *found)
{
	found->error = -ENOENT;
	if (!khttpd_negative_find(site, &wish->path)) {
		found->error = khttpd_lookup_try(site, &wish->path);
		if (found->error == -ENOENT)
			khttpd_negative_add(site, &wish->path, false);
	}
	if (found->error == -ENOENT && wish->dir_len >= 0 && !wish->server)
		found->error = khttpd_dir_error(site, wish, LOOKUP_CACHED);
	return found->error != -EAGAIN &&
	       !khttpd_has_more(site, wish, found->error);
}

/* A directory without index files: is it known that there is no more to say? */
static bool khttpd_resolve_dir(struct khttpd_site *site,
			       const struct khttpd_wish *wish,
			       struct khttpd_found *found)
{
	found->error = khttpd_dir_error(site, wish, LOOKUP_CACHED);
	return found->error != -EAGAIN &&
	       !khttpd_has_more(site, wish, found->error);
}

/* The path of the page for an error. Return: false if the site has none. */
static bool khttpd_page_path(struct khttpd_site *site, struct khttpd_path *path,
			     u16 status)
{
	const char *page;
	size_t len;

	page = khttpd_rules_error(site->options.rules, status, &len);
	return page && khttpd_path_normalise(path, (const u8 *)page, len) ==
		       KHTTPD_PATH_OK;
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

	if (wish->status) {
		if (!khttpd_page_path(site, &wish->path, wish->status))
			return false;
		found->entry = khttpd_cache_find(site, &wish->path,
						 KHTTPD_CODING_IDENTITY);
		found->page = found->entry;
		return found->page;
	}
	if (wish->path.dir)
		return khttpd_resolve_dir(site, wish, found);
	entry = khttpd_cache_find(site, &wish->path, KHTTPD_CODING_IDENTITY);
	if (!entry)
		return khttpd_resolve_missing(site, wish, found);
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

/* The page that the site has for an error, if so. */
static void khttpd_resolve_page(struct khttpd_site *site,
				struct khttpd_path *path, u16 status,
				struct khttpd_found *found)
{
	struct khttpd_entry *entry;

	if (!khttpd_page_path(site, path, status))
		return;
	entry = khttpd_resolve_file(site, path, KHTTPD_CODING_IDENTITY);
	if (IS_ERR(entry))
		return;
	found->entry = entry;
	found->page = true;
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
	if (wish->status) {
		khttpd_resolve_page(site, &wish->path, wish->status, found);
		return;
	}
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
	if (found->error == -ENOENT && !wish->path.dir)
		khttpd_negative_add(site, &wish->path, true);
	if (wish->server)
		return;
	if (wish->dir_len >= 0 && found->error == -ENOENT) {
		/* Without index file: list it, or do not tell what is in it. */
		found->error = site->options.listing &&
			!khttpd_dir_hidden(site, wish) ?
			khttpd_listing(site, wish, &found->text, &found->len) :
			khttpd_dir_error(site, wish, 0);
		if (!found->error)
			return;
	}
	khttpd_resolve_page(site, &wish->path, khttpd_status_of(found->error),
			    found);
}
